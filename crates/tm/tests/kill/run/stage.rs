//! A home, a repository with a task in it, and the real binary: run to its end, or to its death.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use tempfile::TempDir;

/// How long a process may take to come to a point that it must reach.
const PATIENCE: Duration = Duration::from_mins(1);

/// The subtasks of the task, and their titles.
pub const TITLES: [&str; 3] = ["Count the words", "Fix the empty text", "Print the count"];

/// How a process is to die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// At a fail point, the n-th time it is reached.
    Point(&'static str, u32),
    /// Before the n-th git that it starts begins its work; git goes on when its parent is gone.
    BeforeGit(u32),
    /// After the n-th git that it starts has done its work, and before that is known.
    AfterGit(u32),
    /// So long after its start.
    After(Duration),
}

/// What a command came to.
#[derive(Debug)]
pub struct Ran {
    /// Its exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// What it printed.
    pub out: String,
    /// What it said beside it.
    pub err: String,
}

impl Ran {
    /// From what a process left behind.
    pub fn of(output: &Output) -> Self {
        Self {
            status: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Whether a signal ended it.
    pub fn died(&self) -> bool {
        self.status.is_none()
    }

    /// The JSON value on standard output; null if there is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_default()
    }

    /// The code of a refusal or an error; empty if there is none.
    pub fn code(&self) -> String {
        let answer = self.json();
        let code = answer.get("code").or_else(|| answer.pointer("/error/code"));
        code.and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

/// A folder of its own for each run.
pub struct Stage {
    folder: TempDir,
    subtasks: usize,
}

impl Stage {
    /// A repository with one commit, whose task has so many subtasks; all but the first depend on the first.
    pub fn new(subtasks: usize) -> Self {
        no_core_files();
        let stage = Self {
            folder: tempfile::tempdir().unwrap(),
            subtasks,
        };
        for folder in ["home", "project", "scratch", "shim"] {
            fs::create_dir(stage.folder.path().join(folder)).unwrap();
        }
        stage.write(".taskmaster/tasks/tasks.json", &stage.tasks());
        stage.write(
            ".taskmaster/config.json",
            r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#,
        );
        stage.write("README.md", "words\n");
        stage.git(&["init", "--quiet", "--template="]);
        stage.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        stage.git(&["config", "user.name", "Somebody"]);
        stage.git(&["config", "user.email", "somebody@localhost"]);
        stage.commit_all("Begin");
        stage
    }

    /// The tasks file as it is before a run.
    pub fn tasks(&self) -> String {
        let mut subtasks = Vec::new();
        for (index, title) in TITLES.iter().enumerate().take(self.subtasks) {
            let needs = if index == 0 {
                ""
            } else {
                ", \"dependencies\": [1]"
            };
            let number = index + 1;
            subtasks.push(format!(
                "      {{ \"id\": {number}, \"title\": \"{title}\", \"status\": \"pending\"{needs} }}"
            ));
        }
        format!(
            "{{\n  \"master\": {{ \"tasks\": [\n    {{ \"id\": 1, \"title\": \"Words\", \"status\": \"pending\", \"subtasks\": [\n{}\n    ] }}\n  ] }}\n}}\n",
            subtasks.join(",\n")
        )
    }

    /// The ids of the subtasks.
    pub fn ids(&self) -> Vec<String> {
        (1..=self.subtasks)
            .map(|number| format!("1.{number}"))
            .collect()
    }

    /// The repository.
    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Where processes put their temporary files.
    pub fn scratch(&self) -> PathBuf {
        self.folder.path().join("scratch")
    }

    fn shim(&self) -> PathBuf {
        self.folder.path().join("shim")
    }

    /// Where runs are kept.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("home/store")
    }

    /// The folders of all runs, oldest first.
    pub fn runs(&self) -> Vec<PathBuf> {
        let mut runs = Vec::new();
        for project in folders(&self.store().join("projects")) {
            runs.extend(folders(&project.join("runs")));
        }
        runs.sort();
        runs
    }

    /// The folder of the newest run.
    pub fn run_folder(&self) -> PathBuf {
        self.runs().pop().expect("there is a run")
    }

    /// The file that names the newest run of the tag.
    pub fn current_run(&self) -> PathBuf {
        self.run_folder().join("../../tags/master/current-run.json")
    }

    /// Writes a file of the repository.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Keeps everything as it is now.
    pub fn save(&self) {
        for folder in ["home", "project"] {
            self.copy(folder, &format!("saved-{folder}"));
        }
    }

    /// Makes everything as it was when it was kept.
    pub fn restore(&self) {
        for folder in ["home", "project"] {
            fs::remove_dir_all(self.folder.path().join(folder)).unwrap();
            self.copy(&format!("saved-{folder}"), folder);
        }
    }

    fn copy(&self, from: &str, to: &str) {
        let at = |name: &str| self.folder.path().join(name);
        let copied = Command::new("cp")
            .arg("-Rp")
            .arg(at(from))
            .arg(at(to))
            .status()
            .unwrap();
        assert!(copied.success());
    }

    /// Puts a hook into the repository.
    pub fn hook(&self, name: &str, script: &str) {
        let path = self.project().join(".git/hooks").join(name);
        executable(&path, script);
    }

    /// Takes it out again.
    pub fn unhook(&self, name: &str) {
        fs::remove_file(self.project().join(".git/hooks").join(name)).unwrap();
    }

    /// A process with nothing but what is needed in its environment.
    pub fn process(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path().join("home"))
            .env("TMPDIR", self.scratch())
            .env("TRAMLINE_HOME", self.store())
            .env(
                "GIT_CONFIG_GLOBAL",
                self.folder.path().join("home/gitconfig"),
            )
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs git, which must succeed, and gives what it printed.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = self.process("git").args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// Commits everything.
    pub fn commit_all(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--no-verify", "--message", message]);
    }

    /// The binary, not yet started, to be asked for JSON.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.process(env!("CARGO_BIN_EXE_tm"));
        command.args(arguments).arg("--json");
        command
    }

    /// Runs the binary.
    pub fn tm(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.program(arguments).output().unwrap())
    }

    /// Runs the binary, which must succeed, and gives its answer.
    pub fn ok(&self, arguments: &[&str]) -> Value {
        let ran = self.tm(arguments);
        assert_eq!(ran.status, Some(0), "{arguments:?}: {ran:?}");
        ran.json()
    }

    /// Runs the binary, which is to die.
    pub fn tm_dying(&self, arguments: &[&str], death: Death) -> Ran {
        let mut command = self.program(arguments);
        match death {
            Death::Point(name, time) => {
                command.env("TRAMLINE_FAIL_POINT", format!("{name}:{time}"));
                Ran::of(&command.output().unwrap())
            }
            Death::BeforeGit(call) => self.with_shim(command, call, "before"),
            Death::AfterGit(call) => self.with_shim(command, call, "after"),
            Death::After(time) => {
                let mut child = command.spawn().unwrap();
                let begun = Instant::now();
                while begun.elapsed() < time && child.try_wait().unwrap().is_none() {
                    std::thread::yield_now();
                }
                // A process that has ended already is not harmed.
                let _ = child.kill();
                Ran::of(&child.wait_with_output().unwrap())
            }
        }
    }

    /// Puts another git in the way, that kills its parent around the n-th call and then waits for it to be gone.
    fn with_shim(&self, mut command: Command, call: u32, when: &str) -> Ran {
        let shim = self.shim().join("git");
        let count = self.shim().join("count");
        if !shim.exists() {
            let path = std::env::var("PATH").unwrap();
            executable(&shim, &SHIM.replace("@PATH@", &path));
        }
        fs::write(&count, "").unwrap();
        let path = format!(
            "{}:{}",
            self.shim().display(),
            std::env::var("PATH").unwrap()
        );
        command
            .env("PATH", path)
            .env("SHIM_COUNT", &count)
            .env("SHIM_CALL", call.to_string())
            .env("SHIM_WHEN", when);
        Ran::of(&command.output().unwrap())
    }
}

/// Counts with one byte a call, so that calls at once cannot disturb each other. The parent may have been waited
/// for by nobody yet; then it is a zombie, which `kill -0` still finds: what counts is that it runs no longer.
const SHIM: &str = r#"#!/bin/sh
PATH='@PATH@'
export PATH
parent=$PPID
printf x >> "$SHIM_COUNT"
mine=no
[ "$(wc -c < "$SHIM_COUNT")" -eq "$SHIM_CALL" ] && mine=yes
strike() {
    kill -9 "$parent"
    while ps -o stat= -p "$parent" | grep -qv '^Z'; do :; done
}
if [ $mine = yes ] && [ "$SHIM_WHEN" = before ]; then
    strike
    exec git "$@"
fi
[ $mine = yes ] || exec git "$@"
git "$@"
status=$?
strike
exit $status
"#;

/// Writes a script.
pub fn executable(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect()
}

/// A process that aborts would leave its memory in the repository, which would then not be clean.
fn no_core_files() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let maximum = getrlimit(Resource::Core).maximum;
        setrlimit(
            Resource::Core,
            Rlimit {
                current: Some(0),
                maximum,
            },
        )
        .unwrap();
    });
}

/// Waits until `reached`, while `child` runs; panics if it ends before or takes for ever.
pub fn wait_for(what: &str, child: &mut Child, reached: impl Fn() -> bool) {
    let begun = Instant::now();
    while !reached() {
        if let Some(status) = child.try_wait().unwrap() {
            panic!(
                "ended with {status} (signal {:?}) before {what}",
                status.signal()
            );
        }
        assert!(begun.elapsed() < PATIENCE, "never came to {what}");
        std::thread::yield_now();
    }
}
