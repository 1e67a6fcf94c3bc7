//! `tm tasks`.

use engine::Kind;
use serde_json::json;
use workspace::tasks::CUT_CIRCLE;

use super::{DONE, Outcome, open};
use crate::cli::tasks::{Tasks, TasksCommand};
use crate::output::Output;

/// Carries out one of them.
pub fn run(arguments: Tasks, output: &mut Output) -> Outcome {
    let place = arguments.place;
    let engine = open(place.project_root, place.tag, "tm tasks")?;
    match arguments.command {
        TasksCommand::List { all } => {
            let mut list = engine.task_list()?;
            if !all {
                list.tasks.retain(|task| !task.status.is_finished());
            }
            output.page_with(&list, "tasks", &json!({ "cut": CUT_CIRCLE }))?;
        }
        TasksCommand::Show { id } => {
            output.page(&engine.task(&id)?, "task")?;
        }
        TasksCommand::Next => {
            let list = engine.task_list()?;
            let mut answer = json!({ "task": list.next() });
            if let Some(circle) = &list.circle {
                answer["circle"] = json!(circle);
            }
            output.page_with(&answer, "next_task", &json!({ "cut": CUT_CIRCLE }))?;
            if list.next().is_none() {
                return Ok(Kind::Blocked.exit_status());
            }
        }
        TasksCommand::Import(import) => {
            let answer = engine.import_tasks(&import.request())?;
            output.page(&answer, "tasks_imported")?;
        }
        TasksCommand::WriteBack { dry_run } => {
            let told = engine.write_tasks_back(dry_run)?;
            output.page_with(&told, "tasks_written_back", &json!({ "dryRun": dry_run }))?;
        }
    }
    Ok(DONE)
}
