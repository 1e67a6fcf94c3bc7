//! An executor that works a run off, and repeats a command when its process died.

use std::fmt::Write as _;
use std::fs;

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

/// What is reported of tests that fail, and of others.
pub const FAILED: [&str; 2] = ["--results", "failed:1,passed:0"];
/// The same.
pub const PASSED: [&str; 2] = ["--results", "failed:0,passed:1"];

/// Works one run off.
pub struct Executor<'a> {
    /// Where.
    pub stage: &'a Stage,
    /// Everything that was done, for the message of a failure.
    pub history: String,
    /// Commits that were acknowledged: subtask and id.
    pub commits: Vec<(String, String)>,
    /// How many processes have died.
    pub deaths: usize,
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
        let there = (ran.status == 0).then(|| ran.json().clone());
        there.unwrap_or_default()
    }

    /// The same, in which subtask; to be started, if there is no run.
    pub fn present(&mut self) -> (String, String) {
        let next = self.next();
        let action = next["action"].as_str();
        let id = next["subtask"]["id"].as_str().unwrap_or_default();
        (action.unwrap_or("start").to_owned(), id.to_owned())
    }

    /// Writes what a phase asks for. Doing it again changes nothing.
    pub fn work(&self, action: &str, id: &str) {
        match action {
            "red" => self.stage.write(&format!("tests/{id}_test.sh"), "false\n"),
            "green" => {
                // A file may stand in the place of the folder.
                let _ = fs::remove_file(self.stage.project().join("src"));
                self.stage.write(&format!("src/{id}.sh"), "true\n");
                // A file that git knows from the second subtask on.
                let all = self.stage.project().join("src/all.sh");
                let known = fs::read_to_string(&all).unwrap_or_default();
                if !known.contains(id) {
                    fs::write(all, format!("{known}. src/{id}.sh\n")).unwrap();
                }
            }
            _ => {}
        }
    }

    /// The command that answers a unit.
    pub fn command_for<'w>(action: &str, id: &'w str) -> Vec<&'w str> {
        match action {
            "start" => vec!["autopilot", "start", "1"],
            "red" => [&["autopilot", "complete", "red", id][..], &FAILED].concat(),
            "green" => [&["autopilot", "complete", "green", id][..], &PASSED].concat(),
            "commit" => vec!["autopilot", "commit", id],
            "finalize" => vec!["autopilot", "finalize", "--results", "failed:0,passed:3"],
            other => panic!("nobody can answer {other}"),
        }
    }

    /// Runs the command that answers a unit; true if it was acknowledged, false if it died.
    pub fn answer(&mut self, action: &str, id: &str, death: Option<Death>) -> bool {
        let words = Self::command_for(action, id);
        let ran = self.tm(&words, death);
        if ran.died() {
            return false;
        }
        if action == "start" && ran.code() == "run_active" {
            // It had begun before its process died.
            if self.tm(&["autopilot", "resume"], None).status != 0 {
                self.fail("the run that was begun cannot be resumed");
            }
            return true;
        }
        if ran.status != 0 {
            self.fail(&format!("{words:?} was not acknowledged: {}", ran.out));
        }
        if action == "commit" {
            let Some(sha) = ran.json()["commitSha"].as_str() else {
                self.fail("a commit without an id");
            };
            self.commits.push((id.to_owned(), sha.to_owned()));
        }
        true
    }

    /// Repeats the command that has died. What it reported may have been settled one way or the other since.
    pub fn answer_once(&mut self, action: &str, id: &str) {
        if !self.answer(action, id, None) {
            self.fail("a process died of itself");
        }
    }

    /// Reports what nobody asked for.
    pub fn mistake(&mut self) {
        let words = ["autopilot", "complete", "red", "--unit", "nowhere"];
        let ran = self.tm(&[&words[..], &FAILED].concat(), None);
        if ran.status == 0 {
            self.fail("a report that nobody asked for was taken in");
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
            Recovery::Resume => drop(self.tm(&["autopilot", "resume"], None)),
            Recovery::Mistake => self.mistake(),
            Recovery::Edit => {
                self.stage.write("src/edited.sh", "true\n");
                self.mistake();
                // A way back that is finished now has kept it, and taken it along.
                let _ = fs::remove_file(self.stage.project().join("src/edited.sh"));
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
            let (action, id) = self.present();
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
            if !self.answer(&action, &id, death(&action)) && !self.recover(recovery()) {
                self.answer_once(&action, &id);
            }
        }
        self.fail("the run never ends");
    }

    /// Works the run off with nobody dying.
    pub fn finish_in_peace(&mut self) {
        self.finish(|_| None, || Recovery::Repeat);
    }
}
