//! A repository with a run in it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A project, a store, and a run that stands in RED.
pub struct Stage {
    _folder: tempfile::TempDir,
    pub root: PathBuf,
    pub store: PathBuf,
}

impl Stage {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let stage = Self {
            root: folder.path().join("project"),
            store: folder.path().join("store"),
            _folder: folder,
        };
        std::fs::create_dir_all(&stage.root).expect("a folder");
        std::fs::write(stage.root.join("Makefile"), "test:\n\ttrue\n").expect("a file");
        let git = |words: &[&str]| done(Command::new("git").args(words).current_dir(&stage.root));
        git(&["init", "-q", "-b", "main", "."]);
        git(&["config", "user.name", "Bench"]);
        git(&["config", "user.email", "bench@example.org"]);
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", "Begin"]);
        done(&mut stage.tm(&[
            "autopilot",
            "start",
            "--title",
            "Bench",
            "--subtask",
            "One",
            "--json",
        ]));
        stage
    }

    /// `tm` in the project.
    pub fn tm(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tm"));
        command
            .args(words)
            .current_dir(&self.root)
            .env("TRAMLINE_HOME", &self.store)
            .env("HOME", &self.store)
            .stdin(Stdio::null());
        command
    }
}

fn done(command: &mut Command) {
    let output = command.output().expect("it runs");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// The resident memory of a process in bytes, by the kernel's account.
pub fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| {
            rest.trim()
                .trim_end_matches("kB")
                .trim()
                .parse::<u64>()
                .ok()
        })
        .map_or(0, |kib| kib * 1024)
}
