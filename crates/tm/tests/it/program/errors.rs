//! Mistakes on the command line, and the shape of failures.

use serde_json::{Value, json};

use super::environment::{TestEnvironment, has, holds, keys, words};

/// A command that comes to nothing: on standard error in words, and as JSON, with the same status.
fn failed(environment: &TestEnvironment, line: &str, status: i32) -> Value {
    let plain = environment.tm(&words(line));
    assert_eq!((plain.status, &*plain.out), (status, ""), "{line}");
    assert!(plain.err.starts_with("error: "), "{line}: {plain:?}");
    let ran = environment.line(line);
    ran.fault(status, ran.code());
    assert_eq!((&*ran.err, keys(ran.json())), ("", vec!["error"]), "{line}");
    ran.json()["error"].clone()
}

#[test]
fn what_comes_to_nothing_is_told_in_words_and_in_json_with_the_same_status() {
    let environment = TestEnvironment::bare();
    let finalize = "autopilot finalize --results passed:N,failed:N";
    for (command, rest, recovery) in [
        ("autopilot", "complet", ""),
        ("autopilot complete", "red 1.1 --report", ""),
        ("autopilot skip", "1.1", ""),
        ("autopilot start", "--title a --plan b.md", ""),
        ("autopilot commit", "--sha abc --message x", ""),
        ("log replay", "--to 0", ""),
        // A phase that is none is a mistake before anything is looked at.
        ("autopilot complete", "gren --verify", "autopilot next"),
        ("autopilot complete", "finalize --verify", finalize),
    ] {
        let error = failed(&environment, &format!("{command} {rest}"), 2);
        let help = format!("{command} --help");
        let recovery = if recovery.is_empty() { &help } else { recovery };
        let recovery = format!("tm {recovery}");
        holds(&error, &json!({ "code": "usage", "recovery": recovery }));
    }
    let choices = failed(&environment, "runs list --status lost", 2);
    let expected = "running paused completed failed aborted error cancelled";
    assert_eq!(choices["expected"], json!(words(expected)));
    // What is not there is no such mistake.
    let environment = TestEnvironment::new();
    for line in [
        "autopilot next",
        "autopilot start 99",
        "runs show no-such-run",
        "autopilot status --run-id no-such-run",
        "workflow show no-such-workflow",
    ] {
        assert_eq!(failed(&environment, line, 4).get("kind"), None);
    }
}

#[test]
fn a_missing_command_and_a_dialogue_as_json_are_mistakes() {
    let environment = TestEnvironment::bare();
    environment.refused("autopilot", 2, "usage");
    environment.refused("autopilot resume --interactive", 2, "usage");
    // After two dashes, `--json` is an argument.
    for line in ["autopilot", "autopilot complet -- --json"] {
        let ran = environment.tm(&words(line));
        assert_eq!((ran.status, &*ran.out), (2, ""), "{line}");
        has(&ran.err, "Usage: tm autopilot");
    }
}
