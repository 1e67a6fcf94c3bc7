//! The files of a response before they are judged.

use super::error::{BundleError, BundleFault};
use super::marker::Whole;
use super::rules::Rules;

/// A file as it was found.
#[derive(Debug)]
pub(super) struct RawFile {
    pub(super) path: String,
    pub(super) becomes: Becomes,
    pub(super) line: Option<usize>,
}

/// What a response makes of a file.
#[derive(Debug)]
pub(super) enum Becomes {
    /// It has this text.
    Text(String),
    /// It has none.
    Empty,
    /// It goes.
    Gone,
    /// It gets this name.
    Named(String),
}

impl RawFile {
    pub(super) fn of(whole: Whole<'_>, line: usize) -> Self {
        let (path, becomes) = match whole {
            Whole::Empty(path) => (path, Becomes::Empty),
            Whole::Delete(path) => (path, Becomes::Gone),
            Whole::Move(path, to) => (path, Becomes::Named(to.to_owned())),
        };
        Self {
            path: path.to_owned(),
            becomes,
            line: Some(line),
        }
    }
}

/// Files up to the limit, so that a response of nothing but names does not fill the memory.
pub(super) struct Files {
    all: Vec<RawFile>,
    most: usize,
}

impl Files {
    pub(super) fn new(rules: &Rules) -> Self {
        Self {
            all: Vec::new(),
            most: rules.max_files(),
        }
    }

    pub(super) fn push(&mut self, file: RawFile) -> Result<(), BundleError> {
        if self.all.len() == self.most {
            let fault = BundleFault::TooMany { most: self.most };
            let error = BundleError::new(fault).of(&file.path);
            return Err(match file.line {
                Some(line) => error.at(line),
                None => error,
            });
        }
        self.all.push(file);
        Ok(())
    }

    /// Those that have text, and the others.
    pub(super) fn split_by_text(self) -> (Vec<RawFile>, Self) {
        let has_text = |file: &RawFile| matches!(file.becomes, Becomes::Text(_));
        let (with_text, all) = self.all.into_iter().partition(has_text);
        let most = self.most;
        (with_text, Self { all, most })
    }

    pub(super) fn all(self) -> Vec<RawFile> {
        self.all
    }
}
