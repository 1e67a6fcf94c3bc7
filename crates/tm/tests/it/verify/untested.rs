//! Commits before which no test failed.

use super::environment::{TestEnvironment, problems, standings};

/// A run that stands at its last suite, with notes.
fn at_the_end() -> TestEnvironment {
    let environment = TestEnvironment::new(true);
    environment.tm(&["autopilot", "start", "1"]);
    environment.subtask("1.1", &["words"]);
    environment.subtask("1.2", &["words", "lines"]);
    environment
}

/// The repair that is open is reported and committed, and the run ended.
fn mended(environment: &TestEnvironment) {
    environment.write("src/more.sh", "true\n");
    let green = environment.report("mended", &["words", "lines"], None);
    environment.tm(&["autopilot", "complete", "green", "--report", &green]);
    environment.tm(&["autopilot", "commit"]);
    environment.finalize(&["words", "lines"]);
}

#[test]
fn a_repair_is_earned_by_the_suite_that_failed() {
    let environment = at_the_end();
    let failing = environment.report("failing", &["words", "lines"], Some("words"));
    let answer = environment.try_tm(&["autopilot", "finalize", "--report", &failing], &[]);
    assert_eq!(answer.status, 3, "{answer:?}");
    mended(&environment);
    for (status, answer) in [
        environment.verify(&[]),
        environment.verify_in(&environment.clone_of_it(true)),
    ] {
        assert_eq!(status, 0, "{answer:#}");
        assert_eq!(standings(&answer), ["earned"; 4]);
        let repair = &answer["commits"][2];
        assert_eq!(
            (&repair["for"], &repair["red"]["failed"]),
            (&"repair".into(), &1.into())
        );
    }
}

#[test]
fn a_repair_of_what_passed_is_without_tests() {
    let environment = at_the_end();
    environment.tm(&["autopilot", "reopen", "--reason", "one thing more"]);
    mended(&environment);
    for (status, answer) in [
        environment.verify(&[]),
        environment.verify_in(&environment.clone_of_it(true)),
    ] {
        assert_eq!(status, 3, "{answer:#}");
        assert_eq!(
            standings(&answer),
            ["earned", "earned", "without_tests", "earned"]
        );
        assert_eq!(problems(&answer), ["without_tests"]);
        assert!(
            answer["suggestion"]
                .as_str()
                .unwrap()
                .contains("evidence.withoutTests")
        );
    }
    let settings = environment
        .read(".taskmaster/config.json")
        .replace(r#""evidence":{"#, r#""evidence":{"withoutTests":["tdd"],"#);
    environment.write(".taskmaster/config.json", &settings);
    let (status, answer) = environment.verify(&[]);
    assert_eq!(status, 0, "{answer:#}");
    assert_eq!(standings(&answer)[2], "without_tests");
    let text = environment.tm(&["verify"]);
    assert!(
        text.contains("3 of 4 commits were earned, 1 may be without tests by the settings"),
        "{text}"
    );
}

#[test]
fn what_a_workflow_never_asks_tests_for_is_not_earned() {
    let environment = TestEnvironment::new(false);
    environment.write(
        ".taskmaster/workflows/quick.yaml",
        "\
tramline: 1
id: quick
title: Done and committed
inputs: { taskId: string, maxAttempts: { type: int, default: 3 } }
uses:
  repository: {}
  tasks: { id: =inputs.taskId, attempts: =inputs.maxAttempts, into: subtasks }
  tests: {}
items:
  subtasks:
    key: id
    needs: dependencies
    fields: { id: string, title: string, description: string, details: string, testStrategy: string, acceptanceCriteria: [string], dependencies: [string] }
initial: branch
states:
  branch: { route: [ { do: git.branch, to: subtasks } ] }
  subtasks:
    each: { items: subtasks, initial: green }
    on: { done: { to: over } }
    states:
      green:
        expects: { tests: { as: green } }
        work: {}
        on: { report: [ { to: commit } ] }
      commit:
        expects: { commit: { of: green } }
        work: {}
        on: { report: [ { check: changed_after_green }, { do: git.commit, to: done } ] }
      done: { final: completed }
  over: { final: completed }
",
    );
    let git = |words: &[&str]| environment.git(words);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "A workflow of our own"]);
    environment.trust(&["workflow", "trust", "quick"]);
    environment.tm(&["run", "start", "quick", "--input", "taskId=1"]);
    for name in ["words", "lines"] {
        environment.write(&format!("src/{name}.sh"), "true\n");
        environment.tm(&["run", "report", "--results", "passed:1,failed:0"]);
        environment.tm(&["run", "report"]);
    }
    let (status, answer) = environment.verify(&["main.."]);
    assert_eq!(status, 3, "{answer:#}");
    assert_eq!(standings(&answer), ["without_tests"; 2]);
    assert_eq!(answer["commits"][0]["workflow"], "quick");
}
