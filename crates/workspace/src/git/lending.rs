//! What is installed in the user's working tree, lent to a checkout of ours.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::repository::Repository;
use super::worktree::ThrowAwayWorktree;

/// Folders within those of dependencies in which tools keep what they made up from the project's files.
const CACHES: &[&str] = &[".cache", ".vite", ".vite-temp", ".vitest"];

impl Repository {
    /// Has a checkout find what lies at these places of the working tree, files or folders, by symbolic links.
    ///
    /// Package managers link packages of the project itself into the folders of dependencies. Such a link leads to the checkout's
    /// own package: else tests there would test what is here.
    pub fn lend(&self, checkout: &ThrowAwayWorktree, places: &[String]) -> Result<(), GitError> {
        let lending = Lending {
            from: fs::canonicalize(self.top_level())
                .unwrap_or_else(|_| self.top_level().to_owned()),
            to: checkout.path().to_owned(),
        };
        for place in places {
            let (source, target) = (self.top_level().join(place), checkout.path().join(place));
            lending.lend(&source, &target).map_err(|error| {
                GitError::io(format!("cannot lend {place} to a checkout"), error)
            })?;
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
        // A submodule is an empty folder there.
        match fs::remove_dir(target) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
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

/// Whether a folder of dependencies may hold links to packages of the project.
fn holds_links(folder: &Path) -> bool {
    let is_one = ["node_modules", "bower_components", "vendor"]
        .iter()
        .any(|name| folder.ends_with(name));
    is_one && folder.is_dir() && !folder.is_symlink()
}
