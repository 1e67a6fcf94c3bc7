//! Whether the tests are those that were frozen, and how they come back where they are not.

use std::collections::BTreeMap;

use machine::role::FileClass;
use machine::{Finding, RunState};
use syntax::Comparison as Sameness;
use workspace::git::{CommitInfo, RepoPath};
use workspace::runner::identity::RunnerIdentity;

use crate::capability::git::read::handed_in::merge_taken_back;
use crate::capability::git::read::{finding, with_files};
use crate::capability::memory::{
    BESIDE, BY_HOOK, FROZEN, KEPT, LAST_RUNNER, RUNNER, RUNNER_CONFIG, SHOWN,
};
use crate::capability::tests::evidence::frozen::{Frozen, TestChange, TestReader};
use crate::capability::tests::evidence::runner_config::RunnerConfig;
use crate::capability::tests::former::FormerTests;
use crate::capability::tests::read::{Comparison, MOVED, few, ledger, name_of, named};
use crate::capability::tests::restoration::{Restoration, in_brackets};
use crate::clock::millis_of;
use crate::next_step::{NextStep, Verb};
use crate::support::HandlerError;

impl<'a> Comparison<'a> {
    /// Holds the tests against those that were frozen, and against what a hook made of them since.
    pub(crate) fn unchanged(&mut self, reader: &TestReader<'_>) -> Result<(), HandlerError> {
        // An item that did not come by that report has nothing frozen: its tests are those that the suite has.
        if let Some(mut frozen) = FROZEN.read(self.kept, self.role.frozen.as_ref())? {
            // Nor is one that lies among the tests a test.
            let handed = self.handed();
            frozen
                .0
                .retain(|path, _| !handed.contains(path) && !self.memory.reports.contains(path));
            if let Some(key) = self.key
                && let Some(by_hook) = BY_HOOK.of(key).read(&self.run.kept)?
            {
                frozen.0.extend(by_hook.0);
            }
            let former = self.former()?;
            self.runner_config(&frozen, (reader, &former))?;
            self.runner()?;
            self.snapshots(&former)?;
            let mut changed = reader.changed(&frozen, self.since)?;
            if !changed.is_empty() {
                self.take_out_the_same(&mut changed, (reader, &former))?;
                if !changed.is_empty() {
                    let found = self.tests_changed(&changed, (reader, &former))?;
                    self.findings.push(found);
                }
            }
        }
        Ok(())
    }

    /// The files of tests as they were frozen.
    fn former(&self) -> Result<FormerTests<'a>, HandlerError> {
        let label = self.role.frozen.as_ref();
        let mut kept = BESIDE.read(self.kept, label)?.unwrap_or_default();
        kept.extend(KEPT.read(self.kept, label)?.unwrap_or_default());
        Ok(FormerTests {
            repository: self.repository,
            last: self.last,
            dir: &self.call.dir,
            kept,
        })
    }

    /// Takes out of these changes those that change no test: where a formatter went over it, where its runner has filled in a snapshot
    /// that was empty, and where the file has another place, if the report names every test.
    fn take_out_the_same(
        &mut self,
        changed: &mut BTreeMap<RepoPath, TestChange>,
        (reader, former): (&TestReader<'_>, &FormerTests<'_>),
    ) -> Result<(), HandlerError> {
        let tests = |wanted: &[TestChange]| -> Vec<RepoPath> {
            let wanted = changed
                .iter()
                .filter(|(path, what)| wanted.contains(what) && reader.is_tests_alone(path));
            wanted.map(|(path, _)| path.clone()).collect()
        };
        let here = tests(&[TestChange::Changed]);
        let gone = tests(&[TestChange::Gone, TestChange::Renamed, TestChange::Deleted]);
        for path in here {
            match former.compared(&path)? {
                Some(Sameness::Same) => {}
                Some(Sameness::FilledIn(_)) => self.written.push(path.to_string()),
                Some(Sameness::Different) | None => continue,
            }
            changed.remove(&path);
        }
        if self.now.as_ref().is_some_and(|now| now.every) {
            let mut moved = former.moved(&gone, (reader, &self.since.files))?;
            let shown = SHOWN.read(self.kept, self.role.against.as_ref())?;
            let red = ledger(
                self.call,
                shown.as_ref().and_then(|shown| shown.ledger.as_deref()),
            )?;
            if let Some(now) = &self.now {
                // Another test of the same name is not the one that was moved.
                moved.retain(|from, to| {
                    let files = (&*from.to_string(), &*to.to_string());
                    let known = red.iter().chain(&self.before);
                    let mut known = known.filter_map(|known| known.named_as(now));
                    known.all(|known| known.came_along(files, now))
                });
            }
            self.moved = moved;
            changed.retain(|path, _| !self.moved.contains_key(path));
        }
        Ok(())
    }

    /// Says which files of tests have another place.
    pub(super) fn tell_of_moved(&mut self) {
        if self.moved.is_empty() {
            return;
        }
        let told: Vec<String> = self
            .moved
            .iter()
            .map(|(from, to)| format!("{from} → {to}"))
            .collect();
        self.facts.insert(MOVED.to_owned(), named(&told));
        self.warnings.push("tests_moved".to_owned());
    }

    /// Holds what configures the runner against what it was when the tests were frozen, or in the last commit.
    fn runner_config(
        &mut self,
        frozen: &Frozen,
        (reader, former): (&TestReader<'_>, &FormerTests<'_>),
    ) -> Result<(), HandlerError> {
        let kept = RUNNER_CONFIG.read(self.kept, self.role.frozen.as_ref())?;
        let mut lost = kept
            .unwrap_or_default()
            .lost(self.repository, self.last, self.since)?;
        // A file of tests that was there is held to what it was as one of these.
        let mut back = Vec::new();
        let mut names = Vec::new();
        for path in lost.drain(..) {
            let is_committed = self.repository.file_at(self.last, &path)?.is_some();
            if reader.is_tests_alone(&path) && (is_committed || frozen.0.contains_key(&path)) {
                continue;
            }
            if former.compared(&path)? == Some(Sameness::Same) {
                continue;
            }
            names.push(path.to_string());
            if is_committed && !frozen.0.contains_key(&path) {
                back.push(self.restored(&path));
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        let back = in_brackets(&back);
        let found = finding(
            "runner_config_changed",
            format!(
                "what configures the runner, or is loaded before the tests, was changed since {} was accepted: {}",
                name_of(self.role.against.as_ref()),
                few(&names)
            ),
            format!(
                "put it back as it was, or take it away{back}, then run the tests and report again: {report}; if the tests need it, go back with {reopen}, and report it with them",
                report = Verb::Report,
                reopen = Verb::Reopen.step().and("reason")
            ),
        );
        self.findings.push(with_files(found, &names));
        Ok(())
    }

    /// Holds what runs the tests against what it was before, in work of which no test has failed.
    pub(super) fn as_before_the_work(&mut self) -> Result<(), HandlerError> {
        let only = &self.role.only;
        let is_of = |class: FileClass| only.contains(&class);
        if self.role.frozen.is_some() || !(is_of(FileClass::Source) || is_of(FileClass::Tests)) {
            return Ok(());
        }
        self.run_by(LAST_RUNNER.read(&self.run.kept)?, "before");
        // What tests are loaded with may well belong to them.
        if is_of(FileClass::Tests) {
            return Ok(());
        }
        let changed = RunnerConfig::changed_since(self.repository, self.last, self.since)?;
        let names: Vec<String> = changed.0.keys().map(ToString::to_string).collect();
        if !names.is_empty() {
            let found = finding(
                "runner_config_changed",
                format!(
                    "what configures the runner, or is loaded before the tests, was changed since the last commit: {}",
                    few(&names)
                ),
                format!(
                    "put it back as it was, run the tests and report again: {}; to change it is a subtask of its own",
                    Verb::Report
                ),
            );
            self.findings.push(with_files(found, &names));
        }
        Ok(())
    }

    /// Holds what the tests are run by against what it was when they were frozen, where they were run here both times.
    fn runner(&mut self) -> Result<(), HandlerError> {
        let before = RUNNER.read(self.kept, self.role.frozen.as_ref())?;
        let when = format!("in {}", name_of(self.role.against.as_ref()));
        self.run_by(before, &when);
        Ok(())
    }

    fn run_by(&mut self, before: Option<RunnerIdentity>, when: &str) {
        let (Some(before), Some(now)) = (before, &self.taken.runner) else {
            return;
        };
        let changed = now.changed_since(&before);
        if !changed.is_empty() {
            self.findings.push(finding(
                "runner_config_changed",
                format!(
                    "the tests are not run by what they were run by {when}: {}",
                    few(&changed)
                ),
                format!(
                    "have them run as then, with the same programs installed and the same variables set, and report again: {report}; if it has to be another one, go back with {reopen}, and report the failing tests with it",
                    report = Verb::Report,
                    reopen = Verb::Reopen.step().and("reason")
                ),
            ));
        }
    }

    /// The finding that tests are not as they were frozen, and how each comes back.
    fn tests_changed(
        &self,
        changed: &BTreeMap<RepoPath, TestChange>,
        (reader, former): (&TestReader<'_>, &FormerTests<'_>),
    ) -> Result<Finding, HandlerError> {
        let told: Vec<String> = changed
            .iter()
            .map(|(path, what)| format!("{path} ({what})"))
            .collect();
        let Restoration {
            steps,
            is_whole,
            by_hand,
            aside,
        } = self.restoration(changed, reader, former)?;
        let steps: Vec<String> = steps.iter().map(NextStep::to_string).collect();
        let mut back = match (is_whole, steps.is_empty()) {
            (_, true) => String::new(),
            (true, false) => format!(" ({})", steps.join(", ")),
            (false, false) => format!(" (some with {})", steps.join(", ")),
        };
        if !by_hand.is_empty() {
            back = format!(
                "{back}, with the code beside them left as it is ({})",
                by_hand.join(", ")
            );
        }
        let mut back_is_here = false;
        if self.is_merged(changed.keys())? {
            back = format!(
                ": they came with a merge that is none of the run's; {}",
                merge_taken_back(self.status, self.last, self.memory)
            );
        } else if self.is_stashed()? && self.holds_of(changed) {
            let pop = NextStep::git(["stash", "pop"]);
            back = format!(": they may be in the stash ({pop}); or put them back{back}");
        } else {
            back_is_here = true;
        }
        // What was deleted, or is elsewhere, no runner has done.
        let may_be_filled_in = back_is_here
            && changed
                .values()
                .all(|what| matches!(what, TestChange::Changed | TestChange::ChangedInside))
            && changed.keys().any(|path| self.has_inline_snapshots(path));
        let kept = if aside.is_empty() {
            ""
        } else {
            "; what is there now is kept with the run"
        };
        let mut found = with_files(
            finding(
                "tests_changed",
                format!(
                    "tests were changed since {} was accepted: {}",
                    name_of(self.role.against.as_ref()),
                    few(&told)
                ),
                if may_be_filled_in {
                    format!(
                        "if the runner filled a snapshot in, which belongs into the test in RED, or a formatter went over it, go back with {reopen}, and report RED with it so; else put them back{back}, run the tests and report again: {report}{kept}",
                        report = Verb::Report,
                        reopen = Verb::Reopen.step().and("reason")
                    )
                } else {
                    format!(
                        "put them back{back}, then run the tests and report again: {report}{kept}; if a test was wrong, is to have another form, or another one is wanted, go back with {reopen}, mend it there and report again",
                        report = Verb::Report,
                        reopen = Verb::Reopen.step().and("reason")
                    )
                },
            ),
            &told,
        );
        if !aside.is_empty() {
            found.details.insert("kept".to_owned(), aside.into());
        }
        Ok(found)
    }

    /// Whether the newest stash holds one of these files.
    fn holds_of(&self, changed: &BTreeMap<RepoPath, TestChange>) -> bool {
        let stashed = self.repository.stashed_paths();
        stashed.iter().any(|path| changed.contains_key(path))
    }

    /// Whether a test holds snapshots that its runner writes into it.
    fn has_inline_snapshots(&self, path: &RepoPath) -> bool {
        let text = std::fs::read_to_string(self.repository.absolute(path)).unwrap_or_default();
        ["InlineSnapshot(", "assert_snapshot!(", "inline_snapshot"]
            .iter()
            .any(|call| text.contains(call))
    }

    /// Whether what was changed came with a merge that the run knows nothing of.
    fn is_merged<'p>(
        &self,
        mut paths: impl Iterator<Item = &'p RepoPath>,
    ) -> Result<bool, HandlerError> {
        let Some(head) = self.status.head.as_ref().filter(|head| *head != self.last) else {
            return Ok(false);
        };
        let in_tree = self.changes.paths();
        let commits = self.repository.commits_between(self.last, head)?;
        Ok(commits.iter().any(CommitInfo::is_merge) && paths.all(|path| !in_tree.contains(path)))
    }
}

impl Comparison<'_> {
    /// Whether something was stashed on the run's last commit while the run was under way. What was stashed before is its user's.
    pub(crate) fn is_stashed(&self) -> Result<bool, HandlerError> {
        let stashed = self.repository.stashed_on(began_at(self.run))?;
        Ok(stashed.as_ref() == Some(self.last))
    }
}

/// When a run began, in seconds since 1970.
pub(crate) fn began_at(run: &RunState) -> i64 {
    millis_of(&run.started_at).map_or(0, |millis| millis.div_euclid(1000))
}
