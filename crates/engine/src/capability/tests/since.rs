//! What was changed since the run's last commit, committed since or not.

use std::fmt::Write as _;

use machine::Finding;
use workspace::git::{
    Change, FingerprintRequest, Oid, RepoPath, Repository, StatusCode, TreeStatus,
};

use crate::capability::git::changes::Changes;
use crate::capability::git::read::{finding, with_files};
use crate::capability::memory::{BENCH, Memory, Shown, Tested};
use crate::capability::tests::evidence::verified::RanOn;
use crate::capability::tests::read::{Comparison, MOST_NAMED, few};
use crate::capability::tests::results::{Counts, Coverage};
use crate::fault::Fault;
use crate::next_step::{Verb, argument, step};
use crate::support::{HandlerError, refusal};

/// The changes in the working tree, and those that somebody committed since the run's last commit.
pub(crate) fn with_committed(
    changes: &Changes,
    changed: &[String],
    repository: &Repository,
    last: &Oid,
) -> Result<Changes, Fault> {
    let mut all = changes.clone();
    for name in changed {
        let Ok(path) = RepoPath::from_bytes(name.as_bytes()) else {
            continue;
        };
        if all.files.iter().any(|change| change.path == path) {
            continue;
        }
        let was_there = repository.bytes_at(last, &path)?.is_some();
        let deleted = std::fs::symlink_metadata(repository.absolute(&path)).is_err();
        all.files.push(Change {
            deleted,
            // A commit has no other folders, and what is gone now and was no file was one.
            submodule: repository.absolute(&path).is_dir() || (deleted && !was_there),
            path,
            original: None,
            staged: if was_there {
                StatusCode::Modified
            } else {
                StatusCode::Added
            },
            unstaged: StatusCode::Unmodified,
            untracked: false,
            nested: false,
            dirty_inside: false,
            intent_to_add: false,
        });
    }
    Ok(all)
}

/// Both: all that is another than in the run's last commit.
pub(crate) fn all_since(
    (repository, status): (&Repository, &TreeStatus),
    changes: &Changes,
    last: &Oid,
    rewritten: bool,
) -> Result<Changes, Fault> {
    let changed = since_last(repository, status, changes, last, rewritten)?;
    with_committed(changes, &changed, repository, last)
}

/// Every file that differs from the run's last commit, committed since or not.
pub(crate) fn since_last(
    repository: &Repository,
    status: &TreeStatus,
    changes: &Changes,
    last: &Oid,
    rewritten: bool,
) -> Result<Vec<String>, Fault> {
    let mut changed = changes.names();
    if let Some(head) = &status.head
        && head != last
        && !rewritten
    {
        for path in repository.changed_paths(last, head)? {
            let name = path.to_string();
            if !changed.contains(&name) {
                changed.push(name);
            }
        }
        changed.sort();
    }
    Ok(changed)
}

/// Refuses files that are named as changed and are not.
pub(super) fn all_changed(named: &[RepoPath], changed: &[String]) -> Result<(), HandlerError> {
    for path in named {
        if !changed.contains(&path.to_string()) {
            return Err(refusal(
                "file_not_changed",
                format!("`{path}` is named as changed, but git says that it is not"),
                concat!(
                    "name only files that differ from the last commit, or leave ",
                    argument!("files"),
                    " out: ",
                    step!("report")
                ),
            )
            .into());
        }
    }
    Ok(())
}

/// One name for what the changed files hold: it is another one when any of them holds something else.
pub(super) fn state_of(repository: &Repository, changes: &Changes) -> Result<String, Fault> {
    let mut told = String::new();
    for (path, content) in repository.hash_files(&changes.paths())? {
        let content = content.as_ref().map_or("gone", |content| content.as_str());
        // Writing to a string cannot fail.
        let _ = writeln!(told, "{path:?} {content}");
    }
    Ok(journal::sha256_hex(told.as_bytes()))
}

impl Comparison<'_> {
    /// What there is to say of a suite that we ran: that the work is another one since, and that the bench was not used.
    pub(super) fn of_run_suite(&mut self) -> Result<(), HandlerError> {
        if let Some(ran_on) = &self.taken.ran_on {
            self.findings.extend(self.changed_meanwhile(ran_on)?);
        }
        if let Some(reason) = &self.taken.off_bench
            && !BENCH.is_in(&self.run.kept)
        {
            BENCH.put(&mut self.keep_run, reason)?;
            self.warnings.push("ran_in_place".to_owned());
        }
        Ok(())
    }

    /// The tree that the suite was run on, where we ran it on the bench.
    pub(super) fn tested_on(&self) -> Option<&Oid> {
        let ran_on = self.taken.ran_on.as_ref();
        let ran_on = ran_on.filter(|_| self.taken.off_bench.is_none());
        ran_on.map(|ran_on| &ran_on.tested)
    }

    /// Whether what is tested now is what was tested in the report that this is held against.
    pub(super) fn is_unchanged_since(&self, against: Option<&Shown>) -> Result<bool, Fault> {
        let Some(shown) = against else {
            return Ok(false);
        };
        if let (Some(then), Some(now)) = (&shown.tested, self.tested_on()) {
            return Ok(then == now);
        }
        let state = state_of(self.repository, self.since)?;
        Ok(shown.state.as_ref() == Some(&state))
    }

    /// That the work is not any more what it was when the suite was begun.
    fn changed_meanwhile(&self, ran_on: &RanOn) -> Result<Option<Finding>, HandlerError> {
        let exclude = self.changes.exclude(self.memory, self.repository);
        let request = FingerprintRequest {
            exclude: &exclude,
            ..FingerprintRequest::default()
        };
        let now = self.repository.fingerprint(self.status, &request)?.tree;
        if now == ran_on.work {
            return Ok(None);
        }
        let now = self.repository.write_tree(self.status, &request)?;
        let changed = self.repository.changed_paths(&ran_on.work, &now)?;
        let changed: Vec<String> = changed.iter().map(ToString::to_string).collect();
        Ok(Some(with_files(
            finding(
                "stale_report",
                format!("files were changed while the tests ran: {}", few(&changed)),
                format!("leave them as they are, and report again: {}", Verb::Report),
            ),
            &changed,
        )))
    }
}

/// What was tested, so that a commit can tell whether it is what is committed.
pub(super) fn tested(
    (repository, status): (&Repository, &TreeStatus),
    memory: &Memory,
    changes: &Changes,
    counts: &Counts,
    coverage: Option<&Coverage>,
) -> Result<Tested, HandlerError> {
    let exclude = changes.exclude(memory, repository);
    let request = FingerprintRequest {
        exclude: &exclude,
        ..FingerprintRequest::default()
    };
    let fingerprint = repository.fingerprint(status, &request)?;
    Ok(Tested {
        tree: fingerprint.tree.to_string(),
        exclude,
        passed: counts.passed,
        lines: coverage.and_then(|coverage| coverage.lines),
        files: Some(changes.paths())
            .filter(|paths| paths.len() <= MOST_NAMED)
            .unwrap_or_default(),
    })
}
