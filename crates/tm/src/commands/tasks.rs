//! `tm tasks`.

use engine::Kind;
use serde_json::json;

use super::{DONE, Outcome, open};
use crate::cli::tasks::{Tasks, TasksCommand};
use crate::output::Output;
use crate::render::tasks as pages;

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
            output.answer(&list, pages::list)?;
        }
        TasksCommand::Show { id } => {
            output.answer(&engine.task(&id)?, pages::task)?;
        }
        TasksCommand::Next => {
            let list = engine.task_list()?;
            let mut answer = json!({ "task": list.next() });
            if let Some(circle) = &list.circle {
                answer["circle"] = json!(circle);
            }
            output.answer(&answer, |_, look| pages::next(&list, look))?;
            if list.next().is_none() {
                return Ok(Kind::Blocked.exit_status());
            }
        }
        TasksCommand::Import(import) => {
            let answer = engine.import_tasks(&import.request())?;
            output.answer(&answer, pages::imported)?;
        }
        TasksCommand::WriteBack { dry_run } => {
            let told = engine.write_tasks_back(dry_run)?;
            output.answer(&told, |told, look| pages::written_back(told, dry_run, look))?;
        }
    }
    Ok(DONE)
}
