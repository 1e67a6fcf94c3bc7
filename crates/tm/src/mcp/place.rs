//! Which project a call is about, and who calls.
//!
//! It is the one that the call names (`projectRoot`), else that of `--project-root`, else that of the client's roots, else
//! that of the server's own folder. A run that is named by its id is also found in the other worktrees of that repository.
//! None of the last two says for sure where the caller works: a client may have moved an agent into a worktree. So nothing
//! begins there while the repository has another worktree that may be meant.

use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::fault;
use engine::progress::Observer;
use engine::{Engine, Fault, Kind, OpenOptions, session_name};
use mcp::Client;
use text::plain::one_line;
use workspace::config::{
    Environment, find_root, first_in_project, prepared_first, session_folders,
};
use workspace::git::{in_other_worktrees, is_linked, worktree};

/// The code of the refusal where it cannot be told which project is meant.
const WHICH_PROJECT: &str = "which_project";
/// How long a list of the projects there are may be used: those who follow a run ask for it again and again.
const FRESH: Duration = Duration::from_secs(2);

/// The projects that a server works on.
#[derive(Debug)]
pub struct Places {
    /// The server's own folder.
    cwd: PathBuf,
    /// The project that is meant where a call names none, if whoever started the server said so.
    named: Option<PathBuf>,
    /// The folders beyond which it does not go; none where it serves the one client that started it.
    roots: Vec<PathBuf>,
    /// The variables that this process was started with.
    environment: Environment,
    /// The projects below the roots, as of then.
    below: Mutex<Option<(Instant, Vec<PathBuf>)>>,
}

/// What a call says of the project and the run that it means.
#[derive(Debug, Clone, Default)]
pub struct RunSelector {
    /// The project.
    pub project_root: Option<String>,
    /// The tag.
    pub tag: Option<String>,
    /// The run.
    pub run: Option<String>,
    /// The work unit that a turn is decided on at.
    pub unit: Option<String>,
}

impl Places {
    /// Any project. Where a call names none, `named` is meant, else what the client works on, else `cwd`.
    pub fn of_one_client(cwd: PathBuf, named: Option<PathBuf>) -> Self {
        Self {
            cwd,
            named,
            roots: Vec::new(),
            environment: Environment::of_this_process(),
            below: Mutex::default(),
        }
    }

    /// Only what lies in these folders. They must be there, and named as they really are.
    pub fn within(cwd: PathBuf, roots: Vec<PathBuf>) -> Self {
        Self {
            roots,
            ..Self::of_one_client(cwd, None)
        }
    }

    /// Opens the project that a call means.
    pub fn open(&self, meant: &RunSelector, call: &str, client: &Client) -> Result<Engine, Fault> {
        if let Some(named) = &meant.project_root {
            // Clients know folders as URIs.
            let folder = mcp::folder(named).unwrap_or_else(|| self.cwd.join(named));
            let root = self.allowed(&folder)?;
            // Agents name the folder that they are in: the project is that one, or the one that it lies in.
            return self.at(&root, is_project(&root), meant, call, client);
        }
        if !self.roots.is_empty() {
            let root = self.unnamed_below_roots(meant, client)?;
            return self.at(&root, true, meant, call, client);
        }
        if let Some(named) = &self.named {
            return self.at(named, true, meant, call, client);
        }
        let (folder, others) = if let Some(folder) = self.of_session(client)? {
            let root = find_root(&folder, &self.environment).path;
            (folder, in_other_worktrees(&root))
        } else {
            let store = self.at(&self.cwd, true, &RunSelector::default(), "find", client)?;
            let known = store.known_projects();
            let run = meant.run.as_deref();
            let owner = run.and_then(|run| self.owner(run, &known, client));
            let folder = owner.ok_or_else(|| {
                    which_project("this server was started in the folder of a plugin, and the call names no project", &known)
                })?;
            (folder, Vec::new())
        };
        let engine = self.at(&folder, false, meant, call, client)?;
        let elsewhere = match &meant.run {
            Some(run) if engine.run_id(run).is_none() => self.owner(run, &others, client),
            _ => None,
        };
        match elsewhere {
            Some(folder) => self.at(&folder, false, meant, call, client),
            None => Ok(engine),
        }
    }

    /// Opens the project that something is to begin in. Where only the client's session says which one, another worktree
    /// of its repository may be meant as well.
    pub fn open_to_begin(
        &self,
        meant: &RunSelector,
        call: &str,
        client: &Client,
    ) -> Result<Engine, Fault> {
        let engine = self.open(meant, call, client)?;
        if meant.project_root.is_some() || self.named.is_some() {
            return Ok(engine);
        }
        let mut others = in_other_worktrees(engine.root());
        let top = worktree(engine.root()).unwrap_or(engine.root());
        let has_roots = client.roots().is_ok_and(|roots| !roots.is_empty());
        // Who has a root, or was started in a worktree made for that, works there or further down.
        if has_roots || is_linked(top) {
            others.retain(|folder| folder.starts_with(top));
        }
        others.retain(|folder| self.is_within(folder));
        if others.is_empty() {
            return Ok(engine);
        }
        others.insert(0, engine.root().to_owned());
        Err(which_project(
            "the repository has several worktrees, and the call does not say which one you work in",
            &others,
        ))
    }

    /// The folder that a call names, where calls that name none mean another project.
    pub fn named_elsewhere<'n>(&self, named: &'n str, client: &Client) -> Option<&'n str> {
        let folder = mcp::folder(named).unwrap_or_else(|| self.cwd.join(named));
        let folder = std::fs::canonicalize(folder).ok()?;
        let usual = match &self.named {
            Some(usual) => Some(usual.clone()),
            None if self.roots.is_empty() => self.of_session(client).ok()?,
            None => None,
        };
        let root = |folder: &Path| find_root(folder, &self.environment).path;
        let is_usual = usual.is_some_and(|usual| root(&usual) == root(&folder));
        (!is_usual).then_some(named)
    }

    /// The folder that the client works in, as far as its session tells; none where it tells nothing.
    fn of_session(&self, client: &Client) -> Result<Option<PathBuf>, Fault> {
        let folders = session_folders(roots_of(client)?, &self.cwd);
        let in_project = first_in_project(&folders, &self.environment);
        Ok(in_project
            .or(folders.first().map(PathBuf::as_path))
            .map(Path::to_owned))
    }

    /// The folder among these whose project has the run.
    fn owner(&self, run: &str, folders: &[PathBuf], client: &Client) -> Option<PathBuf> {
        // In a folder that nobody named, a name or the beginning of an id may be another run's; numbers and tasks are each project's own.
        let is_part = |id: &str| id.starts_with(run) || session_name(id) == Some(run);
        let is_it = |id: String| id == run || (!self.roots.is_empty() && is_part(&id));
        let is_there = |folder: &&PathBuf| {
            self.at(folder, false, &RunSelector::default(), "find", client)
                .is_ok_and(|project| project.run_id(run).is_some_and(is_it))
        };
        folders.iter().find(is_there).cloned()
    }

    /// A file that a call names, if this server may go there. A relative one belongs to the project.
    pub fn file(&self, project: &Engine, named: &str) -> Result<PathBuf, Fault> {
        let path = project.root().join(named);
        // What is not there is told by whoever reads it.
        let is_none = || self.is_inside(&path) && path.symlink_metadata().is_err();
        if self.roots.is_empty() || is_none() {
            return Ok(path);
        }
        let real = self.allowed(&path)?;
        // None of the files in a folder may lead elsewhere.
        for entry in std::fs::read_dir(&real).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|of| of.is_symlink()) {
                self.allowed(&entry.path())?;
            }
        }
        Ok(real)
    }

    /// Opens the project in a folder: that very one, or the one that the folder lies in.
    fn at(
        &self,
        folder: &Path,
        exactly: bool,
        meant: &RunSelector,
        call: &str,
        client: &Client,
    ) -> Result<Engine, Fault> {
        let actor = if client.name().is_empty() {
            "mcp".to_owned()
        } else {
            one_line(client.name()).chars().take(80).collect()
        };
        if !folder.exists() {
            return Err(fault!(
                "not_found.folder_of_call",
                folder = one_line(&folder.display().to_string())
            ));
        }
        let engine = Engine::open(OpenOptions {
            cwd: folder.to_owned(),
            project_root: exactly.then(|| folder.to_owned()),
            tag: meant.tag.clone(),
            environment: self.environment.clone(),
            command: format!("mcp {call}"),
            actor,
            cancelled: Some(client.cancelled()),
            waits_no_more: Some(client.waits_no_more()),
        })?
        .at_unit(meant.unit.as_deref());
        let sender = client.progress_sender();
        let engine = engine.observed(Observer::new(move |progress| {
            let number = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
            let total = progress.total.map(number);
            sender.tell(number(progress.done), total, progress.what.clone());
        }));
        if self.roots.is_empty() {
            return Ok(engine);
        }
        // A run works on the whole working tree, so all of it must lie within.
        let top = engine
            .root()
            .ancestors()
            .find(|folder| folder.join(".git").exists());
        match top {
            Some(top) if !self.is_within(top) => Err(outside(top)),
            _ if !self.is_within(engine.root()) => Err(outside(engine.root())),
            _ => Ok(engine),
        }
    }

    /// The project below the roots that a call means which names none.
    fn unnamed_below_roots(&self, meant: &RunSelector, client: &Client) -> Result<PathBuf, Fault> {
        if let Some(root) = roots_of(client)?.first() {
            return self.allowed(root);
        }
        let projects = self.projects(client);
        if let [only] = projects.as_slice() {
            return Ok(only.clone());
        }
        if let Some(run) = &meant.run
            && let Some(owner) = self.owner(run, &projects, client)
        {
            return Ok(owner);
        }
        Err(if projects.is_empty() {
            which_project(
                "the folders that this server serves are no projects themselves, and the call names none below them",
                &self.roots,
            )
        } else {
            which_project(
                "this server has several projects, and the call names none",
                &projects,
            )
        })
    }

    /// A folder or file as it really is, if this server may go there.
    fn allowed(&self, named: &Path) -> Result<PathBuf, Fault> {
        let real = std::fs::canonicalize(named).map_err(|error| {
            // Whether something is there beyond the roots is nobody's business.
            if self.is_inside(named) {
                fault!(
                    "not_found.place",
                    named = one_line(&named.display().to_string()),
                    error
                )
            } else {
                outside(named)
            }
        })?;
        if self.is_within(&real) {
            Ok(real)
        } else {
            Err(outside(named))
        }
    }

    /// Whether a name by itself leads to where this server may go.
    fn is_inside(&self, named: &Path) -> bool {
        let climbs = named.components().any(|part| part == Component::ParentDir);
        self.is_within(named) && !climbs
    }

    fn is_within(&self, path: &Path) -> bool {
        self.roots.is_empty() || self.roots.iter().any(|root| path.starts_with(root))
    }

    /// Every project that this server knows of and may go to. One that cannot be opened is left out: it is its own
    /// calls that should tell why.
    pub fn all(&self, client: &Client) -> Result<Vec<Engine>, Fault> {
        if self.roots.is_empty() {
            return match self.open(&RunSelector::default(), "resources", client) {
                Err(fault) if fault.code == WHICH_PROJECT => Ok(Vec::new()),
                project => Ok(vec![project?]),
            };
        }
        Ok(self
            .projects(client)
            .iter()
            .filter_map(|folder| {
                self.at(folder, true, &RunSelector::default(), "resources", client)
                    .inspect_err(|fault| {
                        tracing::warn!(project = %folder.display(), %fault, "left out of the resources");
                    })
                    .ok()
            })
            .collect())
    }

    /// The folders of the projects below the roots: a root that is one, and those that have runs.
    fn projects(&self, client: &Client) -> Vec<PathBuf> {
        let mut below = self.below.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, projects)) = &*below
            && then.elapsed() < FRESH
        {
            return projects.clone();
        }
        let mut projects: Vec<PathBuf> = self
            .roots
            .iter()
            .filter(|root| is_project(root))
            .cloned()
            .collect();
        for root in &self.roots {
            let Ok(known) = self.at(root, true, &RunSelector::default(), "find", client) else {
                continue;
            };
            for folder in known.known_projects() {
                if !projects.contains(&folder)
                    && self.allowed(&folder).is_ok_and(|real| real == folder)
                {
                    projects.push(folder);
                }
            }
        }
        *below = Some((Instant::now(), projects.clone()));
        projects
    }
}

/// Whether a folder is a project itself, and not only a part of one.
fn is_project(folder: &Path) -> bool {
    folder.join(".taskmaster").is_dir() || folder.join(".git").exists()
}

/// The roots of the client, those that were prepared for runs first.
fn roots_of(client: &Client) -> Result<Vec<PathBuf>, Fault> {
    let roots = client.roots().map_err(|missing| {
        Fault::new(Kind::Usage, WHICH_PROJECT, one_line(&missing.to_string()))
            .suggest("call again, or name the project with `projectRoot`")
    })?;
    let mut roots = roots.to_vec();
    prepared_first(&mut roots);
    Ok(roots)
}

/// The refusal of a call that may mean any of these folders.
fn which_project(message: &str, folders: &[PathBuf]) -> Fault {
    const MOST: usize = 10;
    let known = folders.iter().take(MOST);
    let fault = Fault::new(Kind::Usage, WHICH_PROJECT, message);
    if folders.is_empty() {
        return fault.suggest("call again with `projectRoot`: the folder that you work in");
    }
    fault
        .suggest("call again with `projectRoot`: the folder that you work in, such as one of those expected")
        .expected(known.map(|folder| folder.display().to_string()).collect::<Vec<_>>())
}

fn outside(path: &Path) -> Fault {
    fault!(
        "unsafe_path.outside_roots",
        path = one_line(&path.display().to_string())
    )
}
