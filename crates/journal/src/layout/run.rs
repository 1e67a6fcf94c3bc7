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

/// What means the run that began last.
pub const LAST: &str = "last";
/// The file with the highest number of the runs that are not there any more, in the folder of a project.
const LAST_NUMBER: &str = "last-number";
/// Bytes that a run's id needs after its stem: `__`, the timestamp, and room for its number.
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
        if is_number(name.as_str()) || name.as_str() == LAST {
            return Err(NameError {
                kind: "session name",
                name: name.as_str().to_owned(),
                flaw: NameFlaw::Taken,
            });
        }
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
    /// `ts` is UTC in RFC 3339 with milliseconds. The id ends with the run's number in the project, from 1; the caller holds the
    /// lock of the project, so that no other run gets it. Until its first event is appended, the run has not begun: a folder with an
    /// empty journal is what a crash in between leaves.
    pub fn create_run(&self, stem: &RunStem, ts: &str) -> Result<RunDir, LayoutError> {
        let stamp = timestamp::for_id(ts).ok_or_else(|| LayoutError::Time(ts.to_owned()))?;
        let runs = self.runs_folder();
        durable::ensure_folder(&runs).map_err(LayoutError::io("make the folder", &runs))?;
        let ids = self.runs()?;
        let last = ids.iter().filter_map(|id| number_of(id)).max();
        let number = last.max(Some(self.last_number())).unwrap_or(0) + 1;
        let id = format!("{}__{stamp}-{number}", stem.as_str());
        let path = runs.join(&id);
        durable::make_folder(&path).map_err(LayoutError::io("make the folder", &path))?;
        let evidence = path.join(evidence::FOLDER_NAME);
        durable::make_folder(&evidence).map_err(LayoutError::io("make the folder", &evidence))?;
        FileJournal::create(&path)?;
        // Those above too: whoever made them may have been killed before their names were synced.
        for folder in runs.ancestors().take(3) {
            durable::sync_folder(folder).map_err(LayoutError::io("sync the folder", folder))?;
        }
        Ok(RunDir { id, path })
    }

    /// Remembers the number of a run whose folder is about to go, so that no later one gets it.
    pub fn keep_number(&self, run: &RunDir) -> Result<(), LayoutError> {
        let Some(number) = number_of(run.id()).filter(|number| *number > self.last_number()) else {
            return Ok(());
        };
        let path = self.path().join(LAST_NUMBER);
        durable::replace_durably(&path, format!("{number}\n").as_bytes())
            .map_err(LayoutError::io("write", &path))
    }

    /// The highest number of the runs that went; 0 where none did.
    fn last_number(&self) -> u32 {
        let kept = fs::read_to_string(self.path().join(LAST_NUMBER)).ok();
        kept.and_then(|kept| kept.trim().parse().ok()).unwrap_or(0)
    }

    /// The run that a number means, such as `r7`; none where it is no number ([`is_number`]), or of no run.
    ///
    /// # Errors
    /// [`LayoutError::AmbiguousRun`] where a moved project brought another run of that number.
    pub fn run_of_number(&self, name: &str) -> Result<Option<RunDir>, LayoutError> {
        let digits = name.strip_prefix('r').unwrap_or_default();
        let Some(number) = digits.parse().ok().filter(|_| is_number(name)) else {
            return Ok(None);
        };
        self.only_run(name, |id| number_of(id) == Some(number))
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
        let prefix = prefix.as_str();
        let found = self.only_run(prefix, |id| id.starts_with(prefix))?;
        found.ok_or_else(|| LayoutError::NoRun(prefix.to_owned()))
    }

    /// The only run whose id fits what was asked for.
    fn only_run(
        &self,
        asked: &str,
        fits: impl Fn(&str) -> bool,
    ) -> Result<Option<RunDir>, LayoutError> {
        let mut candidates = self.runs()?;
        candidates.retain(|id| fits(id));
        match candidates.as_slice() {
            [] => Ok(None),
            [id] => self.run(id).map(Some),
            _ => Err(LayoutError::AmbiguousRun {
                prefix: asked.to_owned(),
                candidates,
            }),
        }
    }
}

/// The number that a run has in its project, by its id; none of one that has none.
fn number_of(id: &str) -> Option<u32> {
    let (_, number) = started(id)?;
    (number > 0).then_some(number)
}

/// The name by which a run is shown and asked for: `r7` of the seventh of its project, or else its id.
pub fn short_name(id: &str) -> String {
    number_of(id).map_or_else(|| id.to_owned(), |number| format!("r{number}"))
}

/// Whether a word has the form of a run's number: it means nothing else.
pub fn is_number(word: &str) -> bool {
    let digits = word
        .strip_prefix('r')
        .filter(|digits| !digits.starts_with('0'));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The timestamp in a run's id, and its number; 0 where it has none.
fn started(id: &str) -> Option<(&str, u32)> {
    const STAMP_BYTES: usize = 24;
    Name::check("run id", id).ok()?;
    let (_, rest) = id.rsplit_once("__")?;
    let stamp = rest.get(..STAMP_BYTES)?;
    let suffix = rest.get(STAMP_BYTES..)?;
    let count = match suffix.strip_prefix('-') {
        Some(digits) => digits.parse().ok()?,
        None if suffix.is_empty() => 0,
        None => return None,
    };
    timestamp::is_id_form(stamp).then_some((stamp, count))
}
