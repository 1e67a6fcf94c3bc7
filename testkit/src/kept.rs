//! Points of stories, each come to once in a process and put back for each test that goes on from there.
//!
//! A run knows where its project lies, so that what was come to in one folder cannot be copied to another: a test that goes
//! on from a point is given the folder in which it was come to, and no other test has that folder meanwhile.

use std::fs;
use std::io::{self, Write as _};
use std::mem;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use tempfile::TempDir;

use crate::files;
use crate::sandbox::Sandbox;

/// Where a sandbox is.
#[derive(Debug)]
pub(crate) enum Place {
    /// In a folder that is thrown away with it.
    Own(TempDir),
    /// In one that is taken again.
    Kept(Kept),
}

/// A folder in which points were come to; it is given back when the test ends.
#[derive(Debug)]
pub(crate) struct Kept {
    folder: PathBuf,
    /// The points, each with all that was there in a folder of its own.
    points: Vec<String>,
}

/// Folders that no test has.
static FREE: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// Name of the folder with what is kept.
const KEPT: &str = "kept";

impl Place {
    pub(crate) fn folder(&self) -> &Path {
        match self {
            Self::Own(folder) => folder.path(),
            Self::Kept(kept) => &kept.folder,
        }
    }
}

impl Sandbox {
    /// A sandbox at a point of a story, which `come` comes to the first time. The name is to tell it from all other points of
    /// the program.
    pub fn at(point: &str, come: impl FnOnce() -> Self) -> Self {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let found = free.iter().position(|kept| kept.number(point).is_some());
        let taken = found.map(|at| free.swap_remove(at));
        drop(free);
        if let Some(kept) = taken
            // Else a test left something behind that cannot be deleted.
            && kept.put_back(point).is_ok()
        {
            return Self::in_place(Place::Kept(kept));
        }
        let mut sandbox = come();
        sandbox.keep(point);
        sandbox
    }

    fn keep(&mut self, point: &str) {
        if matches!(self.place, Place::Own(_)) {
            let folder = self.folder();
            delete_at_the_end(&folder);
            let points = Vec::new();
            let kept = Place::Kept(Kept { folder, points });
            if let Place::Own(own) = mem::replace(&mut self.place, kept) {
                let _ = own.keep();
            }
        }
        if let Place::Kept(kept) = &mut self.place {
            kept.keep(point);
        }
    }
}

impl Kept {
    fn keep(&mut self, point: &str) {
        let kept = self.at(self.points.len());
        for path in self.entries().filter(|path| path.is_dir()) {
            files::copy(&path, &kept.join(path.file_name().unwrap()));
        }
        self.points.push(point.to_owned());
    }

    fn put_back(&self, point: &str) -> io::Result<()> {
        for path in self.entries() {
            if path.is_dir() {
                fs::remove_dir_all(path)?;
            } else {
                fs::remove_file(path)?;
            }
        }
        let number = self.number(point).unwrap_or_default();
        files::copy(&self.at(number), &self.folder);
        Ok(())
    }

    /// All that is there but what is kept.
    fn entries(&self) -> impl Iterator<Item = PathBuf> {
        let all = files::list(&self.folder).into_iter();
        all.filter(|path| path.file_name().is_some_and(|name| name != KEPT))
    }

    fn number(&self, point: &str) -> Option<usize> {
        self.points.iter().position(|kept| kept == point)
    }

    /// The folder of a point.
    fn at(&self, number: usize) -> PathBuf {
        self.folder.join(KEPT).join(number.to_string())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let kept = Self {
            folder: mem::take(&mut self.folder),
            points: mem::take(&mut self.points),
        };
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(kept);
    }
}

/// Has a folder deleted when this process ends, however it does: a shell reads the paths, and its input ends then.
fn delete_at_the_end(folder: &Path) {
    static PATHS: LazyLock<Mutex<ChildStdin>> = LazyLock::new(|| {
        let script =
            r#"set --; while IFS= read -r path; do set -- "$@" "$path"; done; rm -rf "$@""#;
        let shell = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Who stops the tests by a key does not stop this.
            .process_group(0)
            .spawn();
        Mutex::new(shell.unwrap().stdin.unwrap())
    });
    let mut paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(paths, "{}", folder.display()).unwrap();
}
