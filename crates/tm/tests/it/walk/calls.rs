//! Calls that are made at the wrong time, or in the wrong words.

use super::{at, at_of, story};
use crate::honest::work::{Before, RED, SHOP, Way, Work};

/// Calls at a stage, and the code that each comes to.
fn come_to<const N: usize>(
    stage: fn(&Before<'static>) -> Work,
    calls: [(&'static str, &'static str); N],
) {
    at_of(&SHOP.by(Way::Claimed), stage, RED).tell(calls.map(|(call, code)| {
        story(call, code).call(move |work| work.ask(&call.split(' ').collect::<Vec<_>>()))
    }));
}

#[test]
fn a_report_is_of_no_sense() {
    come_to(
        Before::at_red,
        [
            ("complete red --results failed:many", "usage"),
            (
                "complete red --results failed:1,passed:1 --coverage much",
                "usage",
            ),
            ("complete red", "usage"),
            (
                "complete red --results failed:1,passed:1 --files ../../x",
                "bad_name",
            ),
            ("complete green --results failed:0,passed:2", "stale_unit"),
            (
                "complete red 1.7 --results failed:1,passed:1",
                "unknown_item",
            ),
            ("commit", "stale_unit"),
            ("reopen --reason again", "not_possible"),
            ("skip 1.7 --reason no", "not_present"),
            ("allow no_tests_ran --reason fine", "not_possible"),
        ],
    );
}

#[test]
fn a_commit_is_of_no_sense() {
    come_to(
        Before::at_commit,
        [
            ("complete red --results failed:0,passed:2", "stale_unit"),
            ("commit --files no.such", "nothing_changed"),
            ("commit --sha nothing", "not_found"),
            ("commit --sha HEAD", "not_found"),
            ("commit --files ../../x", "bad_name"),
            ("finalize --results failed:0,passed:2", "stale_unit"),
        ],
    );
}

#[test]
fn a_call_comes_too_late() {
    at(Before::at_red, RED)
        .tell([story("the run is paused", "paused")
            .done(|work| work.tm(&["pause", "--reason", "lunch"]))]);
}
