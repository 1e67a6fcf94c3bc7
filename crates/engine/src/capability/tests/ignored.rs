//! Files of tests that git ignores: they are run here, and in no commit.

use std::time::{Duration, UNIX_EPOCH};

use workspace::convention::paths::Language;
use workspace::git::RepoPath;

use crate::capability::tests::comparison::Comparison;
use crate::capability::tests::read::named;
use crate::clock::millis_of;
use crate::support::HandlerError;

/// What a report says of files of tests that git ignores: which.
pub(crate) const IGNORED: &str = "ignoredTests";

impl Comparison<'_> {
    /// Warns of files that were written since the run began and that git ignores, so that neither a commit nor the bench holds them: of
    /// tests, and of any code where tests fail on the bench. They are given.
    pub(super) fn warn_of_ignored_tests(&mut self) -> Result<Vec<String>, HandlerError> {
        let classes = self.work.memory.start.classes()?;
        let began = millis_of(&self.run.started_at).and_then(|at| u64::try_from(at).ok());
        let began = UNIX_EPOCH + Duration::from_millis(began.unwrap_or(0));
        // Where tests fail on the bench, it may be for want of any of them.
        let any_may_be_missed = self.counts.failing() > 0 && self.tested_on().is_some();
        let is_new_test = |path: &&RepoPath| {
            let name = self.repository.name_in_scope(path);
            let about = std::fs::symlink_metadata(self.repository.absolute(path));
            let written = about.and_then(|about| about.modified());
            let may_be_missed = any_may_be_missed || classes.is_test(&name);
            is_code(&name) && may_be_missed && written.is_ok_and(|written| written > began)
        };
        let new = self.status.ignored.iter().filter(is_new_test);
        let new: Vec<String> = new.map(ToString::to_string).collect();
        if !new.is_empty() {
            self.facts.insert(IGNORED.to_owned(), named(&new));
            self.warnings.push("tests_ignored".to_owned());
        }
        Ok(new)
    }
}

/// Whether people write a file of this name, and no build.
fn is_code(name: &str) -> bool {
    const OTHERS: [&str; 9] = ["bats", "c", "cc", "cpp", "cxx", "lua", "pl", "sh", "t"];
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    Language::of(name).is_some() || OTHERS.contains(&ending)
}
