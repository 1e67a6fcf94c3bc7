//! A home, a project, and one session of skills in it, moved by the real binary.

use std::fs;
use std::io::Write as _;
use std::ops::Deref;
use std::process::{Child, Command, Stdio};

use engine::view::collab::answer::SessionState;
use serde_json::Value;
use testkit::Outcome;

use crate::place::{Place, answer};

/// What the session is called.
pub const SESSION: &str = "story";

/// A folder of its own for each session.
pub struct Stage {
    place: Place,
}

impl Deref for Stage {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

impl Stage {
    /// A project without a session.
    pub fn new() -> Self {
        let place = Place::new();
        // What is killed is the session, and not what is written for it.
        let off = r#"{"evidence": {"policy": {"draft_missing": "off"}}}"#;
        fs::write(place.project().join(".taskmaster/config.json"), off).unwrap();
        Self { place }
    }

    /// Writes a file of the session's documents, as somebody does by hand.
    pub fn document(&self, name: &str, text: &str) {
        fs::write(self.session().join("documents").join(name), text).unwrap();
    }

    /// How many events of a type are in the session's journal.
    pub fn events(&self, kind: &str) -> usize {
        let journal = fs::read_to_string(self.session().join("activity.jsonl")).unwrap();
        journal.matches(&format!("\"event\":\"{kind}\"")).count()
    }

    /// `tm collab` on the session, asking for JSON; not yet started.
    pub fn collab(&self, words: &[&str]) -> Command {
        let mut all = vec!["collab"];
        all.extend(words);
        all.extend(["--session", SESSION, "--json"]);
        self.program(&all)
    }

    /// Begins it, with a text on its standard input.
    pub fn begun(&self, words: &[&str], input: &str) -> Child {
        begun(&mut self.collab(words), input)
    }

    /// Runs it to its end.
    pub fn ran(&self, words: &[&str], input: &str) -> Outcome {
        Outcome::waited(self.begun(words, input))
    }

    /// Runs it; it must come to this exit status.
    pub fn tm(&self, status: i32, words: &[&str]) -> Value {
        answered(&self.ran(words, ""), status)
    }

    /// Completes skills, one after the other.
    pub fn skills(&self, skills: &[&str]) {
        for skill in skills {
            // The first one begins the session.
            let brief = self.engine().collab_brief(Some(SESSION)).ok();
            match brief.and_then(|brief| brief.unit_id) {
                Some(unit) => self.tm(0, &["complete-skill", skill, "--unit-id", &unit]),
                None => self.tm(0, &["complete-skill", skill]),
            };
        }
    }

    /// The session with every field.
    pub fn state(&self) -> SessionState {
        self.engine().collab_state(Some(SESSION)).unwrap()
    }
}

/// The answer of a command that came to this exit status, and said nothing beside it.
pub fn answered(ran: &Outcome, status: i32) -> Value {
    assert_eq!(ran.status, status, "{ran:?}");
    answer(ran).clone()
}

/// Begins a command with a text on its standard input.
pub fn begun(command: &mut Command, input: &str) -> Child {
    if input.is_empty() {
        return command.spawn().unwrap();
    }
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A process that dies does not read everything.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child
}

/// A task graph of tasks that may all be done at once, named `t1` and so on.
pub fn wide(tasks: usize) -> String {
    let all = (1..=tasks).map(|task| format!("  - id: t{task}\n"));
    ["tasks:\n".to_owned()].into_iter().chain(all).collect()
}

/// A session with so many bugs, at the skill that says that all is planned.
pub fn planned(bugs: usize) -> Stage {
    let stage = Stage::new();
    let items: Vec<Value> = (1..=bugs)
        .map(|number| serde_json::json!({ "number": number, "title": "Mend", "type": "bugfix" }))
        .collect();
    let items = Value::from(items).to_string();
    stage.tm(0, &["update", "--work-items", &items]);
    stage.skills(&["collab-start", "gather-session-goals"]);
    for _ in 0..bugs {
        stage.skills(&["collab-clear", "systematic-debugging"]);
    }
    stage.skills(&["collab-clear"]);
    stage
}

/// A session whose only batch, of so many tasks, is in hand.
pub fn executing(tasks: usize) -> Stage {
    let stage = planned(1);
    answered(&stage.ran(&["sync", "-"], &wide(tasks)), 0);
    stage.skills(&["ready-to-implement", "collab-clear"]);
    stage
}
