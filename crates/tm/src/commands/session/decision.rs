//! Decisions at the gates of a session, and taking one up again.

use engine::fault;
use engine::view::session::answer::{ClosedGate, SessionState};
use engine::view::session::request::{Decide, Reopen as Wish};
use engine::{Choice, Engine, Fault, Kind, NextStep, Verb};
use serde_json::Value;

use super::super::approving::{Question, agreed};
use super::{DONE, Outcome, files};
use crate::cli::Signing;
use crate::cli::session::{Approve, Reject, Reopen};
use crate::output::Output;
use crate::render::session::{self as render, About, SessionStanding};

/// `tm session approve`.
pub fn approve(engine: &Engine, approve: &Approve, output: &mut Output) -> Outcome {
    let session = approve.session.id();
    let gate = gate_of(engine, session)?;
    bound_to(&gate, About::Session, None, approve.hash.as_deref())?;
    let again = Verb::Approve.step();
    let by = by_person(
        engine,
        &gate,
        About::Session,
        None,
        &approve.signing,
        output,
        again,
    )?;
    decided(&by, &decision(gate, "approve", "")?, session, output)
}

/// `tm session reject`.
pub fn reject(engine: &Engine, reject: &Reject, output: &mut Output) -> Outcome {
    let session = reject.session.id();
    let feedback = match (&reject.feedback, &reject.feedback_file) {
        (Some(feedback), _) => feedback.clone(),
        (None, Some(file)) => String::from_utf8_lossy(&files::response(file)?).into_owned(),
        (None, None) => String::new(),
    };
    if feedback.trim().is_empty() {
        return Err(no_feedback());
    }
    let gate = gate_of(engine, session)?;
    bound_to(&gate, About::Session, None, reject.hash.as_deref())?;
    let again = Verb::Reject.step().with("feedback", &feedback);
    let by = by_person(
        engine,
        &gate,
        About::Session,
        Some(&feedback),
        &reject.signing,
        output,
        again,
    )?;
    decided(&by, &decision(gate, "reject", &feedback)?, session, output)
}

fn decided(
    engine: &Engine,
    decide: &Decide,
    session: Option<&str>,
    output: &mut Output,
) -> Outcome {
    let decided = engine.session_decide(decide)?;
    output.answer(&decided, |decided, look| {
        render::decided(decided, session, look)
    })?;
    Ok(DONE)
}

/// Has a person decide at a gate: to send back where there is feedback, else to open it.
pub fn by_person(
    engine: &Engine,
    gate: &ClosedGate,
    about: About,
    feedback: Option<&str>,
    signing: &Signing,
    output: &mut Output,
    again: NextStep,
) -> Result<Engine, Fault> {
    let text = render::gate(gate, about, feedback, &output.look());
    let (choice, to, deed) = match feedback {
        None => (Choice::Approve, "approve", "a gate is opened"),
        Some(_) => (Choice::Reject, "send it back", "work is sent back"),
    };
    let question = Question {
        text: &text,
        to,
        what: &format!("the decision at the gate {}", gate.gate),
        deed,
        least: gate.strength,
    };
    let statement = engine.gate_statement(gate, choice, feedback.unwrap_or_default())?;
    agreed(engine, signing, &statement, &question, output, again)
}

/// The gate that a session waits at.
fn gate_of(engine: &Engine, session: Option<&str>) -> Result<ClosedGate, Fault> {
    engine.session_gate(session).map_err(|fault| {
        if fault.code != "no_gate" {
            return fault;
        }
        let Ok(state) = engine.session_status(session) else {
            return fault;
        };
        let (id, phase) = (&state.session_id, &state.phase);
        Fault {
            message: format!("the session {id} waits for no decision: it stands in {phase}"),
            ..fault
        }
        .suggest(match SessionStanding::of(&state) {
            SessionStanding::Response { response, .. } => format!(
                "there is nothing to decide on yet: it waits for {response}, from whoever answers the prompt"
            ),
            _ => format!("look what it waits for: {}", Verb::Status),
        })
        .recover(Verb::Status.step().of(id))
    })
}

/// `tm session reopen`.
pub fn reopen(engine: &Engine, reopen: &Reopen, output: &mut Output) -> Outcome {
    let session = reopen.session.id();
    let state = engine.session_status(session)?;
    match (SessionStanding::of(&state), reopen.max_iterations) {
        (SessionStanding::Cap, Some(cap)) if i64::from(cap) <= state.current_iteration => {
            return Err(Fault::new(
                Kind::Usage,
                "usage",
                format!(
                    "--max-iterations {cap} is no more than the session has had: it paused after {}",
                    state.current_iteration
                ),
            )
            .suggest("give a higher number")
            .recover(render::raise(&state, session)));
        }
        (SessionStanding::Broken, None) | (SessionStanding::Cap, _) => {}
        // A response was taken in, and whoever is to make something of it perhaps cannot.
        (_, None) if state.can_reopen => {}
        (SessionStanding::Broken, Some(_)) => {
            return Err(fault!("usage.reopen"));
        }
        _ => return Err(nothing_to_reopen(&state)),
    }
    let id = &state.session_id;
    let text = render::reopening(&state, reopen.max_iterations, &output.look());
    let wish = Wish {
        reason: reopen.reason.clone(),
        max_iterations: reopen.max_iterations,
    };
    let (statement, least) = engine.turn_statement(id, &wish.turn())?;
    let question = Question {
        text: &text,
        to: "take it up again",
        what: "taking the session up again",
        deed: "a session is taken up again",
        least,
    };
    let by = agreed(
        engine,
        &reopen.signing,
        &statement,
        &question,
        output,
        wish.turn().step(),
    )?;
    let stepped = by.session_reopen(Some(id), &wish)?;
    output.answer(&stepped, |stepped, look| {
        render::reopened(stepped, session, look)
    })?;
    Ok(DONE)
}

fn nothing_to_reopen(state: &SessionState) -> Fault {
    let fault = |code: &str, why: &str| {
        Fault::new(
            Kind::Refused,
            code,
            format!("the session {} {why}", state.session_id),
        )
    };
    if state.status == "IN_PROGRESS" {
        fault(
            "not_possible",
            "neither broke down nor paused after its last iteration: there is nothing to take up again",
        )
        .suggest("go on with it")
        .recover(Verb::Status.step().of(&state.session_id))
    } else {
        fault("run_over", "is over for good")
            .suggest("begin another one")
            .recover(Verb::Start)
    }
}

/// Refuses a decision on something else than what is there.
pub fn bound_to(
    gate: &ClosedGate,
    about: About,
    named: Option<&str>,
    hash: Option<&str>,
) -> Result<(), Fault> {
    let changed = |message: String| {
        Err(Fault::new(Kind::Conflict, "changed_since", message)
            .suggest("look at what is there now, and decide on that")
            .detail("gate", gate.gate.as_str())
            .detail("iteration", gate.iteration)
            .detail("hash", gate.hash.as_str())
            .recover(Verb::Status.step().of(&gate.session_id)))
    };
    if let Some(named) = named.filter(|named| *named != gate.gate) {
        return changed(format!(
            "the {} waits at the gate {}, and not at {named}",
            about.noun(),
            gate.gate
        ));
    }
    let Some(hash) = hash else {
        return Ok(());
    };
    // Of a few digits somebody finds two contents that share them, and shows one and puts the other in its place.
    let digits = hash.trim().to_ascii_lowercase();
    if !journal::is_sha256_hex(&digits) {
        return Err(super::super::usage(format!("`{hash}` is no hash")).suggest(
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

/// The decision on what was looked at, in the words of the wire: `approve` or `reject`.
pub fn decision(gate: ClosedGate, choice: &str, feedback: &str) -> Result<Decide, Fault> {
    let choice = serde_json::from_value(Value::from(choice))
        .map_err(|_| Fault::bug(format!("`{choice}` is no decision")))?;
    Ok(Decide {
        gate,
        choice,
        feedback: feedback.to_owned(),
    })
}

/// The fault of a rejection that says nothing.
pub fn no_feedback() -> Fault {
    fault!("no_feedback.no_feedback")
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
            bound_to(&gate, About::Session, named, hash)
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
        for (choice, known) in [("approve", true), ("reject", true), ("maybe", false)] {
            let decided = decision(ClosedGate::default(), choice, "");
            assert_eq!(decided.is_ok(), known, "{choice}");
        }
    }
}
