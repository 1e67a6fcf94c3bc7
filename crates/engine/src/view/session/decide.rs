//! Decisions at the gates of a session.

use crate::call::Input;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::generic::gate::closed_gate;
use crate::view::session::about::{self, state};
use crate::view::session::answer::{ClosedGate, DecisionAnswer};
use crate::view::session::history;
use crate::view::session::request::Decide;

impl Engine {
    /// The gate that the session waits at, or any other run that is named. A fault `no_gate` where it waits at none.
    pub fn session_gate(&self, session: Option<&str>) -> Result<ClosedGate, Fault> {
        let (dir, run) = match self.session_seen(session) {
            // A run of a user's own workflow may have gates as well.
            Err(fault) if fault.code == "other_workflow" => return self.run_gate(session),
            seen => seen?,
        };
        self.settled(&dir, run)?;
        about::settled_look(&dir, about::seen(&dir)?, |run| {
            closed_gate(&self.call(&dir, run, Input::None)?, run)
        })
    }

    /// Opens the gate that was looked at, or sends back what stands before it.
    pub fn session_decide(&self, decide: &Decide) -> Result<DecisionAnswer, Fault> {
        let (_, dir) = self.session_dir(Some(&decide.gate.session_id))?;
        let mut writer = self.writer(&dir, Input::None)?;
        let approval = self.approval(&decide.statement(writer.open.last()))?;
        let (strength, actor, how) = approval
            .as_ref()
            .map(|word| (word.strength, word.actor.clone(), word.how.clone()))
            .unwrap_or_default();
        let recorded = writer.decide(decide, approval)?;
        let history = history::last(dir.path(), &writer.call.definition)?;
        Ok(DecisionAnswer {
            gate: decide.gate.gate.clone(),
            choice: decide.choice.name().to_owned(),
            recorded,
            strength,
            actor,
            how,
            state: state(&writer.call, &writer.open.run, history),
        })
    }
}
