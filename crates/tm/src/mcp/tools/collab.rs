//! Sessions of the `collab` rails.

use std::borrow::Cow;

use engine::view::collab::request::{GraphSync, SessionUpdate, SkillDone, TaskUpdate};
use engine::{Engine, Fault};
use mcp::Hints;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::place::{RunSelector, SkillsPlace, TurnPlace};
use super::{Answer, Call, Entry, Handler, answer, on_skills};
use crate::cli::collab::{CompleteSkill, Reopen, Skip, State};
use crate::commands::collab::document::of_document;

/// The tools of a session of skills.
pub(super) fn entries() -> Vec<Entry> {
    let text = json!({ "type": "string" });
    let flag = json!({ "type": "boolean" });
    let count = json!({ "type": "integer" });
    let object = json!({ "type": "object" });
    let list = json!({ "type": "array" });
    // A list of types is more than some clients understand.
    let maybe = json!({ "anyOf": [text, { "type": "null" }] });
    let updated = json!({
        "validated": flag, "code": text, "message": text, "suggestion": text,
        "state": text, "tasks": list, "remaining": count, "fields": object,
    });
    let next = json!({
        "validated": flag, "message": text, "next_skill": maybe, "state": text, "unit_id": text,
    });
    vec![
        Entry {
            name: "complete_skill",
            title: "Skill finished",
            description: "Say which skill is finished and get next_skill, with what it is about. validated: false: nothing moved; next_skill is the one expected. Repeating it is harmless. collab-start begins a session.",
            hints: Hints::Idempotent,
            output: json!({
                "validated": flag, "code": text, "message": text, "suggestion": text,
                "next_skill": maybe, "done": flag, "status": text, "action": text, "params": object, "state": text,
                "display_name": text, "unit_id": text, "item": object, "batch": object,
                "instructions": text, "valid_skills": list, "problems": list, "notes": list,
            }),
            always: &["validated", "next_skill", "state"],
            handler: on_skills(complete),
        },
        Entry {
            name: "get_session_state",
            title: "Where a session is",
            description: "All that is needed to go on after the context was cleared: skill, item, batch, files to read. full: every field.",
            hints: Hints::ReadOnly,
            output: json!({
                "session": text, "skill": maybe, "unitId": maybe, "state": text, "displayName": text,
                "phase": text, "done": flag, "status": text, "item": object, "batch": object, "read": list,
                "documents": text, "instructions": text, "workItems": list, "batches": list,
            }),
            always: &["state", "skill"],
            handler: on_skills(state),
        },
        Entry {
            name: "update_session_state",
            title: "Set work items",
            description: "Set fields of a session; begins one that is not there. workItems and currentItem (taken first): until gather-session-goals is finished; addItems: items that come late, from then on. What follows from the rails is refused: read_only.",
            hints: Hints::Idempotent,
            output: updated.clone(),
            always: &["validated", "state"],
            handler: on_skills(update),
        },
        Entry {
            name: "reopen_work",
            title: "Take work up again",
            description: "Have an item be worked out again, or tasks be run again. Neither: the item in hand; at the end, one more task for what fails.",
            hints: Hints::Adds,
            output: next.clone(),
            always: &["validated", "next_skill", "state"],
            handler: Handler::new::<TurnPlace<SkillsPlace>, _>(reopen),
        },
        Entry {
            name: "skip_work",
            title: "Give work up",
            description: "Give up an item with its open tasks, or tasks; neither: the item in hand. What depends on it is not run.",
            hints: Hints::Destructive,
            output: next,
            always: &["validated", "next_skill", "state"],
            handler: Handler::new::<TurnPlace<SkillsPlace>, _>(skip),
        },
        Entry {
            name: "update_task_status",
            title: "Set a task's status",
            description: "Say what a task of the batch in hand came to.",
            hints: Hints::Idempotent,
            output: updated.clone(),
            always: &["validated", "state", "tasks", "remaining"],
            handler: on_skills(one_task),
        },
        Entry {
            name: "update_tasks_status",
            title: "Set tasks' statuses",
            description: "The same of many tasks: all are stored, or none.",
            hints: Hints::Idempotent,
            output: updated,
            always: &["validated", "state", "tasks", "remaining"],
            handler: on_skills(many_tasks),
        },
        Entry {
            name: "get_task_graph",
            title: "Task graph",
            description: "Batches and tasks with their statuses, and a Mermaid drawing of them.",
            hints: Hints::ReadOnly,
            output: json!({
                "session": text, "cut": flag, "batches": list, "mermaid": text, "problems": list,
            }),
            always: &["batches"],
            handler: on_skills(graph),
        },
        Entry {
            name: "sync_task_graph",
            title: "Hand a task graph over",
            description: "Replace an item's task graph: YAML with tasks: [{id, files, tests, description, parallel, depends-on}], alone or in Markdown. Without document and path the session's own documents are read. validated: false: problems, with lines.",
            hints: Hints::Idempotent,
            output: json!({
                "validated": flag, "code": text, "message": text, "suggestion": text,
                "tasks": count, "problems": list, "notes": list, "batches": list,
            }),
            always: &["validated", "tasks"],
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
    answer(&engine.collab_reopen(&reopen.turn(meant.run))?)
}

fn skip(call: Call<'_>, meant: RunSelector, skip: Skip) -> Answer {
    let engine = call.open(&meant)?;
    answer(&engine.collab_skip(&skip.turn(meant.run))?)
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
                "hasSnapshot": { "type": "boolean", "x-as-is": true, "x-brief": "of your context" },
            },
            "additionalProperties": true,
        })
    }
}

fn update(call: Call<'_>, meant: RunSelector, fields: Fields) -> Answer {
    let engine = call.open(&meant)?;
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
    #[schemars(extend("enum" = ["pending", "in_progress", "completed", "failed"], "x-brief" = "what it came to"))]
    status: String,
    #[schemars(extend("enum" = ["failed"], "x-brief" = "with failed: skipped"))]
    outcome: Option<String>,
}

/// What many tasks came to.
#[derive(Debug, Deserialize, JsonSchema)]
struct TasksDone {
    #[schemars(extend("x-brief" = "all of them or none"))]
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
    #[schemars(extend("x-brief" = "number; the present item if left out"))]
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
