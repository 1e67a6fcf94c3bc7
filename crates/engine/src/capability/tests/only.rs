//! What kinds of files a report may be about, and whether something else was changed.

use std::collections::BTreeMap;

use ::test_report::Outcome;
use machine::role::FileClass;
use machine::{Finding, Role};
use workspace::convention::paths::PathClass;

use crate::capability::git::changes::Changes;
use crate::capability::git::read::{finding, with_files};
use crate::capability::memory::LAST_TOTAL;
use crate::capability::tests::evidence::frozen::TestReader;
use crate::capability::tests::evidence::hollow::is_of_tests_alone;
use crate::capability::tests::known::began;
use crate::capability::tests::read::{Comparison, few};
use crate::fault::Fault;
use crate::next_step::Verb;
use crate::support::HandlerError;

/// The policy of changes that are of another kind than the report is about.
pub(crate) const OTHER_FILES_CHANGED: &str = "other_files_changed";
/// The policy of a report about tests alone that brings none.
pub(crate) const NO_TEST_WRITTEN: &str = "no_test_written";

/// What a file is for, in the words of roles.
pub(crate) fn class_of(class: PathClass) -> FileClass {
    match class {
        PathClass::Test => FileClass::Tests,
        PathClass::Docs => FileClass::Docs,
        PathClass::Build => FileClass::Build,
        PathClass::Source => FileClass::Source,
    }
}

/// What is to be said of the files that were changed since the last commit, where a role says which ones may be.
pub(crate) fn findings(
    role: &Role,
    reader: &TestReader<'_>,
    changes: &Changes,
) -> Result<Vec<Finding>, Fault> {
    if role.only.is_empty() {
        return Ok(Vec::new());
    }
    let mut others: BTreeMap<FileClass, Vec<String>> = BTreeMap::new();
    let mut has_tests = false;
    for change in &changes.files {
        for class in reader.changed_classes(change)? {
            has_tests |= class == FileClass::Tests && !change.deleted;
            if !role.only.contains(&class) {
                let files = others.entry(class).or_default();
                files.push(change.path.to_string());
            }
        }
    }
    let mut findings = Vec::new();
    if !others.is_empty() {
        findings.push(other_files(role, &others));
    }
    if is_of_tests_alone(role) && !has_tests {
        findings.push(no_test_written(
            "no test was written or changed since the last commit",
        ));
    }
    Ok(findings)
}

impl Comparison<'_> {
    /// Whether a report about tests alone brings some that were not there before.
    pub(super) fn brings_tests(&mut self) -> Result<(), HandlerError> {
        let mut findings = self.findings.iter();
        let is_told = findings.any(|finding| finding.policy == NO_TEST_WRITTEN);
        // What fails is told as that.
        if !is_of_tests_alone(self.role) || is_told || self.counts.failing() > 0 {
            return Ok(());
        }
        let before = self.before.as_ref();
        let brings = match (&self.now, before) {
            (Some(now), Some(before)) if before.names_alike(now) => now
                .those(Outcome::is_success)
                .any(|id| before.outcome(id).is_none()),
            _ => {
                let total = match began(self.kept, self.role)? {
                    Some(began) => began.total,
                    None => LAST_TOTAL.read(&self.run.kept)?,
                };
                total.is_none_or(|total| self.taken.counts.total() > total)
            }
        };
        if !brings {
            self.findings.push(no_test_written(
                "no test that passes is new: a subtask of this kind brings some, and changes none alone",
            ));
        }
        Ok(())
    }
}

/// That a report about tests alone brings none.
pub(crate) fn no_test_written(why: &str) -> Finding {
    finding(
        NO_TEST_WRITTEN,
        why,
        format!("write one, and report again: {}", Verb::Report),
    )
}

fn other_files(role: &Role, others: &BTreeMap<FileClass, Vec<String>>) -> Finding {
    let told: Vec<String> = others
        .iter()
        .map(|(class, files)| format!("{}: {}", class.noun(), few(files)))
        .collect();
    let may = text::listed(role.only.iter().map(|class| class.noun()));
    let found = finding(
        OTHER_FILES_CHANGED,
        format!(
            "only {may} may be changed here, and these were, too: {}",
            told.join("; ")
        ),
        format!(
            "put them back, and report again: {}; where the subtask needs them it is of another kind: {}",
            Verb::Report,
            Verb::Reopen.step().with("kind", "KIND").and("reason")
        ),
    );
    let files: Vec<String> = others.values().flatten().cloned().collect();
    with_files(found, &files)
}
