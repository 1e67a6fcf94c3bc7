//! A repository with a run in it, and journals of any length.

use std::path::{Path, PathBuf};
use std::process::Command as Process;

use engine::Engine;
use engine::view::autopilot::request;

use crate::project;

/// A project with one run under way, in a folder of its own.
pub struct Stage {
    _folder: tempfile::TempDir,
    /// The project.
    pub root: PathBuf,
    /// The engine of it.
    pub engine: Engine,
    /// The run's folder.
    pub dir: PathBuf,
}

fn git(root: &Path, words: &[&str]) {
    let done = Process::new("git")
        .args(words)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git runs");
    assert!(done.status.success(), "git {words:?}");
}

/// Makes a repository with a run of `subtasks` subtasks.
pub fn stage(subtasks: usize) -> Stage {
    let folder = project::folder();
    let root = folder.path().join("project");
    std::fs::create_dir(&root).expect("a folder");
    git(&root, &["init", "-q", "-b", "main", "."]);
    git(&root, &["config", "user.name", "Bench"]);
    git(&root, &["config", "user.email", "bench@example.org"]);
    std::fs::write(root.join("Makefile"), "test:\n\ttrue\n").expect("a file");
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-q", "-m", "Begin"]);
    let root = std::fs::canonicalize(&root).expect("a path");
    let engine = project::engine(folder.path(), &root);
    let started = engine
        .start(&request::Start {
            title: Some("Bench".to_owned()),
            subtasks: (1..=subtasks).map(|n| format!("Subtask {n}")).collect(),
            ..request::Start::default()
        })
        .expect("a run");
    let runs = std::fs::read_dir(project::store(folder.path()).join("projects"))
        .expect("a store")
        .flatten()
        .next()
        .expect("a project")
        .path()
        .join("runs");
    let dir = runs.join(started.run_id);
    Stage {
        _folder: folder,
        root,
        engine,
        dir,
    }
}
