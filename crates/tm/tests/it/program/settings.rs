//! `tm config`: settings read, written, taken out and edited; and the test command that a start is given.

use std::fs;

use serde_json::{Value, json};

use super::environment::TestEnvironment;
use super::terminal::at_terminal;

const FILE: &str = ".taskmaster/config.json";

fn settings(environment: &TestEnvironment) -> Value {
    let text = fs::read_to_string(environment.project().join(FILE)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A project with tasks, of which nobody said how it is tested.
fn without_settings() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write(FILE, "{}\n");
    environment.git(&["commit", "--quiet", "--all", "--message", "No settings"]);
    environment
}

fn code(environment: &TestEnvironment, words: &[&str]) -> (i32, String, String) {
    let answer = environment.tm(&[words, &["--json"]].concat());
    let error = &answer.json()["error"];
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    (answer.status, text("code"), text("suggestion"))
}

#[test]
fn a_setting_is_written_where_it_belongs_and_read_back() {
    let environment = TestEnvironment::bare();
    let others = "{\n  \"models\": { \"main\": \"x\" }\n}\n";
    environment.write(FILE, others);
    let set = |words: &[&str]| {
        let answer = environment.tm(&[&["config", "set"], words, &["--json"]].concat());
        assert_eq!(answer.status, 0, "{}", answer.out);
        answer.json().clone()
    };
    let answer = set(&["test.command", "npm test"]);
    assert_eq!(answer["value"], "npm test");
    assert_eq!(answer["origin"]["from"], "projectFile");
    assert_eq!(answer["changed"], true);
    assert_eq!(set(&["test.command", "npm test"])["changed"], false);
    set(&["autopilot.maxGreenAttempts", "5"]);
    set(&["test.patterns", "spec/**, *_check.py"]);
    set(&["autopilot.finalization.updateTaskStatus", "false"]);
    assert_eq!(
        settings(&environment),
        json!({
            "models": { "main": "x" },
            "test": { "command": "npm test", "patterns": ["spec/**", "*_check.py"] },
            "autopilot": { "maxGreenAttempts": 5, "finalization": { "updateTaskStatus": false } },
        })
    );
    let get = |key: &str| {
        environment
            .tm(&["config", "get", key])
            .text()
            .trim()
            .to_owned()
    };
    assert_eq!(get("test.command"), "npm test");
    assert_eq!(get("autopilot.maxGreenAttempts"), "5");
    assert_eq!(
        get("autopilot.finalization"),
        r#"{"updateTaskStatus":false}"#
    );
    environment.tm(&["config", "unset", "test.command"]).text();
    assert_eq!(get("test.command"), "null");
    assert_eq!(settings(&environment)["models"], json!({ "main": "x" }));
}

#[test]
fn what_cannot_be_is_written_nowhere() {
    let environment = TestEnvironment::bare();
    for (words, told) in [
        (
            ["config", "set", "test.comand", "x"],
            "did you mean `test.command`?",
        ),
        (
            ["config", "set", "evidence.require", "verifed"],
            "did you mean \"verified\"?",
        ),
        (
            ["config", "set", "autopilot.maxGreenAttempts", "0"],
            "autopilot.maxGreenAttempts",
        ),
        (
            ["config", "set", "autopilot.storage.basePath", "/elsewhere"],
            "not the repository's to say",
        ),
        (
            ["config", "get", "nothing.like.it", "--no-color"],
            "tm config show",
        ),
    ] {
        let (status, code, suggestion) = code(&environment, &words);
        // What cannot stand in that file is no mistake in what was typed.
        let expected = if words[2].ends_with("basePath") { 6 } else { 2 };
        assert_eq!(
            (status, code.as_str()),
            (expected, "config_invalid"),
            "{words:?}"
        );
        assert!(suggestion.contains(told), "{words:?}: {suggestion}");
    }
    assert!(!environment.project().join(FILE).exists());
    // A file that is broken is not made worse, and one of its values can be mended.
    environment.write(FILE, "{ \"test\": 1 }");
    let (status, code_of, _) = code(&environment, &["config", "set", "test.command", "x"]);
    assert_eq!((status, code_of.as_str()), (6, "client_file_invalid"));
    environment.write(FILE, r#"{ "test": { "command": 1 } }"#);
    environment
        .tm(&["config", "set", "test.command", "x"])
        .text();
    assert_eq!(
        settings(&environment),
        json!({ "test": { "command": "x" } })
    );
}

#[test]
fn the_stricter_place_has_the_last_word_and_that_is_said() {
    let environment = TestEnvironment::bare();
    environment
        .tm(&["config", "set", "--user", "evidence.require", "verified"])
        .text();
    // Where runs are kept is no project, and one's own settings are there.
    let mut at_home =
        environment.program(&["config", "set", "--user", "autopilot.maxGreenAttempts", "4"]);
    assert!(
        at_home
            .current_dir(environment.store().parent().unwrap())
            .status()
            .unwrap()
            .success()
    );
    let answer = environment.tm(&["config", "set", "evidence.require", "claimed"]);
    assert!(
        answer
            .text()
            .contains("evidence.require is \"verified\" now (user "),
        "{}",
        answer.out
    );
    assert!(answer.err.contains("would be weaker"), "{}", answer.err);
}

#[test]
fn an_editor_changes_a_copy_that_is_taken_over_once_it_is_sound() {
    let environment = TestEnvironment::bare();
    let edit = |editor: &str| {
        let mut program = environment.program(&["config", "edit", "--json"]);
        let output = program
            .env("EDITOR", editor)
            .env_remove("VISUAL")
            .output()
            .unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), answer)
    };
    let (status, answer) = edit("sed -i 's/\"maxGreenAttempts\": 3/\"maxGreenAttempts\": 4/'");
    assert_eq!(
        (status, &answer["changed"]),
        (Some(0), &json!(true)),
        "{answer}"
    );
    assert_eq!(settings(&environment)["autopilot"]["maxGreenAttempts"], 4);
    let before = settings(&environment);
    let (status, answer) = edit("sed -i s/maxGreenAttempts/maxAttempts/");
    assert_eq!(status, Some(6));
    assert_eq!(answer["error"]["code"], "config_invalid", "{answer}");
    let told = answer["error"]["suggestion"].as_str().unwrap();
    let draft = told.rsplit(' ').next().unwrap();
    assert!(
        fs::read_to_string(draft).unwrap().contains("maxAttempts"),
        "{told}"
    );
    let (status, answer) = edit("false");
    assert_eq!(
        (status, &answer["error"]["code"]),
        (Some(6), &json!("no_editor"))
    );
    assert_eq!(settings(&environment), before);
}

#[test]
fn a_start_takes_a_test_command_where_the_settings_name_none() {
    let environment = without_settings();
    let start = ["autopilot", "start", "1", "--test-command"];
    let with = |command: &str| environment.tm(&[&start[..], &[command, "--json"]].concat());
    environment
        .tm(&["config", "set", "test.command", "sh other.sh"])
        .text();
    environment.git(&["commit", "--quiet", "--all", "--message", "Settings"]);
    let answer = with("sh run.sh");
    assert_eq!(
        answer.json()["error"]["code"],
        "test_command_set",
        "{}",
        answer.out
    );
    assert_eq!(answer.status, 3);
    environment.tm(&["config", "unset", "test.command"]).text();
    environment
        .tm(&["config", "set", "evidence.require", "verified"])
        .text();
    environment.git(&["commit", "--quiet", "--all", "--message", "Stricter"]);
    // What runs unasked is for a person to trust, who reads the settings.
    assert_eq!(
        with("sh run.sh").json()["error"]["code"],
        "test_command_set"
    );
    environment
        .tm(&["config", "unset", "evidence.require"])
        .text();
    environment.git(&["commit", "--quiet", "--all", "--message", "As before"]);
    let broken = with("sh run.sh && true");
    assert_eq!(
        broken.json()["error"]["code"],
        "test_command",
        "{}",
        broken.out
    );
    with("sh run.sh").text();
    let context = environment.tm(&["autopilot", "next", "--json"]);
    assert!(context.out.contains("sh run.sh"), "{}", context.out);
    // It is none that the settings name, and so was not replaced.
    environment.write("tests/a_test.sh", "false\n");
    environment
        .tm(&[
            "autopilot",
            "complete",
            "red",
            "--results",
            "failed:1,passed:0",
        ])
        .text();
}

#[test]
fn a_person_is_asked_what_runs_the_tests() {
    let environment = without_settings();
    environment.write("api/go.mod", "module api\n\ngo 1.22\n");
    environment.write("api/api_test.go", "package api\n");
    environment.git(&["add", "."]);
    environment.git(&["commit", "--quiet", "--message", "An API"]);
    let start = ["autopilot", "start", "1"];
    let (status, shown) = at_terminal(&environment, &start, "\ny\n", false);
    assert_eq!(status, 0, "{shown}");
    assert!(
        shown.contains("What runs the tests, for this run? [sh -c 'cd api && go test"),
        "{shown}"
    );
    assert!(shown.contains("has begun"), "{shown}");
}
