//! The reader of test results, against what git says and what the tests did before.

use std::collections::BTreeMap;

use ::test_report::Outcome;
use machine::role::{Shows, Suite};
use machine::state::Token;
use machine::{Finding, Reading, Role, RunState};
use serde_json::{Map, Value, json};
use workspace::config::Level;
use workspace::git::{Oid, RepoPath, Repository, TreeStatus};

use crate::call::{Call, Input};
use crate::capability::git::changes::Changes;
use crate::capability::git::read::commit::secrets;
use crate::capability::git::read::handed_in::{commits_set_aside, not_of_the_run};
use crate::capability::git::read::{
    History, command_replaced, config_loosened, finding, named_paths, on_the_branch, with_files,
};
use crate::capability::git::uncommitted::Uncommitted;
use crate::capability::memory::{
    BEGAN, BESIDE, FROZEN, KEPT, LAST_COVERED, LAST_LEDGER, LAST_LEVEL, LAST_RUNNER, LAST_TOTAL,
    Memory, REPORTS, RUNNER, RUNNER_CONFIG, SHOWN, Shown, TESTED, TestsBefore, UNCOMMITTED,
};
use crate::capability::tests::broken;
use crate::capability::tests::covered::{Covered, fell, lines_of};
use crate::capability::tests::evidence;
use crate::capability::tests::evidence::frozen::{TestReader, Written};
use crate::capability::tests::evidence::hollow::{NOT_HOLLOWED, is_of_tests_alone};
use crate::capability::tests::evidence::ledger::{Ledger, Requirements};
use crate::capability::tests::evidence::runner_config::RunnerConfig;
use crate::capability::tests::evidence::subject::Subject;
use crate::capability::tests::evidence::{TestEvidence, baseline, level_name};
use crate::capability::tests::findings::{
    changed_since_commit, no_change, no_products, no_tests_written, set_aside,
};
use crate::capability::tests::known::{before, began};
use crate::capability::tests::only;
use crate::capability::tests::report_files;
use crate::capability::tests::restoration::copies;
use crate::capability::tests::results::Counts;
use crate::capability::tests::since::{all_changed, since_last, state_of, tested, with_committed};
use crate::capability::tests::unchanged::began_at;
use crate::capability::tests::used::{USED, gone, put_back, stale};
use crate::fault::{Fault, Kind};
use crate::next_step::Verb;
use crate::support::HandlerError;

/// What a report of failing tests says where files were changed that are none: which.
pub(crate) const PRODUCT: &str = "product";
/// What such a report says where they were committed since, and nobody else has that: the commit to go back to.
pub(crate) const COMMITTED_ON: &str = "committedOn";
/// What a report of passing tests says where somebody stashed work on the commit that it is about.
pub(crate) const STASHED: &str = "stashed";
/// What such a report says where no test was written for it, or none of those was run: what to do about that.
pub(crate) const NO_TESTS: &str = "noTests";
/// What such a report says where files were changed that configure the runner: which.
pub(crate) const CONFIGURED: &str = "runnerConfig";
/// What such a report says of tests that passed before, and are gone or skipped: which.
pub(crate) const GONE: &str = "goneTests";
/// What a report of passing tests says of files of tests that lie elsewhere since they failed: from where to where.
pub(crate) const MOVED: &str = "movedTests";
/// At most so many tests are named in each list of a journal line, and of the report for programs.
pub(crate) const MOST_NAMED: usize = 100;

/// Reads a report of test results.
pub fn read(
    call: &Call<'_>,
    role: &Role,
    run: &RunState,
    token: u32,
) -> Result<Reading, HandlerError> {
    let Input::Tests { taken, files, said } = &call.input else {
        return Err(
            Fault::new(Kind::Usage, "wrong_report", "this step takes test results")
                .suggest(format!(
                    "report with {}",
                    Verb::Report.step().with("results", "failed:N,passed:N")
                ))
                .into(),
        );
    };
    let config = &call.pinned;
    evidence::enough(taken, config)?;
    let mut memory = Memory::of(run)?;
    let repository = memory.repository();
    let status = call.tree(&repository)?;
    on_the_branch(&status, &memory, &repository)?;
    let head = status.head.as_ref();
    let mut history = History::settle(&call.pinned, run, head, &mut memory, &repository)?;
    let rewritten = history.is_rewritten;
    let mut findings: Vec<Finding> = history.finding.take().into_iter().collect();
    findings.extend(config_loosened(call));
    findings.extend(command_replaced(
        &call.settings.config,
        &call.pinned,
        &memory,
    ));
    let named = named_paths(call, &repository, files)?;
    let handed = report_files::no_work(&call.dir, &repository, &memory, taken, &status, &named)?;
    memory.reports.extend(handed);
    let changes = Changes::of(&status, &memory, &repository, &named)?;
    memory.take_on(&named, &mut history.keep)?;
    changes.no_dirty_submodules(&repository)?;
    let last = match &status.head {
        // The run's own commits are gone; what is there now has to do.
        Some(head) if rewritten => head.clone(),
        _ => memory.last_oid()?,
    };
    let changed = since_last(&repository, &status, &changes, &last, rewritten)?;
    all_changed(&named, &changed)?;
    let since = with_committed(&changes, &changed, &repository, &last)?;
    let present = run.token(token);
    let nothing = Map::new();
    // What the full suite is about is committed, and what it leaves behind is committed by nobody.
    if role.suite.is_none() {
        no_products(&repository, &changes, &named)?;
    }
    let mut used = USED.read(&run.kept)?.unwrap_or_default();
    let mut came_in = history.came_in(status.head.as_ref(), &repository)?;
    came_in.extend(put_back(taken, present, &memory, &repository)?);
    came_in.extend(gone(run, &repository));
    let subject = Subject::new(&repository, &memory.start)?;
    findings.extend(stale(
        taken,
        present,
        &repository,
        &subject,
        &changes,
        &came_in,
        &used,
    ));

    let now = taken.ledger();
    let mut at = Comparison {
        call,
        run,
        role,
        kept: present.map_or(&nothing, |token| &token.kept),
        key: present.and_then(Token::key),
        taken,
        counts: taken.counts,
        before: before(call, run, present, role, now.as_ref())?,
        now,
        known: Vec::new(),
        fewer_cases: 0,
        memory: &memory,
        repository: &repository,
        status: &status,
        changes: &changes,
        since: &since,
        last: &last,
        moved: BTreeMap::new(),
        written: Vec::new(),
        findings,
        facts: Map::new(),
        keep: Map::new(),
        keep_run: history.keep,
        hashes: taken.keep(&call.dir)?,
        warnings: history.warning.map(str::to_owned).into_iter().collect(),
    };
    REPORTS.put(&mut at.keep_run, &memory.reports)?;
    let covered = Covered::of(taken, role, config, &memory, (&repository, &last, &since))?;
    if !taken.unchanged {
        at.findings.extend(covered.missing(config, run));
    }
    at.of_run_suite()?;
    if let Some(checks) = &taken.checks {
        at.findings
            .extend(checks.findings(role, &config.evidence.policy));
        at.keep_run.extend(checks.keep_run(&call.dir)?);
        at.warnings.extend(checks.warnings(role).map(str::to_owned));
    }
    at.flaky();
    match (role.shows, role.suite) {
        _ if taken.unchanged => at.as_before()?,
        (Some(Shows::NewFailure), _) => at.new_failure(&changed)?,
        (None, None) => at.passing()?,
        (None, Some(Suite::Full)) => at.full_suite(&status)?,
    }
    used.note(taken);
    at.keep_run.extend(used.keep()?);
    let mut facts = facts(&at.counts, taken, &changed);
    facts.insert("under".to_owned(), covered.under(config).into());
    if let Some(coverage) = covered.coverage {
        facts.insert("coverage".to_owned(), json!(coverage));
    }
    facts.insert(
        "compiled".to_owned(),
        taken.is_compiled(&memory.start.test_framework).into(),
    );
    facts.extend(at.facts);
    facts.extend(said.clone());
    Ok(Reading {
        facts,
        findings: at.findings,
        keep: at.keep,
        keep_run: at.keep_run,
        evidence: at.hashes,
        level: level_name(taken.level()).to_owned(),
        warnings: at.warnings,
        ..Reading::default()
    })
}

/// A report, and what it is held against.
pub(crate) struct Comparison<'a> {
    pub(crate) call: &'a Call<'a>,
    pub(crate) run: &'a RunState,
    /// What it is for.
    pub(crate) role: &'a Role,
    /// What the reports before it left.
    pub(crate) kept: &'a Map<String, Value>,
    /// The item that it is of.
    pub(crate) key: Option<&'a str>,
    pub(crate) taken: &'a TestEvidence,
    /// The numbers, less what failed before and may.
    pub(crate) counts: Counts,
    pub(crate) now: Option<Ledger>,
    /// The failing tests that failed before, and may.
    pub(crate) known: Vec<String>,
    /// How many cases are gone of functions that still run.
    pub(crate) fewer_cases: u64,
    /// The last accepted ledger.
    pub(crate) before: Option<Ledger>,
    pub(crate) memory: &'a Memory,
    pub(crate) repository: &'a Repository,
    pub(crate) status: &'a TreeStatus,
    pub(crate) changes: &'a Changes,
    /// The same, with what was committed since the run's last commit.
    pub(crate) since: &'a Changes,
    pub(crate) last: &'a Oid,
    /// Files of tests that have another place since they were frozen, and hold the same.
    pub(crate) moved: BTreeMap<RepoPath, RepoPath>,
    /// Where a runner has written down as right what it found.
    pub(crate) written: Vec<String>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) facts: Map<String, Value>,
    pub(crate) keep: Map<String, Value>,
    pub(crate) keep_run: Map<String, Value>,
    pub(super) hashes: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

impl Comparison<'_> {
    /// What people call the report.
    pub(crate) fn name(&self) -> String {
        name_of(self.role.label.as_ref())
    }

    /// Tests are there that fail, and did not before.
    fn new_failure(&mut self, changed: &[String]) -> Result<(), HandlerError> {
        let mut written = TestReader::new(self.repository, self.memory, self.last, self.status)?
            .written(self.since)?;
        // A report that git knows is none of the product.
        let handed: Vec<String> = self.handed().iter().map(ToString::to_string).collect();
        written.product.retain(|path| !handed.contains(path));
        let ignored = self.warn_of_ignored_tests()?;
        if !written.tests {
            let stashed = self.is_stashed()?;
            if stashed {
                self.facts.insert(STASHED.to_owned(), true.into());
            }
            let found = no_tests_written(changed, &ignored, &self.dirty_before(), stashed);
            self.facts
                .insert(NO_TESTS.to_owned(), json!(found.suggestion));
            self.findings.push(found);
        }
        self.name_unreported(&written)?;
        if !written.product.is_empty() {
            // What a runner has written is nothing that could be set aside.
            let subject = Subject::new(self.repository, &self.memory.start)?;
            let is_left = |name: &String| {
                let mut files = self.since.files.iter();
                files.any(|change| change.path.to_string() == *name && !subject.has(change))
            };
            let product: Vec<String> = written
                .product
                .iter()
                .filter(|name| !is_left(name))
                .cloned()
                .collect();
            if !product.is_empty() {
                self.facts
                    .insert(PRODUCT.to_owned(), short(&product).into());
            }
            if let Some(head) = self.status.head.as_ref().filter(|head| *head != self.last)
                && self.repository.is_ancestor(self.last, head)?
                && self.repository.only_on(head, &self.memory.start.branch)?
            {
                self.facts
                    .insert(COMMITTED_ON.to_owned(), self.last.as_str().into());
            }
            self.findings.push(with_files(
                finding(
                    "production_changed",
                    format!(
                        "files other than tests were changed in {}: {}",
                        self.name(),
                        few(&written.product)
                    ),
                    format!(
                        "write only tests in {}; set the others aside, report again ({}), and bring them back behind it",
                        self.name(),
                        Verb::Report
                    ),
                ),
                &written.product,
            ));
        }
        let mut shown = Shown {
            state: Some(state_of(self.repository, self.since)?),
            tested: self.tested_on().cloned(),
            failing: self.counts.failing(),
            errors: self.counts.errors,
            ran: self.counts.ran(),
            total: self.counts.total(),
            files: short(changed),
            level: level_name(self.taken.level()).to_owned(),
            removed: self.taken.removed.clone(),
            before: Some(self.began()?),
            ..Shown::default()
        };
        let names_every = self.now.as_ref().is_some_and(|now| now.every);
        // A start that ran them has told of that.
        let is_told =
            self.taken.baseline.is_none() && baseline::level(&self.run.kept)? >= Some(Level::Ran);
        if self.taken.level() >= Level::Ran && self.counts.errors == 0 && !names_every && !is_told {
            self.warnings.push("tests_unnamed".to_owned());
        }
        // What could not be built has no names, and what was not written is told first.
        if self.now.is_some() || self.counts.errors == 0 && written.tests {
            self.without_names(None)?;
        }
        if let Some(now) = &self.now {
            let before = self
                .before
                .as_ref()
                .filter(|before| before.names_alike(now));
            let mut new = now.newly_failing(before);
            // What passes without the product that was written here has not failed for want of it.
            if let Some(without) = &self.taken.without_product {
                let passes = |id: &String| without.outcome(id).is_some_and(Outcome::is_success);
                new.retain(|id| !passes(id));
            }
            let broken = broken::finding(self, now, before.is_some(), changed)?;
            self.findings.extend(broken);
            if new.is_empty() && self.counts.failing() > 0 {
                self.findings.push(finding(
                    "no_new_failure",
                    if self.taken.without_product.is_some() {
                        "no test fails for want of this subtask's change: what fails now failed before, or passes on the product from before"
                    } else {
                        "every test that fails now failed before this subtask too"
                    },
                    if written.product.is_empty() {
                        format!(
                            "write a test of the new behaviour and see it fail, then report: {}",
                            Verb::Report
                        )
                    } else {
                        set_aside(self.repository.top_level(), &written.product, written.tests)
                    },
                ));
            }
            let gone = self.gone(now, before);
            if !gone.is_empty() {
                self.facts.insert(GONE.to_owned(), named(&gone));
                self.warnings.push("tests_gone".to_owned());
            }
            // Where the report from before named nothing, because all was well, what fails is new.
            let unknown = self.before.is_some() || !LAST_TOTAL.is_in(&self.run.kept);
            if before.is_none() && unknown {
                self.warnings.push("no_baseline".to_owned());
            }
            let failing: Vec<String> = now.failing().map(str::to_owned).collect();
            self.facts
                .insert("failingTests".to_owned(), named(&failing));
            self.facts.insert("newlyFailing".to_owned(), named(&new));
            self.facts.extend(self.said_of(&new));
            let hash = now.keep(&self.call.dir)?;
            shown.ledger = Some(hash.clone());
            shown.new = new.into_iter().take(MOST_NAMED).collect();
            self.hashes.push(hash);
        }
        if self.is_stashed()? {
            self.warnings.push("stashed".to_owned());
        }
        if let Some(label) = &self.role.label {
            SHOWN.of(label).put(&mut self.keep, &shown)?;
        }
        if let Some(label) = &self.role.freezes {
            self.freeze(label, &written)?;
        }
        self.keep_uncommitted()
    }

    /// Of the tests that passed before those that are gone or skipped in a whole suite that was run here.
    fn gone(&self, now: &Ledger, before: Option<&Ledger>) -> Vec<String> {
        let before = before.filter(|before| before.every);
        if before.is_none() || self.taken.level() < Level::Ran || self.counts.errors > 0 {
            return Vec::new();
        }
        let before = before.and_then(|before| before.named_as(now));
        let owed = Requirements {
            before: before.as_ref(),
            ..Requirements::default()
        };
        let lacking = owed.lacking(now, |id, _| self.taken.was_removed(id));
        [lacking.missing, lacking.skipped, lacking.fewer].concat()
    }

    /// What was known before the item began.
    fn began(&self) -> Result<TestsBefore, HandlerError> {
        Ok(match began(self.kept, self.role)? {
            Some(before) => before,
            None => TestsBefore {
                ledger: LAST_LEDGER.read(&self.run.kept)?,
                total: LAST_TOTAL.read(&self.run.kept)?,
            },
        })
    }

    /// Notes what is changed now, so that a way back can bring it back.
    fn keep_uncommitted(&mut self) -> Result<(), HandlerError> {
        let uncommitted = Uncommitted::of(self.repository, self.since);
        Ok(UNCOMMITTED.put(&mut self.keep, &uncommitted)?)
    }

    /// Keeps the tests as they are, and what configures their runner.
    fn freeze(&mut self, label: &str, written: &Written) -> Result<(), HandlerError> {
        FROZEN.of(label).put(&mut self.keep, &written.frozen)?;
        let kept = copies(self.repository, written.frozen.0.keys());
        KEPT.of(label).put(&mut self.keep, &kept)?;
        let beside = copies(self.repository, &written.beside);
        BESIDE.of(label).put(&mut self.keep, &beside)?;
        let config = RunnerConfig::changed_since(self.repository, self.last, self.since)?;
        let mut names: Vec<String> = config.0.keys().map(ToString::to_string).collect();
        if let Some(runner) = &self.taken.runner {
            if let Some(before) = LAST_RUNNER.read(&self.run.kept)? {
                names.extend(runner.changed_since(&before));
            }
            LAST_RUNNER.put(&mut self.keep_run, runner)?;
            RUNNER.of(label).put(&mut self.keep, runner)?;
        }
        if !names.is_empty() {
            self.facts
                .insert(CONFIGURED.to_owned(), short(&names).into());
            self.warnings.push("runner_configured".to_owned());
        }
        RUNNER_CONFIG.of(label).put(&mut self.keep, &config)?;
        Ok(())
    }

    /// Files that were changed before the run, and are as they were then.
    fn dirty_before(&self) -> Vec<String> {
        let untouched = self.changes.untouched.iter();
        untouched.map(ToString::to_string).collect()
    }

    /// The reports of this call that lie in the repository.
    pub(crate) fn handed(&self) -> Vec<RepoPath> {
        let files = self.taken.files.iter().chain(&self.taken.coverage_file);
        files
            .filter(|file| file.path.is_absolute())
            .filter_map(|file| self.repository.relative(&file.path))
            .collect()
    }

    /// All tests pass, those too that the report showed that it is held against.
    fn passing(&mut self) -> Result<(), HandlerError> {
        let reader = TestReader::new(self.repository, self.memory, self.last, self.status)?;
        let against = SHOWN.read(self.kept, self.role.against.as_ref())?;
        self.unchanged(&reader)?;
        let others = only::findings(self.role, &reader, self.since)?;
        self.findings.extend(others);
        self.brings_tests()?;
        self.as_before_the_work()?;
        if self.is_stashed()? {
            self.facts.insert(STASHED.to_owned(), true.into());
        }
        self.findings.extend(fell(self.taken, self.role, self.run)?);
        self.tell_of_snapshots();
        self.tell_of_moved();
        self.warn_of_ignored_tests()?;
        self.compare(against.as_ref())?;
        self.gone_missing(against.as_ref())?;
        self.stuck()?;
        let lines = self
            .repository
            .diff_stat(self.last, &self.changes.paths(), self.status)?;
        self.facts
            .insert("linesChanged".to_owned(), lines.to_string().into());
        if self.counts.failing() == 0 && self.counts.passed > 0 {
            let again = format!("then report again: {}", Verb::Report);
            secrets(self.call, self.repository, &self.changes.paths(), &again)?;
            let tested = tested(
                (self.repository, self.status),
                self.memory,
                self.changes,
                &self.counts,
                self.taken.coverage.as_ref(),
            )?;
            if self.is_unchanged_since(against.as_ref())? {
                let red = name_of(self.role.against.as_ref());
                self.findings.push(no_change(&red));
            }
            if let Some(hollow) = &self.taken.hollow {
                self.findings.extend(hollow.findings());
                let open = hollow.undecided.as_ref().map(|_| NOT_HOLLOWED.to_owned());
                self.warnings.extend(open);
            }
            if let Some(label) = &self.role.label {
                TESTED.of(label).put(&mut self.keep, &tested)?;
                if is_of_tests_alone(self.role) {
                    let began = self.began()?;
                    BEGAN.of(label).put(&mut self.keep, &began)?;
                }
            }
            self.warn_of_unknown_suite();
            self.keep_uncommitted()?;
            self.accepted()?;
        }
        Ok(())
    }

    /// The whole suite passes, with everything committed.
    fn full_suite(&mut self, status: &TreeStatus) -> Result<(), HandlerError> {
        let handed: Vec<String> = self.handed().iter().map(ToString::to_string).collect();
        let mut changed = self.changes.names();
        changed.extend(self.changes.left(self.memory));
        changed.retain(|path| !handed.contains(path));
        let news = self.changes.files.iter().filter(|change| change.untracked);
        let mut untracked: Vec<String> = news.map(|change| change.path.to_string()).collect();
        untracked.retain(|path| changed.contains(path));
        let top = self.repository.top_level();
        self.findings
            .extend(changed_since_commit(top, &changed, &untracked));
        if changed.is_empty() && status.head.as_ref() != Some(self.last) {
            self.findings
                .push(not_of_the_run(status, self.memory, self.repository, |_| {
                    format!(
                        "if they belong to the task, {reopen} takes them into a repair: it is tested and reported as ever, and they are handed in as its commit, which to `tm verify` is one without tests unless a test failed before it; if not, {aside}, then report again: {report}",
                        reopen = Verb::Reopen.step().and("reason"),
                        aside = commits_set_aside(status, self.last, self.memory),
                        report = Verb::Report
                    )
                })?);
        }
        self.compare(None)?;
        self.gone_missing(None)?;
        if self.repository.stashed_on(began_at(self.run))?.is_some() {
            self.warnings.push("stash_left".to_owned());
        }
        if self.counts.failing() == 0 {
            self.accepted()?;
        }
        Ok(())
    }

    /// What the next report is held against.
    fn accepted(&mut self) -> Result<(), HandlerError> {
        LAST_TOTAL.put(&mut self.keep_run, &self.taken.counts.total())?;
        let level = level_name(self.taken.level()).to_owned();
        LAST_LEVEL.put(&mut self.keep_run, &level)?;
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
}

/// The ledger with this hash in the run's evidence.
pub(crate) fn ledger(call: &Call<'_>, hash: Option<&str>) -> Result<Option<Ledger>, Fault> {
    hash.map(|hash| Ledger::read(&call.dir, hash)).transpose()
}

/// What people call a report, by its label.
pub fn name_of(label: Option<&String>) -> String {
    label.map_or_else(
        || "the report before".to_owned(),
        |label| label.to_uppercase(),
    )
}

/// As many names as a journal line can hold.
pub(crate) fn named(ids: &[String]) -> Value {
    ids.iter().take(MOST_NAMED).cloned().collect()
}

/// A few names, for people.
pub(crate) fn few(names: &[String]) -> String {
    const FEW: usize = 10;
    let shown = names[..names.len().min(FEW)].join(", ");
    match names.len().saturating_sub(FEW) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn facts(counts: &Counts, taken: &TestEvidence, changed: &[String]) -> Map<String, Value> {
    let mut facts = counts.facts();
    facts.insert("files".to_owned(), short(changed).into());
    facts.extend(taken.facts());
    facts
}

/// A list that a journal line can hold.
fn short(files: &[String]) -> Vec<String> {
    const MOST: usize = 200;
    files.iter().take(MOST).cloned().collect()
}
