//! Steps, files, gates and rounds in workflows of a user's own, whether they go on by themselves or not.

use machine::command::Artifact;
use machine::{Reading, RunStatus};
use serde_json::{Value, json};

use crate::commands;
use crate::driver::{Driver, ann, map, outcome, reading};
use crate::marked::with;
use crate::tdd::code;

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

const DOOR: &str = "gates: { door: human }";

#[test]
fn a_gate_before_work_holds_the_unit_back() {
    let states =
        "a: { gate: door, work: {}, to: z, on: { reject: { to: y } } }\ny: { final: failed }";
    let mut driver = Driver::small(DOOR, states);
    assert_eq!(driver.step().unwrap_err().details["gate"], "door");
    assert_eq!(driver.after("step report"), "!blocked !stale_unit");
    let begin = driver.events.len();
    assert_eq!(driver.after("approve:door"), "a");
    assert_eq!(driver.names(begin), ["decision:made", "unit:issued"]);
    assert_eq!(driver.after("report"), "completed");
    // It may be called off before anybody decides.
    let mut driver = Driver::small(DOOR, states);
    assert_eq!(driver.after("abort step"), "aborted !blocked");
}

#[test]
fn a_gate_before_a_route_or_an_effect_holds_the_run_back() {
    for state in ["route: { do: git.branch, to: z }", "do: git.branch, to: z"] {
        let behind = format!("b: {{ gate: door, {state}, on: {{ reject: {{ to: a }} }} }}");
        let mut driver = Driver::small(DOOR, &format!("a: {{ work: {{}}, to: b }}\n{behind}"));
        // A person sends it back, which issues the work anew. A pause does not open it, nor does its end.
        let told = driver.after("report reject:door report pause resume");
        assert_eq!(told, "(b) a-2 (b) paused:lunch (b)");
        assert!(driver.carried_out.is_empty());
        assert_eq!(driver.after("approve:door"), "completed");
        assert_eq!(driver.carried_out, ["git.branch"]);
    }
}

#[test]
fn a_run_that_begins_before_a_gate_waits_there() {
    // What was looked at is the same behind it, so one look is enough for two states.
    let states = "a: { gate: door, route: { to: b } }\nb: { gate: door, route: { to: z } }";
    let mut driver = Driver::small(DOOR, states);
    assert_eq!(driver.stands(), "(a)");
    assert_eq!(driver.after("reject:door"), "!cannot_reject");
    assert_eq!(driver.run.approvals, []);
    assert_eq!(driver.after("approve:door"), "completed");
}

#[test]
fn the_mode_of_a_gate_may_come_from_vars() {
    let edge = "{ set: { mode: human }, to: b }";
    let a = reporting(edge).replace("a: {", "a: { gate: door,");
    let states = format!("{a}\nb: {{ gate: door, route: {{ to: z }} }}");
    let top = "vars: { mode: { type: [auto, human] } }\ngates: { door: =vars.mode }";
    let mut driver = Driver::small(top, &states);
    assert_eq!(driver.after("say:done approve:door"), "(b) completed");
}

#[test]
fn a_run_that_goes_on_by_itself_takes_files_by_steps() {
    let mut driver = Driver::small(
        "vars: { round: { type: int, default: 1 } }\ncounter: round",
        "a: { work: { prompt: 'ask-{round}.md', response: 'in/answer-{round}.md' }, to: b }
b: { route: { set: { round: =vars.round + 1 }, to: c } }
c: { work: { response: 'in/answer-{round}.md' }, to: z }",
    );
    let begun = ["state:entered", "unit:issued", "artifact:recorded"];
    assert_eq!(driver.names(1), begun);
    assert!(driver.files.contains("ask-1.md"));
    let refusal = driver.step().unwrap_err();
    assert_eq!(refusal.details["path"], "in/answer-1.md");
    assert_eq!(refusal.details["unit"], "a");
    respond(&mut driver);
    let begin = driver.events.len();
    driver.step().unwrap();
    // The route behind it is taken in the same go.
    assert_eq!(
        driver.names(begin)[..2],
        ["report:accepted", "artifact:recorded"]
    );
    let moved = ["state:entered", "state:entered", "unit:issued"];
    assert_eq!(driver.names(begin)[2..], moved);
    assert_eq!((driver.state(), driver.round()), ("c", Some(2)));
    // A state that asks for nothing has no prompt to be missing.
    assert_eq!(driver.contexts, ["a"]);
    assert_eq!(driver.step().unwrap_err().details["path"], "in/answer-2.md");
    respond(&mut driver);
    driver.step().unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
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
fn a_reader_may_refuse_a_response_and_it_stays_where_it_is() {
    let state = reporting("{ when: \"outcome.outcome == ''\", refuse: nothing_said }, { to: z }");
    let state = state.replace("work: {}", "work: { response: r.md }");
    let mut driver = Driver::small("", &state);
    respond(&mut driver);
    reads(&mut driver, "");
    assert_eq!(driver.after("step step"), "!nothing_said !nothing_said");
    assert_eq!(driver.unit(), "a");
    reads(&mut driver, "done");
    assert_eq!(driver.after("step"), "completed");
}

#[test]
fn a_step_where_only_a_report_helps_is_blocked() {
    for advance in ["auto", "manual"] {
        let top = format!("advance: {advance}");
        let mut driver = Driver::small(&top, "a: { work: {}, to: z }");
        let refusal = driver.step().unwrap_err();
        assert_eq!(refusal.code, "blocked");
        assert_eq!(refusal.details["unit"], "a");
        assert_eq!(refusal.details["path"], Value::Null);
        assert_eq!(driver.after("report"), "completed");
    }
    // Items are moved by reports and never by steps.
    let mut driver = Driver::new(&with(
        "items: { parts: { key: id, fields: { id: string } } }",
        "a: { expects: survey, route: { load: { parts: =survey.subtasks }, to: b } }
b: { each: { items: parts, initial: c }, on: { done: { to: z } }, states: { c: { work: {}, to: d }, d: { final: completed } } }",
    ));
    let items = reading(json!({ "subtasks": [{ "id": "1" }] }));
    driver.readings.insert("survey".to_owned(), items);
    driver.start(json!({}), json!({})).unwrap();
    assert_eq!(code(driver.step()), "blocked");
}

#[test]
fn one_step_is_one_transition_where_steps_are_asked_for() {
    let mut driver = Driver::small(
        "advance: manual\nvars: { n: int }",
        "a: { route: { set: { n: 1 }, to: b } }
b: { do: [tag.switch, tag.restore], to: c }
c: { work: { issue: step }, to: d }
d: { work: {}, to: e }
e: { route: [ { when: vars.n == 1, to: z }, { to: a } ] }",
    );
    assert_eq!(driver.names(0).len(), 2);
    for (from, to) in [("a", "b"), ("b", "c")] {
        assert_eq!(driver.state(), from);
        let begin = driver.events.len();
        driver.step().unwrap();
        assert_eq!((driver.moves(begin).len(), driver.state()), (1, to));
        assert_eq!(driver.unit(), "");
    }
    assert_eq!(driver.carried_out, ["tag.switch", "tag.restore"]);
    // The unit is issued by a step of its own, then it waits.
    let begin = driver.events.len();
    driver.step().unwrap();
    assert_eq!(driver.names(begin), ["unit:issued"]);
    // A report makes its own transition and no other.
    let then = driver.after("step report report step");
    assert_eq!(then, "!blocked d (e) completed");
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
fn a_circle_is_no_circle_where_each_transition_is_asked_for() {
    let states = "a: { route: [ { when: vars.n > 2, to: z }, { set: { n: =vars.n + 1 }, to: b } ] }\nb: { route: { to: a } }";
    let mut driver = Driver::small("advance: manual\nvars: { n: int }", states);
    let round = driver.after("step step step step step step step");
    assert_eq!(round, "(b) (a) (b) (a) (b) (a) completed");
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
    assert_eq!(driver.stands(), "cancelled");
    assert_eq!(driver.run.end_reason.as_deref(), Some("not now"));
    let moved = driver.moved(begin);
    assert_eq!(moved["cause"], "otherwise");
    assert_eq!(moved["outcome"], "refused");
    // A route that reads has them too; a state that reads nothing has not.
    let mut driver = Driver::small(otherwise, &states);
    driver.after("say:yes");
    reads(&mut driver, "maybe");
    // The report that led there is refused with it.
    assert_eq!(driver.after("report"), "!what");
    assert_eq!(driver.unit(), "b");
    driver.readings.insert("outcome".to_owned(), reading(said));
    assert_eq!(driver.after("report"), "cancelled");
}

#[test]
fn otherwise_may_pause_and_warn() {
    let otherwise = "otherwise: [ { warn: hm }, { when: outcome.outcome == 'wait', pause: waiting }, { to: z } ]";
    let state = reporting("{ when: outcome.outcome == 'yes', to: z }");
    let mut driver = Driver::small(otherwise, &state);
    assert_eq!(driver.after("say:wait"), "paused:waiting");
    assert_eq!(driver.run.last.as_ref().unwrap().warnings, ["hm"]);
    assert_eq!(driver.after("resume say:?"), "a-2 completed");
}

#[test]
fn outcome_reason_and_round_are_told_of_the_transition() {
    let edge = "{ set: { round: =vars.round + 1 }, outcome: begun, reason: \"='round ' + string(vars.round) + ': ' + outcome.note\", to: b }";
    let b = "b: { work: {}, on: { report: { reason: enough, to: z } } }";
    let states = format!("{}\n{b}", reporting(edge));
    let mut driver = Driver::small("vars: { round: int }\ncounter: round", &states);
    let begin = driver.events.len();
    let said = json!({ "outcome": "", "note": "quickly", "files": [] });
    driver.report(said).unwrap();
    // The reason is made of the values as they were; the round is the one it leads into.
    let moved = driver.moved(begin);
    assert_eq!(moved["outcome"], "begun");
    assert_eq!(moved["reason"], "round 0: quickly");
    assert_eq!(moved["iteration"], 1);
    let reason = driver.run.tokens[0].reason.as_deref();
    assert_eq!(reason, Some("round 0: quickly"));
    driver.after("report");
    assert_eq!(driver.run.end_reason.as_deref(), Some("enough"));
    // A reason that is empty is none.
    let mut driver = Driver::small("", &reporting("{ reason: =outcome.note, to: z }"));
    driver.report(outcome("done")).unwrap();
    assert_eq!(driver.run.end_reason, None);
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
    let edge = "{ set: { n: =vars.n + 2 }, do: [tag.switch, tag.restore], with: { note: =outcome.note, count: =vars.n, plain: true }, to: b }";
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
    assert_eq!(driver.told[0], switched);
    assert_eq!(driver.told[1..], then);
}

#[test]
fn what_is_called_back_out_of_error_goes_on_where_it_broke() {
    let a = "a: { expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'yes', to: b }, reopen: { to: a } } }";
    let b = "b: { expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'yes', to: z } } }";
    let states = format!("{a}\n{b}\nbroken: {{ final: error }}");
    let otherwise = "otherwise: { reason: =outcome.note, to: broken }";
    let mut driver = Driver::small(otherwise, &states);
    // A state that does not say where to go back has no way out of its end.
    let told = driver.after("say:no reopen say:yes say:no reopen");
    assert_eq!(told, "error a-2 b error !cannot_reopen");
}

#[test]
fn flags_of_a_step_back_are_seen_by_its_edges() {
    let states = "a: { work: {}, on: { report: { to: b } } }
b: { route: [ { when: vars.most < 2, pause: enough }, { to: z } ], on: { reopen: [ { when: command.maxIterations > 0, set: { most: =command.maxIterations } }, { to: a } ] } }";
    let mut driver = Driver::small("vars: { most: { type: int, default: 1 } }", states);
    driver.report(json!({})).unwrap();
    assert_eq!(driver.paused_for(), "enough");
    let reopen = commands::reopen(None, json!({ "maxIterations": 2 }), Some(ann().into()));
    driver.send(&reopen).unwrap();
    // It goes on by itself once the pause is over.
    assert_eq!(driver.status(), RunStatus::Completed);
    assert_eq!(driver.run.vars["most"], 2);
}
