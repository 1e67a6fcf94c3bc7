//! Commands that only read: settings, workflows, the state of things, a run under way.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use super::environment::TestEnvironment;

#[test]
fn the_settings_are_shown_with_their_origin() {
    let environment = TestEnvironment::new();
    let plain = environment.tm(&["config", "show", "--json"]).json_with(0);
    assert_eq!(plain["test"]["command"], "sh run.sh");
    assert_eq!(plain["autopilot"]["maxGreenAttempts"], 3);
    let shown = environment
        .tm(&["config", "show", "--origin", "--json"])
        .json_with(0);
    assert_eq!(shown["test.command"]["value"], "sh run.sh");
    assert_eq!(shown["test.command"]["origin"]["from"], "projectFile");
    assert_eq!(
        shown["autopilot.maxGreenAttempts"]["origin"]["from"],
        "default"
    );

    let text = environment.tm(&["config", "show", "--origin"]);
    let line = text
        .text()
        .lines()
        .find(|line| line.starts_with("test.command = \"sh run.sh\""))
        .unwrap();
    assert!(line.contains("config.json:1"), "{line}");
}

#[test]
fn the_built_in_workflow_is_listed_shown_and_valid() {
    let environment = TestEnvironment::new();
    let list = environment.tm(&["workflow", "list", "--json"]).json_with(0);
    assert_eq!(list[0]["id"], "tdd");
    let shown = environment.tm(&["workflow", "show", "tdd"]);
    assert!(shown.text().starts_with("tramline: 1\n"), "{shown:?}");
    environment.write("copy.yaml", &shown.out);
    let answer = environment
        .tm(&["workflow", "show", "tdd", "--json"])
        .json_with(0);
    assert_eq!(answer["text"], shown.out);
}

#[test]
fn a_definition_with_faults_is_refused_with_a_place() {
    let environment = TestEnvironment::new();
    environment.write(
        "broken.yaml",
        "tramline: 1\nid: broken\ntitle: Broken\ninitial: nowhere\nstates:\n  end: { final: completed }\n",
    );
    let answer = environment
        .tm(&["workflow", "check", "broken.yaml", "--json"])
        .json_with(3);
    assert_eq!(answer["valid"], false);
    assert!(
        answer["faults"][0]["line"].as_u64().unwrap() >= 1,
        "{answer}"
    );
    let text = environment.tm(&["workflow", "check", "broken.yaml"]);
    assert_eq!(text.status, 3);
    assert!(text.out.contains("broken.yaml"), "{text:?}");
    environment
        .tm(&["workflow", "check", "missing.yaml", "--json"])
        .json();
}

#[test]
fn doctor_finds_nothing_wrong_in_a_sound_project() {
    let environment = TestEnvironment::new();
    let checks = environment.tm(&["doctor", "--json"]).json_with(0);
    let checks = checks.as_array().unwrap();
    assert!(!checks.is_empty());
    assert!(
        checks.iter().all(|check| check["state"] != "fail"),
        "{checks:?}"
    );
    assert!(environment.tm(&["doctor"]).text().lines().count() >= checks.len());
}

#[test]
fn doctor_misses_nothing_that_only_work_on_a_task_needs() {
    let environment = TestEnvironment::bare();
    let checks = environment.tm(&["doctor", "--json"]).json_with(0);
    for id in ["git", "tests"] {
        let check = checks
            .as_array()
            .unwrap()
            .iter()
            .find(|check| check["id"] == id);
        let check = check.unwrap();
        assert_eq!(check["state"], "note", "{check}");
        let message = check["message"].as_str().unwrap();
        assert!(
            message.ends_with("only work on a task needs one"),
            "{check}"
        );
    }
    // In a repository work on a task is what is meant.
    environment.git(&["init", "--quiet", "--template="]);
    let checks = environment.tm(&["doctor", "--json"]).json_with(6);
    assert!(
        checks
            .as_array()
            .unwrap()
            .iter()
            .any(|check| check["id"] == "tests" && check["state"] == "fail")
    );
}

#[test]
fn status_and_next_change_nothing() {
    let environment = TestEnvironment::started();
    let journal =
        |environment: &TestEnvironment| environment.tm(&["runs", "log", "--json"]).json_with(0);
    let before = journal(&environment);
    environment.tm(&["autopilot", "status"]).text();
    environment.tm(&["autopilot", "next"]).text();
    environment
        .tm(&["autopilot", "next", "--check", "--json"])
        .json_with(0);
    assert_eq!(journal(&environment), before);
}

#[test]
fn the_project_can_be_named_from_elsewhere() {
    let environment = TestEnvironment::started();
    let project = environment.project();
    let output = environment
        .program(&[
            "autopilot",
            "--project-root",
            project.to_str().unwrap(),
            "status",
            "--json",
        ])
        .current_dir(environment.home())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["taskId"], "1");
}

#[test]
fn watch_prints_events_as_they_come_and_ends_with_the_run() {
    let environment = TestEnvironment::started();
    let mut child = environment
        .program(&["autopilot", "watch", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut until = |event: &str| {
        for line in lines.by_ref() {
            let record: Value = serde_json::from_str(&line.unwrap()).unwrap();
            if record["event"] == event {
                return;
            }
        }
        panic!("{event} was not seen");
    };
    until("unit:issued");
    environment
        .tm(&["autopilot", "pause", "--reason", "lunch", "--json"])
        .json_with(0);
    until("run:paused");
    environment
        .tm(&["autopilot", "abort", "--json"])
        .json_with(0);
    until("run:ended");
    drop(lines);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_damaged_journal_is_found_and_mended_when_somebody_says_so() {
    let environment = TestEnvironment::started();
    environment.do_subtask("1.1");
    let journal = environment.journal_path();
    let whole = std::fs::read_to_string(&journal).unwrap();
    let damaged = whole.replacen(r#""phase":"green""#, r#""phase":"grown""#, 1);
    assert_ne!(whole, damaged);
    std::fs::write(&journal, &damaged).unwrap();

    let found = environment.tm(&["log", "verify", "--json"]).json_with(6);
    assert_eq!(found["whole"], false, "{found}");
    let text = environment.tm(&["log", "verify"]);
    assert_eq!(text.status, 6);
    assert!(text.out.contains("-> tm log repair "), "{text:?}");

    let refused = environment.tm(&["log", "repair", "--json"]).json_with(3);
    assert_eq!(refused["error"]["code"], "needs_confirmation");
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), damaged);

    let mended = environment
        .tm(&["log", "repair", "--yes", "--json"])
        .json_with(0);
    assert_eq!(mended["repaired"], true, "{mended}");
    let old = mended["oldFile"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(old).unwrap(), damaged);
    environment.tm(&["log", "verify", "--json"]).json_with(0);
}

#[test]
fn a_whole_journal_needs_no_confirmation_to_be_left_alone() {
    let environment = TestEnvironment::started();
    let before = std::fs::read(environment.journal_path()).unwrap();
    let answer = environment.tm(&["log", "repair", "--json"]).json_with(0);
    assert_eq!(answer["repaired"], false, "{answer}");
    assert_eq!(std::fs::read(environment.journal_path()).unwrap(), before);
}
