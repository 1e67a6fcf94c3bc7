//! A run gone through with a person, whose lines come from a pipe.

use super::environment::TestEnvironment;

#[test]
fn a_run_is_gone_through_by_answers() {
    let environment = TestEnvironment::new();
    let mut person = environment.dialogue(&["autopilot", "start", "1", "--interactive"]);

    let shown = person.until("Press Enter when it is done: ");
    assert!(shown.contains("RED 1.1: Count by spaces"), "{shown}");
    environment.write("tests/words_test.sh", "false\n");
    person.say("");
    person.until("Results (failed:N,passed:N): ");
    person.say("nonsense");
    let shown = person.until("Results (failed:N,passed:N): ");
    assert!(
        shown.contains("`nonsense` is no answer here, so nothing was done."),
        "{shown}"
    );
    assert!(shown.contains("skip REASON"), "{shown}");
    person.say("failed:2,nonsense:0");
    let shown = person.until("Press Enter when it is done: ");
    assert!(
        shown.contains("error: "),
        "what makes no sense is told: {shown}"
    );
    assert!(
        !shown.contains("<INSTRUCTION>"),
        "what is on the screen is not shown twice: {shown}"
    );
    person.say("done");
    let shown = person.until("Press Enter when it is done: ");
    assert!(shown.contains("`done` is no answer here"), "{shown}");
    // Results may be typed at once.
    person.say("failed:2,passed:0");

    let shown = person.until("Press Enter when it is done: ");
    assert!(shown.contains("GREEN 1.1: Count by spaces"), "{shown}");
    environment.write("src/words.sh", "true\n");
    person.say("");
    person.until("Results");
    person.say("failed:0,passed:2");

    let shown = person.until("Press Enter to make the commit: ");
    assert!(shown.contains("COMMIT 1.1: Count by spaces"), "{shown}");
    for other in ["n", "no", "92", "yes", "statsu"] {
        person.say(other);
        let shown = person.until("Press Enter to make the commit: ");
        assert!(
            shown.contains(&format!(
                "`{other}` is no answer here, so nothing was done."
            )),
            "{shown}"
        );
        assert_eq!(environment.git(&["rev-list", "--count", "main..HEAD"]), "0");
    }
    person.say("");
    let shown = person.until("Press Enter when it is done: ");
    assert!(
        shown.contains("RED 1.2: Count by any white space"),
        "{shown}"
    );
    person.say("quit");
    let rest = person.end();
    assert!(
        rest.contains("tm autopilot resume --interactive --run-id master__task-1__"),
        "{rest}"
    );
    assert_eq!(environment.git(&["rev-list", "--count", "main..HEAD"]), "1");
}

#[test]
fn the_end_of_input_leaves_the_run_where_it_is() {
    let environment = TestEnvironment::started();
    let ran = environment.tm_with_input(&["autopilot", "resume", "--interactive"], "");
    assert!(ran.text().contains("The run stays where it is."), "{ran:?}");
    let status = environment
        .tm(&["autopilot", "status", "--json"])
        .json_with(0);
    assert_eq!(status["status"], "running");
    assert_eq!(status["currentPhase"], "red");
}

#[test]
fn words_at_the_prompt_are_commands_of_the_run() {
    let environment = TestEnvironment::started();
    let ran = environment.tm_with_input(
        &["autopilot", "resume", "--interactive"],
        "status\nskip\nskip too hard\npause for lunch\n",
    );
    let text = ran.text();
    assert!(text.contains("0 of 2 subtasks"), "{text}");
    assert!(text.contains("Say why: skip REASON"), "{text}");
    assert!(text.contains("The run stays where it is."), "{text}");
    let status = environment
        .tm(&["autopilot", "status", "--json"])
        .json_with(0);
    assert_eq!(status["progress"]["failed"][0], "1.1", "{status}");
}

#[test]
fn a_run_is_finished_from_the_prompt() {
    let environment = TestEnvironment::started();
    environment.do_subtask("1.1");
    environment.do_subtask("1.2");
    let ran = environment.tm_with_input(
        &["autopilot", "resume", "--interactive"],
        "\n\npassed:2,failed:0\n",
    );
    let text = ran.text();
    assert!(text.contains("next: The run is over: completed."), "{text}");
    assert_eq!(
        text.matches("# Task 1: Count the words").count(),
        1,
        "{text}"
    );
    assert!(!text.contains("COMPLETE"), "the report says it all: {text}");
    let status = environment
        .tm(&["autopilot", "status", "--json"])
        .json_with(0);
    assert_eq!(status["status"], "completed");
}

#[test]
fn coverage_is_asked_for_where_the_settings_want_it() {
    let environment = TestEnvironment::new();
    environment.write(
        ".taskmaster/config.json",
        r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"], "coverageThresholds": {"lines": 80}}}"#,
    );
    environment.git(&["commit", "--quiet", "--all", "--message", "Coverage"]);
    let mut person = environment.dialogue(&["autopilot", "start", "1", "--interactive"]);
    person.until("Press Enter when it is done: ");
    environment.write("tests/words_test.sh", "false\n");
    person.say("failed:1,passed:0");
    let shown = person.until("Press Enter when it is done: ");
    assert!(
        !shown.contains("Coverage in percent"),
        "not at RED: {shown}"
    );
    environment.write("src/words.sh", "true\n");
    person.say("failed:0,passed:1");
    person.until("Coverage in percent (Enter if not measured): ");
    person.say("much");
    let shown = person.until("Coverage in percent (Enter if not measured): ");
    assert!(shown.contains("`much` is no answer here"), "{shown}");
    person.say("70");
    let shown = person.until("Press Enter when it is done: ");
    assert!(shown.contains("coverage_below_threshold"), "{shown}");
    person.say("failed:0,passed:1 coverage:85");
    let shown = person.until("Press Enter to make the commit: ");
    assert!(!shown.contains("Coverage in percent"), "{shown}");
    person.say("quit");
    person.end();
}

#[test]
fn a_pause_is_told_with_its_ways_out_and_ended_by_an_empty_line_alone() {
    let environment = TestEnvironment::started();
    let mut person = environment.dialogue(&["autopilot", "resume", "--interactive"]);
    person.until("Press Enter when it is done: ");
    // Somebody else pauses the run meanwhile.
    environment
        .tm(&["autopilot", "pause", "--reason", "lunch"])
        .text();
    person.say("status");
    let shown = person.until("Press Enter to resume the run: ");
    assert!(shown.contains("PAUSED 1.1 RED\n"), "{shown}");
    assert!(shown.contains("why        lunch\n"), "{shown}");
    person.say("no");
    let shown = person.until("Press Enter to resume the run: ");
    assert!(shown.contains("`no` is no answer here"), "{shown}");
    person.say("");
    person.until("Press Enter when it is done: ");
    person.say("quit");
    person.end();
}
