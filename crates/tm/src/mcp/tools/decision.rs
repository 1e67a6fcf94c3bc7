//! What a person decides: at a gate, and by turns. They are asked by a form of the client.

use engine::view::GENERIC;
use engine::view::autopilot::request;
use engine::{Choice, Engine, Fault, NEEDS_CONFIRMATION, NextStep, Started, Turn, Verb};
use serde_json::{Value, json};
use text::plain::one_line;
use workspace::config::{Environment, find_root};

use super::super::confirm::{Interruption, confirm, strong_enough};
use super::super::place::RunSelector;
use super::Call;
use crate::calls::FamilyCall;
use crate::decision::{Asking, Matter, Question};
use crate::render::{self, Look};
use crate::steps::{Caller, Form, StepSpelling as _};

/// How many characters of a feedback are told again.
const LONGEST_ECHO: usize = 200;

impl Call<'_> {
    /// Begins a run over a task in the place of the one that is under way, once the person has said yes to that.
    pub(super) fn supersede(
        &mut self,
        engine: &Engine,
        asked: &FamilyCall,
        mut request: request::Start,
        fault: &Fault,
    ) -> Result<Started, Interruption> {
        request.force = true;
        // Nobody is asked for a start that would be refused.
        let asking = match engine.asking().start(&request) {
            Err(asking) if asking.code == NEEDS_CONFIRMATION => asking,
            started => return Ok(started?),
        };
        let run = asking.details.get("runId").and_then(Value::as_str);
        let abort = Turn::new(Verb::Abort, "");
        let (statement, _) = engine.turn_statement(run.unwrap_or_default(), &abort)?;
        let question = format!(
            "{}. End it, and start this one in its place?",
            fault.message
        );
        let mut arguments = asked.arguments.clone();
        // An id that begins with a hyphen would be an option itself.
        if arguments
            .text("taskId")
            .is_some_and(|id| id.starts_with('-'))
        {
            arguments.take("taskId");
        }
        let step = arguments.step(asked.call, Verb::Start);
        let by_hand = by_hand(asked.family.form(), step, &self.meant, engine);
        // The yes is for this start in the place of that run as it stands.
        let about = format!("{}\n{by_hand}", statement.text());
        let channel = confirm(self.client, &question, &about, &by_hand)?;
        Ok(engine.asked(channel).start(&request)?)
    }
}

/// The person is asked by a form, where the client can show one.
impl Asking for Call<'_> {
    type Refusal = Interruption;

    /// What is given up, they are asked for where that is possible; where not, the client's own permission for the tool decides,
    /// unless something is deleted.
    fn asks_for(&self, turn: &Turn<'_>) -> bool {
        matches!(turn.verb, Verb::Skip | Verb::Abort) && self.client.can().forms
    }

    fn can_ask_for(&self, _: &Turn<'_>) -> bool {
        true
    }

    fn ask(&mut self, engine: &Engine, question: &Question<'_>) -> Result<Engine, Interruption> {
        let mut step = question.step();
        if let Matter::Gate(decide) = question.matter {
            step = step.with("hash", &decide.gate.hash);
            if decide.choice == Choice::Reject {
                // A long feedback is left to the person.
                step = match decide.feedback.chars().nth(LONGEST_ECHO) {
                    None => step.with("feedback", one_line(&decide.feedback)),
                    Some(_) => step.and("feedback"),
                };
            }
        }
        let by_hand = by_hand(self.entry.family.form(), step, &self.meant, engine);
        strong_enough(question.least, &by_hand)?;
        let text = match question.matter {
            Matter::Gate(decide) => {
                let feedback = shortened(decide.feedback.trim());
                render::gate("gate_question", decide, &feedback, &Look::PLAIN)
            }
            Matter::Turn(turn) => turn_question(engine, question, turn),
        };
        let about = question.statement.text();
        let channel = confirm(self.client, text.trim_end(), &about, &by_hand)?;
        Ok(engine.asked(channel))
    }
}

/// What the person is asked of a turn.
fn turn_question(engine: &Engine, question: &Question<'_>, turn: &Turn<'_>) -> String {
    let run = &question.statement.run;
    let status = engine.status(&GENERIC, Some(run)).ok();
    let unit = status
        .as_ref()
        .and_then(|status| status.next_action.unit.as_ref());
    let in_progress = unit.and_then(|unit| unit.key());
    let tasks = turn.flags.get("task").and_then(Value::as_array);
    let named = match (turn.item(), tasks) {
        (None, Some(tasks)) => {
            let names: Vec<&str> = tasks.iter().filter_map(Value::as_str).collect();
            Some(names.join(", "))
        }
        (item, _) => item.or(in_progress).map(str::to_owned),
    };
    let shown = json!({
        "turn": turn.verb.name(),
        "run": run,
        "named": named,
        "branch": status.as_ref().and_then(|status| Some(&status.task.as_ref()?.branch)),
        "stopped": question.statement.subject,
        "flags": turn.flags,
        "reason": shortened(turn.reason.trim()),
    });
    render::page("turn_question", &shown, &Look::PLAIN)
}

/// A text as it is told again to whoever sent it: not the whole of a long one.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_ECHO) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}… ({} bytes in all)", &text[..at], text.len()),
    }
}

/// The command by which a person takes a step in the project that a call is about, which may be another than that of the
/// folder the server was started in.
fn by_hand(form: Form, mut step: NextStep, meant: &RunSelector, engine: &Engine) -> String {
    let environment = Environment::of_this_process();
    let here = std::env::current_dir().map(|here| find_root(&here, &environment).path);
    if let Some(root) = &meant.project_root {
        step = step.with("projectRoot", root);
    } else if here.is_ok_and(|here| here != engine.root()) {
        step = step.with("projectRoot", engine.root().display().to_string());
    }
    if let Some(tag) = &meant.tag {
        step = step.with("tag", tag);
    }
    Caller::at_a_shell(form, None).alone(&step)
}
