//! Where the run is, and where it is not.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::sandbox::with_input;

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
    let from = |cwd: &Path, file: &str| {
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
    let ask = |tool: &str, input: Value| {
        environment.claude(&json!({
            "cwd": beside, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
        }))
    };
    let output = environment
        .program(&["hook", "claude-code"])
        .current_dir(&beside)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(ask("Bash", json!({"command": "git push"})), None);
    // The client names no other project, so that the run beside it does not count.
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

/// A worktree of the repository in the folder that clients keep theirs in, or beside it.
fn worktree(environment: &TestEnvironment, name: &str) -> PathBuf {
    let folder = environment.project().join(name);
    let path = folder.to_str().unwrap();
    environment.git(&["worktree", "add", "--quiet", "--detach", path]);
    fs::canonicalize(folder).unwrap()
}

/// What Claude Code is answered whose agent moved to `cwd`, and that was started in the project.
fn moved(environment: &TestEnvironment, cwd: &Path, more: &Value) -> (Option<Value>, String) {
    let mut payload = json!({ "cwd": cwd, "session_id": "s" });
    for (name, value) in more.as_object().unwrap() {
        payload[name] = value.clone();
    }
    let mut hook = environment.program(&["hook", "claude-code"]);
    hook.env("CLAUDE_PROJECT_DIR", environment.project());
    let answer = with_input(&mut hook, payload.to_string());
    let out = (!answer.text().is_empty()).then(|| serde_json::from_str(answer.text()).unwrap());
    (out, answer.err)
}

fn write_of(file: &Path) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": { "file_path": file, "content": "x" },
    })
}

fn command_of(line: &str) -> Value {
    json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": line } })
}

fn is_denied(answer: &(Option<Value>, String)) -> bool {
    let decision = answer
        .0
        .as_ref()
        .map(|out| &out["hookSpecificOutput"]["permissionDecision"]);
    decision.is_some_and(|decision| decision == "deny")
}

#[test]
fn a_file_is_judged_by_the_run_of_its_own_worktree() {
    let environment = TestEnvironment::started();
    let main = environment.project();
    for name in [".claude/worktrees/agent", "../beside"] {
        let tree = worktree(&environment, name);
        // There is no run yet: it is said once, and on what.
        let begin = json!({ "hook_event_name": "SessionStart" });
        let (told, _) = moved(&environment, &tree, &begin);
        let told = told.unwrap().to_string();
        assert!(told.contains("No run of tm is in progress"), "{told}");
        assert!(told.contains(tree.to_str().unwrap()), "{told}");
        for file in ["src/a.sh", "tests/a_test.sh"] {
            for cwd in [&tree, &main] {
                let (told, err) = moved(&environment, cwd, &write_of(&tree.join(file)));
                let is_first = file == "src/a.sh" && cwd == &tree;
                assert_eq!(told.is_some(), is_first, "{told:?} {err}");
                if let Some(told) = told {
                    let told = &told["hookSpecificOutput"];
                    assert_eq!(told["hookEventName"], "PreToolUse");
                    assert_eq!(told.get("permissionDecision"), None);
                    let text = told["additionalContext"].as_str().unwrap();
                    assert!(text.contains(main.to_str().unwrap()), "{text}");
                }
            }
        }
        let stop = json!({ "hook_event_name": "Stop" });
        assert_eq!(moved(&environment, &tree, &stop).0, None);
        let commit = command_of("git commit -m x");
        assert_eq!(moved(&environment, &tree, &commit).0, None);
        // The main checkout keeps its rules, wherever the agent is.
        let of_main = write_of(&main.join("src/a.sh"));
        assert!(is_denied(&moved(&environment, &tree, &of_main)));
        let there = command_of(&format!("cd {} && git commit -m x", main.display()));
        assert!(is_denied(&moved(&environment, &tree, &there)));

        // With a run of its own, its files are judged by that, and the agent hears of no other.
        let mut start =
            environment.program(&["autopilot", "start", "--title", name, "--subtask", "One"]);
        assert!(start.current_dir(&tree).output().unwrap().status.success());
        for cwd in [&tree, &main] {
            assert!(is_denied(&moved(
                &environment,
                cwd,
                &write_of(&tree.join("src/a.sh"))
            )));
            let test = moved(&environment, cwd, &write_of(&tree.join("tests/a_test.sh")));
            assert_eq!(test, (None, String::new()));
            let there = command_of(&format!("git -C {} commit -m x", tree.display()));
            assert!(is_denied(&moved(&environment, cwd, &there)));
        }
        assert!(is_denied(&moved(&environment, &tree, &commit)));
        let (told, _) = moved(&environment, &tree, &begin);
        assert!(told.unwrap().to_string().contains("One"));
        let (reminder, _) = moved(&environment, &tree, &stop);
        assert!(
            reminder.unwrap()["reason"]
                .as_str()
                .unwrap()
                .contains("One")
        );
    }
}

#[test]
fn other_repositories_are_not_spoken_of() {
    let environment = TestEnvironment::started();
    let other = environment.folder().join("other");
    environment.git(&["init", "--quiet", "--template=", other.to_str().unwrap()]);
    for cwd in [&other, &environment.project()] {
        let answer = moved(&environment, cwd, &write_of(&other.join("src/a.sh")));
        assert_eq!(answer, (None, String::new()));
    }
}

#[test]
fn every_client_says_by_its_own_names_where_its_agent_works() {
    let environment = TestEnvironment::started();
    let main = environment.project();
    let tree = worktree(&environment, "../beside");
    let file = tree.join("src/a.sh");
    let patch = "*** Begin Patch\n*** Add File: src/a.sh\n+x\n*** End Patch\n";
    let arguments = json!({ "path": file, "file_text": "x" }).to_string();
    let commit = "git commit -m x";
    let payloads = [
        (
            "claude-code",
            json!({
                "hook_event_name": "PreToolUse", "cwd": tree,
                "tool_name": "Bash", "tool_input": { "command": commit },
            }),
        ),
        (
            "codex",
            json!({
                "hook_event_name": "PreToolUse", "cwd": tree,
                "tool_name": "apply_patch", "tool_input": { "command": patch },
            }),
        ),
        (
            "codex",
            json!({
                "hook_event_name": "PreToolUse", "cwd": main,
                "tool_name": "exec_command", "tool_input": { "cmd": commit, "workdir": tree },
            }),
        ),
        (
            "cursor",
            json!({
                "hook_event_name": "beforeShellExecution", "workspace_roots": [main],
                "command": commit, "cwd": tree,
            }),
        ),
        (
            "cursor",
            json!({
                "hook_event_name": "preToolUse", "workspace_roots": [main, tree], "cwd": main,
                "tool_name": "Write", "tool_input": { "file_path": file, "contents": "x" },
            }),
        ),
        (
            "copilot",
            json!({ "cwd": main, "toolName": "create", "toolArgs": arguments }),
        ),
        (
            "copilot",
            json!({
                "cwd": tree, "toolName": "bash", "toolArgs": json!({ "command": commit }).to_string(),
            }),
        ),
        (
            "gemini",
            json!({
                "hook_event_name": "BeforeTool", "cwd": main,
                "tool_name": "run_shell_command",
                "tool_input": { "command": commit, "dir_path": "../beside" },
            }),
        ),
        (
            "qwen",
            json!({
                "hook_event_name": "PreToolUse", "cwd": main,
                "tool_name": "run_shell_command",
                "tool_input": { "command": commit, "directory": tree },
            }),
        ),
        (
            "opencode",
            json!({
                "hook_event_name": "PreToolUse", "cwd": main,
                "tool_name": "bash", "tool_input": { "command": commit, "workdir": tree },
            }),
        ),
        (
            "opencode",
            json!({
                "hook_event_name": "PreToolUse", "cwd": main,
                "tool_name": "write", "tool_input": { "filePath": file, "content": "x" },
            }),
        ),
    ];
    let are_denied = |expected: bool| {
        for (client, payload) in &payloads {
            let answer = environment.call(&[client], payload.to_string().as_bytes());
            let is_denied = answer.text().contains("\"deny\"");
            assert_eq!(is_denied, expected, "{client}: {payload}\n{answer:?}");
        }
    };
    are_denied(false);
    let mut start = environment.program(&["autopilot", "start", "--title", "x", "--subtask", "y"]);
    assert!(start.current_dir(&tree).output().unwrap().status.success());
    environment.tm(&["autopilot", "abort"]);
    are_denied(true);
}
