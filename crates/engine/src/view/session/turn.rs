//! Taking a session up again.

use machine::{Definition, RunState, RunStatus};
use serde_json::Value;

use crate::approval::Turn;
use crate::call::Call;
use crate::capability::profile::session::iteration;
use crate::fault;
use crate::fault::Fault;
use crate::turn::over;
use crate::view::session::about::can_reopen;

/// The setting that says how many iterations a session has, in the section of its workflow; and what raises it.
pub(crate) const MOST_ITERATIONS: &str = "maxIterations";

/// Whether a run is paused so that it only pauses again where it goes on: as one whose reviews keep failing is after its
/// last iteration.
pub(crate) fn is_at_cap(definition: &Definition, run: &RunState) -> bool {
    let pause = run.pause.as_ref();
    // Somebody who pauses it may give any reason.
    let by_rule = pause.filter(|pause| pause.token.is_some());
    by_rule.is_some_and(|pause| definition.pauses_in_route(run.state(), &pause.reason))
}

/// Refuses to take a session up again that goes on without it, or is over for good; or to raise what is not used up.
pub(crate) fn may_be_reopened(
    call: &Call<'_>,
    run: &RunState,
    turn: &Turn<'_>,
) -> Result<(), Fault> {
    if !can_reopen(call, run) {
        return Err(match run.status {
            RunStatus::Paused => fault!(
                "not_possible.session_reopen",
                paused = run.stopped(),
                run = run.run
            ),
            RunStatus::Running => fault!("not_possible.session_goes_on"),
            _ => over(run),
        });
    }
    let Some(most) = turn.flags.get(MOST_ITERATIONS).and_then(Value::as_i64) else {
        return Ok(());
    };
    if !is_at_cap(&call.definition, run) {
        return Err(fault!("usage.session_reopen"));
    }
    let used = iteration(call, run);
    if most <= used {
        return Err(fault!(
            "usage.too_few_iterations",
            given = most,
            used,
            least = used + 1
        ));
    }
    Ok(())
}
