//! What the language means, feature by feature, on definitions of a few lines.

use machine::command::{Finding, Report};
use machine::{Command, RunStatus, Severity};
use serde_json::{Map, Value, json};

use crate::driver::{Driver, reading};

const END: &str = "z: { final: completed }";

fn run(top: &str, states: &[&str]) -> Driver {
    let states = states.join("\n  ");
    let text =
        format!("tramline: 1\nid: x\ntitle: X\ninitial: a\n{top}\nstates:\n  {states}\n  {END}\n");
    let mut driver = Driver::new(&text);
    driver
        .readings
        .insert("tests".to_owned(), reading(facts(0)));
    driver
}

fn facts(failed: u32) -> Value {
    json!({
        "passed": 0, "failed": failed, "errors": 0, "skipped": 0, "compiled": false, "failing": failed, "ran": failed,
        "total": failed, "under": [], "files": [], "level": "",
    })
}

fn begin(driver: &mut Driver) {
    driver.start(json!({}), json!({})).unwrap();
}

#[test]
fn a_step_without_instructions_needs_no_context() {
    let mut driver = run(
        "",
        &[
            "a: { work: {}, to: b }",
            "b: { work: { instructions: red.md }, to: z }",
        ],
    );
    begin(&mut driver);
    assert!(driver.contexts.is_empty());
    assert_eq!(driver.run.waiting().next().unwrap().1.context, None);
    driver.report(json!({})).unwrap();
    assert_eq!(driver.contexts, ["b"]);
    assert_eq!(
        driver.run.waiting().next().unwrap().1.context.as_deref(),
        Some("c0ffee")
    );
}

#[test]
fn two_states_never_share_the_id_of_a_unit() {
    let mut driver = run(
        "",
        &[
            "a: { work: {}, to: a-2 }",
            "a-2: { work: {}, on: { report: { to: a }, skip: { to: z } } }",
        ],
    );
    begin(&mut driver);
    let mut seen = Vec::new();
    for _ in 0..6 {
        let unit = driver.unit();
        assert!(!seen.contains(&unit), "{unit} twice");
        seen.push(unit);
        driver.report(json!({})).unwrap();
    }
    assert_eq!(seen, ["a", "a-2", "a-3", "a-2-2", "a-4", "a-2-3"]);
}

#[test]
fn a_retry_that_stays_keeps_what_it_sets() {
    let mut driver = run(
        "vars: { tries: int }",
        &[
            "a: { expects: tests, work: {}, on: { report: [ { when: tests.failed > 0, retry: no, set: { tries: =vars.tries + 1 } }, { to: z } ] } }",
        ],
    );
    begin(&mut driver);
    driver.report(facts(1)).unwrap();
    driver.report(facts(1)).unwrap();
    assert_eq!(driver.run.vars["tries"], 2);
    assert_eq!(driver.unit(), "a-3");
}

#[test]
fn every_state_that_reads_gets_a_reading_of_its_own() {
    let mut driver = run(
        "vars: { sha: string }",
        &[
            "a: { expects: tests, work: {}, to: b }",
            "b: { expects: commit, route: [ { when: commit.sha == 'abc', set: { sha: =commit.sha }, to: z }, { refuse: no_commit } ] }",
        ],
    );
    driver.readings.insert(
        "commit".to_owned(),
        reading(json!({ "sha": "abc", "message": "", "files": [] })),
    );
    begin(&mut driver);
    driver.report(facts(0)).unwrap();
    assert_eq!(
        (driver.status(), &driver.run.vars["sha"]),
        (RunStatus::Completed, &json!("abc"))
    );
}

#[test]
fn what_a_route_read_is_still_known_behind_its_effect() {
    let mut driver = run(
        "vars: { sha: string, other: string }",
        &[
            "a: { expects: commit, route: { do: git.commit, set: { sha: =commit.sha, other: =result.sha }, to: z } }",
        ],
    );
    let mut found = reading(json!({ "sha": "abc", "message": "", "files": [] }));
    found.keep_run.insert("note".to_owned(), json!("kept"));
    driver.readings.insert("commit".to_owned(), found);
    driver.effects.insert(
        "git.commit".to_owned(),
        Ok(json!({ "sha": "def", "owed": true })),
    );
    begin(&mut driver);
    assert_eq!(driver.run.vars["sha"], "abc");
    assert_eq!(driver.run.vars["other"], "def");
    assert_eq!(driver.run.kept["note"], "kept");
}

#[test]
fn an_effect_that_gives_nonsense_is_recorded_and_the_run_waits_for_a_person() {
    let mut driver = run(
        "vars: { sha: string }",
        &[
            "a: { expects: commit, work: {}, on: { report: { do: git.commit, set: { sha: =result.sha }, to: z } } }",
        ],
    );
    begin(&mut driver);
    for nonsense in [json!({}), json!({ "sha": 7 }), json!(null)] {
        driver.effects.insert("git.commit".to_owned(), Ok(nonsense));
        let report = json!({ "sha": "", "message": "", "files": [] });
        driver.report(report).unwrap();
        assert_eq!(driver.paused_for(), "definition_fault");
        assert!(driver.run.pending.is_none());
        assert_eq!(driver.unit(), "a");
        driver.resume().unwrap();
    }
    driver.abort(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Aborted);
}

#[test]
fn what_a_skip_keeps_outlives_an_effect_on_the_way() {
    let mut driver = run(
        "",
        &["a: { work: {}, on: { report: { to: z }, skip: { do: tag.switch, to: z } } }"],
    );
    begin(&mut driver);
    let mut keep = Map::new();
    keep.insert("dirty".to_owned(), json!(["a"]));
    driver
        .send(&Command::Skip {
            item: None,
            reason: "no".to_owned(),
            keep,
            approval: None,
        })
        .unwrap();
    assert_eq!(driver.run.kept["dirty"], json!(["a"]));
}

#[test]
fn a_policy_can_pause_a_route() {
    let mut driver = run(
        "",
        &[
            "a: { expects: tests, route: [ { check: history_rewritten }, { to: b } ] }",
            "b: { work: {}, to: z }",
        ],
    );
    driver
        .policies
        .insert("history_rewritten".to_owned(), Severity::Pause);
    let finding = Finding {
        policy: "history_rewritten".to_owned(),
        message: "it was".to_owned(),
        suggestion: None,
        details: Map::new(),
    };
    driver
        .readings
        .get_mut("tests")
        .unwrap()
        .findings
        .push(finding);
    begin(&mut driver);
    assert_eq!(driver.paused_for(), "history_rewritten");
    driver.readings.get_mut("tests").unwrap().findings.clear();
    driver.resume().unwrap();
    assert_eq!(driver.unit(), "b");
}

const PARTS: &str = "items: { parts: { key: id, needs: needs, fields: { id: string, needs: [string], deep: bool } } }";

fn parts(nested: &str, done: &str, items: &Value) -> Driver {
    let each = format!(
        "b: {{ each: {{ items: parts, initial: c, parallel: 2 }}, on: {{ done: {done} }}, states: {{ {nested} }} }}"
    );
    let mut driver = run(
        PARTS,
        &[
            "a: { expects: survey, route: { load: { parts: =survey.subtasks }, to: b } }",
            &each,
        ],
    );
    driver
        .readings
        .insert("survey".to_owned(), reading(json!({ "subtasks": items })));
    driver
}

const PLAIN: &str = "c: { work: {}, on: { report: { to: d }, skip: { to: f } } }, d: { final: completed }, f: { final: failed }";

#[test]
fn items_run_side_by_side_up_to_the_limit() {
    let mut driver = parts(
        PLAIN,
        "{ to: z }",
        &json!([{ "id": "1" }, { "id": "2", "needs": ["1"] }, { "id": "3" }, { "id": "4" }]),
    );
    begin(&mut driver);
    let waiting = |driver: &Driver| -> Vec<String> {
        driver
            .run
            .waiting()
            .map(|(_, unit)| unit.id.clone())
            .collect()
    };
    assert_eq!(waiting(&driver), ["1-c", "3-c"]);
    assert_eq!(driver.reopen().unwrap_err().code, "which_item");
    driver.report_to("3-c", json!({})).unwrap();
    assert_eq!(waiting(&driver), ["1-c", "4-c"]);
    driver.report_to("1-c", json!({})).unwrap();
    assert_eq!(waiting(&driver), ["4-c", "2-c"]);
    driver.report_to("4-c", json!({})).unwrap();
    driver.report_to("2-c", json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn one_of_several_items_goes_back_where_it_is_named() {
    let mut driver = parts(
        "c: { work: {}, on: { report: { to: d } } }, d: { work: {}, on: { report: { to: e }, reopen: { to: c } } }, e: { final: completed }",
        "{ to: z }",
        &json!([{ "id": "1" }, { "id": "2" }]),
    );
    begin(&mut driver);
    driver.report_to("1-c", json!({})).unwrap();
    driver.report_to("2-c", json!({})).unwrap();
    assert_eq!(driver.reopen().unwrap_err().code, "which_item");
    let missing = driver.reopen_item(Some("3")).unwrap_err();
    assert_eq!(missing.code, "not_present");
    driver.reopen_item(Some("2")).unwrap();
    let states: Vec<&str> = driver
        .run
        .waiting()
        .map(|(token, _)| token.state.as_str())
        .collect();
    assert_eq!(states, ["d", "c"]);
}

#[test]
fn no_items_at_all_are_soon_done() {
    let mut driver = parts(PLAIN, "{ to: z }", &json!([]));
    begin(&mut driver);
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn a_pause_at_the_end_of_the_items_is_a_pause() {
    let mut driver = parts(
        PLAIN,
        "[ { when: parts.failed > 0, pause: skipped }, { to: z } ]",
        &json!([{ "id": "1" }]),
    );
    begin(&mut driver);
    driver.skip().unwrap();
    assert_eq!(driver.paused_for(), "skipped");
    driver.abort(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Aborted);
}

#[test]
fn items_that_make_items_without_end_are_refused() {
    let nested = "c: { route: [ { when: item.deep, to: d }, { add: { parts: { id: =item.id + 'x' } }, to: d } ] }, d: { final: completed }";
    let mut driver = parts(nested, "{ to: z }", &json!([{ "id": "1" }]));
    let refusal = driver.start(json!({}), json!({})).unwrap_err();
    assert_eq!(refusal.code, "definition_fault");
    // Many items that wait for nobody are no circle.
    let nested = "c: { route: { to: d } }, d: { final: completed }";
    let many: Vec<Value> = (0..500)
        .map(|at| json!({ "id": format!("{at}") }))
        .collect();
    let mut driver = parts(nested, "{ to: z }", &Value::Array(many));
    begin(&mut driver);
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn a_workflow_that_says_nothing_of_abort_can_be_called_off() {
    let mut driver = parts(PLAIN, "{ to: z }", &json!([{ "id": "1" }, { "id": "2" }]));
    begin(&mut driver);
    driver.pause().unwrap();
    driver.abort(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Aborted);
    assert_eq!((driver.run.tokens.len(), driver.unit().as_str()), (1, ""));
}

#[test]
fn a_number_that_is_none_is_a_fault_and_all_others_come_back_exactly() {
    let mut driver = run(
        "vars: { x: { type: number, default: 0.1 } }",
        &[
            "a: { expects: tests, work: {}, on: { report: [ { when: tests.failed == 9, set: { x: =1.0 / double(tests.failed - 9) }, to: z }, { when: tests.failed == 8, to: z }, { set: { x: =vars.x * 1.1 + 0.3 }, to: a } ] } }",
        ],
    );
    begin(&mut driver);
    for _ in 0..40 {
        driver.report(facts(1)).unwrap();
    }
    assert_eq!(
        driver.report(facts(9)).unwrap_err().code,
        "definition_fault"
    );
}

#[test]
fn a_report_without_a_unit_means_the_present_one() {
    let mut driver = run("", &["a: { work: {}, to: z }"]);
    begin(&mut driver);
    driver.send(&Command::Report(Report::default())).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}
