//! The files of a response before they are judged.

use super::error::{BundleError, BundleFault};
use super::rules::Rules;

/// A file as it was found.
#[derive(Debug)]
pub(super) struct RawFile {
    pub(super) path: String,
    pub(super) content: String,
    pub(super) line: Option<usize>,
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

    pub(super) fn all(self) -> Vec<RawFile> {
        self.all
    }
}
