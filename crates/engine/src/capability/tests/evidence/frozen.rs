//! Tests that are frozen from RED on: what the files of tests held when RED was accepted.
//!
//! A file of tests is frozen as a whole. A source file that holds tests of its own is frozen by the text of these, so that the rest
//! of it may be worked on.

use std::collections::BTreeMap;
use std::fmt;

use machine::role::FileClass;
use serde::{Deserialize, Serialize};
use workspace::convention::inline_tests::{
    is_runner_written, normal_form, parts, same_product, same_tests, split,
};
use workspace::convention::paths::{Language, PathClass, PathClasses, may_hold_tests};
use workspace::git::{Change, Oid, RepoPath, Repository, StatusCode, TreeStatus};

use crate::capability::git::changes::Changes;
use crate::capability::memory::Memory;
use crate::fault::Fault;

/// The tests as they were when RED was accepted: those that RED changed. All others are as the last commit has them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frozen(pub BTreeMap<RepoPath, Tests>);

/// What a file held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Tests {
    /// It was deleted.
    Gone,
    /// A file of tests, by its content.
    Whole(String),
    /// A source file, by the hashes of its tests' text apart from its form, each stretch by itself.
    Inside(Vec<String>),
}

/// What became of tests that were frozen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestChange {
    /// The file holds something else.
    Changed,
    /// The file that was written in RED is not there.
    Gone,
    /// The file has another name.
    Renamed,
    /// The file was deleted.
    Deleted,
    /// The file is there, and would not be committed.
    Ignored,
    /// The tests in a source file are others.
    ChangedInside,
    /// The source file is not there, and nowhere are its tests.
    GoneInside,
}

impl fmt::Display for TestChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed => "changed",
            Self::Gone => "deleted or renamed",
            Self::Renamed => "renamed",
            Self::Deleted => "deleted",
            Self::Ignored => "git ignores it now",
            Self::ChangedInside => "its tests changed",
            Self::GoneInside => "its tests are gone",
        })
    }
}

/// What RED changed.
#[derive(Debug, Default)]
pub struct Written {
    /// Tests.
    pub tests: bool,
    /// Files, or parts of files, that are no tests.
    pub product: Vec<String>,
    /// Files beside both that a run of tests may need, such as manifests.
    pub beside: Vec<RepoPath>,
    /// The tests as they are now.
    pub frozen: Frozen,
}

/// What a file is to the tests.
enum Role {
    Tests,
    Both,
    Product,
    Other,
}

/// Reads the tests in the working tree.
pub struct TestReader<'a> {
    repository: &'a Repository,
    classes: PathClasses,
    last: &'a Oid,
    head: Option<&'a Oid>,
}

impl<'a> TestReader<'a> {
    /// By the run's patterns, against its last commit; `status` is of the working tree that is looked at.
    pub fn new(
        repository: &'a Repository,
        memory: &Memory,
        last: &'a Oid,
        status: &'a TreeStatus,
    ) -> Result<Self, Fault> {
        let classes = memory.start.classes()?;
        Ok(Self {
            repository,
            classes,
            last,
            head: status.head.as_ref(),
        })
    }

    fn role(&self, path: &RepoPath) -> Role {
        let name = self.repository.name_in_scope(path);
        match self.classes.of(&name) {
            _ if is_runner_written(&name) => Role::Other,
            PathClass::Test if is_output(&name) => Role::Other,
            PathClass::Test => Role::Tests,
            _ if may_hold_tests(&name) => Role::Both,
            PathClass::Source => Role::Product,
            PathClass::Docs | PathClass::Build => Role::Other,
        }
    }

    /// What a file holds now; none where it is gone, or no text.
    fn text(&self, path: &RepoPath) -> Option<String> {
        let bytes = std::fs::read(self.repository.absolute(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether it is plain without asking git that the run's last commit has no such file.
    fn is_unknown(&self, change: &Change) -> bool {
        change.untracked && self.head == Some(self.last)
    }

    /// What it held in the last commit.
    fn before(&self, path: &RepoPath) -> Result<Option<String>, Fault> {
        Ok(self.repository.file_at(self.last, path)?)
    }

    /// What a file of tests holds: its bytes, or what they say apart from their form, and behind a link also those it leads to.
    /// Its mode says nothing of the tests.
    fn whole(&self, path: &RepoPath) -> Result<Tests, Fault> {
        let content = self.repository.hash_files(std::slice::from_ref(path))?;
        let content = content.into_iter().next().and_then(|(_, content)| content);
        let Some(content) = content else {
            return Ok(Tests::Gone);
        };
        let (kind, hash) = content.as_str().split_once(':').unwrap_or_default();
        let formed = formed(path).then(|| self.text(path)).flatten();
        Ok(Tests::Whole(if let Some(text) = formed {
            journal::sha256_hex(normal_form(&text).as_bytes())
        } else if kind == "link" {
            let behind = std::fs::read(self.repository.absolute(path)).unwrap_or_default();
            format!("{hash}:{}", journal::sha256_hex(&behind))
        } else {
            hash.to_owned()
        }))
    }

    /// Whether a file of tests says what the last commit has: another mode, or other line ends, are no other test.
    fn says_the_same(&self, path: &RepoPath, before: &RepoPath) -> Result<bool, Fault> {
        let (before, now) = (self.before(before)?, self.text(path));
        Ok(match (before, now) {
            (Some(before), Some(now)) => {
                before == now || (formed(path) && same_tests(&before, &now))
            }
            _ => false,
        })
    }

    /// What RED changed of tests, and what of the product.
    pub fn written(&self, changes: &Changes) -> Result<Written, Fault> {
        let mut written = Written::default();
        for change in &changes.files {
            let path = &change.path;
            match self.role(path) {
                Role::Tests => {
                    let blank = |text: String| text.trim().is_empty();
                    written.tests |= !change.deleted
                        && !self.text(path).is_some_and(blank)
                        && (self.is_unknown(change)
                            || !self.says_the_same(path, old_name(change).unwrap_or(path))?);
                    written.frozen.0.insert(path.clone(), self.whole(path)?);
                }
                Role::Both => drop(self.written_in_source(change, &mut written)?),
                Role::Product => written.product.push(path.to_string()),
                Role::Other => written.beside.push(path.clone()),
            }
            if let Some(original) = old_name(change)
                && matches!(self.role(original), Role::Tests)
            {
                written.frozen.0.insert(original.clone(), Tests::Gone);
            }
        }
        Ok(written)
    }

    /// Notes what was written in such a file, and says whether its tests are others.
    fn written_in_source(&self, change: &Change, written: &mut Written) -> Result<bool, Fault> {
        let path = &change.path;
        let name = path.to_string();
        let text = self.text(path).unwrap_or_default();
        let old = if self.is_unknown(change) {
            None
        } else {
            self.before(old_name(change).unwrap_or(path))?
        };
        let old = old.unwrap_or_default();
        let (now, old) = (split(&name, &text), split(&name, &old));
        let are_others = !same_tests(&now.tests, &old.tests);
        written.tests |= are_others && !now.tests.trim().is_empty();
        if !same_product(&now.product, &old.product) {
            written.product.push(name.clone());
        }
        let tests = if change.deleted {
            Tests::Gone
        } else {
            Tests::Inside(stretches(&name, &text))
        };
        written.frozen.0.insert(path.clone(), tests);
        Ok(are_others)
    }

    /// What was changed in a file, by what that is for; nothing where it says the same in another form, or a runner has written it.
    pub fn changed_classes(&self, change: &Change) -> Result<Vec<FileClass>, Fault> {
        let path = &change.path;
        let mut classes = Vec::new();
        match self.role(path) {
            Role::Tests => classes.push(FileClass::Tests),
            Role::Both => {
                let mut written = Written::default();
                let has_tests = self.written_in_source(change, &mut written)?;
                classes.extend(has_tests.then_some(FileClass::Tests));
                classes.extend((!written.product.is_empty()).then_some(FileClass::Source));
            }
            // Which commit of another project is used, as a lock file says it.
            Role::Product if change.submodule => classes.push(FileClass::Build),
            Role::Product => classes.push(FileClass::Source),
            Role::Other => {
                let name = self.repository.name_in_scope(path);
                classes.extend(match self.classes.of(&name) {
                    _ if is_runner_written(&name) => None,
                    PathClass::Docs => Some(FileClass::Docs),
                    PathClass::Build => Some(FileClass::Build),
                    PathClass::Test | PathClass::Source => None,
                });
            }
        }
        if let Some(original) = old_name(change) {
            // What has another name is gone under the old one; of a source file with tests both are looked at above.
            match self.role(original) {
                Role::Tests => classes.push(FileClass::Tests),
                Role::Product if change.submodule => classes.push(FileClass::Build),
                Role::Product => classes.push(FileClass::Source),
                Role::Both if !matches!(self.role(path), Role::Both) => {
                    classes.push(FileClass::Source);
                }
                Role::Both | Role::Other => {}
            }
        }
        Ok(classes)
    }

    /// The files whose tests are not as they were in RED.
    pub fn changed_files(
        &self,
        frozen: &Frozen,
        changes: &Changes,
    ) -> Result<Vec<RepoPath>, Fault> {
        let changed = self.changed(frozen, changes)?;
        Ok(changed.into_keys().collect())
    }

    /// Whether all of a file is tests, so that it can be put back as a whole.
    pub fn is_tests_alone(&self, path: &RepoPath) -> bool {
        matches!(self.role(path), Role::Tests)
    }

    /// What a file holds of tests now; nothing where it has no place for any.
    pub fn as_it_is(&self, path: &RepoPath) -> Result<Option<Tests>, Fault> {
        Ok(match self.role(path) {
            Role::Tests => Some(self.whole(path)?),
            Role::Both => {
                let text = self.text(path).unwrap_or_default();
                Some(Tests::Inside(stretches(&path.to_string(), &text)))
            }
            Role::Product | Role::Other => None,
        })
    }

    /// The files whose tests are not as they were in RED, with what became of them.
    pub fn changed(
        &self,
        frozen: &Frozen,
        changes: &Changes,
    ) -> Result<BTreeMap<RepoPath, TestChange>, Fault> {
        let files = &changes.files[..];
        let mut changed = BTreeMap::new();
        for (path, tests) in &frozen.0 {
            if let Some(what) = self.broken(path, tests, files)? {
                changed.insert(path.clone(), what);
            } else if matches!(tests, Tests::Whole(_))
                && !files.iter().any(|change| change.path == *path)
                && !self.says_the_same(path, path)?
            {
                changed.insert(path.clone(), TestChange::Ignored);
            }
        }
        for change in files {
            for path in change.paths() {
                if frozen.0.contains_key(path) {
                    continue;
                }
                if let Some(what) = self.touched(change, path, files)? {
                    changed.insert(path.clone(), what);
                }
            }
        }
        Ok(changed)
    }

    /// What became of the tests that RED changed.
    fn broken(
        &self,
        path: &RepoPath,
        tests: &Tests,
        files: &[Change],
    ) -> Result<Option<TestChange>, Fault> {
        Ok(match tests {
            Tests::Gone => None,
            Tests::Whole(content) => match self.whole(path)? {
                Tests::Whole(now) if now == *content => None,
                Tests::Gone => Some(TestChange::Gone),
                _ => Some(TestChange::Changed),
            },
            Tests::Inside(stretches) => self.lost(path, stretches.clone(), files),
        })
    }

    /// What became of a file that RED left as the last commit has it. New files are no change of tests.
    fn touched(
        &self,
        change: &Change,
        path: &RepoPath,
        files: &[Change],
    ) -> Result<Option<TestChange>, Fault> {
        let is_new = change.untracked
            || change.intent_to_add
            || matches!(change.staged, StatusCode::Added | StatusCode::Copied);
        match self.role(path) {
            // Under its old name it may be there again, whatever the index says.
            Role::Tests if *path != change.path => {
                Ok((!self.says_the_same(path, path)?).then_some(TestChange::Renamed))
            }
            // What was only in the index meanwhile is no test that is gone.
            Role::Tests if change.deleted && !is_new && old_name(change).is_none() => {
                Ok(Some(TestChange::Deleted))
            }
            // What became of its old name is told there.
            Role::Tests if is_new || old_name(change).is_some() => Ok(None),
            Role::Tests if self.says_the_same(path, path)? => Ok(None),
            Role::Tests => Ok(Some(TestChange::Changed)),
            Role::Both if *path == change.path => {
                let Some(before) = self.before(old_name(change).unwrap_or(path))? else {
                    return Ok(None);
                };
                Ok(self.lost(path, stretches(&path.to_string(), &before), files))
            }
            _ => Ok(None),
        }
    }

    /// What became of tests in a source file, if they are not there any more: neither in it nor, moved with what they test,
    /// in another file that was changed. More of them may be there.
    fn lost(
        &self,
        path: &RepoPath,
        mut stretches: Vec<String>,
        files: &[Change],
    ) -> Option<TestChange> {
        let now = self.text(path);
        let gone = now.is_none();
        strike(path, now.as_deref(), &mut stretches);
        for change in files {
            if stretches.is_empty() {
                return None;
            }
            if change.path != *path && may_hold_tests(&change.path.to_string()) {
                strike(
                    &change.path,
                    self.text(&change.path).as_deref(),
                    &mut stretches,
                );
            }
        }
        match (stretches.is_empty(), gone) {
            (true, _) => None,
            (false, true) => Some(TestChange::GoneInside),
            (false, false) => Some(TestChange::ChangedInside),
        }
    }
}

/// Strikes off what a file holds.
fn strike(path: &RepoPath, text: Option<&str>, wanted: &mut Vec<String>) {
    for here in stretches(&path.to_string(), text.unwrap_or_default()) {
        if let Some(at) = wanted.iter().position(|stretch| *stretch == here) {
            wanted.swap_remove(at);
        }
    }
}

/// Whether a formatter may go over a file of tests without its being another: where tests are known apart from their form.
fn formed(path: &RepoPath) -> bool {
    may_hold_tests(&path.to_string())
}

/// The name that a renamed file had.
fn old_name(change: &Change) -> Option<&RepoPath> {
    change.paths().nth(1)
}

/// The tests within a source file: a short hash of each stretch of them, apart from its form.
fn stretches(name: &str, text: &str) -> Vec<String> {
    // Enough to tell the stretches of one project apart.
    const DIGITS: usize = 20;
    parts(name, text)
        .into_iter()
        .filter(|part| part.is_test && !part.text.trim().is_empty())
        .map(|part| {
            let mut hash = journal::sha256_hex(normal_form(part.text).as_bytes());
            hash.truncate(DIGITS);
            hash
        })
        .collect()
}

/// Folders below those of tests into which suites write.
const OUTPUT_FOLDERS: &[&str] = &["artifacts", "output", "test-results", "tmp"];

/// Endings of files that suites write and nobody else.
const OUTPUT_ENDINGS: &[&str] = &[
    ".actual", ".db", ".log", ".out", ".sqlite", ".sqlite3", ".tmp",
];

/// Whether a file among the tests is one that a suite leaves behind.
fn is_output(name: &str) -> bool {
    let is_ending = OUTPUT_ENDINGS.iter().any(|ending| name.ends_with(ending));
    let mut folders = name.split('/').rev().skip(1);
    is_ending
        || (Language::of(name).is_none() && folders.any(|folder| OUTPUT_FOLDERS.contains(&folder)))
}
