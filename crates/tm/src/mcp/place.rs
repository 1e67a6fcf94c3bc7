//! Which project a call is about, and who calls.

use std::path::{Path, PathBuf};

use conductor::{Conductor, Fault, Kind, OpenOptions, RunFilter};
use mcp::Client;
use project::config::Environment;
use project::convention::plain::one_line;

use super::arguments::Arguments;

/// The projects that a server works on.
#[derive(Debug)]
pub struct Places {
    /// The server's own folder, which a call without a project means.
    cwd: PathBuf,
    /// The folders beyond which it does not go; none where it serves the one client that started it.
    roots: Vec<PathBuf>,
    /// The variables that this process was started with.
    environment: Environment,
}

/// What a call says of the project and the run that it means.
#[derive(Debug, Clone, Default)]
pub struct Meant {
    /// The project.
    pub project_root: Option<String>,
    /// The tag.
    pub tag: Option<String>,
    /// The run.
    pub run: Option<String>,
}

impl Meant {
    /// Reads what every tool takes.
    pub fn of(arguments: &mut Arguments) -> Result<Self, Fault> {
        Ok(Self {
            project_root: arguments.text("projectRoot")?,
            run: arguments.text("runId")?,
            tag: arguments.text("tag")?,
        })
    }

    /// The run, as the conductor takes it.
    pub fn run(&self) -> Option<&str> {
        self.run.as_deref()
    }
}

impl Places {
    /// Any project, and the one of `cwd` where a call names none.
    pub fn of_one_client(cwd: PathBuf) -> Self {
        Self::within(cwd, Vec::new())
    }

    /// Only what lies in these folders. They must be there.
    pub fn within(cwd: PathBuf, roots: Vec<PathBuf>) -> Self {
        Self {
            cwd,
            roots,
            environment: Environment::of_this_process(),
        }
    }

    /// Opens the project that a call means.
    pub fn open(&self, meant: &Meant, call: &str, client: &Client) -> Result<Conductor, Fault> {
        let (cwd, project_root) = match &meant.project_root {
            Some(named) => (self.cwd.clone(), Some(self.allowed(Path::new(named))?)),
            None => self.unnamed(client)?,
        };
        let actor = if client.name().is_empty() {
            "mcp".to_owned()
        } else {
            one_line(client.name()).chars().take(80).collect()
        };
        Conductor::open(OpenOptions {
            cwd,
            project_root,
            tag: meant.tag.clone(),
            environment: self.environment.clone(),
            command: format!("mcp {call}"),
            actor,
            given_up: Some(client.given_up()),
        })
    }

    /// The project where a call names none.
    fn unnamed(&self, client: &Client) -> Result<(PathBuf, Option<PathBuf>), Fault> {
        let told: Vec<&Path> = client.roots().collect();
        let prepared = told
            .iter()
            .find(|root| root.join(".taskmaster").is_dir())
            .or(told.first());
        if let Some(root) = prepared {
            return if self.roots.is_empty() {
                Ok(((*root).to_owned(), None))
            } else {
                Ok((self.cwd.clone(), Some(self.allowed(root)?)))
            };
        }
        match self.roots.as_slice() {
            [] => Ok((self.cwd.clone(), None)),
            [only] => Ok((self.cwd.clone(), Some(only.clone()))),
            several => Err(Fault::new(
                Kind::Usage,
                "which_project",
                "this server has several projects, and the call names none",
            )
            .suggest("call again with `projectRoot`")
            .expected(
                several
                    .iter()
                    .map(|root| root.display().to_string())
                    .collect::<Vec<_>>(),
            )),
        }
    }

    /// A folder as it is named, if this server may go there.
    fn allowed(&self, named: &Path) -> Result<PathBuf, Fault> {
        let real = std::fs::canonicalize(self.cwd.join(named)).map_err(|error| {
            Fault::new(
                Kind::Missing,
                "no_project",
                format!("{} cannot be opened: {error}", named.display()),
            )
            .suggest("name the folder of a project with `projectRoot`")
        })?;
        if self.roots.is_empty() || self.roots.iter().any(|root| real.starts_with(root)) {
            return Ok(real);
        }
        Err(Fault::new(
            Kind::Refused,
            "outside_roots",
            format!("{} is outside of the folders that this server serves", named.display()),
        )
        .suggest("use a project below one of its roots; whoever runs the server can add one with `tm serve --root DIR`"))
    }

    /// Every project that this server knows of and may go to, the present one first.
    pub fn all(&self, client: &Client) -> Result<Vec<Conductor>, Fault> {
        if self.roots.is_empty() {
            return Ok(vec![self.open(&Meant::default(), "resources", client)?]);
        }
        let mut folders = self.roots.clone();
        let first = self.roots.first().cloned().unwrap_or_default();
        let at = |folder: &Path| Meant {
            project_root: Some(folder.display().to_string()),
            ..Meant::default()
        };
        let known = self.open(&at(&first), "resources", client)?;
        let everywhere = RunFilter {
            all: true,
            ..RunFilter::default()
        };
        for run in known.runs(&everywhere)? {
            let folder = PathBuf::from(run.project_root);
            if !folders.contains(&folder) && self.allowed(&folder).is_ok() {
                folders.push(folder);
            }
        }
        folders
            .iter()
            .map(|folder| self.open(&at(folder), "resources", client))
            .collect()
    }
}
