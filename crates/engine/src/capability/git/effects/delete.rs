//! `branch.delete`: clearing up after an abort. Never with work that is nowhere else, unless forced.

use machine::RunState;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::capability::EffectSteps;
use crate::capability::git::effects::{forget_git, look_again, noted, settle_git};
use crate::capability::memory::Memory;
use crate::fault::Fault;
use crate::refusal;
use crate::support::{HandlerError, Outcome};

/// How it is carried out.
pub(crate) const STEPS: EffectSteps = EffectSteps {
    prepare: |_, asked, run| planned(run, asked.flags),
    perform: |call, run, pending| carry_out(call, run, &pending.what),
    look: look_again,
};

/// Looks what would be lost.
pub fn planned(run: &RunState, flags: &Map<String, Value>) -> Result<Value, HandlerError> {
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let force = flags.get("force") == Some(&Value::Bool(true));
    let branch = &memory.start.branch;
    let back_to = memory.start.origin();
    let there = repository.branch_exists(branch)?;
    if there && !force {
        let into = match &memory.start.from_branch {
            Some(from) => format!("refs/heads/{from}"),
            None => back_to.to_owned(),
        };
        let unmerged = match repository.resolve(&into)? {
            Some(into) => repository.unmerged_commits(branch, &into)?,
            None => 1,
        };
        if unmerged > 0 {
            let unmerged = text::counted(unmerged, "commit");
            return Err(refusal!("unmerged_work.planned", branch, unmerged, back_to).into());
        }
        let status = repository.status()?;
        let on_it = status.branch.as_deref() == Some(branch);
        let changed = memory.uncommitted(&repository, &status);
        if on_it && !changed.is_empty() {
            return Err(refusal!("unmerged_work.uncommitted", changed = changed.join(", ")).into());
        }
    }
    Ok(
        json!({ "branch": branch, "backTo": back_to, "delete": there && (!memory.start.branch_existed || force) }),
    )
}

/// Puts away what a dead git left, where no effect is pending: of a run that was aborted before.
pub fn settle(call: &Call<'_>, run: &RunState) -> Result<(), Fault> {
    settle_git(call, run, None)
}

/// Does what was planned. Idempotent.
pub fn carry_out(call: &Call<'_>, run: &RunState, what: &Value) -> Result<Outcome, Fault> {
    let memory = Memory::of(run)?;
    let repository = memory.repository().with_fsync(call.pinned.git.fsync);
    let on_spawn = noted(call, "branch-in-git");
    let branch = &memory.start.branch;
    let delete = what.get("delete") == Some(&Value::Bool(true));
    if repository.head()?.branch.as_deref() == Some(branch) {
        let switched = match &memory.start.from_branch {
            Some(from) => repository.switch(from, &on_spawn),
            None => repository.switch_detached(&memory.start.origin_oid()?, &on_spawn),
        };
        if let Err(error) = switched {
            return Ok(Outcome::failed(error.into()));
        }
    }
    if delete
        && repository.branch_exists(branch)?
        && let Err(error) = repository.delete_branch(branch, true, &on_spawn)
    {
        return Ok(Outcome::failed(error.into()));
    }
    forget_git(call);
    Ok(Outcome::done())
}
