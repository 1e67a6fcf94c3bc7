//! Mistakes on the command line, and the shape of failures.

use serde_json::{Value, json};

use super::environment::{TestEnvironment, keys};
use testkit::Outcome;

fn check_usage(arguments: &[&str], message: &str, recovery: &str) {
    let environment = TestEnvironment::bare();
    let plain = environment.tm(arguments);
    assert_eq!(
        (plain.status, plain.out.as_str()),
        (2, ""),
        "{arguments:?}: {plain:?}"
    );
    assert!(plain.err.starts_with("error: "), "{arguments:?}: {plain:?}");

    let mut arguments = arguments.to_vec();
    arguments.push("--json");
    let ran = environment.tm(&arguments);
    let answer = ran.json_with(2);
    assert_eq!(ran.err, "");
    assert_eq!(keys(&answer), ["error"]);
    let error = &answer["error"];
    assert_eq!(error["code"], "usage", "{answer}");
    assert!(
        error["message"].as_str().unwrap().contains(message),
        "{answer}"
    );
    assert!(
        !error["suggestion"].as_str().unwrap().is_empty(),
        "{answer}"
    );
    assert_eq!(error["recovery"], recovery, "{answer}");
}

#[test]
fn an_unknown_command_is_a_mistake() {
    check_usage(
        &["autopilot", "complet"],
        "unrecognized subcommand 'complet'",
        "tm autopilot --help",
    );
}

#[test]
fn a_missing_argument_is_a_mistake() {
    check_usage(
        &["autopilot", "complete", "red", "1.1", "--report"],
        "--report <FILE>",
        "tm autopilot complete --help",
    );
    check_usage(
        &["autopilot", "skip", "1.1"],
        "--reason",
        "tm autopilot skip --help",
    );
    check_usage(
        &["autopilot", "start"],
        "<TASK_ID>",
        "tm autopilot start --help",
    );
}

#[test]
fn arguments_that_exclude_each_other_are_a_mistake() {
    check_usage(
        &["autopilot", "start", "--title", "a", "--plan", "b.md"],
        "cannot be used with",
        "tm autopilot start --help",
    );
    check_usage(
        &["autopilot", "commit", "--sha", "abc", "--message", "x"],
        "cannot be used with",
        "tm autopilot commit --help",
    );
}

#[test]
fn a_value_out_of_range_is_a_mistake() {
    check_usage(
        &["autopilot", "start", "1", "--max-attempts", "0"],
        "invalid value '0'",
        "tm autopilot start --help",
    );
    check_usage(
        &["log", "replay", "--to", "0"],
        "invalid value '0'",
        "tm log replay --help",
    );
}

#[test]
fn a_phase_that_is_none_is_a_mistake_before_anything_is_looked_at() {
    check_usage(
        &["autopilot", "complete", "gren", "--results", "failed:1"],
        "`gren` is neither a phase nor the id of a subtask",
        "tm autopilot next",
    );
    check_usage(
        &["autopilot", "complete", "finalize", "--results", "failed:1"],
        "`finalize` is neither",
        "tm autopilot finalize --results passed:N,failed:N",
    );
}

#[test]
fn a_dialogue_cannot_be_had_as_json() {
    let ran = TestEnvironment::bare().tm(&["autopilot", "resume", "--interactive", "--json"]);
    assert_eq!(ran.json_with(2)["error"]["code"], "usage");
}

#[test]
fn a_wrong_choice_names_the_right_ones() {
    let ran = TestEnvironment::bare().tm(&["runs", "list", "--status", "lost", "--json"]);
    assert_eq!(
        ran.json_with(2)["error"]["expected"],
        json!([
            "running",
            "paused",
            "completed",
            "failed",
            "aborted",
            "error",
            "cancelled"
        ])
    );
}

#[test]
fn a_missing_command_is_a_mistake() {
    let ran = TestEnvironment::bare().tm(&["autopilot", "--json"]);
    let answer = ran.json_with(2);
    assert_eq!(answer["error"]["code"], "usage", "{answer}");
    let ran = TestEnvironment::bare().tm(&["autopilot"]);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("Usage: tm autopilot"), "{ran:?}");
}

#[test]
fn json_after_two_dashes_is_an_argument() {
    let ran = TestEnvironment::bare().tm(&["autopilot", "complet", "--", "--json"]);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""));
}

#[test]
fn a_failure_has_the_same_status_in_words_and_in_json() {
    let environment = TestEnvironment::new();
    let plain = environment.tm(&["autopilot", "next"]);
    assert_eq!((plain.status, plain.out.as_str()), (4, ""), "{plain:?}");
    assert!(plain.err.starts_with("error: "), "{plain:?}");
    let ran = environment.tm(&["autopilot", "next", "--json"]);
    let answer = ran.json_with(4);
    assert_eq!(keys(&answer), ["error"]);
    for key in ["code", "message", "suggestion"] {
        let text = answer["error"][key].as_str().unwrap_or_default();
        assert!(!text.is_empty(), "{key}: {answer}");
    }
    assert_eq!(answer["error"].get("kind"), None::<&Value>);
}

#[test]
fn an_unknown_task_run_or_workflow_is_nothing_there() {
    let environment = TestEnvironment::new();
    for arguments in [
        &["autopilot", "start", "99", "--json"][..],
        &["runs", "show", "no-such-run", "--json"],
        &["autopilot", "status", "--run-id", "no-such-run", "--json"],
        &["workflow", "show", "no-such-workflow", "--json"],
    ] {
        environment.tm(arguments).json_with(4);
    }
}

#[test]
fn what_needs_a_person_is_refused_where_there_is_none() {
    let environment = TestEnvironment::started();
    let allow = [
        "autopilot",
        "allow",
        "red_without_tests",
        "--reason",
        "it is fine",
    ];
    let plain = environment.tm(&allow);
    assert_eq!(plain.status, 3, "{plain:?}");
    let mut with_json = allow.to_vec();
    with_json.push("--json");
    let answer = environment.tm(&with_json).json_with(3);
    assert_eq!(answer["error"]["code"], "needs_terminal");

    let recovery = answer["error"]["recovery"].as_str().unwrap();
    assert!(
        recovery.contains("red_without_tests --reason 'it is fine' --run-id "),
        "{recovery}"
    );
    // Nobody is asked for what is refused whoever says it.
    let bogus = ["autopilot", "allow", "bogus", "--reason", "x", "--json"];
    let bogus = environment.tm(&bogus).json_with(3);
    assert_eq!(bogus["error"]["code"], "not_a_policy");

    let answer = environment
        .tm(&["autopilot", "abort", "--cleanup", "--json"])
        .json_with(3);
    assert_eq!(answer["error"]["code"], "needs_terminal");
    let recovery = answer["error"]["recovery"].as_str().unwrap();
    assert!(
        recovery.starts_with("tm autopilot abort --cleanup --run-id "),
        "{recovery}"
    );
    // Nothing was changed by it.
    let status = environment
        .tm(&["autopilot", "status", "--json"])
        .json_with(0);
    assert_eq!(status["status"], "running");

    let key = testkit::person::key(&environment.home().join("store"));
    let by_hand = ["--sign", &key, "--json"];
    let words: Vec<&str> = recovery.split(' ').skip(1).chain(by_hand).collect();
    let answer = environment.tm(&words).json_with(0);
    assert_eq!(answer["cleanedUp"], true, "{answer}");
    assert_eq!(
        environment.git(&["branch", "--format=%(refname:short)"]),
        "main"
    );
}

#[test]
fn a_write_beyond_the_limit_on_the_size_of_files_is_a_fault() {
    let environment = TestEnvironment::started();
    let before = std::fs::read(environment.journal_path()).unwrap();
    let pause = ["autopilot", "pause", "--json"];
    let mut limited = environment.process("sh");
    limited
        .args([
            "-c",
            r#"ulimit -f 0; exec "$0" "$@""#,
            env!("CARGO_BIN_EXE_tm"),
        ])
        .args(pause);
    let error = Outcome::of(&limited.output().unwrap()).json_with(6)["error"].take();
    assert_eq!(error["code"], "journal_io", "{error}");
    let suggestion = error["suggestion"].as_str().unwrap();
    assert!(suggestion.contains("limit on the size of files"), "{error}");
    assert!(before == std::fs::read(environment.journal_path()).unwrap());
    environment.tm(&pause).json_with(0);
}
