//! Tasks from files and from the command line, as a caller sees them.

mod file;
mod import;
mod order;
mod plan;
mod rewrite;
mod tag;

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use workspace::tasks::{Task, TaskError, TaskFile, TaskSource as _};

/// A project in a folder of its own, and a second folder for temporary files.
struct Project {
    root: TempDir,
}

impl Project {
    fn new() -> Self {
        Self {
            root: testkit::folder(),
        }
    }

    fn with_tasks(text: impl AsRef<[u8]>) -> Self {
        let project = Self::new();
        project.write(".taskmaster/tasks/tasks.json", text);
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        testkit::files::write(&path, text);
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn tasks(&self) -> String {
        self.read(".taskmaster/tasks/tasks.json")
    }

    fn source(&self) -> TaskFile {
        self.tag("master")
    }

    fn tag(&self, tag: &str) -> TaskFile {
        TaskFile::in_project(self.root.path(), tag).unwrap()
    }

    /// A task of the tag `master`.
    fn task(&self, id: &str) -> Task {
        self.source().load_task(id).unwrap()
    }

    fn error(&self, id: &str) -> TaskError {
        self.source().load_task(id).unwrap_err()
    }
}
