//! What a report of tests is about: the files whose change makes it old.

use workspace::convention::inline_tests::is_runner_written;
use workspace::convention::paths::{Language, PathClass, PathClasses, may_hold_tests};
use workspace::git::{Change, RepoPath, Repository};

use crate::capability::memory::StartFacts;
use crate::fault::Fault;

/// Endings of files that suites, builds and coverage tools write, and people seldom.
const DATA: &[&str] = &[
    "coverage", "cov", "csv", "dat", "db", "gcda", "gcno", "gif", "html", "info", "jpg", "json",
    "jsonl", "lcov", "log", "ndjson", "out", "png", "profdata", "profraw", "sqlite", "sqlite3",
    "svg", "tap", "tmp", "trx", "tsv", "txt", "xml", "yaml", "yml",
];

/// Files of this name decide nothing about a test.
const OF_GIT: &[&str] = &[".gitattributes", ".gitignore", ".gitkeep", ".mailmap"];

/// The files of a run that its tests are about.
pub struct Subject<'a> {
    repository: &'a Repository,
    classes: PathClasses,
}

impl<'a> Subject<'a> {
    /// By the run's patterns.
    pub fn new(repository: &'a Repository, start: &StartFacts) -> Result<Self, Fault> {
        let classes = start.classes()?;
        Ok(Self {
            repository,
            classes,
        })
    }

    /// Whether a change makes a report old that was written before it. Documentation does not, nor what the suite itself may
    /// have written after its report.
    pub fn has(&self, change: &Change) -> bool {
        self.is_about(&change.path)
            && !(change.untracked && is_data(&self.repository.name_in_scope(&change.path)))
    }

    /// Whether a file that git knows is one of those.
    pub fn is_about(&self, path: &RepoPath) -> bool {
        let name = self.repository.name_in_scope(path);
        let last = name.rsplit_once('/').map_or(&*name, |(_, last)| last);
        let is_docs = self.classes.of(&name) == PathClass::Docs && !is_code(&name);
        !(is_docs || is_runner_written(&name) || OF_GIT.contains(&last))
    }
}

fn is_code(name: &str) -> bool {
    Language::of(name).is_some() || may_hold_tests(name)
}

/// Whether a file is one that suites, builds and coverage tools write, by its ending.
pub fn is_data(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| DATA.contains(&ending.to_ascii_lowercase().as_str()))
}
