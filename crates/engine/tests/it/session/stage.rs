//! A project with one session in it, which many threads may move.

use std::fs;
use std::path::PathBuf;

use engine::gate::{ClosedGate, Decide};
use engine::turn::answer::TurnDetails;
use engine::view::SESSION;
use engine::view::session::answer::{SessionState, StepAnswer};
use engine::view::session::request::Init;
use engine::{Channel, Engine, Fault};
use machine::command::Choice;

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
        let gates = ["plan", "code", "review"];
        let mut init = Init {
            gates: gates.map(|gate| (gate.into(), "human".into())).to_vec(),
            ..Init::default()
        };
        init.inputs
            .insert("request".to_owned(), "count the words".into());
        let begun = crate::engine(folder.path(), "store").session_init(&init);
        let begun = begun.unwrap();
        Self {
            folder,
            id: begun.summary.session_id,
            dir: begun.folder,
        }
    }

    pub fn engine(&self) -> Engine {
        crate::engine(self.folder.path(), "store")
    }

    /// The engine of a person at a terminal.
    pub fn person(&self) -> Engine {
        self.engine().asked(Channel::Terminal)
    }

    pub fn step(&self) -> StepAnswer {
        self.engine().session_step(Some(&self.id)).unwrap()
    }

    pub fn state(&self) -> SessionState {
        self.engine().session_status(Some(&self.id)).unwrap()
    }

    pub fn write(&self, path: &str, text: &str) {
        testkit::files::write(&self.dir.join(path), text);
    }

    /// A response comes, and the session goes on.
    pub fn responds(&self, path: &str, text: &str) -> StepAnswer {
        self.write(path, text);
        self.step()
    }

    /// The same with code, which comes to its gate.
    pub fn codes(&self, path: &str, text: &str) -> StepAnswer {
        self.responds(path, text);
        self.step()
    }

    /// A review finds a fault, which is approved.
    pub fn fails_review(&self, iteration: u32) {
        let response = format!("iteration-{iteration}/review-response.md");
        self.responds(&response, FAIL);
        self.goes_on();
    }

    pub fn gate(&self) -> ClosedGate {
        self.engine().gate(&SESSION, Some(&self.id)).unwrap()
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
        let decided = self.decide_with(&self.gate(), Choice::Reject, feedback);
        assert!(decided.unwrap());
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
        let decided = self.person().decide(&SESSION, &decide)?;
        Ok(matches!(
            decided.details,
            TurnDetails::Decided { recorded: true, .. }
        ))
    }

    /// The code with which an approval of this gate is refused.
    #[track_caller]
    pub fn not_approved(&self, gate: &ClosedGate, code: &str) {
        let fault = self.decide(gate, Choice::Approve).unwrap_err();
        assert_eq!(fault.code, code, "{fault:?}");
    }

    /// Approves what stands before the gate now.
    #[track_caller]
    pub fn approve(&self) {
        assert!(self.decide(&self.gate(), Choice::Approve).unwrap());
    }

    /// Approves what stands before the gate now, and goes on.
    #[track_caller]
    pub fn goes_on(&self) {
        self.approve();
        self.step();
    }

    /// A session that stands before its plan gate.
    pub fn planned() -> Self {
        let stage = Self::new();
        stage.step();
        stage.responds("planning-response.md", PLAN);
        stage
    }

    /// A session that stands before the code gate of its first iteration.
    pub fn generated() -> Self {
        let stage = Self::planned();
        stage.goes_on();
        stage.codes("iteration-1/generation-response.md", CODE);
        stage
    }
}
