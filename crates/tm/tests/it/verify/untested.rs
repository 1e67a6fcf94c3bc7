//! Commits before which no test failed.

use super::environment::{TestEnvironment, earned, told};

/// The repair that is open is reported and committed, and the run ended.
fn mended(environment: &TestEnvironment) {
    environment.write("src/more.sh", "true\n");
    let green = environment.report(&["words", "lines"], None);
    environment.tm(&format!("autopilot complete green --report {green}"));
    environment.tm("autopilot commit");
    environment.finalize();
}

#[test]
fn a_repair_is_earned_by_the_suite_that_failed() {
    let environment = TestEnvironment::at_the_end(true);
    let failing = environment.report(&["words", "lines"], Some("words"));
    let suite = format!("autopilot finalize --report {failing}");
    assert_eq!(environment.try_tm(&suite, None).status, 3);
    mended(&environment);
    let clone = environment.clone_of_it(true);
    for proof in [environment.verify(""), environment.verify_in(&clone, "")] {
        let repair = &earned(&proof, 4)["commits"][2];
        let about = (&repair["for"], &repair["red"]["failed"]);
        assert_eq!(about, (&"repair".into(), &1.into()));
    }
}

#[test]
fn a_repair_of_what_passed_is_without_tests() {
    let environment = TestEnvironment::at_the_end(true);
    environment.tm("autopilot reopen --reason more");
    mended(&environment);
    let clone = environment.clone_of_it(true);
    for proof in [environment.verify(""), environment.verify_in(&clone, "")] {
        let standings = "earned earned without_tests earned";
        told(&proof, standings, "without_tests");
    }
    let path = ".taskmaster/config.json";
    let settings = environment.read(path);
    let allowed = r#""evidence":{"withoutTests":["tdd"],"#;
    environment.write(path, settings.replace(r#""evidence":{"#, allowed));
    let answer = environment.verify("").ok();
    assert_eq!(answer["commits"][2]["standing"], "without_tests");
    let text = environment.tm("verify");
    let said = "3 of 4 commits were earned, 1 may be without tests by the settings";
    assert!(text.contains(said), "{text}");
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
      green: { expects: { tests: { as: green } }, work: {}, to: commit }
      commit:
        expects: { commit: { of: green } }
        work: {}
        on: { report: [ { check: changed_after_green }, { do: git.commit, to: done } ] }
      done: { final: completed }
  over: { final: completed }
",
    );
    environment.commit_all("A workflow of our own");
    environment.trust(&["workflow", "trust", "quick"]);
    environment.tm("run start quick --input taskId=1");
    for name in ["words", "lines"] {
        environment.write(&format!("src/{name}.sh"), "true\n");
        environment.tm("run report --results passed:1,failed:0");
        environment.tm("run report");
    }
    let proof = environment.verify("main..");
    let both = "without_tests without_tests";
    let answer = told(&proof, both, both);
    assert_eq!(answer["commits"][0]["workflow"], "quick");
}
