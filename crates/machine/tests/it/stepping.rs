//! Steps, files, gates and rounds in workflows of a user's own, whether they go on by themselves or not.

use machine::command::{Artifact, Command, Report};
use machine::{Event, Reading, RunStatus};
use serde_json::{Map, Value, json};

use crate::driver::{Driver, ann, reading};
use crate::tdd::code;

const END: &str = "z: { final: completed }";

fn run(top: &str, states: &[&str]) -> Driver {
    let states = states.join("\n  ");
    let text =
        format!("tramline: 1\nid: x\ntitle: X\ninitial: a\n{top}\nstates:\n  {states}\n  {END}\n");
    let mut driver = Driver::begun(&text);
    driver
}

fn outcome(word: &str) -> Value {
    json!({ "outcome": word, "note": "", "files": [] })
}

fn reads(driver: &mut Driver, word: &str) {
    driver
        .readings
        .insert("outcome".to_owned(), reading(outcome(word)));
}

/// The response of the present state is there.
fn respond(driver: &mut Driver) {
    let path = driver.response();
    driver.readings.insert(
        String::new(),
        Reading {
            artifacts: vec![Artifact {
                path: path.clone(),
                sha256: "feed".to_owned(),
                state: driver.state().to_owned(),
                iteration: driver.round(),
            }],
            ..Reading::default()
        },
    );
    driver.files.insert(path);
}

const DOOR: &str = "gates: { door: human }";

#[test]
fn a_gate_before_work_holds_the_unit_back() {
    let mut driver = run(
        DOOR,
        &[
            "a: { gate: door, work: {}, to: z, on: { reject: { to: y } } }",
            "y: { final: failed }",
        ],
    );
    assert_eq!(
        (driver.status(), driver.unit().as_str()),
        (RunStatus::Running, "")
    );
    assert_eq!(driver.step().unwrap_err().details["gate"], "door");
    assert_eq!(code(driver.report(json!({}))), "stale_unit");
    let begin = driver.events.len();
    driver.approve("door").unwrap();
    assert_eq!(driver.names(begin), ["decision:made", "unit:issued"]);
    driver.report(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn a_gate_before_a_route_or_an_effect_holds_the_run_back() {
    for state in [
        "b: { gate: door, route: { do: git.branch, to: z }, on: { reject: { to: a } } }",
        "b: { gate: door, do: git.branch, to: z, on: { reject: { to: a } } }",
    ] {
        let mut driver = run(DOOR, &["a: { work: {}, to: b }", state]);
        driver.report(json!({})).unwrap();
        assert_eq!((driver.state(), driver.status()), ("b", RunStatus::Running));
        assert!(driver.carried_out.is_empty());
        // A person sends it back, which issues the work anew.
        driver.reject("door", "once more").unwrap();
        assert_eq!(driver.unit(), "a-2");
        driver.report(json!({})).unwrap();
        // A pause does not open it, nor does its end.
        driver.pause().unwrap();
        driver.resume().unwrap();
        assert_eq!(driver.state(), "b");
        driver.approve("door").unwrap();
        assert_eq!(
            (driver.status(), driver.carried_out.len()),
            (RunStatus::Completed, 1)
        );
    }
}

#[test]
fn a_run_that_begins_before_a_gate_waits_there() {
    let mut driver = run(DOOR, &["a: { gate: door, route: { to: z } }"]);
    assert_eq!((driver.state(), driver.status()), ("a", RunStatus::Running));
    assert_eq!(code(driver.reject("door", "no")), "cannot_reject");
    assert_eq!(driver.run.approvals, []);
    driver.approve("door").unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn two_states_may_stand_behind_one_gate() {
    let mut driver = run(
        DOOR,
        &[
            "a: { gate: door, route: { to: b } }",
            "b: { gate: door, route: { to: z } }",
        ],
    );
    driver.approve("door").unwrap();
    // What was looked at is the same, so one look is enough.
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn the_mode_of_a_gate_may_come_from_vars() {
    let mut driver = run(
        "vars: { mode: { type: [auto, human] } }\ngates: { door: =vars.mode }",
        &[
            "a: { gate: door, expects: outcome, work: {}, on: { report: { set: { mode: human }, to: b } } }",
            "b: { gate: door, route: { to: z } }",
        ],
    );
    driver.report(outcome("done")).unwrap();
    assert_eq!(driver.state(), "b");
    driver.approve("door").unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn a_gate_may_be_called_off() {
    let mut driver = run(DOOR, &["a: { gate: door, work: {}, to: z }"]);
    driver.abort(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Aborted);
    assert_eq!(code(driver.step()), "blocked");
}

#[test]
fn a_run_that_goes_on_by_itself_takes_files_by_steps() {
    let mut driver = run(
        "vars: { round: { type: int, default: 1 } }\ncounter: round",
        &[
            "a: { work: { prompt: 'ask-{round}.md', response: 'in/answer-{round}.md' }, to: b }",
            "b: { route: { set: { round: =vars.round + 1 }, to: c } }",
            "c: { work: { response: 'in/answer-{round}.md' }, to: z }",
        ],
    );
    assert_eq!(
        driver.names(1),
        ["state:entered", "unit:issued", "artifact:recorded"]
    );
    assert!(driver.files.contains("ask-1.md"));
    let refusal = driver.step().unwrap_err();
    assert_eq!(
        (&refusal.details["path"], &refusal.details["unit"]),
        (&json!("in/answer-1.md"), &json!("a"))
    );
    respond(&mut driver);
    let begin = driver.events.len();
    driver.step().unwrap();
    // The route behind it is taken in the same go.
    assert_eq!(
        driver.names(begin),
        [
            "report:accepted",
            "artifact:recorded",
            "state:entered",
            "state:entered",
            "unit:issued"
        ]
    );
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
    let mut driver = run(
        "",
        &["a: { work: { prompt: p.md, response: r.md }, to: z }"],
    );
    driver.files.clear();
    let begin = driver.events.len();
    driver.step().unwrap();
    assert!(driver.names(begin).is_empty());
    assert_eq!((driver.unit().as_str(), driver.files.len()), ("a", 1));
    // Another prompt than before is recorded.
    driver.files.clear();
    driver.context = "facade";
    driver.step().unwrap();
    assert_eq!(driver.names(begin), ["artifact:recorded"]);
}

#[test]
fn a_reader_may_refuse_a_response_and_it_stays_where_it_is() {
    let mut driver = run(
        "",
        &[
            "a: { expects: outcome, work: { response: r.md }, on: { report: [ { when: \"outcome.outcome == ''\", refuse: nothing_said }, { to: z } ] } }",
        ],
    );
    respond(&mut driver);
    reads(&mut driver, "");
    for _ in 0..2 {
        assert_eq!(code(driver.step()), "nothing_said");
    }
    assert_eq!(driver.unit(), "a");
    reads(&mut driver, "done");
    driver.step().unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn a_state_that_waits_for_a_file_may_be_reported_too() {
    let mut driver = run(
        "",
        &["a: { work: { prompt: p.md, response: r.md }, to: z }"],
    );
    driver.report(json!({})).unwrap();
    assert_eq!(
        (driver.status(), driver.asked),
        (RunStatus::Completed, vec![String::new()])
    );
}

#[test]
fn a_step_where_only_a_report_helps_is_blocked() {
    for advance in ["auto", "manual"] {
        let mut driver = run(&format!("advance: {advance}"), &["a: { work: {}, to: z }"]);
        let refusal = driver.step().unwrap_err();
        assert_eq!(refusal.code, "blocked");
        assert_eq!(
            (&refusal.details["unit"], &refusal.details["path"]),
            (&json!("a"), &Value::Null)
        );
        driver.report(json!({})).unwrap();
        assert_eq!(driver.status(), RunStatus::Completed);
    }
}

#[test]
fn items_are_moved_by_reports_and_never_by_steps() {
    let mut driver = Driver::new(
        "tramline: 1\nid: x\ntitle: X\nitems: { parts: { key: id, fields: { id: string } } }\ninitial: a\nstates:\n  a: { expects: survey, route: { load: { parts: =survey.subtasks }, to: b } }\n  b: { each: { items: parts, initial: c }, on: { done: { to: z } }, states: { c: { work: {}, to: d }, d: { final: completed } } }\n  z: { final: completed }\n",
    );
    let items = reading(json!({ "subtasks": [{ "id": "1" }] }));
    driver.readings.insert("survey".to_owned(), items);
    driver.start(json!({}), json!({})).unwrap();
    assert_eq!(code(driver.step()), "blocked");
    driver.report(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn one_step_is_one_transition_where_steps_are_asked_for() {
    let mut driver = run(
        "advance: manual\nvars: { n: int }",
        &[
            "a: { route: { set: { n: 1 }, to: b } }",
            "b: { do: [tag.switch, tag.restore], to: c }",
            "c: { work: { issue: step }, to: d }",
            "d: { work: {}, to: e }",
            "e: { route: [ { when: vars.n == 1, to: z }, { to: a } ] }",
        ],
    );
    assert_eq!((driver.state(), driver.names(0).len()), ("a", 2));
    for (from, to, unit) in [("a", "b", ""), ("b", "c", "")] {
        assert_eq!(driver.state(), from);
        let begin = driver.events.len();
        driver.step().unwrap();
        assert_eq!((driver.moves(begin).len(), driver.state()), (1, to));
        assert_eq!(driver.unit(), unit);
    }
    assert_eq!(driver.carried_out, ["tag.switch", "tag.restore"]);
    // The unit is issued by a step of its own, then it waits.
    let begin = driver.events.len();
    driver.step().unwrap();
    assert_eq!(
        (driver.names(begin), driver.unit()),
        (vec!["unit:issued".to_owned()], "c".to_owned())
    );
    assert_eq!(code(driver.step()), "blocked");
    driver.report(json!({})).unwrap();
    assert_eq!((driver.state(), driver.unit().as_str()), ("d", "d"));
    driver.report(json!({})).unwrap();
    // A report makes its own transition and no other.
    assert_eq!((driver.state(), driver.status()), ("e", RunStatus::Running));
    driver.step().unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn a_single_state_may_wait_for_a_step_or_pass_without_one() {
    let states = |begin: &str, then: &str| {
        [
            format!("a: {{ {begin}route: {{ set: {{ n: 1 }}, to: b }} }}"),
            format!("b: {{ {then}do: tag.switch, to: c }}"),
            "c: { route: { to: d } }".to_owned(),
            "d: { work: {}, to: z }".to_owned(),
        ]
    };
    let texts = states("", "advance: manual, ");
    let mut driver = run("vars: { n: int }", &texts.each_ref().map(String::as_str));
    assert_eq!((driver.state(), driver.unit().as_str()), ("b", ""));
    assert!(driver.carried_out.is_empty());
    driver.step().unwrap();
    assert_eq!((driver.state(), driver.unit().as_str()), ("d", "d"));
    assert_eq!(driver.carried_out, ["tag.switch"]);

    let texts = states("", "advance: auto, ");
    let mut driver = run(
        "advance: manual\nvars: { n: int }",
        &texts.each_ref().map(String::as_str),
    );
    assert_eq!(driver.state(), "a");
    driver.step().unwrap();
    assert_eq!(driver.state(), "c");
    assert_eq!(driver.carried_out, ["tag.switch"]);
}

#[test]
fn a_circle_is_no_circle_where_each_transition_is_asked_for() {
    let mut driver = run(
        "advance: manual\nvars: { n: int }",
        &[
            "a: { route: [ { when: vars.n > 2, to: z }, { set: { n: =vars.n + 1 }, to: b } ] }",
            "b: { route: { to: a } }",
        ],
    );
    for _ in 0..7 {
        driver.step().unwrap();
    }
    assert_eq!(
        (driver.status(), &driver.run.vars["n"]),
        (RunStatus::Completed, &json!(3))
    );
}

#[test]
fn a_retry_issues_the_unit_anew_by_itself() {
    let mut driver = run(
        "advance: manual",
        &[
            "a: { expects: outcome, work: { attempts: 2 }, on: { report: [ { when: outcome.outcome == 'no', retry: no }, { to: z } ] } }",
        ],
    );
    driver.report(outcome("no")).unwrap();
    assert_eq!(driver.unit(), "a-2");
    driver.report(outcome("no")).unwrap();
    assert_eq!(driver.paused_for(), "max_attempts_reached");
    assert_eq!(
        driver.step().unwrap_err().details["paused"],
        "max_attempts_reached"
    );
    driver.resume().unwrap();
    assert_eq!(driver.unit(), "a-3");
}

#[test]
fn otherwise_takes_what_no_edge_of_a_state_takes() {
    let otherwise = "otherwise: [ { when: outcome.outcome == 'no', outcome: refused, reason: =outcome.note, to: y }, { refuse: what } ]";
    let states = [
        "a: { expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'yes', to: b } } }",
        "b: { work: {}, to: c }",
        "c: { expects: outcome, route: { when: outcome.outcome == 'yes', to: z } }",
        "y: { final: cancelled }",
    ];
    let mut driver = run(otherwise, &states);
    assert_eq!(code(driver.report(outcome("maybe"))), "what");
    let said = json!({ "outcome": "no", "note": "not now", "files": [] });
    driver.report(said.clone()).unwrap();
    assert_eq!(driver.status(), RunStatus::Cancelled);
    assert_eq!(driver.run.end_reason.as_deref(), Some("not now"));
    let moves = driver.moves(2);
    assert!(
        matches!(moves.as_slice(), [Event::StateEntered { cause, outcome: Some(noted), .. }]
            if cause.name() == "otherwise" && noted == "refused"),
        "{moves:?}"
    );
    // A route that reads has them too; a state that reads nothing has not.
    let mut driver = run(otherwise, &states);
    driver.report(outcome("yes")).unwrap();
    driver.readings.insert("outcome".to_owned(), reading(said));
    driver.report(json!({})).unwrap();
    assert_eq!(
        (driver.state(), driver.status()),
        ("y", RunStatus::Cancelled)
    );
    let mut driver = run(otherwise, &states);
    driver.report(outcome("yes")).unwrap();
    reads(&mut driver, "maybe");
    // The report that led there is refused with it.
    assert_eq!(code(driver.report(json!({}))), "what");
    assert_eq!(driver.unit(), "b");
}

#[test]
fn otherwise_may_pause_and_warn() {
    let mut driver = run(
        "otherwise: [ { warn: hm }, { when: outcome.outcome == 'wait', pause: waiting }, { to: z } ]",
        &[
            "a: { expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'yes', to: z } } }",
        ],
    );
    driver.report(outcome("wait")).unwrap();
    assert_eq!(driver.paused_for(), "waiting");
    assert_eq!(driver.run.last.as_ref().unwrap().warnings, ["hm"]);
    driver.resume().unwrap();
    assert_eq!(driver.unit(), "a-2");
    driver.report(outcome("?")).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn outcome_reason_and_round_are_told_of_the_transition() {
    let mut driver = run(
        "vars: { round: int }\ncounter: round",
        &[
            "a: { expects: outcome, work: {}, on: { report: { set: { round: =vars.round + 1 }, outcome: begun, reason: \"='round ' + string(vars.round) + ': ' + outcome.note\", to: b } } }",
            "b: { work: {}, on: { report: { reason: enough, to: z } } }",
        ],
    );
    let said = json!({ "outcome": "", "note": "quickly", "files": [] });
    let begin = driver.events.len();
    driver.report(said).unwrap();
    let moves = driver.moves(begin);
    let [
        Event::StateEntered {
            iteration,
            outcome,
            reason,
            ..
        },
    ] = moves.as_slice()
    else {
        panic!("{moves:?}");
    };
    // The reason is made of the values as they were; the round is the one it leads into.
    assert_eq!((*iteration, outcome.as_deref()), (Some(1), Some("begun")));
    assert_eq!(reason.as_deref(), Some("round 0: quickly"));
    assert_eq!(
        driver.run.tokens[0].reason.as_deref(),
        Some("round 0: quickly")
    );
    driver.report(json!({})).unwrap();
    assert_eq!(driver.run.end_reason.as_deref(), Some("enough"));
}

#[test]
fn a_reason_that_is_empty_is_none() {
    let mut driver = run(
        "",
        &["a: { expects: outcome, work: {}, on: { report: { reason: =outcome.note, to: z } } }"],
    );
    driver.report(outcome("done")).unwrap();
    assert_eq!(driver.run.end_reason, None);
}

#[test]
fn a_reason_of_an_edge_comes_before_that_of_the_command() {
    let mut driver = run(
        "",
        &[
            "a: { work: {}, on: { report: { to: z }, reopen: { reason: by the rule, to: b } } }",
            "b: { work: {}, on: { report: { to: z }, reopen: { to: a } } }",
        ],
    );
    driver.reopen().unwrap();
    assert_eq!(driver.run.tokens[0].reason.as_deref(), Some("by the rule"));
    driver.reopen().unwrap();
    assert_eq!(
        driver.run.tokens[0].reason.as_deref(),
        Some("the test is wrong")
    );
}

#[test]
fn effects_are_told_what_their_edge_says() {
    let mut driver = run(
        "vars: { n: int }\ncounter: n",
        &[
            "a: { expects: outcome, work: {}, on: { report: { set: { n: =vars.n + 2 }, do: [tag.switch, tag.restore], with: { note: =outcome.note, count: =vars.n, plain: true }, to: b } } }",
            "b: { do: tag.switch, to: z }",
        ],
    );
    let said = json!({ "outcome": "", "note": "so", "files": [] });
    driver.report(said).unwrap();
    let told: Vec<(&str, Value, Option<i64>)> = driver
        .told
        .iter()
        .map(|(effect, with, round)| (effect.as_str(), Value::Object(with.clone()), *round))
        .collect();
    let with = json!({ "note": "so", "count": 0, "plain": true });
    assert_eq!(
        told,
        [
            ("tag.switch", with.clone(), Some(2)),
            ("tag.restore", with, Some(2)),
            ("tag.switch", json!({}), Some(2)),
        ]
    );
}

#[test]
fn what_is_called_back_out_of_error_goes_on_where_it_broke() {
    let mut driver = run(
        "otherwise: { reason: =outcome.note, to: broken }",
        &[
            "a: { expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'yes', to: b }, reopen: { to: a } } }",
            "b: { expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'yes', to: z } } }",
            "broken: { final: error }",
        ],
    );
    driver.report(outcome("no")).unwrap();
    assert_eq!(driver.status(), RunStatus::Error);
    driver.reopen().unwrap();
    assert_eq!(
        (driver.unit().as_str(), driver.status()),
        ("a-2", RunStatus::Running)
    );
    driver.report(outcome("yes")).unwrap();
    driver.report(outcome("no")).unwrap();
    assert_eq!(driver.status(), RunStatus::Error);
    // A state that does not say where to go back has no way out of its end.
    assert_eq!(code(driver.reopen()), "cannot_reopen");
    assert_eq!(driver.status(), RunStatus::Error);
}

#[test]
fn flags_of_a_step_back_are_seen_by_its_edges() {
    let mut driver = run(
        "vars: { most: { type: int, default: 1 } }",
        &[
            "a: { work: {}, on: { report: { to: b } } }",
            "b: { route: [ { when: vars.most < 2, pause: enough }, { to: z } ], on: { reopen: [ { when: command.maxIterations > 0, set: { most: =command.maxIterations } }, { to: a } ] } }",
        ],
    );
    driver.report(json!({})).unwrap();
    assert_eq!(driver.paused_for(), "enough");
    let mut flags = Map::new();
    flags.insert("maxIterations".to_owned(), json!(2));
    driver
        .send(&Command::Reopen {
            item: None,
            reason: String::new(),
            flags,
            approval: Some(Box::new(ann())),
        })
        .unwrap();
    // It goes on by itself once the pause is over.
    assert_eq!(
        (driver.status(), &driver.run.vars["most"]),
        (RunStatus::Completed, &json!(2))
    );
}

#[test]
fn a_report_to_a_run_of_single_steps_goes_no_further() {
    let mut driver = run(
        "advance: manual",
        &["a: { work: {}, to: b }", "b: { route: { to: z } }"],
    );
    driver.send(&Command::Report(Report::default())).unwrap();
    assert_eq!((driver.state(), driver.status()), ("b", RunStatus::Running));
    driver.pause().unwrap();
    driver.resume().unwrap();
    assert_eq!(driver.state(), "b");
}
