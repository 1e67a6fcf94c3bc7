//! `tasks`: a task with its subtasks, and their status in the task file.

pub mod finish;
pub mod tag;

use machine::Definition;
use machine::check::catalog::{Effect, ParameterKind, Resource};
use machine::definition::FieldType::{Int, String as Text};
use serde_json::{Map, Value};

use crate::call::{Call, Form};
use crate::capability::payload;
use crate::capability::tests::TESTS;
use crate::capability::{
    BRANCH, Capability, EffectSteps, REPOSITORY, TASKS, lasting, parameter, passing,
};
use crate::support::Emitted;

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

    fn effects(&self) -> Vec<(&'static str, Effect, EffectSteps)> {
        let finish = Effect {
            takes: &[BRANCH],
            ..lasting(&[TASKS], &[])
        };
        vec![
            ("tag.switch", passing(&[TASKS]), tag::SWITCH),
            ("tag.restore", passing(&[TASKS]), tag::RESTORE),
            ("task.finish", finish, finish::STEPS),
        ]
    }
}
