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

/// A project in a folder of its own, and a second folder for temporary files.
struct Project {
    root: TempDir,
}

impl Project {
    fn new() -> Self {
        Self {
            root: TempDir::new().unwrap(),
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
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn tasks(&self) -> String {
        self.read(".taskmaster/tasks/tasks.json")
    }

    fn source(&self) -> workspace::tasks::TaskFile {
        workspace::tasks::TaskFile::in_project(self.root.path(), "master").unwrap()
    }
}
