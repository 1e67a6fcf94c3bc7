//! Where the run is, and where it is not.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::environment::{TestEnvironment, command, edit, is_denied, repository, started};

#[test]
fn without_a_run_nothing_is_held_back_and_a_session_is_told() {
    let environment = repository();
    assert!(!environment.edit_is_denied("src/a.sh"));
    assert!(!environment.command_is_denied("git push"));
    let told = environment.told();
    assert!(told.contains("tm autopilot start TASK_ID"), "{told}");
    assert_eq!(environment.claude("Stop", json!({})), None);
    // Where there are no tasks, none is asked for.
    fs::remove_file(environment.project().join(".taskmaster/tasks/tasks.json")).unwrap();
    let told = environment.told();
    assert!(told.contains("tm autopilot start --title"), "{told}");
    // Where there is no project at all, there is nothing to say.
    let mut hook = environment.program(&["hook", "claude-code"]);
    let status = hook.current_dir(environment.folder()).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_run_that_does_not_go_on_here_holds_nothing_back() {
    let environment = started();
    let held = || {
        let edit = environment.edit_is_denied("src/a.sh");
        (edit, environment.command_is_denied("git switch -C other"))
    };
    assert_eq!(held(), (true, true));
    environment.does("autopilot pause");
    assert_eq!(held(), (false, false));
    assert!(environment.told().contains("is paused"));
    environment.does("autopilot resume");
    assert_eq!(held(), (true, true));
    // Another branch is none of the run's, and only left for its own.
    environment.git(&["switch", "--quiet", "main"]);
    assert_eq!(held(), (false, true));
    environment.git(&["switch", "--quiet", "-"]);
    // Neither do settings that cannot be read.
    let settings = environment.read(".taskmaster/config.json");
    environment.write(".taskmaster/config.json", "{");
    assert!(!held().0);
    environment.write(".taskmaster/config.json", settings);
    environment.does("autopilot abort");
    assert_eq!(held(), (false, false));
}

#[test]
fn damage_holds_nothing_back_and_is_told() {
    let environment = started();
    for name in ["activity.jsonl", "snapshot.json"] {
        fs::write(environment.run_folder().join(name), "{\"damaged\"\n{}\n").unwrap();
    }
    let (out, err) = environment.moved(&environment.project(), "PreToolUse", edit("src/a.sh"));
    assert_eq!((out, err.matches('\n').count()), (None, 1), "{err}");
    assert!(environment.told().contains("tm doctor"));
}

#[test]
fn paths_count_as_they_really_are() {
    let environment = started();
    let root = environment.project();
    environment.write("src/deep/a.sh", "");
    environment.write("tests/a_test.sh", "");
    let link = |from: PathBuf, to: &str| symlink(from, root.join(to)).unwrap();
    link(root.join("src"), "link");
    link(root.join("tests/a_test.sh"), "src/looks_like_code.sh");
    link(root.clone(), "../alias");
    for (file, denied) in [
        ("src/a.sh", true),
        ("link/a.sh", true),
        ("../alias/src/a.sh", true),
        ("src/looks_like_code.sh", false),
        ("../elsewhere.sh", false),
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
    let (deep, code) = (root.join("src/deep"), root.join("src/a.sh"));
    for (cwd, file, denied) in [
        (&deep, Path::new("../b.sh"), true),
        (&deep, Path::new("../../tests/b.sh"), false),
        (&environment.folder(), &code, true),
    ] {
        let (answer, _) = environment.moved(cwd, "PreToolUse", edit(file));
        assert_eq!(is_denied(answer.as_ref()), denied, "{}", file.display());
    }
}

#[test]
fn green_freezes_what_was_there_in_red() {
    let environment = started();
    let denied = |files: &[&str]| {
        let denied = |file: &&str| environment.edit_is_denied(file);
        files.iter().map(denied).collect::<Vec<_>>()
    };
    let test = "tests/words_test.sh";
    environment.write("tests/__snapshots__/a.snap", "x");
    environment.red("words");
    let tests = [test, "tests/__snapshots__/a.snap", "tests/new_test.sh"];
    assert_eq!(denied(&tests), [true, false, false]);
    environment.does("autopilot reopen --reason wrong");
    assert_eq!(denied(&[test]), [false]);
    environment.red("words");
    environment.green("words");
    let files = ["src/words.sh", test, "README.md", "new"];
    assert_eq!(denied(&files), [true; 4]);
    let files = [".taskmaster/tasks/tasks.json", "../outside"];
    assert_eq!(denied(&files), [false; 2]);
    // A repair may change its tests.
    environment.does("autopilot commit");
    assert_eq!(denied(&["src/words.sh"]), [false]);
    assert!(environment.command_is_denied("git push"));
    let suite = ["autopilot", "finalize", "--results", "failed:1,passed:0"];
    assert_eq!(environment.json(&suite).status, 3);
    assert_eq!(denied(&[test, "src/words.sh"]), [false; 2]);
    assert!(environment.command_is_denied("git commit -m x"));
}

/// A worktree of the repository in the folder that clients keep theirs in, or beside it.
fn worktree(environment: &TestEnvironment, name: &str) -> PathBuf {
    let folder = environment.project().join(name);
    let path = folder.to_str().unwrap();
    environment.git(&["worktree", "add", "--quiet", "--detach", path]);
    fs::canonicalize(folder).unwrap()
}

#[test]
fn a_file_is_judged_by_the_run_of_its_own_worktree() {
    let environment = started();
    let main = environment.project();
    let use_of = |cwd: &Path, tool: Value| environment.moved(cwd, "PreToolUse", tool);
    let denies = |cwd: &Path, tool: Value| is_denied(use_of(cwd, tool).0.as_ref());
    for name in [".claude/worktrees/agent", "../beside"] {
        let tree = worktree(&environment, name);
        let begins = || {
            let (told, _) = environment.moved(&tree, "SessionStart", json!({}));
            told.unwrap().to_string()
        };
        // There is no run yet: it is said once, and on what.
        let told = begins();
        assert!(told.contains(tree.to_str().unwrap()), "{told}");
        for (file, cwd, is_first) in [
            ("src/a.sh", &tree, true),
            ("src/a.sh", &main, false),
            ("tests/a_test.sh", &tree, false),
            ("tests/a_test.sh", &main, false),
        ] {
            let (told, err) = use_of(cwd, edit(tree.join(file)));
            assert_eq!(told.is_some(), is_first, "{told:?} {err}");
            if let Some(told) = told {
                let told = &told["hookSpecificOutput"];
                assert_eq!(told["hookEventName"], "PreToolUse");
                assert_eq!(told.get("permissionDecision"), None);
                let text = told["additionalContext"].as_str().unwrap();
                assert!(text.contains(main.to_str().unwrap()), "{text}");
            }
        }
        assert_eq!(environment.moved(&tree, "Stop", json!({})).0, None);
        let commit = || command("git commit -m x");
        assert_eq!(use_of(&tree, commit()).0, None);
        // Where the client names no project, either, the run of the main checkout does not count.
        for tool in [commit(), edit(tree.join("src/a.sh"))] {
            assert_eq!(environment.claude_in(&tree, "PreToolUse", tool), None);
        }
        // The main checkout keeps its rules, wherever the agent is.
        assert!(denies(&tree, edit(main.join("src/a.sh"))));
        let there = format!("cd {} && git commit -m x", main.display());
        assert!(denies(&tree, command(&there)));

        // With a run of its own, its files are judged by that, and the agent hears of no other.
        environment.begin_in(&tree, "One");
        for cwd in [&tree, &main] {
            assert!(denies(cwd, edit(tree.join("src/a.sh"))));
            let test = use_of(cwd, edit(tree.join("tests/a_test.sh")));
            assert_eq!(test, (None, String::new()));
            let there = format!("git -C {} commit -m x", tree.display());
            assert!(denies(cwd, command(&there)));
        }
        assert!(denies(&tree, commit()));
        assert!(begins().contains("One"));
        let (reminder, _) = environment.moved(&tree, "Stop", json!({}));
        let reason = reminder.unwrap()["reason"].to_string();
        assert!(reason.contains("One"), "{reason}");
    }
}

#[test]
fn other_repositories_are_not_spoken_of() {
    let environment = started();
    let other = environment.folder().join("other");
    environment.git(&["init", "--quiet", "--template=", other.to_str().unwrap()]);
    for cwd in [&other, &environment.project()] {
        let answer = environment.moved(cwd, "PreToolUse", edit(other.join("src/a.sh")));
        assert_eq!(answer, (None, String::new()));
    }
}
