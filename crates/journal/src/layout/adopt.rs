//! Projects that were moved: finding the folders they left behind, and giving their runs back to them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::LayoutError;
use super::project::{self, Home, ProjectDir};
use crate::durable;
use crate::lock::{RunLock, Wait};

/// The folder of a project that is not where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedProject {
    /// The folder under the home folder.
    pub folder: PathBuf,
    /// The path that it belongs to by its own account; `None` when it does not say.
    pub recorded: Option<PathBuf>,
    /// How many runs are in it.
    pub runs: usize,
    /// What is the matter with it.
    pub reason: MovedReason,
}

/// Why a project's folder counts as left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MovedReason {
    /// There is no folder at the recorded path.
    Gone,
    /// The recorded path now leads to another one, through a link.
    LeadsElsewhere,
    /// The folder does not have the name that belongs to the recorded path, as when an adoption was interrupted.
    OtherName,
    /// `project.json` is missing or cannot be read.
    Unreadable,
}

/// What an adoption did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopted {
    /// The folder of the project, as it is now.
    pub project: ProjectDir,
    /// How many runs were in the folder that was adopted.
    pub runs: usize,
    /// Whether they were put beside runs that the project had already.
    pub merged: bool,
}

impl Home {
    /// The folders of projects that are no longer where they were, by name.
    pub fn moved_projects(&self) -> Result<Vec<MovedProject>, LayoutError> {
        let projects = self.projects();
        let failed = || LayoutError::io("list", &projects);
        let entries = match fs::read_dir(&projects) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed()(error)),
        };
        let mut moved = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed())?;
            if entry.file_type().map_err(failed())?.is_dir() {
                moved.extend(examine(entry.path())?);
            }
        }
        moved.sort_by(|a, b| a.folder.cmp(&b.folder));
        Ok(moved)
    }

    /// Makes the folder `folder`, as [`Home::moved_projects`] gives it, that of the project at `real_path`.
    ///
    /// When that project has a folder already, the runs and tags are put into it, and tags that it has
    /// already keep their current run. A folder whose project is still where it was is refused. Takes the locks of both, waiting at most `timeout` for each. An adoption that was interrupted is finished by the next.
    pub fn adopt(
        &self,
        folder: &Path,
        real_path: &Path,
        wait: impl Into<Wait>,
        command: &str,
    ) -> Result<Adopted, LayoutError> {
        let wait = wait.into();
        let recorded = project::recordable(real_path)?;
        let is_project =
            folder.parent() == Some(self.projects().as_path()) && folder.file_name().is_some();
        if !is_project {
            return Err(LayoutError::ProjectPath {
                path: folder.to_owned(),
                flaw: "it is not the folder of a project under the home folder",
            });
        }
        let _turn = RunLock::acquire(folder, wait.clone(), command)?;
        let Some(found) = examine(folder.to_owned())? else {
            return match self.find_project(real_path)? {
                Some(project) if project.path() == folder => Ok(Adopted {
                    runs: entries_of(&project.runs_folder())?.len(),
                    project,
                    merged: false,
                }),
                _ => Err(LayoutError::ProjectPath {
                    path: folder.to_owned(),
                    flaw: "its project is still where it was",
                }),
            };
        };
        let runs = found.runs;
        match self.find_project(real_path)? {
            Some(project) if project.path() == folder => Ok(Adopted {
                project,
                runs,
                merged: false,
            }),
            Some(project) => {
                let _other_turn = project.lock(wait, command)?;
                merge(folder, &project)?;
                Ok(Adopted {
                    project,
                    runs,
                    merged: true,
                })
            }
            None => {
                project::repoint(folder, recorded)?;
                let path = self.rename_to_free(folder, recorded)?;
                Ok(Adopted {
                    project: ProjectDir {
                        path,
                        real_path: real_path.to_owned(),
                    },
                    runs,
                    merged: false,
                })
            }
        }
    }

    /// Gives `folder` the first name that belongs to `recorded` and is free.
    fn rename_to_free(&self, folder: &Path, recorded: &str) -> Result<PathBuf, LayoutError> {
        let projects = self.projects();
        let names = project::folder_names(recorded);
        for name in &names {
            let path = projects.join(name);
            if path == folder {
                return Ok(path);
            }
            // Renaming a folder onto one that has something in it fails; onto an empty one it does what is wanted.
            match fs::rename(folder, &path) {
                Ok(()) => {
                    durable::sync_folder(&projects)
                        .map_err(LayoutError::io("sync the folder", &projects))?;
                    return Ok(path);
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::DirectoryNotEmpty
                            | io::ErrorKind::AlreadyExists
                            | io::ErrorKind::NotADirectory
                    ) => {}
                Err(error) => return Err(LayoutError::io("rename", folder)(error)),
            }
        }
        Err(LayoutError::NoFreeName {
            path: projects.join(&names[0]),
        })
    }
}

fn examine(folder: PathBuf) -> Result<Option<MovedProject>, LayoutError> {
    let recorded = match project::recorded_path(&folder) {
        Ok(recorded) => recorded,
        Err(LayoutError::Unreadable { .. }) => None,
        Err(error) => return Err(error),
    };
    let reason = match &recorded {
        None => Some(MovedReason::Unreadable),
        Some(recorded) => reason_of(&folder, recorded),
    };
    let Some(reason) = reason else {
        return Ok(None);
    };
    let runs = entries_of(&folder.join("runs"))?.len();
    Ok(Some(MovedProject {
        folder,
        recorded: recorded.map(PathBuf::from),
        runs,
        reason,
    }))
}

fn reason_of(folder: &Path, recorded: &str) -> Option<MovedReason> {
    let Ok(real) = fs::canonicalize(recorded) else {
        return Some(MovedReason::Gone);
    };
    if !real.is_dir() {
        return Some(MovedReason::Gone);
    }
    if real != Path::new(recorded) {
        return Some(MovedReason::LeadsElsewhere);
    }
    let name = folder.file_name().and_then(|name| name.to_str());
    let belongs = project::folder_names(recorded)
        .iter()
        .any(|belonging| Some(belonging.as_str()) == name);
    (!belongs).then_some(MovedReason::OtherName)
}

/// Moves runs and tags of `folder` into `project`, and removes what is left.
fn merge(folder: &Path, project: &ProjectDir) -> Result<(), LayoutError> {
    let runs = entries_of(&folder.join("runs"))?;
    if let Some(run) = runs
        .iter()
        .find(|run| project.runs_folder().join(run).exists())
    {
        return Err(LayoutError::RunInBoth {
            run: run.clone(),
            from: folder.to_owned(),
            to: project.path().to_owned(),
        });
    }
    for target in [project.runs_folder(), project.tags_folder()] {
        durable::ensure_folder(&target).map_err(LayoutError::io("make the folder", &target))?;
    }
    for run in &runs {
        let from = folder.join("runs").join(run);
        fs::rename(&from, project.runs_folder().join(run))
            .map_err(LayoutError::io("move", &from))?;
    }
    for tag in entries_of(&folder.join("tags"))? {
        let (from, to) = (
            folder.join("tags").join(&tag),
            project.tags_folder().join(&tag),
        );
        if !to.exists() {
            fs::rename(&from, &to).map_err(LayoutError::io("move", &from))?;
        }
    }
    for target in [project.runs_folder(), project.tags_folder()] {
        durable::sync_folder(&target).map_err(LayoutError::io("sync the folder", &target))?;
    }
    // Whatever else lies among the runs is not ours to delete: then this fails, and all stays.
    let emptied = folder.join("runs");
    match fs::remove_dir(&emptied) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(LayoutError::io("remove", &emptied)(error));
        }
        _ => {}
    }
    fs::remove_dir_all(folder).map_err(LayoutError::io("remove", folder))
}

/// The names of the folders in `folder`; none when it is not there.
fn entries_of(folder: &Path) -> Result<Vec<String>, LayoutError> {
    let failed = || LayoutError::io("list", folder);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed()(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed())?;
        if entry.file_type().map_err(failed())?.is_dir()
            && let Ok(name) = entry.file_name().into_string()
        {
            names.push(name);
        }
    }
    Ok(names)
}
