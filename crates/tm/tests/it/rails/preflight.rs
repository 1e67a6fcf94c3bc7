//! What must hold before a run: each check refuses with a code of its own, in the plan as in the start.

use std::fs;

use serde_json::json;

use super::environment::{CONFIG, TASKS, TestEnvironment};

/// Plan and start are refused alike, and make nothing.
fn check(env: &TestEnvironment, words: &str, status: i32, code: &str, way_out: &str) -> String {
    env.refused(&format!("{words} --dry-run"), status, code, way_out);
    let answer = env.refused(words, status, code, way_out);
    assert!(env.runs().is_empty(), "{:?}", env.runs());
    assert!(
        !env.store().exists(),
        "a start that is refused leaves no folder behind"
    );
    answer.message().to_owned()
}

#[test]
fn there_must_be_a_repository() {
    let env = TestEnvironment::bare();
    env.write(".taskmaster/tasks/tasks.json", TASKS);
    env.write(".taskmaster/config.json", CONFIG);
    check(&env, "start 1", 3, "not_a_repository", "git init");
}

#[test]
fn it_must_have_a_working_tree() {
    let mut env = TestEnvironment::bare();
    env.git(&["init", "--quiet", "--bare", "--template=", "bare.git"]);
    env.cwd = env.project().join("bare.git");
    check(&env, "start 1", 3, "bare_repository", "git worktree add");
}

#[test]
fn it_must_have_a_commit() {
    let env = TestEnvironment::bare();
    env.init();
    env.write(".taskmaster/tasks/tasks.json", TASKS);
    env.write(".taskmaster/config.json", CONFIG);
    check(&env, "start 1", 3, "no_commits", "git commit");
}

/// A repository with two branches that change the same line.
fn two_branches() -> TestEnvironment {
    let env = TestEnvironment::new();
    env.git(&["switch", "--quiet", "--create", "other"]);
    env.write("README.md", "theirs\n");
    env.commit_all("Theirs");
    env.git(&["switch", "--quiet", "main"]);
    env.write("README.md", "ours\n");
    env.commit_all("Ours");
    env
}

#[test]
fn nothing_else_may_be_under_way() {
    for (begin, way_out) in [
        (&["merge", "other"][..], "git merge --abort"),
        (&["rebase", "other"], "git rebase --abort"),
        (&["cherry-pick", "other"], "git cherry-pick --abort"),
        (&["revert", "HEAD~1"], "git revert --abort"),
    ] {
        let env = two_branches();
        env.git_fails(begin);
        check(&env, "start 1", 3, "operation_under_way", way_out);
    }
    let env = two_branches();
    env.git(&["bisect", "start"]);
    check(
        &env,
        "start 1",
        3,
        "operation_under_way",
        "git bisect reset",
    );
    env.git(&["bisect", "reset"]);
    env.auto("start 1").ok();
}

#[test]
fn no_path_may_be_unmerged() {
    let env = two_branches();
    env.write("README.md", "mine\n");
    env.git(&["stash", "push", "--quiet"]);
    env.write("README.md", "changed\n");
    env.commit_all("Changed");
    env.git_fails(&["stash", "apply", "--quiet"]);
    let message = check(&env, "start 1 --allow-dirty", 3, "unmerged", "git add");
    assert!(message.contains("README.md"), "{message}");
}

#[test]
fn somebody_must_have_a_name() {
    for (name, other) in [("user.name", "user.email"), ("user.email", "user.name")] {
        let env = TestEnvironment::new();
        env.git(&["config", "--unset", name]);
        let answer = env.refused("start 1", 3, "no_identity", name);
        assert!(!answer.suggestion().contains(other), "{answer:#?}");
        check(&env, "start 1", 3, "no_identity", "git config");
    }
}

#[test]
fn the_tree_must_be_clean_and_every_change_is_listed() {
    let env = TestEnvironment::new();
    env.write("README.md", "changed\n");
    env.write("a new file.txt", "new\n");
    env.write("staged.txt", "staged\n");
    env.git(&["add", "staged.txt"]);
    env.write("ignored.tmp", "ignored\n");
    let answer = env.refused("start 1", 3, "dirty_tree", "--allow-dirty");
    assert_eq!(
        answer.json()["error"]["details"]["files"],
        json!(["README.md", "a new file.txt", "staged.txt"])
    );
    let message = check(&env, "start 1", 3, "dirty_tree", "--allow-dirty");
    assert!(message.contains("a new file.txt"), "{message}");

    // Both ways to permit it do.
    env.auto("start 1 --allow-dirty --dry-run").ok();
    env.write(
        ".taskmaster/config.json",
        r#"{"test": {"command": "sh run.sh"}, "autopilot": {"requireCleanWorkingTree": false}}"#,
    );
    env.auto("start 1").ok();
}

#[test]
fn a_deleted_file_and_a_rename_are_changes_too() {
    let env = TestEnvironment::new();
    env.git(&["mv", "README.md", "READ.md"]);
    let answer = env.refused("start 1", 3, "dirty_tree", "--allow-dirty");
    assert_eq!(
        answer.json()["error"]["details"]["files"],
        json!(["READ.md", "README.md"])
    );
}

#[test]
fn tasks_and_the_tag_of_the_project_may_be_changed() {
    let env = TestEnvironment::new();
    env.write(
        ".taskmaster/tasks/tasks.json",
        TASKS.replace("Tabs too.", "Tabs."),
    );
    env.write(".taskmaster/state.json", r#"{"currentTag": "master"}"#);
    env.auto("start 1").ok();
}

#[test]
fn a_test_command_must_be_known() {
    let env = TestEnvironment::with(TASKS, "{}");
    check(&env, "start 1", 3, "no_test_command", "test.command");
    env.write("services/uuid/go.mod", "module uuid\n\ngo 1.22\n");
    env.write("services/uuid/uuid_test.go", "package uuid\n");
    env.commit_all("A service");
    let own = "'cd services/uuid && go test";
    check(&env, "start 1", 3, "no_test_command", own);
    fs::remove_dir_all(env.project().join("services")).unwrap();
    let settings = r#"{"test": {"command": "npm run build && npm test"}}"#;
    env.write(".taskmaster/config.json", settings);
    env.commit_all("No service, and settings");
    let with_shell = "write `sh -c 'npm run build && npm test'`";
    check(&env, "start 1", 3, "test_command", with_shell);
    let doctor = env.tm(&["doctor"]);
    assert!(format!("{doctor:?}").contains(with_shell), "{doctor:?}");
    env.write(".taskmaster/config.json", "{}");
    env.write(
        "Cargo.toml",
        "[package]\nname = \"words\"\nversion = \"0.1.0\"\n",
    );
    env.commit_all("A manifest");
    let plan = env.auto("start 1 --dry-run").ok();
    let command = plan["testCommand"].as_str().unwrap();
    assert!(command.starts_with("cargo test"), "{plan}");
}

#[test]
fn the_task_must_be_there() {
    let env = TestEnvironment::new();
    let message = check(&env, "start 99", 4, "unknown_task", "1");
    assert!(message.contains("99"), "{message}");
    check(&env, "start 1.1", 4, "unknown_task", "`1`");
    check(&env, "start 1 --tag elsewhere", 4, "unknown_tag", "master");
    fs::remove_file(env.project().join(".taskmaster/tasks/tasks.json")).unwrap();
    check(&env, "start 1", 4, "tasks_missing", "--title");
}

#[test]
fn something_must_be_left_to_do() {
    let env = TestEnvironment::new();
    check(&env, "start 3", 3, "all_done", "pending");
}

#[test]
fn what_the_task_builds_on_must_be_done() {
    let env = TestEnvironment::new();
    let message = check(
        &env,
        "start 2",
        3,
        "dependencies_not_done",
        "do those first",
    );
    assert!(message.contains("1 (pending)"), "{message}");
    for status in ["done", "completed", "cancelled", "review"] {
        let tasks = TASKS.replacen(
            r#""status": "pending",
        "subtasks""#,
            &format!("\"status\": \"{status}\",\n        \"subtasks\""),
            1,
        );
        env.write(".taskmaster/tasks/tasks.json", tasks);
        let plan = env.auto("start 2 --dry-run").ok();
        let warned = plan["warnings"].to_string().contains("in review");
        assert_eq!(warned, status == "review", "{status}: {plan}");
    }
}

#[test]
fn subtasks_must_depend_on_each_other_in_order() {
    for (dependencies, told) in [
        ("[2]", "itself"),
        ("[7]", "7"),
        ("[3]", "1.2 -> 1.3 -> 1.2"),
    ] {
        let tasks = format!(
            r#"{{"tasks": [{{"id": 1, "title": "t", "status": "pending", "subtasks": [
                {{"id": 1, "title": "a", "status": "pending"}},
                {{"id": 2, "title": "b", "status": "pending", "dependencies": {dependencies}}},
                {{"id": 3, "title": "c", "status": "pending", "dependencies": [2]}}]}}]}}"#
        );
        let env = TestEnvironment::with(&tasks, CONFIG);
        let message = check(&env, "start 1", 3, "bad_dependencies", "dependencies");
        assert!(message.contains(told), "{told}: {message}");
    }
    let twice = r#"{"tasks": [{"id": 1, "title": "t", "status": "pending", "subtasks": [
        {"id": 1, "title": "a", "status": "pending"}, {"id": 1, "title": "b", "status": "pending"}]}]}"#;
    let env = TestEnvironment::with(twice, CONFIG);
    check(&env, "start 1", 6, "tasks_invalid", "another id");
}

#[test]
fn what_is_deferred_is_left_out_and_listed() {
    let tasks = r#"{"tasks": [{"id": 1, "title": "t", "status": "pending", "subtasks": [
        {"id": 1, "title": "a", "status": "deferred"}, {"id": 2, "title": "b", "status": "blocked"},
        {"id": 3, "title": "c", "status": "pending"}, {"id": 4, "title": "d", "status": "pending", "dependencies": [1]}]}]}"#;
    let env = TestEnvironment::with(tasks, CONFIG);
    let plan = env.auto("start 1 --dry-run").ok();
    assert_eq!(plan["subtasks"].as_array().unwrap().len(), 1, "{plan}");
    let left = plan["leftOut"].to_string();
    for id in ["1.1", "1.2", "1.4"] {
        assert!(left.contains(id), "{id}: {left}");
    }
    let none = tasks.replace("pending\"}", "blocked\"}");
    env.write(".taskmaster/tasks/tasks.json", none);
    check(&env, "start 1", 3, "nothing_runnable", "pending");
}

#[test]
fn the_autopilot_can_be_forbidden() {
    let env = TestEnvironment::with(
        TASKS,
        r#"{"test": {"command": "sh run.sh"}, "autopilot": {"enabled": false}}"#,
    );
    check(
        &env,
        "start 1",
        3,
        "autopilot_disabled",
        "autopilot.enabled",
    );
}

#[test]
fn a_second_run_is_refused_whatever_its_tag() {
    let tasks = TASKS.replacen(
        '{',
        r#"{"later": {"tasks": [{"id": 8, "title": "Later", "status": "pending"}]}, "#,
        1,
    );
    let env = TestEnvironment::with(&tasks, CONFIG);
    let first = env.auto("start 1").ok();
    let first = first["runId"].as_str().unwrap();
    for words in [
        "start 4",
        "start 1",
        "start 8 --tag later",
        "start 4 --dry-run",
    ] {
        let answer = env.refused(words, 5, "run_active", "--force");
        assert!(answer.message().contains(first), "{answer:#?}");
        assert!(
            answer.suggestion().contains("tm autopilot abort"),
            "{answer:#?}"
        );
    }
    // A run that is paused is not in the way; one that is superseded is over.
    env.auto("pause").ok();
    env.git(&["switch", "--quiet", "main"]);
    let second = env.auto("start 8 --tag later").ok();
    let second = second["runId"].as_str().unwrap();
    env.refused(
        &format!("resume --run-id {first}"),
        3,
        "wrong_branch",
        "git switch",
    );
    env.git(&["switch", "--quiet", "master/task-1-count-the-words"]);
    env.refused(
        &format!("resume --run-id {first}"),
        5,
        "run_active",
        "tm autopilot abort",
    );
    env.git(&["switch", "--quiet", "main"]);
    env.auto("start 4 --force").ok();
    let superseded = env.tm(&["runs", "show", second]).ok();
    assert_eq!(superseded["status"], "aborted");
    let paused = env.tm(&["runs", "show", first]).ok();
    assert_eq!(paused["status"], "paused");
}

#[test]
fn mistakes_in_the_settings_have_a_place() {
    for (config, place, way_out) in [
        (
            "{\n  \"test\": {,}\n}",
            "config.json:2:12",
            "config.json:2:12",
        ),
        (
            "{\n  \"autopilot\": { \"maxGreenAttempt\": 3 }\n}",
            "config.json:2:18",
            "maxGreenAttempts",
        ),
        (
            "{\n  \"autopilot\": { \"maxGreenAttempts\": \"three\" }\n}",
            "config.json:2:",
            "maxGreenAttempts",
        ),
        (
            "{\"evidence\": {\"policy\": {\"fewer_tests\": \"of\"}}}",
            "config.json:1:",
            "off",
        ),
        (
            "{\"autopilot\": {\"maxGreenAttempts\": 0}}",
            "config.json:1:",
            "",
        ),
        (
            "{\"git\": {\"branchPattern\": \"{nonsense}\"}, \"test\": {\"command\": \"x\"}}",
            "",
            "",
        ),
    ] {
        let env = TestEnvironment::with(TASKS, config);
        let message = check(&env, "start 1", 6, "config_invalid", way_out);
        assert!(message.contains(place), "{place}: {message}");
        assert_eq!(env.read(".taskmaster/config.json"), config);
    }
}

#[test]
fn keys_of_other_tools_are_left_alone() {
    let config =
        r#"{"models": {"main": 1}, "global": {"x": [1]}, "test": {"command": "sh run.sh"}}"#;
    TestEnvironment::started_with(config);
}

#[test]
fn mistakes_in_the_tasks_have_a_place() {
    for (tasks, place) in [
        ("{\n  \"tasks\": [,]\n}", "tasks.json:2:13"),
        (
            "{\"tasks\": [{\"id\": 1, \"title\": \"t\", \"status\": 7}]}",
            "tasks.json:1:",
        ),
        (
            "{\"tasks\": [{\"id\": 1, \"title\": \"t\", \"status\": \"pending\"}",
            "tasks.json:1:",
        ),
        ("", "tasks.json:1:1"),
        ("[]", "tasks.json:1:1"),
    ] {
        let env = TestEnvironment::with(tasks, CONFIG);
        let message = check(&env, "start 1", 6, "tasks_invalid", "mend");
        assert!(message.contains(place), "{place}: {message}");
    }
    let env = TestEnvironment::new();
    env.write(".taskmaster/tasks/tasks.json", b"{\"tasks\": [\"\xff\"]}");
    check(&env, "start 1", 6, "tasks_invalid", "mend");
}

#[test]
fn a_dry_run_touches_nothing() {
    let env = TestEnvironment::new();
    let before = env.everything();
    let plan = env.auto("start 1 --dry-run").ok();
    before.assert_same(&env.everything(), "the plan");
    assert_eq!(plan["branch"], "master/task-1-count-the-words");
    assert_eq!(plan["subtasks"][1]["dependencies"], json!(["1.1"]));
    assert_eq!(
        plan["subtasks"][0]["commitMessage"],
        "feat: count by spaces (task 1.1)"
    );
}

#[test]
fn a_dry_run_shows_the_subjects_that_are_made() {
    let env = TestEnvironment::new();
    env.write("go.mod", "module example.org/acme/words\n");
    env.git(&["add", "go.mod"]);
    env.git(&["commit", "--quiet", "--message", "A module"]);
    let plan = env.auto("start 1 --dry-run").ok();
    let planned = plan["subtasks"][0]["commitMessage"].as_str().unwrap();
    assert_eq!(planned, "feat(words): count by spaces (task 1.1)");
    env.auto("start 1").ok();
    env.to_commit();
    let told = env.auto("next").ok();
    let message = told["context"]["commitMessage"].as_str().unwrap();
    assert_eq!(message.lines().next(), Some(planned), "{told:#}");
    env.auto("commit").ok();
    assert_eq!(env.git(&["log", "-1", "--format=%s"]), planned);
}

#[test]
fn ids_that_could_be_options_or_paths_are_refused() {
    for id in ["-1", "../x", "a b", "a/b", "1..2", "$(x)"] {
        let tasks =
            format!(r#"{{"tasks": [{{"id": {id:?}, "title": "t", "status": "pending"}}]}}"#);
        let env = TestEnvironment::with(&tasks, CONFIG);
        let answer = env.tm(&["autopilot", "start", "--", id]);
        assert!(matches!(answer.status, 2 | 3 | 6), "{id}: {answer:#?}");
        assert!(!env.store().exists(), "{id}");
        assert_eq!(env.git(&["branch", "--format=%(refname:short)"]), "main");
    }
}
