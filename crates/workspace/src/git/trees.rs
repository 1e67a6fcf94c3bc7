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
pub const FILE_MODE: u32 = 0o100_644;

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
        let changes = self.raw_changes(before, after)?.into_iter();
        let changes = changes.map(|(path, change)| TreeChange {
            path,
            before: change.before,
            after: change.now,
        });
        Ok(changes.collect())
    }

    /// Keeps objects reachable, each under a reference (a full name): no clean-up of git's removes them.
    pub fn keep_objects(&self, objects: &[(&Oid, String)]) -> Result<(), GitError> {
        let lines = objects.iter();
        let lines = lines.map(|(oid, reference)| format!("update {reference} {oid}\n"));
        self.git_write()
            .args(["update-ref", "--stdin"])
            .stdin(lines.collect::<String>().into_bytes())
            .run()
            .map(drop)
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
