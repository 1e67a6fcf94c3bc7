//! Commits replayed: their tests are run again, on what they hold and without their change.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr as _;

use ::test_report::Outcome;
use serde::Serialize;
use syntax::form::is_same_form;
use syntax::inside::{may_hold_tests, split, with_tests_of};
use text::plain::{cut_bytes, one_line};
use workspace::config::{Config, Settings};
use workspace::convention::paths::{Language, PathClass, PathClasses};
use workspace::git::{Oid, RepoPath, Repository};
use workspace::process::Cancellation;

use crate::capability::memory::Memory;
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::evidence::bench::Bench;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::suite::end_of;
use crate::capability::tests::read::few;
use crate::capability::tests::results::Counts;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::proof::check::{Problem, problem};
use crate::proof::source::Library;
use crate::proof::story::{Purpose, RunCommit};
use crate::proof::{CommitStanding, Verdict};

/// So many bytes of what was printed are shown where it came to nothing.
const MOST_PRINTED: usize = 400;

/// How a suite is refused that came to no result.
const NO_RESULT: [&str; 2] = ["report_unreadable", "test_timeout"];

/// What the tests of a commit did when they were run again, each time on the bench.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedCommit {
    /// On what the commit holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub green: Option<Counts>,
    /// On what was there before, with the commit's tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub red: Option<Counts>,
    /// Why one of the two says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
    /// The tests on what the commit holds, by name.
    #[serde(skip)]
    pub ledger: Option<Ledger>,
    /// What it showed to be wrong.
    #[serde(skip)]
    pub problems: Vec<Problem>,
}

impl ReplayedCommit {
    /// Finds fault where fewer tests pass than did in its GREEN, and some of those that `failed` in RED are not there. A submodule
    /// that is not checked out here is the reason of what it showed to be wrong, and of tests that are fewer.
    pub(super) fn holds_all(
        &mut self,
        failed: &[String],
        passed: u64,
        (repository, commit): (&Repository, &Oid),
    ) -> Result<(), Fault> {
        let green = self.green.as_ref();
        let fewer = green.is_some_and(|green| green.passed < passed);
        let ledger = self.ledger.as_ref().filter(|ledger| fewer && ledger.every);
        let lacks = |id: &&String| ledger.is_some_and(|ledger| ledger.outcome(id).is_none());
        let lacking: Vec<String> = failed.iter().filter(lacks).cloned().collect();
        if !lacking.is_empty() {
            self.problems.push(problem(
                "replay_failed",
                format!("tests of its RED are not in it: {}", few(&lacking)),
            ));
        }
        if !fewer && self.problems.is_empty() {
            return Ok(());
        }
        if let Some(path) = repository.absent_submodules(commit)?.first() {
            let commit = commit.short();
            let why = format!(
                "the submodule {path} is not checked out here: run `git submodule update --init`, in a worktree of {commit} where HEAD does not have it any more, and verify there again; one that .gitmodules does not name is in no clone"
            );
            *self = Self::failed(self.green.take(), &why, "");
        }
        Ok(())
    }

    /// One that says nothing of the commit, for this reason and with the beginning of what was printed.
    fn failed(green: Option<Counts>, why: &str, printed: &str) -> Self {
        let printed = one_line(printed);
        let why = match cut_bytes(&printed, MOST_PRINTED) {
            "" => why.to_owned(),
            printed => format!("{why}: {printed}"),
        };
        Self {
            green,
            problems: vec![problem("not_replayed", why.clone())],
            undecided: Some(why),
            ..Self::default()
        }
    }

    /// The numbers, for people.
    pub fn spoken(&self) -> String {
        let told = |name: &str, counts: Option<&Counts>| {
            let counts = counts?;
            let failing = counts.failing();
            Some(format!("{name} {} passed, {failing} failed", counts.passed))
        };
        let parts = [
            told("with the change", self.green.as_ref()),
            told("without it", self.red.as_ref()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            return "they could not be run".to_owned();
        }
        parts.join("; ")
    }
}

/// What the tests did on the last commit of a range.
#[derive(Debug, Default)]
pub(super) struct ReplayedTip {
    /// What is wrong with it.
    pub(super) problems: Vec<Problem>,
    /// What became of the tests from before the range.
    pub(super) old_tests: OldTests,
}

/// Tests that pass on the commit before a range, and what became of them on its last one, by name.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OldTests {
    /// They are gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// They do not pass there as they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<String>,
}

impl OldTests {
    /// What somebody should know of them.
    fn remarks(&self) -> impl Iterator<Item = String> {
        let told = [
            ("tests from before the range are gone", &self.gone),
            (
                "these pass before the range, and as they were then they do not on its last commit",
                &self.failing,
            ),
        ];
        let told = told.into_iter().filter(|(_, tests)| !tests.is_empty());
        told.map(|(what, tests)| format!("{what}: {}", few(tests)))
    }

    fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.failing.is_empty()
    }
}

impl Verdict {
    /// Runs the tests of the commit again, where it is one of a subtask or a repair, or holds some.
    pub(super) fn replay_with(
        &mut self,
        replayer: &Replayer<'_>,
        library: &Library,
        begun: &dyn Fn(),
    ) -> Result<(), Fault> {
        let Ok(commit) = Oid::from_str(&self.sha) else {
            return Ok(());
        };
        let held = self.held().iter();
        let mut parts: Vec<&RunCommit> = held.filter_map(|sha| Some(library.of(sha)?.1)).collect();
        parts.retain(|made| made.purpose != Purpose::Status);
        let Some(last) = parts.last().filter(|_| self.part_of.is_none()) else {
            return Ok(());
        };
        let base = if self.carries.is_empty() {
            Oid::from_str(&last.base).ok()
        } else {
            let info = replayer.repository.commit_info(&commit)?;
            info.parents.first().cloned()
        };
        let Some(base) = base else {
            return Ok(());
        };
        begun();
        let reds = parts.iter().filter_map(|made| made.red.as_ref());
        let owed: Vec<String> = reds.flat_map(|red| red.newly_failing.clone()).collect();
        let passed = last.green.as_ref().map_or(0, |green| green.passed);
        let is_test_driven =
            |made: &&RunCommit| made.purpose == Purpose::Subtask && !made.rule.is_own();
        let shows = if parts.iter().any(is_test_driven) {
            Shows::NewTests
        } else if self.standing == CommitStanding::Earned
            && parts.iter().any(|made| made.purpose == Purpose::Repair)
        {
            Shows::Repair
        } else {
            Shows::Nothing
        };
        let mut replayed = replayer.replayed((&base, &commit), shows)?;
        replayed.holds_all(&owed, passed, (replayer.repository, &commit))?;
        let problems = std::mem::take(&mut replayed.problems);
        if !problems.is_empty() {
            self.standing = CommitStanding::Faulty;
        } else if let Some(why) = &replayed.undecided {
            self.remarks
                .push(format!("its RED could not be tried again: {why}"));
        }
        self.problems.extend(problems);
        self.replay = Some(replayed);
        Ok(())
    }

    /// Runs the tests of the last commit of a range, and those of the commit before the range on it, whatever made it.
    pub(super) fn replay_as_tip(
        &mut self,
        replayer: &Replayer<'_>,
        base: Option<&Oid>,
    ) -> Result<(), Fault> {
        let Ok(tip) = Oid::from_str(&self.sha) else {
            return Ok(());
        };
        let known = self
            .replay
            .as_ref()
            .and_then(|replay| replay.ledger.clone());
        let replayed = replayer.replayed_tip(base, &tip, known)?;
        if !replayed.problems.is_empty() {
            self.standing = CommitStanding::Faulty;
        }
        self.problems.extend(replayed.problems);
        self.remarks.extend(replayed.old_tests.remarks());
        self.old_tests = Some(replayed.old_tests).filter(|tests| !tests.is_empty());
        Ok(())
    }
}

/// What a commit is to show when its tests are run again, beside that they pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    /// A test passes that fails without the change.
    NewTests,
    /// A test passes that fails before it, as it is there.
    Repair,
    /// Nothing more.
    Nothing,
}

/// What is needed to run the tests of commits.
pub(super) struct Replayer<'a> {
    pub(super) repository: &'a Repository,
    config: &'a Config,
    memory: Memory,
    classes: PathClasses,
    cancelled: Cancellation,
    /// Where the project's benches lie.
    benches: PathBuf,
    /// Whether the bench was cleared.
    is_cleared: Cell<bool>,
}

impl<'a> Replayer<'a> {
    /// By these settings, and the test command that they name or that is found here.
    pub(super) fn of(
        engine: &'a Engine,
        repository: &'a Repository,
        settings: &'a Settings,
    ) -> Result<Self, Fault> {
        let (memory, _) = engine.memory_of_tests(settings)?;
        let classes = memory.start.classes()?;
        Ok(Self {
            repository,
            config: &settings.config,
            classes,
            cancelled: engine.cancellation(),
            is_cleared: Cell::new(false),
            benches: engine.benches_folder()?,
            memory,
        })
    }

    /// Replays a commit that was made on `base`. Of its tests those may fail that fail there.
    pub(super) fn replayed(
        &self,
        (base, commit): (&Oid, &Oid),
        shows: Shows,
    ) -> Result<ReplayedCommit, Fault> {
        match self.run(base, commit, shows) {
            Err(fault) if fault.code == "cancelled" => Err(fault),
            Err(fault) => {
                let printed = fault.details.get("output").and_then(|it| it.as_str());
                let printed = printed.unwrap_or_default();
                Ok(ReplayedCommit::failed(None, &fault.message, printed))
            }
            done => done,
        }
    }

    /// Runs the tests of the last commit of a range, or takes what they did already, and on it those from before the range. What failed
    /// there already may fail.
    pub(super) fn replayed_tip(
        &self,
        base: Option<&Oid>,
        tip: &Oid,
        known: Option<Ledger>,
    ) -> Result<ReplayedTip, Fault> {
        let tried = |tree: &Oid, head: &Oid| match self.tested(tree, head) {
            Err(fault) if fault.code == "cancelled" => Err(fault),
            done => Ok(done.ok()),
        };
        let mut replayed = ReplayedTip::default();
        let before = match base {
            Some(base) => tried(base, base)?,
            None => None,
        };
        let failed = before.as_ref().map_or(0, |before| before.counts.failing());
        let before = before.and_then(|before| before.ledger());
        let failed_before = |id: &str| before.as_ref().is_some_and(|before| before.fails(id));
        let now = if known.is_some() {
            known
        } else {
            let taken = match self.tested(tip, tip) {
                Err(fault) if fault.code == "cancelled" => return Err(fault),
                Err(fault) => {
                    replayed
                        .problems
                        .push(problem("not_replayed", fault.message));
                    return Ok(replayed);
                }
                Ok(taken) => taken,
            };
            let ledger = taken.ledger();
            let broken = self.failing_twice(tip, ledger.as_ref(), failed_before)?;
            if !broken.is_empty() || ledger.is_none() && taken.counts.failing() > failed {
                replayed.problems.push(failing(&broken));
            }
            ledger
        };
        let (Some(base), Some(before)) = (base, before) else {
            return Ok(replayed);
        };
        let passed = || before.those(Outcome::is_success);
        if let Some(now) = now.filter(|now| now.names_alike(&before)) {
            let gone = passed().filter(|id| now.outcome(id).is_none());
            replayed.old_tests.gone = gone.map(str::to_owned).collect();
        }
        let changed = self.repository.changed_paths(base, tip)?;
        let (tests, others): (Vec<_>, Vec<_>) =
            changed.into_iter().partition(|path| self.is_test(path));
        let (then, mut is_other) = self.without(tip, base, &others)?;
        for path in &tests {
            is_other |= self.repository.file_at(base, path)?.is_some();
        }
        if is_other {
            let there = tried(&then, tip)?.and_then(|there| there.ledger());
            let passes = |id: &&str| match &there {
                // Where not all can be collected, not all have a name.
                Some(there) if before.every => there.outcome(id).is_some_and(Outcome::is_success),
                Some(there) => !there.fails(id),
                None => false,
            };
            let broken = passed().filter(|id| !passes(id));
            replayed.old_tests.failing = broken.map(str::to_owned).collect();
        }
        Ok(replayed)
    }

    fn run(&self, base: &Oid, commit: &Oid, shows: Shows) -> Result<ReplayedCommit, Fault> {
        let green = self.tested(commit, commit)?;
        if green.counts.passed == 0 {
            let printed = green.ran.map_or(String::new(), |ran| end_of(&ran.output));
            let why = "no test of it passes on the bench";
            return Ok(ReplayedCommit::failed(Some(green.counts), why, &printed));
        }
        let changed = self.repository.changed_paths(base, commit)?;
        let (tests, others): (Vec<_>, Vec<_>) =
            changed.into_iter().partition(|path| self.is_test(path));
        let (without, has_tests) = self.without(base, commit, &others)?;
        // It may be of a test that failed already.
        let has_none = shows == Shows::NewTests && tests.is_empty() && !has_tests;
        let is_repair = shows == Shows::Repair || has_none;
        let now = green.ledger();
        let has_names = now.as_ref().is_some_and(|now| now.every);
        let mut replayed = ReplayedCommit {
            green: Some(green.counts),
            ledger: now.clone(),
            ..ReplayedCommit::default()
        };
        let before = if green.counts.failing() > 0 || is_repair {
            Some(self.tested(base, base)?)
        } else {
            None
        };
        let ledger_before = before.as_ref().and_then(TestEvidence::ledger);
        let failed_before = |id: &str| {
            ledger_before
                .as_ref()
                .is_some_and(|before| before.fails(id))
        };
        let broken = self.failing_twice(commit, now.as_ref(), failed_before)?;
        let failed = before.as_ref().map_or(0, |before| before.counts.failing());
        if !broken.is_empty() || !has_names && green.counts.failing() > failed {
            replayed.problems.push(failing(&broken));
        }
        if is_repair {
            let mended = match &now {
                Some(now) if has_names => now.those(Outcome::is_success).any(failed_before),
                _ => before
                    .as_ref()
                    .is_some_and(|before| before.counts.failing() > green.counts.failing()),
            };
            replayed.red = before.map(|before| before.counts);
            if !mended {
                replayed.problems.push(problem(
                    "replay_failed",
                    "no test fails before it that passes with it",
                ));
            }
            return Ok(replayed);
        }
        if shows == Shows::Nothing {
            return Ok(replayed);
        }
        let red = match self.tested(&without, commit) {
            // As where a test cannot be loaded without what it tests, and the runner ends there.
            Err(fault) if NO_RESULT.contains(&fault.code.as_str()) => None,
            red => Some(red?),
        };
        replayed.red = red.as_ref().map(|red| red.counts);
        let then = red.as_ref().and_then(TestEvidence::ledger);
        let passes_then = |id: &str| {
            let outcome = then.as_ref().and_then(|then| then.outcome(id));
            outcome.is_some_and(Outcome::is_success)
        };
        let turned = match (&red, &now) {
            (None, _) => true,
            (_, Some(now)) if has_names => {
                now.those(Outcome::is_success).any(|id| !passes_then(id))
            }
            (Some(red), _) => red.counts.passed < green.counts.passed,
        };
        if !turned && !self.is_product_tested((commit, &without), &others)? {
            replayed.undecided = Some("what the tests load does not lie on the bench".to_owned());
        } else if !turned {
            replayed.problems.push(problem(
                "replay_failed",
                "none of its tests passes with its change and fails without it",
            ));
        }
        Ok(replayed)
    }

    /// The tests that failed on a commit and fail again when all are run once more, but for those that are known to.
    fn failing_twice<'l>(
        &self,
        commit: &Oid,
        ledger: Option<&'l Ledger>,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<Vec<&'l str>, Fault> {
        let failing = ledger.into_iter().flat_map(Ledger::failing);
        let mut failing: Vec<&str> = failing.filter(|id| !is_known(id)).collect();
        if !failing.is_empty()
            && let Some(again) = self.tested(commit, commit)?.ledger()
        {
            failing.retain(|id| again.fails(id));
        }
        Ok(failing)
    }

    /// The tree of a commit with the product of `base` in these files, and its own tests where these stand among that; whether any do
    /// that the commit has brought.
    fn without(&self, base: &Oid, commit: &Oid, paths: &[RepoPath]) -> Result<(Oid, bool), Fault> {
        let mut edits = Vec::new();
        let mut merged = Vec::new();
        for change in self.repository.tree_changes(base, commit)? {
            if !paths.contains(&change.path) {
                continue;
            }
            let name = change.path.to_string();
            let mut text = None;
            if may_hold_tests(&name) {
                let before = self.repository.file_at(base, &change.path)?;
                let now = self.repository.file_at(commit, &change.path)?;
                let now = now.unwrap_or_default();
                let tests = split(&name, &now).tests;
                let then = before.as_ref().map(|before| split(&name, before).tests);
                let is_other = !then.is_some_and(|then| is_same_form(&name, &then, &tests));
                text = before
                    .filter(|_| !tests.is_empty() && is_other)
                    .map(|before| with_tests_of(&name, &before, &now));
            }
            match text {
                Some(text) => merged.push((change.path, change.after, text)),
                None => edits.push((change.path, change.before)),
            }
        }
        let tree = self.repository.edit_tree(commit, &edits)?;
        let tree = self.repository.write_texts(&tree, &merged)?;
        Ok((tree, !merged.is_empty()))
    }

    /// Runs the tests of a tree, with a commit as the bench's HEAD.
    fn tested(&self, tree: &Oid, head: &Oid) -> Result<TestEvidence, Fault> {
        let cancelled = &self.cancelled;
        let bench = Bench::take(
            &self.benches,
            &self.memory,
            self.config,
            head.clone(),
            cancelled,
        )?;
        // What an earlier suite left among what is built shall not decide.
        if !self.is_cleared.replace(true) {
            bench.clear()?;
        }
        bench.tested("a commit", tree, tree != head, None)
    }

    /// Whether it is the bench's own product that is tested on it: with all of that taken away not every test passes. `changed` are files
    /// that were changed, among others.
    fn is_product_tested(
        &self,
        (commit, tree): (&Oid, &Oid),
        changed: &[RepoPath],
    ) -> Result<bool, Fault> {
        let ending = |path: &RepoPath| {
            let name = path.to_string();
            name.rsplit_once('.').map(|(_, ending)| ending.to_owned())
        };
        let is_source = |path: &RepoPath| {
            self.classes.of(&self.repository.name_in_scope(path)) == PathClass::Source
        };
        // What language the product is written in tells what was changed of it.
        let changed_endings: BTreeSet<String> = changed
            .iter()
            .filter(|path| is_source(path))
            .filter_map(ending)
            .collect();
        let known = self.repository.known_files()?;
        let product = known.iter().chain(changed).filter(|path| {
            let name = path.to_string();
            let is_code = Language::of(&name).is_some()
                || may_hold_tests(&name)
                || ending(path).is_some_and(|ending| changed_endings.contains(&ending));
            is_source(path) && is_code
        });
        let edits: Vec<_> = product.map(|path| (path.clone(), None)).collect();
        let none = self.repository.edit_tree(tree, &edits)?;
        match self.tested(&none, commit) {
            Ok(without) => Ok(without.counts.failing() > 0 || without.counts.passed == 0),
            Err(fault) if fault.code == "cancelled" => Err(fault),
            Err(_) => Ok(true),
        }
    }

    fn is_test(&self, path: &RepoPath) -> bool {
        self.classes
            .of(&self.memory.repository().name_in_scope(path))
            == PathClass::Test
    }
}

fn failing(broken: &[&str]) -> Problem {
    let named: Vec<String> = broken.iter().map(|id| (*id).to_owned()).collect();
    let which = match &named[..] {
        [] => String::new(),
        named => format!(": {}", few(named)),
    };
    problem(
        "replay_failed",
        format!("not all of its tests pass when they are run again{which}"),
    )
}
