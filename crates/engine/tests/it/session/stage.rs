//! A project with one session in it, which many threads may move.

use std::fs;
use std::path::PathBuf;

use engine::view::session::answer::{ClosedGate, SessionState, StepAnswer};
use engine::view::session::request::{Decide, Init};
use engine::{Channel, Engine, Fault, OpenOptions};
use journal::{FileJournal, Journal as _, Position, Record};
use machine::command::Choice;
use workspace::config::Environment;

pub const PLAN: &str = "Count the words.\n";
pub const CODE: &str = "<<<FILE: count.sh>>>\nwc -w\n<<<FILE: lib/words.txt>>>\na b c\n";
pub const FAIL: &str =
    "@@@REVIEW_META\nverdict: FAIL\nissues_total: 1\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";

/// A session in folders of its own.
pub struct Stage {
    folder: tempfile::TempDir,
    pub id: String,
    pub dir: PathBuf,
}

impl Stage {
    /// A session whose gates wait for a person, all of them.
    pub fn new() -> Self {
        let folder = testkit::folder();
        fs::create_dir_all(folder.path().join("project/.taskmaster")).unwrap();
        let mut stage = Self {
            folder,
            id: String::new(),
            dir: PathBuf::new(),
        };
        let mut init = Init {
            gates: ["plan", "code", "review"]
                .map(|gate| (gate.to_owned(), "human".to_owned()))
                .to_vec(),
            ..Init::default()
        };
        init.inputs
            .insert("request".to_owned(), "count the words".into());
        let begun = stage.engine().session_init(&init).unwrap();
        stage.id = begun.session_id;
        stage.dir = begun.folder;
        stage
    }

    /// A engine of its own, as each process has one.
    pub fn engine(&self) -> Engine {
        let at = |name: &str| self.folder.path().join(name);
        let environment: Environment = [("HOME", at("home")), ("TRAMLINE_HOME", at("store"))]
            .into_iter()
            .map(|(name, path)| (name.to_owned(), path.display().to_string()))
            .collect();
        Engine::open(OpenOptions {
            cwd: at("project"),
            project_root: Some(at("project")),
            tag: None,
            environment,
            command: "test".to_owned(),
            actor: "test".to_owned(),
            cancelled: None,
            waits_no_more: None,
        })
        .unwrap()
    }

    pub fn step(&self) -> StepAnswer {
        self.engine().session_step(Some(&self.id)).unwrap()
    }

    pub fn state(&self) -> SessionState {
        self.engine().session_status(Some(&self.id)).unwrap()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn gate(&self) -> ClosedGate {
        self.engine().session_gate(Some(&self.id)).unwrap()
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.dir.join(path)).unwrap()
    }

    /// Decides; whether it was recorded.
    pub fn decide(&self, gate: &ClosedGate, choice: Choice) -> Result<bool, Fault> {
        self.decide_with(gate, choice, "Otherwise.")
    }

    /// Sends back what stands before the gate now.
    pub fn reject(&self, feedback: &str) {
        assert!(
            self.decide_with(&self.gate(), Choice::Reject, feedback)
                .unwrap()
        );
    }

    fn decide_with(
        &self,
        gate: &ClosedGate,
        choice: Choice,
        feedback: &str,
    ) -> Result<bool, Fault> {
        let decide = Decide {
            gate: gate.clone(),
            choice,
            feedback: feedback.to_owned(),
        };
        let decided = self
            .engine()
            .asked(Channel::Terminal)
            .session_decide(&decide)?;
        Ok(decided.recorded)
    }

    /// Approves what stands before the gate now.
    pub fn approve(&self) {
        assert!(self.decide(&self.gate(), Choice::Approve).unwrap());
    }

    /// A session that stands before its plan gate.
    pub fn planned() -> Self {
        let stage = Self::new();
        stage.step();
        stage.write("planning-response.md", PLAN);
        stage.step();
        stage
    }

    /// A session that stands before the code gate of its first iteration.
    pub fn generated() -> Self {
        let stage = Self::planned();
        stage.approve();
        stage.step();
        stage.write("iteration-1/generation-response.md", CODE);
        stage.step();
        stage.step();
        stage
    }

    pub fn journal(&self) -> Vec<Record> {
        let journal = FileJournal::open(&self.dir).unwrap();
        journal.read(&Position::start()).unwrap().records
    }
}
