//! What a bundle may hold: allowed names and limits.

use std::fmt;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use thiserror::Error;

/// What a bundle may hold.
///
/// The patterns of allowed names are written as everywhere in Tramline: one without a slash holds
/// at any depth (`*.md`), one with a slash from the root on (`src/**`; `/*.md` for the root alone),
/// and a slash at the end means all of a folder. `*` does not cross a slash, `**` does.
#[derive(Clone)]
pub struct Rules {
    patterns: Vec<String>,
    allow: GlobSet,
    max_files: usize,
    max_bytes: u64,
    max_path_bytes: usize,
}

/// The longest name of a file or folder that file systems take.
pub(super) const MAX_COMPONENT_BYTES: usize = 255;

/// The longest pattern that is taken.
const MAX_PATTERN_BYTES: usize = 1000;

/// A pattern of allowed names that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{pattern}` is not a usable file pattern: {reason}")]
pub struct BadPattern {
    /// The pattern as it was given.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Debug for Rules {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The compiled patterns would be pages of tables.
        out.debug_struct("Rules")
            .field("patterns", &self.patterns)
            .field("max_files", &self.max_files)
            .field("max_bytes", &self.max_bytes)
            .field("max_path_bytes", &self.max_path_bytes)
            .finish_non_exhaustive()
    }
}

impl Default for Rules {
    /// All names, within the usual limits.
    fn default() -> Self {
        Self {
            patterns: Vec::new(),
            allow: GlobSet::empty(),
            max_files: 10_000,
            max_bytes: 64 * 1024 * 1024,
            max_path_bytes: 4096,
        }
    }
}

impl Rules {
    /// Rules that allow only names which one of the patterns fits; without patterns, every name.
    pub fn new<P: AsRef<str>>(allow: impl IntoIterator<Item = P>) -> Result<Self, BadPattern> {
        let mut patterns = Vec::new();
        let mut set = GlobSetBuilder::new();
        for pattern in allow {
            let pattern = pattern.as_ref();
            let bad = |reason: String| BadPattern {
                pattern: pattern.to_owned(),
                reason,
            };
            let full = anchored(pattern).map_err(|reason| bad(reason.to_owned()))?;
            let glob = GlobBuilder::new(&full)
                .literal_separator(true)
                .empty_alternates(true)
                .build()
                .map_err(|error| bad(error.kind().to_string()))?;
            // Each alone as well, so that one that is too large is the one that is named.
            GlobSetBuilder::new()
                .add(glob.clone())
                .build()
                .map_err(|error| bad(error.kind().to_string()))?;
            set.add(glob);
            patterns.push(pattern.to_owned());
        }
        let allow = set.build().map_err(|error| BadPattern {
            pattern: patterns.join(", "),
            reason: error.kind().to_string(),
        })?;
        Ok(Self {
            patterns,
            allow,
            ..Self::default()
        })
    }

    /// The same rules with another limit to the number of files.
    #[must_use]
    pub fn with_max_files(mut self, files: usize) -> Self {
        self.max_files = files;
        self
    }

    /// The same rules with another limit to the bytes of the whole response.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// The same rules with another limit to the bytes of a path.
    #[must_use]
    pub fn with_max_path_bytes(mut self, bytes: usize) -> Self {
        self.max_path_bytes = bytes;
        self
    }

    /// The patterns of allowed names as they were given; none: every name is allowed.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// How many files there may be.
    pub fn max_files(&self) -> usize {
        self.max_files
    }

    /// How many bytes the whole response may have.
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// How many bytes a path may have.
    pub fn max_path_bytes(&self) -> usize {
        self.max_path_bytes
    }

    /// Whether the patterns allow this name.
    pub fn allows(&self, path: &str) -> bool {
        self.patterns.is_empty() || self.allow.is_match(path)
    }
}

/// A pattern as it is matched against whole paths.
fn anchored(pattern: &str) -> Result<String, &'static str> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err("it is too long");
    }
    let plain = pattern.trim();
    if plain.contains('\\') {
        return Err("folders are separated by `/`, and `[…]` takes a character as it is");
    }
    let (rooted, plain) = match plain.strip_prefix("./").or_else(|| plain.strip_prefix('/')) {
        Some(rest) => (true, rest),
        None => (false, plain),
    };
    let (folder, plain) = match plain.strip_suffix('/') {
        Some(rest) => (true, rest),
        None => (false, plain),
    };
    if plain.is_empty() {
        return Err("it is empty");
    }
    if plain.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err("an empty part, `.` or `..` fits no file of a bundle");
    }
    let start = if rooted || plain.contains('/') {
        ""
    } else {
        "**/"
    };
    let end = if folder { "/**" } else { "" };
    Ok(format!("{start}{plain}{end}"))
}
