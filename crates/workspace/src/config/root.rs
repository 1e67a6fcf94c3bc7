//! Where a project begins.

use std::fs;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use crate::git::is_linked;

/// Manifests that make a folder the plugin of a client, and what stands in them: other programs have a `plugin.json`, too.
const PLUGIN_MANIFESTS: [(&str, &str); 4] = [
    ("plugin.json", "\"mcpServers\""),
    (".claude-plugin/plugin.json", ""),
    (".codex-plugin/plugin.json", ""),
    ("gemini-extension.json", ""),
];

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
/// folder itself. What lies around a linked worktree is another checkout, and not searched.
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
    let outermost = start.ancestors().position(is_linked);
    let searched = outermost.map_or(usize::MAX, |at| at + 1);
    let mut folders = start.ancestors().take(searched);
    if let Some(folder) = folders.find(|folder| is_project(folder)) {
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

/// The first of these folders that lies in a project. Server and hook ask it for the project that their client means.
pub fn first_in_project<'f>(
    folders: impl IntoIterator<Item = &'f PathBuf>,
    environment: &Environment,
) -> Option<&'f Path> {
    folders
        .into_iter()
        .find(|folder| find_root(folder, environment).found_by != RootMarker::Nothing)
        .map(PathBuf::as_path)
}

/// The folders in which a client's project may be: those that it names, or else the `own` folder of the process that it
/// started. Some clients start it in the folder of the plugin that brings it, which tells nothing of the project.
pub fn session_folders(mut named: Vec<PathBuf>, own: &Path) -> Vec<PathBuf> {
    if named.is_empty() && !is_plugin(own) {
        named.push(own.to_owned());
    }
    named
}

/// Sorts the roots of a workspace: those that were prepared for runs come first.
pub fn prepared_first(roots: &mut [PathBuf]) {
    roots.sort_by_key(|root| !root.join(".taskmaster").is_dir());
}

/// Whether a folder is a plugin that brings a server, and was not prepared for runs.
fn is_plugin(folder: &Path) -> bool {
    !folder.join(".taskmaster").is_dir()
        && PLUGIN_MANIFESTS.iter().any(|(manifest, says)| {
            fs::read_to_string(folder.join(manifest)).is_ok_and(|text| text.contains(says))
        })
}
