//! Gates, where a run waits for a person, and what is decided there.

use std::path::PathBuf;

use machine::command::{Choice, GateDecision};
use machine::decide::gate_strength;
use machine::{Command, Refusal, RunState, Strength};
use serde::Serialize;

use crate::approval::Statement;
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
use crate::turn::answer::{TurnAnswer, TurnDetails};
use crate::turn::{TurnOutcome, refused, take};
use crate::view::View;

/// The longest feedback, in bytes: it stands in the journal and in the next prompt.
const LONGEST_FEEDBACK: usize = 256 * 1024;

/// A gate that waits for somebody.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClosedGate {
    /// The run.
    #[serde(skip)]
    pub run_id: String,
    /// The gate.
    pub gate: String,
    /// The state behind it.
    #[serde(skip)]
    pub state: String,
    /// Which round of the run it is; 0 where none is counted.
    pub iteration: i64,
    /// The same where the definition counts them: what a decision holds for.
    #[serde(skip)]
    pub round: Option<i64>,
    /// SHA-256 of what is to be looked at; of code that of the sorted list of paths and hashes. A decision names it.
    pub hash: String,
    /// The least that has to stand behind a decision.
    pub strength: Strength,
    /// Whether it can be rejected, and not only approved.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub can_reject: bool,
    /// What is to be looked at: files, or a folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub look_at: Vec<PathBuf>,
    /// Whether somebody changed it by hand since it was made.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
}

impl ClosedGate {
    /// Refuses a decision that the workflow has no way for.
    pub fn takes(&self, choice: Choice) -> Result<(), Fault> {
        if choice == Choice::Approve || self.can_reject {
            return Ok(());
        }
        let (gate, run) = (&self.gate, self.run_id.as_str());
        Err(fault!("not_possible.rejection", gate, run))
    }
}

/// A decision at a gate, on exactly what was looked at.
#[derive(Debug, Clone, Default)]
pub struct Decide {
    /// The gate that was looked at.
    pub gate: ClosedGate,
    /// What was decided.
    pub choice: Choice,
    /// What is to be done otherwise.
    pub feedback: String,
}

impl Engine {
    /// The gate that a run waits at. A fault `not_possible` where it waits at none.
    pub fn gate(&self, view: &'static View, run: Option<&str>) -> Result<ClosedGate, Fault> {
        let (dir, loaded) = self.load_meant(view, run, Selector::Running)?;
        let run = self.settled(&dir, loaded.run)?;
        self.settled_look(&dir, run, |call, run| closed_gate(&call, run), |_| true)
    }

    /// Opens the gate that was looked at, or sends back what stands before it.
    pub fn decide(&self, view: &'static View, decide: &Decide) -> Result<TurnAnswer, Fault> {
        let (looked_at, choice, feedback) = (&decide.gate, decide.choice, &decide.feedback);
        let run = Some(looked_at.run_id.as_str());
        let (project, dir) = self.meant(view, run, Selector::Running)?;
        let mut writer = self.writer_alone(&project, &dir, Input::None)?;
        let statement = Statement::at_gate(looked_at, choice, feedback, writer.open.last());
        let approval = self.approval(&statement)?;
        let word = approval.as_deref().cloned().unwrap_or_default();
        let bytes = feedback.len();
        if bytes > LONGEST_FEEDBACK {
            return Err(fault!("too_large.feedback", bytes, most = LONGEST_FEEDBACK));
        }
        let (changed, keep) = match choice {
            Choice::Approve => approved_as_it_is(&writer.call, &writer.open.run, looked_at)?,
            Choice::Reject => Default::default(),
        };
        let own = View::of(&writer.open.run);
        let decision = Command::Decide(Box::new(GateDecision {
            gate: looked_at.gate.clone(),
            state: looked_at.state.clone(),
            round: looked_at.round,
            hash: looked_at.hash.clone(),
            choice,
            feedback: feedback.clone(),
            approval,
            changed,
            keep,
        }));
        let events = take(own, &mut writer, &decision)?;
        let (run, call) = (&writer.open.run, &writer.call);
        let (gate, recorded) = (looked_at.gate.clone(), !events.is_empty());
        let message = match (choice, recorded) {
            (Choice::Approve, true) => format!("The gate `{gate}` is open"),
            (Choice::Approve, false) => format!("The gate `{gate}` was open already"),
            (Choice::Reject, _) => {
                format!("Sent back to {}", messages::stands(run, &call.definition))
            }
        };
        let details = TurnDetails::Decided {
            gate,
            choice: choice.name(),
            recorded,
            strength: word.strength,
            actor: word.actor,
            how: word.how,
        };
        let outcome = TurnOutcome::new(writer, message);
        TurnOutcome { details, ..outcome }.answer(view)
    }
}

/// The gate that a run waits at.
pub(crate) fn closed_gate(call: &Call<'_>, run: &RunState) -> Result<ClosedGate, Fault> {
    match open_run::foresee(&call.definition, run, call)? {
        Forecast::Blocked(refusal) => gate_of(call, run, &refusal).ok_or_else(|| no_gate(run)),
        Forecast::Refused(refusal) => Err(refused(View::of(run), call, run, &refusal)),
        _ => Err(no_gate(run)),
    }
}

/// The gate that blocks a run's next step, by the refusal of that; none where something else does.
pub(crate) fn gate_of(call: &Call<'_>, run: &RunState, refusal: &Refusal) -> Option<ClosedGate> {
    let told = |name: &str| refusal.details.get(name)?.as_str().map(str::to_owned);
    let (gate, hash, token) = (told("gate")?, told("hash")?, run.tokens.first()?);
    let round = call.definition.round(&run.vars);
    let number = round.unwrap_or_else(|| iteration(call, run));
    let look_at = match call.definition.over(&gate) {
        Some(PLAN) => vec![call.dir.join(PLAN_FILE)],
        Some(CODE) => vec![call.dir.join(code_path(number))],
        _ => {
            let from = token.came_from.as_deref();
            let taken = from.and_then(|from| files::taken(run, from));
            let looked_at = taken.map(|taken| call.dir.join(taken.path));
            looked_at.into_iter().collect()
        }
    };
    Some(ClosedGate {
        run_id: run.run.clone(),
        edited: is_edited(call, run, &gate, &hash),
        strength: gate_strength(&call.definition, run, &gate).unwrap_or_default(),
        can_reject: call.definition.can_reject(&token.state),
        state: token.state.clone(),
        iteration: number,
        round,
        look_at,
        hash,
        gate,
    })
}

fn no_gate(run: &RunState) -> Fault {
    let state = run.state();
    fault!("not_possible.no_gate", run = run.run, state)
}
