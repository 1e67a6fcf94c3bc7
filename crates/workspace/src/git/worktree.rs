//! A checkout of a commit that is thrown away, in which tests can be run as if nothing else had been changed.
//!
//! It is a repository of its own that borrows the objects of the user's: nothing is written down there, as
//! `git worktree add` would, so that nothing is left there either, however this ends.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::error::{GitError, GitErrorKind};
use super::fingerprint::quoted_alternate;
use super::oid::Oid;
use super::path::RepoPath;
use super::repository::Repository;
use super::scratch::Scratch;

/// What the names of these folders begin with.
const PREFIX: &str = "tramline-worktree-";

/// A checkout in a temporary folder, which goes away when this is dropped.
pub struct ThrowAwayWorktree {
    // The folder below it has the name of the user's: tools take names from it.
    _folder: Scratch,
    top_level: PathBuf,
    project_root: PathBuf,
    commit: Oid,
}

impl ThrowAwayWorktree {
    /// Its top level; a real path.
    pub fn path(&self) -> &Path {
        &self.top_level
    }

    /// Where the project lies in it, if that is a folder of the repository; else the top level.
    pub fn project_root(&self) -> &Path {
        &self.project_root
    }

    /// The commit that it is of.
    pub fn commit(&self) -> &Oid {
        &self.commit
    }

    /// Has a file hold these bytes; one that is there stays as executable as it is. Nothing is written through a symbolic link,
    /// wherever it leads: it gives way.
    pub fn write(&self, path: &RepoPath, bytes: &[u8]) -> Result<(), GitError> {
        let relative = path.to_path_buf();
        let target = self.top_level.join(&relative);
        let write = || -> io::Result<()> {
            make_folders(&self.top_level, relative.parent().unwrap_or(Path::new("")))?;
            if !lstat(&target)?.is_some_and(|found| found.is_file()) {
                remove(&target)?;
            }
            fs::write(&target, bytes)
        };
        write().map_err(|error| GitError::io(format!("cannot write {path} into a checkout"), error))
    }

    /// Takes a file away, if it is there. What lies behind a symbolic link is none of the checkout.
    pub fn remove(&self, path: &RepoPath) -> Result<(), GitError> {
        let relative = path.to_path_buf();
        if has_link(&self.top_level, relative.parent().unwrap_or(Path::new(""))) {
            return Ok(());
        }
        remove(&self.top_level.join(relative))
            .map_err(|error| GitError::io(format!("cannot take {path} out of a checkout"), error))
    }
}

impl Repository {
    /// A checkout of the commit `at`, with `files` as they are in the working tree now: what is gone there is gone here;
    /// modes stay, and a symbolic link stays one. A folder is taken with everything in it.
    ///
    /// It has a `.git` of its own, with this commit as a detached HEAD and the tags. The user's repository is only read:
    /// no hook runs, and nothing is left there even if this process is killed. What a killed one left among the temporary
    /// files is cleared away by the next call.
    pub fn throw_away_worktree(
        &self,
        at: &Oid,
        files: &[RepoPath],
    ) -> Result<ThrowAwayWorktree, GitError> {
        for path in files {
            let is_git = |part: &[u8]| part.eq_ignore_ascii_case(b".git");
            if path.as_bytes().split(|byte| *byte == b'/').any(is_git) {
                let message = format!("{path} is git's own and no file of the project");
                return Err(GitError::new(GitErrorKind::Refused, message));
            }
        }
        let cannot = |error| GitError::io("cannot make a temporary folder for a checkout", error);
        let temporary = fs::canonicalize(std::env::temp_dir()).map_err(cannot)?;
        let folder = Scratch::numbered(&temporary, PREFIX).map_err(cannot)?;
        let name = self.top_level().file_name().unwrap_or_default();
        let top_level = folder.path().join("tree").join(name);
        fs::create_dir_all(&top_level).map_err(cannot)?;
        self.give_git_folder(at, &top_level)?;
        self.check_out(at, &top_level)?;
        for path in files {
            copy(self.top_level(), &top_level, path).map_err(|error| {
                GitError::io(format!("cannot copy {path} into a checkout"), error)
            })?;
        }
        let project_root = match self.scope_bytes().strip_suffix(b"/") {
            Some(scope) => top_level.join(std::ffi::OsStr::from_bytes(scope)),
            None => top_level.clone(),
        };
        Ok(ThrowAwayWorktree {
            _folder: folder,
            top_level,
            project_root,
            commit: at.clone(),
        })
    }

    /// Makes the folder a repository that has the objects of this one, the commit as its HEAD, and the tags.
    pub(super) fn give_git_folder(&self, at: &Oid, top_level: &Path) -> Result<(), GitError> {
        let format = if at.as_str().len() == 40 {
            "sha1"
        } else {
            "sha256"
        };
        self.git_in(top_level)
            .env("GIT_DEFAULT_REF_FORMAT", "files")
            .args(["init", "--quiet", "--template=", "--initial-branch=main"])
            .arg(format!("--object-format={format}"))
            .run()?;
        // One that packs the tags before it lists them would change the repository; this one does not.
        let tags = self
            .git()
            .args([
                "for-each-ref",
                "--format=%(objectname) %(refname)",
                "refs/tags",
            ])
            .run()?;
        let git_dir = top_level.join(".git");
        let mut alternate = quoted_alternate(&self.common_dir().join("objects"))
            .as_os_str()
            .as_bytes()
            .to_vec();
        alternate.push(b'\n');
        let write = || -> io::Result<()> {
            fs::create_dir_all(git_dir.join("objects/info"))?;
            fs::write(git_dir.join("objects/info/alternates"), alternate)?;
            fs::write(git_dir.join("HEAD"), format!("{at}\n"))?;
            fs::write(git_dir.join("packed-refs"), tags)?;
            // Where the history was cut off when it was fetched.
            match fs::copy(self.common_dir().join("shallow"), git_dir.join("shallow")) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        };
        write().map_err(|error| {
            GitError::io(format!("cannot write into {}", git_dir.display()), error)
        })
    }

    /// Writes the files of the commit. It is the user's own git folder that says how: line endings, filters, large files
    /// that lie beside it.
    pub(super) fn check_out(&self, at: &Oid, top_level: &Path) -> Result<(), GitError> {
        let git = || {
            self.git_in(top_level)
                .env("GIT_NO_REPLACE_OBJECTS", "1")
                .env("GIT_DIR", self.git_dir())
                .env("GIT_WORK_TREE", top_level)
                .env("GIT_INDEX_FILE", top_level.join(".git/index"))
                .config("core.hooksPath=/dev/null")
                .config("core.fsmonitor=false")
                .config("core.splitIndex=false")
                .config("core.sparseCheckout=false")
                .config("index.sparse=false")
        };
        git().args(["read-tree", at.as_str()]).run()?;
        git()
            .args(["checkout-index", "--all", "--force", "--index", "--quiet"])
            .run()?;
        Ok(())
    }
}

/// Makes `path` below `to` what it is below `from`.
fn copy(from: &Path, to: &Path, path: &RepoPath) -> io::Result<()> {
    let relative = path.to_path_buf();
    let source = from.join(&relative);
    let target = to.join(&relative);
    let above = relative.parent().unwrap_or(Path::new(""));
    // What lies behind a link is no file of the repository, wherever the link leads.
    let found = if has_link(from, above) {
        None
    } else {
        lstat(&source)?
    };
    let Some(found) = found else {
        if !has_link(to, above) {
            remove(&target)?;
            remove_empty(to, above);
        }
        return Ok(());
    };
    make_folders(to, above)?;
    remove(&target)?;
    copy_entry(&source, &target, &found)
}

/// Copies a file, a link, or a folder with what is in it. The target is not there.
fn copy_entry(source: &Path, target: &Path, found: &fs::Metadata) -> io::Result<()> {
    let mut entries = vec![(source.to_owned(), target.to_owned(), found.file_type())];
    while let Some((source, target, kind)) = entries.pop() {
        if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if kind.is_dir() {
            fs::create_dir(&target)?;
            for entry in source.read_dir()? {
                let entry = entry?;
                // A repository within: its files count, and not what git keeps of it.
                if entry.file_name() != ".git" {
                    let below = target.join(entry.file_name());
                    entries.push((entry.path(), below, entry.file_type()?));
                }
            }
        } else if kind.is_file() {
            fs::copy(&source, &target)?;
        }
        // Pipes, sockets and devices are nothing that git would keep.
    }
    Ok(())
}

/// Syncs a file or a folder as far as that can be done. What cannot be synced is as git would leave it.
pub(super) fn sync(path: &Path) {
    // Neither through a link, nor a pipe that waits for somebody.
    if fs::symlink_metadata(path).is_ok_and(|about| about.is_file() || about.is_dir())
        && let Ok(file) = File::open(path)
    {
        drop(file.sync_all());
    }
}

pub(super) fn lstat(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Nothing there, or a file where a folder would have to be.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether a folder on the way is a symbolic link.
pub(super) fn has_link(root: &Path, folders: &Path) -> bool {
    let mut folder = root.to_owned();
    folders.components().any(|part| {
        folder.push(part);
        folder.is_symlink()
    })
}

/// Makes the folders on the way; what is something else there gives way.
fn make_folders(root: &Path, folders: &Path) -> io::Result<()> {
    let mut folder = root.to_owned();
    for part in folders.components() {
        folder.push(part);
        if !lstat(&folder)?.is_some_and(|found| found.is_dir()) {
            remove(&folder)?;
            fs::create_dir(&folder)?;
        }
    }
    Ok(())
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    match lstat(path)? {
        None => Ok(()),
        Some(found) if found.is_dir() => fs::remove_dir_all(path),
        Some(_) => fs::remove_file(path),
    }
}

/// Removes the folders that hold nothing any more, as git has none.
pub(super) fn remove_empty(root: &Path, folders: &Path) {
    for folder in folders
        .ancestors()
        .take_while(|folder| *folder != Path::new(""))
    {
        if fs::remove_dir(root.join(folder)).is_err() {
            return;
        }
    }
}
