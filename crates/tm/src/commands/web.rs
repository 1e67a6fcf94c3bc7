//! The page that `tm serve` and `tm ui --web` serve: which projects it shows, and how a browser comes to it.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::board::Projects;
use engine::fault;
use engine::{Engine, Fault, OpenOptions};
use mcp::http::SharedSite;
use web::Web;
use web::access::{Access, Right};
use workspace::config::Environment;

use crate::steps::{Caller, Form, StepSpelling as _};

/// How long the projects that were found are used: one that is new shows after that.
const FRESH: Duration = Duration::from_secs(2);
/// What opens an address in the browser, the first that is there.
const OPENERS: [&str; 3] = ["xdg-open", "open", "wslview"];

/// The projects that a page shows.
pub struct Shown {
    /// The project, or the folder, that it was started in.
    own: PathBuf,
    /// The folders beyond which it does not go.
    within: Vec<PathBuf>,
    /// Whether it shows all projects within, or its own alone.
    all: bool,
    found: Mutex<Option<(Instant, Vec<Engine>)>>,
}

impl Shown {
    /// This project alone.
    pub fn project(own: PathBuf) -> Self {
        Self {
            within: vec![own.clone()],
            own,
            all: false,
            found: Mutex::default(),
        }
    }

    /// All that lie within these folders and have runs.
    pub fn within(own: PathBuf, within: Vec<PathBuf>) -> Self {
        Self {
            own,
            within,
            all: true,
            found: Mutex::default(),
        }
    }

    fn at(root: &Path) -> Result<Engine, Fault> {
        Engine::open(OpenOptions {
            cwd: root.to_owned(),
            project_root: Some(root.to_owned()),
            tag: None,
            environment: Environment::of_this_process(),
            command: "page".to_owned(),
            actor: workspace::person::user_name(),
            cancelled: None,
            waits_no_more: None,
        })
    }

    fn find(&self) -> Result<Vec<Engine>, Fault> {
        let own = Self::at(&self.own);
        if !self.all {
            return own.map(|own| vec![own]);
        }
        let known = own.as_ref().map(Engine::known_projects);
        let mut roots = known.unwrap_or_default();
        roots.retain(|root| self.within.iter().any(|folder| root.starts_with(folder)));
        roots.retain(|root| root.is_dir() && *root != self.own);
        roots.sort();
        let mut found: Vec<Engine> = own.into_iter().collect();
        // One that cannot be opened has commands of its own that tell why.
        found.extend(roots.iter().filter_map(|root| Self::at(root).ok()));
        Ok(found)
    }
}

impl Projects for Shown {
    fn all(&self) -> Result<Vec<Engine>, Fault> {
        let mut known = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, found)) = known.as_ref()
            && at.elapsed() < FRESH
        {
            return Ok(found.clone());
        }
        let found = self.find()?;
        *known = Some((Instant::now(), found.clone()));
        Ok(found)
    }

    fn open(&self, root: &Path) -> Result<Engine, Fault> {
        let mut all = self.all()?.into_iter();
        all.find(|engine| engine.root() == root)
            .ok_or_else(|| fault!("not_found.shown_project", project = root.display()))
    }

    fn spelled(&self, text: &str, run: Option<&str>) -> String {
        Caller::at_a_shell(Form::RUN, run.map(str::to_owned)).text(text)
    }
}

/// The site for these projects, and who is let in.
pub fn site(shown: Shown) -> (SharedSite, Arc<Access>) {
    let access = Arc::new(Access::default());
    let web = Web::new(Arc::new(shown), Arc::clone(&access));
    (SharedSite(Arc::new(web)), access)
}

/// The address of the page with a key to it; to decide only where a person sits at the terminal who started this.
pub fn link(access: &Access, host: &str, path: &str, right: Right) -> Result<String, Fault> {
    let code = access.code(right).map_err(|error| {
        Fault::environment("io_failed", "no key to the page can be made", &error)
    })?;
    Ok(format!("http://{host}{path}#code={code}"))
}

/// Opens an address in the person's browser; whether anything was there to do it.
pub fn open_browser(link: &str) -> bool {
    let named = std::env::var("BROWSER")
        .ok()
        .filter(|name| !name.is_empty());
    let openers = named.as_deref().into_iter().chain(OPENERS);
    openers.into_iter().any(|opener| {
        let mut command = Command::new(opener);
        command
            .arg(link)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().is_ok()
    })
}

/// Gives the person another link each time that they press Enter: one is good once.
pub fn another_link_on_enter(access: Arc<Access>, host: String, path: String) {
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if line.is_err() {
                return;
            }
            if let Ok(link) = link(&access, &host, &path, Right::Decide) {
                crate::output::Output::line_aside(&link);
            }
        }
    });
}
