//! What failed before a run, made known while it is under way.

use journal::layout::RunDir;
use machine::{Command, RunState};

use crate::call::Input;
use crate::capability::memory::{self, BASELINE, LAST_LEDGER, LAST_TOTAL, Memory};
use crate::capability::messages::tests;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::{self, baseline, clean};
use crate::capability::tests::read::few;
use crate::capability::tests::used::USED;
use crate::engine::Engine;
use crate::fault::{Fault, Kind};
use crate::find::Selector;
use crate::next_step::{NextStep, Verb};
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
            let base = memory.start.head.parse();
            let base = base.map_err(|_| Fault::bug("a run begins on a commit"))?;
            clean::tested_at(
                &base,
                &[],
                &memory,
                &self.settings.config,
                format,
                &self.cancellation(),
            )
            .map_err(|fault| by_hand(fault, &memory))?
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
        is_unknown(&writer.open.run, &dir, taken.ledger().as_ref())?;
        let mut keep = baseline::remembered(&taken, &writer.call.dir)?;
        // What was accepted since counts more.
        if LAST_TOTAL.is_in(&writer.open.run.kept) {
            keep.retain(|name, _| !LAST_TOTAL.is_called(name));
        }
        let used = USED.read(&writer.open.run.kept)?.unwrap_or_default();
        USED.put(&mut keep, &used.without_last(&writer.open.run))?;
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
        Ok(turned(&AUTOPILOT, writer, &command, |_| message)?.into())
    }
}

/// Refuses where it is known already how the tests were. Until something is committed they may be made known by other names.
fn is_unknown(run: &RunState, dir: &RunDir, given: Option<&Ledger>) -> Result<(), Fault> {
    if !BASELINE.is_in(&run.kept) && !LAST_LEDGER.is_in(&run.kept) {
        return Ok(());
    }
    if let (Some(given), Some(hash)) = (given, LAST_LEDGER.text(&run.kept))
        && memory::commits(run) == 0
        && !Ledger::read(dir.path(), hash)?.names_alike(given)
    {
        return Ok(());
    }
    Err(Fault::new(
        Kind::Refused,
        "baseline_known",
        "what failed before is known already: by a report of before the run, or by one that was accepted since",
    )
    .suggest(format!("go on with what comes next: {}", Verb::Next)))
}

/// The same where it cannot be found out here: somebody else runs the tests, in a checkout of their own.
fn by_hand(fault: Fault, memory: &Memory) -> Fault {
    let checkout = memory.start.git_dir.join("tramline-baseline");
    let checkout = checkout.to_string_lossy();
    let suggestion = format!(
        "{}; or make a checkout of the commit that the run began on ({}), run the tests there, and hand in what they print: {}",
        fault.suggestion,
        NextStep::git(["worktree", "add", "--detach", &checkout, &memory.start.head]),
        Verb::Baseline.step().and("report")
    );
    fault.suggest(suggestion)
}
