//! What happens only where a person sits: questions, colour.

use super::environment::TestEnvironment;
use super::whole_run::{says, tm};
use journal::layout::short_name;
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

/// Types lines at a command, which has to end so. All that the terminal showed.
fn typed(environment: &TestEnvironment, command: &str, lines: &str, expected: i32) -> String {
    let words: Vec<&str> = command.split(' ').collect();
    let (status, shown) = at_terminal(environment, &words, lines, false);
    assert_eq!(status, expected, "{shown}");
    shown
}

/// Types `yes` at a command, which is not enough, and then the code that it shows. What was shown before that.
fn agreed(environment: &TestEnvironment, command: &str) -> String {
    typed(environment, command, "yes\n", 3);
    let words: Vec<&str> = command.split(' ').collect();
    let (shown, status, rest) = Person::at(environment.program(&words)).agrees();
    assert_eq!(status, 0, "{rest}");
    shown
}

fn branches(environment: &TestEnvironment) -> String {
    environment.git(&["branch", "--format=%(refname:short)"])
}

#[test]
fn start_shows_the_plan_and_begins_on_yes() {
    let environment = TestEnvironment::new();
    // Nothing is touched on no or at the end of input.
    for lines in ["n\n", ""] {
        typed(&environment, "autopilot start 1", lines, 3);
        assert_eq!(branches(&environment), "main");
    }
    let shown = typed(&environment, "autopilot start 1", "what\ny\n", 0);
    let asked = "Make the branch master/task-1-count-the-words and begin? [Y/n]";
    says(&shown, &["Task 1: Count the words", asked], &[]);
    let branch = environment.git(&["branch", "--show-current"]);
    assert_eq!(branch, "master/task-1-count-the-words");
}

#[test]
fn start_asks_about_a_dirty_tree() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "mine\n");
    let shown = typed(&environment, "autopilot start 1 --no-confirm", "n\n", 3);
    let asked = "Begin all the same, and leave these changes alone? [y/N]";
    says(&shown, &["notes.txt", asked], &[]);
    typed(&environment, "autopilot start 1", "y\n\n", 0);
    let branch = environment.git(&["branch", "--show-current"]);
    assert_eq!(branch, "master/task-1-count-the-words");
}

#[test]
fn clean_up_asks_first() {
    let environment = TestEnvironment::started();
    let shown = agreed(&environment, "autopilot abort --cleanup");
    assert!(shown.contains("with its journal"), "{shown}");
    assert_eq!(branches(&environment), "main");
}

#[test]
fn resume_asks_which_of_several_runs_is_meant() {
    let environment = TestEnvironment::new();
    let begin = |what: &str| {
        let started = tm(&environment, &format!("autopilot start {what}")).ok();
        tm(&environment, "autopilot pause --reason later").ok();
        started["runId"].as_str().unwrap().to_owned()
    };
    begin("1");
    let second = begin("--title Another --subtask One");
    let resume = "autopilot resume";
    assert_eq!(tm(&environment, resume).code(), "several_runs");

    let (_, shown) = at_terminal(&environment, &["autopilot", "resume"], "7\n\n", false);
    assert!(shown.contains("That is not one of the numbers."), "{shown}");
    let mut lines = shown.lines().map(str::trim_start);
    let name = format!(" {} ", short_name(&second));
    let is_listed = |line: &&str| line.contains(&name) && line.starts_with(['1', '2']);
    let number = &lines.find(is_listed).expect("it is listed")[..1];
    typed(&environment, resume, &format!("{number}\n"), 0);
    let status = tm(&environment, &format!("autopilot status --run-id {second}"));
    assert_eq!(status.ok()["status"], "running");
}

#[test]
fn colour_and_symbols_are_for_terminals_that_want_them() {
    let environment = TestEnvironment::started();
    for (words, wants, is_rich) in [
        (&["autopilot", "status"][..], false, false),
        (&["autopilot", "status"], true, true),
        (&["--no-color", "autopilot", "status"], true, false),
        (&["autopilot", "status", "--json"], true, false),
    ] {
        let (_, shown) = at_terminal(&environment, words, "", wants);
        assert_eq!(shown.contains('\u{1b}'), is_rich, "{words:?}: {shown}");
        assert_eq!(shown.contains('░'), is_rich, "{words:?}: {shown}");
        assert!(is_rich || shown.is_ascii(), "{words:?}: {shown}");
    }
}
