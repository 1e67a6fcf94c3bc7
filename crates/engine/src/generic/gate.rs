//! Decisions at the gates of any run.

use machine::command::{Choice, GateDecision};
use machine::decide::gate_strength;
use machine::state::Token;
use machine::{Approval, Command, RunState};

use crate::call::{Call, Input};
use crate::capability::files::subject::{CODE, PLAN, PLAN_FILE, approved_as_it_is, is_edited};
use crate::capability::profile::session::{code_path, iteration};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::Selector;
use crate::generic::files;
use crate::generic::messages;
use crate::open_run::{self, Forecast};
use crate::turn::TurnOutcome;
use crate::turn::answer::TurnAnswer;
use crate::view::GENERIC;
use crate::view::session::answer::ClosedGate;
use crate::view::session::request::Decide;
use crate::view::session::step::refused;
use crate::writer::RunWriter;

/// The longest feedback, in bytes: it stands in the journal and in the next prompt.
const LONGEST_FEEDBACK: usize = 256 * 1024;

impl Engine {
    /// The gate that a run waits at. A fault `no_gate` where it waits at none.
    pub fn run_gate(&self, run: Option<&str>) -> Result<ClosedGate, Fault> {
        let (dir, run) = self.seen(run)?;
        let run = self.settled(&dir, run)?;
        let call = self.call(&dir, &run, Input::None)?;
        closed_gate(&call, &run)
    }

    /// Opens the gate that was looked at, or sends back what stands before it.
    pub fn run_decide(&self, decide: &Decide) -> Result<TurnAnswer, Fault> {
        let (project, dir) =
            self.meant(&GENERIC, Some(&decide.gate.session_id), Selector::Running)?;
        let mut writer = self.writer_alone(&project, &dir, Input::None)?;
        let approval = self.approval(&decide.statement(writer.open.last()))?;
        let recorded = writer.decide(decide, approval)?;
        let gate = &decide.gate.gate;
        let message = match (decide.choice, recorded) {
            (Choice::Approve, true) => format!("The gate `{gate}` is open"),
            (Choice::Approve, false) => format!("The gate `{gate}` was open already"),
            (Choice::Reject, _) => {
                let (run, definition) = (&writer.open.run, &writer.call.definition);
                format!("Sent back to {}", messages::stands(run, definition))
            }
        };
        TurnOutcome::new(writer, message).answer(&GENERIC)
    }
}

impl RunWriter<'_> {
    /// Takes in what somebody decided; whether there was anything to take in.
    pub(crate) fn decide(
        &mut self,
        decide: &Decide,
        approval: Option<Box<Approval>>,
    ) -> Result<bool, Fault> {
        let looked_at = &decide.gate;
        if decide.feedback.len() > LONGEST_FEEDBACK {
            return Err(fault!(
                "too_large.feedback",
                bytes = decide.feedback.len(),
                most = LONGEST_FEEDBACK
            ));
        }
        let (changed, keep) = match decide.choice {
            Choice::Approve => approved_as_it_is(&self.call, &self.open.run, looked_at)?,
            Choice::Reject => Default::default(),
        };
        let command = Command::Decide(Box::new(GateDecision {
            gate: looked_at.gate.clone(),
            state: looked_at.phase.clone(),
            round: looked_at.round,
            hash: looked_at.hash.clone(),
            choice: decide.choice,
            feedback: decide.feedback.clone(),
            approval,
            changed,
            keep,
        }));
        match self.command(&command)? {
            Ok(events) => Ok(!events.is_empty()),
            Err(refusal) => Err(refused(&self.open.run, refusal)),
        }
    }
}

/// The gate that a run waits at.
pub(crate) fn closed_gate(call: &Call<'_>, run: &RunState) -> Result<ClosedGate, Fault> {
    let refusal = match open_run::foresee(&call.definition, run, call)? {
        Forecast::Blocked(refusal) => refusal,
        Forecast::Refused(refusal) => return Err(refused(run, refusal)),
        _ => return Err(no_gate(run)),
    };
    let told = |name: &str| refusal.details.get(name)?.as_str().map(str::to_owned);
    match (told("gate"), told("hash"), run.tokens.first()) {
        (Some(gate), Some(hash), Some(token)) => Ok(described(call, run, gate, hash, token)),
        _ => Err(no_gate(run)),
    }
}

pub(crate) fn described(
    call: &Call<'_>,
    run: &RunState,
    gate: String,
    hash: String,
    token: &Token,
) -> ClosedGate {
    let round = call.definition.round(&run.vars);
    let number = round.unwrap_or_else(|| iteration(call, run));
    let over = call.definition.over(&gate);
    let look_at = match over {
        Some(PLAN) => vec![call.dir.join(PLAN_FILE)],
        Some(CODE) => vec![call.dir.join(code_path(number))],
        _ => token
            .came_from
            .as_deref()
            .and_then(|from| files::taken(run, from))
            .map(|taken| call.dir.join(taken.path))
            .into_iter()
            .collect(),
    };
    let edited = is_edited(call, run, &gate, &hash);
    ClosedGate {
        session_id: run.run.clone(),
        strength: gate_strength(&call.definition, run, &gate).unwrap_or_default(),
        round,
        can_reject: call.definition.can_reject(&token.state),
        gate,
        phase: token.state.clone(),
        iteration: number,
        hash,
        look_at,
        edited,
    }
}

fn no_gate(run: &RunState) -> Fault {
    let state = run.state();
    fault!("no_gate", run = run.run, state)
}
