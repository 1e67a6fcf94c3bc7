//! A home, a project and the binary, with nothing else in its environment; sessions in it, and proof that nothing was
//! touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Deref;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use serde_json::Value;
use testkit::files::{contents, write};
use testkit::sandbox::with_input;
use testkit::{Everything, Outcome, Sandbox};

/// Files of a session's folder that are the run's, and no part of what the session is about.
const OF_THE_RUN: [&str; 11] = [
    "activity.jsonl",
    "evidence",
    "lock",
    "manifest.json",
    "report.json",
    "report.md",
    "snapshot.json",
    "state.json",
    "steps.lock",
    "work-units.json",
    "workflow.yaml",
];

/// A sandbox in which `tm session` is run.
#[derive(Clone)]
pub struct Env {
    sandbox: Rc<Sandbox>,
}

impl Deref for Env {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

/// A step that ended the session in ERROR, for this reason, on a history entry that says so.
pub fn broke_down(step: &Outcome, reason: &str) {
    let state = step.json_with(8);
    let said = text(&state, "last_error");
    assert!(said.contains(reason), "{reason:?} is not in {said:?}");
    let stands = (text(&state, "phase"), text(&state, "status"));
    assert_eq!(stands, ("ERROR", "ERROR"));
    assert_eq!(last(&state)["outcome"], "ERROR");
}

impl Env {
    /// A home and an empty project.
    pub fn new() -> Self {
        Self {
            sandbox: Rc::new(Sandbox::new()),
        }
    }

    /// Runs `tm session` for JSON.
    pub fn tm(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&self.command(arguments).output().unwrap()).answered()
    }

    /// Runs `tm session` for JSON, with something on its standard input.
    pub fn tm_with_input(&self, arguments: &[&str], input: &[u8]) -> Outcome {
        with_input(&mut self.command(arguments), input).answered()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(&["session"]);
        command.args(arguments).arg("--json");
        command
    }

    /// Everything there is, also for a moment.
    pub fn everything(&self) -> Everything {
        Everything::below([&*self.folder()])
    }

    /// Begins a session of the profile that comes with the program.
    pub fn begin(&self) -> Session {
        self.begin_with(&["-i", "request=Count words"])
    }

    /// Begins a session.
    pub fn begin_with(&self, arguments: &[&str]) -> Session {
        let mut all = vec!["init"];
        all.extend(arguments);
        let state = self.tm(&all).ok();
        Session {
            env: self.clone(),
            id: text(&state, "session_id").to_owned(),
            folder: PathBuf::from(text(&state, "folder")),
        }
    }
}

/// A session of its own, in that phase.
pub fn at(phase: &str) -> Session {
    gated(&[], phase)
}

/// The same, in which a person opens these gates.
pub fn gated(gates: &[&str], phase: &str) -> Session {
    let gates = gates.iter().map(|gate| format!("--gate={gate}=human"));
    let mut all = vec!["-i".to_owned(), "request=Count words".to_owned()];
    all.extend(gates);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let session = Env::new().begin_with(&all);
    match phase {
        "INITIALIZED" => {}
        "COMPLETE" => session.to_complete(),
        _ => drop(session.to(phase)),
    }
    session
}

/// A session.
pub struct Session {
    /// Where it is.
    pub env: Env,
    /// Its id.
    pub id: String,
    /// Its folder.
    pub folder: PathBuf,
}

impl Session {
    /// Runs a command about this session.
    pub fn tm(&self, arguments: &[&str]) -> Outcome {
        let mut all = arguments.to_vec();
        all.extend(["--session", &self.id]);
        self.env.tm(&all)
    }

    /// The session as it is.
    pub fn status(&self) -> Value {
        self.tm(&["status"]).ok()
    }

    /// Sends a response, with more words on the command line.
    pub fn respond(&self, response: impl AsRef<[u8]>, more: &[&str]) -> Outcome {
        let words = [&["respond", "-", "--session", &self.id], more].concat();
        self.env.tm_with_input(&words, response.as_ref())
    }

    /// Takes a step.
    pub fn step(&self) -> Outcome {
        self.tm(&["step"])
    }

    /// The session as it is, of whose files nobody changed one.
    pub fn whole(&self) -> Value {
        let state = self.status();
        assert!(state.get("tampered").is_none(), "{state:#}");
        state
    }

    /// A step that is taken, whatever it comes to: its exit status tells a session that broke down or was called off.
    pub fn stepped(&self) -> Value {
        let step = self.step();
        let answer = step.json().clone();
        let over = matches!(text(&answer, "status"), "ERROR" | "CANCELLED");
        step.json_with(if over { 8 } else { 0 })
    }

    /// Takes a step that must lead there.
    pub fn step_to(&self, phase: &str) -> Value {
        let answer = self.stepped();
        assert_eq!(text(&answer, "phase"), phase, "{answer:#}");
        assert_eq!(answer["advanced"], true, "{answer:#}");
        answer
    }

    /// Takes a step that must not be possible, by each verb: the exit status is 7, and nothing at all is touched.
    pub fn blocked(&self) -> Value {
        let before = self.env.everything();
        let plain = self.env.json(&["run", "step", "--run-id", &self.id]);
        assert!(matches!(plain.status, 0 | 7), "{plain:?}");
        self.tm(&["run"]).json_with(7);
        let answer = self.step().json_with(7);
        before.assert_same(&self.env.everything(), "a step that is blocked");
        assert_eq!(answer["advanced"], false, "{answer:#}");
        answer
    }

    /// Takes a step that must be refused with this code, after which no file of the session is another one.
    pub fn refused(&self, status: i32, code: &str) -> String {
        let before = (self.files(), self.status());
        let said = self.step().fault(status, code);
        assert_eq!(before, (self.files(), self.status()), "after {code}");
        said
    }

    /// Writes a file of the session.
    pub fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        write(&self.folder.join(path), text);
    }

    /// Reads a file of the session.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Puts a link into the place of a file of the session.
    pub fn link(&self, path: &str, to: impl AsRef<Path>) {
        symlink(to, self.folder.join(path)).unwrap();
    }

    /// Removes a file of the session, or a folder with all in it.
    pub fn remove(&self, path: &str) {
        let place = self.folder.join(path);
        if place.symlink_metadata().unwrap().is_dir() {
            fs::remove_dir_all(place).unwrap();
        } else {
            fs::remove_file(place).unwrap();
        }
    }

    /// Whether anything stands there.
    pub fn has(&self, path: &str) -> bool {
        self.folder.join(path).symlink_metadata().is_ok()
    }

    /// The files that the session is about, and its folders (with `/` behind them).
    pub fn names(&self) -> BTreeSet<String> {
        self.files().into_keys().collect()
    }

    /// The same with what is in them.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut all = contents(&self.folder);
        all.retain(|path, _| {
            let first = path.split('/').next().unwrap_or_default();
            !OF_THE_RUN.contains(&first)
        });
        all
    }

    /// The files below the folder `code` of an iteration, with what is in them.
    pub fn code(&self, iteration: u32) -> BTreeMap<String, String> {
        let prefix = format!("iteration-{iteration}/code/");
        self.files()
            .into_iter()
            .filter_map(|(path, bytes)| {
                let path = path.strip_prefix(&prefix)?.to_owned();
                let is_file = !path.is_empty() && !path.ends_with('/');
                is_file.then(|| (path, String::from_utf8_lossy(&bytes).into_owned()))
            })
            .collect()
    }

    /// Goes on to where the next step leads to that phase, with answers that go well but for the review.
    pub fn before(&self, phase: &str) {
        let here = self.status();
        let at = WAY.iter().position(|(to, ..)| *to == here["phase"]);
        for (to, path, response) in &WAY[at.map_or(0, |at| at + 1)..] {
            if !path.is_empty() {
                self.put(path, response);
            }
            if *to == phase {
                return;
            }
            self.step_to(to);
        }
        panic!("no session comes to {phase}");
    }

    /// Goes on to that phase.
    pub fn to(&self, phase: &str) -> Value {
        self.before(phase);
        self.step_to(phase)
    }

    /// Goes from GENERATING to REVIEWING, with this bundle.
    pub fn generate(&self, bundle: &str) {
        self.put("iteration-1/generation-response.md", bundle);
        self.step_to("GENERATED");
        self.step_to("REVIEWING");
    }

    /// Goes from REVIEWING to REVIEWED, with this review.
    pub fn review(&self, iteration: u32, review: &str) {
        if !self.has(&format!("iteration-{iteration}/review-prompt.md")) {
            self.step_to("REVIEWING");
        }
        self.put(&format!("iteration-{iteration}/review-response.md"), review);
        self.step_to("REVIEWED");
    }

    /// Goes from REVISING to REVIEWING, with this bundle.
    pub fn revise(&self, iteration: u32, bundle: &str) {
        self.put(
            &format!("iteration-{iteration}/revision-response.md"),
            bundle,
        );
        self.step_to("REVISED");
        self.step_to("REVIEWING");
    }

    /// Goes to COMPLETE.
    pub fn to_complete(&self) {
        self.to("REVIEWING");
        self.review(1, PASS);
        self.step_to("COMPLETE");
    }
}

/// Where each step leads, and the file that is written before it.
const WAY: [(&str, &str, &str); 8] = [
    ("PLANNING", "", ""),
    ("PLANNED", PLANNING, PLAN),
    ("GENERATING", "", ""),
    ("GENERATED", GENERATION, BUNDLE),
    ("REVIEWING", "", ""),
    ("REVIEWED", REVIEW, FAIL),
    ("REVISING", "", ""),
    ("REVISED", REVISION, BUNDLE),
];

/// The response to each prompt.
pub const PLANNING: &str = "planning-response.md";
/// The same.
pub const GENERATION: &str = "iteration-1/generation-response.md";
/// The same.
pub const REVIEW: &str = "iteration-1/review-response.md";
/// The same.
pub const REVISION: &str = "iteration-2/revision-response.md";

/// A plan.
pub const PLAN: &str = "# Plan\n\nCount by spaces.\n";
/// A bundle of two files.
pub const BUNDLE: &str = "<<<FILE: src/count.sh>>>\nwc -w\n<<<FILE: README>>>\nCounts words.\n";
/// A review that passes the code.
pub const PASS: &str = "Good.\n\n@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";
/// A review that does not.
pub const FAIL: &str = "Tabs are forgotten.\n\n@@@REVIEW_META\nverdict: FAIL\nissues_total: 2\nissues_critical: 1\nmissing_inputs: 0\n@@@\n";

/// The phases that a session went through.
pub fn history(state: &Value) -> &[Value] {
    state["phase_history"].as_array().unwrap()
}

/// The last one of them.
pub fn last(state: &Value) -> &Value {
    history(state).last().unwrap()
}

/// The session moved nowhere from one look to the other.
pub fn stayed(before: &Value, after: &Value) {
    for same in [
        "phase",
        "status",
        "current_iteration",
        "phase_history",
        "updated_at",
    ] {
        assert_eq!(before[same], after[same], "{same}");
    }
}

/// A text of an answer; empty where there is none.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}
