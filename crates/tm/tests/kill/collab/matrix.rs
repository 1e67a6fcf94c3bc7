//! Every act of a session, killed at each place of its way.

use serde_json::Value;
use testkit::Outcome;
use testkit::chance::tries_all;

use super::stage::{Stage, answered};
use super::story::{Act, BY_CALL, by_document};
use super::whole::{now, whole, without};
use crate::matrix;
use crate::place::answer;
use crate::whole::Whole;

/// The fail points that a session of skills passes. Those of `io` stand before and after each document that is kept or placed.
const POINTS: &[&str] = &[
    "after-append",
    "io",
    "before-append",
    "derived-before-state",
    "after-derived",
    "start-after-folder",
    "end-before-report",
];

/// Has each act of a story die.
fn die_everywhere(story: &[Act]) {
    let stage = &Stage::new();
    let plain = |ran: &Outcome| {
        let dir = stage.session();
        without(answer(ran), dir.file_name().unwrap().to_str().unwrap())
    };
    // What is answered to each act, and what the session is after it.
    let look = |ran: &Outcome| (plain(ran), now(stage), whole(stage));
    // Goes on after a death, as somebody does who was told nothing.
    let go_on = |reference: &[(Value, Value, Whole)], [from, to, deaths]: [usize; 3]| {
        let found = now(stage);
        let before = from.checked_sub(1).map(|before| &reference[before].1);
        let stayed = before.map_or(found.is_null(), |before| found == *before);
        let after = &reference[from].1;
        let happened = found == *after && !stayed;
        // A session that an update begins is begun before anything is set.
        let begun = from == 0 && found["state"]["state"] == "collab-start";
        if !happened && !begun && !stayed {
            return Err(format!(
                "half of it happened: {found}\nwhich is neither {before:?}\nnor {after}"
            ));
        }
        // Who sees that it happened may leave it at that. A document that only lies there is one written by hand.
        let leave = happened
            && from < to
            && (!tries_all() || deaths.is_multiple_of(2))
            && whole(stage).0["events"] == reference[from].2.0["events"];
        for number in from + usize::from(leave)..=to {
            let ran = story[number].on(stage, None);
            if ran.status != 0 {
                return Err(format!("act {number}: {ran:?}"));
            }
            let (answer, wanted) = (plain(&ran), &reference[number].0);
            if answer != *wanted {
                return Err(format!("act {number} answers {answer} instead of {wanted}"));
            }
        }
        whole(stage).same_as(&reference[to].2)
    };
    let on = |act: Act, death| act.on(stage, death);
    matrix::die_everywhere(stage, story, POINTS, (0, 30), on, look, go_on);
}

#[test]
fn a_session_by_document_dies_at_every_place() {
    die_everywhere(&by_document());
}

#[test]
fn a_session_by_calls_dies_at_every_place() {
    die_everywhere(BY_CALL);
}

/// What a start leaves behind that is killed before its first event is no session, and bars neither its name nor other calls.
#[test]
fn a_start_that_was_cut_short_is_no_session() {
    if !cfg!(debug_assertions) {
        return;
    }
    let stage = Stage::new();
    let begin = by_document()[0];
    assert!(begin.on(&stage, Some(("start-after-folder", 1))).died());
    let list = stage.json(&["runs", "list"]).ok();
    assert_eq!(list[0]["status"], "unstarted", "{list}");
    assert_eq!(stage.tm(4, &["state"])["error"]["code"], "no_run");
    answered(&begin.on(&stage, None), 0);
    assert_eq!(stage.runs().len(), 1);
}
