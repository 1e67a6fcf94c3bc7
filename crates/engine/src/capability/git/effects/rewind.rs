//! `git.rewind`: the run's branch and the working tree go back to what they were when somebody was asked for something.
//!
//! What is there now is kept under a reference of ours before anything is moved.

use machine::RunState;
use machine::command::EVENT;
use machine::state::Pending;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use workspace::config::UpdateTaskStatus;
use workspace::git::{CommitInfo, Oid, RepoPath, Repository, WayBack};
use workspace::tasks::{Rewrite, StatusChange};

use crate::approval::present_unit;
use crate::call::Call;
use crate::capability::EffectSteps;
use crate::capability::git::effects::{forget_git, look_again, noted};
use crate::capability::git::read::commit::secret_files;
use crate::capability::git::read::on_the_branch;
use crate::capability::memory::{self, Memory, PULL_REQUEST, PUSHED, SUBMITTED_TO, WORK, WRITTEN};
use crate::fail_point;
use crate::fault::Fault;
use crate::intent;
use crate::next_step::NextStep;
use crate::open_run::run_at;
use crate::support::{HandlerError, Outcome};
use crate::{fault, refusal};

/// The effect.
pub(crate) const REWIND: &str = "git.rewind";

/// Under this folder of references is kept what was taken back.
const KEPT_UNDER: &str = "refs/tramline/rewound";

/// So many commits and files are named.
const MOST_NAMED: usize = 20;

/// All that is needed to go back, and to do it again after a kill.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Intent {
    /// The number of the event that the run is to stand behind.
    event: u64,
    branch: String,
    from: Oid,
    to: Oid,
    kept_as: String,
    /// What the working tree is to hold, where the run goes back to where it stands: the branch alone has moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree: Option<Oid>,
    /// Files that stay as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    untouched: Vec<RepoPath>,
    /// What is changed now and in no commit, as far as it is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    uncommitted: Vec<RepoPath>,
    /// Statuses that go back with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rewrite: Option<Rewrite>,
    /// The commits that are taken back, newest first, as far as they are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    commits: Vec<String>,
    /// How many of them the run did not make.
    #[serde(default)]
    foreign: usize,
}

/// How it is carried out.
pub(crate) const STEPS: EffectSteps = EffectSteps {
    prepare: |call, asked, run| prepare(call, run, asked.flags),
    perform,
    look: look_again,
};

/// Finds out whether the way back is free, and what is on it.
fn prepare(
    call: &Call<'_>,
    run: &RunState,
    flags: &Map<String, Value>,
) -> Result<Value, HandlerError> {
    let event = flags.get(EVENT).and_then(Value::as_u64).unwrap_or_default();
    let (memory, past) = (Memory::of(run)?, run_at(&call.dir, event)?);
    let then = Memory::of(&past)?;
    let repository = memory.repository();
    let (from, to) = (is_free(call, &memory, &repository)?, then.last_oid()?);
    if !repository.has_commit(&to)? {
        return Err(refusal!("not_found.commit_gone", commit = to.short()).into());
    }
    is_not_pushed(run, &repository, (&from, &to), flags)?;
    let status = call.tree(&repository)?;
    let tasks = memory.start.tasks_path.as_ref();
    let is_committed = |path: &RepoPath| -> Result<bool, Fault> {
        let is_changed = status.changes.iter().any(|change| change.path == *path);
        Ok(!is_changed && repository.is_tracked(path)?)
    };
    // Where a commit has all of it, it goes back with that.
    let with_commit = tasks.map(is_committed).transpose()?.unwrap_or(false);
    let mut untouched = memory.exempt(&repository);
    untouched.retain(|path| !with_commit || Some(path) != tasks);
    untouched.extend(then.dirty.into_keys());
    let is_untracked = |path: &&RepoPath| {
        let mut changes = status.changes.iter();
        changes.any(|change| change.path == **path && change.untracked)
    };
    let reports = memory.reports.iter().filter(is_untracked);
    untouched.extend(reports.cloned());
    // What is no matter of git's is kept where it is.
    let untracked = status.changes.iter().filter(|change| change.untracked);
    let untracked: Vec<RepoPath> = untracked.map(|change| change.path.clone()).collect();
    untouched.extend(secret_files(&call.pinned, &repository, &untracked)?);
    let files = status.changes.iter().filter(|change| !change.submodule);
    let changed = files.map(|change| &change.path);
    let changed = changed.filter(|path| !untouched.contains(path));
    let uncommitted = changed.take(MOST_NAMED).cloned().collect();
    let rewrite = if with_commit {
        None
    } else {
        statuses(call, run, &past)?
    };
    let tree = if present_unit(&past) == present_unit(run) {
        let work = work_of(&repository, run)?;
        Some(repository.uncommitted_upon(&status, &untouched, (&to, work.as_ref()))?)
    } else {
        None
    };
    Ok(intent::write(&Intent {
        event,
        tree,
        branch: memory.start.branch.clone(),
        commits: commits(&repository, &to, &from)?,
        foreign: behind(&repository, &memory.last_oid()?, &from)?.len(),
        kept_as: format!("{KEPT_UNDER}/{}/{}", run.run, run.next_effect),
        uncommitted,
        from,
        to,
        untouched,
        rewrite,
    })?)
}

/// Where the branch is, if nothing stands in the way of moving it.
fn is_free(call: &Call<'_>, memory: &Memory, repository: &Repository) -> Result<Oid, HandlerError> {
    let again = "go back again";
    if let Some(lock) = repository.lock_files().into_iter().next() {
        return Err(fault!("lock_timeout.git_lock", lock = lock.display(), again).into());
    }
    let status = call.tree(repository)?;
    let at = (status.branch.as_deref(), &status.unmerged[..]);
    on_the_branch(at, memory, repository, again)?;
    status.head.clone().ok_or_else(|| {
        let own = format!("refs/heads/{}", memory.start.branch);
        let back = NextStep::git(["update-ref", &own, &memory.last_commit]);
        refusal!("no_commits.before_rewind", back, again).into()
    })
}

/// Refuses to take back what others may have by now, unless that was said.
fn is_not_pushed(
    run: &RunState,
    repository: &Repository,
    (from, to): (&Oid, &Oid),
    flags: &Map<String, Value>,
) -> Result<(), HandlerError> {
    let Some(pushed) = PUSHED.read(&run.kept)? else {
        return Ok(());
    };
    // Of what is pushed only that counts which is still on the branch.
    let stays = match &repository.merge_base(&pushed.sha, from)? {
        Some(common) => repository.is_ancestor(common, to)?,
        None => true,
    };
    if stays || flags.get("pushed") == Some(&Value::Bool(true)) {
        return Ok(());
    }
    Err(refusal!(
        "already_pushed",
        remote = pushed.remote,
        branch = pushed.branch,
        sha = pushed.sha.short()
    )
    .into())
}

/// The commits between the two, newest first.
fn behind(repository: &Repository, to: &Oid, from: &Oid) -> Result<Vec<CommitInfo>, Fault> {
    if !repository.is_ancestor(to, from)? {
        return Ok(Vec::new());
    }
    Ok(repository.commits_between(to, from)?)
}

/// The same as people know them.
fn commits(repository: &Repository, to: &Oid, from: &Oid) -> Result<Vec<String>, Fault> {
    let commits = behind(repository, to, from)?;
    let named = commits.iter().take(MOST_NAMED);
    Ok(named
        .map(|commit| format!("{} {}", commit.oid.short(), commit.subject))
        .collect())
}

/// The change of the tasks file by which subtasks that are to be done again are not done.
fn statuses(
    call: &Call<'_>,
    run: &RunState,
    past: &RunState,
) -> Result<Option<Rewrite>, HandlerError> {
    let memory = Memory::of(run)?;
    let source = memory.start.source.open(call.root, &memory.start.tag)?;
    // Without a file, or behind a link that leads out, there is nothing to set back.
    let Ok(known) = source.task_statuses() else {
        return Ok(None);
    };
    match source.path() {
        Some(path) if memory.repository().led_out(path)?.is_none() => {}
        _ => return Ok(None),
    }
    let is_at = |id: &str, status: &str| {
        let found = known.get(id);
        found.is_some_and(|found| found.to_string() == status)
    };
    let is_written = |run: &RunState, id: &str| WRITTEN.of(id).is_in(&run.kept);
    let mut changes: Vec<StatusChange> = memory::planned(run)
        .filter(|id| is_written(run, id) && !is_written(past, id) && is_at(id, "done"))
        .map(|id| StatusChange::new(id, "pending"))
        .collect();
    let task = &memory.start.task_id;
    if let UpdateTaskStatus::Set(status) = &call.pinned.autopilot.finalization.update_task_status
        && run.status.is_over()
        && is_at(task, status)
    {
        changes.push(StatusChange::new(task.clone(), "in-progress"));
    }
    if changes.is_empty() {
        return Ok(None);
    }
    Ok(source.rewrite(&changes).map_err(Fault::from)?)
}

/// Keeps what is there, and goes back.
fn perform(call: &Call<'_>, run: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
    let intent: Intent = intent::read(&pending.what)?;
    let memory = Memory::of(run)?;
    let repository = memory.repository().with_fsync(call.pinned.git.fsync);
    let tree = tree_then(call, &repository, &intent)?;
    let on_spawn = noted(call, "rewind-in-git");
    let way = WayBack {
        branch: &intent.branch,
        from: &intent.from,
        to: &intent.to,
        tree: &tree,
        untouched: &intent.untouched,
        kept_as: &intent.kept_as,
    };
    let taken = repository.take_back(&way, &on_spawn);
    forget_git(call);
    let taken = match taken {
        Ok(taken) => taken,
        Err(error) if is_begun(&repository, &intent)? => return Err(half_way(error, &intent)),
        Err(error) => return Ok(Outcome::failed(error.into())),
    };
    fail_point::reach("rewind-after-git");
    if let Some(rewrite) = &intent.rewrite {
        rewrite.apply().map_err(|error| half_way(error, &intent))?;
    }
    fail_point::reach("rewind-after-tasks");
    // What was told to others is not untold by it.
    let mut keep = Map::new();
    for name in [PUSHED.name(), PULL_REQUEST.name(), SUBMITTED_TO.name()] {
        if let Some(known) = run.kept.get(name) {
            keep.insert(name.to_owned(), known.clone());
        }
    }
    let names = |paths: &[RepoPath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    Ok(Outcome::Done {
        result: json!({
            "from": intent.from,
            "to": intent.to,
            "keptAs": intent.kept_as,
            "kept": taken.kept,
            "commits": intent.commits,
            "foreign": intent.foreign,
            "uncommitted": names(&intent.uncommitted),
            "files": names(&taken.files),
            "submodules": names(&taken.submodules),
        }),
        keep,
        artifacts: Vec::new(),
    })
}

/// Whether something was moved already. Then it is not over with an error, but goes on with the next command as behind a kill: what was
/// kept is known by what was intended, and half of a way back would look like somebody's change.
fn is_begun(repository: &Repository, intent: &Intent) -> Result<bool, Fault> {
    let is_there = repository.head()?.oid.as_ref() == Some(&intent.to);
    Ok(is_there && (intent.from != intent.to || repository.resolve(&intent.kept_as)?.is_some()))
}

/// The fault of one that is begun: how it goes on, and where everything is meanwhile.
fn half_way(error: impl Into<Fault>, intent: &Intent) -> Fault {
    let fault = error.into();
    let goes_on = format!(
        "the way back is begun, and the next command that changes the run ends it; what was there is kept as {}",
        intent.kept_as
    );
    // What git says by itself may leave nothing to suggest.
    let told = [fault.suggestion.clone(), goes_on];
    let told: Vec<String> = told.into_iter().filter(|part| !part.is_empty()).collect();
    fault.suggest(told.join("; "))
}

/// The tree that the work is to be. Where the run stays where it is, that is what no commit has, on the commit; else what the last
/// report of the item in hand was about, or what the commit has.
fn tree_then(call: &Call<'_>, repository: &Repository, intent: &Intent) -> Result<Oid, Fault> {
    if let Some(tree) = &intent.tree {
        return Ok(tree.clone());
    }
    if let Some(work) = work_of(repository, &run_at(&call.dir, intent.event)?)? {
        return Ok(work);
    }
    let tree = repository.resolve_tree(intent.to.as_str())?;
    tree.ok_or_else(|| Fault::bug(format!("there is no commit {}", intent.to)))
}

/// The tree of the last report of the item in hand, where it is kept.
fn work_of(repository: &Repository, run: &RunState) -> Result<Option<Oid>, Fault> {
    for (token, _) in run.waiting() {
        if let Some(tree) = WORK.read(&token.kept)?
            && repository.resolve_tree(tree.as_str())?.is_some()
        {
            return Ok(Some(tree));
        }
    }
    Ok(None)
}
