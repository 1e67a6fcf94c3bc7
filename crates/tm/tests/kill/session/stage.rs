//! A project, and one session in it, moved by the real binary.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;

use engine::view::session::answer::SessionState;
use testkit::files;

use crate::place::Place;
use crate::whole::{self, Whole};

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
        let stage = Self { place };
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

    /// The session as it is.
    pub fn state(&self) -> SessionState {
        self.engine().session_status(None).unwrap()
    }

    /// Phases with status, iteration, outcome and decision, of a session whose journal is whole.
    pub fn history(&self) -> Vec<String> {
        journal::verify::verify(&self.session().join("activity.jsonl")).unwrap();
        let history = self.state().phase_history.into_iter();
        let told = history.map(|entry| {
            let came = (entry.outcome, entry.decision);
            format!(
                "{} {} {} {came:?}",
                entry.phase, entry.status, entry.iteration
            )
        });
        told.collect()
    }

    /// All of the session that must come out the same.
    pub fn whole(&self) -> Whole {
        let state = self.state();
        // A prompt tells the id, and so has another hash in another session: evidence is called by what it is without.
        let mut hashes = BTreeMap::new();
        let mut all = BTreeMap::new();
        for (path, content) in whole::files(self, &state.session_id) {
            match path.rsplit_once("/evidence/") {
                Some((_, hash)) if !hash.is_empty() => {
                    let plain = journal::sha256_hex(content.as_bytes());
                    all.insert(format!("evidence {plain}"), content);
                    hashes.insert(hash.to_owned(), plain);
                }
                _ if path.ends_with("/work-units.json") => drop(all.insert(path, String::new())),
                _ => drop(all.insert(path, content)),
            }
        }
        for one in &state.artifacts {
            let hash = hashes.get(&one.sha256).unwrap_or(&one.sha256);
            let told = format!(
                "artifact {} {} {} {hash}",
                one.path, one.phase, one.iteration
            );
            all.insert(told, String::new());
        }
        all.insert("history".to_owned(), self.history().join("\n"));
        Whole(all)
    }
}
