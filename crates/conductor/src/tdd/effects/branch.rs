//! `git.branch`: the run's branch is made, or switched to.

use rails::RunState;
use rails::state::Pending;
use serde_json::{Value, json};

use super::super::Tdd;
use super::super::memory::Memory;
use super::failed;
use crate::fail_point;
use crate::fault::Fault;
use crate::support::{No, Outcome};

/// Names branch and commit.
pub fn prepare(_tdd: &Tdd<'_>, run: &RunState) -> Result<Value, No> {
    let memory = Memory::of(run)?;
    Ok(json!({ "branch": memory.start.branch, "at": memory.start.head }))
}

/// Idempotent: being there already is being done.
pub fn perform(run: &RunState, _pending: &Pending) -> Result<Outcome, Fault> {
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let branch = &memory.start.branch;
    if repository.head()?.branch.as_deref() == Some(branch) {
        return Ok(Outcome::done());
    }
    let switched = if repository.branch_exists(branch)? {
        repository.switch(branch)
    } else {
        let at = memory
            .start
            .head
            .parse()
            .map_err(|_| Fault::bug("the start of the run is no commit id"))?;
        repository.create_branch_and_switch(branch, &at)
    };
    fail_point::reach("branch-after-switch");
    Ok(match switched {
        Ok(()) => Outcome::done(),
        Err(error) => failed(error.into()),
    })
}
