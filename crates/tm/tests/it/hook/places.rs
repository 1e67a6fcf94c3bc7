//! Where the run is, and where it is not.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::environment::TestEnvironment;

#[test]
fn without_a_run_nothing_is_held_back_and_a_session_is_told() {
    let environment = TestEnvironment::new();
    assert!(!environment.edit_is_denied("src/a.sh"));
    assert!(
        environment
            .denied("Bash", &json!({"command": "git push"}))
            .is_none()
    );
    let begin = json!({"cwd": environment.project(), "hook_event_name": "SessionStart", "source": "startup"});
    let told = environment.claude(&begin).unwrap().to_string();
    assert!(told.contains("No run of tm is under way"), "{told}");
    assert!(told.contains("tm autopilot start <taskId>"), "{told}");
    // Where there are no tasks, none is asked for.
    fs::remove_file(environment.project().join(".taskmaster/tasks/tasks.json")).unwrap();
    let told = environment.claude(&begin).unwrap().to_string();
    assert!(told.contains("tm autopilot start --title"), "{told}");
    let stop = json!({"cwd": environment.project(), "hook_event_name": "Stop"});
    assert_eq!(environment.claude(&stop), None);
    // Where there is no project at all, there is nothing to say.
    let elsewhere = environment.folder().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let output = environment
        .program(&["hook", "claude-code"])
        .current_dir(&elsewhere)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_paused_run_and_one_that_is_over_hold_nothing_back() {
    let environment = TestEnvironment::started();
    assert!(environment.edit_is_denied("src/a.sh"));
    environment.tm(&["autopilot", "pause"]);
    assert!(!environment.edit_is_denied("src/a.sh"));
    assert!(
        environment
            .denied("Bash", &json!({"command": "git switch main"}))
            .is_none()
    );
    let begin = json!({"cwd": environment.project(), "hook_event_name": "SessionStart"});
    let told = environment.claude(&begin).unwrap().to_string();
    assert!(told.contains("is paused"), "{told}");
    environment.tm(&["autopilot", "resume"]);
    assert!(environment.edit_is_denied("src/a.sh"));
    environment.tm(&["autopilot", "abort"]);
    assert!(!environment.edit_is_denied("src/a.sh"));
}

#[test]
fn damage_holds_nothing_back_and_is_told() {
    let environment = TestEnvironment::started();
    let mut pending = vec![environment.home().join("store")];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path.ends_with("activity.jsonl") || path.ends_with("snapshot.json") {
            fs::write(&path, "{\"damaged\"\n{}\n").unwrap();
        }
    }
    let edit = json!({
        "cwd": environment.project(), "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": "src/a.sh"},
    });
    let output = environment.call(&["claude-code"], edit.to_string().as_bytes());
    assert_eq!((output.status, output.out.len()), (0, 0), "{output:?}");
    let err = output.err;
    assert!(err.contains("cannot tell where the run is"), "{err}");
    assert_eq!(err.matches('\n').count(), 1, "{err}");
    let begin = json!({"cwd": environment.project(), "hook_event_name": "SessionStart"});
    let told = environment.claude(&begin).unwrap().to_string();
    assert!(told.contains("tm doctor"), "{told}");
}

#[test]
fn settings_that_cannot_be_read_hold_nothing_back() {
    let environment = TestEnvironment::started();
    environment.write(".taskmaster/config.json", "{");
    assert!(!environment.edit_is_denied("src/a.sh"));
}

#[test]
fn paths_count_as_they_really_are() {
    let environment = TestEnvironment::started();
    let root = environment.project();
    environment.write("src/deep/a.sh", "");
    environment.write("tests/a_test.sh", "");
    symlink(root.join("src"), root.join("link")).unwrap();
    symlink(
        root.join("tests/a_test.sh"),
        root.join("src/looks_like_code.sh"),
    )
    .unwrap();
    symlink(&root, environment.folder().join("alias")).unwrap();
    for (file, denied) in [
        ("src/a.sh", true),
        ("./src/../src/a.sh", true),
        ("link/a.sh", true),
        ("link/new.sh", true),
        ("../project/src/a.sh", true),
        ("../alias/src/a.sh", true),
        ("src/looks_like_code.sh", false),
        ("../elsewhere.sh", false),
        ("/tmp/elsewhere.sh", false),
        (".git/info/exclude", false),
        ("README.md", false),
        ("package.json", false),
        (".gitignore", false),
        (".claude/settings.local.json", false),
        (".taskmaster/config.json", false),
        ("src/lib.rs", false),
        ("fixtures/a.json", false),
        ("src/__snapshots__/a.snap", false),
        (".taskmaster/tasks/tasks.json", false),
        ("tests/new_test.sh", false),
    ] {
        assert_eq!(environment.edit_is_denied(file), denied, "{file}");
    }
    // From a folder of the project, and from one outside of which the client names the project.
    let from = |cwd: &std::path::Path, file: &str| {
        environment
            .claude(&json!({
                "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": file},
            }))
            .is_some()
    };
    assert!(from(&root.join("src/deep"), "../b.sh"));
    assert!(!from(&root.join("src/deep"), "../../tests/b.sh"));
    assert!(from(
        &environment.folder(),
        &root.join("src/a.sh").display().to_string()
    ));
}

#[test]
fn green_freezes_what_was_there_in_red() {
    let environment = TestEnvironment::started();
    environment.write("tests/__snapshots__/a.snap", "x");
    environment.red("tests/words_test.sh");
    assert!(environment.edit_is_denied("tests/words_test.sh"));
    assert!(!environment.edit_is_denied("tests/__snapshots__/a.snap"));
    assert!(!environment.edit_is_denied("tests/new_test.sh"));
    environment.tm(&["autopilot", "reopen", "--reason", "the test was wrong"]);
    assert!(!environment.edit_is_denied("tests/words_test.sh"));
    environment.tm(&[
        "autopilot",
        "complete",
        "red",
        "1.1",
        "--results",
        "failed:1,passed:0",
    ]);
    environment.green();
    for file in ["src/words.sh", "tests/words_test.sh", "README.md", "new"] {
        assert!(environment.edit_is_denied(file), "{file}");
    }
    assert!(!environment.edit_is_denied(".taskmaster/tasks/tasks.json"));
    assert!(!environment.edit_is_denied("../outside"));
}

#[test]
fn another_branch_is_none_of_the_runs() {
    let environment = TestEnvironment::started();
    environment.git(&["switch", "--quiet", "main"]);
    assert!(!environment.edit_is_denied("src/a.sh"));
    let switch = json!({"command": "git switch -"});
    assert!(environment.denied("Bash", &switch).is_some());
}

#[test]
fn a_worktree_has_runs_of_its_own() {
    let environment = TestEnvironment::started();
    let beside = environment.folder().join("beside");
    environment.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "beside",
        beside.to_str().unwrap(),
        "main",
    ]);
    let ask = |tool: &str, input: serde_json::Value| {
        environment.claude(&json!({
            "cwd": beside, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
        }))
    };
    // The client names no other project, so that the run beside it does not count.
    let output = environment
        .program(&["hook", "claude-code"])
        .current_dir(&beside)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(ask("Bash", json!({"command": "git push"})), None);
    assert_eq!(
        ask("Write", json!({"file_path": beside.join("src/a.sh")})),
        None
    );
    let start = environment
        .program(&[
            "autopilot",
            "start",
            "--title",
            "Beside",
            "--subtask",
            "One",
        ])
        .current_dir(&beside)
        .output()
        .unwrap();
    assert!(start.status.success(), "{start:?}");
    assert!(ask("Write", json!({"file_path": beside.join("src/a.sh")})).is_some());
    assert!(ask("Bash", json!({"command": "git commit -m x"})).is_some());
}

#[test]
fn a_repair_may_change_its_tests() {
    let environment = TestEnvironment::started();
    environment.red("tests/words_test.sh");
    environment.green();
    environment.tm(&["autopilot", "commit", "1.1"]);
    assert!(!environment.edit_is_denied("src/words.sh"));
    assert!(
        environment
            .denied("Bash", &json!({"command": "git push"}))
            .is_some()
    );
    let failing = environment
        .program(&["autopilot", "finalize", "--results", "failed:1,passed:0"])
        .output()
        .unwrap();
    assert!(!failing.status.success());
    assert!(!environment.edit_is_denied("tests/words_test.sh"));
    assert!(!environment.edit_is_denied("src/words.sh"));
    assert!(
        environment
            .denied("Bash", &json!({"command": "git commit -m x"}))
            .is_some()
    );
}
