//! Tasks that stand where other tools keep them: spec-kit, `OpenSpec`, beads, Backlog.md, issues of GitHub. They are read, each with its
//! place, and brought into the tasks file; what cannot be read is told with its line, and stops nothing.
//!
//! What these files say is not what their documentation has: the readers take what was found in some 1,800 of them.

mod backlog;
mod beads;
mod boxes;
mod encoding;
mod github;
mod labels;
mod markdown_lists;
mod merge;
mod nesting;
mod openspec;
mod spec_kit;
mod write_back;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Status;
use super::rewrite::MAX_FILE;

pub use merge::{MergeOutcome, MergedTasks, merge};
pub use write_back::{WriteBack, write_back};

/// The formats that tasks are brought in from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImportFormat {
    /// `specs/NNN-name/tasks.md` of spec-kit.
    SpecKit,
    /// `openspec/changes/ID/tasks.md`.
    Openspec,
    /// JSON lines of beads.
    Beads,
    /// The folder of Backlog.md, or one of its task files.
    Backlog,
    /// JSON of issues, of `gh` or of GitHub's API.
    Github,
}

impl ImportFormat {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::SpecKit,
        Self::Openspec,
        Self::Beads,
        Self::Backlog,
        Self::Github,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::SpecKit => "spec-kit",
            Self::Openspec => "openspec",
            Self::Beads => "beads",
            Self::Backlog => "backlog",
            Self::Github => "github",
        }
    }

    /// Whether its numbers are places in a list, which others get when a line is put in: there a task is known by its title.
    fn has_positions(self) -> bool {
        matches!(self, Self::SpecKit | Self::Openspec)
    }

    /// The one of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// A task as its source has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedTask {
    /// What it is called in its source; unique there.
    pub key: String,
    /// What it is called.
    pub title: String,
    /// What it is about; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How it is to be done; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub details: String,
    /// What kind of work it is; empty where the source says nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// How far it is, `pending` where nothing is said.
    pub status: Status,
    /// The keys of those that have to be done before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// What has to hold for it to be done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acceptance_criteria: Vec<String>,
    /// Its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subtasks: Vec<ImportedTask>,
    /// The file that it stands in.
    pub file: PathBuf,
    /// The line that it begins in, from 1; 0 where there are no lines to speak of.
    pub line: usize,
}

impl ImportedTask {
    /// It, and what is below it.
    fn all(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        Box::new(std::iter::once(self).chain(self.subtasks.iter().flat_map(Self::all)))
    }
}

/// Something that was passed over, or read with a guess.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportProblem {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; 0 where it is about the whole file.
    pub line: usize,
    /// What is the matter.
    pub message: String,
}

/// What was read from a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// The format.
    pub format: ImportFormat,
    /// Its tasks, in order.
    pub tasks: Vec<ImportedTask>,
    /// What could not be read.
    pub problems: Vec<ImportProblem>,
}

impl Imported {
    fn new(format: ImportFormat) -> Self {
        Self {
            format,
            tasks: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn problem(&mut self, file: &Path, line: usize, message: impl Into<String>) {
        self.problems.push(ImportProblem {
            file: file.to_owned(),
            line,
            message: message.into(),
        });
    }

    /// Tells of lines that look like tasks and are passed over.
    fn passed_over(&mut self, file: &Path, lines: &[usize], why: &str) {
        const MOST: usize = 10;
        let Some(first) = lines.first() else {
            return;
        };
        // The first one is named as the place of it.
        let others: Vec<String> = lines[1..]
            .iter()
            .take(MOST)
            .map(ToString::to_string)
            .collect();
        let more = (lines.len() - 1).saturating_sub(MOST);
        let also = match (others.len(), more) {
            (0, _) => String::new(),
            (1, _) => format!(" (the same in line {})", others.join(", ")),
            (_, 0) => format!(" (the same in lines {})", others.join(", ")),
            _ => format!(" (the same in lines {} and {more} more)", others.join(", ")),
        };
        self.problem(file, *first, format!("{why}{also}"));
    }

    /// Passes over tasks without a title, with which nobody could read the tasks file. One with parts is called by its key.
    fn with_titles(mut self) -> Self {
        let tasks = std::mem::take(&mut self.tasks);
        self.tasks = self.titled(tasks);
        self
    }

    fn titled(&mut self, tasks: Vec<ImportedTask>) -> Vec<ImportedTask> {
        let mut titled = Vec::new();
        for mut task in tasks {
            let parts = std::mem::take(&mut task.subtasks);
            let had_parts = !parts.is_empty();
            task.subtasks = self.titled(parts);
            if task.title.trim().is_empty() && had_parts {
                task.title.clone_from(&task.key);
            }
            if task.title.trim().is_empty() {
                self.problem(&task.file, task.line, "it has no title, and is passed over");
            } else if !had_parts || !task.subtasks.is_empty() || !self.format.has_positions() {
                titled.push(task);
            }
        }
        titled
    }
}

/// Why nothing can be brought in.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is none of the formats.
    #[error("{} holds tasks in no known form", path.display())]
    Unknown {
        /// The file or folder.
        path: PathBuf,
    },
    /// It is not what it was taken for.
    #[error("{} is not read as {}: {problem}", path.display(), format.name())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The format.
        format: ImportFormat,
        /// What is wrong.
        problem: String,
    },
}

impl ImportError {
    /// What can be done.
    pub fn suggestion(&self) -> String {
        match self {
            Self::Io { .. } => "name a file or a folder that is there".to_owned(),
            Self::Unknown { .. } => {
                let names = ImportFormat::ALL.map(ImportFormat::name);
                format!("say which it is with --from: {}", names.join(", "))
            }
            Self::Malformed { .. } => {
                "export it anew, or say with --from what else it is".to_owned()
            }
        }
    }
}

/// Reads the tasks of a file or folder, in the format that is named, or the one that it is told by.
pub fn read(path: &Path, format: Option<ImportFormat>) -> Result<Imported, ImportError> {
    let path = of_folder(path);
    let format = match format {
        Some(format) => format,
        None => told(&path)?,
    };
    let read = match format {
        ImportFormat::SpecKit => spec_kit::read(&path, &text(&path)?),
        ImportFormat::Openspec => openspec::read(&path, &text(&path)?),
        ImportFormat::Beads => beads::read(&path, &text(&path)?)?,
        ImportFormat::Backlog => backlog::read(&path)?,
        ImportFormat::Github => github::read(&path, &text(&path)?)?,
    };
    Ok(read.with_titles())
}

/// Reads an issue of GitHub that a program has printed. It is a source by itself, which says nothing of others.
pub fn read_issue(number: u64, json: &str) -> Result<Imported, ImportError> {
    let from = format!("GitHub#{number}");
    Ok(github::read(Path::new(&from), json)?.with_titles())
}

/// The file of tasks in a folder of spec-kit or `OpenSpec`.
fn of_folder(path: &Path) -> PathBuf {
    let inside = path.join("tasks.md");
    if path.is_dir() && inside.is_file() {
        inside
    } else {
        path.to_owned()
    }
}

fn told(path: &Path) -> Result<ImportFormat, ImportError> {
    if path.is_dir() {
        let is_backlog = ["tasks", "completed", "drafts"]
            .iter()
            .any(|folder| path.join(folder).is_dir());
        return if is_backlog {
            Ok(ImportFormat::Backlog)
        } else {
            Err(ImportError::Unknown {
                path: path.to_owned(),
            })
        };
    }
    let text = text(path)?;
    let ending = path.extension().and_then(|ending| ending.to_str());
    let is_below = |name: &str| path.iter().any(|part| part == name);
    match ending {
        Some("jsonl") => Ok(ImportFormat::Beads),
        Some("json") => Ok(ImportFormat::Github),
        _ if spec_kit::is_it(&text) => Ok(ImportFormat::SpecKit),
        _ if backlog::is_it(&text) => Ok(ImportFormat::Backlog),
        _ if is_below("changes") && is_below("openspec") => Ok(ImportFormat::Openspec),
        _ if openspec::is_it(&text) => Ok(ImportFormat::Openspec),
        _ => Err(ImportError::Unknown {
            path: path.to_owned(),
        }),
    }
}

/// The text of a file.
fn text(path: &Path) -> Result<String, ImportError> {
    let error = |source| ImportError::Io {
        path: path.to_owned(),
        source,
    };
    let length = fs::metadata(path).map_err(error)?;
    if !length.is_file() || length.len() > MAX_FILE {
        let why = if length.is_file() {
            "it is too large"
        } else {
            "it is no file"
        };
        return Err(error(io::Error::new(io::ErrorKind::InvalidInput, why)));
    }
    Ok(encoding::decoded(&fs::read(path).map_err(error)?))
}

/// Puts a new content of the tasks file in the place of the old one: `was` is the content that it was made from, none where there was no
/// file. Somebody else's change meanwhile stays, and is told.
pub fn save(path: &Path, was: Option<&str>, now: &str) -> Result<(), super::TaskError> {
    let Some(was) = was else {
        let error = |source| super::TaskError::Io {
            operation: "write",
            path: path.to_owned(),
            source,
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(error)?;
        let mut made = journal::durable::aside_of(path, 0o600).map_err(error)?;
        io::Write::write_all(&mut made, now.as_bytes()).map_err(error)?;
        made.as_file().sync_all().map_err(error)?;
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        made.as_file().set_permissions(permissions).map_err(error)?;
        // Who was faster made another one.
        return journal::durable::put_in_place(made, path, false).map_err(error);
    };
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let whole = super::Splice {
        offset: 0,
        old: was.to_owned(),
        new: now.to_owned(),
    };
    if let Some(rewrite) = super::Rewrite::new(real, was, vec![whole], &[])? {
        rewrite.apply()?;
    }
    Ok(())
}
