//! Where a project begins.

use std::fs;
use std::path::{Path, PathBuf};

use super::environment::Environment;

/// The root folder of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRoot {
    /// The folder; its real path where it exists.
    pub path: PathBuf,
    /// What showed that it is the root.
    pub found_by: RootMarker,
}

/// What shows that a folder is the root of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootMarker {
    /// It has a folder `.taskmaster`.
    Taskmaster,
    /// It is the top level of a git working tree.
    Git,
    /// Nothing: it is where the search began.
    Nothing,
}

/// The project that a folder belongs to: the nearest folder upward that has `.taskmaster`, else git's top level, else the
/// folder itself.
///
/// The folder in which runs are kept is called `.taskmaster` too, and lies in the user's home. It makes the home no
/// project.
pub fn find_root(start: &Path, environment: &Environment) -> ProjectRoot {
    let start = fs::canonicalize(start).unwrap_or_else(|_| start.to_owned());
    let home_store = environment.home().map(|home| home.join(".taskmaster"));
    let stores = [environment.store(), home_store];
    // Most folders have no marker, and then nobody needs to know where the stores really are.
    let is_store = |marker: &Path| {
        fs::canonicalize(marker).is_ok_and(|real| {
            let mut stores = stores.iter().flatten();
            stores.any(|store| fs::canonicalize(store).unwrap_or_else(|_| store.clone()) == real)
        })
    };
    let is_project = |folder: &Path| {
        let marker = folder.join(".taskmaster");
        marker.is_dir() && !is_store(&marker)
    };
    let with = |path: &Path, found_by| ProjectRoot {
        path: path.to_owned(),
        found_by,
    };
    if let Some(folder) = start.ancestors().find(|folder| is_project(folder)) {
        return with(folder, RootMarker::Taskmaster);
    }
    // A file in linked worktrees and submodules, a folder elsewhere.
    if let Some(folder) = start
        .ancestors()
        .find(|folder| folder.join(".git").exists())
    {
        return with(folder, RootMarker::Git);
    }
    with(&start, RootMarker::Nothing)
}
