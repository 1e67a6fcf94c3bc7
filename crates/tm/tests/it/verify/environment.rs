//! A repository with a run in it that made its commits, and clones of it that have no home.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use testkit::Outcome;
use testkit::sandbox::{binary, path_with_binary};

pub use crate::program::environment::TestEnvironment;

const TASKS: &str = r#"{ "master": { "tasks": [ { "id": 1, "title": "Count the words", "description": "x", "status": "pending",
  "subtasks": [
    { "id": 1, "title": "Count by spaces", "description": "x", "status": "pending" },
    { "id": 2, "title": "Count lines", "description": "x", "status": "pending" } ] } ], "metadata": {} } }
"#;

/// Runs each test, and prints what came of it.
pub const RUN: &str = r#"n=0
for test in tests/*.sh; do
  [ -e "$test" ] || continue
  n=$((n + 1)); name=${test#tests/}; not="not "
  sh "$test" && not=
  echo "${not}ok $n - ${name%.sh}"
done
echo "1..$n"
"#;

impl TestEnvironment {
    /// A run in which the first commit is due; its settings ask for notes, or do not.
    pub fn in_commit(notes: bool) -> Self {
        let settings = json!({
            "test": { "command": "sh run.sh", "patterns": ["tests/**"] },
            "evidence": { "notes": notes },
        });
        Self::at(&format!("verify: commit, notes {notes}"), || {
            let environment = Self::of(&[
                (".taskmaster/tasks/tasks.json", TASKS),
                (".taskmaster/config.json", &settings.to_string()),
                ("README.md", "words\n"),
                ("run.sh", RUN),
            ]);
            environment.does("autopilot start 1");
            environment.red_and_green(&["words"]);
            environment
        })
    }

    /// A run that stands at its last suite. The reports are those of a test runner.
    pub fn at_the_end(notes: bool) -> Self {
        Self::at(&format!("verify: end, notes {notes}"), || {
            let environment = Self::in_commit(notes);
            environment.does("autopilot commit");
            environment.subtask(&["words", "lines"]);
            environment
        })
    }

    /// A repository whose run is over: two subtasks, and the task's status.
    pub fn finished(notes: bool) -> Self {
        Self::at(&format!("verify: finished, notes {notes}"), || {
            let environment = Self::at_the_end(notes);
            environment.finalize();
            environment
        })
    }

    /// A run whose suite failed at the end by a test that came from main, and that has mended it.
    pub fn mended(notes: bool) -> Self {
        Self::at(&format!("verify: mended, notes {notes}"), || {
            let environment = Self::at_the_end(notes);
            environment.git(&["switch", "--quiet", "main"]);
            let test = "test ! -e src/lines.sh || test -e src/readme.sh\n";
            environment.write("tests/readme.sh", test);
            environment.commit_all("Another test on main");
            environment.git(&["switch", "--quiet", "-"]);
            environment.git(&["merge", "--quiet", "--no-edit", "main"]);
            environment.does("autopilot adopt");
            let tests = ["words", "lines", "readme"];
            let failed = environment.report(&tests, Some("readme"));
            let finalize = format!("autopilot finalize --report {failed}");
            assert_eq!(environment.try_tm(&finalize, None).status, 3);
            environment.write("src/readme.sh", "true\n");
            let green = environment.report(&tests, None);
            environment.does(&format!("autopilot complete green --report {green}"));
            environment.does("autopilot commit");
            environment
        })
    }

    /// RED, GREEN and the commit of a subtask, whose test is the last one.
    pub fn subtask(&self, tests: &[&str]) {
        self.red_and_green(tests);
        self.does("autopilot commit");
    }

    /// RED and GREEN of a subtask, whose test is the last one.
    pub fn red_and_green(&self, tests: &[&str]) {
        let name = tests.last().unwrap();
        self.write(&format!("tests/{name}.sh"), format!("sh src/{name}.sh\n"));
        let red = self.report(tests, Some(name));
        self.does(&format!("autopilot complete red --report {red}"));
        self.write(&format!("src/{name}.sh"), "true\n");
        let green = self.report(tests, None);
        self.does(&format!("autopilot complete green --report {green}"));
    }

    /// The end of the run.
    pub fn finalize(&self) {
        let suite = self.report(&["words", "lines"], None);
        self.does(&format!("autopilot finalize --report {suite}"));
    }

    /// Writes a report outside of the repository.
    pub fn report(&self, tests: &[&str], failing: Option<&str>) -> String {
        let mut text = format!("TAP version 13\n1..{}\n", tests.len());
        for (number, test) in (1..).zip(tests) {
            let not = if failing == Some(test) { "not " } else { "" };
            text = format!("{text}{not}ok {number} - {test}\n");
        }
        let path = self.beside("report.tap");
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Some path beside the repository.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// A process in a folder, with a home of this name, which finds the binary by its name.
    pub fn process_in(&self, program: impl AsRef<Path>, folder: &Path, home: &str) -> Command {
        let home = self.beside(home);
        fs::create_dir_all(&home).unwrap();
        let mut command = self.process(program);
        command
            .current_dir(folder)
            .env("PATH", path_with_binary())
            .env("HOME", &home)
            .env("TRAMLINE_HOME", home.join("store"))
            .env("GIT_CONFIG_GLOBAL", home.join("gitconfig"));
        command
    }

    /// Runs the binary, with a variable on top.
    pub fn try_tm(&self, line: &str, variable: Option<(&str, &str)>) -> Outcome {
        ran(self
            .program(&line.split(' ').collect::<Vec<_>>())
            .envs(variable))
    }

    /// A clone without a home, made anew; with the notes, or without.
    pub fn clone_of_it(&self, notes: bool) -> PathBuf {
        let clone = self.beside("clone");
        let _ = fs::remove_dir_all(&clone);
        let (project, to) = (self.project(), clone.to_str().unwrap());
        let git = |folder: &Path, words: &[&str]| {
            ran(self.process_in("git", folder, "elsewhere").args(words)).text();
        };
        let from = project.to_str().unwrap();
        git(&project, &["clone", "--quiet", "--template=", from, to]);
        if notes {
            let notes = "refs/notes/tramline:refs/notes/tramline";
            git(&clone, &["fetch", "--quiet", "origin", notes]);
        }
        clone
    }

    /// Verifies in the repository.
    pub fn verify(&self, words: &str) -> Outcome {
        self.verify_at(&self.project(), "home", words)
    }

    /// Verifies what the branch has in a clone, with a home that knows of nothing.
    pub fn verify_in(&self, clone: &Path, words: &str) -> Outcome {
        self.verify_at(clone, "elsewhere", &format!("origin/main..HEAD {words}"))
    }

    /// Verifies in a folder with a home of this name.
    pub fn verify_at(&self, folder: &Path, home: &str, words: &str) -> Outcome {
        let mut command = self.process_in(binary(), folder, home);
        ran(command
            .args(["verify", "--json"])
            .args(words.split_whitespace()))
    }
}

/// Runs a command to its end.
pub fn ran(command: &mut Command) -> Outcome {
    Outcome::of(&command.output().unwrap())
}

/// An answer in which the commits stand so, in their order, and have problems with these codes. Both stand apart by spaces.
pub fn told(proof: &Outcome, standings: &str, problems: &str) -> Value {
    let answer = proof.json();
    let words = |values: &mut dyn Iterator<Item = &Value>| {
        let words = values.map(|value| value.as_str().unwrap());
        words.collect::<Vec<_>>().join(" ")
    };
    let commits = answer["commits"].as_array().unwrap();
    let standing = words(&mut commits.iter().map(|commit| &commit["standing"]));
    assert_eq!(standing, standings, "{answer:#}");
    let found = commits
        .iter()
        .filter_map(|commit| commit["problems"].as_array());
    let found = words(&mut found.flatten().map(|problem| &problem["code"]));
    assert_eq!(found, problems, "{answer:#}");
    let is_verified = answer["verified"] == true;
    assert_eq!(proof.status == 0, is_verified, "{answer:#}");
    answer.clone()
}

/// An answer in which all commits, so many, were earned.
pub fn earned(proof: &Outcome, commits: usize) -> Value {
    proof.ok();
    told(proof, vec!["earned"; commits].join(" ").as_str(), "")
}
