//! What the journal is told of batches.

use machine::Definition;
use serde_json::{Map, Value, json};

use crate::capability::documents::bound;
use crate::clock::millis_of;
use crate::support::Emitted;
use crate::view::collab::state::Tasks;

/// Fills in an event of the workflow's own.
pub(crate) fn tell(definition: &Definition, emitted: Emitted<'_>, fields: &mut Map<String, Value>) {
    let Emitted {
        domain,
        before,
        after,
        ..
    } = emitted;
    match domain.name.as_str() {
        "batches:cut" => {
            let batches = bound::batches(after);
            let split: Vec<Value> = batches
                .iter()
                .filter(|(_, batch)| !batch.text("split").is_empty())
                .map(|(id, batch)| json!({ "batch": id, "why": batch.text("split") }))
                .collect();
            let tasks = bound::tasks(after).len();
            fields.insert("batches".to_owned(), batches.len().into());
            fields.insert("tasks".to_owned(), tasks.into());
            fields.insert("split".to_owned(), split.into());
        }
        "batch:complete" => {
            let Some(id) = bound::batch_in_hand(before) else {
                return;
            };
            let tasks = Tasks::of(definition, after);
            let tasks: Vec<Value> = bound::tasks_in_hand(before)
                .filter_map(|(id, _)| Some(json!(tasks.brief(id)?)))
                .collect();
            let all_done = tasks.iter().all(|task| task["status"] == "completed");
            let since = before.tokens.first().map(|token| token.entered_at.clone());
            let took = since
                .as_deref()
                .and_then(millis_of)
                .zip(millis_of(&after.updated_at))
                .map(|(from, to)| (to - from).max(0));
            fields.insert("batch".to_owned(), id.into());
            fields.insert("tasks".to_owned(), tasks.into());
            fields.insert(
                "outcome".to_owned(),
                if all_done { "completed" } else { "failed" }.into(),
            );
            fields.insert("startedAt".to_owned(), json!(since));
            fields.insert("completedAt".to_owned(), after.updated_at.as_str().into());
            fields.insert("durationMs".to_owned(), json!(took));
        }
        _ => {}
    }
}
