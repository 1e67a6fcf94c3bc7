//! `tm ui` in a terminal.

use serde_json::json;
use testkit::Person;

use super::environment::TestEnvironment;

/// What a terminal is told when the screen is left.
const LEFT: &str = "\u{1b}[?1049l";

fn screen(environment: &TestEnvironment) -> Person {
    let mut person = Person::at_screen(environment.program(&["ui"]), 120, 24);
    person.sees("0 for you, 1 under way");
    person
}

/// The letters that are asked for.
fn letters(person: &mut Person) -> String {
    let shown = person.sees("Type ");
    let (_, rest) = shown.rsplit_once("Type ").unwrap();
    rest[..4].to_owned()
}

#[test]
fn a_person_looks_decides_and_leaves_the_terminal_as_it_was() {
    let environment = TestEnvironment::started();
    let mut person = screen(&environment);
    person.press("\r");
    person.sees("running: red of 1.1");
    person.press("2");
    person.sees("began tdd");
    // One of several that were appended at once.
    person.press("G\r");
    person.sees("\"event\": \"run:created\"");
    person.press("\u{1b}");
    person.sees("Asked for: ");
    // Not typed back is not done.
    person.press("p");
    person.sees("Why:");
    person.press("lunch\r");
    letters(&mut person);
    person.press("no\r");
    person.sees("That was something else.");
    person.press("\u{1b}");
    person.sees("Nothing was done.");
    person.press("c");
    person.sees("the run is not paused");
    person.press("p");
    person.sees("Why:");
    person.press("lunch\r");
    let code = letters(&mut person);
    person.press(&format!("{code}\r"));
    person.sees("Paused:");
    let status = environment
        .tm(&["autopilot", "status", "--json"])
        .json_with(0);
    assert_eq!(status["status"], "paused");
    // What happens elsewhere shows by itself.
    environment
        .tm(&["autopilot", "resume", "--json"])
        .json_with(0);
    person.sees("running: red of 1.1");
    person.press("q");
    let (status, rest) = person.end();
    assert_eq!(status, 0);
    assert!(rest.contains(LEFT), "{rest:?}");
}

#[test]
fn told_to_end_it_leaves_the_terminal_as_it_was() {
    let environment = TestEnvironment::started();
    let (status, rest) = screen(&environment).terminate();
    assert_eq!(status, 0);
    assert!(rest.contains(LEFT), "{rest:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn it_ends_with_its_terminal() {
    let environment = TestEnvironment::started();
    for (keys, shown) in [
        ("", "0 for you"),
        ("\r", "running: red of 1.1"),
        ("\rp", "Why:"),
        ("\rx", "The code of the refusal"),
    ] {
        let mut person = screen(&environment);
        for key in keys.split_inclusive('\r') {
            person.press(key);
            person.sees(if key == "\r" {
                "running: red of 1.1"
            } else {
                shown
            });
        }
        assert_eq!(person.hang_up(), Some(0), "{keys:?}");
    }
}

#[test]
fn a_person_reports_what_is_asked_of_them() {
    let environment = TestEnvironment::new();
    environment.write(
        ".taskmaster/workflows/letter.yaml",
        r#"tramline: 1
id: letter
title: A letter
gates: { posting: human }
initial: write
on: { abort: { to: dropped } }
states:
  write: { work: { by: person }, to: read }
  read:
    work: { by: person }
    expects: outcome
    on:
      report:
        - { when: "outcome.outcome == 'good'", to: post }
        - { refuse: not_good }
  post: { gate: posting, work: { by: agent }, to: sent }
  sent: { final: completed }
  dropped: { final: aborted }
messages: { not_good: { message: That is no answer, fix: say `good` } }
"#,
    );
    environment.json(&["run", "start", "letter"]).ok();
    let mut person = Person::at_screen(environment.program(&["ui"]), 120, 24);
    person.sees("Your turn");
    person.press("\r");
    person.sees("Press d");
    person.press("d");
    let code = letters(&mut person);
    person.press(&format!("{code}\r"));
    person.sees("Your turn: read");
    for (word, note) in [("bad", ""), ("good", "It is short.")] {
        person.press("d");
        person.sees("The outcome, in one word (good):");
        person.press(&format!("{word}\r"));
        person.sees("may be left out");
        person.press(&format!("{note}\r"));
        let code = letters(&mut person);
        person.press(&format!("{code}\r"));
        person.sees(if word == "bad" {
            "That is no answer"
        } else {
            "Decide:"
        });
    }
    // A gate from which no way leads back is not rejected.
    person.press("r");
    person.sees("does not say what follows a rejection");
    person.press("q");
    assert_eq!(person.end().0, 0);
    let status = environment.json(&["run", "status"]).ok();
    assert_eq!(status["nextAction"]["gate"], "posting");
    assert_eq!(status["nextAction"].get("canReject"), None);
    let reject = ["run", "reject", "--feedback", "Longer."];
    assert_eq!(environment.json(&reject).code(), "cannot_reject");
    // Where it can be, it can.
    let log = environment
        .json(&["runs", "log", status["runId"].as_str().unwrap()])
        .ok();
    assert!(log.to_string().contains("It is short."), "{log}");
}

#[test]
fn where_there_is_no_terminal_it_is_told_once() {
    let environment = TestEnvironment::started();
    let told = environment.tm(&["ui"]);
    assert_eq!(told.status, 0);
    assert!(
        told.out.starts_with("Runs: 0 for you, 1 under way\n"),
        "{}",
        told.out
    );
    assert!(!told.out.contains('\u{1b}'));
    let told = environment.tm(&["ui", "--json"]).json_with(0);
    assert_eq!(told["runs"][0]["status"], "running");
    assert_eq!(told["runs"][0]["places"], json!(["red of 1.1"]));
    let unknown = environment.tm(&["ui", "nothing", "--json"]).json_with(4);
    assert_eq!(unknown["error"]["code"], "unknown_run");
}

#[test]
fn what_was_refused_still_is_behind_a_pause() {
    let environment = TestEnvironment::started();
    let report = ["complete", "red", "--results", "failed:1,passed:0"];
    let refused = environment.tm(&[&["autopilot"][..], &report, &["--json"]].concat());
    assert_eq!(refused.json()["code"], "red_without_tests", "{refused:?}");
    let listed = || environment.tm(&["ui", "--json"]).json_with(0)["runs"][0]["refused"].clone();
    let before = listed();
    assert!(before.is_object(), "{before}");
    for turn in ["pause", "resume"] {
        environment.tm(&["autopilot", turn, "--json"]).json_with(0);
    }
    assert_eq!(listed(), before);
}
