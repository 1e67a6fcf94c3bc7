//! Every stop has a way out, and each is journalled and reported.

use serde_json::{Value, json};

use super::environment::{CONFIG, TestEnvironment};
use testkit::person::key;

/// One task whose three subtasks have nothing to do with each other, but for the last.
const APART: &str = r#"{"tasks": [{"id": 1, "title": "Three", "status": "pending", "subtasks": [
  {"id": 1, "title": "One", "status": "pending"},
  {"id": 2, "title": "Two", "status": "pending"},
  {"id": 3, "title": "Three", "status": "pending", "dependencies": [1]}]}]}
"#;

fn report(env: &TestEnvironment) -> Value {
    env.tm(&["runs", "report"]).ok()
}

fn skip(env: &TestEnvironment, words: &[&str]) -> Value {
    let mut arguments = vec!["autopilot", "skip"];
    arguments.extend(words);
    arguments.extend(["--reason", "makes no sense"]);
    env.tm(&arguments).ok()
}

#[test]
fn reopen_goes_back_one_phase_at_a_time() {
    let env = TestEnvironment::started();
    env.refused("reopen", 3, "cannot_reopen", "tm autopilot next");
    env.red();
    env.auto("complete green --results failed:1,passed:1");
    env.green();
    let moved = env
        .tm(&["autopilot", "reopen", "--reason", "the linter"])
        .ok();
    assert_eq!(moved["nextAction"]["unitId"], "workUnit-1.1-GREEN-3");
    assert_eq!(
        moved["nextAction"]["attempt"], 2,
        "attempts are not given back"
    );
    let moved = env
        .tm(&["autopilot", "reopen", "--reason", "the test is wrong"])
        .ok();
    assert_eq!(moved["nextAction"]["unitId"], "workUnit-1.1-RED-2");
    env.refused("reopen", 3, "cannot_reopen", "tm autopilot next");
    env.write("tests/1.1.sh", "another test\n");
    env.auto("complete red --results failed:3,passed:0").ok();
    env.write("src/1.1.sh", "other code\n");
    env.refused(
        "complete green --results failed:0,passed:2",
        3,
        "fewer_tests",
        "tm autopilot reopen",
    );
    env.auto("complete green --results failed:0,passed:3").ok();
    env.auto("commit").ok();
    let reopened = report(&env)["reopened"].clone();
    assert_eq!(reopened[0]["from"], "commit");
    assert_eq!(reopened[0]["to"], "green");
    assert_eq!(reopened[0]["reason"], "the linter");
    assert_eq!(reopened[1]["to"], "red");
    assert_eq!(reopened[1]["reason"], "the test is wrong");
}

#[test]
fn reopen_at_the_end_opens_a_repair() {
    let env = TestEnvironment::started();
    env.to_finalize();
    let moved = env.auto("reopen --reason a-typo").ok();
    assert_eq!(moved["nextAction"]["unitId"], "workUnit-1.fix-1-GREEN");
    env.refused("reopen", 3, "nothing_before", "tm autopilot skip");
    env.write("src/1.1.sh", "mended\n");
    // A repair has no RED: it is held against the last accepted report.
    env.refused(
        "complete green --results failed:0,passed:1",
        3,
        "fewer_tests",
        "missing tests",
    );
    env.auto("complete green --results failed:0,passed:2").ok();
    let made = env.auto("commit").ok();
    assert!(
        made["message"].as_str().unwrap().starts_with("fix"),
        "{made}"
    );
    assert_eq!(made["nextAction"]["unitId"], "workUnit-1-FINALIZE-2");
    env.auto("finalize --results failed:0,passed:2").ok();
}

#[test]
fn a_failing_suite_is_repaired_until_it_passes() {
    let env = TestEnvironment::started();
    env.to_finalize();
    for n in 1..=3 {
        let failing = env.auto("finalize --results failed:1,passed:2");
        assert_eq!(
            (failing.status, failing.code()),
            (3, "suite_failing"),
            "{failing:#?}"
        );
        super::advice::check(&env, &failing);
        assert_eq!(failing.json()["nextAction"]["action"], "green");
        assert_eq!(
            failing.json()["nextAction"]["subtask"]["id"],
            format!("1.fix-{n}")
        );
        env.write("src/fix.sh", format!("{n}\n"));
        env.auto("complete green --results failed:0,passed:3").ok();
        env.auto("commit").ok();
    }
    env.auto("finalize --results failed:0,passed:3").ok();
    // Two subtasks, three repairs, and the task's status.
    assert_eq!(env.git(&["rev-list", "--count", "main..HEAD"]), "6");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    let suites = report(&env)["failedSuites"].clone();
    assert_eq!(suites.as_array().map(Vec::len), Some(3), "{suites}");
}

/// The suite failed once, by accident: there is nothing to mend, and nothing to give up either.
#[test]
fn a_repair_of_what_passes_again_is_closed_without_a_commit() {
    let env = TestEnvironment::started();
    env.to_finalize();
    let head = env.head();
    env.auto("finalize --results failed:1,passed:2");
    let green = env.auto("complete green --results failed:0,passed:3").ok();
    assert_eq!(green["nextAction"]["action"], "finalize", "{green}");
    let warning = green["warning"].as_str().unwrap();
    assert!(warning.contains("nothing was changed"), "{warning}");
    assert_eq!(env.head(), head);
    let end = env.auto("finalize --results failed:0,passed:3").ok();
    assert_eq!(end["nextAction"]["status"], "completed", "{end}");
    // Where something was mended, it is committed as ever.
    let env = TestEnvironment::started();
    env.to_finalize();
    env.auto("finalize --results failed:1,passed:2");
    env.write("src/fix.sh", "mended\n");
    let green = env.auto("complete green --results failed:0,passed:3").ok();
    assert_eq!(green["nextAction"]["action"], "commit", "{green}");
}

#[test]
fn a_repair_can_be_skipped() {
    let env = TestEnvironment::started();
    env.to_finalize();
    env.auto("finalize --results failed:1,passed:2");
    skip(&env, &["1.fix-1"]);
    let end = env.auto("finalize --results failed:0,passed:2").ok();
    assert_eq!(end["nextAction"]["status"], "failed");
}

#[test]
fn skip_bars_what_depends_on_it_and_the_run_ends_failed() {
    let env = TestEnvironment::with(APART, CONFIG);
    env.auto("start 1").ok();
    env.refused(
        "skip 1.2 --reason x",
        3,
        "not_present",
        "tm autopilot status",
    );
    env.refused("skip 9 --reason x", 3, "not_present", "tm autopilot status");
    env.refused_of(
        &["autopilot", "skip", "--reason", " "],
        2,
        "no_reason",
        "tm autopilot skip",
    );
    let moved = skip(&env, &["1.1"]);
    assert_eq!(moved["nextAction"]["unitId"], "workUnit-1.2-RED");
    let status = env.auto("status").ok();
    assert_eq!(status["progress"]["failed"], json!(["1.1"]));
    env.subtask();
    let end = env.auto("finalize --results failed:0,passed:2").ok();
    assert_eq!(end["nextAction"]["status"], "failed");
    let tasks: Value = serde_json::from_str(&env.read(".taskmaster/tasks/tasks.json")).unwrap();
    let task = &tasks["tasks"][0];
    assert_eq!(
        task["status"], "pending",
        "the task's own status is left alone"
    );
    let statuses: Vec<&Value> = (0..3).map(|n| &task["subtasks"][n]["status"]).collect();
    assert_eq!(statuses, ["pending", "done", "pending"]);
    let report = report(&env);
    assert_eq!(report["status"], "failed");
    assert_eq!(report["skipped"][0]["subtaskId"], "1.1");
    assert_eq!(report["skipped"][0]["reason"], "makes no sense");
    assert_eq!(report["notRun"], json!(["1.3"]), "{report}");
    assert_eq!(report["totals"]["failed"], 1);
    assert!(end["report"].as_str().unwrap().contains("1.3"), "{end}");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    // The next run does what is left.
    env.git(&["switch", "--quiet", "main"]);
    env.auto("start 1 --branch again").ok();
}

#[test]
fn skip_at_the_end_ends_the_run() {
    let env = TestEnvironment::started();
    env.to_finalize();
    let moved = skip(&env, &[]);
    assert_eq!(moved["nextAction"]["status"], "failed");
    assert!(
        moved["report"].as_str().unwrap().starts_with('#'),
        "{moved}"
    );
    env.refused(
        "finalize --results failed:0,passed:2",
        3,
        "run_over",
        "tm runs report",
    );
}

#[test]
fn what_is_still_owed_at_a_bad_end_is_listed() {
    let env = TestEnvironment::started();
    env.to_commit();
    env.git(&["add", "src", "tests"]);
    env.git(&["commit", "--quiet", "--message", "Mine"]);
    env.auto("commit --sha HEAD").ok();
    skip(&env, &["1.2"]);
    env.auto("finalize --results failed:0,passed:2").ok();
    let report = report(&env);
    assert_eq!(report["status"], "failed");
    assert_eq!(report["owedStatuses"], json!(["1.1"]));
}

#[test]
fn files_of_a_subtask_that_was_skipped_stay_out() {
    let env = TestEnvironment::with(APART, CONFIG);
    env.auto("start 1").ok();
    env.red();
    env.write("src/left.sh", "left\n");
    env.write("README.md", "changed and left\n");
    skip(&env, &[]);
    env.subtask();
    assert_eq!(
        env.git(&["show", "--format=", "--name-only", "HEAD"]),
        ".taskmaster/tasks/tasks.json\nsrc/1.2.sh\ntests/1.2.sh"
    );
    assert_eq!(
        env.git(&["status", "--porcelain"]),
        " M README.md\n?? src/left.sh\n?? tests/1.1.sh"
    );
    // The suite would be run with them.
    let finalize = "finalize --results failed:0,passed:2";
    env.refused(finalize, 3, "changed_after_commit", "git stash push");
    env.git(&["stash", "push", "--include-untracked"]);
    env.auto(finalize).ok();
}

#[test]
fn files_of_a_subtask_that_was_skipped_go_in_once_the_next_one_takes_them_on() {
    let env = TestEnvironment::with(APART, CONFIG);
    env.auto("start 1").ok();
    env.red();
    env.write("src/left.sh", "left\n");
    skip(&env, &[]);
    env.red();
    // One by changing it, the other by naming it.
    env.write("src/left.sh", "taken on\n");
    env.green_with("--files src/left.sh,src/1.2.sh,tests/1.2.sh,tests/1.1.sh");
    env.auto("commit --files src/left.sh,src/1.2.sh,tests/1.2.sh,tests/1.1.sh")
        .ok();
    assert_eq!(
        env.git(&["show", "--format=", "--name-only", "HEAD"]),
        ".taskmaster/tasks/tasks.json\nsrc/1.2.sh\nsrc/left.sh\ntests/1.1.sh\ntests/1.2.sh"
    );
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

/// What a report named is committed with what the next ones name.
#[test]
fn a_subtask_that_is_reopened_takes_its_files_on_again() {
    let env = TestEnvironment::with(APART, CONFIG);
    env.auto("start 1").ok();
    env.write("tests/1.1.sh", "test -f src/1.1.sh\n");
    skip(&env, &[]);
    env.auto("reopen 1.1 --reason again").ok();
    let red = "complete red --results failed:1,passed:0";
    env.refused(red, 3, "red_without_tests", "--files");
    let told = env.auto(&format!("{red} --files tests/1.1.sh")).ok();
    assert_eq!(told["validated"], true, "{told:#}");
    env.write("src/1.1.sh", "done\n");
    env.auto("complete green --results failed:0,passed:1").ok();
    env.auto("commit").ok();
    assert_eq!(
        env.git(&["show", "--format=", "--name-only", "HEAD"]),
        ".taskmaster/tasks/tasks.json\nsrc/1.1.sh\ntests/1.1.sh"
    );
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

#[test]
fn cleaning_up_never_loses_work() {
    let env = TestEnvironment::started();
    env.refused("abort --cleanup", 3, "needs_terminal", "person");
    env.subtask();
    let key = key(&env.store());
    let sign = format!("--sign {key}");
    env.refused(
        &format!("abort --cleanup {sign}"),
        3,
        "unmerged_work",
        "--force",
    );
    env.auto("status").ok();
    let run = env.run_folder();
    env.auto(&format!("abort --cleanup --force {sign}")).ok();
    assert!(!run.exists());
    assert_eq!(env.git(&["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(env.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    env.refused("next", 4, "no_run", "tm autopilot start");
    env.auto("start 1").ok();

    // Merged, there is nothing to lose.
    env.subtask();
    env.git(&["branch", "--force", "main", "HEAD"]);
    env.auto(&format!("abort --cleanup {sign}")).ok();
    assert_eq!(env.git(&["branch", "--format=%(refname:short)"]), "main");
}

/// Why one subtask was skipped is no order for the next, nor for the suite at the end.
#[test]
fn the_reason_of_a_skip_stays_with_what_was_skipped() {
    let env = TestEnvironment::with(APART, CONFIG);
    env.auto("start 1").ok();
    for _ in 0..2 {
        env.tm(&["autopilot", "skip", "--reason", "out of scope"])
            .ok();
        let next = env.auto("next").ok();
        let text = next["instructions"].as_str().unwrap_or_default();
        assert!(!text.contains("out of scope"), "{text}");
        assert!(!text.contains("was reopened"), "{text}");
    }
}
