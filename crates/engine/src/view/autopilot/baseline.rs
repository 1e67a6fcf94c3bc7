//! What failed before a run, made known while it is under way.

use std::path::Path;

use journal::layout::RunDir;
use machine::{Command, RunState};
use workspace::config::Level;

use crate::call::Input;
use crate::capability::memory::{self, BASELINE, LAST_LEDGER, Memory, SHOWN};
use crate::capability::messages::tests;
use crate::capability::tests::evidence::bench::{Bench, benches};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::{self, TestEvidence, baseline};
use crate::capability::tests::read::few;
use crate::capability::tests::used::USED;
use crate::engine::Engine;
use crate::fault::{Fault, Kind};
use crate::find::Selector;
use crate::next_step::{NextStep, Verb};
use crate::progress::RUNNING;
use crate::turn::turned;
use crate::view::AUTOPILOT;
use crate::view::autopilot::answer::TransitionAnswer;
use crate::view::autopilot::request;

impl Engine {
    /// Takes in how the tests were before the run: as a report says, or as they are in a fresh checkout of the commit that the
    /// run began on, in which they are run. What failed there may go on failing.
    pub fn take_baseline(
        &self,
        run: Option<&str>,
        given: &request::Evidence,
    ) -> Result<TransitionAnswer, Fault> {
        let (_, dir, seen) = self.load_in_project(&AUTOPILOT, run, Selector::Running)?;
        let memory = Memory::of(&seen.run)?;
        let format = evidence::format_named(given.format.as_deref())?;
        let taken = if given.reports.is_empty() {
            is_unknown(&seen.run, &dir, None)?;
            let base = memory.base_oid()?;
            let cancelled = self.cancellation();
            self.tell(RUNNING, 0, None);
            let (benches, config) = (benches(dir.path()), &self.settings.config);
            Bench::take(&benches, &memory, config, base.clone(), &cancelled)
                .and_then(|bench| bench.tested(&base, false, format))
                .and_then(some_pass)
                .map_err(|fault| by_hand(fault, &memory, format_of(&seen.run, &dir)))?
        } else {
            evidence::take(given, &self.cwd)?
        };
        if taken.counts.ran() == 0 {
            return Err(Fault::new(
                Kind::Refused,
                "no_tests_ran",
                "no test ran in what was handed in",
            )
            .suggest(format!(
                "run the whole suite as it was before the run, or leave the report out: {}",
                Verb::Baseline
            )));
        }
        let writer = self.writer(&dir, Input::None)?;
        is_unknown(&writer.open.run, &dir, Some(&taken))?;
        let (command, message) = remembering(&taken, &writer.open.run, &writer.call.dir)?;
        Ok(turned(&AUTOPILOT, writer, &command, |_| message)?.into())
    }

    /// Takes in what was found out beside a report of how the tests were before the run. Gives what to say of it, where anything
    /// failed then.
    pub(crate) fn take_found_baseline(
        &self,
        dir: &RunDir,
        found: &TestEvidence,
    ) -> Result<Option<String>, Fault> {
        let mut writer = self.writer(dir, Input::None)?;
        if !baseline::is_unknown(&writer.open.run) {
            return Ok(None);
        }
        let (command, message) = remembering(found, &writer.open.run, &writer.call.dir)?;
        let done = writer.command(&command)?.is_ok();
        Ok(Some(message).filter(|_| done && found.counts.failing() > 0))
    }
}

/// Refuses a run in a checkout in which nothing passes: it lacks what the tests need, and tells nothing of them.
fn some_pass(taken: TestEvidence) -> Result<TestEvidence, Fault> {
    if taken.counts.passed > 0 || taken.counts.failing() == 0 {
        return Ok(taken);
    }
    Err(Fault::new(
        Kind::Refused,
        "setup_needed",
        "no test passes on the bench at the commit that the run began on",
    )
    .suggest("set test.setup to the command that makes a fresh checkout ready"))
}

/// What has a run remember how the tests were before it, and what to say of it.
fn remembering(
    taken: &TestEvidence,
    run: &RunState,
    dir: &Path,
) -> Result<(Command, String), Fault> {
    let mut keep = baseline::added(taken, run, dir)?;
    let used = USED.read(&run.kept)?.unwrap_or_default();
    USED.put(&mut keep, &used.without_last(run))?;
    let failing: Vec<String> = taken
        .ledger()
        .iter()
        .flat_map(Ledger::failing)
        .map(str::to_owned)
        .collect();
    let message = match (failing.as_slice(), taken.counts.failing()) {
        (_, 0) => format!("Before the run {} passed", tests(taken.counts.passed)),
        ([], number) => format!(
            "Before the run {} failed, and have no names there: a report that names them tells more",
            tests(number)
        ),
        (failing, _) if taken.counts.passed == 0 => format!(
            "Before the run these tests failed, as they may go on to: {}; of those that passed the report lists none",
            few(failing)
        ),
        (failing, _) => format!(
            "Before the run {} passed, and these failed, as they may go on to: {}",
            tests(taken.counts.passed),
            few(failing)
        ),
    };
    let command = Command::Edit {
        edits: Vec::new(),
        keep,
    };
    Ok((command, message))
}

/// Refuses where it is known already how the tests were. By names of another kind it may be made known at any time, and anew
/// until something is committed. Numbers alone take no place of names.
fn is_unknown(run: &RunState, dir: &RunDir, given: Option<&TestEvidence>) -> Result<(), Fault> {
    if !BASELINE.is_in(&run.kept) {
        return Ok(());
    }
    let was_verified = baseline::level(&run.kept)? >= Some(Level::Ran);
    if was_verified && given.is_some_and(|given| given.level() < Level::Ran) {
        return Err(baseline_known(
            "how the tests were before the run was seen here, and no report takes the place of that",
        ));
    }
    let named = given.and_then(TestEvidence::ledger);
    let is_anew = memory::commits(run) == 0 && (given.is_none() || named.is_some());
    if is_anew {
        return Ok(());
    }
    if let Some(named) = &named
        && is_of_other_names(run, dir, named)?
    {
        return Ok(());
    }
    Err(baseline_known(
        "what failed before is known already: by a report of before the run, or by one that was accepted since",
    ))
}

fn baseline_known(message: &str) -> Fault {
    Fault::new(Kind::Refused, "baseline_known", message)
        .suggest(format!("go on with what comes next: {}", Verb::Next))
}

/// Whether a report names tests otherwise than all that is known of them. Refuses one in which more fail than failed before the
/// run: what the run has broken since is nothing that failed before it.
fn is_of_other_names(run: &RunState, dir: &RunDir, named: &Ledger) -> Result<bool, Fault> {
    let mut before = None;
    for hash in baseline::ledgers(&run.kept)? {
        let known = Ledger::read(dir.path(), &hash)?;
        if known.named_as(named).is_some() {
            return Ok(false);
        }
        before = before.max(Some(known.failing().count()));
    }
    if let Some(last) = LAST_LEDGER.text(&run.kept)
        && Ledger::read(dir.path(), last)?.named_as(named).is_some()
    {
        return Ok(false);
    }
    let now = named.failing().count();
    let Some(before) = before.filter(|before| *before < now) else {
        return Ok(true);
    };
    Err(Fault::new(
        Kind::Refused,
        "baseline_known",
        format!(
            "{} failed before the run, and {now} fail in this report: it is not of the commit that the run began on",
            tests(before as u64)
        ),
    )
    .suggest(format!(
        "hand in a report of that commit: {}",
        Verb::Baseline.step().and("report")
    )))
}

/// The format in which the item in hand was reported; none where that has no names.
fn format_of(run: &RunState, dir: &RunDir) -> Option<&'static str> {
    let (token, _) = run.waiting().next()?;
    let shown = SHOWN.all(&token.kept).ok()?;
    let hash = shown
        .iter()
        .rev()
        .find_map(|shown| shown.ledger.as_deref())?;
    Some(Ledger::read(dir.path(), hash).ok()?.format.name())
}

/// The same where it cannot be found out here: somebody else runs the tests, in a checkout of their own.
fn by_hand(fault: Fault, memory: &Memory, format: Option<&'static str>) -> Fault {
    let checkout = memory.start.git_dir.join("tramline-baseline");
    let is_there = checkout.exists();
    let checkout = checkout.to_string_lossy();
    let head = &memory.start.head;
    let suggestion = format!(
        "{}; or make a checkout of the commit that the run began on ({}), run the tests there, hand in what they print{} ({}), and take the checkout away again ({})",
        fault.suggestion,
        if is_there {
            NextStep::git(["-C", &checkout, "checkout", "--detach", head])
        } else {
            NextStep::git(["worktree", "add", "--detach", &checkout, head])
        },
        format.map_or_else(String::new, |format| format!(
            ", as {format} like the reports of this run"
        )),
        Verb::Baseline.step().and("report"),
        NextStep::git(["worktree", "remove", "--force", &checkout]),
    );
    fault.suggest(suggestion)
}
