//! What is installed in the user's working tree, lent to a bench.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::bench::Bench;
use super::error::{GitError, GitErrorKind};
use super::files::remove;
use super::oid::Oid;
use super::path::RepoPath;
use super::repository::Repository;

/// Folders within those of dependencies in which tools keep what they made up from the project's files.
const CACHES: &[&str] = &[".cache", ".vite", ".vite-temp", ".vitest"];

impl Repository {
    /// Has a checkout find what lies at these places of the working tree, files or folders, by symbolic links.
    ///
    /// Package managers link packages of the project itself into the folders of dependencies. Such a link leads to the checkout's
    /// own package: else tests there would test what is here.
    pub fn lend(&self, bench: &Bench, places: &[String]) -> Result<(), GitError> {
        let lending = Lending {
            from: fs::canonicalize(self.top_level())
                .unwrap_or_else(|_| self.top_level().to_owned()),
            to: bench.path().to_owned(),
        };
        for place in places {
            let (source, target) = (self.top_level().join(place), bench.path().join(place));
            lending
                .lend(&source, &target)
                .map_err(|error| GitError::io(format!("cannot lend {place} to a bench"), error))?;
        }
        Ok(())
    }
}

impl Repository {
    /// Copies what lies at a place of the working tree to a bench.
    ///
    /// # Errors
    /// Where nothing is there, or it cannot be copied.
    pub fn copy_to_bench(&self, bench: &Bench, place: &str) -> Result<(), GitError> {
        let copied = copy(&self.top_level().join(place), &bench.path().join(place));
        let what = format!("cannot copy {place} to a bench");
        copied.map_err(|error| GitError::io(what, error))
    }

    /// Has a checkout hold a submodule at this commit, if it is checked out here. What git ignores in it does not come along.
    pub(super) fn place_submodule(
        &self,
        top_level: &Path,
        path: &RepoPath,
        commit: &Oid,
    ) -> Result<(), GitError> {
        let target = top_level.join(path.to_path_buf());
        let made = remove(&target).and_then(|()| fs::create_dir_all(&target));
        let what = format!("cannot put the submodule {path} into a checkout");
        made.map_err(|error| GitError::io(what, error))?;
        if self.submodule_head(path)?.is_none() {
            return Ok(());
        }
        let inner = self.repository_at(path)?;
        if inner.resolve(commit.as_str())?.is_none() {
            let message = format!(
                "the submodule {path} does not have the commit {} here: `git submodule update` fetches it",
                commit.short()
            );
            return Err(GitError::new(GitErrorKind::Refused, message));
        }
        inner.give_git_folder(commit, &target)?;
        inner.check_out(commit, &target)?;
        for (path, commit) in inner.submodules_at(commit)? {
            inner.place_submodule(&target, &path, &commit)?;
        }
        Ok(())
    }
}

/// From which working tree to which.
struct Lending {
    from: PathBuf,
    to: PathBuf,
}

impl Lending {
    fn lend(&self, source: &Path, target: &Path) -> io::Result<()> {
        if let Some(above) = target.parent() {
            fs::create_dir_all(above)?;
        }
        if holds_links(source) {
            let is_vendored = source.ends_with("vendor");
            return self.lend_entries(source, target, is_vendored);
        }
        symlink(source, target)
    }

    /// Makes a folder, with a link to each entry of another one. Its folders are gone through, too, where that is asked for,
    /// and always those that only hold names of packages and programs.
    fn lend_entries(&self, source: &Path, target: &Path, deep: bool) -> io::Result<()> {
        fs::create_dir(target)?;
        for entry in source.read_dir()? {
            let entry = entry?;
            let name = entry.file_name();
            let kind = entry.file_type()?;
            let (path, target) = (entry.path(), target.join(&name));
            let name = name.to_string_lossy();
            if CACHES.contains(&&*name) {
                continue;
            }
            if kind.is_dir() && (deep || name.starts_with('@') || name == ".bin") {
                self.lend_entries(&path, &target, false)?;
            } else if kind.is_symlink()
                && let Some(own) = self.own_package(&path)
            {
                symlink(self.to.join(own), &target)?;
            } else {
                symlink(&path, &target)?;
            }
        }
        Ok(())
    }

    /// The place in the working tree that a link leads to, if that is the project's own.
    fn own_package(&self, link: &Path) -> Option<PathBuf> {
        let real = fs::canonicalize(link).ok()?;
        let own = real.strip_prefix(&self.from).ok()?;
        let is_foreign = own.components().any(|part| {
            let part = part.as_os_str();
            part == "node_modules" || part == "vendor" || part == "bower_components"
        });
        (!is_foreign).then(|| own.to_owned())
    }
}

/// Copies a file, a link or a folder with all that is in it; no pipe, and nothing else that waits for somebody.
fn copy(source: &Path, target: &Path) -> io::Result<()> {
    if let Some(above) = target.parent() {
        fs::create_dir_all(above)?;
    }
    let kind = fs::symlink_metadata(source)?.file_type();
    if kind.is_symlink() {
        return symlink(fs::read_link(source)?, target);
    }
    if kind.is_file() {
        return fs::copy(source, target).map(drop);
    }
    if !kind.is_dir() {
        return Ok(());
    }
    fs::create_dir(target)?;
    for entry in source.read_dir()? {
        let entry = entry?;
        copy(&entry.path(), &target.join(entry.file_name()))?;
    }
    Ok(())
}

/// Whether a folder of dependencies may hold links to packages of the project.
fn holds_links(folder: &Path) -> bool {
    let is_one = ["node_modules", "bower_components", "vendor"]
        .iter()
        .any(|name| folder.ends_with(name));
    is_one && folder.is_dir() && !folder.is_symlink()
}
