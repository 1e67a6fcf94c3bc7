//! What the language means, feature by feature, on definitions of a few lines.

use machine::{RunStatus, Severity};
use serde_json::{Value, json};

use crate::driver::{Driver, finding, reading};
use crate::marked::{states, with};
use crate::tdd::{code, tests};

#[test]
fn two_states_never_share_the_id_of_a_unit() {
    let states =
        "a: { work: {}, to: a-2 }\na-2: { work: {}, on: { report: { to: a }, skip: { to: z } } }";
    let mut driver = Driver::small("", states);
    assert_eq!(driver.unit(), "a");
    let reports = driver.after("report report report report report");
    assert_eq!(reports, "a-2 a-3 a-2-2 a-4 a-2-3");
}

#[test]
fn every_state_that_reads_gets_a_reading_of_its_own() {
    let states = "a: { expects: tests, work: {}, to: b }\nb: { expects: commit, route: [ { when: commit.sha == 'abc', set: { sha: =commit.sha }, to: z }, { refuse: no_commit } ] }";
    let mut driver = Driver::small("vars: { sha: string }", states);
    let commit = reading(json!({ "sha": "abc", "message": "", "files": [] }));
    driver.readings.insert("commit".to_owned(), commit);
    driver.report(tests(0, 0)).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
    assert_eq!(driver.run.vars["sha"], "abc");
}

#[test]
fn what_a_route_read_is_still_known_behind_its_effect() {
    let state = "a: { expects: commit, route: { do: git.commit, set: { sha: =commit.sha, other: =result.sha }, to: z } }";
    let vars = "vars: { sha: string, other: string }";
    let mut driver = Driver::new(&with(vars, state));
    let mut found = reading(json!({ "sha": "abc", "message": "", "files": [] }));
    found.keep_run.insert("note".to_owned(), json!("kept"));
    driver.readings.insert("commit".to_owned(), found);
    let result = Ok(json!({ "sha": "def", "owed": true }));
    driver.effects.insert("git.commit".to_owned(), result);
    driver.start(json!({}), json!({})).unwrap();
    assert_eq!(driver.run.vars["sha"], "abc");
    assert_eq!(driver.run.vars["other"], "def");
    assert_eq!(driver.run.kept["note"], "kept");
}

#[test]
fn an_effect_that_gives_nonsense_is_recorded_and_the_run_waits_for_a_person() {
    let state = "a: { expects: commit, work: {}, on: { report: { do: git.commit, set: { sha: =result.sha }, to: z } } }";
    let mut driver = Driver::small("vars: { sha: string }", state);
    for nonsense in [json!({}), json!({ "sha": 7 }), json!(null)] {
        driver.effects.insert("git.commit".to_owned(), Ok(nonsense));
        assert_eq!(driver.after("commit"), "paused:definition_fault");
        assert!(driver.run.pending.is_none());
        assert_eq!(driver.after("resume"), "a");
    }
    assert_eq!(driver.after("abort"), "aborted");
}

#[test]
fn a_policy_can_pause_a_route() {
    let text = states(
        "a: { expects: tests, route: [ { check: config_loosened }, { to: b } ] }\nb: { work: {}, to: z }",
    );
    let mut driver = Driver::new(&text);
    let policy = "config_loosened".to_owned();
    driver.policies.insert(policy.clone(), Severity::Pause);
    let mut found = reading(tests(0, 0));
    found.findings = vec![finding(&policy)];
    driver.readings.insert("tests".to_owned(), found);
    driver.start(json!({}), json!({})).unwrap();
    assert_eq!(driver.paused_for(), "config_loosened");
    driver.readings.clear();
    driver.resume().unwrap();
    assert_eq!(driver.unit(), "b");
}

/// A run whose parts go through these nested states, two side by side, and whose end is `done`.
fn parts(nested: &str, done: &str, items: &Value) -> Driver {
    let mut driver = Driver::new(&with(
        "items: { parts: { key: id, needs: needs, fields: { id: string, needs: [string], deep: bool } } }",
        &format!(
            "a: {{ expects: survey, route: {{ load: {{ parts: =survey.subtasks }}, to: b }} }}\nb: {{ each: {{ items: parts, initial: c, parallel: 2 }}, on: {{ done: {done} }}, states: {{ {nested} }} }}"
        ),
    ));
    let found = reading(json!({ "subtasks": items }));
    driver.readings.insert("survey".to_owned(), found);
    driver
}

fn begun(nested: &str, done: &str, items: &Value) -> Driver {
    let mut driver = parts(nested, done, items);
    driver.start(json!({}), json!({})).unwrap();
    driver
}

const PLAIN: &str = "c: { work: {}, on: { report: { to: d }, skip: { to: f } } }, d: { final: completed }, f: { final: failed }";

#[test]
fn items_run_side_by_side_up_to_the_limit() {
    let needy = json!({ "id": "2", "needs": ["1"] });
    let items = json!([{ "id": "1" }, needy, { "id": "3" }, { "id": "4" }]);
    let mut driver = begun(PLAIN, "{ to: z }", &items);
    for (waiting, done) in [
        (&["1-c", "3-c"][..], "3-c"),
        (&["1-c", "4-c"], "1-c"),
        (&["4-c", "2-c"], "4-c"),
        (&["2-c"], "2-c"),
    ] {
        let units = driver.run.waiting().map(|(_, unit)| unit.id.as_str());
        assert_eq!(units.collect::<Vec<_>>(), waiting);
        driver.report_to(done, json!({})).unwrap();
    }
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn where_no_item_waits_the_end_of_the_items_is_reached_at_once() {
    let nested = "c: { route: { to: d } }, d: { final: completed }";
    let many: Vec<Value> = (0..500)
        .map(|at| json!({ "id": format!("{at}") }))
        .collect();
    for items in [Vec::new(), many] {
        let driver = begun(nested, "{ to: z }", &json!(items));
        assert_eq!(driver.status(), RunStatus::Completed);
    }
    // Items that make items without end are refused.
    let nested = "c: { route: [ { when: item.deep, to: d }, { add: { parts: { id: =item.id + 'x' } }, to: d } ] }, d: { final: completed }";
    let mut driver = parts(nested, "{ to: z }", &json!([{ "id": "1" }]));
    assert_eq!(code(driver.start(json!({}), json!({}))), "definition_fault");
}

#[test]
fn a_pause_at_the_end_of_the_items_is_a_pause() {
    let done = "[ { when: parts.failed > 0, pause: skipped }, { to: z } ]";
    let mut driver = begun(PLAIN, done, &json!([{ "id": "1" }]));
    assert_eq!(driver.after("skip abort"), "paused:skipped aborted");
}

#[test]
fn a_workflow_that_says_nothing_of_abort_can_be_called_off() {
    let items = json!([{ "id": "1" }, { "id": "2" }]);
    let mut driver = begun(PLAIN, "{ to: z }", &items);
    assert_eq!(driver.after("pause abort"), "paused:lunch aborted");
    assert_eq!(driver.run.tokens.len(), 1);
}

#[test]
fn a_number_that_is_none_is_a_fault_and_all_others_come_back_exactly() {
    let state = "a: { expects: tests, work: {}, on: { report: [ { when: tests.failed == 9, set: { x: =1.0 / double(tests.failed - 9) }, to: z }, { when: tests.failed == 8, to: z }, { set: { x: =vars.x * 1.1 + 0.3 }, to: a } ] } }";
    let mut driver = Driver::small("vars: { x: { type: number, default: 0.1 } }", state);
    // The driver holds each value against what comes back from the journal.
    for _ in 0..40 {
        driver.report(tests(0, 1)).unwrap();
    }
    assert_eq!(code(driver.report(tests(0, 9))), "definition_fault");
}
