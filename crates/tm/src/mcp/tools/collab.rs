//! Sessions of the `collab` rails.

use std::borrow::Cow;

use engine::view::COLLAB;
use engine::view::collab::request::{GraphSync, SessionUpdate, SkillDone, TaskUpdate};
use engine::{Engine, Fault};
use mcp::Hints;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::place::{RunSelector, SkillsPlace, TurnPlace};
use super::turn::MOVED;
use super::{Answer, Call, Entry, Handler, Property, answer, on_skills};
use crate::cli::collab::{CompleteSkill, Reopen, Skip, State};
use crate::commands::collab::document::of_document;
use crate::steps::Form;

/// What every answer of a tool that moves a session has.
const NEXT: &[Property] = &[
    ("validated", "boolean"),
    ("next_skill", "string?"),
    ("state", "string"),
];
/// What every answer on the status of tasks has.
const TASKS: &[Property] = &[
    ("validated", "boolean"),
    ("state", "string"),
    ("tasks", "array"),
    ("remaining", "integer"),
];

/// The tools of a session of skills.
pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry {
            name: "complete_skill",
            title: "Report a skill as done",
            description: "Report a skill of a collab session as done, and get next_skill with what it is about. collab-start begins a session. validated: false: nothing moved; next_skill is the one expected.",
            hints: Hints::Idempotent,
            output: NEXT,
            handler: on_skills(complete),
        },
        Entry {
            name: "get_session_state",
            title: "State of a collab session",
            description: "Get all that is needed to go on with a collab session after the context was cleared: skill, item, batch, files to read. full: every field.",
            hints: Hints::ReadOnly,
            output: &[("state", "string"), ("skill", "string?")],
            handler: on_skills(state),
        },
        Entry {
            name: "update_session_state",
            title: "Set work items",
            description: "Set fields of a collab session; begins one that is not there. workItems and currentItem (done first): until gather-session-goals is done; addItems: late items, from then on.",
            hints: Hints::Idempotent,
            output: &[("validated", "boolean"), ("state", "string")],
            handler: on_skills(update),
        },
        Entry {
            name: "reopen_work",
            title: "Reopen work",
            description: "Have an item of a collab session designed again, or tasks done again. Neither: the item in progress; at the end, one more task for what fails.",
            hints: Hints::Adds,
            output: MOVED,
            handler: Handler::new::<TurnPlace<SkillsPlace>, _>(reopen),
        },
        Entry {
            name: "skip_work",
            title: "Give work up",
            description: "Give up an item of a collab session, or tasks, and what depends on them; neither: the item in progress. Asks the user.",
            hints: Hints::Destructive,
            output: MOVED,
            handler: Handler::new::<TurnPlace<SkillsPlace>, _>(skip),
        },
        Entry {
            name: "update_task_status",
            title: "Set a task's status",
            description: "Set the status of one task of the present batch.",
            hints: Hints::Idempotent,
            output: TASKS,
            handler: on_skills(one_task),
        },
        Entry {
            name: "update_tasks_status",
            title: "Set tasks' statuses",
            description: "Set the status of many tasks: all are stored, or none.",
            hints: Hints::Idempotent,
            output: TASKS,
            handler: on_skills(many_tasks),
        },
        Entry {
            name: "get_task_graph",
            title: "Task graph",
            description: "Get batches and tasks with their statuses, and a Mermaid drawing.",
            hints: Hints::ReadOnly,
            output: &[("batches", "array")],
            handler: on_skills(graph),
        },
        Entry {
            name: "sync_task_graph",
            title: "Set a task graph",
            description: "Replace an item's task graph: YAML with tasks: [{id, files, tests, description, parallel, depends-on}], alone or in Markdown; without document and path from the session's own documents. validated: false: problems, with lines.",
            hints: Hints::Idempotent,
            output: &[("validated", "boolean"), ("tasks", "integer")],
            handler: on_skills(sync),
        },
    ]
}

fn complete(call: Call<'_>, meant: RunSelector, done: CompleteSkill) -> Answer {
    let engine = call.open(&meant)?;
    answer(&engine.complete_skill(&SkillDone {
        session: meant.run,
        skill: done.skill,
        unit_id: done.unit_id,
    })?)
}

fn reopen(call: Call<'_>, meant: RunSelector, reopen: Reopen) -> Answer {
    let engine = call.open(&meant)?;
    answer(&engine.turn(&COLLAB, meant.run(), &reopen.turn())?)
}

fn skip(call: Call<'_>, meant: RunSelector, skip: Skip) -> Answer {
    let (engine, turn) = (call.open(&meant)?, skip.turn());
    call.turned(&engine, &meant, Form::Collab, &turn, |engine, asked| {
        engine.turn(&COLLAB, asked.or(meant.run()), &turn)
    })
}

fn state(call: Call<'_>, meant: RunSelector, state: State) -> Answer {
    let engine = call.open(&meant)?;
    if state.full {
        answer(&engine.collab_state(meant.run())?)
    } else {
        answer(&engine.collab_brief(meant.run())?)
    }
}

/// Fields of a session, by name. Whichever they are: that one cannot be set is for the rails to say.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Fields(Map<String, Value>);

impl JsonSchema for Fields {
    fn schema_name() -> Cow<'static, str> {
        "Fields".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "workItems": {
                    "type": "array",
                    "x-as-is": true,
                    "x-brief": "{number, title, type: code|task|bugfix, dependsOn?: [number]}",
                    "items": { "type": "object" },
                },
                "addItems": {
                    "type": "array",
                    "x-as-is": true,
                    "x-brief": "the same; number may be left out",
                    "items": { "type": "object" },
                },
                // The item to begin with can be taken back, by `null`.
                "currentItem": { "type": "string", "x-as-is": true, "x-brief": "number of an item" },
                "hasSnapshot": { "type": "boolean", "x-as-is": true, "x-brief": "a snapshot of your context is kept" },
            },
            "additionalProperties": true,
        })
    }
}

fn update(call: Call<'_>, meant: RunSelector, fields: Fields) -> Answer {
    let mut engine = call.open(&meant)?;
    // A session that is not there begins.
    if engine.collab_brief(meant.run()).is_err() {
        engine = call.open_to_begin(&meant)?;
    }
    let mut fields = fields.0;
    // Some clients fill in what they leave out.
    fields.retain(|name, value| !value.is_null() || name == "currentItem");
    answer(&engine.collab_update(&SessionUpdate {
        session: meant.run,
        fields,
    })?)
}

/// What a task came to.
#[derive(Debug, Deserialize, JsonSchema)]
struct TaskDone {
    #[schemars(extend("x-aliases" = ["taskId"], "x-brief" = "of the graph"))]
    id: String,
    #[schemars(extend("enum" = ["pending", "in_progress", "completed", "failed"], "x-brief" = "new status"))]
    status: String,
    #[schemars(extend("enum" = ["failed"], "x-brief" = "with failed: skipped"))]
    outcome: Option<String>,
}

/// What many tasks came to.
#[derive(Debug, Deserialize, JsonSchema)]
struct TasksDone {
    #[schemars(extend("x-brief" = "all are stored, or none"))]
    tasks: Vec<TaskDone>,
}

fn one_task(call: Call<'_>, meant: RunSelector, task: TaskDone) -> Answer {
    many_tasks(call, meant, TasksDone { tasks: vec![task] })
}

fn many_tasks(call: Call<'_>, meant: RunSelector, all: TasksDone) -> Answer {
    let tasks = all.tasks.into_iter().map(|task| TaskUpdate {
        id: task.id,
        status: task.status,
        outcome: task.outcome,
    });
    let engine = call.open(&meant)?;
    answer(&engine.collab_tasks(meant.run(), &tasks.collect::<Vec<_>>())?)
}

/// Nothing but the session.
#[derive(Debug, Deserialize, JsonSchema)]
struct Whole {}

fn graph(call: Call<'_>, meant: RunSelector, _: Whole) -> Answer {
    answer(&call.open(&meant)?.collab_graph(meant.run())?)
}

/// A task graph that is handed over.
#[derive(Debug, Deserialize, JsonSchema)]
struct Graph {
    #[schemars(extend("x-brief" = "number; default: the present item"))]
    item: Option<String>,
    /// An empty one is an error of the graph, and not taken for none.
    #[schemars(extend("x-empty" = true, "x-brief" = "the text"))]
    document: Option<String>,
    #[schemars(extend("x-brief" = "or a file of the project"))]
    path: Option<String>,
}

fn sync(call: Call<'_>, meant: RunSelector, graph: Graph) -> Answer {
    let Graph {
        item,
        document,
        path,
    } = graph;
    let is_given = document.is_some();
    let engine = call.open(&meant)?;
    let path = path
        .map(|path| {
            call.places.file(&engine, &path)?;
            Ok::<_, Fault>(in_project(&engine, path))
        })
        .transpose()?;
    let mut told = engine.collab_sync(&GraphSync {
        session: meant.run,
        item,
        document,
        path: path.clone(),
    })?;
    match &path {
        Some(path) => of_document(&mut told, path),
        None if is_given => of_document(&mut told, "document"),
        None => {}
    }
    answer(&told)
}

/// A path as the engine takes it: from the project's root, also where it was named from the root of the disk.
fn in_project(engine: &Engine, path: String) -> String {
    let below = std::path::Path::new(&path).strip_prefix(engine.root());
    match below.ok().and_then(std::path::Path::to_str) {
        Some(below) => below.to_owned(),
        None => path,
    }
}
