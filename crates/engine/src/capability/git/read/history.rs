//! Where a run's commits are: what git says of the history below HEAD, beside what the run remembers of it.
//!
//! A branch is moved by its users, too: they merge the default branch in, or put the commits of the run on top of it anew. Both
//! leave all that the run did where it was, so it goes on from there. What takes commits of the run away, or changes what they
//! do, is refused.

use machine::{Finding, RunState};
use serde_json::{Map, Value};
use workspace::config::Config;
use workspace::git::{CommitInfo, Oid, RepoPath, Repository};

use crate::capability::git::read::{HISTORY_REWRITTEN, finding};
use crate::capability::memory::{BASE_CHANGED, COMMIT_OF, LAST_COMMIT, Memory, subtasks};
use crate::fault::Fault;
use crate::next_step::{Argument, NextStep, Verb};
use crate::support::HandlerError;

/// The warning that the run's commits stand on another base.
const BASE_MOVED: &str = "base_moved";
/// The warning that the default branch came in.
const BASE_MERGED: &str = "base_merged";

/// What became of the run's commits.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// What it is called where the run goes on from another commit than it remembers.
    pub(crate) warning: Option<&'static str>,
    /// Why the run cannot go on from HEAD.
    pub(crate) finding: Option<Finding>,
    /// The run's last commit is gone, so that nothing can be held against it.
    pub(crate) is_rewritten: bool,
    /// What to keep in the run's memory.
    pub(crate) keep: Map<String, Value>,
}

impl History {
    /// Holds what the run remembers against what is below `head`, and has it remember the commit that it goes on from.
    pub(crate) fn settle(
        config: &Config,
        run: &RunState,
        head: Option<&Oid>,
        memory: &mut Memory,
        repository: &Repository,
    ) -> Result<Self, HandlerError> {
        let last = memory.last_oid()?;
        let Some(head) = head else {
            return Ok(Self::rewritten(&last, None, memory, repository)?);
        };
        if *head == last {
            return Ok(Self::default());
        }
        let bases = bases(config, memory, repository)?;
        let is_there = repository.resolve(last.as_str())?.is_some();
        if is_there && repository.is_ancestor(&last, head)? {
            let from = merged_in(repository, &last, head, &bases)?;
            if from == last {
                return Ok(Self::default());
            }
            memory.last_commit = from.to_string();
            return Ok(Self {
                warning: Some(BASE_MERGED),
                keep: kept(memory)?,
                ..Self::default()
            });
        }
        if is_there && let Some(moved) = moved(repository, memory, &last, head, &bases)? {
            memory.last_commit = moved.last.to_string();
            let mut keep = kept(memory)?;
            for (key, _) in subtasks(run) {
                let slot = COMMIT_OF.of(key);
                let was = slot.text(&run.kept).unwrap_or_default();
                if let Some((_, now)) = moved.commits.iter().find(|(old, _)| old.as_str() == was) {
                    slot.put(&mut keep, &now.to_string())?;
                }
            }
            return Ok(Self {
                warning: Some(BASE_MOVED),
                keep,
                ..Self::default()
            });
        }
        Ok(Self::rewritten(&last, Some(head), memory, repository)?)
    }

    fn rewritten(
        last: &Oid,
        head: Option<&Oid>,
        memory: &Memory,
        repository: &Repository,
    ) -> Result<Self, Fault> {
        let branch = &memory.start.branch;
        Ok(Self {
            finding: Some(finding(
                HISTORY_REWRITTEN,
                format!(
                    "the run's last commit {} is no longer part of `{branch}`: its history was rewritten",
                    last.short()
                ),
                way_back(last, head, branch, repository)?,
            )),
            is_rewritten: true,
            ..Self::default()
        })
    }
}

/// What a run remembers that goes on from another commit than its own.
fn kept(memory: &Memory) -> Result<Map<String, Value>, Fault> {
    let mut keep = LAST_COMMIT.entry(&memory.last_commit)?;
    BASE_CHANGED.put(&mut keep, &true)?;
    Ok(keep)
}

/// How the run's last commit comes back without a change of anybody's being lost, or taken in.
fn way_back(
    last: &Oid,
    head: Option<&Oid>,
    branch: &str,
    repository: &Repository,
) -> Result<String, Fault> {
    let is_there = repository.resolve(last.as_str())?.is_some();
    let Some(head) = head.filter(|_| is_there) else {
        return Ok(
            "git does not have that commit any more, so nothing can bring it back: ask the person, who begins a new run".to_owned(),
        );
    };
    let sha = last.short();
    let paths = repository.changed_paths(head, last)?;
    let changed = repository.status()?.changes;
    // Git neither touches nor stashes a submodule there.
    let is_in_tree = changed
        .iter()
        .filter(|change| !change.submodule)
        .any(|change| change.paths().any(|path| paths.contains(path)));
    let report = Verb::Report;
    if repository.is_ancestor(head, last)? {
        let back = if !is_in_tree {
            NextStep::git(["merge", "--ff-only", sha]).to_string()
        } else if holds(repository, last, &paths)? {
            // What the commits hold is still in the working tree, as behind `git reset --soft`.
            NextStep::git(["reset", "--quiet", sha]).to_string()
        } else {
            format!(
                "{}, {}, {}",
                NextStep::git(["stash", "push", "--include-untracked"]),
                NextStep::git(["merge", "--ff-only", sha]),
                NextStep::git(["stash", "pop"])
            )
        };
        return Ok(format!(
            "bring it back with {back}, then report again: {report}"
        ));
    }
    if paths.is_empty() {
        return Ok(format!(
            "only what is said of it was changed: bring it back ({back}), then report again: {report}. What a commit is to say is told when it is made, with {message}",
            back = NextStep::git(["reset", "--soft", sha]),
            message = Argument("message")
        ));
    }
    // What took its place stays under a name of its own.
    let aside = format!("{branch}-aside-{}", head.short());
    let keep = if repository.branch_exists(&aside)? {
        format!("what is there now is kept as {aside}")
    } else {
        format!(
            "keep what is there now ({})",
            NextStep::git(["branch", &aside])
        )
    };
    let is_amended = repository.commit_info(head)?.parents == repository.commit_info(last)?.parents;
    let back = match (is_in_tree, is_amended) {
        // What was changed in it goes on as a change that is not committed.
        (_, true) => NextStep::git(["reset", "--quiet", sha]).to_string(),
        (false, false) => NextStep::git(["reset", "--keep", sha]).to_string(),
        (true, false) => format!(
            "{}, {}, {}",
            NextStep::git(["stash", "push", "--include-untracked"]),
            NextStep::git(["reset", "--keep", sha]),
            NextStep::git(["stash", "pop"])
        ),
    };
    Ok(format!(
        "{keep}, bring the run's commit back ({back}), then report again: {report}. What is wanted of the other comes back with `git restore --source={aside} -- FILE`"
    ))
}

/// Whether the working tree has in one of these files what a commit has: it was not taken out of the tree with the commit.
fn holds(repository: &Repository, commit: &Oid, paths: &[RepoPath]) -> Result<bool, Fault> {
    for path in paths {
        let there = std::fs::read_to_string(repository.absolute(path)).ok();
        if there.is_some() && there == repository.file_at(commit, path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The tips of the branches that runs work beside, here and on the remote: what is on them is no work of this one.
fn bases(config: &Config, memory: &Memory, repository: &Repository) -> Result<Vec<Oid>, Fault> {
    let remote = &config.git.default_remote;
    let mut tips = Vec::new();
    for name in &memory.start.protected {
        for reference in [
            format!("refs/heads/{name}"),
            format!("refs/remotes/{remote}/{name}"),
        ] {
            tips.extend(repository.resolve(&reference)?);
        }
    }
    tips.sort();
    tips.dedup();
    Ok(tips)
}

/// The last commit on the way from `last` to `head` up to which nothing came in but what is on another branch: the merges of it,
/// and what a merge without a commit of its own brings.
fn merged_in(repository: &Repository, last: &Oid, head: &Oid, bases: &[Oid]) -> Result<Oid, Fault> {
    let own = repository.commits_beside(head, last, bases)?;
    let is_own = |oid: &Oid| own.iter().any(|commit| commit.oid == *oid);
    let mut from = last.clone();
    for commit in repository.first_parents(last, head)? {
        let comes_from_elsewhere = match commit.parents.as_slice() {
            [first, others @ ..] if *first == from && !others.is_empty() => {
                !others.iter().any(is_own)
            }
            _ => !is_own(&commit.oid),
        };
        if !comes_from_elsewhere {
            break;
        }
        from = commit.oid;
    }
    Ok(from)
}

/// The run's commits where a rebase put them.
struct MovedCommits {
    last: Oid,
    /// What each was, and is.
    commits: Vec<(Oid, Oid)>,
}

/// Whether each commit of the run is below `head` with the same changes, by the same author and date, and in the same order.
fn moved(
    repository: &Repository,
    memory: &Memory,
    last: &Oid,
    head: &Oid,
    bases: &[Oid],
) -> Result<Option<MovedCommits>, Fault> {
    let Ok(start) = memory.start.head.parse::<Oid>() else {
        return Ok(None);
    };
    // What the run began on is still there: it was not put onto something older.
    if !repository.is_ancestor(&start, head)? {
        return Ok(None);
    }
    // Where nothing came in from elsewhere, somebody only wrote commits anew; or took out a merge, which had it all.
    let own = repository.commits_beside(head, last, bases)?;
    if repository.commits_between(last, head)?.len() == own.len()
        && !repository.commit_info(last)?.is_merge()
    {
        return Ok(None);
    }
    let is_known = |commit: &CommitInfo| commit.parents.len() == 1;
    let mut was = repository.commits_beside(last, &start, bases)?;
    was.retain(is_known);
    let (same, others) = repository.same_changes(last, head)?;
    let mut now = repository.commits_beside(head, &start, bases)?;
    now.retain(|commit| is_known(commit) && same.contains(&commit.oid));
    if was.len() > now.len() || was.iter().any(|commit| others.contains(&commit.oid)) {
        return Ok(None);
    }
    let mut commits = Vec::new();
    for (was, now) in was.iter().zip(&now) {
        if (&was.author, &was.author_date) != (&now.author, &now.author_date) {
            return Ok(None);
        }
        commits.push((was.oid.clone(), now.oid.clone()));
    }
    let last = match commits.last() {
        Some((_, now)) => now.clone(),
        // Nothing was committed yet, so the run goes on from wherever its branch leaves the others.
        None => merged_in(repository, &start, head, bases)?,
    };
    Ok(Some(MovedCommits { last, commits }))
}
