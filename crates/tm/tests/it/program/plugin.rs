//! What the plugins start, `plugins/tramline/bin/tm`: the program that is installed, and nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::Outcome;
use testkit::documentation::workspace;
use testkit::files::write_program;

/// What of POSIX is used.
const TOOLS: [&str; 3] = ["sh", "sed", "dirname"];

/// A machine with these programs.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for tool in TOOLS {
            let places = ["/bin", "/usr/bin"].map(|place| Path::new(place).join(tool));
            let place = places.into_iter().find(|place| place.exists());
            symlink(place.unwrap(), bin.join(tool)).unwrap();
        }
        Self(folder)
    }

    /// Installs a program below the machine's own folder.
    fn has(&self, program: &str, script: &str) {
        write_program(
            &self.0.path().join(program),
            format!("#!/bin/sh\n{script}\n"),
        );
    }

    /// The plugin's folder comes first on the path, as a client may have it.
    fn tm(&self, arguments: &[&str]) -> Outcome {
        let own = self.0.path().join("bin");
        let path = std::env::join_paths([plugin(), own]).unwrap();
        let mut command = Command::new(plugin().join("tm"));
        command.args(arguments).env_clear().env("PATH", path);
        Outcome::of(&command.env("HOME", self.0.path()).output().unwrap())
    }
}

fn plugin() -> PathBuf {
    workspace().join("plugins/tramline/bin")
}

const OURS: &str = r#"[ "$1" = --version ] && echo "tm 9.9.9" || echo "installed $*""#;

#[test]
fn the_program_that_is_installed_is_started() {
    // The last two are looked at whether or not they are on the search path.
    for program in ["bin/tm", ".local/bin/tm", ".cargo/bin/tm"] {
        let machine = Machine::new();
        machine.has(program, OURS);
        assert_eq!(machine.tm(&["mcp", "a b"]).text(), "installed mcp a b\n");
    }
}

#[test]
fn without_one_nothing_is_downloaded_and_one_line_says_where_it_is() {
    let machine = Machine::new();
    // Another program of that name is not ours, and gets nothing of what is meant for ours.
    machine.has("bin/tm", "cat; echo 'time machine 3'");
    let called = machine.0.path().join("called");
    for other in ["npm", "npx", "cargo", "curl", "wget"] {
        let script = format!("echo {other} >> '{}'", called.display());
        machine.has(&format!("bin/{other}"), &script);
    }
    let missed = machine.tm(&["mcp"]);
    let lines = missed.err.lines().count();
    assert_eq!((missed.status, lines), (127, 1), "{missed:?}");
    let releases = format!("{}/releases", env!("CARGO_PKG_REPOSITORY"));
    assert!(missed.err.contains(&releases), "{missed:?}");
    assert!(!called.exists(), "it asks for what is not there");
    // A hook is no place to say so: the agent works on.
    assert_eq!(machine.tm(&["hook", "claude-code"]).text(), "");
}

#[test]
fn two_launchers_do_not_ask_each_other_for_ever() {
    let machine = Machine::new();
    let other = machine.0.path().join("other/bin");
    fs::create_dir_all(&other).unwrap();
    fs::copy(plugin().join("tm"), other.join("tm")).unwrap();
    symlink(other.join("tm"), machine.0.path().join("bin/tm")).unwrap();
    assert_eq!(machine.tm(&["hook", "claude-code"]).text(), "");
    machine.has(".local/bin/tm", OURS);
    assert_eq!(machine.tm(&["status"]).text(), "installed status\n");
}
