//! What a report says of tests by their names, and of how many there are.

use ::test_report::{Outcome, TestFormat};
use machine::command::Severity;
use machine::{Finding, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use workspace::config::Level;

use crate::capability::git::read::{finding, with_tests};
use crate::capability::memory::{BASELINE, FROZEN, LAST_TOTAL, Shown};
use crate::capability::messages::tests;
use crate::capability::tests::evidence::ledger::{Ledger, Requirements, TestProblems};
use crate::capability::tests::evidence::{OUTPUT, asked_level, baseline, is_meant, level_named};
use crate::capability::tests::known::began;
use crate::capability::tests::read::{Comparison, GONE, few, ledger, name_of, named};
use crate::fault::Fault;
use crate::next_step::{NextStep, Verb, argument, step};
use crate::slot::Slot;
use crate::support::{HandlerError, refusal};

/// What a report says where the tests that fail may have failed before the run: they did in RED, where others failed that pass now,
/// and nobody said how they were before.
pub(crate) const MAY_BE_OLD: &str = "mayBeOld";
/// What such a report says where nobody said how its failing tests were before: they may have failed then.
pub(crate) const UNKNOWN_BEFORE: &str = "unknownBefore";
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

impl Comparison<'_> {
    /// Holds the tests by name against those that were shown to fail, and those of before.
    pub(crate) fn compare(&mut self, against: Option<&Shown>) -> Result<(), HandlerError> {
        let mut red = ledger(self.call, against.and_then(|shown| shown.ledger.as_deref()))?;
        if let Some(now) = &self.now {
            red = red.map(|red| red.in_format_of(now).unwrap_or(red));
            for (from, to) in &self.moved {
                let files = (&*from.to_string(), &*to.to_string());
                red = red.map(|red| red.moved(files, now));
                self.before = self.before.take().map(|before| before.moved(files, now));
            }
            let added = now.added_to([red.as_ref(), self.before.as_ref()]);
            let renamed = |known: Ledger| {
                let known = known.with_cases_of(now, &added);
                known.with_modules_of(now, &added)
            };
            red = red.map(renamed);
            self.before = self.before.take().map(renamed);
        }
        self.without_names(red.as_ref())?;
        let held = red.as_ref().or(self.before.as_ref());
        if let Some((message, suggestion)) = held.and_then(|held| self.unlike(held, red.is_some()))
        {
            self.findings
                .push(finding("tests_missing", message, suggestion));
            return Ok(());
        }
        if (self.now.is_none() || red.is_none()) && self.before.is_none() {
            let failed_then = against.map_or(0, |shown| shown.failing);
            let failing = self.counts.failing();
            if failing > 0 && failing < failed_then && !BASELINE.is_in(&self.run.kept) {
                self.facts.insert(MAY_BE_OLD.to_owned(), true.into());
            }
        }
        // Where RED could not be built, nothing tells which tests failed before it.
        if self.before.is_none()
            && self.counts.failing() > 0
            && against.is_some_and(|shown| shown.errors > 0)
            && !BASELINE.is_in(&self.run.kept)
        {
            self.facts.insert(MAY_BE_OLD.to_owned(), true.into());
        }
        if self.before.is_none() && self.counts.failing() > 0 && !BASELINE.is_in(&self.run.kept) {
            self.facts.insert(UNKNOWN_BEFORE.to_owned(), true.into());
        }
        if against.is_some_and(|shown| self.was_in_numbers_of_before(shown)) {
            self.findings.push(self.nothing_new());
        }
        let Some(now) = &self.now else {
            return Ok(());
        };
        let new = red.as_ref().map_or_else(Vec::new, |red| {
            red.newly_failing(
                self.before
                    .as_ref()
                    .filter(|before| before.names_alike(red)),
            )
        });
        let may_be_removed = self.tests_may_be_removed()?;
        let owed = Requirements {
            before: self.before.as_ref(),
            red: red.as_ref(),
            new,
            nameless: red.is_none()
                && against.is_some_and(|shown| shown.errors > 0 && shown.errors == shown.failing)
                && !self.old_tests_were_changed()?,
            red_tells_more: baseline::level(&self.run.kept)?
                .is_some_and(|level| level < Level::Ran)
                && against.is_some_and(|shown| level_named(&shown.level) >= Some(Level::Ran)),
        };
        let mut lacking = owed.lacking(now, |id, in_red| {
            // What RED still ran was not taken out; its titles may differ in each run.
            was_removed_before(against, id)
                && (!in_red || is_titled_anew(against, red.as_ref(), now, id))
                || !in_red && may_be_removed && self.taken.was_removed(id)
        });
        if !lacking.fewer.is_empty() {
            self.fewer_cases = lacking.fewer.len() as u64;
            self.facts.insert(GONE.to_owned(), named(&lacking.fewer));
            self.warnings.push("tests_gone".to_owned());
        }
        let ran_in_red = |id: &String| {
            red.as_ref().and_then(|red| red.outcome(id)) != Some(Outcome::NotCollected)
        };
        if against.is_some() && !owed.new.iter().any(ran_in_red) {
            let frozen = FROZEN.read(self.kept, self.role.frozen.as_ref())?;
            let passes = |outcome| matches!(outcome, Outcome::Passed | Outcome::Flaky);
            let files = self.declaring(frozen.unwrap_or_default().0.keys(), passes)?;
            if !files.iter().any(|(_, is_reported)| *is_reported) {
                lacking.unreported = files.into_iter().map(|(path, _)| path).collect();
            }
        }
        // When it was accepted, nobody had said how they were before.
        let all_old = owed.new.is_empty()
            && against.is_some_and(|shown| shown.errors == 0 && !shown.new.is_empty());
        let known: Vec<String> = owed.known(now).map(str::to_owned).collect();
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
            if self.counts.ran() == 0 {
                return Err(self.lists_none_that_passes(&known).into());
            }
        }
        if let (Some(red), None) = (&red, &self.before) {
            let failed = |id: &String| red.fails(id);
            let moved = red.failing().any(|id| !is_among(&still, id));
            if !still.is_empty() && still.iter().all(failed) && moved {
                self.facts.insert(MAY_BE_OLD.to_owned(), true.into());
            }
        }
        let red = name_of(self.role.against.as_ref());
        if !lacking.is_none() {
            let has_red = against.is_some();
            self.findings.push(finding_of(lacking, &red, has_red));
        } else if all_old {
            self.findings.push(self.nothing_new());
        }
        if !known.is_empty() {
            self.facts.insert("knownFailing".to_owned(), named(&known));
        }
        if !still.is_empty() {
            self.facts.insert("failingTests".to_owned(), named(&still));
            self.facts.extend(self.said_of(&still));
        }
        self.known = known;
        Ok(())
    }

    /// The fact that tells of these tests why they fail, where the report says so: why others do is nobody's question, they did
    /// before.
    pub(crate) fn said_of(&self, failing: &[String]) -> Option<(String, Value)> {
        let is_asked = |id: &str| is_among(failing, id);
        let said = self.taken.said_of_failures(is_asked);
        let said = said.filter(|_| self.taken.counts.errors == 0)?;
        Some((OUTPUT.to_owned(), said.into()))
    }

    /// Whether the tests that failed then were told in numbers, and no more of them than failed before the run, which is known
    /// since.
    fn was_in_numbers_of_before(&self, shown: &Shown) -> bool {
        let known_since = shown
            .before
            .as_ref()
            .is_some_and(|before| before.ledger.is_none());
        let failed_before = self.before.as_ref().map(|before| before.failing().count());
        shown.ledger.is_none()
            && shown.errors == 0
            && known_since
            && failed_before.is_some_and(|before| shown.failing <= before as u64)
    }

    /// The finding that what this is held against has shown nothing but what failed before the run.
    fn nothing_new(&self) -> Finding {
        let red = name_of(self.role.against.as_ref());
        finding(
            "tests_missing",
            format!(
                "every test that failed in {red} failed before the run, too: {red} has shown no test of what is to be done"
            ),
            format!(
                "go back with {}, write a test of it, and see it fail",
                Verb::Reopen.step().and("reason")
            ),
        )
    }

    /// The report that is due, with a file in which the runner names its tests.
    fn report_by_name(&self) -> NextStep {
        NextStep::report(self.role, self.key, Level::Reported)
    }

    /// The refusal of a report that lists the tests which failed before the run, and none besides: some runners list no other.
    fn lists_none_that_passes(&self, known: &[String]) -> Refusal {
        refusal(
            "green_requires_passing_tests",
            format!(
                "the tests that fail failed before the run, too, as they may ({}), and the report lists none that passes",
                few(known)
            ),
            format!(
                "have the runner list every test (such as `go test -json ./...`, or with `-v`), and hand in what it prints: {}",
                self.report_by_name()
            ),
        )
    }

    /// Refuses a report of tests that fail where some failed before too, and it does not tell whether it is these: it has only
    /// numbers, or other names than those are known by. No attempt is used up by that.
    pub(crate) fn without_names(&self, red: Option<&Ledger>) -> Result<(), HandlerError> {
        let Some(before) = &self.before else {
            return Ok(());
        };
        let failing = self.counts.failing();
        let known: Vec<String> = before.failing().map(str::to_owned).collect();
        let (is_unclear, why) = match &self.now {
            _ if known.is_empty() || failing == 0 => (false, String::new()),
            Some(now) => (
                !before.names_alike(now),
                format!(
                    "they are known by {}, and this report is {}: the names cannot be compared",
                    before.format, now.format
                ),
            ),
            None => (
                failing <= known.len() as u64,
                "whether it is these that fail now, numbers do not tell".to_owned(),
            ),
        };
        if !is_unclear {
            return Ok(());
        }
        // What was seen here no report takes the place of.
        let is_open = baseline::level(&self.run.kept)? < Some(Level::Ran);
        let other = if self.now.is_some() && is_open {
            format!(
                "; or make known in this format what failed before, with a report of the commit that the run began on, {}: {}",
                self.memory.start.head.get(..10).unwrap_or_default(),
                Verb::Baseline.step().and("report")
            )
        } else {
            String::new()
        };
        let is_as_red = self
            .now
            .as_ref()
            .zip(red)
            .is_some_and(|(now, red)| red.names_alike(now));
        let way_out = if is_as_red && !other.is_empty() {
            format!(
                "make known in this format what failed before: {}. It is of the commit that the run began on, {}",
                Verb::Baseline.step().and("report"),
                self.memory.start.head.get(..10).unwrap_or_default()
            )
        } else if before.every || self.now.is_some() {
            format!(
                "report the tests as they are known, by name and as {}: {}{other}",
                before.format,
                self.report_by_name()
            )
        } else {
            format!(
                "have the runner name every test, as {} may with `-v` or as JSON, and report what it prints: {}{other}",
                before.format,
                self.report_by_name()
            )
        };
        Err(refusal(
            "unnamed_failures",
            format!(
                "{} failed before too, and may go on to: {}; {why}",
                tests(known.len() as u64),
                few(&known)
            ),
            way_out,
        )
        .into())
    }

    /// Why the names of this report cannot be held against those of RED, or of before: what is wrong, and what to do.
    /// Runners that name only what failed have nothing to compare, and owe nothing.
    fn unlike(&self, held: &Ledger, is_red: bool) -> Option<(String, String)> {
        // As that was reported, not as this was: what was refused is not what is advised.
        let level = asked_level(self.run, self.role, self.kept).max(Level::Reported);
        let alike = NextStep::report(self.role, self.key, level);
        let Some(report) = &self.taken.report else {
            return Some((
                format!(
                    "tests were reported by name before ({}), and this report has only numbers: nobody can see that the same tests pass",
                    held.format
                ),
                format!("report the same way as before: {alike}"),
            ));
        };
        // What it prints by itself may have names, too, such as those of packages.
        let is_unadapted = self
            .taken
            .ran
            .as_ref()
            .is_some_and(|ran| ran.adapter.is_none() && self.taken.files.is_empty());
        let were_named = [Some(held), self.before.as_ref()];
        if is_unadapted
            && were_named.into_iter().flatten().any(|known| known.every)
            && self.counts.errors == 0
            && baseline::was_named_by_adapter(&self.run.kept).unwrap_or(false)
        {
            return Some((
                "the runner was made to name every test before, and came to no report now: it ended before, or it is reported otherwise".to_owned(),
                format!(
                    "see in what it printed what ended it, mend that, and report again: {}",
                    Verb::Report
                ),
            ));
        }
        if !report.format.names_alike(held.format) {
            return is_red.then(|| {
                (
                    format!(
                        "{} was reported as {}, and this is {}: the names of tests cannot be compared",
                        name_of(self.role.against.as_ref()), held.format, report.format
                    ),
                    format!(
                        "report in that format: {alike}; to change it, go back with {reopen}",
                        reopen = Verb::Reopen.step().and("reason")
                    ),
                )
            });
        }
        // Some runners name tests or not as they like. Who hands in a report can have them named; where the pinned command is
        // run here, nobody can.
        let verified = self.taken.level() >= Level::Ran;
        let names_every = self.now.as_ref().is_some_and(|now| now.every);
        (is_red && !verified && held.every && !names_every).then(|| {
            // What Go prints as text does not say whether it is all.
            let how = if report.format == held.format {
                "let the runner print every test, as it did before (such as -v)".to_owned()
            } else {
                format!("have the runner write {}, as it did before (`go test -json`)", held.format)
            };
            (
                format!(
                    "{} named every test before, and this report does not: nobody can see that the same tests pass",
                    held.format
                ),
                format!("{how}, and report again: {}", Verb::Report),
            )
        })
    }

    /// Whether the very same tests fail again and again.
    pub(crate) fn stuck(&mut self) -> Result<(), Fault> {
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
            self.findings.push(with_tests(
                finding(
                    "stuck",
                    format!(
                        "the same {} {STUCK_AFTER} times in a row: {}",
                        if self.counts.failed == 0 {
                            format!("{} could not be compiled or collected", failing.len())
                        } else {
                            format!("{} failed", tests(failing.len() as u64))
                        },
                        few(&failing)
                    ),
                    if self.facts.contains_key(MAY_BE_OLD) {
                        format!(
                            "tell the person, who looks at it and goes on with {resume}; if they failed before the run, make that known then: {baseline}",
                            resume = Verb::Resume,
                            baseline = Verb::Baseline
                        )
                    } else {
                        format!(
                            "tell the person, who looks at it: {resume} goes on, `reopen` goes back to the tests",
                            resume = Verb::Resume
                        )
                    },
                ),
                &failing,
            ));
        }
        Ok(())
    }

    /// Tests that passed only when they were tried again.
    pub(crate) fn flaky(&mut self) {
        let flaky: Vec<String> = self
            .now
            .iter()
            .flat_map(|now| now.those(|outcome| outcome == ::test_report::Outcome::Flaky))
            .map(str::to_owned)
            .collect();
        if flaky.is_empty() {
            return;
        }
        self.facts.insert("flakyTests".to_owned(), named(&flaky));
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

    /// Fewer tests than there were: in the report that it is held against, or, where that could not count them because
    /// they did not compile, and where there is none, in the last one in which all passed.
    pub(crate) fn gone_missing(&mut self, against: Option<&Shown>) -> Result<(), Fault> {
        // Where each of them is named, that says more than how many they are.
        let named = |finding: &Finding| {
            finding.policy == "tests_missing" && finding.details.contains_key("tests")
        };
        let policy = self.run.policies.get("tests_missing");
        if policy.is_none_or(|policy| *policy == Severity::Refuse)
            && self.findings.iter().any(named)
        {
            return Ok(());
        }
        // Of packages that passed Go says without `-v` only that: its numbers are not those of tests.
        let format = self.taken.report.as_ref().map(|report| report.format);
        if format == Some(TestFormat::GoText) {
            return Ok(());
        }
        let all = &self.taken.counts;
        let last = match began(self.kept, self.role)? {
            Some(before) => before.total,
            None => LAST_TOTAL.read(&self.run.kept)?,
        };
        let gone = self.removed(against)? + self.fewer_cases;
        let last = last.unwrap_or(0).saturating_sub(gone);
        let uncounted = against.is_some_and(|shown| shown.errors > 0);
        let before = match against.map(|shown| shown.total).filter(|total| *total > 0) {
            // What could not be built may be told more than once, and its tests are not counted yet.
            Some(total) if uncounted => {
                let errors = against.map_or(0, |shown| shown.errors);
                total.saturating_sub(errors).max(last)
            }
            // A part of the suite may have been run there.
            Some(total) if total < last && !self.old_tests_were_changed()? => last,
            Some(total) => total.saturating_sub(self.fewer_cases),
            None => last,
        };
        let ran_in_red = against.filter(|_| !uncounted).map_or(0, |shown| shown.ran);
        let ran_in_red = ran_in_red.saturating_sub(self.fewer_cases);
        let skipped = all.total() >= before && all.ran() < ran_in_red && all.skipped > 0;
        if all.total() >= before && !skipped {
            return Ok(());
        }
        let message = if skipped {
            format!(
                "{} ran, {ran_in_red} did in {}: {} skipped now",
                tests(all.ran()),
                name_of(self.role.against.as_ref()),
                all.skipped
            )
        } else {
            format!(
                "{} reported, {before} were there before: tests have gone missing",
                tests(all.total())
            )
        };
        self.findings.push(finding(
            "fewer_tests",
            message,
            match against {
                Some(_) => format!(
                    "bring the missing tests back, and report the whole suite: {report}; if a test was wrong, go back with {reopen}",
                    report = Verb::Report,
                    reopen = Verb::Reopen.step().and("reason")
                ),
                None => format!(
                    "bring the missing tests back, and report the whole suite: {}",
                    Verb::Report
                ),
            },
        ));
        Ok(())
    }

    /// Whether tests of before can have been taken out for this item: where files with tests of before are as they were, none was.
    fn tests_may_be_removed(&self) -> Result<bool, Fault> {
        if self.taken.removed.is_empty() {
            return Ok(false);
        }
        let is_held = FROZEN.read(self.kept, self.role.frozen.as_ref())?.is_some();
        Ok(!is_held || self.old_tests_were_changed()?)
    }

    /// Whether tests that were there before are among those that were written for this item: of these some may be gone on purpose.
    fn old_tests_were_changed(&self) -> Result<bool, Fault> {
        let frozen = FROZEN.read(self.kept, self.role.frozen.as_ref())?;
        for path in frozen.unwrap_or_default().0.keys() {
            if self.repository.file_at(self.last, path)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many of the tests of before were taken out on purpose.
    fn removed(&self, against: Option<&Shown>) -> Result<u64, Fault> {
        let may_be_removed = self.tests_may_be_removed()?;
        let is_removed = |id: &&str| {
            was_removed_before(against, id) || may_be_removed && self.taken.was_removed(id)
        };
        let before = self.before.iter();
        let known = before.flat_map(|before| before.those(|_| true));
        Ok(known.filter(is_removed).count() as u64)
    }
}

fn finding_of(lacking: TestProblems, against: &str, has_red: bool) -> Finding {
    let mut told = Vec::new();
    for (what, ids) in [
        ("missing", &lacking.missing),
        ("skipped", &lacking.skipped),
        ("expected to fail", &lacking.excused),
    ] {
        if !ids.is_empty() {
            told.push(format!("{what}: {}", few(ids)));
        }
    }
    if lacking.no_new {
        told.push(format!("the tests that could not be built in {against} do not show up: there is no test that was not there before"));
    }
    if !lacking.unreported.is_empty() {
        told.push(format!(
            "no test that was written in {against} is in the report: {}",
            few(&lacking.unreported)
        ));
    }
    let mut all = lacking.missing;
    all.extend(lacking.skipped);
    all.extend(lacking.excused);
    let way_out = concat!(
        "bring them back, and report the whole suite: ",
        step!("report"),
        "; name tests that were taken out on purpose where they were taken out, with ",
        argument!("removed"),
        " ID, and those whose titles differ in each run with the failing tests, with ",
        argument!("removed"),
        " BEGINNING*"
    );
    let way_back = has_red.then(|| {
        let reopen = Verb::Reopen.step().and("reason");
        format!("; where {against} named one that is not there, go back with {reopen}")
    });
    with_tests(
        finding(
            "tests_missing",
            format!(
                "tests that passed before, or failed in {against}, do not pass now: {}",
                told.join("; ")
            ),
            format!("{way_out}{}", way_back.unwrap_or_default()),
        ),
        &all,
    )
}

/// Whether an id is among those of a ledger, which are in order.
fn is_among(ids: &[String], id: &str) -> bool {
    ids.binary_search_by(|one| one.as_str().cmp(id)).is_ok()
}

/// Whether as many tests pass as RED ran of those that begin as it named this one: each run gives them other titles.
fn is_titled_anew(against: Option<&Shown>, red: Option<&Ledger>, now: &Ledger, id: &str) -> bool {
    let named = against.iter().flat_map(|shown| &shown.removed);
    let mut named = named.filter(|named| named.ends_with('*') && is_meant(named, id));
    named.any(|named| {
        let passing = now.those(Outcome::is_success);
        let passing = passing.filter(|id| is_meant(named, id)).count();
        let ran = red.into_iter().flat_map(|red| red.those(|_| true));
        passing >= ran.filter(|id| is_meant(named, id)).count()
    })
}

/// Whether a test was said to be taken out when the failing tests were shown.
fn was_removed_before(against: Option<&Shown>, id: &str) -> bool {
    against.is_some_and(|shown| shown.removed.iter().any(|removed| is_meant(removed, id)))
}
