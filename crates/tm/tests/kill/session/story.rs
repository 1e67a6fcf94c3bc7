//! A whole session with everything that can happen to it, act by act; each act can be killed, and done again.

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitStatus;

use engine::view::session::answer::SessionState;
use serde_json::{Value, json};

use testkit::kill::{Death, dies_at};
use testkit::{Outcome, Person};

use super::stage::Stage;
use crate::matrix::{self, Act as _};

/// One thing that somebody does.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// Begins the session.
    Init,
    /// Takes a step.
    Step,
    /// Writes a file into the session's folder by hand.
    Write(&'static str, &'static str),
    /// Sends a response.
    Respond(&'static str),
    /// Sends it in the place of the one that is there.
    Replace(&'static str),
    /// Opens the gate.
    Approve,
    /// Sends back what stands before it.
    Reject(&'static str),
    /// Takes the session up again; with a higher cap if there is a number.
    Reopen(&'static str),
    /// Puts back what was changed by hand.
    Restore,
    /// Ends it.
    Cancel,
    /// Takes the code out.
    Export,
}

const PLAN: &str = "Count words with a loop.\n";
const BETTER_PLAN: &str = "Count words, and test it.\n";
const CODE: &str = "<<<FILE: count.sh>>>\nwc -w\n<<<FILE: lib/words.txt>>>\na b c\n";
const BETTER_CODE: &str =
    "<<<FILE: count.sh>>>\ntr -s ' ' | wc -w\n<<<FILE: lib/words.txt>>>\na b\n";
const FIRST_REVISION: &str = "<<<FILE: count.sh>>>\nwc\n<<<FILE: doc/read.me>>>\nCounts.\n";
const REVISION: &str = "<<<FILE: count.sh>>>\nwc --words\n<<<FILE: doc/read.me>>>\nCounts.\n";
const FAIL: &str = "Not yet.\n@@@REVIEW_META\nverdict: FAIL\nissues_total: 2\nissues_critical: 1\nmissing_inputs: 0\n@@@\n";
const STILL_FAIL: &str = "Still not.\n@@@REVIEW_META\nverdict: FAIL\nissues_total: 2\nissues_critical: 1\nmissing_inputs: 0\n@@@\n";
const PASS: &str = "Fine.\n@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";

/// The whole story: one failed review, a rejection at each gate, a way back out of ERROR and over the cap, and the end.
pub const STORY: &[Act] = &[
    Act::Init,
    Act::Step, // PLANNING
    Act::Respond("VALIDATION"),
    Act::Replace(PLAN),
    Act::Step, // PLANNED
    Act::Reject("It wants tests."),
    // The answer is there before the step that finds it.
    Act::Write("planning-response.md", BETTER_PLAN),
    Act::Step, // PLANNED
    Act::Approve,
    Act::Step, // GENERATING
    Act::Write(
        "iteration-1/generation-response.md",
        "There is no file in here.\n",
    ),
    Act::Step, // ERROR
    Act::Reopen(""),
    Act::Respond(CODE),
    Act::Step, // GENERATED
    Act::Step, // REVIEWING
    Act::Reject("Squeeze the spaces."),
    Act::Write("iteration-1/generation-response.md", BETTER_CODE),
    Act::Step, // GENERATED
    Act::Step, // REVIEWING
    Act::Approve,
    Act::Step, // its prompt
    Act::Respond(FAIL),
    Act::Step, // REVIEWED
    Act::Reject("Look at the words, too."),
    Act::Step, // REVIEWING: its prompt
    Act::Respond(STILL_FAIL),
    Act::Step, // REVIEWED
    Act::Approve,
    Act::Step, // the cap
    Act::Reopen("3"),
    Act::Step, // REVISING
    Act::Write("iteration-2/revision-response.md", FIRST_REVISION),
    Act::Step, // REVISED
    Act::Step, // REVIEWING
    Act::Reject("Say what it counts."),
    Act::Respond(REVISION),
    Act::Step, // REVISED
    Act::Step, // REVIEWING
    Act::Write("iteration-2/code/count.sh", "rm -rf /\n"),
    Act::Write("plan.md", "Something else.\n"),
    Act::Restore,
    Act::Approve,
    Act::Step, // its prompt
    Act::Respond(PASS),
    Act::Step, // REVIEWED
    Act::Approve,
    Act::Step, // COMPLETE
    Act::Export,
];

/// Another end: somebody calls it off while it waits.
pub const CALLED_OFF: &[Act] = &[Act::Init, Act::Step, Act::Respond(PLAN), Act::Cancel];

/// A session in which everybody has answered already when the steps are taken, and no gate is closed.
pub const ANSWERED: &[Act] = &[
    Act::Init,
    Act::Write("planning-response.md", PLAN),
    Act::Write("iteration-1/generation-response.md", CODE),
    Act::Write("iteration-1/review-response.md", FAIL),
    Act::Write("iteration-2/revision-response.md", REVISION),
    Act::Write("iteration-2/review-response.md", PASS),
    Act::Step,
    Act::Step,
    Act::Step,
    Act::Step,
    Act::Step,
    Act::Step,
    Act::Step,
    Act::Step,
    Act::Step,
    Act::Step,
    Act::Step,
];

impl matrix::Act for Act {
    fn can_die(self) -> bool {
        !matches!(self, Self::Write(..))
    }
}

impl Act {
    /// Does it; `gates` says who opens them.
    pub fn on(self, stage: &Stage, gates: &str, death: Option<Death>) -> Outcome {
        let mut all: Vec<String> = Vec::new();
        let mut say = |words: &[&str]| all.extend(words.iter().map(|&word| word.to_owned()));
        say(&["session"]);
        match self {
            Self::Init => {
                let most = if gates == "human" { "1" } else { "3" };
                say(&[
                    "init",
                    "-i",
                    "request=count words",
                    "--max-iterations",
                    most,
                ]);
                for gate in ["plan", "code", "review"] {
                    say(&["--gate", &format!("{gate}={gates}")]);
                }
            }
            Self::Step => say(&["step"]),
            Self::Write(path, text) => {
                stage.write(path, text);
                return Outcome::shown(ExitStatus::default(), String::new());
            }
            Self::Respond(text) | Self::Replace(text) => {
                let file = stage.temporary().join("answer");
                fs::write(&file, text).unwrap();
                say(&["respond", file.to_str().unwrap()]);
                if matches!(self, Self::Replace(_)) {
                    say(&["--replace"]);
                }
            }
            Self::Approve => say(&["approve"]),
            Self::Reject(feedback) => say(&["reject", "--feedback", feedback]),
            Self::Reopen("") => say(&["reopen"]),
            Self::Reopen(most) => say(&["reopen", "--max-iterations", most]),
            Self::Restore => say(&["restore"]),
            Self::Cancel => say(&["cancel", "--reason", "not needed"]),
            Self::Export => say(&["export", stage.out().to_str().unwrap()]),
        }
        let asks = matches!(self, Self::Approve | Self::Reject(_) | Self::Reopen(_));
        if !asks {
            say(&["--json"]);
        }
        let words: Vec<&str> = all.iter().map(String::as_str).collect();
        let mut command = stage.program(&words);
        if let Some(death) = death {
            dies_at(&mut command, death);
        }
        if !asks {
            return Outcome::of(&command.output().unwrap());
        }
        // At a terminal of its own, where a person agrees to what it asks.
        let mut person = Person::at(command);
        if let Some((_, code)) = person.asked() {
            person.say(&code);
        }
        person.end_or_death()
    }
}

/// How far the session is, as far as somebody sees who asks for it; null before there is one.
pub fn now(stage: &Stage) -> Value {
    match stage.engine().session_status(None) {
        Ok(state) => json!({
            "phase": state.phase,
            "status": state.status,
            "iteration": state.current_iteration,
            "most": state.max_iterations,
            "total": state.phase_history_total,
            "plan": state.plan_hash,
            "next": next(&state),
            "tampered": state.tampered,
            "error": state.last_error,
            "responses": responses(&state),
        }),
        Err(fault) => {
            assert_eq!(fault.code, "no_run", "{fault:?}");
            Value::Null
        }
    }
}

/// What comes next, but for the steps: they name the session, and one that is begun anew has another id.
fn next(state: &SessionState) -> Value {
    let mut next = json!(state.next_action);
    next["nextSteps"].take();
    next
}

/// The responses that are there, and those that stand aside, by their hashes.
fn responses(state: &SessionState) -> BTreeMap<String, String> {
    let current = format!("iteration-{}", state.current_iteration);
    let folders = [state.folder.join(current), state.folder.clone()];
    let entries = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok());
    let mut all = BTreeMap::new();
    for entry in entries.flatten().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if name.contains("-response.") {
            let bytes = fs::read(entry.path()).unwrap_or_default();
            all.insert(name, journal::sha256_hex(&bytes));
        }
    }
    all
}

/// Does an act until the session is as it is to be afterwards, as somebody does who was told nothing: once where nothing
/// goes wrong.
pub fn done(stage: &Stage, act: Act, gates: &str, after: &Value) -> Result<(), String> {
    const ENOUGH: usize = 3;
    if !act.can_die() {
        act.on(stage, gates, None);
        return Ok(());
    }
    let mut ran = None;
    for _ in 0..ENOUGH {
        if now(stage) == *after && !(matches!(act, Act::Export) && ran.is_none()) {
            return Ok(());
        }
        let mut done = act.on(stage, gates, None);
        if matches!(done.status, 0 | 3) && now(stage) != *after {
            // Nothing is decided twice: what the process that was killed began is done by a step.
            done = Act::Step.on(stage, gates, None);
        }
        ran = Some(done);
    }
    match now(stage) {
        found if found == *after => Ok(()),
        found => Err(format!(
            "{act:?} leads to {found} instead of {after}: {ran:?}"
        )),
    }
}
