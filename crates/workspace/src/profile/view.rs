//! What a prompt is made of.

use std::path::PathBuf;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value};

use super::inputs::Input;
use crate::template::Shape;
use text::quote::LONGEST_QUOTE;

/// How many bytes of content [`shown_files`] gives altogether.
const MOST_SHOWN: usize = 512 * 1024;

/// What a template sees, under the same names. Beside these it sees `phase` (the name of the phase), `session.profile`,
/// and texts of the program that tell how a response is to be written: `format.plan`, with the headings that the
/// profile asks for; `format.bundle`, with the names that it allows; `format.verdict`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct View {
    /// The values of the declared inputs, as [`super::Profile::check_inputs`] gives them.
    pub inputs: Map<String, Value>,
    /// The session.
    pub session: Session,
    /// The number of the candidate, from 1; 0 in planning.
    pub iteration: u32,
    /// Where the response goes.
    pub response: File,
    /// Where the prompt stands.
    pub prompt: File,
    /// The plan; empty in planning.
    pub plan: String,
    /// The code of this iteration: in a review, what is to be looked at; in a revision, what was carried forward.
    pub files: Vec<CodeFile>,
    /// The code of the iteration before; empty where there is none.
    pub previous: Vec<CodeFile>,
    /// The last review; empty, with zeros, where there was none.
    pub review: Review,
    /// What a person said of the last answer who rejected it; empty where nobody did.
    pub feedback: String,
    /// Why the last answer could not be used; empty where it could.
    pub error: String,
    /// What persons said of answers before that one, the oldest first; in a review, of the code, too.
    pub earlier_feedback: Vec<String>,
    /// The answer that was sent back last; empty where none was.
    pub rejected: Rejected,
    /// In a review and a revision, in which files the code differs from that of the iteration before.
    pub changes: Vec<FileChange>,
    /// Where the code lies: an absolute path.
    pub code_dir: PathBuf,
    /// The project.
    pub project: Project,
}

/// What templates of a profile with these inputs may name: the names of a [`View`].
pub(super) fn shape(inputs: &IndexMap<String, Input>) -> Shape {
    let files = Shape::List(Box::new(Shape::plain(&[
        "path", "sha256", "size", "content",
    ])));
    let inputs = inputs
        .iter()
        .map(|(name, input)| {
            let shape = match input.kind {
                super::Kind::List => Shape::List(Box::new(Shape::Plain)),
                _ => Shape::Plain,
            };
            (name.clone(), shape)
        })
        .collect();
    Shape::record(&[
        ("inputs", Shape::Record(inputs)),
        ("session", Shape::plain(&["id", "profile"])),
        ("iteration", Shape::Plain),
        ("phase", Shape::Plain),
        ("response", Shape::plain(&["path"])),
        ("prompt", Shape::plain(&["path"])),
        ("plan", Shape::Plain),
        ("files", files.clone()),
        ("previous", files),
        (
            "review",
            Shape::plain(&["text", "issues_total", "issues_critical", "missing_inputs"]),
        ),
        ("feedback", Shape::Plain),
        ("error", Shape::Plain),
        ("earlier_feedback", Shape::List(Box::new(Shape::Plain))),
        ("rejected", Shape::plain(&["path", "text"])),
        (
            "changes",
            Shape::List(Box::new(Shape::plain(&["path", "change", "diff"]))),
        ),
        ("code_dir", Shape::Plain),
        ("project", Shape::plain(&["root"])),
        ("format", Shape::plain(&["bundle", "verdict", "plan"])),
    ])
}

/// The session, as a template sees it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Session {
    /// Its id.
    pub id: String,
}

/// A file that a prompt names.
#[derive(Debug, Clone, Default, Serialize)]
pub struct File {
    /// Its absolute path.
    pub path: PathBuf,
}

/// The project, as a template sees it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Project {
    /// Its folder: an absolute path.
    pub root: PathBuf,
}

/// A review, as a template sees it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Review {
    /// The whole text.
    pub text: String,
    /// How many issues it counts.
    pub issues_total: u64,
    /// How many of them are critical.
    pub issues_critical: u64,
    /// How many things it says it would have needed.
    pub missing_inputs: u64,
}

/// An answer that was sent back, as a template sees it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Rejected {
    /// Where it stands: an absolute path, or empty.
    pub path: PathBuf,
    /// Its text; empty where it is long.
    pub text: String,
}

/// A file of code that is not what it was in another iteration, as templates and answers show it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// Its path below `code/`, with `/`.
    pub path: String,
    /// `added`, `changed` or `deleted`.
    pub change: String,
    /// The difference, in the unified form; empty where only the right to run it changed, and in a template where it is long.
    pub diff: String,
}

/// A file of code, as a template sees it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CodeFile {
    /// Its path below `code/`, with `/`.
    pub path: String,
    /// SHA-256 of its content.
    pub sha256: String,
    /// Its length in bytes.
    pub size: u64,
    /// The content; empty where it is long.
    pub content: String,
}

/// The text, unless it is longer than a quotation may be.
pub fn shown_text(text: String) -> String {
    if text.len() <= LONGEST_QUOTE {
        text
    } else {
        String::new()
    }
}

/// Files with as much of their contents as a prompt can show: none that is longer than a quotation may be, and none once
/// there is enough. Templates name the files whose content is not there by their paths.
pub fn shown_files(files: impl IntoIterator<Item = CodeFile>) -> Vec<CodeFile> {
    let mut left = MOST_SHOWN;
    files
        .into_iter()
        .map(|mut file| {
            match left.checked_sub(file.content.len()) {
                Some(rest) if file.content.len() <= LONGEST_QUOTE => left = rest,
                _ => file.content.clear(),
            }
            file
        })
        .collect()
}
