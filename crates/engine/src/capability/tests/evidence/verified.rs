//! Verified evidence: the suite is run by us, on the bench. A report of failing tests is of the work without its product, a report of
//! passing tests of the work itself.

use std::path::{Path, PathBuf};

use ::test_report::{Outcome, TestFormat};
use machine::RunState;
use machine::role::{FileClass, Shows};
use machine::state::Token;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::plain::one_line;
use workspace::config::{Config, Level};
use workspace::convention::paths::Language;
use workspace::git::Oid;
use workspace::process::Cancellation;
use workspace::runner::adapter::SomeTests;

use crate::capability::memory::{BENCH, FROZEN, Memory};
use crate::capability::tests::difference::Difference;
use crate::capability::tests::evidence::bench::{Bench, benches, in_place};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::names::first_part;
use crate::capability::tests::evidence::work::Work;
use crate::capability::tests::evidence::{TestEvidence, baseline};
use crate::capability::tests::known;
use crate::fault::Fault;
use crate::running_suite::SuiteNote;
use crate::support::HandlerError;

/// If more tests than these fail, none is run again: something is wrong with all of them.
const MOST_TRIED_AGAIN: usize = 50;

/// The trees that a suite was run on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RanOn {
    /// What a commit would have held.
    pub work: Oid,
    /// What was tested: the same, or that without its product.
    pub tested: Oid,
}

/// A report whose suite is to be run, and the work that it is of.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The work.
    pub work: &'a Work,
    /// What differs from the commit that it is on.
    pub of_item: &'a [Difference],
    /// Tests that failed before and are to pass with it, as the caller names them.
    pub repairs: &'a [String],
    /// The run's folder.
    pub run_dir: &'a Path,
    /// The run.
    pub run: &'a RunState,
    /// Where it waits for the report.
    pub present: &'a Token,
    /// The settings that it is pinned to.
    pub config: &'a Config,
    /// The files that the test command writes its report to.
    pub reports: &'a [PathBuf],
    /// The file that it writes its coverage to.
    pub coverage: Option<&'a Path>,
    /// The format of that report, where the caller named it.
    pub format: Option<TestFormat>,
    /// Set when nobody wants the outcome any more.
    pub cancelled: &'a Cancellation,
}

impl Asked<'_> {
    /// Runs the suite, and before it, where nothing is known of the tests yet, the suite of the commit that the work began on.
    ///
    /// # Errors
    /// Those of a suite that comes to no result, and those of git.
    pub fn verified(&self) -> Result<TestEvidence, HandlerError> {
        let work = self.work;
        let suites = Suites {
            memory: &work.memory,
            config: self.config,
            reports: self.reports,
            format: self.format,
            cancelled: self.cancelled,
            run_dir: Some(self.run_dir),
        };
        let is_red = self.present.role.shows == Some(Shows::NewFailure);
        let tested = if is_red {
            work.without_product(self.of_item)?
        } else {
            work.tree.clone()
        };
        if let Some(unit) = &self.present.unit {
            work.keep(self.run, &unit.id, &tested)?;
        }
        let of = |taken: TestEvidence| {
            let of_work = taken.off_bench.is_some();
            let tested = if of_work { &work.tree } else { &tested };
            let ran_on = RanOn {
                work: work.tree.clone(),
                tested: tested.clone(),
            };
            TestEvidence {
                ran_on: Some(ran_on),
                ..taken
            }
        };
        if let Some(reason) = BENCH.text(&self.run.kept) {
            return Ok(of(suites.in_place(true, reason)?));
        }
        let bench = suites.bench(&benches(self.run_dir), &work.base)?;
        let bench = bench.covering(self.coverage.filter(|_| !is_red));
        // On a bench that was of use once, what fails there fails for want of something in the work.
        let is_proven = || baseline::was_verified(self.run_dir, &self.run.kept);
        let instead_of = |fault| {
            if is_proven()? {
                return Err(fault);
            }
            suites.instead_of(fault, true).map(of)
        };
        let mut baseline = None;
        if baseline::is_due(self.run, self.present) {
            match bench.tested("the commit before", &work.base, false, self.format) {
                Ok(taken) => baseline = Some(Box::new(taken)),
                Err(fault) => return Ok(instead_of(fault)?),
            }
        }
        let ran = if is_red {
            self.of_red(&bench, &tested, baseline.as_deref())
        } else {
            self.tested(&bench, "the work", &tested, baseline.as_deref())
        };
        let mut taken = match ran {
            Ok(taken) => taken,
            Err(fault) => return Ok(instead_of(fault)?),
        };
        let any_passes = |taken: &TestEvidence| taken.counts.passed > 0;
        if !any_passes(&taken)
            && !baseline.as_deref().is_some_and(any_passes)
            && !is_proven()?
            && let Some(instead) = suites.passing_in_place(true)?
        {
            return Ok(of(instead));
        }
        taken.baseline = baseline;
        // What fails as it is, is refused as it is.
        if let Some(tree) = self.with_tests_of_red()?
            && !self.fails_newly(&taken)?
        {
            let with = bench.tested(
                "the work with its tests of before",
                &tree,
                true,
                self.format,
            )?;
            taken.with_tests_of_red = Some((with.counts, with.ledger()));
        }
        Ok(of(taken))
    }

    /// The new tests without the product that was written for them; with it where they say nothing else, such as tests that cannot be
    /// built without, or a runner that ends before any of them.
    fn of_red(
        &self,
        bench: &Bench<'_>,
        tested: &Oid,
        baseline: Option<&TestEvidence>,
    ) -> Result<TestEvidence, Fault> {
        let without = self.tested(bench, "the work without its product", tested, baseline);
        let is_told = match &without {
            Ok(taken) => self.fails_by_name(taken, baseline)?,
            Err(fault) => is_final(fault),
        };
        if is_told || *tested == self.work.tree {
            return without;
        }
        match self.tested(bench, "the work", &self.work.tree, baseline) {
            Err(fault) if is_final(&fault) => Err(fault),
            Err(_) => without,
            Ok(with) => {
                let is_told = self.fails_by_name(&with, baseline)?;
                match without {
                    // Where they all pass with it, what could not be built without it is what they fail for.
                    Ok(taken) if is_told || taken.counts.failing() == 0 => Ok(TestEvidence {
                        without_product: taken.ledger(),
                        ..with
                    }),
                    Err(_) if is_told => Ok(with),
                    told => told,
                }
            }
        }
    }

    /// Runs the suite on a tree, and then once more the tests that fail newly, if the runner can run some tests alone: those that pass
    /// then are flaky.
    fn tested(
        &self,
        bench: &Bench<'_>,
        on: &str,
        tree: &Oid,
        baseline: Option<&TestEvidence>,
    ) -> Result<TestEvidence, Fault> {
        let mut taken = bench.tested(on, tree, true, self.format)?;
        let failing = taken.counts.failing() > 0;
        let Some(now) = taken.ledger().filter(|_| failing) else {
            return Ok(taken);
        };
        let mut ids = self.newly_failing(&now, baseline)?;
        ids.retain(|id| now.outcome(id) != Some(Outcome::NotCollected));
        if ids.is_empty() || ids.len() > MOST_TRIED_AGAIN {
            return Ok(taken);
        }
        let only = SomeTests {
            files: &self.files_of(&ids),
            ids: &ids,
        };
        let again = bench.tested_alone("tests that failed", None, &only, self.format)?;
        if let Some(again) = again {
            taken.mark_flaky(&again);
        }
        Ok(taken)
    }

    /// The files that tests are in, from the project's root: those of tests that the work has changed, and those that their names begin
    /// with.
    pub(super) fn files_of(&self, ids: &[String]) -> Vec<String> {
        let repository = self.work.memory.repository();
        let changed = self.of_item.iter().filter(|one| {
            one.after.is_some() && one.classes.contains(&FileClass::Tests) && !one.is_inside()
        });
        let changed = changed.map(|one| repository.name_in_scope(&one.path));
        let root = &self.work.memory.start.project_root;
        let named = ids.iter().filter_map(|id| Some(first_part(id)?.0));
        let named = named.filter(|name| root.join(name).is_file());
        let mut files: Vec<String> = changed.chain(named.map(str::to_owned)).collect();
        files.retain(|file| Language::of(file).is_some());
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Whether a test fails that did not before the item.
    pub(super) fn fails_newly(&self, taken: &TestEvidence) -> Result<bool, Fault> {
        let Some(now) = taken.ledger() else {
            return Ok(taken.counts.failing() > 0);
        };
        Ok(!self
            .newly_failing(&now, taken.baseline.as_deref())?
            .is_empty())
    }

    /// Whether a test ran and failed, by its name, that did not before the item.
    fn fails_by_name(
        &self,
        taken: &TestEvidence,
        baseline: Option<&TestEvidence>,
    ) -> Result<bool, Fault> {
        let Some(now) = taken.ledger() else {
            return Ok(false);
        };
        let mut new = self.newly_failing(&now, baseline)?.into_iter();
        let has_run = |id: String| now.outcome(&id) != Some(Outcome::NotCollected);
        Ok(new.any(has_run))
    }

    /// The tests that fail, and did not before the item.
    fn newly_failing(
        &self,
        now: &Ledger,
        baseline: Option<&TestEvidence>,
    ) -> Result<Vec<String>, Fault> {
        let before = match baseline {
            Some(baseline) => baseline.ledger(),
            None => known::before(self.run_dir, self.run, Some(self.present))?,
        };
        let before = before.map(|before| before.without(self.repairs));
        Ok(now.newly_failing(before.as_ref()))
    }

    /// The work with the tests of the report of failing tests that it is held against, where these are not the same any more: who adds
    /// to them, or has a formatter go over them, passes those, too.
    fn with_tests_of_red(&self) -> Result<Option<Oid>, Fault> {
        let role = &self.present.role;
        let Some(frozen) = FROZEN.read(&self.present.kept, role.frozen.as_ref())? else {
            return Ok(None);
        };
        let repository = self.work.memory.repository();
        let sorter = self.work.sorter(&repository, self.config)?;
        let since = sorter.between(&frozen.tree, &self.work.tree)?;
        self.work.with_tests_of(&frozen.tree, &since)
    }
}

/// The suites of a project.
pub struct Suites<'a> {
    /// What is known of the project.
    pub memory: &'a Memory,
    /// The settings.
    pub config: &'a Config,
    /// The files that the test command writes its report to.
    pub reports: &'a [PathBuf],
    /// The format of that report, where the caller named it.
    pub format: Option<TestFormat>,
    /// Set when nobody wants the outcome any more.
    pub cancelled: &'a Cancellation,
    /// The folder of the run that they are run for; none where it has not begun.
    pub run_dir: Option<&'a Path>,
}

impl<'a> Suites<'a> {
    fn bench(&self, benches: &Path, head: &Oid) -> Result<Bench<'a>, Fault> {
        let bench = Bench::take(
            benches,
            self.memory,
            self.config,
            head.clone(),
            self.cancelled,
        )?;
        let bench = bench.reporting(self.reports);
        Ok(match self.run_dir {
            Some(dir) => bench.of_run(dir),
            None => bench,
        })
    }

    /// The suite of a commit that is checked out: on the bench, or in the working tree where the bench cannot be used.
    ///
    /// # Errors
    /// Those of a suite that comes to no result.
    pub fn of_commit(&self, benches: &Path, commit: &Oid) -> Result<TestEvidence, Fault> {
        let taken = match self.bench(benches, commit)?.tested(
            "the commit before",
            commit,
            false,
            self.format,
        ) {
            Ok(taken) => taken,
            Err(fault) => return self.instead_of(fault, false),
        };
        if taken.counts.passed == 0
            && let Some(instead) = self.passing_in_place(false)?
        {
            return Ok(instead);
        }
        Ok(TestEvidence {
            fails_there: self.failing_there_alone(&taken)?,
            ..taken
        })
    }

    /// The tests that fail on the bench and pass in the working tree: they lack something there.
    fn failing_there_alone(&self, there: &TestEvidence) -> Result<Vec<String>, Fault> {
        let Some(there) = there.ledger().filter(|there| there.failing().count() > 0) else {
            return Ok(Vec::new());
        };
        let here = match self.in_place(false, "") {
            Ok(here) => here.ledger(),
            Err(fault) if fault.code == "cancelled" => return Err(fault),
            Err(_) => None,
        };
        let passes = |id: &&str| {
            let outcome = here.as_ref().and_then(|here| here.outcome(id));
            outcome.is_some_and(Outcome::is_success)
        };
        Ok(there.failing().filter(passes).map(str::to_owned).collect())
    }

    /// The suite in the working tree, as it stands.
    pub(crate) fn in_place(&self, may_break: bool, reason: &str) -> Result<TestEvidence, Fault> {
        let read = (self.reports, self.format);
        let start = &self.memory.start;
        let note = |dir| SuiteNote::write(dir, "the work, in the working tree");
        let _seen = self.run_dir.and_then(note);
        Ok(TestEvidence {
            level: Some(Level::Ran),
            off_bench: Some(reason.to_owned()),
            ..in_place(start, self.config, read, may_break, self.cancelled)?
        })
    }

    /// The suite in the working tree where it comes to a result there, and on the bench it came to this fault; else that fault.
    fn instead_of(&self, fault: Fault, may_break: bool) -> Result<TestEvidence, Fault> {
        if is_final(&fault) {
            return Err(fault);
        }
        let printed = fault.details.get("output").and_then(Value::as_str);
        let last = printed.and_then(|printed| printed.trim_end().lines().next_back());
        let reason = last.map_or_else(
            || fault.message.clone(),
            |last| format!("{}: {}", fault.message, one_line(last)),
        );
        match self.in_place(may_break, &reason) {
            Ok(taken) if taken.counts.ran() > 0 => Ok(taken),
            // What is wrong in both is told as it is where the work is.
            Err(other) if other.code == "cancelled" || other.code == fault.code => Err(other),
            _ => Err(fault),
        }
    }

    /// The suite in the working tree, where a test passes there; on the bench none did.
    fn passing_in_place(&self, may_break: bool) -> Result<Option<TestEvidence>, Fault> {
        let reason = "no test passes there, and some do in the working tree";
        match self.in_place(may_break, reason) {
            Ok(taken) => Ok((taken.counts.passed > 0).then_some(taken)),
            Err(fault) if fault.code == "cancelled" => Err(fault),
            Err(_) => Ok(None),
        }
    }
}

/// Whether a suite took too long, or is not wanted any more: it is not run again in another way.
fn is_final(fault: &Fault) -> bool {
    matches!(fault.code.as_str(), "cancelled" | "test_timeout")
}
