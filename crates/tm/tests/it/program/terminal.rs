//! What happens only where a person sits: questions, colour.

use super::environment::TestEnvironment;
use testkit::person::{self, Person};

/// Runs the binary at a terminal of its own, at which somebody types `lines` and then Ctrl-D. Exit status, and all
/// that the terminal showed (what was typed included).
pub fn at_terminal(
    environment: &TestEnvironment,
    arguments: &[&str],
    lines: &str,
    colour: bool,
) -> (i32, String) {
    let mut command = environment.program(arguments);
    if colour {
        command.env_remove("NO_COLOR");
    }
    person::at_terminal(command, lines)
}

#[test]
fn start_shows_the_plan_and_begins_on_yes() {
    let environment = TestEnvironment::new();
    let (status, shown) = at_terminal(
        &environment,
        &["autopilot", "start", "1"],
        "what\ny\n",
        false,
    );
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("Task 1: Count the words"), "{shown}");
    assert!(
        shown.contains("Make the branch master/task-1-count-the-words and begin? [Y/n]"),
        "{shown}"
    );
    assert!(shown.contains("Please answer yes or no."), "{shown}");
    assert_eq!(
        environment.git(&["symbolic-ref", "--short", "HEAD"]),
        "master/task-1-count-the-words"
    );
}

#[test]
fn start_touches_nothing_on_no_or_at_the_end_of_input() {
    for lines in ["n\n", ""] {
        let environment = TestEnvironment::new();
        let (status, shown) = at_terminal(&environment, &["autopilot", "start", "1"], lines, false);
        assert_eq!(status, 3, "{shown}");
        assert_eq!(
            environment.git(&["branch", "--format=%(refname:short)"]),
            "main"
        );
    }
}

#[test]
fn start_asks_about_a_dirty_tree() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "mine\n");
    let (status, shown) = at_terminal(
        &environment,
        &["autopilot", "start", "1", "--no-confirm"],
        "n\n",
        false,
    );
    assert_eq!(status, 3, "{shown}");
    assert!(shown.contains("notes.txt"), "{shown}");
    assert!(
        shown.contains("Begin all the same, and leave these changes alone? [y/N]"),
        "{shown}"
    );
    let (status, shown) = at_terminal(&environment, &["autopilot", "start", "1"], "y\n\n", false);
    assert_eq!(status, 0, "{shown}");
    assert_eq!(
        environment.git(&["symbolic-ref", "--short", "HEAD"]),
        "master/task-1-count-the-words"
    );
}

#[test]
fn allow_is_typed_by_a_person() {
    let environment = TestEnvironment::started();
    let arguments = [
        "autopilot",
        "allow",
        "red_without_tests",
        "--reason",
        "covered elsewhere",
    ];
    let (status, shown) = at_terminal(&environment, &arguments, "y\n", false);
    assert_eq!(status, 3, "{shown}");
    let (shown, status, rest) = Person::at(environment.program(&arguments)).agrees();
    assert_eq!(status, 0, "{rest}");
    assert!(shown.contains("workUnit-1.1-RED"), "{shown}");
    let log = environment.tm(&["runs", "log"]);
    let user = workspace::person::user_name();
    assert!(
        log.text().contains(&format!(
            "red_without_tests by {user} (terminal): covered elsewhere"
        )),
        "{log:?}"
    );
}

#[test]
fn clean_up_asks_first() {
    let environment = TestEnvironment::started();
    let (status, shown) = at_terminal(
        &environment,
        &["autopilot", "abort", "--cleanup"],
        "yes\n",
        false,
    );
    assert_eq!(status, 3, "{shown}");
    let cleanup = environment.program(&["autopilot", "abort", "--cleanup"]);
    let (shown, status, rest) = Person::at(cleanup).agrees();
    assert_eq!(status, 0, "{rest}");
    assert!(shown.contains("with its journal"), "{shown}");
    assert_eq!(
        environment.git(&["branch", "--format=%(refname:short)"]),
        "main"
    );
}

#[test]
fn resume_asks_which_of_several_runs_is_meant() {
    let environment = TestEnvironment::new();
    let begin = |arguments: &[&str]| {
        let started = environment.tm(arguments).json_with(0);
        environment
            .tm(&["autopilot", "pause", "--reason", "later", "--json"])
            .json_with(0);
        started["runId"].as_str().unwrap().to_owned()
    };
    begin(&["autopilot", "start", "1", "--json"]);
    let second = begin(&[
        "autopilot",
        "start",
        "--title",
        "Another",
        "--subtask",
        "One",
        "--json",
    ]);
    let refused = environment.tm(&["autopilot", "resume", "--json"]);
    assert_eq!(
        refused.json()["error"]["code"],
        "several_runs",
        "{refused:?}"
    );

    let (_, shown) = at_terminal(&environment, &["autopilot", "resume"], "7\n\n", false);
    assert!(shown.contains("That is not one of the numbers."), "{shown}");
    let number = shown
        .lines()
        .find(|line| line.contains(&second) && line.trim_start().starts_with(['1', '2']))
        .unwrap_or_else(|| panic!("{second} is not listed: {shown}"))
        .trim_start()[..1]
        .to_owned();
    let (status, shown) = at_terminal(
        &environment,
        &["autopilot", "resume"],
        &format!("{number}\n"),
        false,
    );
    assert_eq!(status, 0, "{shown}");
    let status = environment
        .tm(&["autopilot", "status", "--run-id", &second, "--json"])
        .json_with(0);
    assert_eq!(status["status"], "running");
}

#[test]
fn colour_and_symbols_are_for_terminals_that_want_them() {
    let environment = TestEnvironment::started();
    let (_, plain) = at_terminal(&environment, &["autopilot", "status"], "", false);
    assert!(!plain.contains('\u{1b}') && plain.is_ascii(), "{plain}");
    let (_, rich) = at_terminal(&environment, &["autopilot", "status"], "", true);
    assert!(rich.contains('\u{1b}') && rich.contains('░'), "{rich}");
    let (_, plain) = at_terminal(
        &environment,
        &["--no-color", "autopilot", "status"],
        "",
        true,
    );
    assert!(!plain.contains('\u{1b}') && plain.is_ascii(), "{plain}");
    let (_, json) = at_terminal(&environment, &["autopilot", "status", "--json"], "", true);
    assert!(!json.contains('\u{1b}'), "{json}");
}
