//! A project, and one session in it, moved by the real binary.

use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::Command;

use engine::view::session::answer::SessionState;
use serde_json::Value;
use testkit::{Outcome, Person, files};

use crate::place::Place;

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
        let stage = Self {
            place: Place::new(),
        };
        fs::create_dir(stage.out()).unwrap();
        stage
    }

    /// A folder outside of the session, for its code.
    pub fn out(&self) -> PathBuf {
        self.home().join("out")
    }

    /// Writes a file of the session, as somebody does who answers by hand. At once or not at all.
    pub fn write(&self, path: &str, text: &str) {
        files::write(&self.session().join(path), text);
    }

    /// Runs `tm session`, asking for JSON.
    pub fn tm(&self, arguments: &[&str]) -> Outcome {
        let mut all = vec!["session"];
        all.extend(arguments);
        all.push("--json");
        Outcome::of(&self.program(&all).output().unwrap())
    }

    /// Runs it; it must come to this exit status.
    pub fn tm_with(&self, arguments: &[&str], status: i32) -> Value {
        let ran = self.tm(arguments);
        assert_eq!(ran.status, status, "{arguments:?}: {ran:?}");
        ran.json().clone()
    }

    /// The session as it is.
    pub fn state(&self) -> SessionState {
        self.engine().session_status(None).unwrap()
    }
}

/// Runs `command` at a terminal of its own, where a person agrees to what it asks as soon as `ready` returns. That is
/// called once, also if nothing is asked.
pub fn agree_when(command: Command, ready: impl FnOnce()) -> Outcome {
    let mut person = Person::at(command);
    let asked = person.asked();
    ready();
    let Some((shown, code)) = asked else {
        return person.end_or_death();
    };
    person.say(&code);
    let mut ended = person.end_or_death();
    ended.out.insert_str(0, &shown);
    ended
}
