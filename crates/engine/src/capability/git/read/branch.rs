//! The branch that a run works on.

use workspace::config::{PROJECT_FILE, Settings};
use workspace::convention::branch as names;
use workspace::git::{BranchConflict, Oid, Repository};

use crate::capability::git::read::preflight::BelongsTo;
use crate::capability::memory::StartFacts;
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::next_step::{NextStep, typed};
use crate::view::autopilot::request;

/// Gives a run its branch: by the pattern or as it was named, and one that nothing else is called as.
pub(crate) fn branch_of(
    repository: &Repository,
    settings: &Settings,
    request: &request::Start,
    start: &mut StartFacts,
    belongs: BelongsTo<'_>,
) -> Result<(), Fault> {
    let git = &settings.config.git;
    // The id of a task that has no other is its slug already; once is enough.
    let pattern = if names::slug(&start.task_title) == start.task_id {
        git.branch_pattern.replace("-{slug}", "")
    } else {
        git.branch_pattern.clone()
    };
    let mut name = match &request.branch {
        Some(name) => {
            names::check_branch_name(name)
                .map_err(|fault| fault!("bad_name.bad_branch_name", name, fault))?;
            name.clone()
        }
        None => names::branch_name(&pattern, &start.tag, &start.task_id, &start.task_title)
            .map_err(|error| {
                Fault::new(Kind::Environment, "config_invalid", error.to_string())
                    .suggest(error.suggestion())
            })?,
    };
    let flat = name.replace('/', "-");
    let branches = repository.branches(&git.default_remote, &[&name, &flat])?;
    let default = repository.default_branch(&branches)?;
    if start.from_branch.is_none() {
        start.default_branch.clone_from(&default);
    }
    start.protected = default
        .into_iter()
        .chain(git.protected_branches.iter().cloned())
        .collect();
    if start.is_protected(&name) {
        return Err(fault!("branch_taken.on_default_branch", name));
    }
    match branches.conflict(&name) {
        None => {}
        Some(conflict @ (BranchConflict::PrefixIsBranch(_) | BranchConflict::IsFolderOf(_))) => {
            let other = conflict.branch();
            let there = if branches.has(other) {
                ""
            } else {
                " of the remote"
            };
            start.warnings.push(format!(
                "git cannot have `{name}` beside the branch `{other}`{there}, so the branch is `{flat}`"
            ));
            name = flat;
            if let Some(conflict) = branches.conflict(&name) {
                return Err(taken(&name, conflict.branch()));
            }
        }
        Some(conflict) => return Err(taken(&name, conflict.branch())),
    }
    if branches.has(&name) {
        if let Some(elsewhere) = repository.worktree_of_branch(&name)? {
            return Err(fault!(
                "branch_taken.branch_checked_out",
                name,
                elsewhere = elsewhere.display()
            ));
        }
        if !belongs(&name, &start.task_id, &start.tag) {
            return Err(fault!(
                "branch_taken.branch_exists",
                name,
                task_id = start.task_id
            ));
        }
        start.branch_existed = true;
        if let Some(tip) = repository.resolve(&format!("refs/heads/{name}"))? {
            from_tip(repository, start, &name, &tip)?;
        }
    }
    // Git would take the one for the other, as in `main..HEAD`: the pattern may come with a clone.
    if let Some(other) = branches.other_meaning(&name) {
        return Err(taken(&name, other));
    }
    if let Some(from) = start.from_branch.clone()
        && from != name
        && !start.is_protected(&from)
    {
        start.protected.push(from);
    }
    start.branch = name;
    Ok(())
}

/// A run begins on a branch that an earlier one made: at its tip, or, where nothing is on it that is not here, from here.
fn from_tip(
    repository: &Repository,
    start: &mut StartFacts,
    name: &str,
    tip: &Oid,
) -> Result<(), Fault> {
    let here: Oid = start
        .head
        .parse()
        .map_err(|_| Fault::bug("HEAD is no commit id"))?;
    if *tip == here {
        return Ok(());
    }
    if repository.is_ancestor(tip, &here)? {
        start.branch_was = Some(tip.to_string());
        return Ok(());
    }
    let behind = repository.commits_between(tip, &here)?.len();
    if behind > 0 {
        let behind = text::counted(behind, "commit");
        let settings = repository.relative(&start.project_root.join(PROJECT_FILE));
        let differ = repository.changed_paths(tip, &here)?;
        let settings = settings.filter(|path| differ.contains(path));
        let from = start.origin();
        let up_to_date = format!(
            "{} and {}",
            NextStep::git(["switch", name]),
            NextStep::git(["merge", from])
        );
        if let Some(settings) = settings {
            return Err(fault!(
                "branch_taken.branch_behind",
                name,
                behind,
                from,
                settings,
                up_to_date
            ));
        }
        start.warnings.push(format!(
            "`{name}`, of an earlier run, is {behind} behind `{from}`: `git merge {}` brings it up to date",
            typed(from)
        ));
    }
    start.head = tip.to_string();
    Ok(())
}

fn taken(name: &str, other: &str) -> Fault {
    fault!("branch_taken.taken", other, name)
}
