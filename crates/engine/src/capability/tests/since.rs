//! What was changed since the run's last commit, committed since or not.

use std::fmt::Write as _;

use workspace::git::{Change, Oid, RepoPath, Repository, StatusCode, TreeStatus};

use crate::capability::git::changes::Changes;
use crate::fault::Fault;
use crate::next_step::{argument, step};
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
