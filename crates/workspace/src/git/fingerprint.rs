//! The tree that a commit made now would have, found without touching the repository.
//!
//! The index is a private one that starts from the last commit, so nothing of what the user has staged gets in by
//! accident; new objects go to a folder that is thrown away, with the repository's own objects as its alternates.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::command::{Git, nul_terminated, one_line};
use super::error::{GitError, GitErrorKind};
use super::history::TreeEntry;
use super::index_file::{read_index, tree_of};
use super::oid::Oid;
use super::path::RepoPath;
use super::repository::{Repository, parse_oid};
use super::scratch::Scratch;
use super::status::TreeStatus;

/// The id of the tree that a commit would have.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint {
    /// The tree.
    pub tree: Oid,
}

/// Which changes a fingerprint takes in.
#[derive(Debug, Clone, Copy, Default)]
pub struct FingerprintRequest<'a> {
    /// Files, or folders with all that is in them, that stay as the last commit has them.
    pub exclude: &'a [RepoPath],
    /// If given, only these files are taken in, and no others.
    pub only: Option<&'a [RepoPath]>,
}

impl FingerprintRequest<'_> {
    fn takes_in(&self, path: &RepoPath) -> bool {
        !self.exclude.iter().any(|excluded| path.is_under(excluded))
            && self.only.is_none_or(|only| only.contains(path))
    }
}

impl Repository {
    /// The tree that a commit of what is changed now would have: the last commit's tree, with the content that the
    /// changed files have in the working tree. Neither the index nor the object store is touched.
    ///
    /// `status` says which files these are, as [`Repository::status`] gave it just now.
    pub fn fingerprint(
        &self,
        status: &TreeStatus,
        request: &FingerprintRequest<'_>,
    ) -> Result<Fingerprint, GitError> {
        if let Some(path) = status.unmerged.first() {
            let message = format!("a conflict in {path} is not resolved, so no commit can be made");
            return Err(GitError::new(GitErrorKind::Refused, message));
        }
        let changed = Changed::of(status, request);
        if let (true, Some(head)) = (changed.is_empty(), &status.head) {
            return Ok(Fingerprint {
                tree: self.tree_of(head)?,
            });
        }
        Ok(Fingerprint {
            tree: self.index_with(status, &changed)?.write_tree(self)?,
        })
    }

    /// The tree that [`fingerprint`](Self::fingerprint) tells, with its objects in the repository.
    pub(super) fn lasting_tree(
        &self,
        status: &TreeStatus,
        request: &FingerprintRequest<'_>,
    ) -> Result<Oid, GitError> {
        let changed = Changed::of(status, request);
        self.with_changes(PrivateIndex::lasting(self)?, status, &changed)?
            .write_tree(self)
    }

    /// The tree that the index holds, with its objects in the repository.
    pub(super) fn lasting_index(&self) -> Result<Oid, GitError> {
        let scratch = PrivateIndex::lasting(self)?;
        if self.git_dir().join("index").exists() {
            let copied = scratch.try_to_copy_index(self);
            copied.map_err(|error| GitError::io("cannot copy the index", error))?;
        } else {
            scratch.read_tree(self, None)?;
        }
        scratch.write_tree(self)
    }

    /// A private index that holds what a commit of these changes would.
    fn index_with(
        &self,
        status: &TreeStatus,
        changed: &Changed<'_>,
    ) -> Result<PrivateIndex, GitError> {
        self.with_changes(PrivateIndex::new(self)?, status, changed)
    }

    fn with_changes(
        &self,
        scratch: PrivateIndex,
        status: &TreeStatus,
        changed: &Changed<'_>,
    ) -> Result<PrivateIndex, GitError> {
        if status.is_staged || !scratch.copy_index(self) {
            scratch.read_tree(self, status.head.as_ref())?;
        }
        // First what is gone: a file may have become a folder, or a folder a link.
        for (paths, options) in [
            (&changed.gone, &["--force-remove"][..]),
            (&changed.present, &["--add", "--remove", "--replace"]),
        ] {
            if !paths.is_empty() {
                scratch
                    .git(self)
                    .arg("update-index")
                    .args(options)
                    .args(["-z", "--stdin"])
                    .stdin(nul_terminated(paths.iter().map(|path| path.as_bytes())))
                    .run()?;
            }
        }
        Ok(scratch)
    }

    /// The tree of a commit with the excluded files (or folders) as `base` has them. For a commit of ours, with its
    /// parent as the base and what the fingerprint excluded, it equals the fingerprint if the commit holds what was
    /// tested.
    pub fn tree_of_commit_without(
        &self,
        oid: &Oid,
        base: &Oid,
        exclude: &[RepoPath],
    ) -> Result<Fingerprint, GitError> {
        let mut removals = Vec::new();
        let mut additions = Vec::new();
        for (path, change) in self.raw_changes(base, oid)? {
            if !exclude.iter().any(|excluded| path.is_under(excluded)) {
                continue;
            }
            // The id beside a mode of nothing is not looked at.
            removals.push([format!("0 {oid}\t").as_bytes(), path.as_bytes()].concat());
            if let Some(TreeEntry { mode, oid }) = change.before {
                additions.push([format!("{mode:o} {oid}\t").as_bytes(), path.as_bytes()].concat());
            }
        }
        if removals.is_empty() {
            return Ok(Fingerprint {
                tree: self.tree_of(oid)?,
            });
        }
        let scratch = PrivateIndex::new(self)?;
        scratch.read_tree(self, Some(oid))?;
        let lines = nul_terminated(removals.into_iter().chain(additions));
        scratch
            .git(self)
            .args(["update-index", "-z", "--index-info"])
            .stdin(lines)
            .run()?;
        Ok(Fingerprint {
            tree: scratch.write_tree(self)?,
        })
    }

    fn tree_of(&self, commit: &Oid) -> Result<Oid, GitError> {
        self.resolve_tree(commit.as_str())?.ok_or_else(|| {
            GitError::unexpected("git rev-parse", format!("there is no commit {commit}"))
        })
    }
}

/// The files that a commit would change.
#[derive(Default)]
struct Changed<'a> {
    gone: Vec<&'a RepoPath>,
    present: Vec<&'a RepoPath>,
}

impl<'a> Changed<'a> {
    fn of(status: &'a TreeStatus, request: &FingerprintRequest<'_>) -> Self {
        let mut changed = Self::default();
        for change in &status.changes {
            if change.nested {
                continue;
            }
            for path in change.paths().filter(|path| request.takes_in(path)) {
                if *path != change.path || change.deleted {
                    changed.gone.push(path);
                } else {
                    changed.present.push(path);
                }
            }
        }
        changed
    }

    fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.present.is_empty()
    }
}

impl Repository {
    /// What differs in the working tree from the last commit, new files included: which files and how much, and the difference
    /// itself. The repository's own index stays as it is.
    pub fn uncommitted(&self) -> Result<Vec<u8>, GitError> {
        let private = PrivateIndex::new(self)?;
        if !private.copy_index(self) {
            private.read_tree(self, self.resolve("HEAD")?.as_ref())?;
        }
        let git = || private.git(self);
        git().args(["add", "--intent-to-add", "--all"]).run()?;
        git()
            .args(["diff", "--no-ext-diff", "--no-textconv", "--no-color"])
            .args(["--patch", "--stat", "HEAD", "--"])
            .run()
    }
}

/// A private index, and a private place for new objects unless these are to last.
pub(super) struct PrivateIndex {
    folder: Scratch,
    /// Where else there are objects; none where new ones are the repository's own.
    alternates: Option<OsString>,
}

impl PrivateIndex {
    fn new(repository: &Repository) -> Result<Self, GitError> {
        let private = Self::lasting(repository)?;
        fs::create_dir(private.folder.path().join("objects")).map_err(cannot_make_folder)?;
        let alternates = quoted_alternate(&repository.common_dir().join("objects"));
        Ok(Self {
            alternates: Some(alternates),
            ..private
        })
    }

    /// One whose new objects are the repository's own.
    pub(super) fn lasting(repository: &Repository) -> Result<Self, GitError> {
        let folder = Scratch::new(repository.git_dir()).map_err(cannot_make_folder)?;
        Ok(Self {
            folder,
            alternates: None,
        })
    }

    /// A git that sees the repository, but whose index and new objects are here.
    pub(super) fn git(&self, repository: &Repository) -> Git {
        self.seen_by(match self.alternates {
            Some(_) => repository.git(),
            // It would start a program that the repository names.
            None => repository.git_write().config("core.fsmonitor=false"),
        })
    }

    /// The same of another git, which has to know the repository already.
    fn seen_by(&self, git: Git) -> Git {
        let git = match &self.alternates {
            Some(alternates) => git
                .env("GIT_OBJECT_DIRECTORY", self.folder.path().join("objects"))
                .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", alternates)
                .config("core.fsync=none"),
            None => git,
        };
        git.env("GIT_INDEX_FILE", self.folder.path().join("index"))
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            // Line endings that would not survive are the commit's business, not ours.
            .config("core.safecrlf=false")
            // A split index has a part that lies beside the real one.
            .config("core.splitIndex=false")
            .config("core.untrackedCache=false")
            .config("index.sparse=false")
            // Hooks that run after a change of the index are not meant for this one.
            .config("core.hooksPath=/dev/null")
    }

    /// Begins with the repository's own index, which knows by the times of files what is unchanged; whether that went well.
    /// It is for one that holds what the last commit does.
    fn copy_index(&self, repository: &Repository) -> bool {
        self.try_to_copy_index(repository).is_ok()
    }

    fn try_to_copy_index(&self, repository: &Repository) -> io::Result<()> {
        let (from, to) = (
            repository.git_dir().join("index"),
            self.folder.path().join("index"),
        );
        // By the time of the index git knows which files may have been changed in the very moment it was written.
        let copied = fs::metadata(&from).and_then(|about| {
            fs::copy(&from, &to)?;
            let times = fs::FileTimes::new().set_modified(about.modified()?);
            fs::File::options().write(true).open(&to)?.set_times(times)
        });
        if copied.is_err() {
            // What came of it must not be taken for an index.
            let _ = fs::remove_file(&to);
        }
        copied
    }

    pub(super) fn read_tree(
        &self,
        repository: &Repository,
        commit: Option<&Oid>,
    ) -> Result<(), GitError> {
        self.git(repository)
            .args(["read-tree", commit.map_or("--empty", Oid::as_str)])
            .run()?;
        Ok(())
    }

    pub(super) fn write_tree(&self, repository: &Repository) -> Result<Oid, GitError> {
        if self.alternates.is_some()
            && let Some(entries) = read_index(&self.folder.path().join("index"))
            && let Some(tree) = tree_of(&entries)
        {
            return Ok(tree);
        }
        // What a partial clone does not have need not be fetched for this.
        let output = self
            .git(repository)
            .args(["write-tree", "--missing-ok"])
            .run()?;
        parse_oid("git write-tree", &one_line(output))
    }
}

fn cannot_make_folder(error: io::Error) -> GitError {
    GitError::io("cannot make a temporary folder for an index", error)
}

/// A folder in git's list of alternates: quoted, since a colon would end it.
pub(super) fn quoted_alternate(folder: &Path) -> OsString {
    let mut quoted = vec![b'"'];
    for &byte in folder.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', byte]),
            b'\n' => quoted.extend(*b"\\n"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'"');
    OsString::from_vec(quoted)
}
