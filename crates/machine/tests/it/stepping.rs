//! Steps, files, gates and rounds in workflows of a user's own, whether they go on by themselves or not.

use machine::command::Artifact;
use machine::{Reading, RunStatus};
use serde_json::json;

use crate::driver::{Driver, map, outcome, reading};

fn reads(driver: &mut Driver, word: &str) {
    let found = reading(outcome(word));
    driver.readings.insert("outcome".to_owned(), found);
}

/// The response of the present state is there.
fn respond(driver: &mut Driver) {
    let path = driver.response();
    let response = Reading {
        artifacts: vec![Artifact {
            path: path.clone(),
            sha256: "feed".to_owned(),
            state: driver.state().to_owned(),
            iteration: driver.round(),
        }],
        ..Reading::default()
    };
    driver.readings.insert(String::new(), response);
    driver.files.insert(path);
}

/// A state `a` that reads an outcome, with these edges of its report.
fn reporting(edges: &str) -> String {
    format!("a: {{ expects: outcome, work: {{}}, on: {{ report: [ {edges} ] }} }}")
}

#[test]
fn a_prompt_that_is_gone_comes_back_by_a_step() {
    const FILES: &str = "a: { work: { prompt: p.md, response: r.md }, to: z }";
    let mut driver = Driver::small("", FILES);
    let begin = driver.events.len();
    // Another prompt than before is recorded.
    for (context, recorded) in [("c0ffee", 0), ("facade", 1)] {
        driver.files.clear();
        driver.context = context;
        driver.step().unwrap();
        assert_eq!(driver.names(begin).len(), recorded);
        assert_eq!((driver.unit().as_str(), driver.files.len()), ("a", 1));
    }
    // It is not asked for again once its response is there; and the state may be reported too.
    let mut reported = Driver::small("", FILES);
    reported.report(json!({})).unwrap();
    assert_eq!(reported.asked, [""]);
    assert_eq!(reported.status(), RunStatus::Completed);
    let asked = driver.contexts.len();
    driver.files.clear();
    respond(&mut driver);
    driver.step().unwrap();
    assert_eq!((driver.state(), driver.contexts.len()), ("z", asked));
}

#[test]
fn a_single_state_may_wait_for_a_step_or_pass_without_one() {
    for (top, by, stands, then) in [
        ("vars: { n: int }", "manual", "(b)", "d"),
        ("advance: manual\nvars: { n: int }", "auto", "(a)", "(c)"),
    ] {
        let states = format!(
            "a: {{ route: {{ set: {{ n: 1 }}, to: b }} }}
b: {{ advance: {by}, do: tag.switch, to: c }}
c: {{ route: {{ to: d }} }}
d: {{ work: {{}}, to: z }}"
        );
        let mut driver = Driver::small(top, &states);
        assert_eq!(driver.stands(), stands);
        assert!(driver.carried_out.is_empty());
        assert_eq!(driver.after("step"), then);
        assert_eq!(driver.carried_out, ["tag.switch"]);
    }
}

#[test]
fn a_retry_issues_the_unit_anew_by_itself() {
    let state = reporting("{ when: outcome.outcome == 'no', retry: no }, { to: z }");
    let state = state.replace("work: {}", "work: { attempts: 2 }");
    let mut driver = Driver::small("advance: manual", &state);
    let out = "paused:max_attempts_reached";
    assert_eq!(driver.after("say:no say:no"), format!("a-2 {out}"));
    let paused = driver.step().unwrap_err();
    assert_eq!(paused.details["paused"], "max_attempts_reached");
    assert_eq!(driver.after("resume"), "a-3");
}

#[test]
fn otherwise_takes_what_no_edge_of_a_state_takes() {
    let otherwise = "otherwise: [ { when: outcome.outcome == 'no', outcome: refused, reason: =outcome.note, to: y }, { refuse: what } ]";
    let a = reporting("{ when: outcome.outcome == 'yes', to: b }");
    let states = format!(
        "{a}
b: {{ work: {{}}, to: c }}
c: {{ expects: outcome, route: {{ when: outcome.outcome == 'yes', to: z }} }}
y: {{ final: cancelled }}"
    );
    let mut driver = Driver::small(otherwise, &states);
    assert_eq!(driver.after("say:maybe"), "!what");
    let begin = driver.events.len();
    let said = json!({ "outcome": "no", "note": "not now", "files": [] });
    driver.report(said.clone()).unwrap();
    assert_eq!(driver.run.end_reason.as_deref(), Some("not now"));
    let moved = driver.moved(begin);
    assert_eq!(
        [&moved["cause"], &moved["outcome"]],
        ["otherwise", "refused"]
    );
    // A route that reads has them too, and the report that led there is refused with it.
    let mut driver = Driver::small(otherwise, &states);
    driver.after("say:yes");
    reads(&mut driver, "maybe");
    assert_eq!(driver.after("report"), "!what");
    assert_eq!(driver.unit(), "b");
    driver.readings.insert("outcome".to_owned(), reading(said));
    assert_eq!(driver.after("report"), "cancelled");
}

#[test]
fn a_reason_of_an_edge_comes_before_that_of_the_command() {
    let a = "a: { work: {}, on: { report: { to: z }, reopen: { reason: by the rule, to: b } } }";
    let b = "b: { work: {}, on: { report: { to: z }, reopen: { to: a } } }";
    let mut driver = Driver::small("", &format!("{a}\n{b}"));
    for reason in ["by the rule", "the test is wrong"] {
        driver.reopen().unwrap();
        assert_eq!(driver.run.tokens[0].reason.as_deref(), Some(reason));
    }
}

#[test]
fn effects_are_told_what_their_edge_says() {
    let edge = "{ set: { n: =vars.n + 2 }, do: [tag.switch, tag.restore], with: { note: =outcome.note, count: =vars.n, plain: true }, emit: 'a:b', to: b }";
    let states = format!("{}\nb: {{ do: tag.switch, to: z }}", reporting(edge));
    let mut driver = Driver::small("vars: { n: int }\ncounter: n", &states);
    let said = json!({ "outcome": "", "note": "so", "files": [] });
    driver.report(said).unwrap();
    let with = map(json!({ "note": "so", "count": 0, "plain": true }));
    let told = |effect: &str, with| (effect.to_owned(), with, Some(2));
    let switched = told("tag.switch", with.clone());
    let then = [
        told("tag.restore", with),
        told("tag.switch", map(json!({}))),
    ];
    assert!(driver.names(0).contains(&"a:b".to_owned()));
    assert_eq!(driver.told[0], switched);
    assert_eq!(driver.told[1..], then);
}
