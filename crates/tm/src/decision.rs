//! What a person alone decides: at the gate that a run waits at, and by the turns that only a person may take. Commands ask at a
//! terminal, tools by a form of the client.

use engine::fault;
use engine::gate::{ClosedGate, Decide};
use engine::turn::answer::TurnAnswer;
use engine::view::View;
use engine::{
    Choice, Engine, Fault, Kind, NEEDS_CONFIRMATION, NextStep, Statement, Strength, Turn, Verb,
};
use journal::layout::short_name;
use serde_json::Value;

/// What a person is asked.
#[derive(Debug)]
pub struct Question<'a> {
    /// What is decided.
    pub matter: Matter<'a>,
    /// What the answer holds for: the run as it stands, among others.
    pub statement: Statement,
    /// The least that has to stand behind the answer.
    pub least: Strength,
}

/// What there is to decide.
#[derive(Debug, Clone, Copy)]
pub enum Matter<'a> {
    /// Whether a turn is taken.
    Turn(&'a Turn<'a>),
    /// What becomes of what stands before a gate.
    Gate(&'a Decide),
}

impl Question<'_> {
    /// The step by which a person takes the decision themselves.
    pub fn step(&self) -> NextStep {
        let step = match self.matter {
            Matter::Turn(turn) => turn.step(),
            Matter::Gate(decide) if decide.choice == Choice::Reject => Verb::Reject.step(),
            Matter::Gate(_) => Verb::Approve.step(),
        };
        step.of(&self.statement.run)
    }
}

/// What can have a person asked.
pub trait Asking {
    /// What keeps them from a yes.
    type Refusal: From<Fault>;

    /// Whether they are asked for a turn that an agent may take.
    fn asks_for(&self, turn: &Turn<'_>) -> bool;

    /// Whether there is a way to ask for a turn.
    fn can_ask_for(&self, turn: &Turn<'_>) -> bool;

    /// Asks, and returns the project as it is theirs to go on with.
    fn ask(&mut self, engine: &Engine, question: &Question<'_>) -> Result<Engine, Self::Refusal>;
}

/// Takes a turn of a run; where a person has to agree, asks them, and takes it with their word, of the run that they were asked
/// about. Nobody is asked for what would be refused: it is tried first.
pub fn turn<A: Asking>(
    engine: &Engine,
    view: &'static View,
    run: Option<&str>,
    turn: &Turn<'_>,
    person: &mut A,
) -> Result<TurnAnswer, A::Refusal> {
    let asking = person.asks_for(turn).then(|| engine.asking());
    let tried = asking.as_ref().unwrap_or(engine).turn(view, run, turn);
    let fault = match tried {
        Err(fault) if ["needs_person", NEEDS_CONFIRMATION].contains(&fault.code.as_str()) => fault,
        taken => return Ok(taken?),
    };
    let run = fault.details.get("runId").and_then(Value::as_str);
    let Some(run) = run.filter(|_| person.can_ask_for(turn)) else {
        return Err(fault.into());
    };
    let (statement, least) = engine.turn_statement(run, turn)?;
    let question = Question {
        matter: Matter::Turn(turn),
        statement,
        // What an agent may do is only confirmed.
        least: if fault.code == NEEDS_CONFIRMATION {
            Strength::Client
        } else {
            least
        },
    };
    Ok(person.ask(engine, &question)?.turn(view, Some(run), turn)?)
}

/// A decision as it was asked for.
#[derive(Debug)]
pub struct Wish<'a> {
    /// To open the gate, or to send back what stands before it.
    pub choice: Choice,
    /// The gate that was looked at, where it is named.
    pub gate: Option<&'a str>,
    /// The hash of what was looked at, where it is named.
    pub hash: Option<&'a str>,
    /// What is to be done otherwise.
    pub feedback: String,
}

/// Has a person decide at the gate that a run waits at. What makes no sense is refused before anybody is asked.
pub fn at_gate<A: Asking>(
    engine: &Engine,
    view: &'static View,
    run: Option<&str>,
    wish: Wish<'_>,
    person: &mut A,
) -> Result<TurnAnswer, A::Refusal> {
    if wish.choice == Choice::Reject && wish.feedback.trim().is_empty() {
        return Err(fault!("usage.no_feedback").into());
    }
    let gate = engine.gate(view, run)?;
    bound_to(&gate, wish.gate, wish.hash)?;
    let statement = engine.gate_statement(&gate, wish.choice, &wish.feedback)?;
    let decide = Decide {
        gate,
        choice: wish.choice,
        feedback: wish.feedback,
    };
    let question = Question {
        matter: Matter::Gate(&decide),
        statement,
        least: decide.gate.strength,
    };
    Ok(person.ask(engine, &question)?.decide(view, &decide)?)
}

/// Refuses a decision on something else than what is there.
fn bound_to(gate: &ClosedGate, named: Option<&str>, hash: Option<&str>) -> Result<(), Fault> {
    let changed = |message: String| {
        Err(Fault::new(Kind::Conflict, "changed_since", message)
            .suggest("look at what is there now, and decide on that")
            .detail("gate", gate.gate.as_str())
            .detail("iteration", gate.iteration)
            .detail("hash", gate.hash.as_str())
            .recover(Verb::Status.step().of(&gate.run_id)))
    };
    if let Some(named) = named.filter(|named| *named != gate.gate) {
        return changed(format!(
            "{} waits at the gate {}, and not at {named}",
            short_name(&gate.run_id),
            gate.gate
        ));
    }
    let Some(hash) = hash else {
        return Ok(());
    };
    // Of a few digits somebody finds two contents that share them, and shows one and puts the other in its place.
    let digits = hash.trim().to_ascii_lowercase();
    if !journal::is_sha256_hex(&digits) {
        return Err(Fault::new(Kind::Usage, "usage", format!("`{hash}` is no hash")).suggest(
            "give the whole SHA-256, 64 hexadecimal digits; the question at the gate shows it, and so does the state as JSON",
        ));
    }
    if gate.hash.eq_ignore_ascii_case(&digits) {
        return Ok(());
    }
    changed(format!(
        "what stands before the gate {} is not what was looked at: its hash is {}",
        gate.gate, gate.hash
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_bound_to_the_hash_that_was_looked_at() {
        let gate = ClosedGate {
            gate: "plan".to_owned(),
            hash: "0123456789abcdef".repeat(4),
            ..ClosedGate::default()
        };
        let code = |named, hash| {
            bound_to(&gate, named, hash)
                .err()
                .map_or_else(String::new, |fault| fault.code)
        };
        let shouted = gate.hash.to_ascii_uppercase();
        let other = "0".repeat(64);
        let longer = format!("{}0", gate.hash);
        for (named, hash, expected) in [
            (Some("plan"), Some(&*gate.hash), ""),
            (Some("plan"), Some(&shouted), ""),
            (None, None, ""),
            (Some("code"), None, "changed_since"),
            (None, Some(&other), "changed_since"),
            // Two contents that share half of the digits are made in a while.
            (None, Some(""), "usage"),
            (None, Some("0123456x"), "usage"),
            (None, Some("plan.md  "), "usage"),
            (None, Some(&gate.hash[..63]), "usage"),
            (None, Some(&longer), "usage"),
        ] {
            assert_eq!(code(named, hash), expected, "{named:?} {hash:?}");
        }
    }
}
