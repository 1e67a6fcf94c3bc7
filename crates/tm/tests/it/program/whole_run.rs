//! A run from start to report, as an agent drives it: the shapes of the answers.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::environment::{TestEnvironment, keys};

fn has_keys(answer: &Value, expected: &[&str]) {
    let keys: BTreeSet<&str> = keys(answer).into_iter().collect();
    for key in expected {
        assert!(keys.contains(key), "{key} is not in {answer}");
    }
}

/// `nextAction` is what `next` answers, without context, with the subtask by its name alone, and with instructions that may leave
/// out what was said before.
fn check_next(environment: &TestEnvironment, answer: &Value, action: &str) -> Value {
    let mut next = environment
        .tm(&["autopilot", "next", "--json"])
        .json_with(0);
    let full = next.clone();
    let object = next.as_object_mut().unwrap();
    for key in ["context", "preconditions", "instructions"] {
        object.remove(key);
    }
    if let Some(subtask) = object.get_mut("subtask") {
        *subtask =
            json!({ "id": subtask["id"], "title": subtask["title"], "kind": subtask["kind"] });
    }
    let mut told = answer["nextAction"].clone();
    let instructions = told.as_object_mut().unwrap().remove("instructions");
    assert_eq!(instructions.is_some(), full.get("instructions").is_some());
    assert_eq!(told, next);
    assert_eq!(answer["nextAction"]["action"], action);
    full
}

#[test]
fn a_run_from_start_to_report() {
    let environment = TestEnvironment::new();

    let plan = environment
        .tm(&["autopilot", "start", "1", "--dry-run", "--json"])
        .json_with(0);
    assert_eq!(plan["dryRun"], true);
    assert_eq!(plan["subtasks"].as_array().unwrap().len(), 2);
    assert_eq!(
        environment.git(&["branch", "--format=%(refname:short)"]),
        "main"
    );

    let started = environment
        .tm(&["autopilot", "start", "1", "--json"])
        .json_with(0);
    has_keys(&started, &["runId", "branch", "nextAction"]);
    let run = started["runId"].as_str().unwrap();
    assert_eq!(started["branch"], "master/task-1-count-the-words");
    let next = check_next(&environment, &started, "red");
    has_keys(
        &next,
        &["unitId", "attempt", "subtask", "context", "instructions"],
    );
    assert_eq!(next["unitId"], "workUnit-1.1-RED");
    assert_eq!(next["subtask"]["id"], "1.1");
    assert_eq!(next["context"]["testCommand"], "sh run.sh");

    check_first_subtask(&environment);
    environment.do_subtask("1.2");
    let status = environment
        .tm(&["autopilot", "status", "--json"])
        .json_with(0);
    has_keys(
        &status,
        &[
            "runId",
            "taskId",
            "tag",
            "branch",
            "status",
            "currentSubtask",
            "currentPhase",
            "attemptNumber",
            "maxAttempts",
            "progress",
            "commits",
            "startTime",
            "duration",
            "durationMs",
            "lastUpdated",
            "canResume",
            "nextAction",
        ],
    );
    assert_eq!(status["progress"]["completed"], json!(["1.1", "1.2"]));
    assert_eq!(status["progress"]["percentage"], 100);
    assert_eq!(status["commits"], 2);

    let done = environment
        .tm(&[
            "autopilot",
            "finalize",
            "--results",
            "passed:3,failed:0",
            "--json",
        ])
        .json_with(0);
    assert_eq!(done["validated"], true);
    check_next(&environment, &done, "complete");
    assert!(done["report"].as_str().unwrap().starts_with('#'), "{done}");
    assert_eq!(environment.git(&["status", "--porcelain"]), "");

    check_history(&environment, run);
}

/// RED, a failed attempt at GREEN, GREEN and COMMIT.
fn check_first_subtask(environment: &TestEnvironment) {
    environment.write("tests/spaces_test.sh", "false\n");
    let red = environment
        .tm(&[
            "autopilot",
            "complete",
            "red",
            "1.1",
            "--results",
            "failed:2,passed:0",
            "--json",
        ])
        .json_with(0);
    has_keys(&red, &["validated", "message", "nextAction"]);
    assert_eq!(red["validated"], true);
    check_next(environment, &red, "green");

    // A report that is refused is a verdict, not an error.
    environment.write("src/spaces.sh", "true\n");
    let retry = environment
        .tm(&[
            "autopilot",
            "complete",
            "--results",
            "failed:1,passed:1",
            "--json",
        ])
        .json_with(3);
    has_keys(
        &retry,
        &["validated", "message", "suggestion", "code", "nextAction"],
    );
    assert_eq!(retry["validated"], false);
    assert_eq!(retry["code"], "green_tests_still_failing");
    assert_eq!(retry["nextAction"]["attempt"], 2);

    let green = environment
        .tm(&[
            "autopilot",
            "complete",
            "1.1",
            "--results",
            r#"{"passed":2,"failed":0}"#,
            "--json",
        ])
        .json_with(0);
    check_next(environment, &green, "commit");

    let commit = environment
        .tm(&["autopilot", "commit", "1.1", "--json"])
        .json_with(0);
    has_keys(&commit, &["commitSha", "message", "files", "nextAction"]);
    assert_eq!(commit["commitSha"], environment.git(&["rev-parse", "HEAD"]));
    let next = check_next(environment, &commit, "red");
    assert_eq!(next["subtask"]["id"], "1.2");
}

/// What the other commands tell of the run that is over.
fn check_history(environment: &TestEnvironment, run: &str) {
    let runs = environment.tm(&["runs", "list", "--json"]).json_with(0);
    assert_eq!(runs[0]["runId"], run);
    assert_eq!(runs[0]["status"], "completed");
    let none = environment
        .tm(&["runs", "list", "--status", "paused", "--json"])
        .json_with(0);
    assert_eq!(none, json!([]));

    let prefix = &run[..run.len() - 3];
    let shown = environment
        .tm(&["runs", "show", prefix, "--json"])
        .json_with(0);
    assert_eq!(shown["runId"], run);

    let report = environment
        .tm(&["runs", "report", run, "--json"])
        .json_with(0);
    assert!(report.is_object(), "{report}");
    let markdown = environment.tm(&["runs", "report", run]);
    assert!(markdown.text().starts_with('#'), "{markdown:?}");

    let log = environment.tm(&["runs", "log", run, "--json"]).json_with(0);
    let events: Vec<&str> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(events.first(), Some(&"run:created"));
    for event in [
        "branch:created",
        "test:run",
        "commit:created",
        "subtask:complete",
        "run:ended",
    ] {
        assert!(events.contains(&event), "{event} is not in {events:?}");
    }

    let verified = environment
        .tm(&["log", "verify", run, "--json"])
        .json_with(0);
    assert_eq!(verified["whole"], true);
    assert_eq!(verified["events"], events.len());

    let replayed = environment
        .tm(&["log", "replay", run, "--to", "1", "--json"])
        .json_with(0);
    assert!(replayed.is_object(), "{replayed}");

    // Watching a run that is over prints all of it and ends.
    let watched = environment.tm(&["autopilot", "watch", "--run-id", run, "--json"]);
    let lines: Vec<Value> = watched
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(Value::Array(lines), log);
}
