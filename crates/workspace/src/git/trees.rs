//! Trees: what the working tree holds as a git object, what differs between two, and others made of them.

use std::fs;

use super::command::{nul_separated, nul_terminated};
use super::error::{GitError, GitErrorKind};
use super::fingerprint::{FingerprintRequest, PrivateIndex};
use super::history::TreeEntry;
use super::oid::Oid;
use super::path::RepoPath;
use super::repository::{Repository, parse_oid};
use super::scratch::Scratch;
use super::status::TreeStatus;

/// The mode of an ordinary file that cannot be run.
pub(super) const FILE_MODE: u32 = 0o100_644;

/// A path that two trees do not have alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeChange {
    /// The path.
    pub path: RepoPath,
    /// What the first tree has there; `None` where it has nothing.
    pub before: Option<TreeEntry>,
    /// What the second one has.
    pub after: Option<TreeEntry>,
}

impl Repository {
    /// Writes the tree that a commit of these changes would have, with its objects in the repository. No reference keeps it yet.
    ///
    /// # Errors
    /// Where a conflict is not resolved, or git fails.
    pub fn write_tree(
        &self,
        status: &TreeStatus,
        request: &FingerprintRequest<'_>,
    ) -> Result<Oid, GitError> {
        if let Some(path) = status.unmerged.first() {
            let message = format!("a conflict in {path} is not resolved, so no commit can be made");
            return Err(GitError::new(GitErrorKind::Refused, message));
        }
        self.lasting_tree(status, request)
    }

    /// What blobs hold, in the order of their ids.
    ///
    /// # Errors
    /// Where one of them is not there.
    pub fn read_blobs(&self, blobs: &[&Oid]) -> Result<Vec<Vec<u8>>, GitError> {
        const COMMAND: &str = "git cat-file --batch";
        if blobs.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<&str> = blobs.iter().map(|oid| oid.as_str()).collect();
        let names = names.join("\n") + "\n";
        let git = self.git().args(["cat-file", "--batch"]);
        let output = git.stdin(names.into_bytes()).run()?;
        let mut rest = &output[..];
        let mut contents = Vec::with_capacity(blobs.len());
        for oid in blobs {
            // `ID blob LENGTH`, and behind what it holds a line end.
            let read = |rest: &mut &[u8]| {
                let end = rest.iter().position(|byte| *byte == b'\n')?;
                let head = std::str::from_utf8(&rest[..end]).ok()?;
                let length: usize = head
                    .strip_prefix(oid.as_str())?
                    .strip_prefix(" blob ")?
                    .parse()
                    .ok()?;
                let content = rest.get(end + 1..end + 1 + length)?.to_vec();
                *rest = rest.get(end + 2 + length..)?;
                Some(content)
            };
            let content = read(&mut rest);
            contents.push(
                content.ok_or_else(|| {
                    GitError::unexpected(COMMAND, format!("there is no file {oid}"))
                })?,
            );
        }
        Ok(contents)
    }

    /// All files of a tree.
    pub fn tree_entries(&self, tree: &Oid) -> Result<Vec<(RepoPath, TreeEntry)>, GitError> {
        const COMMAND: &str = "git ls-tree";
        let git = self.git().args(["ls-tree", "-r", "-z", "--full-tree"]);
        let output = git.arg(tree.as_str()).run()?;
        // `MODE TYPE ID`, a tab, and the path.
        let entry = |told: &[u8]| {
            let tab = told.iter().position(|byte| *byte == b'\t')?;
            let mut fields = std::str::from_utf8(&told[..tab]).ok()?.split(' ');
            let mode = u32::from_str_radix(fields.next()?, 8).ok()?;
            let oid = fields.nth(1)?.parse().ok()?;
            Some((RepoPath::trusted(&told[tab + 1..]), TreeEntry { mode, oid }))
        };
        nul_separated(&output)
            .map(|told| {
                entry(told)
                    .ok_or_else(|| GitError::unexpected(COMMAND, String::from_utf8_lossy(told)))
            })
            .collect()
    }

    /// The files that have another name in the second of two trees than in the first: the one that they had, and the one that they have.
    pub fn renames_between(
        &self,
        before: &Oid,
        after: &Oid,
    ) -> Result<Vec<(RepoPath, RepoPath)>, GitError> {
        let output = self
            .git()
            .args(["diff-tree", "-r", "--name-status", "-z", "--find-renames"])
            .args(["--diff-filter=R", "--no-ext-diff"])
            .args([before.as_str(), after.as_str(), "--"])
            .run()?;
        let mut fields = nul_separated(&output);
        let mut renamed = Vec::new();
        while let (Some(_), Some(was), Some(is)) = (fields.next(), fields.next(), fields.next()) {
            renamed.push((RepoPath::trusted(was), RepoPath::trusted(is)));
        }
        Ok(renamed)
    }

    /// Writes contents as blobs of the repository.
    pub fn write_blobs<B: AsRef<[u8]>>(&self, contents: &[B]) -> Result<Vec<Oid>, GitError> {
        if contents.is_empty() {
            return Ok(Vec::new());
        }
        let cannot = |error| GitError::io("cannot write files for git to read", error);
        let folder = Scratch::new(self.git_dir()).map_err(cannot)?;
        let mut names = Vec::new();
        for (number, content) in contents.iter().enumerate() {
            let path = folder.path().join(number.to_string());
            fs::write(&path, content).map_err(cannot)?;
            names.extend(path.as_os_str().as_encoded_bytes());
            names.push(b'\n');
        }
        let written = self
            .git_write()
            .args(["hash-object", "-w", "--no-filters", "--stdin-paths"])
            .stdin(names)
            .run()?;
        let lines = written.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        lines
            .map(|line| parse_oid("git hash-object", line))
            .collect()
    }

    /// Writes the tree that a tree becomes when each of these files holds this text, and is as executable as its entry says.
    pub fn write_texts(
        &self,
        tree: &Oid,
        texts: &[(RepoPath, Option<TreeEntry>, String)],
    ) -> Result<Oid, GitError> {
        let contents: Vec<&str> = texts.iter().map(|(.., text)| text.as_str()).collect();
        let blobs = self.write_blobs(&contents)?;
        let entries = texts.iter().zip(blobs).map(|((path, entry, _), oid)| {
            let mode = entry.as_ref().map_or(FILE_MODE, |entry| entry.mode);
            (path.clone(), Some(TreeEntry { mode, oid }))
        });
        self.edit_tree(tree, &entries.collect::<Vec<_>>())
    }

    /// Writes the tree that a tree becomes when each of these paths gets an entry, or loses its own.
    pub fn edit_tree(
        &self,
        tree: &Oid,
        edits: &[(RepoPath, Option<TreeEntry>)],
    ) -> Result<Oid, GitError> {
        if edits.is_empty() {
            return self.resolve_tree(tree.as_str())?.ok_or_else(|| {
                GitError::unexpected("git rev-parse", format!("there is no tree {tree}"))
            });
        }
        let index = PrivateIndex::lasting(self)?;
        index.read_tree(self, Some(tree))?;
        let mut lines = Vec::new();
        for (path, entry) in edits {
            // What stands in its place goes first: a file may have been a folder.
            lines.push([format!("0 {tree}\t").as_bytes(), path.as_bytes()].concat());
            if let Some(TreeEntry { mode, oid }) = entry {
                lines.push([format!("{mode:o} {oid}\t").as_bytes(), path.as_bytes()].concat());
            }
        }
        index
            .git(self)
            .args(["update-index", "-z", "--index-info"])
            .stdin(nul_terminated(lines))
            .run()?;
        index.write_tree(self)
    }

    /// What differs between two trees, or the trees of two commits, in the order of paths. A renamed file is gone under one name and
    /// there under another.
    pub fn tree_changes(&self, before: &Oid, after: &Oid) -> Result<Vec<TreeChange>, GitError> {
        if before == after {
            return Ok(Vec::new());
        }
        let changes = self.raw_changes(before, after)?.into_iter();
        let changes = changes.map(|(path, change)| TreeChange {
            path,
            before: change.before,
            after: change.now,
        });
        Ok(changes.collect())
    }

    /// What differs between two trees, or the trees of two commits, as a patch for people.
    pub fn patch_between(&self, before: &Oid, after: &Oid) -> Result<String, GitError> {
        let output = self
            .git()
            .args(["diff-tree", "-r", "--patch", "--find-renames"])
            .args(["--no-color", "--no-ext-diff", "--no-textconv"])
            .args([before.as_str(), after.as_str(), "--"])
            .run()?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// Keeps objects reachable, each under a reference (a full name): no clean-up of git's removes them. Locks that a git left which is
    /// gone are taken away.
    pub fn keep_objects(&self, objects: &[(&Oid, String)]) -> Result<(), GitError> {
        let lines = objects.iter();
        let lines = lines.map(|(oid, reference)| format!("update {reference} {oid}\n"));
        let lines = lines.collect::<String>().into_bytes();
        let write = || {
            self.git_write()
                .config("core.hooksPath=/dev/null")
                .args(["update-ref", "--stdin"])
                .stdin(lines.clone())
                .run()
        };
        let below = self.common_dir().join("refs");
        self.past_dead_locks(&below, write).map(drop)
    }

    /// The references under `folder` (a full name that ends with `/`), by their full names.
    pub fn references_below(&self, folder: &str) -> Result<Vec<String>, GitError> {
        let listed = self
            .git()
            .args(["for-each-ref", "--format=%(refname)", folder])
            .run()?;
        let listed = String::from_utf8_lossy(&listed);
        Ok(listed.lines().map(str::to_owned).collect())
    }

    /// Gives up every reference under `folder` (a full name that ends with `/`).
    pub fn forget_references(&self, folder: &str) -> Result<(), GitError> {
        let listed = self
            .git()
            .args(["for-each-ref", "--format=delete %(refname)%00", folder])
            .run()?;
        let commands: Vec<&[u8]> = nul_separated(&listed)
            .map(<[u8]>::trim_ascii_start)
            .filter(|line| !line.is_empty())
            .collect();
        if commands.is_empty() {
            return Ok(());
        }
        self.git_write()
            .args(["update-ref", "--stdin"])
            .stdin([commands.join(&b'\n'), b"\n".to_vec()].concat())
            .run()
            .map(drop)
    }
}
