//! What the plugins start, `plugins/tramline/bin/tm`: the program that is installed, and nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What of POSIX is used.
const TOOLS: [&str; 3] = ["sh", "sed", "dirname"];

/// A machine with these programs.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for tool in TOOLS {
            let places = ["/bin", "/usr/bin"].map(|place| Path::new(place).join(tool));
            let place = places.into_iter().find(|place| place.exists()).unwrap();
            symlink(place, bin.join(tool)).unwrap();
        }
        Self { folder }
    }

    /// Installs a program below the machine's own folder.
    fn has(&self, program: &str, script: &str) {
        let file = self.folder.path().join(program);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The plugin's folder comes first on the path, as a client may have it.
    fn tm(&self, arguments: &[&str]) -> Output {
        let bin = plugin().join("bin");
        let own = self.folder.path().join("bin");
        let path = format!("{}:{}", bin.display(), own.display());
        Command::new(bin.join("tm"))
            .args(arguments)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.path())
            .output()
            .unwrap()
    }

    fn says(&self, arguments: &[&str]) -> String {
        let output = self.tm(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        String::from_utf8(output.stdout).unwrap()
    }
}

fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/tramline")
}

const OURS: &str = r#"[ "$1" = --version ] && echo "tm 9.9.9" || echo "installed $*""#;

#[test]
fn the_program_that_is_installed_is_started() {
    // The last two are looked at whether or not they are on the search path.
    for program in ["bin/tm", ".local/bin/tm", ".cargo/bin/tm"] {
        let machine = Machine::new();
        machine.has(program, OURS);
        assert_eq!(machine.says(&["mcp", "a b"]), "installed mcp a b\n");
    }
}

#[test]
fn without_one_nothing_is_downloaded_and_one_line_says_where_it_is() {
    let machine = Machine::new();
    // Another program of that name is not ours, and gets nothing of what is meant for ours.
    machine.has("bin/tm", "cat; echo 'time machine 3'");
    let called = machine.folder.path().join("called");
    for other in ["npm", "npx", "cargo", "curl", "wget"] {
        machine.has(
            &format!("bin/{other}"),
            &format!("echo {other} >> '{}'", called.display()),
        );
    }
    let output = machine.tm(&["mcp"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(127), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    let releases = format!("{}/releases", env!("CARGO_PKG_REPOSITORY"));
    assert!(error.contains(&releases), "{error}");
    assert!(!called.exists(), "it asks for what is not there");
    // A hook is no place to say so: the agent works on.
    assert_eq!(machine.says(&["hook", "claude-code"]), "");
}

#[test]
fn two_launchers_do_not_ask_each_other_for_ever() {
    let machine = Machine::new();
    let other = machine.folder.path().join("other");
    fs::create_dir_all(other.join("bin")).unwrap();
    fs::copy(plugin().join("bin/tm"), other.join("bin/tm")).unwrap();
    symlink(other.join("bin/tm"), machine.folder.path().join("bin/tm")).unwrap();
    assert_eq!(machine.says(&["hook", "claude-code"]), "");
    machine.has(".local/bin/tm", OURS);
    assert_eq!(machine.says(&["status"]), "installed status\n");
}
