//! A run gone through with a person, whose lines come from a pipe.

use crate::environment::TestEnvironment;

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
    let shown = person.until("Press Enter when it is done: ");
    assert!(
        shown.contains("error: "),
        "what makes no sense is told: {shown}"
    );
    assert!(
        !shown.contains("<INSTRUCTION>"),
        "what is on the screen is not shown twice: {shown}"
    );
    person.say("");
    person.until("Results");
    person.say("failed:2,passed:0");

    let shown = person.until("Press Enter when it is done: ");
    assert!(shown.contains("GREEN 1.1: Count by spaces"), "{shown}");
    environment.write("src/words.sh", "true\n");
    person.say("");
    person.until("Results");
    person.say("failed:0,passed:2");

    let shown = person.until("Press Enter to make the commit: ");
    assert!(shown.contains("COMMIT 1.1: Count by spaces"), "{shown}");
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
    assert!(ran.text().contains("COMPLETE"), "{ran:?}");
    let status = environment
        .tm(&["autopilot", "status", "--json"])
        .json_with(0);
    assert_eq!(status["status"], "completed");
}
