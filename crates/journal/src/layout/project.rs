//! The home folder and the folder of each project in it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::LayoutError;
use crate::digest::sha256_hex;
use crate::durable;
use crate::lock::{RunLock, Wait};

/// The longest name of a project's folder, in bytes, before a suffix that tells it from another's.
const MAX_FOLDER_BYTES: usize = 150;

/// Hex digits of a path's hash in the suffixes that are tried, one after the other.
pub(super) const SUFFIX_DIGITS: [usize; 3] = [8, 16, 64];

const PROJECT_FILE: &str = "project.json";

/// The folder under which everything of Tramline lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    base: PathBuf,
}

/// The folder of one project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectDir {
    pub(super) path: PathBuf,
    pub(super) real_path: PathBuf,
}

/// What `project.json` holds.
#[derive(Serialize, Deserialize)]
struct ProjectFile {
    path: String,
}

impl Home {
    /// The home folder `base`. It need not be there yet.
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into() }
    }

    /// The home folder.
    pub fn path(&self) -> &Path {
        &self.base
    }

    /// The folder that the projects' folders lie in.
    pub fn projects(&self) -> PathBuf {
        self.base.join("projects")
    }

    /// The folder of the project at `real_path`, made and synced when it is not there.
    ///
    /// `real_path` is absolute and has no link in it, as [`std::fs::canonicalize`] gives it.
    pub fn project(&self, real_path: &Path) -> Result<ProjectDir, LayoutError> {
        let recorded = recordable(real_path)?;
        let projects = self.projects();
        let candidates = folder_names(recorded);
        for name in &candidates {
            let path = projects.join(name);
            durable::ensure_folder(&path).map_err(LayoutError::io("make the folder", &path))?;
            if claim(&path, recorded)? {
                let dir = ProjectDir {
                    path,
                    real_path: real_path.to_owned(),
                };
                for folder in [dir.runs_folder(), dir.tags_folder()] {
                    durable::ensure_folder(&folder)
                        .map_err(LayoutError::io("make the folder", &folder))?;
                }
                return Ok(dir);
            }
        }
        Err(LayoutError::NoFreeName {
            path: projects.join(&candidates[0]),
        })
    }

    /// The folder of the project at `real_path`, if there is one. Makes nothing.
    pub fn find_project(&self, real_path: &Path) -> Result<Option<ProjectDir>, LayoutError> {
        let recorded = recordable(real_path)?;
        for name in folder_names(recorded) {
            let path = self.projects().join(name);
            if recorded_path(&path)?.as_deref() == Some(recorded) {
                return Ok(Some(ProjectDir {
                    path,
                    real_path: real_path.to_owned(),
                }));
            }
        }
        Ok(None)
    }
}

impl ProjectDir {
    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the project itself lies.
    pub fn real_path(&self) -> &Path {
        &self.real_path
    }

    /// The folder that the runs lie in.
    pub fn runs_folder(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// The folder that the tags lie in.
    pub fn tags_folder(&self) -> PathBuf {
        self.path.join("tags")
    }

    /// Takes the lock of the project, as the start and the end of a run do. Waits as `wait` says.
    pub fn lock(&self, wait: impl Into<Wait>, command: &str) -> Result<RunLock, LayoutError> {
        Ok(RunLock::acquire(&self.path, wait, command)?)
    }
}

/// `path` as `project.json` can hold it.
pub(super) fn recordable(path: &Path) -> Result<&str, LayoutError> {
    let refuse = |flaw| LayoutError::ProjectPath {
        path: path.to_owned(),
        flaw,
    };
    if !path.is_absolute() {
        return Err(refuse("it is not absolute"));
    }
    if path
        .components()
        .any(|component| component == Component::ParentDir)
    {
        return Err(refuse("it has `..` in it"));
    }
    path.to_str().ok_or_else(|| refuse("it is not UTF-8"))
}

/// The names that the folder of the project at `path` may have, in the order in which they are tried.
pub(super) fn folder_names(path: &str) -> Vec<String> {
    let dashed: String = path
        .chars()
        .map(|character| match character {
            '/' => '-',
            control if control.is_control() => '-',
            other => other,
        })
        .collect();
    let whole = dashed.strip_prefix('-').unwrap_or(&dashed);
    let mut end = whole.len().min(MAX_FOLDER_BYTES);
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    // Only the root of the file system leaves nothing.
    let base = if end == 0 { "root" } else { &whole[..end] };
    let hash = sha256_hex(path.as_bytes());
    let mut names = vec![base.to_owned()];
    names.extend(
        SUFFIX_DIGITS
            .iter()
            .map(|&digits| format!("{base}-{}", &hash[..digits])),
    );
    names
}

/// The path that the folder `folder` belongs to, by its own file or, where that is gone, by its runs; `None` when neither
/// says.
pub(super) fn recorded_path(folder: &Path) -> Result<Option<String>, LayoutError> {
    let path = folder.join(PROJECT_FILE);
    let Some(bytes) = durable::read_if_there(&path).map_err(LayoutError::io("read", &path))? else {
        return Ok(path_of_runs(folder));
    };
    match serde_json::from_slice::<ProjectFile>(&bytes) {
        Ok(file) => Ok(Some(file.path)),
        Err(error) => Err(LayoutError::Unreadable {
            path,
            flaw: error.to_string(),
        }),
    }
}

/// The project that any run in the folder `folder` says it is of.
fn path_of_runs(folder: &Path) -> Option<String> {
    let runs = fs::read_dir(folder.join("runs")).ok()?;
    runs.flatten().find_map(|run| {
        let manifest = durable::read_if_there(&run.path().join("manifest.json")).ok()??;
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
        manifest.get("projectRoot")?.as_str().map(str::to_owned)
    })
}

/// Writes into the folder `folder` that it belongs to `recorded`, unless it belongs to another:
/// then `false`.
fn claim(folder: &Path, recorded: &str) -> Result<bool, LayoutError> {
    let path = folder.join(PROJECT_FILE);
    if let Some(found) = recorded_path(folder)?
        && (found != recorded || path.exists())
    {
        return Ok(found == recorded);
    }
    if durable::create_durably(&path, &project_file(recorded))
        .map_err(LayoutError::io("write", &path))?
    {
        return Ok(true);
    }
    // Another process was quicker, perhaps for another project.
    Ok(recorded_path(folder)?.as_deref() == Some(recorded))
}

/// Writes into the folder `folder` that it belongs to `recorded` from now on.
pub(super) fn repoint(folder: &Path, recorded: &str) -> Result<(), LayoutError> {
    let path = folder.join(PROJECT_FILE);
    durable::replace_durably(&path, &project_file(recorded))
        .map_err(LayoutError::io("write", &path))
}

fn project_file(recorded: &str) -> Vec<u8> {
    let json = serde_json::json!({ "path": recorded });
    format!("{json:#}\n").into_bytes()
}
