//! The crate as its users see it.

use std::path::Path;
use std::process::Command;

use engine::{Engine, OpenOptions};
use journal::{FileJournal, Journal as _, Position, Record};

mod collab;
mod report;
mod session;

/// An engine of its own, as each process has one, for the project in this folder, whose runs are kept in `store` beside it.
fn engine(folder: &Path, store: &str) -> Engine {
    let environment = [("HOME", "home"), ("TRAMLINE_HOME", store)]
        .map(|(name, at)| (name.to_owned(), folder.join(at).display().to_string()));
    let project = folder.join("project");
    Engine::open(OpenOptions {
        cwd: project.clone(),
        project_root: Some(project),
        tag: None,
        environment: environment.into_iter().collect(),
        command: "test".to_owned(),
        actor: "test".to_owned(),
        cancelled: None,
        waits_no_more: None,
    })
    .unwrap()
}

/// What git says in the project below this folder; it must succeed.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder.join("project"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The lines of the journal in the folder of a run.
fn journal(dir: &Path) -> Vec<Record> {
    let journal = FileJournal::open(dir).unwrap();
    journal.read(&Position::start()).unwrap().records
}
