//! Sessions of the `collab` rails.

use conductor::collab::request::{GraphSync, SessionUpdate, SkillDone, TaskUpdate};
use conductor::{Conductor, Fault, Kind};
use mcp::Hints;
use project::convention::plain::one_line;
use serde_json::{Map, Value, json};

use super::super::arguments::{Arguments, unpack};
use super::super::confirm::No;
use super::super::place::Meant;
use super::{Answer, Call, Entry, answer};
use crate::commands::collab::document::of_document;

/// The names of the tools, in their order.
pub(in super::super) const NAMES: [&str; 7] = [
    "complete_skill",
    "get_session_state",
    "update_session_state",
    "update_task_status",
    "update_tasks_status",
    "get_task_graph",
    "sync_task_graph",
];

/// The tools of a session of skills.
pub(super) fn entries() -> Vec<Entry> {
    let text = json!({ "type": "string" });
    let flag = json!({ "type": "boolean" });
    let count = json!({ "type": "integer" });
    let object = json!({ "type": "object" });
    let list = json!({ "type": "array" });
    // A list of types is more than some clients understand.
    let maybe = json!({ "anyOf": [text, { "type": "null" }] });
    let status =
        json!({ "type": "string", "enum": ["pending", "in_progress", "completed", "failed"] });
    let outcome =
        json!({ "type": "string", "enum": ["failed"], "description": "with failed: given up" });
    let updated = json!({
        "validated": flag, "code": text, "message": text, "suggestion": text,
        "state": text, "tasks": list, "remaining": count, "fields": object,
    });
    vec![
        Entry {
            name: NAMES[0],
            title: "Skill finished",
            description: "Say which skill is finished and get next_skill, with what it is about. validated: false: nothing moved; next_skill is the one expected. Repeating it is harmless. collab-start begins a session.",
            hints: Hints::Idempotent,
            input: json!({
                "skill": text,
                "unitId": { "type": "string", "description": "unit_id of the answer that named the skill" },
            }),
            needed: &["skill"],
            output: json!({
                "validated": flag, "code": text, "message": text, "suggestion": text,
                "next_skill": maybe, "done": flag, "status": text, "action": text, "params": object, "state": text,
                "display_name": text, "unit_id": text, "item": object, "batch": object,
                "instructions": text, "valid_skills": list, "problems": list, "notes": list,
            }),
            call: complete,
        },
        Entry {
            name: NAMES[1],
            title: "Where a session is",
            description: "All that is needed to go on after the context was cleared: skill, item, batch, files to read. full: every field.",
            hints: Hints::ReadOnly,
            input: json!({ "full": flag }),
            needed: &[],
            output: json!({
                "session": text, "skill": maybe, "unitId": maybe, "state": text, "displayName": text,
                "phase": text, "done": flag, "status": text, "item": object, "batch": object, "read": list,
                "documents": text, "instructions": text, "workItems": list, "batches": list,
            }),
            call: state,
        },
        Entry {
            name: NAMES[2],
            title: "Set work items",
            description: "Set fields of a session; begins one that is not there. workItems and currentItem (taken first): until gather-session-goals is finished. What follows from the rails is refused: read_only.",
            hints: Hints::Idempotent,
            input: json!({
                "workItems": {
                    "type": "array",
                    "description": "{number, title, type: code|task|bugfix, dependsOn?: [number]}",
                    "items": object,
                },
                "currentItem": { "type": "string", "description": "number of an item" },
                "hasSnapshot": flag,
            }),
            needed: &[],
            output: updated.clone(),
            call: update,
        },
        Entry {
            name: NAMES[3],
            title: "Set a task's status",
            description: "Say what a task of the batch in hand came to.",
            hints: Hints::Idempotent,
            input: json!({ "id": text, "status": status, "outcome": outcome }),
            needed: &["id", "status"],
            output: updated.clone(),
            call: one_task,
        },
        Entry {
            name: NAMES[4],
            title: "Set tasks' statuses",
            description: "The same of many tasks: all are stored, or none.",
            hints: Hints::Idempotent,
            input: json!({
                "tasks": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": { "id": text, "status": status, "outcome": outcome },
                        "required": ["id", "status"],
                    },
                },
            }),
            needed: &["tasks"],
            output: updated,
            call: many_tasks,
        },
        Entry {
            name: NAMES[5],
            title: "Task graph",
            description: "Batches and tasks with their statuses, and a Mermaid drawing of them.",
            hints: Hints::ReadOnly,
            input: json!({}),
            needed: &[],
            output: json!({
                "session": text, "cut": flag, "batches": list, "mermaid": text, "problems": list,
            }),
            call: graph,
        },
        Entry {
            name: NAMES[6],
            title: "Hand a task graph over",
            description: "Replace an item's task graph: YAML with tasks: [{id, files, tests, description, parallel, depends-on}], alone or in Markdown. Without document and path the session's own documents are read. validated: false: problems, with lines.",
            hints: Hints::Idempotent,
            input: json!({
                "item": { "type": "string", "description": "number; the present item if left out" },
                "document": { "type": "string", "description": "the text" },
                "path": { "type": "string", "description": "or a file of the project" },
            }),
            needed: &[],
            output: json!({
                "validated": flag, "code": text, "message": text, "suggestion": text,
                "tasks": count, "problems": list, "notes": list, "batches": list,
            }),
            call: sync,
        },
    ]
}

/// A call whose own arguments are read: its project, and the session that it means.
struct Opened {
    conductor: Conductor,
    session: Option<String>,
}

impl Opened {
    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

/// Project and session, in every spelling in which agents know them.
fn place(given: &mut Arguments) -> Result<Meant, Fault> {
    let project = given.text("project")?;
    let project_root = project.or(given.text("projectRoot")?);
    let session = given.text("session")?;
    Ok(Meant {
        run: session.or(given.text("sessionId")?),
        project_root,
        tag: None,
    })
}

impl Call<'_> {
    /// Reads what every tool of these takes, refuses what is left, and opens the project.
    fn open_skills(mut self) -> Result<Opened, No> {
        let meant = place(&mut self.arguments)?;
        self.arguments.end()?;
        let conductor = self.places.open(&meant, self.tool, self.client)?;
        Ok(Opened {
            conductor,
            session: meant.run,
        })
    }
}

fn complete(mut call: Call<'_>) -> Answer {
    let given = &mut call.arguments;
    let skill = given.needed_text("skill")?;
    let unit_id = given.text("unitId")?;
    // Answers spell it so, and agents repeat what they read.
    let unit_id = unit_id.or(given.text("unit_id")?);
    let opened = call.open_skills()?;
    let told = opened.conductor.complete_skill(&SkillDone {
        session: opened.session.clone(),
        skill,
        unit_id,
    })?;
    answer(&told)
}

fn state(mut call: Call<'_>) -> Answer {
    let full = call.arguments.flag("full")?;
    let opened = call.open_skills()?;
    if full {
        answer(&opened.conductor.collab_state(opened.session())?)
    } else {
        answer(&opened.conductor.collab_brief(opened.session())?)
    }
}

fn update(mut call: Call<'_>) -> Answer {
    let meant = place(&mut call.arguments)?;
    // Whichever they are: that a field cannot be set is for the rails to say.
    let mut fields = call.arguments.rest();
    // The item to begin with can be taken back. Elsewhere `null` says nothing, and some clients fill in what they leave out.
    fields.retain(|name, value| !value.is_null() || name == "currentItem");
    if let Some(items) = fields.get_mut("workItems") {
        unpack(items);
    }
    let conductor = call.places.open(&meant, call.tool, call.client)?;
    let opened = Opened {
        conductor,
        session: meant.run,
    };
    let told = opened.conductor.collab_update(&SessionUpdate {
        session: opened.session.clone(),
        fields,
    })?;
    answer(&told)
}

fn one_task(mut call: Call<'_>) -> Answer {
    let task = task(&mut call.arguments)?;
    store(call, &[task])
}

fn many_tasks(mut call: Call<'_>) -> Answer {
    let Some(all) = call.arguments.packed_list("tasks")? else {
        return Err(bad_tasks("the argument `tasks` is missing".to_owned()).into());
    };
    let tasks = all
        .into_iter()
        .enumerate()
        .map(|(at, one)| match one {
            Value::Object(fields) => of_list(at, fields),
            other => Err(bad_tasks(format!(
                "`tasks[{at}]` is {}, where an object is expected",
                one_line(&other.to_string())
            ))),
        })
        .collect::<Result<Vec<_>, _>>()?;
    store(call, &tasks)
}

/// A task of a list, whose faults say which one it is.
fn of_list(at: usize, fields: Map<String, Value>) -> Result<TaskUpdate, Fault> {
    let mut given = Arguments::new(fields);
    let read = task(&mut given).and_then(|task| given.end().map(|()| task));
    read.map_err(|mut fault| {
        fault.message = format!("`tasks[{at}]`: {}", fault.message);
        fault
    })
}

fn task(given: &mut Arguments) -> Result<TaskUpdate, Fault> {
    let named = given.text("taskId")?;
    let id = match named {
        Some(id) => id,
        None => given.needed_text("id")?,
    };
    Ok(TaskUpdate {
        id,
        status: given.needed_text("status")?,
        outcome: given.text("outcome")?,
    })
}

fn bad_tasks(message: String) -> Fault {
    Fault::new(Kind::Usage, "bad_arguments", message)
        .suggest("give `tasks` as [{\"id\": \"types\", \"status\": \"completed\"}]")
}

fn store(call: Call<'_>, tasks: &[TaskUpdate]) -> Answer {
    let opened = call.open_skills()?;
    let stored = opened.conductor.collab_tasks(opened.session(), tasks);
    let told = stored?;
    answer(&told)
}

fn graph(call: Call<'_>) -> Answer {
    let opened = call.open_skills()?;
    answer(&opened.conductor.collab_graph(opened.session())?)
}

fn sync(mut call: Call<'_>) -> Answer {
    let given = &mut call.arguments;
    let item = given.text("item")?;
    // An empty one is an error of the graph, and not taken for none.
    let document = given.whole_text("document")?;
    let path = given.text("path")?;
    let is_given = document.is_some();
    let places = call.places;
    let opened = call.open_skills()?;
    let path = path
        .map(|path| {
            places.file(&opened.conductor, &path)?;
            Ok::<_, Fault>(in_project(&opened.conductor, path))
        })
        .transpose()?;
    let mut told = opened.conductor.collab_sync(&GraphSync {
        session: opened.session.clone(),
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

/// A path as the conductor takes it: from the project's root, also where it was named from the root of the disk.
fn in_project(conductor: &Conductor, path: String) -> String {
    let below = std::path::Path::new(&path).strip_prefix(conductor.root());
    match below.ok().and_then(std::path::Path::to_str) {
        Some(below) => below.to_owned(),
        None => path,
    }
}
