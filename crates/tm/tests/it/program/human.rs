//! What a person reads.

use super::environment::TestEnvironment;
use testkit::Person;

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
        format!(
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
    let line = list.text().trim_end();
    let (_, day) = line
        .split_once("  0/2 subtasks, 0 commits  ")
        .expect("how far it is");
    assert_eq!(
        day.len(),
        "2025-10-07 14:33  Count the words".len(),
        "{day}"
    );
    assert!(day.ends_with("  Count the words"), "{day}");
    assert_eq!(
        environment.tm(&["runs", "list", "--json"]).json_with(0)[0]["taskTitle"],
        "Count the words"
    );
    let shown = environment.tm(&["runs", "show"]);
    assert!(
        shown.text().contains("master/task-1-count-the-words"),
        "{shown:?}"
    );
    assert!(
        shown
            .text()
            .contains("task       1: Count the words (tag master)\n"),
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

#[test]
fn a_run_without_attempts_left_says_so_in_words_and_names_the_ways_out() {
    let environment = TestEnvironment::new();
    environment
        .tm(&["autopilot", "start", "1", "--max-attempts", "2"])
        .text();
    environment.write("tests/a_test.sh", "false\n");
    let complete = |phase: &str| {
        environment.tm(&[
            "autopilot",
            "complete",
            phase,
            "1.1",
            "--results",
            "failed:1,passed:0",
        ])
    };
    complete("red").text();
    complete("green");
    complete("green");
    let next = environment.tm(&["autopilot", "next"]);
    let run = next
        .text()
        .lines()
        .find_map(|line| line.strip_prefix("  run        "))
        .expect("the run");
    let expected = format!(
        "PAUSED 1.1 GREEN
  run        {run}
  why        all 2 attempts at GREEN failed
  [..............................] 0% (0 of 2 subtasks)

What to do: a person decides it, at a terminal or with --sign KEY
  - see what keeps failing, then go on with a fresh set of attempts; or skip it
    after that
  -> tm autopilot resume --run-id {run}
  - a test is wrong: go back to RED, which resumes the run too
  -> tm autopilot reopen --run-id {run} --reason TEXT
  - end the run; its commits stay
  -> tm autopilot abort --run-id {run}
"
    );
    assert_eq!(next.out, expected);
    let status = environment.tm(&["autopilot", "status"]);
    assert!(
        status
            .text()
            .contains("  paused     all 2 attempts at GREEN failed\n"),
        "{status:?}"
    );
    assert!(!status.out.contains("max_attempts"), "{status:?}");
    // What the page says about going back holds.
    let reopen = ["autopilot", "reopen", "--run-id", run, "--reason", "wrong"];
    let (shown, status, rest) = Person::at(environment.program(&reopen)).agrees();
    assert_eq!(status, 0, "{rest}");
    assert!(shown.contains("max_attempts_reached"), "{shown}");
    let next = environment.tm(&["autopilot", "next"]);
    assert!(next.text().starts_with("RED 1.1: "), "{next:?}");
}

#[test]
fn a_run_as_it_was_is_told_in_words() {
    let environment = TestEnvironment::started();
    environment.do_subtask("1.1");
    let now = environment.tm(&["log", "replay"]);
    assert!(now.text().contains("  commits    1\n"), "{now:?}");
    assert!(
        now.out.contains("  ok 1.1  Count by spaces  done\n"),
        "{now:?}"
    );
    assert!(
        now.out
            .ends_with("next then: RED 1.2: Count by any white space\n"),
        "{now:?}"
    );
    let then = environment.tm(&["log", "replay", "--to", "1"]);
    assert!(
        then.text().contains("1.1  Count by spaces") && !then.out.contains("  done\n"),
        "{then:?}"
    );
    assert!(!then.out.contains('{'), "{then:?}");
}

#[test]
fn a_definition_that_is_nowhere_is_missed_by_name() {
    let environment = TestEnvironment::new();
    let ran = environment.tm(&["workflow", "check", "nothing"]);
    assert_eq!(ran.status, 4, "{ran:?}");
    assert!(
        ran.err
            .starts_with("error: there is neither a workflow nor a file `nothing`\nhelp: "),
        "{ran:?}"
    );
    environment.tm(&["workflow", "check", "tdd"]).text();
}
