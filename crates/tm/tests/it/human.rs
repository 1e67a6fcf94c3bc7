//! What a person reads.

use crate::environment::TestEnvironment;

#[test]
fn status_has_a_bar_and_the_next_command() {
    let environment = TestEnvironment::started();
    environment.do_subtask("1.1");
    let text = environment.tm(&["autopilot", "status"]);
    let lines: Vec<&str> = text.text().lines().collect();
    assert!(lines[0].ends_with("  running"), "{text:?}");
    assert_eq!(
        lines[1],
        "  [###############...............] 50% (1 of 2 subtasks)"
    );
    assert!(text.out.contains("-> tm autopilot next"), "{text:?}");
    assert!(!text.out.contains('\u{1b}'), "{text:?}");
}

#[test]
fn next_prints_the_instructions_and_how_to_report() {
    let environment = TestEnvironment::started();
    let json = environment
        .tm(&["autopilot", "next", "--json"])
        .json_with(0);
    let text = environment.tm(&["autopilot", "next"]);
    let first = json["instructions"]
        .as_str()
        .unwrap()
        .lines()
        .find(|line| !line.is_empty())
        .unwrap();
    assert!(text.text().contains(first), "{text:?}");
    assert!(
        text.out
            .trim_end()
            .ends_with("-> tm autopilot complete red 1.1 --results failed:N,passed:N"),
        "{text:?}"
    );
}

#[test]
fn a_refused_report_tells_code_message_suggestion_and_what_comes_next() {
    let environment = TestEnvironment::started();
    environment.write("tests/a_test.sh", "false\n");
    let ran = environment.tm(&[
        "autopilot",
        "complete",
        "red",
        "1.1",
        "--results",
        "failed:0,passed:3",
    ]);
    assert_eq!(ran.status, 3);
    assert!(
        ran.out.starts_with("x red_requires_failing_tests: "),
        "{ran:?}"
    );
    assert!(ran.out.contains("\nhelp: "), "{ran:?}");
    assert!(
        ran.out.contains("\nnext: RED 1.1: Count by spaces"),
        "{ran:?}"
    );
}

#[test]
fn what_a_task_says_cannot_reach_into_the_terminal() {
    let environment = TestEnvironment::new();
    let title = "Harmless\\u001b[2J\\u001b]0;owned\\u0007\\u202e title";
    environment.write(
        ".taskmaster/tasks/tasks.json",
        &format!(
            r#"{{"master":{{"tasks":[{{"id":1,"title":"{title}","status":"pending","subtasks":[{{"id":1,"title":"{title}","status":"pending"}}]}}],"metadata":{{}}}}}}"#
        ),
    );
    environment.git(&["commit", "--quiet", "--all", "--message", "Tasks"]);
    for arguments in [
        &["autopilot", "start", "1", "--dry-run"][..],
        &["autopilot", "start", "1"],
        &["autopilot", "next"],
        &["autopilot", "status"],
        &["runs", "list"],
        &["runs", "log"],
        &["autopilot", "status", "--json"],
        &["autopilot", "next", "--json"],
    ] {
        let ran = environment.tm(arguments);
        let hidden = ran.text().chars().find(|&c| c != '\n' && c.is_control());
        assert_eq!(hidden, None, "{arguments:?}: {:?}", ran.out);
    }
}

#[test]
fn runs_are_listed_with_their_status() {
    let environment = TestEnvironment::new();
    assert_eq!(
        environment.tm(&["runs", "list"]).text(),
        "There are no runs here.\n"
    );
    environment.tm(&["autopilot", "start", "1"]).text();
    let list = environment.tm(&["runs", "list"]);
    assert!(
        list.text().starts_with("running    master__task-1__"),
        "{list:?}"
    );
    let shown = environment.tm(&["runs", "show"]);
    assert!(
        shown.text().contains("master/task-1-count-the-words"),
        "{shown:?}"
    );
    let log = environment.tm(&["runs", "log"]);
    assert!(log.text().starts_with("    1  "), "{log:?}");
    assert!(
        log.out
            .contains("branch:created   master/task-1-count-the-words"),
        "{log:?}"
    );
}
