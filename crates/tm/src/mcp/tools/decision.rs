//! Decisions at gates: a person makes them, and is asked.

use engine::Choice;
use engine::fault;
use engine::gate::Decide;
use engine::{Fault, Verb};
use journal::layout::short_name;
use serde::Deserialize;
use text::plain::{many_lines, one_line};

use super::super::confirm::{confirm, strong_enough};
use super::turn::by_hand;
use super::{Answer, Call, answer};
use crate::commands::gate::bound_to;
use crate::render;

/// How many characters of a feedback are told again.
const LONGEST_ECHO: usize = 200;

/// What was decided, and on what.
#[derive(Debug, Deserialize)]
pub(super) struct DecisionRequest {
    #[serde(rename = "decision")]
    choice: String,
    gate: String,
    hash: String,
    #[serde(default)]
    feedback: String,
}

impl Call<'_> {
    /// Takes in a decision, once the person has said yes to it. What makes no sense is refused before anybody is asked.
    pub(super) fn decide(self, wish: DecisionRequest) -> Answer {
        let form = self.entry.family.form();
        let view = form.view();
        let choice = match wish.choice.as_str() {
            "approve" => Choice::Approve,
            "reject" => Choice::Reject,
            other => return Err(unknown(other).into()),
        };
        if choice == Choice::Reject && wish.feedback.trim().is_empty() {
            return Err(fault!("usage.no_feedback").into());
        }
        let engine = self.open()?;
        let gate = engine.gate(view, self.run())?;
        bound_to(&gate, Some(&wish.gate), Some(&wish.hash))?;
        gate.takes(choice)?;
        let verb = if choice == Choice::Approve {
            Verb::Approve
        } else {
            Verb::Reject
        };
        let mut step = verb.step().of(&gate.run_id).with("hash", &gate.hash);
        if choice == Choice::Reject {
            // A long feedback is left to the person.
            step = match wish.feedback.chars().nth(LONGEST_ECHO) {
                None => step.with("feedback", one_line(&wish.feedback)),
                Some(_) => step.and("feedback"),
            };
        }
        let by_hand = by_hand(form, step, &self.meant, &engine);
        strong_enough(gate.strength, &by_hand)?;
        let decide = Decide {
            gate,
            choice,
            feedback: wish.feedback,
        };
        // The yes is for this decision on exactly this, of the run as it stands: none is used a second time.
        let statement = engine.gate_statement(&decide.gate, choice, &decide.feedback)?;
        let asked = confirm(self.client, &question(&decide), &statement.text(), &by_hand)?;
        answer(&engine.asked(asked).decide(view, &decide)?)
    }
}

fn unknown(choice: &str) -> Fault {
    fault!("usage.decision", choice = one_line(choice)).expected(vec!["approve", "reject"])
}

/// What the person is asked.
fn question(decide: &Decide) -> String {
    let gate = &decide.gate;
    let mut lines = vec![render::question_at(gate, decide.choice)];
    lines.push(format!(
        "Run {}, iteration {}",
        short_name(&gate.run_id),
        gate.iteration
    ));
    lines.push(format!("sha256 {}", gate.hash));
    for path in &gate.look_at {
        lines.push(format!("Look at {}", path.display()));
    }
    if gate.edited {
        lines.push(format!("Note: {}", render::EDITED));
    }
    if decide.choice == Choice::Reject {
        lines.push(format!("Feedback: {}", shortened(decide.feedback.trim())));
    }
    many_lines(&lines.join("\n")).trim_end().to_owned()
}

/// A text as it is told again to whoever sent it: not the whole of a long one.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_ECHO) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}… ({} bytes in all)", &text[..at], text.len()),
    }
}
