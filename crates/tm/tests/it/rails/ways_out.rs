//! Every stop has a way out, and each is journalled and reported.

use serde_json::{Value, json};

use super::environment::{CONFIG, FINALIZE, TestEnvironment, tells};
use testkit::person::key;

/// One task whose three subtasks have nothing to do with each other, but for the last.
const APART: &str = r#"{"tasks": [{"id": 1, "title": "Three", "status": "pending", "subtasks": [
  {"id": 1, "title": "One", "status": "pending"},
  {"id": 2, "title": "Two", "status": "pending"},
  {"id": 3, "title": "Three", "status": "pending", "dependencies": [1]}]}]}
"#;

const SKIP: &str = "skip --reason no-sense";

/// What is next behind a command that succeeds.
fn moved(env: &TestEnvironment, words: &str) -> Value {
    env.auto(words).ok()["nextAction"].take()
}

#[test]
fn reopen_goes_back_one_phase_at_a_time() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.refused("reopen", 3, "not_possible", "tm autopilot next");
    env.to_commit();
    for unit in ["GREEN-2", "RED-2"] {
        let next = moved(&env, &format!("reopen --reason {unit}"));
        assert_eq!(next["unitId"], format!("workUnit-1.1-{unit}"));
    }
    env.refused("reopen", 3, "not_possible", "tm autopilot next");
    env.write("tests/1.1.sh", "another test\n");
    env.auto("complete red --results failed:3,passed:0").ok();
    env.write("src/1.1.sh", "other code\n");
    env.auto("complete green --results failed:0,passed:3").ok();
    let reopened = &env.report()["reopened"];
    let told = ["reason", "from", "to"].map(|key| &reopened[1][key]);
    assert_eq!(told, ["RED-2", "green", "red"]);
}

const FAILING: &str = "finalize --results failed:1,passed:2";

const REPAIRED: &str = "complete green --results failed:0,passed:3";

#[test]
fn a_failing_suite_is_repaired_until_it_passes() {
    testkit::by_chance!(3);
    let env = TestEnvironment::at_the_end();
    for n in 1..=2 {
        let failing = env.comes_to(FAILING, "suite_failing");
        let next = &failing.json()["nextAction"];
        assert_eq!(next["unitId"], format!("workUnit-1.fix-{n}-GREEN"));
        env.refused("reopen", 3, "nothing_before", "tm autopilot skip");
        env.write("src/fix.sh", format!("{n}\n"));
        assert_eq!(moved(&env, REPAIRED)["action"], "commit");
        tells(&env.commit()["message"], &["\"fix"]);
    }
    env.auto("finalize --results failed:0,passed:3").ok();
    // Two subtasks, two repairs, and the task's status.
    assert_eq!((env.commits(), env.changes()), ("5".into(), String::new()));
    let suites = env.report()["failedSuites"].take();
    assert_eq!(suites.as_array().map(Vec::len), Some(2), "{suites}");
}

/// The suite failed once, by accident: there is nothing to mend, and nothing to give up either, which would end the run badly.
#[test]
fn a_repair_is_skipped_or_closed_without_a_commit_where_all_passes_again() {
    testkit::by_chance!(3);
    let env = TestEnvironment::at_the_end();
    let head = env.head();
    env.auto(FAILING);
    env.save(0);
    env.auto("skip 1.fix-1 --reason no").ok();
    assert_eq!(moved(&env, FINALIZE)["status"], "failed");
    env.restore(0);
    let green = env.auto(REPAIRED).ok();
    assert_eq!(green["nextAction"]["action"], "finalize", "{green}");
    tells(&green["warning"], &["nothing was changed"]);
    assert_eq!(env.head(), head);
    let end = moved(&env, "finalize --results failed:0,passed:3");
    assert_eq!(end["status"], "completed", "{end}");
}

#[test]
fn skip_bars_what_depends_on_it_and_the_run_ends_failed() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started_on(APART, CONFIG);
    for id in ["1.2", "9"] {
        env.refuses(&format!("skip {id} --reason x"), "not_present");
    }
    env.refuses_of(&["autopilot", "skip", "--reason", " "], "usage");
    let next = moved(&env, "skip 1.1 --reason no-sense");
    assert_eq!(next["unitId"], "workUnit-1.2-RED");
    // Why it was skipped is no order for the next.
    let told = env.next()["instructions"].to_string();
    assert!(!told.contains("no-sense"), "{told}");
    env.subtask();
    let end = env.auto(FINALIZE).ok();
    assert_eq!(end["nextAction"]["status"], "failed");
    // The task's own status is left alone.
    let task = &env.tasks()[0];
    let subtasks = [0, 1, 2].map(|n| &task["subtasks"][n]["status"]);
    assert_eq!(subtasks, ["pending", "done", "pending"]);
    assert_eq!(task["status"], "pending");
    let report = env.report();
    let skipped = &report["skipped"][0];
    let told = json!([skipped["subtaskId"], skipped["reason"], report["notRun"]]);
    assert_eq!(told, json!(["1.1", "no-sense", ["1.3"]]), "{report}");
    assert_eq!(env.changes(), "");
    // The next run does what is left.
    env.switch("main");
    env.auto("start 1 --branch again").ok();
}

#[test]
fn what_is_still_owed_at_a_bad_end_is_listed() {
    testkit::by_chance!(3);
    let env = TestEnvironment::in_commit();
    env.commit_by_hand(&["src", "tests"]);
    env.auto("commit --sha HEAD").ok();
    env.auto(SKIP).ok();
    env.auto(FINALIZE).ok();
    let report = env.report();
    assert_eq!(report["status"], "failed");
    assert_eq!(report["owedStatuses"], json!(["1.1"]));
}

#[test]
fn files_of_a_subtask_that_was_skipped_stay_out_until_the_next_one_takes_them_on() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started_on(APART, CONFIG);
    env.red();
    env.write("src/left.sh", "left\n");
    env.write("README.md", "changed and left\n");
    env.auto(SKIP).ok();
    env.red();
    env.save(0);
    env.green();
    env.commit();
    assert_eq!(env.committed(), TestEnvironment::files_of("1.2"));
    let left = " M README.md\n?? src/left.sh\n?? tests/1.1.sh";
    assert_eq!(env.changes(), left);
    // The suite would be run with them.
    env.refused(FINALIZE, 3, "changed_after_commit", "tm autopilot reopen");
    env.git(&["stash", "push", "--include-untracked"]);
    env.auto(FINALIZE).ok();

    // One is taken on by changing it, the other by naming it.
    env.restore(0);
    env.write("src/left.sh", "taken on\n");
    let files = "--files src/left.sh,src/1.2.sh,tests/1.2.sh,tests/1.1.sh";
    env.green_with(files);
    env.auto(&format!("commit {files}")).ok();
    let taken = "src/left.sh\ntests/1.1.sh\ntests/1.2.sh";
    tells(env.committed(), &[taken]);
    assert_eq!(env.changes(), " M README.md");
}

/// What a report named is committed with what the next ones name.
#[test]
fn a_subtask_that_is_reopened_takes_its_files_on_again() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started_on(APART, CONFIG);
    env.write("tests/1.1.sh", "test -f src/1.1.sh\n");
    env.auto(SKIP).ok();
    env.auto("reopen 1.1 --reason again").ok();
    let red = "complete red --results failed:1,passed:0";
    env.refused(red, 3, "red_without_tests", "--files");
    let told = env.auto(&format!("{red} --files tests/1.1.sh")).ok();
    assert_eq!(told["validated"], true, "{told:#}");
    env.write("src/1.1.sh", "done\n");
    env.auto("complete green --results failed:0,passed:1").ok();
    env.commit();
    assert_eq!(env.committed(), TestEnvironment::files_of("1.1"));
    assert_eq!(env.changes(), "");
}

#[test]
fn cleaning_up_never_loses_work() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.refused("abort --cleanup", 3, "needs_person", "person");
    env.subtask();
    let cleanup = format!("abort --cleanup --sign {}", key(&env.store()));
    let refused = env.refused(&cleanup, 3, "unmerged_work", "--force");
    insta::assert_snapshot!(refused.json()["error"]["message"].as_str().unwrap(), @"`master/task-1-count-the-words` has 1 commit that `main` does not have");
    let run = env.run_folder();
    env.auto(&format!("{cleanup} --force")).ok();
    assert!(!run.exists());
    assert_eq!([env.branch(), env.branches()], ["main"; 2]);
    env.refused("next", 4, "no_run", "tm autopilot start");
    env.auto("start 1").ok();

    // Merged, there is nothing to lose.
    env.subtask();
    env.git(&["branch", "--force", "main", "HEAD"]);
    env.auto(&cleanup).ok();
    assert_eq!(env.branches(), "main");
}
