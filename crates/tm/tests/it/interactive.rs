//! A run gone through with a person, whose lines come from a pipe.

use crate::environment::TestEnvironment;

#[test]
fn a_whole_run_is_gone_through_by_answers() {
    let environment = TestEnvironment::new();
    // Whoever types has done the work by then: here all files are there before the first report.
    environment.write("tests/words_test.sh", "true\n");
    let lines = "\
\nfailed:2,passed:0\n\
\nnonsense\n\
\nfailed:0,passed:2\n\
\n\
quit\n";
    let ran = environment.tm_with_input(&["autopilot", "start", "1", "--interactive", "--allow-dirty"], lines);
    let text = ran.text();
    assert!(text.contains("RED 1.1"), "{text}");
    assert!(text.contains("GREEN 1.1"), "{text}");
    assert!(text.contains("error: "), "nonsense is told: {text}");
    assert!(text.contains("tm autopilot resume --interactive --run-id master__task-1__"), "{text}");
}

#[test]
fn the_end_of_input_leaves_the_run_where_it_is() {
    let environment = TestEnvironment::started();
    let ran = environment.tm_with_input(&["autopilot", "resume", "--interactive"], "");
    assert!(ran.text().contains("The run stays where it is."), "{ran:?}");
    let status = environment.tm(&["autopilot", "status", "--json"]).json_with(0);
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
    let status = environment.tm(&["autopilot", "status", "--json"]).json_with(0);
    assert_eq!(status["progress"]["failed"][0], "1.1", "{status}");
}

#[test]
fn a_run_is_finished_from_the_prompt() {
    let environment = TestEnvironment::started();
    environment.do_subtask("1.1");
    environment.do_subtask("1.2");
    let ran = environment.tm_with_input(&["autopilot", "resume", "--interactive"], "\n\npassed:2,failed:0\n");
    assert!(ran.text().contains("COMPLETE"), "{ran:?}");
    let status = environment.tm(&["autopilot", "status", "--json"]).json_with(0);
    assert_eq!(status["status"], "completed");
}
