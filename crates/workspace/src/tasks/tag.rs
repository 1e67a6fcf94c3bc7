//! Tags: lists of tasks that stand side by side in one file, of which one is current.

use std::path::{Path, PathBuf};

use super::json::{self, Node};
use super::name::unfit_name;
use super::rewrite::{read_text, real_path};
use super::{Place, Rewrite, Splice, TaskError};

/// The tag where nothing names another.
pub const DEFAULT_TAG: &str = "master";

fn state_file(root: &Path) -> PathBuf {
    root.join(super::STATE_FILE)
}

/// The tag in force: the one asked for, else `currentTag` of `.taskmaster/state.json`, else [`DEFAULT_TAG`].
pub fn resolve_tag(root: &Path, asked: Option<&str>) -> Result<String, TaskError> {
    let tag = match asked {
        Some(tag) => tag.to_owned(),
        None => current_tag(root)?.unwrap_or_else(|| DEFAULT_TAG.to_owned()),
    };
    check_tag(&tag)?;
    Ok(tag)
}

/// `currentTag` of the project's `.taskmaster/state.json`; `None` where the file or the key is missing.
pub fn current_tag(root: &Path) -> Result<Option<String>, TaskError> {
    let path = state_file(root);
    let text = match read_text(&path) {
        Ok(text) => text,
        Err(TaskError::NoFile { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let node = parsed(&path, &text)?;
    match node.get("currentTag") {
        None => Ok(None),
        Some(value) if matches!(value.value, json::Value::Null) => Ok(None),
        Some(value) => match value.text() {
            Some(tag) => Ok(Some(tag.to_owned()).filter(|tag| !tag.is_empty())),
            None => Err(TaskError::BadField {
                place: Place::of(&path, &text, value.span.start),
                of: "`currentTag`".to_owned(),
                problem: format!("a string is expected, not {}", value.kind()),
            }),
        },
    }
}

/// Which bytes of `.taskmaster/state.json` must change for the tag to be current. `None` where there is no such file, it
/// names no tag, or names this one already.
pub fn switch_tag(root: &Path, tag: &str) -> Result<Option<Rewrite>, TaskError> {
    check_tag(tag)?;
    match current_tag(root)? {
        None => return Ok(None),
        Some(current) if current == tag => return Ok(None),
        Some(_) => {}
    }
    let path = state_file(root);
    let text = read_text(&path)?;
    let node = parsed(&path, &text)?;
    let Some(value) = node.get("currentTag") else {
        return Ok(None);
    };
    let splice = Splice {
        offset: value.span.start,
        old: text[value.span.clone()].to_owned(),
        new: serde_json::Value::from(tag).to_string(),
    };
    Rewrite::new(real_path(&path)?, &text, vec![splice], &[])
}

pub(super) fn check_tag(tag: &str) -> Result<(), TaskError> {
    match unfit_name(tag) {
        None => Ok(()),
        Some(problem) => Err(TaskError::BadName {
            kind: "tag",
            name: tag.to_owned(),
            problem,
        }),
    }
}

/// Reads a text that must be JSON.
pub(super) fn parsed<'a>(path: &Path, text: &'a str) -> Result<Node<'a>, TaskError> {
    json::parse(text).map_err(|malformed| TaskError::Malformed {
        place: Place::of(path, text, malformed.offset),
        message: malformed.message,
    })
}
