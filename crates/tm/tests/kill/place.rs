//! A sandbox for sessions, of which the engine in this process may be asked, too.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use engine::{Engine, OpenOptions};
use serde_json::Value;
use testkit::files::contents;
use testkit::kill::no_core_files;
use testkit::{Outcome, Sandbox};
use workspace::config::Environment;

/// A home, and a project without a session.
pub struct Place {
    sandbox: Sandbox,
}

impl Deref for Place {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl Place {
    /// Without a session.
    pub fn new() -> Self {
        no_core_files();
        let sandbox = Sandbox::new();
        fs::create_dir(sandbox.project().join(".taskmaster")).unwrap();
        Self { sandbox }
    }

    /// The session's folder; of several, that of the last one.
    pub fn session(&self) -> PathBuf {
        self.runs().pop().expect("there is a session")
    }

    /// The binary, not yet started, with its outputs on pipes.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.program(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// What is in each file that a call may change.
    pub fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let mut all = BTreeMap::new();
        for name in ["home", "project"] {
            let within = contents(&self.folder().join(name)).into_iter();
            all.extend(within.map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
        }
        all
    }

    /// The engine of the project, in this process.
    pub fn engine(&self) -> Engine {
        let environment: Environment = [("HOME", self.home()), ("TRAMLINE_HOME", self.store())]
            .into_iter()
            .map(|(name, path)| (name.to_owned(), path.display().to_string()))
            .collect();
        Engine::open(OpenOptions {
            cwd: self.project(),
            project_root: None,
            tag: None,
            environment,
            command: "test".to_owned(),
            actor: "test".to_owned(),
            cancelled: None,
            waits_no_more: None,
        })
        .unwrap()
    }
}

/// What a process answered that said nothing beside it.
pub fn answer(ran: &Outcome) -> &Value {
    assert_eq!(ran.err, "", "{ran:?}");
    ran.json()
}
