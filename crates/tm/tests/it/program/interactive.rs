//! A run gone through with a person, whose lines come from a pipe.

use super::environment::{Dialogue, TestEnvironment};

const DONE: &str = "Press Enter when it is done: ";
const COMMIT: &str = "Press Enter to make the commit: ";
const COVERAGE: &str = "Coverage in percent (Enter if not measured): ";
const RESULTS: &str = "Results (failed:N,passed:N): ";

/// Types a line, and gives what is shown up to the next question.
fn asked(person: &mut Dialogue, line: &str, question: &str) -> String {
    person.say(line);
    person.until(question)
}

/// Types what no question takes, and is told so.
fn is_no_answer(person: &mut Dialogue, line: &str, question: &str) -> String {
    let shown = asked(person, line, question);
    let told = format!("`{line}` is no answer here, so nothing was done.");
    assert!(shown.contains(&told), "{shown}");
    shown
}

#[test]
fn a_run_is_gone_through_by_answers() {
    let environment = TestEnvironment::new();
    let settings = environment.read(".taskmaster/config.json");
    let wanted = r#"{"coverageThresholds": {"lines": 80}, "command""#;
    let settings = settings.replace("{\"command\"", wanted);
    environment.write(".taskmaster/config.json", settings);
    environment.commit_all("Coverage");
    let commits = || environment.git(&["rev-list", "--count", "main..HEAD"]);
    let mut person = environment.dialogue(&["autopilot", "start", "1", "--interactive"]);

    let shown = person.until(DONE);
    assert!(shown.contains("RED 1.1: Count by spaces"), "{shown}");
    environment.write("tests/words_test.sh", "false\n");
    asked(&mut person, "", RESULTS);
    let shown = is_no_answer(&mut person, "nonsense", RESULTS);
    assert!(shown.contains("skip REASON"), "{shown}");
    let shown = asked(&mut person, "failed:2,nonsense:0", DONE);
    assert!(shown.contains("error: "), "{shown}");
    // What is on the screen is not shown twice.
    assert!(!shown.contains("<INSTRUCTION>"), "{shown}");
    is_no_answer(&mut person, "done", DONE);
    // Results may be typed at once. Coverage is asked for where the settings want it, and not at RED.
    let shown = asked(&mut person, "failed:2,passed:0", DONE);
    assert!(!shown.contains(COVERAGE), "{shown}");
    assert!(shown.contains("GREEN 1.1: Count by spaces"), "{shown}");
    environment.write("src/words.sh", "true\n");
    asked(&mut person, "", RESULTS);
    asked(&mut person, "failed:0,passed:2", COVERAGE);
    let shown = asked(&mut person, "70", DONE);
    assert!(shown.contains("coverage_below_threshold"), "{shown}");
    let shown = asked(&mut person, "failed:0,passed:2 coverage:85", COMMIT);
    assert!(shown.contains("COMMIT 1.1: Count by spaces"), "{shown}");
    is_no_answer(&mut person, "no", COMMIT);
    assert_eq!(commits(), "0");
    let shown = asked(&mut person, "", DONE);
    assert!(shown.contains("RED 1.2: "), "{shown}");
    person.say("quit");
    let rest = person.end();
    let resume = "tm autopilot resume --interactive --run-id master__task-1__";
    assert!(rest.contains(resume), "{rest}");
    assert_eq!(commits(), "1");
}

#[test]
fn words_at_the_prompt_are_commands_and_the_end_of_input_leaves_the_run_where_it_is() {
    let environment = TestEnvironment::started();
    let at_prompt = |lines: &str, told: &[&str]| {
        let resume = ["autopilot", "resume", "--interactive"];
        let ran = environment.tm_with_input(&resume, lines);
        for told in [told, &["The run stays where it is."]].concat() {
            assert!(ran.text().contains(told), "{told}: {ran:?}");
        }
        environment.typed_json("autopilot status").ok()
    };
    assert_eq!(at_prompt("", &[])["currentPhase"], "red");
    let lines = "status\nskip\nskip too hard\npause for lunch\n";
    let told = ["0 of 2 subtasks", "Say why: skip REASON"];
    let status = at_prompt(lines, &told);
    assert_eq!(status["progress"]["failed"][0], "1.1", "{status}");
}

#[test]
fn a_run_is_finished_from_the_prompt() {
    let environment = TestEnvironment::started();
    environment.do_subtask("1.1");
    environment.do_subtask("1.2");
    let resume = ["autopilot", "resume", "--interactive"];
    let ran = environment.tm_with_input(&resume, "\n\npassed:2,failed:0\n");
    let text = ran.text();
    assert!(text.contains("next: The run is over: completed."), "{text}");
    // The report says it all.
    assert_eq!(text.matches("# Task 1: Count the words").count(), 1);
    assert!(!text.contains("COMPLETE"), "{text}");
    let status = environment.typed_json("autopilot status").ok();
    assert_eq!(status["status"], "completed");
}

#[test]
fn a_pause_is_told_with_its_ways_out_and_ended_by_an_empty_line_alone() {
    const RESUME: &str = "Press Enter to resume the run: ";
    let environment = TestEnvironment::started();
    let mut person = environment.dialogue(&["autopilot", "resume", "--interactive"]);
    person.until(DONE);
    // Somebody else pauses the run meanwhile.
    environment.typed("autopilot pause --reason lunch").text();
    let shown = asked(&mut person, "status", RESUME);
    assert!(shown.contains("PAUSED 1.1 RED\n"), "{shown}");
    assert!(shown.contains("why        lunch\n"), "{shown}");
    is_no_answer(&mut person, "no", RESUME);
    asked(&mut person, "", DONE);
    person.say("quit");
    person.end();
}
