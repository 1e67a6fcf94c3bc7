//! Every act of a session, killed at each place of its way.

use serde_json::Value;

use super::stage::Stage;
use super::story::{ANSWERED, Act, CALLED_OFF, STORY, done, now};
use crate::matrix::Deaths;

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
fn die_everywhere(story: &'static [Act], gates: &'static str, from: usize, at_least: usize) {
    if !cfg!(debug_assertions) {
        // A release build has no fail points.
        return;
    }
    let stage = &Stage::new();
    // What the session is after each act, where nothing goes wrong.
    let mut reference = Vec::new();
    for (number, act) in story.iter().enumerate() {
        stage.save(number);
        let ran = act.on(stage, gates, None);
        assert!(matches!(ran.status, 0 | 8), "{number} {act:?}: {ran:?}");
        reference.push((now(stage), stage.whole()));
    }
    let go_on = |from: usize, to: usize, _| {
        for number in from..=to {
            let after: &Value = &reference[number].0;
            done(stage, story[number], gates, after)
                .map_err(|fault| format!("act {number}: {fault}"))?;
        }
        if stage.state().status != "IN_PROGRESS" {
            // There is nothing to be done any more, and a step still clears up.
            let ran = Act::Step.on(stage, gates, None);
            assert!(matches!(ran.status, 0 | 8), "{ran:?}");
        }
        match stage.whole().differs_from(&reference[to].1) {
            same if same.is_empty() => Ok(()),
            differs => Err(format!("after act {to}:\n{differs}")),
        }
    };
    let dying: Vec<usize> = (0..story.len())
        .filter(|&number| story[number].can_die())
        .collect();
    let deaths = Deaths {
        place: stage,
        story,
        dying: &dying,
        points: POINTS,
    };
    deaths.everywhere(
        from,
        at_least,
        |act, death| act.on(stage, gates, Some(death)),
        go_on,
    );
}

#[test]
fn a_whole_session_dies_at_every_place() {
    die_everywhere(STORY, "human", 0, 120);
}

#[test]
fn a_session_that_is_called_off_dies_at_every_place() {
    die_everywhere(CALLED_OFF, "human", 3, 2);
}

#[test]
fn a_session_whose_answers_are_all_there_dies_at_every_place() {
    die_everywhere(ANSWERED, "auto", 6, 20);
}
