//! The folder of a run, its id, and finding it again.

use std::cmp::Reverse;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::LayoutError;
use super::name::{MAX_NAME_BYTES, Name, NameError, NameFlaw};
use super::project::ProjectDir;
use crate::durable;
use crate::evidence;
use crate::file::{self, FileJournal};
use crate::timestamp;

/// Bytes that a run's id needs after its stem: `__`, the timestamp, and room for a suffix.
const AFTER_STEM_BYTES: usize = 2 + 24 + 8;

/// The part of a run's id that stands before its timestamp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStem(String);

impl RunStem {
    /// `<tag>__task-<task>`, for a run over a task.
    pub fn task(tag: &str, task: &str) -> Result<Self, NameError> {
        let (tag, task) = (Name::check("tag", tag)?, Name::check("task id", task)?);
        Self::checked(format!("{tag}__task-{task}"))
    }

    /// `<workflow>__<name>`, for a session of another workflow.
    pub fn session(workflow: &str, name: &str) -> Result<Self, NameError> {
        let (workflow, name) = (
            Name::check("workflow id", workflow)?,
            Name::check("session name", name)?,
        );
        Self::checked(format!("{workflow}__{name}"))
    }

    /// `<workflow>`, for a run that is over no task and has no name of its own.
    pub fn workflow(workflow: &str) -> Result<Self, NameError> {
        Self::checked(Name::check("workflow id", workflow)?.as_str().to_owned())
    }

    fn checked(stem: String) -> Result<Self, NameError> {
        if stem.len() > MAX_NAME_BYTES - AFTER_STEM_BYTES {
            return Err(NameError {
                kind: "run id",
                name: stem,
                flaw: NameFlaw::TooLong,
            });
        }
        Ok(Self(stem))
    }

    /// The stem.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The folder of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir {
    id: String,
    path: PathBuf,
}

impl RunDir {
    /// The id of the run.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file or folder `name` in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The journal of the run.
    pub fn journal_path(&self) -> PathBuf {
        self.path.join(file::FILE_NAME)
    }
}

/// Whether there is a folder, and not only a link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

impl ProjectDir {
    /// Makes the folder of a new run at the time `ts` with an empty journal in it, and syncs their names.
    ///
    /// `ts` is UTC in RFC 3339 with milliseconds. A second run of that name in the same millisecond
    /// gets the suffix `-2`. Until its first event is appended, the run has not begun: a folder with an empty
    /// journal is what a crash in between leaves.
    pub fn create_run(&self, stem: &RunStem, ts: &str) -> Result<RunDir, LayoutError> {
        let stamp = timestamp::for_id(ts).ok_or_else(|| LayoutError::Time(ts.to_owned()))?;
        let runs = self.runs_folder();
        durable::ensure_folder(&runs).map_err(LayoutError::io("make the folder", &runs))?;
        for count in 1..=9999u32 {
            let id = match count {
                1 => format!("{}__{stamp}", stem.as_str()),
                _ => format!("{}__{stamp}-{count}", stem.as_str()),
            };
            let path = runs.join(&id);
            match durable::make_folder(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(LayoutError::io("make the folder", &path)(error)),
            }
            let evidence = path.join(evidence::FOLDER_NAME);
            durable::make_folder(&evidence)
                .map_err(LayoutError::io("make the folder", &evidence))?;
            FileJournal::create(&path)?;
            // Those above too: whoever made them may have been killed before their names were synced.
            for folder in runs.ancestors().take(3) {
                durable::sync_folder(folder).map_err(LayoutError::io("sync the folder", folder))?;
            }
            return Ok(RunDir { id, path });
        }
        Err(LayoutError::NoFreeName {
            path: runs.join(format!("{}__{stamp}", stem.as_str())),
        })
    }

    /// The ids of all runs, the newest first by the timestamp in the id.
    ///
    /// What does not have the form of a run's id is left out.
    pub fn runs(&self) -> Result<Vec<String>, LayoutError> {
        let runs = self.runs_folder();
        let failed = || LayoutError::io("list", &runs);
        let entries = match fs::read_dir(&runs) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed()(error)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed())?;
            let is_folder = entry.file_type().map_err(failed())?.is_dir();
            if let Ok(id) = entry.file_name().into_string()
                && is_folder
                && started(&id).is_some()
            {
                ids.push(id);
            }
        }
        ids.sort_by_cached_key(|id| {
            let when = started(id).map(|(stamp, count)| (stamp.to_owned(), count));
            (Reverse(when), id.clone())
        });
        Ok(ids)
    }

    /// The folder of the run with the id `id`, which is checked as a name. It need not be there.
    pub fn run(&self, id: &str) -> Result<RunDir, LayoutError> {
        let id = Name::check("run id", id)?;
        Ok(RunDir {
            path: self.runs_folder().join(id.as_str()),
            id: id.as_str().to_owned(),
        })
    }

    /// The run with that whole id, if there is one. It is found without a look at all others.
    pub fn run_of_id(&self, id: &str) -> Option<RunDir> {
        let run = self.run(id).ok()?;
        let is_run = started(run.id()).is_some() && is_folder(run.path());
        is_run.then_some(run)
    }

    /// The run whose id is `prefix`, or the only one whose id begins with it.
    pub fn find_run(&self, prefix: &str) -> Result<RunDir, LayoutError> {
        let prefix = Name::check("run id", prefix)?;
        if let Some(run) = self.run_of_id(prefix.as_str()) {
            return Ok(run);
        }
        let mut candidates = self.runs()?;
        candidates.retain(|id| id.starts_with(prefix.as_str()));
        match candidates.as_slice() {
            [] => Err(LayoutError::NoRun(prefix.as_str().to_owned())),
            [id] => self.run(id),
            _ => Err(LayoutError::AmbiguousRun {
                prefix: prefix.as_str().to_owned(),
                candidates,
            }),
        }
    }
}

/// The timestamp in a run's id, and its place among the runs of that millisecond.
fn started(id: &str) -> Option<(&str, u32)> {
    const STAMP_BYTES: usize = 24;
    Name::check("run id", id).ok()?;
    let (_, rest) = id.rsplit_once("__")?;
    let stamp = rest.get(..STAMP_BYTES)?;
    let suffix = rest.get(STAMP_BYTES..)?;
    let count = match suffix.strip_prefix('-') {
        Some(digits) => digits.parse().ok()?,
        None if suffix.is_empty() => 1,
        None => return None,
    };
    timestamp::is_id_form(stamp).then_some((stamp, count))
}
