//! The ledger: tests by their names, from one report to the next.

use std::path::PathBuf;

use super::stage::{CLAIM, CODE, GREEN, RED, Stage};

const MISSING: &str = "tests_missing";

/// A report of these tests, which nobody has run and which pass where nothing else is said: for runners that this machine has not.
fn written(stage: &Stage, lines: &[&str]) -> PathBuf {
    let cases = lines.iter().zip(1..).map(|(line, at)| {
        let (how, name) = line.split_once(": ").unwrap_or(("ok", line));
        format!("{how} {at} - {name}\n")
    });
    let cases: String = cases.collect();
    stage.written(format!("TAP version 14\n{cases}1..{}\n", lines.len()))
}

/// A test that RED's report names, and that is not there, is owed until RED is reported anew.
#[test]
fn a_test_that_red_named_and_is_not_there_leads_back() {
    let stage = Stage::started("");
    stage.test("spaces");
    let with = |new: &[&str]| {
        let old = ["words test_one", "words test_two"];
        written(&stage, &[&old[..], new].concat())
    };
    let red = with(&["not ok: spaces test_spaces", "not ok: phantom"]);
    stage.takes(RED, &red);
    stage.code("spaces");
    let green = with(&["spaces test_spaces"]);
    stage.hand_in_refused(GREEN, &green, MISSING, &["phantom"]);
    stage.reopen();
    stage.delete(CODE);
    stage.accepts(RED);
    stage.green();
}

#[test]
fn a_part_of_the_suite_is_not_the_suite() {
    let stage = Stage::coded();
    let (one, two, new) = ("words test_one", "words test_two", "spaces test_spaces");
    let part = written(&stage, &["spaces test_spaces"]);
    stage.hand_in_refused(GREEN, &part, MISSING, &[one, two]);
    // Numbers after names are no names.
    stage.refused(CLAIM, MISSING, &[]);
    stage.accepts(GREEN);
    stage.auto("commit").ok();
    // In RED the new test alone will do.
    stage.test("tabs");
    stage.takes(RED, &written(&stage, &["not ok: tabs test_tabs"]));
    stage.code("tabs");
    let part = || written(&stage, &["tabs test_tabs"]);
    stage.hand_in_refused(GREEN, &part(), MISSING, &[new, one, two]);
    stage.accepts(GREEN);
    stage.auto("commit").ok();
    stage.hand_in_refused("finalize", &part(), MISSING, &[new, one, two]);
    stage.refused("finalize --results passed:4,failed:0", MISSING, &[]);
    let end = stage.report("finalize").ok();
    assert_eq!(end["nextAction"]["status"], "completed", "{end}");
}
