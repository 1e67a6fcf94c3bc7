//! The files that a run recorded: prompts, responses, documents, code.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use journal::{Position, Record};
use machine::Event;
use serde::Serialize;

use crate::capability::documents::folder::FOLDER;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::generic::files;
use crate::integrity::StandingFiles;
use crate::projection::{Projection, Projections};
use crate::view::session::answer::ArtifactEntry;

/// The most that is shown of a file, in bytes.
const MOST_BYTES: u64 = 512 * 1024;

/// A file of a run.
#[derive(Debug, Clone, Serialize)]
pub struct FileText {
    /// Its place in the run's folder.
    pub path: String,
    /// What it holds; none where that is no text.
    pub text: Option<String>,
    /// How long it is, in bytes.
    pub bytes: u64,
    /// Whether it is longer than what is shown.
    pub cut: bool,
}

static RECORDED: Projections<RecordedFiles> = Projections::of_at_most(8);

/// The files that a run recorded.
#[derive(Debug, Default)]
struct RecordedFiles {
    /// In their order; none in the place of what was recorded again.
    files: Vec<Option<ArtifactEntry>>,
    by_path: HashMap<String, usize>,
    standing: StandingFiles,
}

impl Projection for RecordedFiles {
    fn begin(_: &Path) -> Result<Self, Fault> {
        Ok(Self::default())
    }

    fn take(&mut self, record: &Record, event: Event, _: Option<&Position>) -> Result<(), Fault> {
        self.standing.take(record.seq, &event);
        if let Event::ArtifactRecorded(artifact) = event {
            let place = self.files.len();
            if let Some(before) = self.by_path.insert(artifact.path.clone(), place) {
                self.files[before] = None;
            }
            let file = ArtifactEntry::of(artifact, &record.ts);
            self.files.push(Some(file));
        }
        Ok(())
    }
}

/// How many files of a folder are listed.
const MOST_FILES: usize = 200;

/// Where `path` is in the folder of a run, if it is a path that stays there.
fn inside(dir: &Path, path: &str) -> Result<PathBuf, Fault> {
    let stays = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !stays || path.is_empty() {
        return Err(fault!("usage.path_in_run", path));
    }
    files::place(dir, path)
}

impl Engine {
    /// The files that lie in the folder of a run at `path`: that file itself, or those in the folder, as far as they are listed.
    pub fn run_files_at(&self, run: Option<&str>, path: &str) -> Result<Vec<String>, Fault> {
        let (dir, _) = self.load_any(run)?;
        let mut found = Vec::new();
        let mut waiting = vec![(inside(dir.path(), path)?, path.to_owned())];
        while let Some((place, name)) = waiting.pop() {
            let Ok(about) = std::fs::symlink_metadata(&place) else {
                continue;
            };
            if about.is_file() {
                found.push(name);
            } else if about.is_dir() {
                let entries = std::fs::read_dir(&place).into_iter().flatten().flatten();
                for entry in entries.take(MOST_FILES) {
                    let file = entry.file_name();
                    if let Some(file) = file.to_str() {
                        waiting.push((entry.path(), format!("{name}/{file}")));
                    }
                }
            }
            if found.len() + waiting.len() > 4 * MOST_FILES || found.len() >= MOST_FILES {
                break;
            }
        }
        found.sort();
        Ok(found)
    }

    /// The documents of a run that is over documents, as far as they are listed.
    pub fn run_documents(&self, run: Option<&str>) -> Result<Vec<String>, Fault> {
        self.run_files_at(run, FOLDER)
    }

    /// The files that a run recorded, the oldest first, each as it was recorded last. Whether they are still so is not looked at.
    pub fn run_files(&self, run: Option<&str>) -> Result<Vec<ArtifactEntry>, Fault> {
        let (dir, _) = self.load_any(run)?;
        RECORDED.of(dir.path(), self.patience, |recorded| {
            Ok(recorded.files.iter().flatten().cloned().collect())
        })
    }

    /// Looks whether files of a run are as it recorded them, and notes what is wrong with each. Gives which of them are there.
    pub fn look_at_files(
        &self,
        run: Option<&str>,
        files: &mut [ArtifactEntry],
    ) -> Result<Vec<bool>, Fault> {
        let (dir, _) = self.load_any(run)?;
        RECORDED.of(dir.path(), self.patience, |recorded| {
            let look = |file: &mut ArtifactEntry| {
                let problem = recorded.standing.problem(dir.path(), &file.path);
                file.problem = problem.map(|problem| problem.state);
                std::fs::symlink_metadata(dir.path().join(&file.path)).is_ok()
            };
            Ok(files.iter_mut().map(look).collect())
        })
    }

    /// A file in the folder of a run, as it lies there now.
    ///
    /// # Errors
    /// `no_file` if there is none.
    pub fn run_file(&self, run: Option<&str>, path: &str) -> Result<FileText, Fault> {
        let (dir, _) = self.load_any(run)?;
        let place = inside(dir.path(), path)?;
        let missing = |why: &dyn std::fmt::Display| fault!("not_found.no_file", path, why);
        // A link that an agent put there may lead anywhere.
        let is_link = std::fs::symlink_metadata(&place).is_ok_and(|about| about.is_symlink());
        if is_link {
            return Err(missing(&"it is a link"));
        }
        let file = journal::durable::open_file(&place).map_err(|error| missing(&error))?;
        let bytes = file.metadata().map_err(|error| missing(&error))?.len();
        let mut read = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(file, MOST_BYTES), &mut read)
            .map_err(|error| missing(&error))?;
        let cut = bytes > MOST_BYTES;
        let text = match String::from_utf8(read) {
            Ok(text) => Some(text),
            // A cut may fall into a character.
            Err(error) if cut => Some(String::from_utf8_lossy(error.as_bytes()).into_owned()),
            Err(_) => None,
        };
        Ok(FileText {
            path: path.to_owned(),
            text: text.filter(|text| !text.contains('\0')),
            bytes,
            cut,
        })
    }
}
