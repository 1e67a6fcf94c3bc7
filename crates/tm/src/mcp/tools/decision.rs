//! Decisions at gates, of sessions and of any run: a person makes them, and is asked.

use engine::fault;
use engine::view::session::answer::ClosedGate;
use engine::view::session::request::Decide;
use engine::{Engine, Fault, Verb};
use mcp::{Client, Hints};
use schemars::JsonSchema;
use serde::Deserialize;
use text::plain::{many_lines, one_line};

use super::super::confirm::{Interruption, confirm, strong_enough};
use super::super::place::RunSelector;
use super::turn::by_hand;
use super::{Entry, Handler, Property};
use crate::commands::session::decision::{bound_to, decision, no_feedback};
use crate::render::session::{About, edited};
use crate::steps::Form;

/// The tools that carry a person's decision: on a session, and on any run.
pub(super) const NAMES: [&str; 2] = [DECIDE, RUN_DECIDE];
pub(super) const DECIDE: &str = "session_decide";
pub(super) const RUN_DECIDE: &str = "run_decide";
/// How many characters of a feedback are told again.
const LONGEST_ECHO: usize = 200;

/// A tool that carries a person's decision at a gate.
pub(super) fn deciding(name: &'static str, output: &'static [Property], handler: Handler) -> Entry {
    Entry {
        name,
        title: "Decide at a gate",
        description: "Approve or reject at a closed gate, as the user decided on exactly this gate and hash (of the answer that showed them). The user is asked again. Never call it unasked.",
        hints: Hints::Destructive,
        output,
        handler,
    }
}

/// What was decided, and on what.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct DecisionRequest {
    #[serde(rename = "decision")]
    #[schemars(extend("enum" = ["approve", "reject"], "x-brief" = "the user's"))]
    choice: String,
    #[schemars(extend("x-brief" = "gate that was shown"))]
    gate: String,
    #[schemars(extend("x-brief" = "hash that was shown"))]
    hash: String,
    #[serde(default)]
    #[schemars(extend("x-brief" = "to reject: what to change"))]
    feedback: String,
}

impl DecisionRequest {
    /// It, where it makes sense: what makes none is refused before anybody is asked.
    pub(super) fn checked(self) -> Result<Self, Fault> {
        if !matches!(self.choice.as_str(), "approve" | "reject") {
            return Err(fault!("usage.decision", choice = one_line(&self.choice))
                .expected(vec!["approve", "reject"]));
        }
        if self.choice == "reject" && self.feedback.trim().is_empty() {
            return Err(no_feedback());
        }
        Ok(self)
    }
}

/// The decision as it is taken in, and the engine that takes it in with the person's word.
pub(super) fn decided(
    engine: &Engine,
    gate: ClosedGate,
    about: About,
    wish: &DecisionRequest,
    client: &Client,
    meant: &RunSelector,
) -> Result<(Engine, Decide), Interruption> {
    bound_to(&gate, about, Some(&wish.gate), Some(&wish.hash))?;
    let by_hand = typed_by_hand(&gate, about, wish, meant, engine);
    let request = decision(gate, &wish.choice, &wish.feedback)?;
    request.gate.takes(request.choice)?;
    strong_enough(request.gate.strength, &by_hand)?;
    let question = question(&request.gate, about, &wish.choice, &wish.feedback);
    // The yes is for this decision on exactly this, of the run as it stands: none is used a second time.
    let statement = engine.gate_statement(&request.gate, request.choice, &wish.feedback)?;
    let asked = confirm(client, &question, &statement.text(), &by_hand)?;
    Ok((engine.asked(asked), request))
}

/// What the person is asked.
fn question(gate: &ClosedGate, about: About, choice: &str, feedback: &str) -> String {
    let mut lines = vec![match choice {
        "approve" => format!("Approve {}?", about.what(&gate.gate)),
        _ => format!("Send {} back?", about.what(&gate.gate)),
    }];
    lines.push(format!(
        "{} {}, iteration {}",
        about.title(),
        gate.session_id,
        gate.iteration
    ));
    lines.push(format!("sha256 {}", gate.hash));
    for path in &gate.look_at {
        lines.push(format!("Look at {}", path.display()));
    }
    if gate.edited {
        lines.push(format!("Note: {}", edited(&gate.gate)));
    }
    if choice == "reject" {
        lines.push(format!("Feedback: {}", shortened(feedback.trim())));
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

/// The same decision as a person would type it; a long feedback is left to them.
fn typed_by_hand(
    gate: &ClosedGate,
    about: About,
    wish: &DecisionRequest,
    meant: &RunSelector,
    engine: &Engine,
) -> String {
    let (form, verb) = match (about, wish.choice.as_str()) {
        (About::Session, "approve") => (Form::Session, Verb::Approve),
        (About::Session, _) => (Form::Session, Verb::Reject),
        (About::Run, "approve") => (Form::Run, Verb::Approve),
        (About::Run, _) => (Form::Run, Verb::Reject),
    };
    let mut step = verb.step().of(&gate.session_id).with("hash", &gate.hash);
    if verb == Verb::Reject {
        step = match wish.feedback.chars().nth(LONGEST_ECHO) {
            None => step.with("feedback", one_line(&wish.feedback)),
            Some(_) => step.and("feedback"),
        };
    }
    by_hand(form, step, meant, engine)
}
