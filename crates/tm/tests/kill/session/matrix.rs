//! Every act of a session, killed at each place of its way.

use serde_json::Value;

use super::stage::Stage;
use super::story::{ANSWERED, Act, CALLED_OFF, STORY, done, now};
use crate::matrix;
use crate::whole::Whole;
use testkit::Outcome;

/// The fail points that a session passes. Those of `io` stand before and after each change of the session's folder.
const POINTS: &[&str] = &[
    "io",
    "before-append",
    "after-append",
    "before-perform",
    "after-perform",
    "prompt-before-file",
    "derived-before-state",
    "after-derived",
    "start-after-folder",
    "end-before-report",
];

/// Has the acts of a story die, from this one on.
fn die_everywhere(story: &'static [Act], gates: &'static str, deaths: (usize, usize)) {
    let stage = &Stage::new();
    let go_on = |reference: &[(Value, Whole)], [from, to, _]: [usize; 3]| {
        for number in from..=to {
            done(stage, story[number], gates, &reference[number].0)
                .map_err(|fault| format!("act {number}: {fault}"))?;
        }
        if stage.state().status != "IN_PROGRESS" {
            // There is nothing to be done any more, and a step still clears up.
            let ran = Act::Step.on(stage, gates, None);
            assert!(matches!(ran.status, 0 | 8), "{ran:?}");
        }
        stage.whole().same_as(&reference[to].1)
    };
    let on = |act: Act, death| act.on(stage, gates, death);
    let look = |_: &Outcome| (now(stage), stage.whole());
    matrix::die_everywhere(stage, story, POINTS, deaths, on, look, go_on);
}

#[test]
fn a_whole_session_dies_at_every_place() {
    die_everywhere(STORY, "human", (0, 120));
}

#[test]
fn a_session_that_is_called_off_dies_at_every_place() {
    die_everywhere(CALLED_OFF, "human", (3, 2));
}

#[test]
fn a_session_whose_answers_are_all_there_dies_at_every_place() {
    die_everywhere(ANSWERED, "auto", (6, 20));
}
