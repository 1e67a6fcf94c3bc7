//! A report of tests beside what it is held against: what the rule makes of it, and what the run keeps.

use ::test_report::Outcome;
use machine::state::Token;
use machine::{Finding, Role, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use workspace::config::{Config, Level};
use workspace::git::{Oid, Repository, TreeStatus};

use crate::call::Call;
use crate::capability::git::read::moved::Moved;
use crate::capability::git::read::{finding, with_files, with_tests};
use crate::capability::memory::{
    BEFORE, BENCH, FROZEN, KeptWork, LAST_COVERED, LAST_LEDGER, LAST_LEVEL, LAST_RUNNER, REPAIRS,
    RUNNER, SHOWN, Shown, TESTED, Tested, UNTRIED, WORK,
};
use crate::capability::messages::tests;
use crate::capability::tests::covered::{fell, lines_of};
use crate::capability::tests::difference::{Difference, names};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::verified::RanOn;
use crate::capability::tests::evidence::work::Work;
use crate::capability::tests::evidence::{OUTPUT, TestEvidence, baseline, level_name};
use crate::capability::tests::findings::changed_since_commit;
use crate::capability::tests::read::{
    CONFIGURED, FLAKY, GONE, MOST_NAMED, SNAPSHOTS, few, name_of, named, short,
};
use crate::capability::tests::results::Counts;
use crate::capability::tests::rule::{self, Given, POLICIES, Red};
use crate::fault::Fault;
use crate::next_step::Verb;
use crate::slot::Slot;
use crate::support::HandlerError;

/// Under this name a token keeps which tests failed, and how often these very ones did.
const FAILING: Slot<Failing> = Slot::new("failing");

/// Tests that fail again and again.
#[derive(Debug, Serialize, Deserialize)]
struct Failing {
    /// Hash of their names.
    hash: String,
    /// How many reports in a row showed just these.
    times: u64,
}
/// After so many reports with the same failing tests a run is stuck.
const STUCK_AFTER: u64 = 3;

/// What a report is held to: the tests as the report of failing ones, or the last one of passing ones, had them.
pub(crate) struct HeldTo {
    /// What people call that report.
    pub(crate) name: String,
    /// The tree of its work.
    pub(crate) tree: Oid,
}

impl HeldTo {
    pub(crate) fn of(kept: &Map<String, Value>, role: &Role) -> Result<Option<Self>, Fault> {
        let against = role.against.as_ref();
        let name = name_of(against);
        if let Some(tested) = TESTED.read(kept, against)? {
            let tree = tested.work.tree;
            return Ok(Some(Self { name, tree }));
        }
        let frozen = FROZEN.read(kept, role.frozen.as_ref())?;
        Ok(frozen.map(|frozen| Self {
            name,
            tree: frozen.tree,
        }))
    }
}

/// What there is to say before the suite is run, if it is to be run here.
pub(crate) fn before_the_suite(
    work: &Work,
    (present, config): (&Token, &Config),
    of_item: &[Difference],
    repairs: &[String],
) -> Result<Vec<Finding>, Fault> {
    let repository = work.memory.repository();
    let sorter = work.sorter(&repository, config)?;
    let held_to = HeldTo::of(&present.kept, &present.role)?;
    let since = match &held_to {
        Some(held) => sorter.between(&held.tree, &work.tree)?,
        None => Vec::new(),
    };
    let shown = SHOWN.read(&present.kept, present.role.against.as_ref())?;
    let untouched = untouched(work);
    let given = Given {
        role: &present.role,
        item: present.key(),
        against: held_to.as_ref().map_or("", |held| &held.name),
        level: Level::Verified,
        counts: &Counts::default(),
        now: None,
        base: None,
        red: shown.as_ref().map(|shown| red_of(shown, None)),
        removed: &[],
        repairs: &[],
        named_repairs: &[],
        of_item,
        since: held_to.as_ref().map(|held| (&held.tree, &since[..])),
        without_product: None,
        with_tests_of_red: None,
        ignored: &[],
        untouched: &untouched,
    };
    let mut found = rule::findings(&rule::BEFORE_THE_SUITE, &given);
    // Whether those that are named fail is not known yet.
    found.retain(|finding| repairs.is_empty() || finding.policy != "red_without_tests");
    Ok(found)
}

fn red_of<'a>(shown: &'a Shown, ledger: Option<&'a Ledger>) -> Red<'a> {
    Red {
        ledger,
        new: &shown.new,
        errors: (shown.errors, shown.failing),
        ran: shown.ran,
    }
}

/// Files that were changed before the run, and are as they were then.
fn untouched(work: &Work) -> Vec<String> {
    let untouched = work.changes.untouched.iter();
    untouched.map(ToString::to_string).collect()
}

/// A report, and what it is held against.
pub(crate) struct Comparison<'a> {
    pub(crate) call: &'a Call<'a>,
    pub(crate) run: &'a RunState,
    /// What it is for.
    pub(crate) role: &'a Role,
    /// The item that it is of.
    pub(crate) item: Option<&'a str>,
    /// What the reports before it left.
    pub(crate) kept: &'a Map<String, Value>,
    pub(crate) taken: &'a TestEvidence,
    /// The numbers, less what failed before and may.
    pub(crate) counts: Counts,
    pub(crate) now: Option<Ledger>,
    /// What each test did before the item.
    pub(crate) before: Option<Ledger>,
    /// Tests that failed before the item and are to pass with it.
    pub(crate) repairs: Vec<String>,
    pub(crate) held_to: Option<HeldTo>,
    /// What differs since the item began.
    pub(crate) of_item: &'a [Difference],
    /// What differs since what it is held to.
    pub(crate) since: &'a [Difference],
    pub(crate) work: &'a Work,
    pub(crate) repository: &'a Repository,
    pub(crate) status: &'a TreeStatus,
    /// The failing tests that failed before, and may.
    pub(crate) known: Vec<String>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) facts: Map<String, Value>,
    pub(crate) keep: Map<String, Value>,
    pub(crate) keep_run: Map<String, Value>,
    pub(crate) hashes: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

impl Comparison<'_> {
    /// Has the rule judge it, and takes over what that says. `red` is what the report showed that it is held against, and
    /// `ignored` are files of tests that git ignores.
    fn judge(&mut self, red: Option<(&Shown, Option<&Ledger>)>, ignored: &[String]) -> Judged {
        let mut removed: Vec<String> = red
            .iter()
            .flat_map(|(shown, _)| shown.removed.clone())
            .collect();
        // Where the tests of before are as they were, none was taken out.
        let may_be_removed = self.held_to.is_none() || self.of_item.iter().any(Difference::breaks);
        removed.extend(
            self.taken
                .removed
                .iter()
                .filter(|_| may_be_removed)
                .cloned(),
        );
        let untouched = untouched(self.work);
        let given = Given {
            role: self.role,
            item: self.item,
            against: self.held_to.as_ref().map_or("", |held| &held.name),
            level: self.taken.level(),
            counts: &self.counts,
            now: self.now.as_ref(),
            base: self.before.as_ref(),
            red: red.map(|(shown, ledger)| red_of(shown, ledger)),
            removed: &removed,
            repairs: &self.repairs,
            named_repairs: &self.taken.repairs,
            of_item: self.of_item,
            since: self.held_to.as_ref().map(|held| (&held.tree, self.since)),
            without_product: self.taken.without_product.as_ref(),
            with_tests_of_red: self
                .taken
                .with_tests_of_red
                .as_ref()
                .map(|(counts, ledger)| (counts, ledger.as_ref())),
            ignored,
            untouched: &untouched,
        };
        self.findings.extend(rule::findings(&POLICIES, &given));
        let lacking = given.lacking();
        let gone = match self.role.shows {
            Some(_) => [lacking.missing, lacking.skipped, lacking.fewer].concat(),
            None => lacking.fewer,
        };
        let judged = Judged {
            new: given.newly_failing(),
            known: given.known(),
            gone,
        };
        if !judged.gone.is_empty()
            && (self.role.shows.is_none() || self.taken.level() >= Level::Ran)
        {
            self.facts.insert(GONE.to_owned(), named(&judged.gone));
            self.warnings.push("tests_gone".to_owned());
        }
        judged
    }

    /// Tests are there that fail, and did not before.
    pub(super) fn new_failure(&mut self) -> Result<(), HandlerError> {
        let ignored = self.warn_of_ignored_tests()?;
        let judged = self.judge(None, &ignored);
        let mut shown = Shown {
            failing: self.counts.failing(),
            errors: self.counts.errors,
            ran: self.counts.ran(),
            files: short(&names(self.of_item)),
            level: level_name(self.taken.level()).to_owned(),
            removed: self.taken.removed.clone(),
            ..Shown::default()
        };
        let names_every = self.now.as_ref().is_some_and(|now| now.every);
        // A start that ran them has told of that.
        let is_told =
            self.taken.baseline.is_none() && baseline::level(&self.run.kept)? >= Some(Level::Ran);
        if self.taken.level() >= Level::Ran && self.counts.errors == 0 && !names_every && !is_told {
            self.warnings.push("tests_unnamed".to_owned());
        }
        if let Some(now) = &self.now {
            let failing: Vec<String> = now.failing().map(str::to_owned).collect();
            self.facts
                .insert("failingTests".to_owned(), named(&failing));
            self.facts
                .insert("newlyFailing".to_owned(), named(&judged.new));
            let hash = now.keep(&self.call.dir)?;
            shown.ledger = Some(hash.clone());
            self.hashes.push(hash);
        }
        self.facts.extend(self.said_of(&judged.new));
        shown.new = judged.new.into_iter().take(MOST_NAMED).collect();
        if let Some(label) = &self.role.label {
            SHOWN.of(label).put(&mut self.keep, &shown)?;
        }
        if let Some(label) = &self.role.freezes {
            self.freeze(label)?;
        }
        if !self.repairs.is_empty() || REPAIRS.is_in(self.kept) {
            REPAIRS.put(&mut self.keep, &self.repairs)?;
        }
        self.remember()
    }

    fn kept_work(&self) -> KeptWork {
        KeptWork {
            tree: self.work.tree.clone(),
            base: self.work.base.clone(),
        }
    }

    /// Notes the tests as they are, and what runs them.
    fn freeze(&mut self, label: &str) -> Result<(), HandlerError> {
        let work = self.kept_work();
        FROZEN.of(label).put(&mut self.keep, &work)?;
        let configured = self.of_item.iter().filter(|one| one.configures);
        let mut configured = names(configured);
        if let Some(runner) = &self.taken.runner {
            if let Some(before) = LAST_RUNNER.read(&self.run.kept)? {
                configured.extend(runner.changed_since(&before));
            }
            LAST_RUNNER.put(&mut self.keep_run, runner)?;
            RUNNER.of(label).put(&mut self.keep, runner)?;
        }
        if !configured.is_empty() {
            self.facts
                .insert(CONFIGURED.to_owned(), short(&configured).into());
            self.warnings.push("runner_configured".to_owned());
        }
        Ok(())
    }

    /// Notes what the work is now, and what was known of the tests before it.
    fn remember(&mut self) -> Result<(), HandlerError> {
        WORK.put(&mut self.keep, &self.work.tree)?;
        if !BEFORE.is_in(self.kept)
            && let Some(before) = LAST_LEDGER.read(&self.run.kept)?
        {
            BEFORE.put(&mut self.keep, &before)?;
        }
        Ok(())
    }

    /// All tests pass, those too that the report showed that it is held against.
    pub(super) fn passing(&mut self, present: Option<&Token>) -> Result<(), HandlerError> {
        let shown = SHOWN.read(self.kept, self.role.against.as_ref())?;
        let ledger = shown.as_ref().and_then(|shown| shown.ledger.as_deref());
        let ledger = ledger
            .map(|hash| Ledger::read(&self.call.dir, hash))
            .transpose()?;
        self.runner(present)?;
        self.findings.extend(fell(self.taken, self.role, self.run)?);
        self.warn_of_ignored_tests()?;
        let came = self.since.iter().flat_map(|one| one.snapshots.clone());
        let came: Vec<Value> = came.map(Value::from).collect();
        if !came.is_empty() {
            self.facts.insert(SNAPSHOTS.to_owned(), came.into());
            self.warnings.push("snapshots_written".to_owned());
        }
        let judged = self.judge(shown.as_ref().zip(Some(ledger.as_ref())), &[]);
        self.take_known(judged.known);
        self.stuck()?;
        let paths = self.work.changes.paths();
        let lines = self
            .repository
            .diff_stat(&self.work.base, &paths, self.status)?;
        self.facts
            .insert("linesChanged".to_owned(), lines.to_string().into());
        if self.counts.failing() == 0 && self.counts.passed > 0 {
            if let Some(hollow) = &self.taken.hollow {
                self.findings.extend(hollow.findings());
                self.warnings.extend(hollow.warning(self.role));
            }
            if let Some(label) = &self.role.label {
                let tested = Tested {
                    work: self.kept_work(),
                    exclude: self
                        .work
                        .changes
                        .exclude(&self.work.memory, self.repository),
                    passed: self.counts.passed,
                    lines: self.taken.coverage.and_then(|coverage| coverage.lines),
                };
                TESTED.of(label).put(&mut self.keep, &tested)?;
            }
            self.remember()?;
            if !BEFORE.is_in(self.kept) && !BEFORE.is_in(&self.keep) {
                // Who goes back behind this report knows no more of before than it did.
                BEFORE.put(&mut self.keep, &String::new())?;
            }
            self.accepted()?;
        }
        Ok(())
    }

    /// Takes out of the failing tests those that failed before, and may.
    fn take_known(&mut self, known: Vec<String>) {
        let Some(now) = &self.now else {
            return;
        };
        let still: Vec<String> = now
            .failing()
            .filter(|id| !is_among(&known, id))
            .map(str::to_owned)
            .collect();
        if !known.is_empty() {
            // One that failed in several stages has a case for each.
            let cases = self.taken.report.as_ref().map_or(0, |report| {
                let failing = report.tests.iter().filter(|test| test.outcome.is_failure());
                failing.count().saturating_sub(still.len()) as u64
            });
            self.counts = self.counts.without_failing(cases);
            self.facts.insert("knownFailing".to_owned(), named(&known));
        }
        if !still.is_empty() {
            self.facts.insert("failingTests".to_owned(), named(&still));
            self.facts.extend(self.said_of(&still));
        }
        self.known = known;
    }

    /// The fact that tells of these tests why they fail, where the report says so: why others do is nobody's question, they did
    /// before.
    fn said_of(&self, failing: &[String]) -> Option<(String, Value)> {
        let said = self.taken.said_of_failures(|id| is_among(failing, id));
        let said = said.filter(|_| self.taken.counts.errors == 0)?;
        Some((OUTPUT.to_owned(), said.into()))
    }

    /// Holds what the tests are run by against what it was when they failed, or before.
    fn runner(&mut self, present: Option<&Token>) -> Result<(), HandlerError> {
        let frozen = self.role.frozen.as_ref();
        let (before, when) = match present.filter(|_| frozen.is_some()) {
            Some(token) => (
                RUNNER.read(&token.kept, frozen)?,
                format!("in {}", self.against()),
            ),
            None => (LAST_RUNNER.read(&self.run.kept)?, "before".to_owned()),
        };
        let (Some(before), Some(now)) = (before, &self.taken.runner) else {
            return Ok(());
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
                    "have them run as then, with the same programs and variables, and report again: {}; if it has to be another one, go back with {}, and report the failing tests with it",
                    Verb::Report,
                    Verb::Reopen.step().and("reason")
                ),
            ));
        }
        Ok(())
    }

    /// What people call the report that it is held against.
    fn against(&self) -> String {
        name_of(self.role.against.as_ref())
    }

    /// Whether the very same tests fail again and again.
    fn stuck(&mut self) -> Result<(), Fault> {
        let Some(now) = self.now.as_ref().filter(|_| self.counts.failing() > 0) else {
            return Ok(());
        };
        let failing = now.failing().filter(|id| !is_among(&self.known, id));
        let failing: Vec<String> = failing.map(str::to_owned).collect();
        let hash = journal::sha256_hex(failing.join("\n").as_bytes());
        let before = FAILING.read(self.kept)?;
        let same = before.filter(|before| before.hash == hash);
        let times = same.map_or(0, |before| before.times) + 1;
        let is_stuck = times >= STUCK_AFTER;
        // Who takes the run up again gets as many tries as before.
        let times = if is_stuck { 0 } else { times };
        FAILING.put(&mut self.keep, &Failing { hash, times })?;
        if is_stuck {
            let how = match self.counts.failed {
                0 => format!("{} could not be compiled or collected", failing.len()),
                _ => format!("{} failed", tests(failing.len() as u64)),
            };
            let found = finding(
                "stuck",
                format!(
                    "the same {how} {STUCK_AFTER} times in a row: {}",
                    few(&failing)
                ),
                format!(
                    "tell the person, who looks at it: {} goes on, `reopen` goes back to the tests",
                    Verb::Resume
                ),
            );
            self.findings.push(with_tests(found, &failing));
        }
        Ok(())
    }

    /// Tests that passed only when they were tried again.
    pub(super) fn flaky(&mut self) {
        let flaky = self.now.iter();
        let flaky = flaky.flat_map(|now| now.those(|outcome| outcome == Outcome::Flaky));
        let flaky: Vec<String> = flaky.map(str::to_owned).collect();
        if flaky.is_empty() {
            return;
        }
        self.facts.insert(FLAKY.to_owned(), named(&flaky));
        let found = finding(
            "flaky",
            format!("passed only when they were tried again: {}", few(&flaky)),
            format!(
                "mend what makes them fail now and then, then report again: {}",
                Verb::Report
            ),
        );
        self.findings.push(with_tests(found, &flaky));
    }

    /// The whole suite passes, with everything committed.
    pub(super) fn full_suite(&mut self) -> Result<(), HandlerError> {
        let changes = &self.work.changes;
        let mut changed = changes.names();
        changed.extend(changes.left(&self.work.memory));
        let handed = self.taken.files.iter().chain(&self.taken.coverage_file);
        let handed = handed.filter_map(|file| self.repository.relative(&file.path));
        let handed: Vec<String> = handed.map(|path| path.to_string()).collect();
        changed.retain(|path| !handed.contains(path));
        self.findings.extend(changed_since_commit(&changed));
        if changed.is_empty() {
            let branch = (&self.work.memory, self.repository);
            let head = self.status.head.as_ref();
            Moved::refused(self.run, &self.call.pinned, branch, head, true)?;
        }
        let judged = self.judge(None, &[]);
        self.take_known(judged.known);
        if self.counts.failing() == 0 {
            self.accepted()?;
        }
        Ok(())
    }

    /// What the next report is held against.
    fn accepted(&mut self) -> Result<(), HandlerError> {
        let level = level_name(self.taken.level()).to_owned();
        LAST_LEVEL.put(&mut self.keep_run, &level)?;
        if UNTRIED.is_in(&self.run.kept) {
            UNTRIED.forget(&mut self.keep_run);
        }
        if let Some(lines) = lines_of(&self.taken.covered) {
            LAST_COVERED.put(&mut self.keep_run, &lines)?;
        }
        if let Some(now) = &self.now {
            let hash = now.keep(&self.call.dir)?;
            LAST_LEDGER.put(&mut self.keep_run, &hash)?;
            self.hashes.push(hash);
        }
        Ok(())
    }

    /// What there is to say of a suite that we ran: that the work is another one since, and that the bench was not used.
    pub(super) fn of_run_suite(&mut self) -> Result<(), HandlerError> {
        if let Some(RanOn { work, .. }) = &self.taken.ran_on
            && *work != self.work.tree
        {
            let changed = self.repository.changed_paths(work, &self.work.tree)?;
            let changed: Vec<String> = changed.iter().map(ToString::to_string).collect();
            let found = finding(
                "stale_report",
                format!("files were changed while the tests ran: {}", few(&changed)),
                format!("leave them as they are, and report again: {}", Verb::Report),
            );
            self.findings.push(with_files(found, &changed));
        }
        if let Some(reason) = &self.taken.off_bench
            && !BENCH.is_in(&self.run.kept)
        {
            BENCH.put(&mut self.keep_run, reason)?;
            self.warnings.push("ran_in_place".to_owned());
        }
        Ok(())
    }

    /// The tree that the suite was run on, where we ran it on the bench.
    pub(super) fn tested_on(&self) -> Option<&Oid> {
        let ran_on = self.taken.ran_on.as_ref();
        let ran_on = ran_on.filter(|_| self.taken.off_bench.is_none());
        ran_on.map(|ran_on| &ran_on.tested)
    }
}

/// What the rule makes of a report.
struct Judged {
    /// The tests that fail for want of the change.
    new: Vec<String>,
    /// Those that fail as they did before.
    known: Vec<String>,
    /// Those that are not there any more, and need not be.
    gone: Vec<String>,
}

/// Whether an id is among those of a ledger, which are in order.
fn is_among(ids: &[String], id: &str) -> bool {
    ids.binary_search_by(|one| one.as_str().cmp(id)).is_ok()
}
