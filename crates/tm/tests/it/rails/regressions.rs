//! What once went wrong, one test each.

use super::environment::TestEnvironment;

#[test]
fn a_rewritten_history_that_a_policy_lets_pass_still_ends_in_a_commit() {
    let env = TestEnvironment::started_with(
        r#"{"test":{"command":"sh tests/run.sh"},"evidence":{"policy":{"history_rewritten":"warn"}}}"#,
    );
    env.subtask();
    env.git(&["commit", "--quiet", "--amend", "--message", "Amended"]);
    env.to_commit();
    let made = env.auto("commit").ok();
    assert_eq!(made["commitSha"], env.head());
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_forced_start_that_is_refused_ends_no_run() {
    let env = TestEnvironment::started();
    let answer = env.auto("start 99 --force");
    assert_eq!((answer.status, answer.code()), (4, "unknown_task"));
    assert_eq!(env.auto("status").ok()["status"], "running");
}

#[test]
fn a_commit_is_made_although_a_hook_behind_it_rewrote_it() {
    let env = TestEnvironment::started();
    env.to_commit();
    env.hook(
        "post-commit",
        "[ -n \"$AGAIN\" ] || AGAIN=1 git commit --quiet --amend --no-verify --date=now --reset-author --no-edit\n",
    );
    let made = env.auto("commit").ok();
    assert_eq!(made["commitSha"], env.head());
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert_eq!(env.auto("status").ok()["commits"], 1);
}

#[test]
fn what_was_dirty_before_stays_out_of_a_commit_that_the_executor_made() {
    let env = TestEnvironment::new();
    env.write("mine.txt", "work in progress");
    env.auto("start 1 --allow-dirty").ok();
    env.to_commit();
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message", "All of it"]);
    let answer = env.auto("commit --sha HEAD");
    assert_eq!((answer.status, answer.code()), (3, "was_dirty"));
}

#[test]
fn a_secret_in_a_commit_that_the_executor_made_is_refused() {
    let env = TestEnvironment::started();
    env.to_commit();
    env.write(".env", "TOKEN=1");
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message", "All of it"]);
    let answer = env.auto("commit --sha HEAD");
    assert_eq!((answer.status, answer.code()), (3, "secret_file"));
}

#[test]
fn an_empty_commit_of_somebody_else_is_told_at_the_end() {
    let env = TestEnvironment::started();
    env.to_finalize();
    env.git(&["commit", "--quiet", "--allow-empty", "--message", "Empty"]);
    env.refused(
        "finalize --results failed:0,passed:2",
        3,
        "foreign_commit",
        "tm autopilot reopen",
    );
}

#[test]
fn a_hook_that_refuses_the_last_commit_does_not_hold_the_run() {
    let env = TestEnvironment::started();
    env.to_finalize();
    env.hook("pre-commit", "echo no; exit 1\n");
    let ended = env.auto("finalize --results failed:0,passed:2").ok();
    assert_eq!(ended["nextAction"]["action"], "complete");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    let report = ended["report"].as_str().unwrap();
    assert!(report.contains("commit_refused"), "{report}");
}

#[test]
fn a_hook_that_demands_a_sign_off_lets_every_commit_of_the_run_pass() {
    let config = r#"{"test": {"command": "x"}, "git": {"signoff": true}}"#;
    let env = TestEnvironment::started_with(config);
    env.hook("commit-msg", "grep -q '^Signed-off-by: ' \"$1\"\n");
    let name = env.git(&["config", "user.name"]);
    let own = format!(
        "Signed-off-by: {name} <{}>",
        env.git(&["config", "user.email"])
    );
    env.to_commit();
    let message = format!("Count\n\n{own}");
    env.tm(&["autopilot", "commit", "--message", &message]).ok();
    assert_eq!(env.git(&["log", "-1", "--format=%B"]), message);
    env.to_finalize();
    env.auto("finalize --results failed:0,passed:2").ok();
    let trailers = "--format=%(trailers:key=Signed-off-by,separator=%x2C)";
    let signed = env.git(&["log", trailers, "main..HEAD"]);
    assert_eq!(signed.lines().collect::<Vec<_>>(), [&*own; 3]);
    let last = env.git(&["log", "-1", "--format=%B"]);
    assert!(
        last.starts_with("chore(tasks): set task 1 to review\n"),
        "{last}"
    );
}

#[test]
fn a_subtask_that_is_gone_from_the_file_blocks_nothing() {
    let env = TestEnvironment::started();
    env.to_commit();
    let tasks = env.read(".taskmaster/tasks/tasks.json");
    let renamed = tasks.replacen("\"subtasks\"", "\"formerSubtasks\"", 1);
    assert_ne!(tasks, renamed);
    env.write(".taskmaster/tasks/tasks.json", renamed);
    let made = env.auto("commit").ok();
    assert_eq!(made["commitSha"], env.head());
}

#[test]
fn tests_that_vanish_behind_a_red_that_does_not_compile_are_missed() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "x");
    env.auto("complete red --results failed:1,passed:0").ok();
    env.write("src/a.sh", "x");
    env.auto("complete green --results failed:0,passed:20").ok();
    env.auto("commit").ok();
    env.write("tests/b.sh", "x");
    env.auto("complete red --results errors:1,failed:0,passed:0")
        .ok();
    env.write("src/b.sh", "x");
    env.refused(
        "complete green --results failed:0,passed:1",
        3,
        "fewer_tests",
        "tm autopilot reopen",
    );
    env.auto("complete green --results failed:0,passed:21").ok();
}

#[test]
fn build_products_are_named_before_they_get_into_a_commit() {
    let env = TestEnvironment::started();
    env.write("tests/a.py", "x");
    env.write("tests/__pycache__/a.pyc", "x");
    let refused = env.refused(
        "complete red --results failed:1,passed:0",
        3,
        "build_products",
        "--files",
    );
    assert!(refused.suggestion().contains("__pycache__/"), "{refused:?}");
    env.write(".gitignore", "__pycache__/\n");
    env.auto("complete red --results failed:1,passed:0").ok();
}

#[test]
fn a_protected_branch_has_no_case() {
    let env = TestEnvironment::with(
        r#"{"master":{"tasks":[{"id":1,"title":"One","status":"pending","subtasks":[{"id":1,"title":"A","status":"pending"}]}]}}"#,
        r#"{"test":{"command":"true"},"git":{"protectedBranches":["Release"]}}"#,
    );
    env.refused(
        "start 1 --branch release",
        3,
        "on_default_branch",
        "--branch",
    );
}
