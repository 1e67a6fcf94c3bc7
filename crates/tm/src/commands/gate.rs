//! Decisions at gates: a person makes them.

use engine::fault;
use engine::gate::{ClosedGate, Decide};
use engine::view::View;
use engine::{Choice, Engine, Fault, Kind, Verb};

use super::approving::{Question, agreed};
use super::{DONE, Outcome, usage};
use crate::calls::FamilyCall;
use crate::output::Output;
use crate::render;
use journal::layout::short_name;

/// Has a person decide at the gate that a run waits at: to send back where there is feedback, else to open it.
pub fn decide(
    engine: &Engine,
    view: &'static View,
    asked: &FamilyCall,
    feedback: Option<&str>,
    output: &mut Output,
) -> Outcome {
    if feedback.is_some_and(|feedback| feedback.trim().is_empty()) {
        return Err(fault!("usage.no_feedback"));
    }
    let gate = engine.gate(view, asked.run.as_deref())?;
    bound_to(&gate, None, asked.arguments.text("hash"))?;
    let (choice, to, deed, again) = match feedback {
        None => (
            Choice::Approve,
            "approve",
            "a gate is opened",
            Verb::Approve.step(),
        ),
        Some(feedback) => (
            Choice::Reject,
            "send it back",
            "work is sent back",
            Verb::Reject.step().with("feedback", feedback),
        ),
    };
    let feedback = feedback.unwrap_or_default().to_owned();
    let question = Question {
        text: &render::gate(&gate, choice, &feedback, &output.look()),
        to,
        what: &format!("the decision at the gate {}", gate.gate),
        deed,
        least: gate.strength,
    };
    let statement = engine.gate_statement(&gate, choice, &feedback)?;
    let again = again.of(&gate.run_id);
    let by = agreed(
        engine,
        asked.sign.as_deref(),
        &statement,
        &question,
        output,
        again,
    )?;
    let decide = Decide {
        gate,
        choice,
        feedback,
    };
    output.answer(&by.decide(view, &decide)?, render::turned)?;
    Ok(DONE)
}

/// Refuses a decision on something else than what is there.
pub fn bound_to(gate: &ClosedGate, named: Option<&str>, hash: Option<&str>) -> Result<(), Fault> {
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
        return Err(usage(format!("`{hash}` is no hash")).suggest(
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
