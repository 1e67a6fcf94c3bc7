//! The files that a run recorded: prompts, responses, documents, code.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::engine::Engine;
use crate::fault::{Fault, Kind};
use crate::generic::files;
use crate::open_run;
use crate::view::session::answer::ArtifactEntry;
use crate::view::session::history;

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

/// How many files of a folder are listed.
const MOST_FILES: usize = 200;

/// Where `path` is in the folder of a run, if it is a path that stays there.
fn inside(dir: &Path, path: &str) -> Result<PathBuf, Fault> {
    let stays = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !stays || path.is_empty() {
        return Err(Fault::new(
            Kind::Usage,
            "bad_input",
            format!("`{path}` is no path in the folder of the run"),
        )
        .suggest("name it as the run does, without `..`"));
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

    /// The files that a run recorded, the oldest first, and which of them are no longer as they were.
    pub fn run_files(&self, run: Option<&str>) -> Result<Vec<ArtifactEntry>, Fault> {
        let (dir, loaded) = self.load_any(run)?;
        let definition = open_run::pinned(dir.path(), &loaded.run)?;
        Ok(history::checked(dir.path(), &definition)?.artifacts)
    }

    /// A file in the folder of a run, as it lies there now.
    ///
    /// # Errors
    /// `no_file` if there is none.
    pub fn run_file(&self, run: Option<&str>, path: &str) -> Result<FileText, Fault> {
        let (dir, _) = self.load_any(run)?;
        let place = inside(dir.path(), path)?;
        let missing = |why: &dyn std::fmt::Display| {
            Fault::new(
                Kind::Missing,
                "no_file",
                format!("{path} cannot be read in the folder of the run: {why}"),
            )
        };
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
