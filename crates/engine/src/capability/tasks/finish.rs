//! `task.finish`: the task's status, and every `done` still owed, in a commit where git knows the
//! file.

use machine::RunState;
use serde_json::Value;
use workspace::config::UpdateTaskStatus;
use workspace::convention::message::Kind;

use crate::call::Call;
use crate::capability::EffectSteps;
use crate::capability::git::effects::commit;
use crate::capability::git::effects::message::{self, MessageFields};
use crate::capability::git::effects::status;
use crate::capability::memory::{self, Memory};
use crate::intent;
use crate::support::HandlerError;

/// How it is carried out.
pub(crate) const STEPS: EffectSteps = EffectSteps {
    prepare: |call, _, run| prepare(call, run),
    perform: commit::perform,
    look: commit::look,
};

/// Puts the intent together.
fn prepare(call: &Call<'_>, run: &RunState) -> Result<Value, HandlerError> {
    let memory = Memory::of(run)?;
    let config = &call.pinned;
    let task_status = match &config.autopilot.finalization.update_task_status {
        UpdateTaskStatus::Set(status) => Some(status.clone()),
        UpdateTaskStatus::Leave => None,
    };
    let carries = memory::owed(run);
    let writing = status::writing(call, &memory, carries, task_status.as_deref())?;
    let mut paths = Vec::new();
    let edited = status::add_tasks_file(call, &memory, &writing, &mut paths)?;
    let message = if paths.is_empty() {
        String::new()
    } else {
        message::compose(
            call,
            &memory,
            &MessageFields {
                subject: None,
                id: &memory.start.task_id,
                title: &memory.start.task_title,
                description: "",
                tests: None,
                lines: None,
                kind: Kind::TaskStatus {
                    status: task_status.as_deref().unwrap_or("done"),
                },
                files: &[],
                scope: None,
            },
        )?
    };
    let mut intent = commit::intent(call, run, &memory, "finish", message, paths, writing)?;
    intent.edited = edited;
    Ok(intent::write(&intent)?)
}
