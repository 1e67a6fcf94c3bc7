//! What is changed in the working tree.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::error::{GitError, GitErrorKind};
use super::oid::Oid;
use super::path::RepoPath;
use super::repository::{Repository, parse_oid};

/// How a file differs between two of the three places (commit, index, working tree).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusCode {
    /// No difference.
    Unmodified,
    /// Other content, or another mode.
    Modified,
    /// A file became a link, a link a file, or either a submodule.
    TypeChanged,
    /// New.
    Added,
    /// Gone.
    Deleted,
    /// Renamed; [`Change::original`] is the old name.
    Renamed,
    /// Copied; [`Change::original`] is where from.
    Copied,
}

/// One file that is not as the last commit has it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, each of which is asked for by itself"
)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: RepoPath,
    /// Where it came from, if it was renamed or copied.
    pub original: Option<RepoPath>,
    /// The index against the last commit.
    pub staged: StatusCode,
    /// The working tree against the index.
    pub unstaged: StatusCode,
    /// Git does not know the file yet.
    pub untracked: bool,
    /// A submodule, or another repository nested in the tree.
    pub submodule: bool,
    /// Another repository in the tree that is no submodule. It is not part of a commit of ours unless it was named.
    pub nested: bool,
    /// Files in the submodule are changed or untracked there, which no commit of this repository can hold.
    pub dirty_inside: bool,
    /// The file is not in the working tree.
    pub deleted: bool,
    /// The file is in the index by name only (`git add --intent-to-add`).
    pub intent_to_add: bool,
}

impl Change {
    /// The paths that a commit of this change names: the file, and its old name if it was renamed.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        let renamed = self.staged == StatusCode::Renamed || self.unstaged == StatusCode::Renamed;
        std::iter::once(&self.path).chain(self.original.as_ref().filter(move |_| renamed))
    }
}

/// The working tree against the last commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeStatus {
    /// The last commit; `None` if there is none yet.
    pub head: Option<Oid>,
    /// The branch; `None` if HEAD is detached.
    pub branch: Option<String>,
    /// What is changed, without ignored files.
    pub changes: Vec<Change>,
    /// The files that git ignores, but for those in folders that it ignores as a whole.
    pub ignored: Vec<RepoPath>,
    /// Paths with a conflict that is not resolved: any of them keeps git from committing.
    pub unmerged: Vec<RepoPath>,
    /// Whether the index holds anything else than the last commit does.
    pub is_staged: bool,
}

/// Whether a file that was deleted and one that was added may be told as one that was renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Renames {
    Find,
    Ignore,
}

impl Repository {
    /// The state of the whole working tree, by one git process.
    pub fn status(&self) -> Result<TreeStatus, GitError> {
        self.status_everywhere(Renames::Find)
    }

    /// The same, with or without the search for files that were renamed.
    pub(super) fn status_everywhere(&self, renames: Renames) -> Result<TreeStatus, GitError> {
        let ask = |ignored: &str| {
            self.git()
                .args([
                    "status",
                    "--porcelain=v2",
                    "-z",
                    "--branch",
                    "--untracked-files=all",
                    "--ignored=matching",
                ])
                .args([ignored, "--no-ahead-behind"])
                .arg(match renames {
                    Renames::Find => "--find-renames",
                    Renames::Ignore => "--no-renames",
                })
                .run()
        };
        // One submodule that cannot be looked into fails all of it.
        let output = ask("--ignore-submodules=none").or_else(|_| ask("--ignore-submodules=dirty"));
        let mut status = parse(&output?)?;
        for change in status.changes.iter_mut().filter(|change| change.nested) {
            // It is not in the index yet, so that git has not looked at what is changed in it.
            if self.is_declared(&change.path)?
                && let Ok(inner) = self.repository_at(&change.path).and_then(|it| it.status())
            {
                change.nested = inner.head.is_none();
                change.dirty_inside = !inner.changes.is_empty();
            }
        }
        Ok(status)
    }

    /// Whether `.gitmodules` of the working tree has a submodule at this place.
    fn is_declared(&self, path: &RepoPath) -> Result<bool, GitError> {
        const FILE: &str = ".gitmodules";
        let git = self.git().args(["config", "--file", FILE, "--fixed-value"]);
        let git = git.args(["--get-regexp", r"^submodule\..*\.path$"]);
        Ok(self.top_level().join(FILE).exists()
            && git.arg(path.as_os_str()).output()?.status.success())
    }
}

/// Reads `git status --porcelain=v2 -z --branch`.
fn parse(output: &[u8]) -> Result<TreeStatus, GitError> {
    const COMMAND: &str = "git status";
    let mut status = TreeStatus {
        head: None,
        branch: None,
        changes: Vec::new(),
        ignored: Vec::new(),
        unmerged: Vec::new(),
        is_staged: false,
    };
    let mut records = output.split(|byte| *byte == 0);
    while let Some(record) = records.next() {
        let unknown = || GitError::unexpected(COMMAND, String::from_utf8_lossy(record));
        let Some((kind, rest)) = record.split_first() else {
            continue;
        };
        let rest = rest.strip_prefix(b" ").ok_or_else(unknown)?;
        match kind {
            b'#' => {
                if let Some(oid) = rest.strip_prefix(b"branch.oid ") {
                    status.head = if oid == b"(initial)" {
                        None
                    } else {
                        Some(parse_oid(COMMAND, oid)?)
                    };
                } else if rest == b"branch.head (unknown)" {
                    return Err(GitError::new(
                        GitErrorKind::BrokenBranch,
                        "the branch that HEAD points to is broken: it holds no commit",
                    ));
                } else if let Some(name) = rest.strip_prefix(b"branch.head ") {
                    status.branch =
                        (name != b"(detached)").then(|| String::from_utf8_lossy(name).into_owned());
                }
            }
            b'1' => {
                let (fields, path) = fields::<7>(rest).ok_or_else(unknown)?;
                status
                    .changes
                    .push(tracked(&fields, path, None).ok_or_else(unknown)?);
            }
            b'2' => {
                let (fields, path) = fields::<8>(rest).ok_or_else(unknown)?;
                let original = records
                    .next()
                    .filter(|path| !path.is_empty())
                    .ok_or_else(unknown)?;
                let original = RepoPath::trusted(original);
                status
                    .changes
                    .push(tracked(&fields, path, Some(original)).ok_or_else(unknown)?);
            }
            b'u' => {
                let (_, path) = fields::<9>(rest).ok_or_else(unknown)?;
                status.unmerged.push(RepoPath::trusted(path));
            }
            b'?' => {
                // Another repository in the tree is told as a folder, with a slash.
                let nested = rest.ends_with(b"/");
                status.changes.push(Change {
                    path: RepoPath::trusted(rest.strip_suffix(b"/").unwrap_or(rest)),
                    original: None,
                    staged: StatusCode::Unmodified,
                    unstaged: StatusCode::Added,
                    untracked: true,
                    submodule: nested,
                    nested,
                    dirty_inside: false,
                    deleted: false,
                    intent_to_add: false,
                });
            }
            b'!' if rest.ends_with(b"/") => {}
            b'!' => status.ignored.push(RepoPath::trusted(rest)),
            _ => return Err(unknown()),
        }
    }
    let is_staged =
        |change: &Change| change.staged != StatusCode::Unmodified || change.intent_to_add;
    status.is_staged = !status.unmerged.is_empty() || status.changes.iter().any(is_staged);
    join_taken_out(&mut status.changes);
    Ok(status)
}

/// A file that was taken out of the index but lies in the tree is told twice, as deleted and as unknown. It is one
/// change: staged as deleted, and there.
fn join_taken_out(changes: &mut Vec<Change>) {
    let staged_deletions: HashSet<RepoPath> = changes
        .iter()
        .filter(|change| change.staged == StatusCode::Deleted)
        .map(|change| change.path.clone())
        .collect();
    let mut there = HashSet::new();
    changes.retain(|change| {
        let twin = change.untracked && staged_deletions.contains(&change.path);
        if twin {
            there.insert(change.path.clone());
        }
        !twin
    });
    for change in changes
        .iter_mut()
        .filter(|change| there.contains(&change.path))
    {
        change.unstaged = StatusCode::Added;
        change.deleted = false;
    }
}

/// The first `N` fields, which no space can be in, and the path after them, which may hold anything.
fn fields<const N: usize>(record: &[u8]) -> Option<([&[u8]; N], &[u8])> {
    let mut pieces = record.splitn(N + 1, |byte| *byte == b' ');
    let mut fields = [&record[..0]; N];
    for field in &mut fields {
        *field = pieces.next()?;
    }
    Some((fields, pieces.next().filter(|path| !path.is_empty())?))
}

/// A change of a file that the commit or the index knows. Fields: XY, submodule, the modes in the commit, the index
/// and the working tree, then what is not needed here.
fn tracked(fields: &[&[u8]], path: &[u8], original: Option<RepoPath>) -> Option<Change> {
    let [codes, submodule, mode_head, _, mode_tree, ..] = fields else {
        return None;
    };
    let [staged, unstaged] = **codes else {
        return None;
    };
    let staged = code(staged)?;
    let nothing = |mode: &[u8]| mode.iter().all(|byte| *byte == b'0');
    Some(Change {
        path: RepoPath::trusted(path),
        intent_to_add: staged == StatusCode::Unmodified && original.is_none() && nothing(mode_head),
        original,
        staged,
        unstaged: code(unstaged)?,
        untracked: false,
        submodule: submodule.starts_with(b"S"),
        nested: false,
        dirty_inside: submodule.ends_with(b"U") || submodule.contains(&b'M'),
        deleted: nothing(mode_tree),
    })
}

fn code(letter: u8) -> Option<StatusCode> {
    Some(match letter {
        b'.' => StatusCode::Unmodified,
        b'M' => StatusCode::Modified,
        b'T' => StatusCode::TypeChanged,
        b'A' => StatusCode::Added,
        b'D' => StatusCode::Deleted,
        b'R' => StatusCode::Renamed,
        b'C' => StatusCode::Copied,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn damaged_output_is_an_error() {
        let short = "2 R. N... 1 2 3 4 5 R100 new\0";
        for output in ["1 .M N...\0", "1x\0", "Z what\0", short, "# branch.oid x\0"] {
            assert!(parse(output.as_bytes()).is_err(), "{output}");
        }
        assert!(parse(b"# stash 3\0").unwrap().changes.is_empty());
    }

    proptest! {
        #[test]
        fn no_output_makes_it_panic(output in proptest::collection::vec(proptest::sample::select(b"12u?! .MRNS0a/#\0".to_vec()), 0..60)) {
            let _ = parse(&output);
        }
    }
}
