//! `tm config`: settings read, written, taken out and edited; and the test command that a start is given.

use std::fs;

use serde_json::{Value, json};

use super::environment::TestEnvironment;
use super::terminal::at_terminal;
use testkit::Outcome;

const FILE: &str = ".taskmaster/config.json";

fn settings(environment: &TestEnvironment) -> Value {
    serde_json::from_str(&environment.read(FILE)).unwrap()
}

/// Sets a key to a value, which may have spaces in it.
fn set(environment: &TestEnvironment, key: &str, value: &str) -> Outcome {
    environment.json(&["config", "set", key, value])
}

/// A project with tasks, of which nobody said how it is tested.
fn without_settings() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write(FILE, "{}\n");
    environment.commit_all("No settings");
    environment
}

#[test]
fn a_setting_is_written_where_it_belongs_and_read_back() {
    let environment = TestEnvironment::bare();
    environment.write(FILE, "{\n  \"models\": { \"main\": \"x\" }\n}\n");
    for (key, value) in [
        ("test.command", "npm test"),
        ("autopilot.maxGreenAttempts", "5"),
        ("test.patterns", "spec/**, *_check.py"),
        ("autopilot.finalization.updateTaskStatus", "false"),
    ] {
        let answer = set(&environment, key, value).ok();
        assert_eq!(answer["origin"]["from"], "projectFile");
        assert_eq!(answer["changed"], true);
    }
    let again = set(&environment, "test.command", "npm test").ok();
    assert_eq!(again["changed"], false);
    let get = |key: &str, value: &str| {
        let got = environment.typed(&format!("config get {key}"));
        assert_eq!(got.text().trim(), value);
    };
    get("test.command", "npm test");
    get("autopilot.finalization", r#"{"updateTaskStatus":false}"#);
    environment.typed("config unset test.command").text();
    get("test.command", "null");
    let expected = json!({
        "models": { "main": "x" },
        "test": { "patterns": ["spec/**", "*_check.py"] },
        "autopilot": { "maxGreenAttempts": 5, "finalization": { "updateTaskStatus": false } },
    });
    assert_eq!(settings(&environment), expected);
}

#[test]
fn what_cannot_be_is_written_nowhere() {
    let environment = TestEnvironment::bare();
    for (line, status) in [
        ("set test.comand x", 2),
        ("set evidence.require verifed", 2),
        ("set autopilot.maxGreenAttempts 0", 2),
        // What cannot stand in that file is no mistake in what was typed.
        ("set autopilot.storage.basePath /x", 6),
        ("get nothing.like.it", 2),
    ] {
        let refused = environment.typed_json(&format!("config {line}"));
        refused.fault(status, "config_invalid");
    }
    assert!(!environment.project().join(FILE).exists());
    // A file that is broken is not made worse, and one of its values can be mended.
    environment.write(FILE, "{ \"test\": 1 }");
    let broken = set(&environment, "test.command", "x");
    broken.fault(6, "config_invalid");
    environment.write(FILE, r#"{ "test": { "command": 1 } }"#);
    set(&environment, "test.command", "x").ok();
    let mended = json!({ "test": { "command": "x" } });
    assert_eq!(settings(&environment), mended);
}

#[test]
fn the_stricter_place_has_the_last_word_and_that_is_said() {
    let environment = TestEnvironment::bare();
    let user = "config set --user evidence.require verified";
    environment.typed(user).text();
    // Where runs are kept is no project, and one's own settings are there.
    let attempts = "config set --user autopilot.maxGreenAttempts 4";
    environment.typed_at(&environment.home(), attempts).text();
    let answer = environment.typed("config set evidence.require claimed");
    let now = "evidence.require is \"verified\" now (user ";
    assert!(answer.text().contains(now), "{answer:?}");
    assert!(answer.err.contains("would be weaker"), "{answer:?}");
}

#[test]
fn an_editor_changes_a_copy_that_is_taken_over_once_it_is_sound() {
    let environment = TestEnvironment::bare();
    let edit = |editor: &str| {
        let mut program = environment.program(&["config", "edit", "--json"]);
        program.env("EDITOR", editor).env_remove("VISUAL");
        Outcome::of(&program.output().unwrap())
    };
    let answer = edit("sed -i 's/\"maxGreenAttempts\": 3/\"maxGreenAttempts\": 4/'");
    assert_eq!(answer.ok()["changed"], true);
    let before = settings(&environment);
    assert_eq!(before["autopilot"]["maxGreenAttempts"], 4);
    let unsound = edit("sed -i s/maxGreenAttempts/maxAttempts/");
    unsound.fault(6, "config_invalid");
    let draft = unsound.suggestion().rsplit(' ').next().unwrap();
    let draft = fs::read_to_string(draft).unwrap();
    assert!(draft.contains("maxAttempts"), "{unsound:?}");
    edit("false").fault(6, "io_failed");
    assert_eq!(settings(&environment), before);
}

#[test]
fn a_start_takes_a_test_command_where_the_settings_name_none() {
    let environment = without_settings();
    let with =
        |command: &str| environment.json(&["autopilot", "start", "1", "--test-command", command]);
    // What runs unasked is for a person to trust, who reads the settings.
    for (key, value) in [
        ("test.command", "sh other.sh"),
        ("evidence.require", "verified"),
    ] {
        set(&environment, key, value).ok();
        environment.commit_all("Settings");
        with("sh run.sh").fault(3, "beyond_settings");
        environment.json(&["config", "unset", key]).ok();
        environment.commit_all("As before");
    }
    with("sh run.sh").ok();
    let next = environment.typed_json("autopilot next").ok();
    assert_eq!(next["context"]["testCommand"], "sh run.sh");
}

#[test]
fn a_person_is_asked_what_runs_the_tests() {
    let environment = without_settings();
    environment.write("api/go.mod", "module api\n\ngo 1.22\n");
    environment.write("api/api_test.go", "package api\n");
    environment.commit_all("An API");
    let start = ["autopilot", "start", "1"];
    let (status, shown) = at_terminal(&environment, &start, "\ny\n", false);
    assert_eq!(status, 0, "{shown}");
    let asked = "What runs the tests, for this run? [sh -c 'cd api && go test";
    assert!(shown.contains(asked), "{shown}");
}
