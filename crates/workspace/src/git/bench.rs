//! The bench: a checkout of our own in which suites are run, so that a result belongs to a tree and not to whatever lies in the
//! working tree.
//!
//! It lies outside of the project, and is a repository of its own that borrows the objects of the user's: nothing is written down there,
//! as `git worktree add` would. It stays from one suite to the next. Bringing a tree in writes the files that differ and removes whatever
//! a suite left, but for the folders that builds go to: what was built stays built.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use journal::sha256_hex;

use super::benches::remove_unused_benches;
use super::error::{GitError, GitErrorKind};
use super::files::lstat;
use super::fingerprint::quoted_alternate;
use super::index_file::{IndexEntry, read_index};
use super::oid::Oid;
use super::path::RepoPath;
use super::repository::Repository;
use super::scratch::{is_file_at, remove_whole};

/// So many suites of one working tree are run at once, each on a bench of its own.
const MOST: u32 = 16;
/// In a bench's folder: the index, out of the way of the suites.
const INDEX: &str = "index";
/// In a bench's folder: the working tree that it is of.
pub(super) const OF: &str = "of";
/// In a bench's folder: what the checkout lies in.
const TREE: &str = "tree";
/// In a bench's folder: what a setup went by, and in the lines behind that what it made.
const MADE: &str = "made";
/// In a bench's folder, with a number: what cannot be removed.
const STUCK: &str = "stuck-";
/// In a bench's folder: the home folder of the suites.
const HOME: &str = "home";

/// Manifests, or endings of their names, each with the folders beside it that its tool builds into.
const BUILD_FOLDERS: &str = include_str!("build_folders.txt");

/// A checkout that suites are run in, taken by one process at a time.
pub struct Bench {
    folder: PathBuf,
    top_level: PathBuf,
    project_root: PathBuf,
    /// Held as long as the bench is taken; none where the file system has no locks.
    _lock: Option<File>,
}

impl Bench {
    /// Its top level; a real path.
    pub fn path(&self) -> &Path {
        &self.top_level
    }

    /// Where the project lies in it, if that is a folder of the repository; else the top level.
    pub fn project_root(&self) -> &Path {
        &self.project_root
    }

    /// Where the home folder of its suites is to be: nothing is there when a tree was brought in.
    pub fn home(&self) -> PathBuf {
        self.folder.join(HOME)
    }

    /// What a setup has made here that went by what `key` stands for; nothing where another was the last one.
    fn made(&self, key: &str) -> Vec<String> {
        let told = fs::read_to_string(self.folder.join(MADE)).unwrap_or_default();
        let mut lines = told.split('\0');
        match lines.next() {
            Some(last) if last == key => lines.map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }

    /// Removes everything in it, what was built too.
    ///
    /// # Errors
    /// Where something in it cannot be removed.
    pub fn clear(&self) -> Result<(), GitError> {
        self.remove_but(&[OF])
            .map_err(|error| self.cannot_clear(error))
    }

    /// Removes whatever a suite put beside the checkout, and the checkout itself where something else is in its place: nothing is
    /// written behind a link, wherever it leads.
    ///
    /// # Errors
    /// Where something of it cannot be removed.
    pub fn settle(&self) -> Result<(), GitError> {
        self.settled().map_err(|error| self.cannot_clear(error))
    }

    fn settled(&self) -> io::Result<()> {
        let above = self.above();
        let is_own = |folder: &Path| lstat(folder).map(|at| at.is_some_and(|at| at.is_dir()));
        if is_own(&above)? && is_own(&self.top_level)? {
            for entry in above.read_dir()? {
                let path = entry?.path();
                if path != self.top_level {
                    remove_entry(&path)?;
                }
            }
            return self.remove_but(&[OF, INDEX, TREE, MADE]);
        }
        self.remove_but(&[OF])
    }

    /// Removes all in its folder but these, and sees to it that there is a place for the checkout.
    fn remove_but(&self, kept: &[&str]) -> io::Result<()> {
        for entry in self.folder.read_dir()? {
            let entry = entry?;
            let name = entry.file_name();
            if !kept.iter().any(|kept| name == *kept) && remove_entry(&entry.path()).is_err() {
                self.set_aside(&entry.path())?;
            }
        }
        fs::create_dir_all(&self.top_level)
    }

    /// Moves out of the way what cannot be removed, such as files that a container wrote as another user.
    fn set_aside(&self, path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default();
        if name.as_bytes().starts_with(STUCK.as_bytes()) {
            return Ok(());
        }
        let free = |number: &u32| !self.folder.join(format!("{STUCK}{number}")).exists();
        let number = (0..u32::MAX).find(free).unwrap_or_default();
        fs::rename(path, self.folder.join(format!("{STUCK}{number}")))
    }

    fn above(&self) -> PathBuf {
        self.folder.join(TREE)
    }

    fn cannot_clear(&self, error: io::Error) -> GitError {
        let folder = self.folder.display();
        GitError::io(format!("cannot clear {folder}: remove it by hand"), error)
    }
}

impl Repository {
    /// Takes a bench of this working tree that nobody else has, in the folder `benches`; makes one where there is none.
    ///
    /// # Errors
    /// Where all are taken, or the folder cannot be written to.
    pub fn take_bench(&self, benches: &Path) -> Result<Bench, GitError> {
        let cannot = |error| GitError::io("cannot make a bench", error);
        fs::create_dir_all(benches).map_err(cannot)?;
        let benches = fs::canonicalize(benches).map_err(cannot)?;
        remove_unused_benches(&benches);
        let mut name = sha256_hex(self.top_level().as_os_str().as_bytes());
        name.truncate(12);
        let name_of_tree = self.top_level().file_name().unwrap_or_default();
        for number in 0..MOST {
            let folder = benches.join(format!("{name}-{number}"));
            fs::create_dir_all(&folder).map_err(cannot)?;
            let lock = File::open(&folder).map_err(cannot)?;
            let lock = match lock.try_lock() {
                // Whoever cleans up may have removed it before it was locked.
                Ok(()) if is_file_at(&lock, &folder) => Some(lock),
                Ok(()) | Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(_)) => None,
            };
            // Tools take names from the folder of a project: it is called as the user's.
            let top_level = folder.join(TREE).join(name_of_tree);
            let of = self.top_level().as_os_str().as_bytes();
            fs::write(folder.join(OF), of).map_err(cannot)?;
            let project_root = match self.scope_bytes().strip_suffix(b"/") {
                Some(scope) => top_level.join(std::ffi::OsStr::from_bytes(scope)),
                None => top_level.clone(),
            };
            return Ok(Bench {
                folder,
                top_level,
                project_root,
                _lock: lock,
            });
        }
        Err(GitError::new(
            GitErrorKind::Refused,
            format!("{MOST} suites of this working tree are being run"),
        ))
    }

    /// Has a bench hold a tree, with the commit `head` as its detached HEAD and the repository's tags. The user's repository is only
    /// read, and no hook runs. Says whether what a setup made is still there that went by what `made_by` stands for.
    ///
    /// # Errors
    /// Where git fails also on an empty bench, or a commit of a submodule is not there.
    pub fn bring_tree(
        &self,
        bench: &Bench,
        tree: &Oid,
        head: &Oid,
        made_by: Option<&str>,
    ) -> Result<bool, GitError> {
        bench.settle()?;
        let mut made = made_by.map_or_else(Vec::new, |key| bench.made(key));
        if made.is_empty() {
            // What is made next may be left half made.
            remove_entry(&bench.folder.join(MADE)).map_err(|error| bench.cannot_clear(error))?;
        }
        if self.write_files_to(bench, tree, &made).is_err() {
            // What a suite did to the bench may stand in the way, such as a folder that may not be written to.
            bench.clear()?;
            made.clear();
            self.write_files_to(bench, tree, &made)?;
        }
        remove_entry(&bench.top_level.join(".git")).map_err(|error| bench.cannot_clear(error))?;
        self.give_git_folder(head, &bench.top_level)?;
        // A suite that asks its own git is told what there is.
        fs::copy(bench.folder.join(INDEX), bench.top_level.join(".git/index"))
            .map_err(|error| GitError::io("cannot copy the index of a bench", error))?;
        let submodules = match read_index(&bench.folder.join(INDEX)) {
            Some(entries) => submodules_among(entries),
            None => self.submodules_at(tree)?,
        };
        for (path, commit) in &submodules {
            self.place_submodule(&bench.top_level, path, commit)?;
        }
        // What was made in submodules is gone with them.
        Ok(!made.is_empty() && submodules.is_empty())
    }

    /// Has a bench keep what a setup has made there, but for these places, for trees of which the same key is given.
    ///
    /// # Errors
    /// Where git fails, or the bench cannot be written to.
    pub fn keep_made(&self, bench: &Bench, key: &str, but: &[String]) -> Result<(), GitError> {
        let listed = self
            .as_checkout(&bench.top_level, &bench.folder.join(INDEX))
            .args(["ls-files", "--others", "--directory", "-z"])
            .run()?;
        let mut made = key.to_owned();
        let listed = String::from_utf8_lossy(&listed);
        let is_made = |path: &&str| !but.iter().any(|place| place == path.trim_end_matches('/'));
        for path in listed.split_terminator('\0').filter(is_made) {
            made.extend(["\0/", &escaped(path)]);
        }
        fs::write(bench.folder.join(MADE), made)
            .map_err(|error| GitError::io("cannot write to a bench", error))
    }

    /// Writes the files of a tree that differ, and removes all that is not its own.
    fn write_files_to(&self, bench: &Bench, tree: &Oid, made: &[String]) -> Result<(), GitError> {
        let index = bench.folder.join(INDEX);
        self.as_checkout(&bench.top_level, &index)
            .args(["read-tree", "--reset", "-u", tree.as_str()])
            .run()?;
        let kept = build_folders(&index);
        let kept = kept
            .iter()
            .chain(made)
            .flat_map(|pattern| ["-e", pattern.as_str()]);
        self.as_checkout(&bench.top_level, &index)
            .args(["clean", "-ffdxq"])
            .args(kept)
            .run()?;
        Ok(())
    }

    /// A git in another folder whose settings are the user's: they say how files are written, with which line endings, filters and large
    /// files that lie beside the repository.
    fn as_checkout(&self, top_level: &Path, index: &Path) -> super::command::Git {
        self.git_in(top_level)
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_DIR", self.git_dir())
            .env("GIT_WORK_TREE", top_level)
            .env("GIT_INDEX_FILE", index)
            .config("core.hooksPath=/dev/null")
            .config("core.fsmonitor=false")
            .config("core.splitIndex=false")
            .config("core.untrackedCache=false")
            .config("core.sparseCheckout=false")
            .config("core.trustctime=true")
            .config("core.ignoreStat=false")
            .config("index.sparse=false")
    }

    /// Makes the folder a repository that has the objects of this one, the commit as its HEAD, and the tags.
    pub(super) fn give_git_folder(&self, at: &Oid, top_level: &Path) -> Result<(), GitError> {
        // One that packs the tags before it lists them would change the repository; this one does not.
        let tags = if self.may_have_tags() {
            let list = ["for-each-ref", "--format=%(objectname) %(refname)"];
            self.git().args(list).arg("refs/tags").run()?
        } else {
            Vec::new()
        };
        let git_dir = top_level.join(".git");
        let mut alternate = quoted_alternate(&self.common_dir().join("objects"))
            .as_os_str()
            .as_bytes()
            .to_vec();
        alternate.push(b'\n');
        let write = || -> io::Result<()> {
            for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
                fs::create_dir_all(git_dir.join(folder))?;
            }
            // As `git init` makes it (`gitrepository-layout`), without a process for it.
            let is_sha1 = at.as_str().len() == 40;
            let (version, extensions) = if is_sha1 {
                (0, "")
            } else {
                (1, "[extensions]\n\tobjectFormat = sha256\n")
            };
            let config = format!(
                "[core]\n\trepositoryFormatVersion = {version}\n\tfileMode = true\n\tbare = false\n\tlogAllRefUpdates = true\n{extensions}"
            );
            fs::write(git_dir.join("config"), config)?;
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

    /// Whether there may be a tag, as far as plain files tell.
    fn may_have_tags(&self) -> bool {
        let packed = fs::read(self.common_dir().join("packed-refs")).unwrap_or_default();
        let tags = self.common_dir().join("refs/tags").read_dir();
        let any_loose = tags.is_ok_and(|mut tags| tags.next().is_some());
        any_loose
            || self.common_dir().join("reftable").exists()
            || packed.windows(11).any(|part| part == b" refs/tags/")
    }

    /// Writes the files of a commit into a folder that has a git folder of its own.
    pub(super) fn check_out(&self, at: &Oid, top_level: &Path) -> Result<(), GitError> {
        self.as_checkout(top_level, &top_level.join(".git/index"))
            .args(["read-tree", "--reset", "-u", at.as_str()])
            .run()
            .map(drop)
    }
}

/// The submodules among the entries of an index, each with its commit.
fn submodules_among(entries: Vec<IndexEntry>) -> Vec<(RepoPath, Oid)> {
    const SUBMODULE: u32 = 0o160_000;
    let own = entries.into_iter().filter(|entry| entry.mode == SUBMODULE);
    own.map(|entry| (RepoPath::trusted(&entry.name), entry.oid))
        .collect()
}

/// Removes a file, a link, or a folder with all that is in it, also where something in it may not be written to.
fn remove_entry(path: &Path) -> io::Result<()> {
    match lstat(path)? {
        None => Ok(()),
        Some(found) if found.is_dir() => remove_whole(path),
        Some(_) => fs::remove_file(path),
    }
}

/// The folders that builds go to, by the manifests in an index: patterns as `.gitignore` has them.
fn build_folders(index: &Path) -> Vec<String> {
    let mut patterns = Vec::new();
    for entry in read_index(index).unwrap_or_default() {
        let Ok(path) = String::from_utf8(entry.name) else {
            continue;
        };
        let (folder, name) = path
            .rsplit_once('/')
            .map_or(("", &*path), |(above, name)| (above, name));
        let is_manifest = |of: &str| name == of || of.starts_with('.') && name.ends_with(of);
        let rows = BUILD_FOLDERS.lines().map(|line| line.split(' '));
        for mut folders in rows {
            if !folders.next().is_some_and(is_manifest) {
                continue;
            }
            let slash = if folder.is_empty() { "" } else { "/" };
            let folder = escaped(folder);
            patterns.extend(folders.map(|own| format!("/{folder}{slash}{own}/")));
        }
    }
    patterns.sort();
    patterns.dedup();
    patterns
}

/// A path in which no letter stands for others.
fn escaped(path: &str) -> String {
    let mut escaped = String::new();
    for letter in path.chars() {
        if matches!(letter, '*' | '?' | '[' | '\\' | ' ') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
