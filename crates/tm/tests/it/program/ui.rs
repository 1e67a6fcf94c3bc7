//! `tm ui` in a terminal.

use serde_json::json;
use testkit::Person;

use super::environment::TestEnvironment;
use super::whole_run::tm;

/// What a terminal is told when the screen is left.
const LEFT: &str = "\u{1b}[?1049l";

/// A workflow in which a person writes, and says what a reading came to; then it is at a gate from which no way leads back.
pub const LETTER: &str = r#"tramline: 1
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
        - { when: "outcome.outcome == 'again'", to: write }
        - { when: "outcome.outcome == 'lost'", to: dropped }
        - { when: "outcome.outcome == 'never' && outcome.note != ''", to: dropped }
        - { refuse: not_good }
      reopen: { to: write }
  post: { gate: posting, work: { by: agent }, to: sent }
  sent: { final: completed }
  dropped: { final: aborted }
messages: { not_good: { message: That is no answer, fix: say `good` } }
"#;

fn opened(environment: &TestEnvironment) -> Person {
    Person::at_screen(environment.program(&["ui"]), 120, 24)
}

fn screen(environment: &TestEnvironment) -> Person {
    let mut person = opened(environment);
    person.sees("0 for you, 1 under way");
    person
}

/// Presses keys, and waits for what comes of each.
fn presses(person: &mut Person, keys: &[(&str, &str)]) {
    for (keys, shown) in keys {
        person.press(keys);
        person.sees(shown);
    }
}

/// Types the letters that are asked for, and waits for what comes of it.
fn agrees(person: &mut Person, shown: &str) {
    let asked = person.sees("Type ");
    let (_, rest) = asked.rsplit_once("Type ").unwrap();
    person.press(&format!("{}\r", &rest[..4]));
    person.sees(shown);
}

#[test]
fn a_person_looks_decides_and_leaves_the_terminal_as_it_was() {
    testkit::by_chance!(3);
    let environment = TestEnvironment::started();
    let mut person = screen(&environment);
    presses(
        &mut person,
        &[
            ("\r", "running: red of 1.1"),
            ("2", "began tdd"),
            // One of several that were appended at once.
            ("G\r", "\"event\": \"run:created\""),
            ("\u{1b}", "Asked for: "),
            // Not typed back is not done.
            ("p", "Why:"),
            ("lunch\r", "Type "),
            ("no\r", "That was something else."),
            ("\u{1b}", "Nothing was done."),
            ("c", "the run is not paused"),
            ("p", "Why:"),
        ],
    );
    person.press("lunch\r");
    agrees(&mut person, "Paused:");
    let status = tm(&environment, "autopilot status").ok();
    assert_eq!(status["status"], "paused");
    // What happens elsewhere shows by itself.
    tm(&environment, "autopilot resume").ok();
    person.sees("running: red of 1.1");
    person.press("q");
    let left = person.end();
    assert!(left.0 == 0 && left.1.contains(LEFT), "{left:?}");
    // Told to end it does the same.
    let left = screen(&environment).terminate();
    assert!(left.0 == 0 && left.1.contains(LEFT), "{left:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn it_ends_with_its_terminal() {
    const RUN: (&str, &str) = ("\r", "running: red of 1.1");
    testkit::by_chance!(3);
    let environment = TestEnvironment::started();
    for keys in [&[][..], &[RUN, ("p", "Why:")]] {
        let mut person = screen(&environment);
        presses(&mut person, keys);
        assert_eq!(person.hang_up(), Some(0), "{keys:?}");
    }
}

#[test]
fn a_person_reports_what_is_asked_of_them() {
    testkit::by_chance!(3);
    let environment = TestEnvironment::new();
    environment.write(".taskmaster/workflows/letter.yaml", LETTER);
    tm(&environment, "run start letter").ok();
    let mut person = opened(&environment);
    person.sees("Your turn");
    presses(&mut person, &[("\r", "Press d")]);
    person.press("d");
    agrees(&mut person, "Your turn: read");
    for (word, note, shown) in [
        ("bad\r", "\r", "That is no answer"),
        ("good\r", "It is short.\r", "Decide:"),
    ] {
        presses(&mut person, &[("d", "The outcome, in one word (")]);
        presses(&mut person, &[(word, "may be left out")]);
        person.press(note);
        agrees(&mut person, shown);
    }
    // A gate from which no way leads back is not rejected.
    person.press("r");
    person.sees("does not say what follows a rejection");
    person.press("q");
    assert_eq!(person.end().0, 0);
    let status = tm(&environment, "run status").ok();
    assert_eq!(status["nextAction"]["gate"], "posting");
    assert_eq!(status["nextAction"].get("canReject"), None);
    let reject = tm(&environment, "run reject --feedback Longer.");
    assert_eq!(reject.code(), "not_possible");
    let log = tm(&environment, "runs log");
    assert!(log.out.contains("It is short."), "{log:?}");
}

#[test]
fn where_there_is_no_terminal_it_is_told_once() {
    testkit::by_chance!(3);
    let environment = TestEnvironment::started();
    let told = environment.tm(&["ui"]);
    let begins = told.text().starts_with("Runs: 0 for you, 1 under way\n");
    assert!(begins && !told.out.contains('\u{1b}'), "{told:?}");
    let run = tm(&environment, "ui").ok()["runs"][0].clone();
    let about = (&run["status"], &run["places"]);
    assert_eq!(about, (&json!("running"), &json!(["red of 1.1"])));
    tm(&environment, "ui nothing").fault(4, "no_run");
}
