//! Commits: where HEAD is, what lies between two, what one says.

use std::ffi::OsString;
use std::fs;

use super::command::{nul_separated, one_line};
use super::error::GitError;
use super::oid::Oid;
use super::path::RepoPath;
use super::repository::{Repository, parse_oid};

/// Where HEAD points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The commit; `None` if there is none yet.
    pub oid: Option<Oid>,
    /// The branch; `None` if HEAD is detached.
    pub branch: Option<String>,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    /// Its id.
    pub oid: Oid,
    /// Its parents, the first one first.
    pub parents: Vec<Oid>,
    /// Its tree.
    pub tree: Oid,
    /// When it was written: seconds since 1970 and the offset from UTC, as in `1760000000 +0200`.
    pub author_date: String,
    /// Who wrote it: `name <address>`.
    pub author: String,
    /// Who committed it: `name <address>`.
    pub committer: String,
    /// The first paragraph of the message, on one line.
    pub subject: String,
    /// The whole message.
    pub message: String,
}

impl CommitInfo {
    /// Whether it brings another line of history in.
    pub fn is_merge(&self) -> bool {
        self.parents.len() > 1
    }
}

/// A file in which a commit differs from its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedFile {
    /// The file.
    pub path: RepoPath,
    /// What the commit has there; `None` where it took the file out.
    pub content: Option<TreeEntry>,
}

/// A file as a tree has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// Its kind and whether it can be run.
    pub mode: u32,
    /// The name of its content.
    pub oid: Oid,
}

/// What one tree has at a path, and another.
pub(super) struct RawChange {
    pub(super) before: Option<TreeEntry>,
    pub(super) now: Option<TreeEntry>,
}

/// Reads what `--raw` tells of a path: `:mode mode id id status`, of which the first of each pair is that of the tree before.
fn raw_change(command: &str, told: &[u8]) -> Result<RawChange, GitError> {
    let read = || {
        let text = std::str::from_utf8(told).ok()?.strip_prefix(':')?;
        let mut fields = text.split(' ');
        let mut modes = [fields.next()?, fields.next()?].into_iter();
        let mut entry = || {
            let mode = u32::from_str_radix(modes.next()?, 8).ok()?;
            let oid: Oid = fields.next()?.parse().ok()?;
            Some((mode != 0).then_some(TreeEntry { mode, oid }))
        };
        Some(RawChange {
            before: entry()?,
            now: entry()?,
        })
    };
    read().ok_or_else(|| unknown_change(command, told))
}

fn unknown_change(command: &str, told: &[u8]) -> GitError {
    GitError::unexpected(command, String::from_utf8_lossy(told))
}

const COMMIT_FORMAT: &str = "--format=%H%x00%P%x00%T%x00%ad%x00%an <%ae>%x00%cn <%ce>%x00%s%x00%B";
const COMMIT_FIELDS: usize = 8;

/// A commit as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// Its message.
    pub message: String,
    /// Which files it changed and how much, and the difference itself.
    pub patch: Vec<u8>,
}

impl Repository {
    /// Where HEAD points. Starts no git where the answer lies in plain files, as it nearly always does.
    pub fn head(&self) -> Result<Head, GitError> {
        if let Some(head) = self.head_from_files() {
            return Ok(head);
        }
        let branch = self
            .git()
            .args(["symbolic-ref", "--quiet", "HEAD"])
            .run_if()?
            .map(|line| {
                let name = String::from_utf8_lossy(&one_line(line)).into_owned();
                name.strip_prefix("refs/heads/")
                    .map(str::to_owned)
                    .unwrap_or(name)
            });
        Ok(Head {
            oid: self.resolve("HEAD")?,
            branch,
        })
    }

    /// HEAD as the plain files tell it. `None` where they do not: git is asked then.
    fn head_from_files(&self) -> Option<Head> {
        let path = self.git_dir().join("HEAD");
        // In very old repositories HEAD is a link to the branch.
        if path.is_symlink() {
            return None;
        }
        let text = fs::read_to_string(path).ok()?;
        let text = text.strip_suffix('\n')?;
        let Some(name) = text.strip_prefix("ref: ") else {
            return Some(Head {
                oid: Some(text.parse().ok()?),
                branch: None,
            });
        };
        let branch = name.strip_prefix("refs/heads/")?;
        // With the reftable format HEAD is a dummy that names this.
        if branch == ".invalid" {
            return None;
        }
        let oid = fs::read_to_string(self.common_dir().join(name))
            .ok()?
            .strip_suffix('\n')?
            .parse()
            .ok()?;
        Some(Head {
            oid: Some(oid),
            branch: Some(branch.to_owned()),
        })
    }

    /// Whether `ancestor` can be reached from `descendant`; a commit is its own ancestor.
    pub fn is_ancestor(&self, ancestor: &Oid, descendant: &Oid) -> Result<bool, GitError> {
        let git = self.git().args([
            "merge-base",
            "--is-ancestor",
            ancestor.as_str(),
            descendant.as_str(),
        ]);
        Ok(git.run_if()?.is_some())
    }

    /// Whether the repository has the commit.
    pub fn has_commit(&self, commit: &Oid) -> Result<bool, GitError> {
        Ok(self.resolve(&format!("{commit}^{{commit}}"))?.is_some())
    }

    /// The commits that can be reached from `tip` but not from `base`, parents before their children.
    pub fn commits_between(&self, base: &Oid, tip: &Oid) -> Result<Vec<CommitInfo>, GitError> {
        self.log(&["--topo-order", "--reverse", &format!("{base}..{tip}")])
    }

    /// The commits that can be reached from `tip`, but neither from `base` nor from any of `others`, parents before their children.
    pub fn commits_beside(
        &self,
        tip: &Oid,
        base: &Oid,
        others: &[Oid],
    ) -> Result<Vec<CommitInfo>, GitError> {
        let mut arguments = vec!["--topo-order", "--reverse", tip.as_str(), "--not"];
        arguments.push(base.as_str());
        arguments.extend(others.iter().map(Oid::as_str));
        self.log(&arguments)
    }

    /// Of the commits that can be reached from one of two and not from both: those whose changes the other one has as well, in a
    /// commit of its own. Merges are left out.
    pub fn same_changes(&self, one: &Oid, other: &Oid) -> Result<Vec<Oid>, GitError> {
        let output = self
            .git()
            .args(["rev-list", "--no-merges", "--cherry-mark"])
            .args([&format!("{one}...{other}"), "--"])
            .run()?;
        let lines = output.split(|byte| *byte == b'\n');
        let same = lines.filter_map(|line| line.strip_prefix(b"="));
        same.map(|oid| parse_oid("git rev-list", oid)).collect()
    }

    /// The content of a file in a commit, as text; `None` if the commit has no such file, or it is not UTF-8.
    pub fn file_at(&self, commit: &Oid, path: &RepoPath) -> Result<Option<String>, GitError> {
        let bytes = self.bytes_at(commit, path)?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// The content of a file in a commit; `None` if the commit has no such file.
    pub fn bytes_at(&self, commit: &Oid, path: &RepoPath) -> Result<Option<Vec<u8>>, GitError> {
        let mut name = OsString::from(format!("{commit}:"));
        name.push(path.as_os_str());
        let output = self.git().args(["cat-file", "blob"]).arg(name).output()?;
        Ok(output.status.success().then_some(output.stdout))
    }

    /// Whether a branch of a remote, as it was last seen, has the commit.
    pub fn is_on_a_remote(&self, commit: &Oid) -> Result<bool, GitError> {
        let output = self
            .git()
            .args(["for-each-ref", "--count=1", "--contains"])
            .args([commit.as_str(), "refs/remotes"])
            .run()?;
        Ok(!output.is_empty())
    }

    /// The submodules of a commit, each with the commit that it is at.
    pub fn submodules_at(&self, commit: &Oid) -> Result<Vec<(RepoPath, Oid)>, GitError> {
        const COMMAND: &str = "git ls-tree";
        let output = self
            .git()
            .args(["ls-tree", "-r", "-z", "--full-tree", commit.as_str()])
            .run()?;
        nul_separated(&output)
            .filter_map(|entry| entry.strip_prefix(b"160000 commit "))
            .map(|entry| {
                let mut fields = entry.splitn(2, |byte| *byte == b'\t');
                let oid = parse_oid(COMMAND, fields.next().unwrap_or_default())?;
                Ok((RepoPath::trusted(fields.next().unwrap_or_default()), oid))
            })
            .collect()
    }

    /// The submodules of a commit that are not checked out here.
    pub fn absent_submodules(&self, commit: &Oid) -> Result<Vec<RepoPath>, GitError> {
        let mut absent = Vec::new();
        for (path, _) in self.submodules_at(commit)? {
            if self.submodule_head(&path)?.is_none() {
                absent.push(path);
            }
        }
        Ok(absent)
    }

    /// What a commit says and changed against its first parent; nothing where there is no such commit. `sha` is an id and no
    /// other name.
    pub fn patch_of(&self, sha: &str) -> Result<Option<Patch>, GitError> {
        let is_id = sha.len() >= 7 && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id || self.resolve(sha)?.is_none() {
            return Ok(None);
        }
        let shown = |format: &str, rest: &[&str]| {
            self.git()
                .args(["show", "--no-ext-diff", "--no-textconv", "--no-color"])
                .args(["--first-parent", "-m", format])
                .args(rest)
                .args([sha, "--"])
                .run()
        };
        let message = shown("--format=%B", &["--no-patch"])?;
        Ok(Some(Patch {
            message: String::from_utf8_lossy(&message).trim_end().to_owned(),
            patch: shown("--format=", &["--patch", "--stat"])?,
        }))
    }

    /// What a commit says.
    pub fn commit_info(&self, oid: &Oid) -> Result<CommitInfo, GitError> {
        self.log(&["--max-count=1", oid.as_str()])?
            .pop()
            .ok_or_else(|| GitError::unexpected("git log", format!("nothing about {oid}")))
    }

    /// What a commit with one parent says, and what it did to files. One that was renamed is one that is gone and one that came.
    pub fn commit_with_files(
        &self,
        oid: &Oid,
    ) -> Result<(CommitInfo, Vec<CommittedFile>), GitError> {
        let arguments = [
            "--max-count=1",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--no-ext-diff",
            "--ignore-submodules=none",
            oid.as_str(),
        ];
        let output = self.raw_log(&arguments)?;
        let mut pieces: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        pieces.pop();
        let Some((fields, files)) = pieces.split_at_checked(COMMIT_FIELDS) else {
            let nothing = format!("nothing about {oid}");
            return Err(GitError::unexpected("git log", nothing));
        };
        let files = files.chunks(2).map(|pair| {
            // A line end stands between a message and what is below it, also where all else ends with NUL.
            let of = pair[0].strip_prefix(b"\n").unwrap_or(pair[0]);
            let change = raw_change("git log", of)?;
            let path = pair.get(1).ok_or_else(|| unknown_change("git log", of))?;
            Ok(CommittedFile {
                path: RepoPath::trusted(path),
                content: change.now,
            })
        });
        Ok((
            commit_from(fields)?,
            files.collect::<Result<_, GitError>>()?,
        ))
    }

    /// What differs between the trees of two commits, or between two trees.
    pub(super) fn raw_changes(
        &self,
        old: &Oid,
        new: &Oid,
    ) -> Result<Vec<(RepoPath, RawChange)>, GitError> {
        const COMMAND: &str = "git diff-tree";
        let output = self
            .git()
            .args([
                "diff-tree",
                "-r",
                "-z",
                "--raw",
                "--no-abbrev",
                "--no-renames",
                "--no-ext-diff",
            ])
            .args([old.as_str(), new.as_str(), "--"])
            .run()?;
        let mut pieces = nul_separated(&output);
        let mut changes = Vec::new();
        while let Some(told) = pieces.next() {
            let path = pieces.next().ok_or_else(|| unknown_change(COMMAND, told))?;
            changes.push((RepoPath::trusted(path), raw_change(COMMAND, told)?));
        }
        Ok(changes)
    }

    fn raw_log(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        self.git()
            .args([
                "log",
                "-z",
                "--date=raw",
                "--encoding=UTF-8",
                "--no-show-signature",
                "--no-notes",
                "--no-mailmap",
            ])
            .args(["--no-color", COMMIT_FORMAT])
            .args(arguments)
            .arg("--")
            .run()
    }

    /// Commits as `git log` chooses them. The arguments are ours: options, object ids and full names of branches.
    pub(super) fn log(&self, arguments: &[&str]) -> Result<Vec<CommitInfo>, GitError> {
        let output = self.raw_log(&[&["--no-patch"], arguments].concat())?;
        let mut pieces: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        pieces.pop();
        let records = pieces.chunks_exact(COMMIT_FIELDS);
        if !records.remainder().is_empty() {
            return Err(GitError::unexpected("git log", "a record is not whole"));
        }
        records.map(commit_from).collect()
    }

    /// The paths that differ between the trees of two commits, old names and new names of renamed files alike.
    pub fn changed_paths(&self, old: &Oid, new: &Oid) -> Result<Vec<RepoPath>, GitError> {
        let output = self
            .git()
            .args([
                "diff-tree",
                "-r",
                "-z",
                "--name-only",
                "--no-renames",
                "--no-ext-diff",
                "--ignore-submodules=none",
            ])
            .args([old.as_str(), new.as_str(), "--"])
            .run()?;
        Ok(nul_separated(&output).map(RepoPath::trusted).collect())
    }
}

fn commit_from(fields: &[&[u8]]) -> Result<CommitInfo, GitError> {
    let [
        oid,
        parents,
        tree,
        date,
        author,
        committer,
        subject,
        message,
    ] = fields
    else {
        return Err(GitError::unexpected("git log", "a record is not whole"));
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(CommitInfo {
        oid: parse_oid("git log", oid)?,
        parents: parents
            .split(|byte| *byte == b' ')
            .filter(|parent| !parent.is_empty())
            .map(|parent| parse_oid("git log", parent))
            .collect::<Result<_, _>>()?,
        tree: parse_oid("git log", tree)?,
        author_date: text(date),
        author: text(author),
        committer: text(committer),
        subject: text(subject),
        message: text(message),
    })
}
