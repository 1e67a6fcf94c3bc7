//! An executor that works a run off, and repeats a command when its process died.

use std::fmt::Write as _;

use serde_json::Value;

use testkit::Outcome;

use super::stage::{Death, Stage};

/// What an executor does when its command has died, before it repeats it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing.
    Repeat,
    /// It looks where the run is.
    Look,
    /// It resumes the run.
    Resume,
    /// It makes a mistake: a report that nobody asked for.
    Mistake,
    /// It changes a file and takes the change back after a first try.
    Edit,
}

impl Recovery {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Repeat,
        Self::Look,
        Self::Resume,
        Self::Mistake,
        Self::Edit,
    ];
}

/// Works one run off.
pub struct Executor<'a> {
    /// Where.
    pub stage: &'a Stage,
    /// Everything that was done, for the message of a failure.
    pub history: String,
    /// Commits that were acknowledged: subtask and id.
    pub commits: Vec<(String, String)>,
    deaths: usize,
}

impl<'a> Executor<'a> {
    /// Nothing done yet.
    pub fn new(stage: &'a Stage) -> Self {
        Self {
            stage,
            history: String::new(),
            commits: Vec::new(),
            deaths: 0,
        }
    }

    /// Runs a command, and notes what it came to.
    pub fn tm(&mut self, arguments: &[&str], death: Option<Death>) -> Outcome {
        let ran = match death {
            Some(death) => self.stage.tm_dying(arguments, death),
            None => self.stage.tm(arguments),
        };
        let what = match (ran.died(), ran.status) {
            (true, _) => "died".to_owned(),
            (false, status) => format!("{} {} {}", status, ran.code(), ran.err.trim_end()),
        };
        let by = death.map_or_else(String::new, |death| format!(" [{death:?}]"));
        let _ = writeln!(self.history, "  {}{by}: {what}", arguments.join(" "));
        self.deaths += usize::from(ran.died());
        ran
    }

    /// Panics with everything that was done.
    pub fn fail(&self, why: &str) -> ! {
        panic!("{why}\n{}", self.history)
    }

    /// What is to be done now; null if there is no run.
    pub fn next(&mut self) -> Value {
        let ran = self.tm(&["autopilot", "next"], None);
        if ran.status == 0 {
            ran.json().clone()
        } else {
            Value::Null
        }
    }

    /// Writes what a phase asks for. Doing it again changes nothing.
    pub fn work(&self, action: &str, id: &str) {
        match action {
            "red" => self.stage.write(&format!("tests/{id}_test.sh"), "false\n"),
            "green" => {
                self.stage.write(&format!("src/{id}.sh"), "true\n");
                // A file that git knows from the second subtask on.
                let known = std::fs::read_to_string(self.stage.project().join("src/all.sh"))
                    .unwrap_or_default();
                if !known.contains(id) {
                    self.stage
                        .write("src/all.sh", format!("{known}. src/{id}.sh\n"));
                }
            }
            _ => {}
        }
    }

    /// The command that answers a unit.
    pub fn command_for(action: &str, id: &str) -> Vec<String> {
        let words: Vec<&str> = match action {
            "start" => vec!["start", "1"],
            "red" => vec!["complete", "red", id, "--results", "failed:1,passed:0"],
            "green" => vec!["complete", "green", id, "--results", "failed:0,passed:1"],
            "commit" => vec!["commit", id],
            "finalize" => vec!["finalize", "--results", "failed:0,passed:3"],
            other => panic!("nobody can answer {other}"),
        };
        std::iter::once("autopilot")
            .chain(words)
            .map(str::to_owned)
            .collect()
    }

    /// Runs the command that answers a unit; true if it was acknowledged, false if it died.
    pub fn answer(&mut self, action: &str, id: &str, death: Option<Death>) -> bool {
        let command = Self::command_for(action, id);
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let ran = self.tm(&words, death);
        if ran.died() {
            return false;
        }
        if action == "start" && ran.code() == "run_active" {
            // It had begun before its process died.
            let resumed = self.tm(&["autopilot", "resume"], None);
            if resumed.status != 0 {
                self.fail("the run that was begun cannot be resumed");
            }
            return true;
        }
        if ran.status != 0 {
            self.fail(&format!(
                "`{}` was not acknowledged: {}",
                words.join(" "),
                ran.out
            ));
        }
        if action == "commit" {
            let sha = ran.json()["commitSha"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            if sha.is_empty() {
                self.fail("a commit without an id");
            }
            self.commits.push((id.to_owned(), sha));
        }
        true
    }

    /// Repeats the command that has died. What it reported may have been settled one way or the other since.
    pub fn answer_once(&mut self, action: &str, id: &str) {
        if !self.answer(action, id, None) {
            self.fail("a process died of itself");
        }
    }

    /// What an executor does first when its command has died; whether that has settled what was under way.
    pub fn recover(&mut self, recovery: Recovery) -> bool {
        match recovery {
            Recovery::Repeat => return false,
            Recovery::Look => {
                self.tm(&["autopilot", "status"], None);
                self.tm(&["autopilot", "next", "--check"], None);
                return false;
            }
            Recovery::Resume => {
                self.tm(&["autopilot", "resume"], None);
            }
            Recovery::Mistake => {
                let ran = self.tm(
                    &[
                        "autopilot",
                        "complete",
                        "red",
                        "--unit",
                        "nowhere",
                        "--results",
                        "failed:1,passed:0",
                    ],
                    None,
                );
                if ran.status == 0 {
                    self.fail("a report that nobody asked for was taken in");
                }
            }
            Recovery::Edit => {
                self.stage.write("src/edited.sh", "true\n");
                self.tm(
                    &[
                        "autopilot",
                        "complete",
                        "red",
                        "--unit",
                        "nowhere",
                        "--results",
                        "failed:1,passed:0",
                    ],
                    None,
                );
                // A way back that is finished now has kept it, and taken it along.
                let _ = std::fs::remove_file(self.stage.project().join("src/edited.sh"));
            }
        }
        true
    }

    /// Works the run off to its end. `death` is asked before each command how its process is to die; when one has
    /// died, `recovery` says what is done before it is repeated.
    pub fn finish(
        &mut self,
        mut death: impl FnMut(&str) -> Option<Death>,
        mut recovery: impl FnMut() -> Recovery,
    ) {
        const MOST: usize = 400;
        for _ in 0..MOST {
            let next = self.next();
            let action = match &next {
                Value::Null => "start",
                next => next["action"].as_str().unwrap_or_default(),
            }
            .to_owned();
            let id = next
                .pointer("/subtask/id")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            match action.as_str() {
                "complete" => return,
                "paused" => {
                    let ran = self.tm(&["autopilot", "resume"], death("resume"));
                    if !ran.died() && ran.status != 0 {
                        self.fail("a paused run cannot be resumed");
                    }
                    continue;
                }
                _ => {}
            }
            self.work(&action, &id);
            // What is settled may have come out either way: then the executor looks what is next. Otherwise it repeats.
            if !self.answer(&action, &id, death(&action))
                && !self.recover(recovery())
                && !self.answer(&action, &id, None)
            {
                self.fail("a process died of itself");
            }
        }
        self.fail("the run never ends");
    }

    /// Works the run off with nobody dying.
    pub fn finish_in_peace(&mut self) {
        self.finish(|_| None, || Recovery::Repeat);
    }

    /// How many processes have died.
    pub fn deaths(&self) -> usize {
        self.deaths
    }
}
