//! Journals whose chain is whole, and that tell of what cannot have come about, or was not decided.

use std::fs;

use serde_json::{Value, json};

use super::approvals::{at_plan_gate, store};
use super::environment::{TestEnvironment, has};
use testkit::person::key;

/// What is missing for a run to have come about like that, though its chain is whole.
fn missing(environment: &TestEnvironment) -> String {
    let told = environment.line("log verify").json_with(6);
    assert_eq!(told["whole"], true, "{told}");
    let missing = told["missing"].as_array().unwrap();
    let missing = missing.iter().map(|one| one["message"].as_str().unwrap());
    missing.collect::<Vec<_>>().join("\n")
}

/// A journal is rewritten so that its chain is whole, and what a person decided is gone from it or weaker.
#[test]
fn what_should_have_been_decided_and_was_not_is_named() {
    let environment = TestEnvironment::new();
    environment.does("autopilot start 1 --max-attempts 1");
    environment.red("a");
    let failing = "autopilot complete green --results failed:1,passed:0";
    environment.line(failing).json_with(3);
    environment.agrees("autopilot resume");
    environment.green("a");
    environment.does("autopilot commit");
    environment.does("log verify");
    rewrite(&environment, |lines| {
        lines.retain(|line| line["event"] != "approval:given");
    });
    let told = missing(&environment);
    has(&told, "max_attempts_reached");
    let told = environment.line("verify HEAD").json_with(3);
    let problem = &told["commits"][0]["problems"][0]["code"];
    assert_eq!(problem, "approval_too_weak");
}

/// Writes the journal of the only run anew, so that nothing of its chain, and no file beside it, tells of that.
fn rewrite(environment: &TestEnvironment, change: impl FnOnce(&mut Vec<Value>)) {
    let journal = environment.journal_path();
    let text = fs::read_to_string(&journal).unwrap();
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    change(&mut lines);
    fs::write(&journal, chained(&mut lines)).unwrap();
    for derived in ["lock", "snapshot.json"] {
        let _ = fs::remove_file(journal.with_file_name(derived));
    }
}

/// Adds a unit of one event.
fn append(lines: &mut Vec<Value>, mut event: Value) {
    event["ts"] = format!("2027-01-01T00:00:00.{:03}Z", lines.len()).into();
    event["k"] = 1.into();
    lines.push(event);
}

/// The lines of a journal, numbered, chained and sealed anew.
fn chained(lines: &mut [Value]) -> String {
    let (mut text, mut prev, mut seq) = (String::new(), "0".repeat(64), 0);
    for unit in lines.chunk_by_mut(|line, next| line["ts"] == next["ts"] && next["k"] != 1) {
        let count = unit.len();
        for (at, line) in unit.iter_mut().enumerate() {
            seq += 1;
            let fields = line.as_object_mut().unwrap();
            fields.shift_remove("u");
            let place = json!({ "seq": seq, "prev": prev, "k": at + 1, "n": count });
            fields.extend(place.as_object().unwrap().clone());
            let mut written = line.to_string();
            if at + 1 == count {
                // The seal is over all that stands before it on its line.
                assert_eq!(written.pop(), Some('}'));
                let seal = journal::sha256_hex(written.as_bytes());
                written = format!("{written},\"u\":\"{seal}\"}}");
            }
            prev = journal::sha256_hex(written.as_bytes());
            text.push_str(&written);
            text.push('\n');
        }
    }
    text
}

/// An event of a run that goes from one state to another.
fn entered(from: &str, to: &str, cause: &str) -> Value {
    json!({ "event": "state:entered", "token": 0, "from": from, "to": to, "cause": cause })
}

#[test]
fn what_does_not_follow_from_what_was_before_is_named() {
    let session = at_plan_gate("signed");
    session.environment.save(0);
    let told = [
        entered("PLANNED", "GENERATING", "skip"),
        entered("PLANNED", "GENERATING", "do"),
        entered("PLANNED", "PLANNING", "reject"),
        entered("REVIEWED", "COMPLETE", "route"),
        json!({ "event": "run:ended", "status": "completed" }),
        Value::Null,
    ]
    .map(|event| {
        session.environment.restore(0);
        rewrite(&session.environment, |lines| {
            // Null: the run begins a second time.
            let mut more = if event.is_null() {
                lines[0].clone()
            } else {
                event
            };
            more.as_object_mut().unwrap().shift_remove("v");
            append(lines, more);
        });
        missing(&session.environment)
    });
    insta::assert_snapshot!(told.join("\n\n"), @"
    skip does not lead from PLANNED to GENERATING
    the gate plan was passed, and nobody opened it

    do does not lead from PLANNED to GENERATING
    the gate plan was passed, and nobody opened it

    work was sent back, and nobody decided it

    COMPLETE was entered from REVIEWED, and the run stood at PLANNED

    the run ended as completed at PLANNED, which is no such end

    the run begins a second time
    ");
}

/// A genuine approval, and something else that went through the gate behind it.
#[test]
fn what_passed_a_gate_is_held_against_what_was_approved() {
    let session = at_plan_gate("signed");
    let environment = &session.environment;
    let own = key(&store(environment));
    environment.does(&format!("session approve --sign {own}"));
    environment.does("log verify");
    let other = json!({ "plan": { "sha256": "b".repeat(64) } });
    rewrite(environment, |lines| {
        let kept = json!({ "event": "vars:changed", "values": {}, "keep": other });
        append(lines, kept);
        append(lines, entered("PLANNED", "GENERATING", "do"));
    });
    let told = environment.line("log verify").json_with(6);
    assert_eq!(told["decisions"][0]["signature"], "good", "{told}");
    let told = missing(environment);
    has(&told, "is not what was approved there");
}

/// A snapshot that says otherwise than the journal has the run go on from where it never was.
#[test]
fn a_run_that_went_on_by_another_snapshot_is_named() {
    let session = at_plan_gate("signed");
    let folder = session.environment.run_folder();
    let file = journal::SnapshotFile::new(&folder);
    let mut state: Value = serde_json::from_str(file.read().unwrap().state.get()).unwrap();
    let replayed = session.environment.does("log replay");
    for (name, value) in replayed["state"].as_object().unwrap() {
        if !matches!(name.as_str(), "settings" | "policies") {
            state["run"][name] = value.clone();
        }
    }
    state["run"]["tokens"][0]["state"] = "GENERATING".into();
    state["run"]["vars"]["iteration"] = 1.into();
    let head = journal::load_with_snapshot(&folder).unwrap().head;
    let state = serde_json::value::to_raw_value(&state).unwrap();
    file.write(&head.position(), &state).unwrap();
    let told = missing(&session.environment);
    assert!(told.starts_with("`snapshot.json` says"), "{told}");
    session.run(7);
    assert_ne!(missing(&session.environment), "");
}

/// A run is taken back to what it was, and to nothing else.
#[test]
fn a_run_is_not_taken_back_to_what_never_was() {
    let environment = TestEnvironment::started();
    environment.do_subtask("1.1");
    environment.does("autopilot rewind 1.1");
    environment.does("log verify");
    rewrite(&environment, |lines| {
        let rewound = lines.iter_mut().find(|line| line["event"] == "run:rewound");
        let tokens = rewound.unwrap()["state"]["tokens"].as_array_mut().unwrap();
        tokens.last_mut().unwrap()["kept"]["tested.green"] = json!({ "tree": "beef" });
    });
    let told = missing(&environment);
    has(&told, "something else than what it was");
}
