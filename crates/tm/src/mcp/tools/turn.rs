//! The turns of a run, of two families of tools. Some a person decides, who is asked.

use engine::view::GENERIC;
use engine::{Engine, NEEDS_CONFIRMATION, NextStep, Statement, Turn, Verb};
use journal::layout::short_name;
use serde_json::Value;
use text::plain::{many_lines, one_line};
use workspace::config::{Environment, find_root};

use super::super::confirm::{confirm, strong_enough};
use super::super::place::RunSelector;
use super::decision::shortened;
use super::{Answer, Call, answer};
use crate::calls::Arguments;
use crate::steps::{Caller, Form, StepSpelling as _};

impl Call<'_> {
    /// Takes a turn, or lists the steps that a run can be taken back to.
    pub(super) fn turn(self, arguments: &Arguments) -> Answer {
        let (view, engine) = (self.entry.family.form().view(), self.open()?);
        match arguments.turn(self.entry.call) {
            None => answer(&engine.past_steps(view, self.run())?),
            Some(turn) => self.turned(&engine, &turn),
        }
    }

    /// Takes a turn, of the run that a person was asked about where one was. What is given up, a person is asked for first where the
    /// client can show a question; where it cannot, its own permission for the tool decides, unless something is deleted. Nobody is
    /// asked for what would be refused: it is tried first, and refused for want of a person where nothing else stands against it.
    fn turned(self, engine: &Engine, turn: &Turn<'_>) -> Answer {
        let form = self.entry.family.form();
        let take = |engine: &Engine, asked: Option<&str>| {
            engine.turn(form.view(), asked.or(self.run()), turn)
        };
        let is_given_up = matches!(turn.verb, Verb::Skip | Verb::Abort);
        let asking = (is_given_up && self.client.can().forms).then(|| engine.asking());
        let fault = match take(asking.as_ref().unwrap_or(engine), None) {
            Err(fault) if ["needs_person", NEEDS_CONFIRMATION].contains(&fault.code.as_str()) => {
                fault
            }
            done => return answer(&done?),
        };
        // A session is for a person to take up again, who is not asked here.
        let Some(run) = fault.details.get("runId").and_then(Value::as_str) else {
            return Err(fault.into());
        };
        let (statement, least) = engine.turn_statement(run, turn)?;
        let by_hand = by_hand(form, turn.step().of(run), &self.meant, engine);
        if fault.code == "needs_person" {
            strong_enough(least, &by_hand)?;
        }
        let mut question = question(engine, &statement, turn);
        if !turn.reason.trim().is_empty() {
            question.push_str("\nReason: ");
            question.push_str(&shortened(turn.reason.trim()));
        }
        let asked = confirm(
            self.client,
            many_lines(&question).trim_end(),
            // The yes is for this turn, with its item and its reason, of the run as it stands.
            &statement.text(),
            &by_hand,
        )?;
        answer(&take(&engine.asked(asked), Some(run))?)
    }
}

/// What the person is asked.
fn question(engine: &Engine, statement: &Statement, turn: &Turn<'_>) -> String {
    let (run, name) = (&statement.run, short_name(&statement.run));
    let is_set = |flag| turn.flags.get(flag) == Some(&Value::Bool(true));
    let asked = match turn.verb {
        Verb::Skip => {
            let tasks = turn.flags.get("task").and_then(Value::as_array);
            let named = match (turn.item(), tasks) {
                (Some(item), _) => Some(item.to_owned()),
                (None, Some(tasks)) => {
                    let names: Vec<&str> = tasks.iter().filter_map(Value::as_str).collect();
                    Some(names.join(", "))
                }
                (None, None) => in_progress(engine, run),
            };
            let what = named.unwrap_or_else(|| "what is in progress".to_owned());
            return one_line(&format!(
                "Give up {what} of the run {name} for good, and what depends on it?"
            ));
        }
        Verb::Abort => {
            let task = engine.status(&GENERIC, Some(run)).ok();
            let task = task.and_then(|status| status.task);
            let branch = task.map_or_else(String::new, |task| format!(" branch {}", task.branch));
            return one_line(&match (is_set("cleanup"), is_set("force")) {
                (false, _) if branch.is_empty() => format!("Abort the run {name}? Its files stay."),
                (false, _) => format!("Abort the run {name}? Its{branch} and its files stay."),
                (true, false) => {
                    format!("Abort the run {name} and delete its{branch} and its folder?")
                }
                (true, true) => format!(
                    "Abort the run {name} and delete its{branch} and its folder, also commits that are nowhere else?"
                ),
            });
        }
        Verb::Reopen => "Have the run go on, one step back?",
        Verb::Rewind => "Take the run back, and have it go on from there?",
        _ => "Have the run go on?",
    };
    let why = format!("{name} stopped by a rule: {}", statement.subject);
    let mut lines = vec![asked.to_owned(), why];
    lines.extend(turn.flags.iter().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), one_line);
        format!("{name}: {value}")
    }));
    lines.join("\n")
}

/// The item in progress of a run.
fn in_progress(engine: &Engine, run: &str) -> Option<String> {
    let unit = engine.status(&GENERIC, Some(run)).ok()?.next_action.unit?;
    unit.key().map(str::to_owned)
}

/// The command by which a person takes a step in the project that a call is about, which may be another than that of the
/// folder the server was started in.
pub(super) fn by_hand(
    form: Form,
    mut step: NextStep,
    meant: &RunSelector,
    engine: &Engine,
) -> String {
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
