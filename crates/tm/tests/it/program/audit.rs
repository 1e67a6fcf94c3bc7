//! Journals whose chain is whole, and that tell of what cannot have come about, or was not decided.

use std::fs;

use serde_json::{Value, json};

use super::approvals::{at_plan_gate, store};
use super::environment::TestEnvironment;
use testkit::person::{Person, key};

/// A journal is rewritten so that its chain is whole, and what a person decided is gone from it or weaker.
#[test]
fn what_should_have_been_decided_and_was_not_is_named() {
    let environment = TestEnvironment::new();
    let start = ["autopilot", "start", "1", "--max-attempts", "1", "--json"];
    environment.tm(&start).json_with(0);
    environment.write("tests/a_test.sh", "exit 1\n");
    let report = |phase: &str, results: &str, status| {
        let words = [
            "autopilot",
            "complete",
            phase,
            "--results",
            results,
            "--json",
        ];
        environment.tm(&words).json_with(status);
    };
    report("red", "failed:1,passed:0", 0);
    report("green", "failed:1,passed:0", 3);
    let (_, status, rest) = Person::at(environment.program(&["autopilot", "resume"])).agrees();
    assert_eq!(status, 0, "{rest}");
    environment.write("src/a.sh", "echo\n");
    report("green", "failed:0,passed:1", 0);
    environment
        .tm(&["autopilot", "commit", "--json"])
        .json_with(0);
    environment.tm(&["log", "verify", "--json"]).json_with(0);
    rewrite(&environment, |lines| {
        lines.retain(|line| line["event"] != "approval:given");
    });
    let told = environment.tm(&["log", "verify", "--json"]).json_with(6);
    assert_eq!(told["whole"], true, "{told}");
    let missing = told["missing"][0]["message"].as_str().unwrap();
    assert!(missing.contains("max_attempts_reached"), "{told}");
    let told = environment.tm(&["verify", "HEAD", "--json"]).json_with(3);
    let problem = &told["commits"][0]["problems"][0];
    assert_eq!(problem["code"], "approval_missing", "{told}");
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
    fs::write(&journal, chained(lines)).unwrap();
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
fn chained(lines: Vec<Value>) -> String {
    let mut units: Vec<Vec<Value>> = Vec::new();
    for line in lines {
        match units.last_mut() {
            Some(unit) if unit[0]["ts"] == line["ts"] && line["k"] != 1 => unit.push(line),
            _ => units.push(vec![line]),
        }
    }
    let (mut text, mut prev, mut seq) = (String::new(), "0".repeat(64), 0);
    for unit in units {
        let count = unit.len();
        for (at, mut line) in unit.into_iter().enumerate() {
            seq += 1;
            let fields = line.as_object_mut().unwrap();
            fields.shift_remove("u");
            for (name, value) in [
                ("seq", Value::from(seq)),
                ("prev", prev.as_str().into()),
                ("k", (at + 1).into()),
                ("n", count.into()),
            ] {
                fields.insert(name.to_owned(), value);
            }
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

/// What a journal tells of a run that cannot have come about, though its chain is whole.
#[test]
fn what_does_not_follow_from_what_was_before_is_named() {
    let entered = |from: &str, to: &str, cause: &str| json!({ "event": "state:entered", "token": 0, "from": from, "to": to, "cause": cause });
    for (event, expected) in [
        (
            entered("PLANNED", "GENERATING", "skip"),
            "skip does not lead from PLANNED to GENERATING",
        ),
        (
            entered("PLANNED", "GENERATING", "do"),
            "the gate plan was passed, and nobody opened it",
        ),
        (
            entered("PLANNED", "PLANNING", "reject"),
            "work was sent back, and nobody decided it",
        ),
        (
            entered("REVIEWED", "COMPLETE", "route"),
            "COMPLETE was entered from REVIEWED, and the run stood at PLANNED",
        ),
        (
            json!({ "event": "run:ended", "status": "completed" }),
            "the run ended as completed at PLANNED",
        ),
        (Value::Null, "the run begins a second time"),
    ] {
        let session = at_plan_gate("signed");
        rewrite(&session.environment, |lines| {
            let mut more = if event.is_null() {
                lines[0].clone()
            } else {
                event
            };
            more.as_object_mut().unwrap().shift_remove("v");
            append(lines, more);
        });
        let told = session.environment.tm(&["log", "verify", "--json"]);
        let told = told.json_with(6);
        assert_eq!(told["whole"], true, "{told}");
        let missing = told["missing"].to_string();
        assert!(missing.contains(expected), "{expected}: {told}");
    }
}

/// A genuine approval, and something else that went through the gate behind it.
#[test]
fn what_passed_a_gate_is_held_against_what_was_approved() {
    let session = at_plan_gate("signed");
    let own = key(&store(&session.environment));
    let approve = ["session", "approve", "--sign", &own];
    session.environment.json(&approve).ok();
    session.environment.json(&["log", "verify"]).ok();
    let other = json!({ "plan": { "sha256": "b".repeat(64) } });
    let goes_on = json!({ "event": "state:entered", "token": 0, "from": "PLANNED", "to": "GENERATING", "cause": "do" });
    rewrite(&session.environment, |lines| {
        append(
            lines,
            json!({ "event": "vars:changed", "values": {}, "keep": other }),
        );
        append(lines, goes_on);
    });
    let told = session.environment.json(&["log", "verify"]).json_with(6);
    assert_eq!(told["decisions"][0]["signature"], "good", "{told}");
    let missing = told["missing"].to_string();
    assert!(missing.contains("is not what was approved there"), "{told}");
}

/// A snapshot that says otherwise than the journal has the run go on from where it never was.
#[test]
fn a_run_that_went_on_by_another_snapshot_is_named() {
    let session = at_plan_gate("signed");
    let folder = session.environment.run_folder();
    let file = journal::SnapshotFile::new(&folder);
    let mut state: Value = serde_json::from_str(file.read().unwrap().state.get()).unwrap();
    let replayed = session.environment.json(&["log", "replay"]).ok();
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
    let told = session.environment.tm(&["log", "verify", "--json"]);
    let told = told.json_with(6).clone();
    let message = told["missing"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("`snapshot.json` says"), "{told}");
    session.run(7);
    let told = session.environment.tm(&["log", "verify", "--json"]);
    let told = told.json_with(6);
    assert!(!told["missing"].as_array().unwrap().is_empty(), "{told}");
}

/// A run is taken back to what it was, and to nothing else.
#[test]
fn a_run_is_not_taken_back_to_what_never_was() {
    let environment = TestEnvironment::started();
    environment.do_subtask("1.1");
    environment
        .tm(&["autopilot", "rewind", "1.1", "--json"])
        .json_with(0);
    environment.tm(&["log", "verify", "--json"]).json_with(0);
    rewrite(&environment, |lines| {
        let rewound = lines.iter_mut().find(|line| line["event"] == "run:rewound");
        let tokens = rewound.unwrap()["state"]["tokens"].as_array_mut().unwrap();
        tokens.last_mut().unwrap()["kept"]["tested.green"] = json!({ "tree": "beef" });
    });
    let told = environment.tm(&["log", "verify", "--json"]).json_with(6);
    let missing = told["missing"].to_string();
    assert!(
        missing.contains("something else than what it was"),
        "{told:#}"
    );
}
