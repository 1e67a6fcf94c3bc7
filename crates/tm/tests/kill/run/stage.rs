//! A home, a repository with a task in it, and the real binary: run to its end, or to its death.

use std::fs;
use std::ops::Deref;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::files::{write, write_program};
use testkit::kill::{dies_at, no_core_files};
use testkit::{Outcome, Sandbox};

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

/// A sandbox whose project has a task.
pub struct Stage {
    sandbox: Sandbox,
    pub subtasks: usize,
}

impl Deref for Stage {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl Stage {
    /// A repository with one commit, whose task has so many subtasks; all but the first depend on the first.
    pub fn new(subtasks: usize) -> Self {
        no_core_files();
        let config = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#;
        Self {
            sandbox: Sandbox::repository(&[
                (
                    ".taskmaster/tasks/tasks.json",
                    &tasks(subtasks, &[], "pending"),
                ),
                (".taskmaster/config.json", config),
                ("README.md", "words\n"),
            ]),
            subtasks,
        }
    }

    /// The ids of the subtasks.
    pub fn ids(&self) -> Vec<String> {
        (1..=self.subtasks)
            .map(|number| format!("1.{number}"))
            .collect()
    }

    /// The folder of the newest run.
    pub fn run_folder(&self) -> PathBuf {
        self.runs().pop().expect("there is a run")
    }

    /// The file that names the newest run of the tag.
    pub fn current_run(&self) -> PathBuf {
        self.run_folder().join("../../tags/master/current-run.json")
    }

    /// Takes a hook out of the repository.
    pub fn unhook(&self, name: &str) {
        fs::remove_file(self.project().join(".git/hooks").join(name)).unwrap();
    }

    /// Commits everything, whatever hooks say.
    pub fn commit_all(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--no-verify", "--message", message]);
    }

    /// The binary, not yet started, to be asked for JSON, with its outputs on pipes.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.program(arguments);
        command
            .arg("--json")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the binary.
    pub fn tm(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&self.program(arguments).output().unwrap())
    }

    /// Runs the binary, which must succeed, and gives its answer.
    pub fn ok(&self, arguments: &[&str]) -> Value {
        let ran = self.tm(arguments);
        assert_eq!(ran.status, 0, "{arguments:?}: {ran:?}");
        ran.json().clone()
    }

    /// Runs the binary, which is to die.
    pub fn tm_dying(&self, arguments: &[&str], death: Death) -> Outcome {
        let mut command = self.program(arguments);
        match death {
            Death::Point(name, time) => {
                Outcome::of(&dies_at(&mut command, (name, time)).output().unwrap())
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
                Outcome::waited(child)
            }
        }
    }

    /// Puts another git in the way, that kills its parent around the n-th call and then waits for it to be gone.
    fn with_shim(&self, mut command: Command, call: u32, when: &str) -> Outcome {
        let folder = self.folder().join("shim");
        write(&folder.join("count"), "");
        self.put_git_in_the_way(&mut command, SHIM);
        command
            .env("SHIM_COUNT", folder.join("count"))
            .env("SHIM_CALL", call.to_string())
            .env("SHIM_WHEN", when);
        Outcome::of(&command.output().unwrap())
    }

    /// Puts another git in the way of a command: a script that calls the real one as `git`.
    pub fn put_git_in_the_way(&self, command: &mut Command, script: &str) {
        let path = std::env::var("PATH").unwrap();
        let folder = self.folder().join("shim");
        let script = format!("#!/bin/sh\nPATH='{path}'\nexport PATH\n{script}");
        write_program(&folder.join("git"), script);
        command.env("PATH", format!("{}:{path}", folder.display()));
    }
}

/// Counts with one byte a call, so that calls at once cannot disturb each other. The parent may have been waited
/// for by nobody yet; then it is a zombie, which `kill -0` still finds: what counts is that it runs no longer.
const SHIM: &str = r#"parent=$PPID
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

/// The tasks file of a task with so many subtasks, of which these are committed, and which stands so itself.
pub fn tasks(subtasks: usize, committed: &[&str], task: &str) -> String {
    let row = |(index, title): (usize, &&str)| {
        let number = index + 1;
        let needs = ["", ", \"dependencies\": [1]"][index.min(1)];
        let done = committed.contains(&&*format!("1.{number}"));
        let status = ["pending", "done"][usize::from(done)];
        format!(
            "      {{ \"id\": {number}, \"title\": \"{title}\", \"status\": \"{status}\"{needs} }}"
        )
    };
    let all: Vec<String> = TITLES.iter().enumerate().take(subtasks).map(row).collect();
    format!(
        "{{\n  \"master\": {{ \"tasks\": [\n    {{ \"id\": 1, \"title\": \"Words\", \"status\": \"{task}\", \"subtasks\": [\n{}\n    ] }}\n  ] }}\n}}\n",
        all.join(",\n")
    )
}

/// Waits until a command that was started holds the lock of its run.
pub fn holds_the_lock(stage: &Stage, child: &mut Child) {
    let lock = stage.run_folder().join("lock");
    let id = child.id().to_string();
    wait_for("the lock", child, || {
        fs::read_to_string(&lock).is_ok_and(|holder| holder.contains(&id))
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
