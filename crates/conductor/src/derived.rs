//! Files that are made from the journal, for people and programs: in the shape that the calls on the run speak of.

use rails::{Event, RunState};

use crate::call::Call;
use crate::find::is_over_a_task;
use crate::{generic, tdd};

/// Brings the files up to date after `appended`. What cannot be written is left for the next time.
pub(crate) fn write(call: &Call<'_>, run: &RunState, appended: &[Event]) {
    if is_over_a_task(run) {
        tdd::derived::write(call, run, appended);
        tdd::effects::notes::catch_up(call, run);
    } else {
        generic::derived::write(call, run, appended);
    }
}

/// Makes good what is missing, torn or behind, as a process leaves it that ends in the middle. Whether there was anything.
pub(crate) fn complete(call: &Call<'_>, run: &RunState) -> bool {
    if is_over_a_task(run) {
        let behind = tdd::derived::complete(call, run);
        tdd::effects::notes::catch_up(call, run);
        behind
    } else {
        generic::derived::complete(call, run)
    }
}
