//! `tasks`: a task with its subtasks, and their status in the task file.

pub mod finish;
pub mod tag;

use machine::check::catalog::{Effect, ParameterKind, Resource};
use machine::definition::FieldType::{Int, String as Text};
use machine::state::Pending;
use machine::{Definition, RunState};
use serde_json::{Map, Value};

use crate::call::{Call, Form};
use crate::capability::git::effects;
use crate::capability::payload;
use crate::capability::tests::TESTS;
use crate::capability::{BRANCH, Capability, REPOSITORY, TASKS, lasting, parameter, passing};
use crate::fault::Fault;
use crate::support::{EffectRequest, EffectState, Emitted, HandlerError, Outcome};

/// The fields of a subtask.
const SUBTASK: [(&str, &str); 7] = [
    ("id", "string"),
    ("title", "string"),
    ("description", "string"),
    ("details", "string"),
    ("testStrategy", "string"),
    ("acceptanceCriteria", "list of strings"),
    ("dependencies", "list of strings"),
];

/// What templates may name of a task.
const VARIABLES: [&str; 16] = [
    "unit.brief",
    "unit.counted",
    "unit.repair",
    "rules",
    "task.id",
    "task.title",
    "subtask.id",
    "subtask.title",
    "subtask.kind",
    "subtask.description",
    "subtask.details",
    "subtask.testStrategy",
    "subtask.dependencies",
    "context.",
    "last.code",
    "last.failing",
];

pub(super) struct Tasks;

impl Capability for Tasks {
    fn name(&self) -> &'static str {
        "tasks"
    }

    fn resources(&self) -> Vec<(&'static str, Resource)> {
        let task = Resource {
            parameters: vec![
                parameter("id", ParameterKind::Input(Text), "=inputs.taskId"),
                parameter("attempts", ParameterKind::Input(Int), "=inputs.maxAttempts"),
                parameter("into", ParameterKind::Items(&SUBTASK), "subtasks"),
            ],
            needs: &[REPOSITORY, TESTS],
            ..Resource::default()
        };
        vec![(TASKS, task)]
    }

    fn variables(&self, definition: &Definition) -> &'static [&'static str] {
        match Form::of_templates(definition) {
            Form::Context => &VARIABLES,
            Form::Frame | Form::Text => &[],
        }
    }

    fn events(&self) -> Vec<(&'static str, Option<&'static str>)> {
        [
            "phase:start",
            "phase:complete",
            "phase:transition",
            "tag:switched",
            "subtask:start",
            "subtask:complete",
        ]
        .map(|name| (name, Some(TASKS)))
        .into()
    }

    fn fields(&self, _: &Call<'_>, emitted: Emitted<'_>) -> Option<Map<String, Value>> {
        payload::of_tasks(emitted)
    }

    fn effects(&self) -> Vec<(&'static str, Effect)> {
        vec![
            ("tag.switch", passing(&[TASKS])),
            ("tag.restore", passing(&[TASKS])),
            (
                "task.finish",
                Effect {
                    takes: &[BRANCH],
                    ..lasting(&[TASKS], &[])
                },
            ),
        ]
    }

    fn prepare(
        &self,
        call: &Call<'_>,
        asked: &EffectRequest<'_>,
        run: &RunState,
    ) -> Result<Value, HandlerError> {
        match asked.effect {
            "tag.switch" => tag::prepare_switch(call, run),
            "tag.restore" => tag::prepare_restore(call, run),
            "task.finish" => finish::prepare(call, run),
            other => Err(self.has_no("effect", other).into()),
        }
    }

    fn perform(
        &self,
        call: &Call<'_>,
        run: &RunState,
        pending: &Pending,
    ) -> Result<Outcome, Fault> {
        match pending.name.as_str() {
            "tag.switch" | "tag.restore" => tag::perform(pending),
            "task.finish" => effects::commit::perform(call, run, pending),
            other => Err(self.has_no("effect", other)),
        }
    }

    fn look(
        &self,
        call: &Call<'_>,
        run: &RunState,
        pending: &Pending,
    ) -> Result<EffectState, Fault> {
        match pending.name.as_str() {
            "tag.switch" | "tag.restore" => Ok(EffectState::NotDone),
            "task.finish" => effects::commit::look(call, run, pending),
            other => Err(self.has_no("effect", other)),
        }
    }
}
