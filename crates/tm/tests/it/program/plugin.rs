//! What the plugins start, `plugins/tramline/bin/tm`: the program that is installed, else the one of the npm package.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What of POSIX is used: a machine that has more may have an `npm`, too.
const TOOLS: [&str; 9] = [
    "sh", "sed", "uname", "dirname", "mktemp", "mkdir", "mv", "rm", "chmod",
];

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

    fn has(&self, program: &str, script: &str) {
        let file = self.folder.path().join("bin").join(program);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// An `npm` that installs a program of ours, and says in a file that it was called.
    fn has_npm(&self) {
        let calls = self.folder.path().join("calls");
        let script = format!(
            r#"echo "$*" >> '{}'
for platform in linux-x64 linux-arm64 darwin-x64 darwin-arm64; do
  bin=$3/node_modules/@tramline/$platform/bin
  mkdir -p "$bin"
  printf '#!/bin/sh\necho "fetched $*"\n' > "$bin/tm"
  chmod +x "$bin/tm"
done"#,
            calls.display()
        );
        self.has("npm", &script);
    }

    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.folder.path().join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
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
    let machine = Machine::new();
    machine.has("tm", OURS);
    assert_eq!(machine.says(&["mcp", "a b"]), "installed mcp a b\n");
}

#[test]
fn without_one_it_is_fetched_once_and_no_hook_waits_for_that() {
    let machine = Machine::new();
    // Another program of that name is not ours, and gets nothing of what is meant for ours.
    machine.has("tm", "cat; echo 'time machine 3'");
    machine.has_npm();
    assert_eq!(machine.says(&["hook", "claude-code"]), "");
    assert_eq!(machine.calls(), Vec::<String>::new());
    assert_eq!(machine.says(&["mcp", "a b"]), "fetched mcp a b\n");
    assert_eq!(machine.says(&["hook", "codex"]), "fetched hook codex\n");
    let calls = machine.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    let package = format!("tramline@{}", env!("CARGO_PKG_VERSION"));
    for part in ["install --prefix", "--ignore-scripts", &package] {
        assert!(calls[0].contains(part), "{calls:?}");
    }
    // Nothing half fetched is left.
    let kept = machine.folder.path().join(".local/share/tramline");
    let names: Vec<_> = fs::read_dir(kept)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, [env!("CARGO_PKG_VERSION")]);
}

#[test]
fn two_launchers_do_not_ask_each_other_for_ever() {
    let machine = Machine::new();
    let other = machine.folder.path().join("other");
    fs::create_dir_all(other.join("bin")).unwrap();
    fs::create_dir_all(other.join(".claude-plugin")).unwrap();
    for file in ["bin/tm", ".claude-plugin/plugin.json"] {
        fs::copy(plugin().join(file), other.join(file)).unwrap();
    }
    symlink(other.join("bin/tm"), machine.folder.path().join("bin/tm")).unwrap();
    assert_eq!(machine.says(&["hook", "claude-code"]), "");
    machine.has_npm();
    assert_eq!(machine.says(&["status"]), "fetched status\n");
}

#[test]
fn a_package_without_a_program_is_not_kept() {
    let machine = Machine::new();
    machine.has("npm", "mkdir -p \"$3/node_modules\"");
    let output = machine.tm(&["mcp"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(127), "{error}");
    assert!(error.contains("optional dependencies"), "{error}");
    let kept = machine.folder.path().join(".local/share/tramline");
    assert_eq!(fs::read_dir(kept).unwrap().count(), 0);
    fs::remove_file(machine.folder.path().join("bin/npm")).unwrap();
    machine.has_npm();
    assert_eq!(machine.says(&["mcp"]), "fetched mcp\n");
}

#[test]
fn where_it_cannot_be_had_it_says_how_to_install_it() {
    for npm in [None, Some("exit 1")] {
        let machine = Machine::new();
        if let Some(script) = npm {
            machine.has("npm", script);
        }
        let output = machine.tm(&["mcp"]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(127), "{error}");
        assert!(error.contains("docs/install.md"), "{error}");
    }
}
