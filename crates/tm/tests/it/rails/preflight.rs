//! What must hold before a run: each check refuses with a code of its own, in the plan as in the start.

use journal::layout::short_name;
use serde_json::json;

use super::environment::{BRANCH, CONFIG, SETTINGS, TASKS, TASKS_FILE, TestEnvironment, tells};
use testkit::Outcome;

/// Plan and start are refused alike, and make nothing.
fn check(env: &TestEnvironment, words: &str, code: &str, way_out: &str) -> Outcome {
    let plan = env.refuses(&format!("{words} --dry-run"), code);
    let answer = env.refuses(words, code);
    tells(plan.suggestion(), &[way_out]);
    tells(answer.suggestion(), &[way_out]);
    // A start that is refused leaves no folder behind.
    assert!(!env.store().exists());
    answer
}

#[test]
fn there_must_be_a_working_tree() {
    let mut env = TestEnvironment::bare();
    env.git(&["init", "--quiet", "--bare", "--template=", "bare.git"]);
    env.cwd = env.project().join("bare.git");
    check(&env, "start 1", "not_a_repository", "git worktree add");
}

#[test]
fn nothing_else_may_be_under_way_and_no_path_unmerged() {
    // A repository with two branches that change the same line, and a change of it that was stashed before.
    let env = TestEnvironment::new();
    env.write("README.md", "mine\n");
    env.git(&["stash", "push", "--quiet"]);
    env.git(&["switch", "--quiet", "--create", "other"]);
    env.commit_file("README.md", "theirs\n");
    env.switch("main");
    env.commit_file("README.md", "ours\n");
    env.save(0);
    let under_way = "operation_under_way";
    for (begin, code, way_out) in [
        ("merge other", under_way, "git merge --abort"),
        ("stash apply", "operation_under_way", "git add"),
    ] {
        env.git_fails(&begin.split(' ').collect::<Vec<_>>());
        check(&env, "start 1 --allow-dirty", code, way_out);
        env.restore(0);
    }
    env.git(&["bisect", "start"]);
    check(&env, "start 1", under_way, "git bisect reset");
    env.git(&["bisect", "reset"]);
    env.auto("start 1").ok();
}

#[test]
fn the_tree_must_be_clean_and_every_change_is_listed() {
    let env = TestEnvironment::new();
    // The tasks and the tag of the project may be changed.
    env.write(TASKS_FILE, TASKS.replace("Tabs too.", "Tabs."));
    env.write(".taskmaster/state.json", r#"{"currentTag": "master"}"#);
    env.write("ignored.tmp", "ignored\n");
    env.auto("start 1 --dry-run").ok();
    env.git(&["mv", "README.md", "READ.md"]);
    env.write(".gitignore", "*.tmp\n*.log\n");
    env.write("a new file.txt", "new\n");
    let answer = check(&env, "start 1", "dirty_tree", "--allow-dirty");
    let files = &answer.json()["error"]["details"]["files"];
    let changed = [".gitignore", "READ.md", "README.md", "a new file.txt"];
    assert_eq!(files, &json!(changed));

    // Both ways to permit it do.
    env.auto("start 1 --allow-dirty --dry-run").ok();
    let settings = r#"{"test": {"command": "x"}, "autopilot": {"requireCleanWorkingTree": false}}"#;
    env.write(SETTINGS, settings);
    env.auto("start 1").ok();
}

#[test]
fn a_test_command_must_be_known() {
    let env = TestEnvironment::with(TASKS, "{}");
    check(&env, "start 1", "no_test_command", "test.command");
    let manifest = "[package]\nname = \"words\"\nversion = \"0.1.0\"\n";
    env.commit_file("Cargo.toml", manifest);
    let plan = env.auto("start 1 --dry-run").ok();
    tells(&plan["testCommand"], &["\"cargo test"]);
}

#[test]
fn the_task_must_be_there_and_have_something_left_to_do() {
    let env = TestEnvironment::new();
    check(&env, "start 99", "not_found", "1");
    check(&env, "start 1.1", "not_found", "`1`");
    check(&env, "start 1 --tag elsewhere", "not_found", "master");
    check(&env, "start 3", "all_done", "pending");
    env.delete(TASKS_FILE);
    check(&env, "start 1", "tasks_missing", "--title");
}

#[test]
fn what_the_task_builds_on_must_be_done() {
    let env = TestEnvironment::new();
    let answer = check(&env, "start 2", "needs_unmet", "");
    tells(answer.message(), &["1 (pending)"]);
    for status in ["done", "completed", "cancelled", "review"] {
        let mut tasks: serde_json::Value = serde_json::from_str(TASKS).unwrap();
        tasks["master"]["tasks"][0]["status"] = json!(status);
        env.write(TASKS_FILE, tasks.to_string());
        let plan = env.auto("start 2 --dry-run").ok();
        let warned = plan["warnings"].to_string().contains("in review");
        assert_eq!(warned, status == "review", "{status}: {plan}");
    }
}

#[test]
fn what_is_deferred_is_left_out_and_listed() {
    let tasks = r#"{"tasks": [{"id": 1, "title": "t", "status": "pending", "subtasks": [
        {"id": 1, "title": "a", "status": "deferred"}, {"id": 3, "title": "c", "status": "pending"}]}]}"#;
    let env = TestEnvironment::with(tasks, CONFIG);
    let plan = env.auto("start 1 --dry-run").ok();
    tells(&plan["leftOut"], &["1.1"]);
    env.write(TASKS_FILE, tasks.replace("pending\"}", "blocked\"}"));
    check(&env, "start 1", "needs_unmet", "pending");
}

#[test]
fn a_second_run_is_refused_whatever_its_tag() {
    let later = r#"{"later": {"tasks": [{"id": 8, "title": "Later", "status": "pending"}]}, "#;
    let env = TestEnvironment::with(&TASKS.replacen('{', later, 1), CONFIG);
    let start = |words| env.auto(words).ok()["runId"].as_str().unwrap().to_owned();
    let first = start("start 1");
    for words in ["4", "1", "8 --tag later", "4 --dry-run"] {
        let answer = env.refuses(&format!("start {words}"), "run_active");
        tells(answer.message(), &[&short_name(&first)]);
        tells(answer.suggestion(), &["--force", "tm autopilot abort"]);
    }
    // Nor does a start that is refused end one.
    env.comes_to("start 99 --force", "not_found");
    assert_eq!(env.status("status"), "running");
    // A run that is paused is not in the way; one that is superseded is over.
    env.auto("pause").ok();
    env.switch("main");
    let second = start("start 8 --tag later");
    let resume = format!("resume --run-id {first}");
    env.refused(&resume, 3, "wrong_branch", "git switch");
    env.switch(BRANCH);
    env.refused(&resume, 5, "run_active", "tm autopilot abort");
    env.switch("main");
    env.auto("start 4 --force").ok();
    for (run, status) in [(second, "aborted"), (first, "paused")] {
        assert_eq!(env.tm(&["runs", "show", &run]).ok()["status"], status);
    }
}

#[test]
fn mistakes_in_settings_and_tasks_have_a_place() {
    let env = TestEnvironment::with(TASKS, "{\n  \"test\": {,}\n}");
    for words in ["start 1 --dry-run", "start 1"] {
        env.refused(words, 6, "config_invalid", "config.json:2:12");
    }
    assert!(!env.store().exists());
    let env = TestEnvironment::with(TASKS, r#"{"autopilot": {"enabled": false}}"#);
    check(&env, "start 1", "beyond_settings", "autopilot.enabled");
    let env = TestEnvironment::with("{\n  \"tasks\": [,]\n}", CONFIG);
    let refused = check(&env, "start 1", "tasks_invalid", "");
    tells(refused.message(), &["tasks.json:2:13"]);
}

#[test]
fn a_dry_run_touches_nothing_and_shows_what_is_made() {
    let env = TestEnvironment::new();
    env.commit_file("go.mod", "module example.org/acme/words\n");
    let before = env.everything();
    let plan = env.auto("start 1 --dry-run").ok();
    before.assert_same(&env.everything(), "the plan");
    assert_eq!(plan["branch"], BRANCH);
    assert_eq!(plan["subtasks"][1]["dependencies"], json!(["1.1"]));
    let planned = plan["subtasks"][0]["commitMessage"].as_str().unwrap();
    assert_eq!(planned, "feat(words): count by spaces (task 1.1)");
    env.auto("start 1").ok();
    env.subtask();
    assert_eq!(env.message().lines().next(), Some(planned));
}
