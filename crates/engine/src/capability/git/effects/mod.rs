//! Effects: what the workflow does to the world. Each is prepared without changing anything,
//! performed once, and looked for after a crash.

pub mod branch;
pub mod commit;
pub mod delete;
mod hooked;
pub mod message;
pub mod notes;
pub(crate) mod push;
pub(crate) mod rewind;
pub(crate) mod status;

use std::time::{Duration, SystemTime};

use machine::RunState;
use machine::state::Pending;
use serde::{Deserialize, Serialize};
use workspace::git::ProcessGroup;

use crate::call::Call;
use crate::capability::memory::Memory;
use crate::clock::millis_of;
use crate::fail_point;
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::support::EffectState;

/// How long a git that outlived its tm is waited for.
const OUTLIVED: Duration = Duration::from_secs(30);

/// The file in the run's folder that names the process group of the git at work.
const GROUP_FILE: &str = "git-process.json";

/// A git of ours that was started, as it is noted for whoever comes after a crash.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct GitAtWork {
    #[serde(flatten)]
    group: ProcessGroup,
    /// When it was started, in milliseconds since 1970.
    #[serde(default)]
    since: u64,
}

/// Notes the git that is at work. A hint: what it does is found without it, too.
fn note_git(call: &Call<'_>, group: &ProcessGroup) {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0));
    let at_work = GitAtWork {
        group: group.clone(),
        since,
    };
    if let Ok(bytes) = serde_json::to_vec(&at_work) {
        let _ = journal::derived::replace_if_changed(&call.dir.join(GROUP_FILE), &bytes);
    }
}

/// Notes each git that is started, and may die there for a test.
fn noted<'c>(call: &'c Call<'_>, place: &'static str) -> impl Fn(&ProcessGroup) + 'c {
    move |group| {
        note_git(call, group);
        fail_point::reach(place);
    }
}

/// The git that was noted last, if what it did was not settled.
fn noted_git(call: &Call<'_>) -> Option<GitAtWork> {
    let bytes = journal::durable::read(&call.dir.join(GROUP_FILE)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Nobody has to look for that git any more.
fn forget_git(call: &Call<'_>) {
    let _ = std::fs::remove_file(call.dir.join(GROUP_FILE));
}

/// When a pending effect was intended.
fn since(pending: &Pending) -> SystemTime {
    millis_of(&pending.since)
        .and_then(|millis| u64::try_from(millis).ok())
        .map_or(SystemTime::UNIX_EPOCH, at_millis)
}

fn at_millis(millis: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
}

/// Ends a git that changed branches for a process that died, and puts away the locks that it left. `since` is when it
/// was intended, where that is known.
fn settle_git(call: &Call<'_>, run: &RunState, since: Option<SystemTime>) -> Result<(), Fault> {
    let noted = noted_git(call);
    let Some(since) = since.or_else(|| noted.as_ref().map(|noted| at_millis(noted.since))) else {
        return Ok(());
    };
    if let Some(GitAtWork { group, .. }) = &noted
        && !group.wait_for_leader(OUTLIVED)
        && !group.end()
    {
        return Err(still_running());
    }
    let memory = Memory::of(run)?;
    let group = noted.as_ref().map(|noted| &noted.group);
    memory
        .repository()
        .remove_stale_locks(group, since, &memory.start.branch)?;
    forget_git(call);
    Ok(())
}

/// For effects that look first what is there, so that each can be done again: puts away what a dead git left in the way of that.
fn look_again(call: &Call<'_>, run: &RunState, pending: &Pending) -> Result<EffectState, Fault> {
    settle_git(call, run, Some(since(pending)))?;
    Ok(EffectState::NotDone)
}

fn still_running() -> Fault {
    fault!("lock_timeout.earlier_git")
}

/// A failed effect as the fault of a command.
pub fn fault(code: String, message: String, suggestion: Option<String>) -> Fault {
    let kind = match code.as_str() {
        "lock_timeout" => Kind::Conflict,
        _ => Kind::Environment,
    };
    Fault::new(kind, code, message).suggest(suggestion.unwrap_or_default())
}
