//! `git.branch`: the run's branch is made, or switched to.

use machine::RunState;
use machine::state::Pending;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::capability::EffectSteps;
use crate::capability::git::effects::{forget_git, look_again, noted};
use crate::capability::memory::Memory;
use crate::fail_point;
use crate::fault::Fault;
use crate::support::{EffectRequest, HandlerError, Outcome};

/// How it is carried out.
pub(crate) const STEPS: EffectSteps = EffectSteps {
    prepare,
    perform,
    look: look_again,
};

/// Names branch and commit.
fn prepare(_: &Call<'_>, _: &EffectRequest<'_>, run: &RunState) -> Result<Value, HandlerError> {
    let memory = Memory::of(run)?;
    Ok(json!({ "branch": memory.start.branch, "at": memory.start.head }))
}

/// Idempotent: being there already is being done.
fn perform(call: &Call<'_>, run: &RunState, _pending: &Pending) -> Result<Outcome, Fault> {
    let memory = Memory::of(run)?;
    let repository = memory.repository().with_fsync(call.pinned.git.fsync);
    let branch = &memory.start.branch;
    let on_spawn = noted(call, "branch-in-git");
    let begun = memory.last_commit != memory.start.head;
    // A run that has made commits comes back to where they are.
    let at = memory.last_oid()?;
    let create = || repository.create_branch_and_switch(branch, &at, &on_spawn);
    // Whether a new one is there meanwhile is asked where making it fails.
    let made = (!memory.start.branch_existed && !begun).then(create);
    let switched = if let Some(Ok(())) = made {
        Ok(())
    } else if repository.branch_exists(branch)? {
        if let Some(was) = &memory.start.branch_was {
            let was = was
                .parse()
                .map_err(|_| Fault::bug("a branch is at no commit id"))?;
            if repository
                .resolve(&format!("refs/heads/{branch}"))?
                .as_ref()
                == Some(&was)
            {
                repository.move_branch(branch, &was, &at)?;
            }
        }
        // Other work may have come first, and somebody may have committed there meanwhile.
        let tip = repository.resolve(&format!("refs/heads/{branch}"))?;
        let is_there = match &tip {
            Some(tip) if begun => repository.is_ancestor(&at, tip)?,
            tip => tip.as_ref() == Some(&at),
        };
        if !is_there {
            return Ok(moved(branch));
        }
        repository.switch(branch, &on_spawn)
    } else {
        made.unwrap_or_else(create)
    };
    fail_point::reach("branch-after-switch");
    forget_git(call);
    Ok(match switched {
        Ok(()) => Outcome::done(),
        Err(error) => Outcome::failed(error.into()),
    })
}

/// A branch that is not where the run begins is none that its commits could be made on.
fn moved(branch: &str) -> Outcome {
    Outcome::Failed {
        code: "branch_moved".to_owned(),
        message: format!("the branch `{branch}` was made or moved since the run began"),
        suggestion: Some(format!(
            "see what is on it (`git log {branch}`), keep that elsewhere (`git branch -m {branch} NAME`), then resume"
        )),
        keep: Map::new(),
    }
}
