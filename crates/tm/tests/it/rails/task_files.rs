//! Where tasks come from, and what is written back: the bytes of a status, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::environment::{CONFIG, TestEnvironment};

const FILE: &str = ".taskmaster/tasks/tasks.json";

/// A repository with these tasks, which git knows or not.
fn environment(tasks: &[u8], tracked: bool) -> TestEnvironment {
    let env = TestEnvironment::bare();
    env.init();
    if !tracked {
        env.write(".gitignore", ".taskmaster/\n");
    }
    env.write("README.md", "words\n");
    env.write(FILE, tasks);
    env.write(".taskmaster/config.json", CONFIG);
    env.commit_all("Begin");
    env
}

fn check(tasks: &str, start: &str, expected: &str) {
    for tracked in [true, false] {
        let env = environment(tasks.as_bytes(), tracked);
        env.whole_run(start);
        assert_eq!(env.read(FILE), expected, "tracked: {tracked}");
        assert_eq!(env.git(&["status", "--porcelain"]), "");
        let in_git = env.git(&["ls-files", FILE]);
        assert_eq!(in_git.is_empty(), !tracked);
        let subjects = env.git(&["log", "--format=%s", "main..HEAD"]);
        assert_eq!(
            subjects.contains("chore(tasks): set task"),
            tracked,
            "{subjects}"
        );
    }
}

#[test]
fn under_tags_and_without() {
    let task = r#"{"id": 1, "title": "t", "status": "pending", "subtasks": [{"id": 1, "title": "a", "status": "pending"}]}"#;
    let done = r#"{"id": 1, "title": "t", "status": "review", "subtasks": [{"id": 1, "title": "a", "status": "done"}]}"#;
    check(
        &format!("{{\"tasks\": [{task}]}}"),
        "start 1",
        &format!("{{\"tasks\": [{done}]}}"),
    );
    check(
        &format!(
            "{{\"master\": {{\"tasks\": [{task}]}}, \"other\": {{\"tasks\": [{task}], \"metadata\": {{}}}}}}\n"
        ),
        "start 1 --tag other",
        &format!(
            "{{\"master\": {{\"tasks\": [{task}]}}, \"other\": {{\"tasks\": [{done}], \"metadata\": {{}}}}}}\n"
        ),
    );
}

#[test]
fn odd_bytes_stay() {
    // A BOM, Windows line ends, tabs, repeated and unknown keys, escapes, odd numbers, no newline at the end.
    let tasks = "\u{feff}{\r\n\t\"master\" : {\"x\":[1e3,-0.10],\"tasks\":[ {\"status\":\"pend\\u0069ng\",\"id\":\"1\",\r\n\
        \"title\":\"\\u00e9 \\\"q\\\" \\/\", \"priority\":\"high\" ,\"subtasks\":[\r\n{\"title\":\"status\",\"id\":\"1.1\",\"status\"\t:\t\"pending\"  }]}]}\r\n}";
    let expected = tasks
        .replace("\"pend\\u0069ng\"", "\"review\"")
        .replace("\"pending\"", "\"done\"");
    check(tasks, "start 1", &expected);
}

#[test]
fn ids_may_be_strings_and_statuses_missing() {
    let tasks = r#"{"tasks": [
  {"id": "auth-1", "title": "t", "status": "pending", "subtasks": [
    {"id": "1", "title": "a", "status": "pending"},
    {"id": 2, "title": "b", "status": "in-progress", "dependencies": ["auth-1.1"]}]}
]}
"#;
    let expected = tasks
        .replacen("pending", "review", 1)
        .replace("pending", "done")
        .replace("in-progress", "done");
    check(tasks, "start auth-1", &expected);
}

#[test]
fn a_task_without_subtasks_is_run_as_one() {
    let tasks = r#"{"tasks": [{"id": 7, "title": "On its own", "status": "pending"}]}"#;
    check(tasks, "start 7", &tasks.replace("pending", "review"));
    let env = environment(tasks.as_bytes(), true);
    env.auto("start 7").ok();
    assert_eq!(env.auto("next").ok()["subtask"]["id"], "7.1");
    env.subtask();
    assert_eq!(env.read(FILE), tasks, "its `done` is the task's own status");
}

#[test]
fn the_status_at_the_end_is_a_setting() {
    let tasks = r#"{"tasks": [{"id": 7, "title": "On its own", "status": "pending"}]}"#;
    for (setting, expected) in [("\"done\"", "done"), ("false", "pending")] {
        let env = environment(tasks.as_bytes(), true);
        env.write(
            ".taskmaster/config.json",
            format!(
                r#"{{"test": {{"command": "x"}}, "autopilot": {{"finalization": {{"updateTaskStatus": {setting}}}}}}}"#
            ),
        );
        env.commit_all("Settings");
        env.whole_run("start 7");
        assert_eq!(env.read(FILE), tasks.replace("pending", expected));
        assert_eq!(env.git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn a_symbolic_link_is_followed() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let tasks = r#"{"tasks": [{"id": 1, "title": "t", "status": "pending"}]}"#;
    let done = tasks.replace("pending", "review");
    for inside in [true, false] {
        let env = TestEnvironment::bare();
        env.init();
        env.write(".taskmaster/config.json", CONFIG);
        fs::create_dir_all(env.project().join(".taskmaster/tasks")).unwrap();
        let real = if inside {
            env.project().join("shared.json")
        } else {
            env.folder().join("shared.json")
        };
        fs::write(&real, tasks).unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, env.project().join(FILE)).unwrap();
        if !inside {
            // What git does not know is the user's own.
            env.write(".gitignore", ".taskmaster/tasks\n");
        }
        env.commit_all("Begin");
        env.whole_run("start 1");
        assert!(env.project().join(FILE).is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), done);
        assert_eq!(
            fs::metadata(&real).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert_eq!(env.git(&["status", "--porcelain"]), "");
        if inside {
            assert_eq!(env.git(&["show", "HEAD:shared.json"]), done);
        }
    }
}

#[test]
fn what_somebody_else_writes_meanwhile_is_kept() {
    let tasks = r#"{"tasks": [{"id": 1, "title": "t", "status": "pending", "subtasks": [{"id": 1, "title": "a", "status": "pending"}]}]}"#;
    let env = environment(tasks.as_bytes(), true);
    env.auto("start 1").ok();
    env.to_commit();
    env.write(FILE, tasks.replace("\"t\"", "\"another title\""));
    env.auto("commit").ok();
    assert!(env.read(FILE).contains("another title"));
    assert!(env.read(FILE).contains("done"));
    // A file that cannot be read any more is named, and not written.
    env.write(FILE, "{");
    let answer = env.auto("finalize --results failed:0,passed:2");
    assert_eq!(
        (answer.status, answer.code()),
        (6, "tasks_invalid"),
        "{answer:#?}"
    );
    super::advice::check(&env, &answer);
    assert_eq!(env.read(FILE), "{");
    assert_eq!(env.action(), "finalize");
    env.git(&["checkout", "--quiet", "--", FILE]);
    env.auto("finalize --results failed:0,passed:2").ok();
}

#[test]
fn a_plan_is_ticked() {
    const PLAN: &str = "# Words\n\nSome text.\n\n- [ ] Count them\n  By spaces.\n  depends on: 2\n* [ ] Find them\n- [x] Read the text\n";
    for tracked in [true, false] {
        let env = environment(b"{\"tasks\": []}", true);
        if !tracked {
            env.write(".gitignore", "plan.md\n");
        }
        env.write("plan.md", PLAN);
        env.commit_all("A plan");
        let plan = env.auto("start --plan plan.md --dry-run").ok();
        let order: Vec<_> = plan["subtasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["title"].clone())
            .collect();
        assert_eq!(order, [json!("Find them"), json!("Count them")]);
        env.whole_run("start --plan plan.md");
        assert_eq!(
            env.read("plan.md"),
            PLAN.replace("- [ ]", "- [x]").replace("* [ ]", "* [x]")
        );
        assert_eq!(env.git(&["status", "--porcelain"]), "");
        assert_eq!(env.git(&["ls-files", "plan.md"]).is_empty(), !tracked);
        assert_eq!(env.git(&["rev-list", "--count", "main..HEAD"]), "2");
    }
}

#[test]
fn a_plan_must_be_there_and_have_something_to_do() {
    let env = environment(b"{\"tasks\": []}", true);
    env.refused("start --plan nowhere.md", 4, "tasks_missing", "--plan");
    env.write("empty.md", "# Nothing\n");
    env.write("done.md", "- [x] a\n");
    env.commit_all("Plans");
    let answer = env.auto("start --plan empty.md");
    assert!(matches!(answer.status, 3 | 4 | 6), "{answer:#?}");
    super::advice::check(&env, &answer);
    let answer = env.auto("start --plan done.md");
    assert_eq!(
        (answer.status, answer.code()),
        (3, "all_done"),
        "{answer:#?}"
    );
}

#[test]
fn a_task_may_be_given_on_the_command_line() {
    let env = TestEnvironment::bare();
    env.init();
    env.write(".taskmaster/config.json", CONFIG);
    env.commit_all("Begin");
    let started = env
        .tm(&[
            "autopilot",
            "start",
            "--title",
            "Count the words",
            "--subtask",
            "By spaces",
            "--subtask",
            "By tabs",
        ])
        .ok();
    assert_eq!(started["branch"], "master/task-count-the-words");
    assert_eq!(env.auto("next").ok()["subtask"]["id"], "count-the-words.1");
    env.finish();
    assert_eq!(env.git(&["rev-list", "--count", "main..HEAD"]), "2");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert!(!env.project().join(FILE).exists());
    for title in ["", " "] {
        for arguments in [
            ["--title", title, "--subtask", "a"],
            ["--title", "a", "--subtask", title],
        ] {
            let arguments: Vec<&str> = ["autopilot", "start"]
                .into_iter()
                .chain(arguments)
                .collect();
            env.refused_of(&arguments, 2, "no_title", "few words");
        }
    }
    // Nothing in it to make an id of is no reason to refuse.
    env.git(&["switch", "--quiet", "main"]);
    env.tm(&["autopilot", "start", "--title", "!!!", "--subtask", "…"])
        .ok();
}

#[test]
fn the_tag_of_the_project_is_switched_and_set_back() {
    let tasks = r#"{"master": {"tasks": []}, "later": {"tasks": [{"id": 1, "title": "t", "status": "pending"}]}}"#;
    let state = "{\n  \"currentTag\": \"master\",\n  \"other\": [1]\n}\n";
    for end in ["finalize", "abort"] {
        let env = environment(tasks.as_bytes(), true);
        env.write(".taskmaster/state.json", state);
        env.commit_all("A tag");
        env.auto("start 1 --tag later").ok();
        assert_eq!(
            env.read(".taskmaster/state.json"),
            state.replace("master", "later")
        );
        env.auto("next").ok();
        env.to_finalize();
        let in_git = env.git(&["show", "HEAD:.taskmaster/state.json"]);
        assert_eq!(in_git, state.trim_end(), "it is never committed");
        if end == "finalize" {
            env.auto("finalize --results failed:0,passed:2").ok();
        } else {
            env.auto("abort").ok();
        }
        assert_eq!(env.read(".taskmaster/state.json"), state);
        assert_eq!(env.git(&["status", "--porcelain"]), "");
    }
    // Somebody who switched it since is left alone; where there is no such file none is made.
    let env = environment(tasks.as_bytes(), true);
    env.write(".taskmaster/state.json", state);
    env.auto("start 1 --tag later").ok();
    env.write(".taskmaster/state.json", state.replace("master", "third"));
    env.auto("abort").ok();
    assert_eq!(
        env.read(".taskmaster/state.json"),
        state.replace("master", "third")
    );
    let env = environment(tasks.as_bytes(), true);
    env.whole_run("start 1 --tag later");
    assert!(!env.project().join(".taskmaster/state.json").exists());
    // A state that names the tag chooses it.
    env.write(".taskmaster/state.json", state.replace("master", "later"));
    env.git(&["switch", "--quiet", "main"]);
    let answer = env.refused("start 1", 3, "all_done", "merge");
    assert!(answer.message().contains("`later/task-1-t`"), "{answer:#?}");
    let plan = env.auto("start 1 --dry-run --branch anew").ok();
    assert_eq!(plan["tag"], "later");
}

#[test]
fn the_work_of_a_project_in_a_subfolder_is_all_of_its_repository() {
    let mut env = TestEnvironment::bare();
    env.init();
    env.write("app/.taskmaster/config.json", CONFIG);
    env.write(
        &format!("app/{FILE}"),
        r#"{"tasks": [{"id": 1, "title": "t", "status": "pending"}]}"#,
    );
    env.write("lib/a.txt", "a\n");
    env.write("lib/b.txt", "b\n");
    env.write("all.lock", "1\n");
    env.commit_all("Begin");
    env.cwd = env.project().join("app");
    env.write("lib/a.txt", "somebody else's\n");
    env.write("lib/new.txt", "new\n");
    env.refused("start 1", 3, "dirty_tree", "--allow-dirty");
    env.auto("start 1 --allow-dirty").ok();
    let red = "complete red --results failed:1,passed:0";
    env.refused(red, 3, "red_without_tests", "");
    env.write("app/tests/a.sh", "test\n");
    env.refused(&format!("{red} --files ../../a"), 2, "bad_path", "");
    env.auto(&format!("{red} --files tests/a.sh")).ok();
    // The change alone of what lies beside it is one.
    env.write("lib/b.txt", "code\n");
    env.write("all.lock", "2\n");
    // From a folder further down too.
    env.write("app/src/keep", "");
    env.cwd = env.project().join("app/src");
    env.auto("complete green --results failed:0,passed:1").ok();
    env.write("lib/new.txt", "newer\n");
    env.refused("commit", 3, "was_dirty", "--files");
    env.write("lib/new.txt", "new\n");
    env.write("lib/b.txt", "other code\n");
    assert_eq!(env.auto("commit").code(), "changed_after_green");
    env.write("lib/b.txt", "code\n");
    env.auto("commit").ok();
    assert_eq!(
        env.git(&["show", "--format=", "--name-only", "HEAD"]),
        "all.lock\napp/src/keep\napp/tests/a.sh\nlib/b.txt"
    );
    env.auto("finalize --results failed:0,passed:1").ok();
    env.cwd = env.project();
    assert_eq!(
        env.git(&["status", "--porcelain"]),
        " M lib/a.txt\n?? lib/new.txt"
    );
}

#[test]
fn worktrees_are_projects_of_their_own() {
    let mut env = TestEnvironment::new();
    let elsewhere = env.folder().join("elsewhere");
    env.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "dev",
        elsewhere.to_str().unwrap(),
    ]);
    let here = env.project();
    env.auto("start 1").ok();
    env.cwd.clone_from(&elsewhere);
    env.refused("next", 4, "no_run", "tm autopilot start");
    env.auto("start 4").ok();
    assert_eq!(env.runs().len(), 2);

    // Turn and turn about.
    let write = |root: &Path, path: &str| {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), "x\n").unwrap();
    };
    for (step, path) in [
        (
            "complete red --results failed:1,passed:0",
            Some("tests/a.sh"),
        ),
        (
            "complete green --results failed:0,passed:1",
            Some("src/a.sh"),
        ),
        ("commit", None),
    ] {
        for root in [&here, &elsewhere] {
            env.cwd.clone_from(root);
            if let Some(path) = path {
                write(root, path);
            }
            env.auto(step).ok();
        }
    }
    env.cwd.clone_from(&elsewhere);
    env.auto("finalize --results failed:0,passed:1").ok();
    assert_eq!(
        env.git(&["symbolic-ref", "--short", "HEAD"]),
        "master/task-4-on-its-own"
    );
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    env.cwd.clone_from(&here);
    assert_eq!(
        env.git(&["symbolic-ref", "--short", "HEAD"]),
        "master/task-1-count-the-words"
    );
    assert_eq!(env.unit(), "workUnit-1.2-RED");
    env.finish();
}

/// Whatever is put in, taken out or moved while a run is under way: the item that the run is about is ticked, or none.
#[test]
fn a_plan_that_is_edited_meanwhile_ticks_no_other_item() {
    const PLAN: &str = "# Words\n\n- [ ] alpha\n- [ ] beta\n";
    for (edited, expected, owed) in [
        (
            "# Words\n\n- [ ] new\n- [ ] alpha\n- [ ] beta\n",
            "# Words\n\n- [ ] new\n- [x] alpha\n- [ ] beta\n",
            false,
        ),
        (
            "# Words\n\n- [ ] beta\n- [ ] alpha\n",
            "# Words\n\n- [ ] beta\n- [x] alpha\n",
            false,
        ),
        ("# Words\n\n- [ ] beta\n", "# Words\n\n- [ ] beta\n", true),
        (
            "# Words\n\n- [ ] alpha\n- [ ] beta\n- [ ] alpha\n",
            "# Words\n\n- [ ] alpha\n- [ ] beta\n- [ ] alpha\n",
            true,
        ),
        (
            "# Other words\n\n- [ ] alpha\n- [ ] beta\n",
            "# Other words\n\n- [x] alpha\n- [ ] beta\n",
            false,
        ),
    ] {
        let env = environment(b"{\"tasks\": []}", true);
        env.write("plan.md", PLAN);
        env.commit_all("A plan");
        env.auto("start --plan plan.md").ok();
        env.to_commit();
        env.write("plan.md", edited);
        let committed = env.auto("commit").ok();
        assert_eq!(env.read("plan.md"), expected);
        let warning = committed["warning"].as_str().unwrap_or_default();
        assert_eq!(
            warning.contains("it is owed"),
            owed,
            "{edited:?}: {committed}"
        );
        assert_eq!(
            warning.contains("somebody else"),
            !owed,
            "{edited:?}: {committed}"
        );
        let committed = env.git(&["show", "HEAD:plan.md"]);
        let as_it_was = if owed { PLAN } else { expected };
        assert_eq!(committed.trim_end(), as_it_was.trim_end());
    }
}

/// A status that has no place in the file any more is owed, and nobody's removal of tasks is committed under our name.
#[test]
fn a_status_that_cannot_be_written_is_owed() {
    let tasks = r#"{"master": {"tasks": [{"id": 1, "title": "t", "status": "pending", "subtasks": [{"id": 1, "title": "a", "status": "pending"}, {"id": 2, "title": "b", "status": "pending"}]}]}}"#;
    let without = tasks.replace(r#"{"id": 1, "title": "a", "status": "pending"}, "#, "");
    let env = environment(tasks.as_bytes(), true);
    env.auto("start 1").ok();
    env.to_commit();
    env.write(FILE, &without);
    let committed = env.auto("commit").ok();
    let warning = committed["warning"].as_str().unwrap_or_default();
    assert!(
        warning.contains("1.1") && warning.contains("owed"),
        "{committed}"
    );
    assert_eq!(env.read(FILE), without);
    assert_eq!(env.git(&["show", &format!("HEAD:{FILE}")]), tasks);
    // It comes back, and what is owed is written with the next commit.
    env.write(FILE, tasks);
    env.subtask();
    let both = tasks.replace("\"pending\"}", "\"done\"}");
    assert_eq!(env.read(FILE), both);

    // All tasks are gone: the run ends, says what it could not write, and commits nothing.
    let gone = r#"{"master": {"tasks": []}}"#;
    env.write(FILE, gone);
    let head = env.head();
    let end = env.auto("finalize --results failed:0,passed:2").ok();
    let warning = end["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("owed"), "{end}");
    assert_eq!(env.head(), head);
    assert_eq!(env.read(FILE), gone);
    let report = end["report"].as_str().unwrap();
    assert!(report.contains("could not be written"), "{report}");
}

/// What somebody else writes into the file comes along, since git commits whole files; it is said.
#[test]
fn changes_of_others_in_the_tasks_file_are_named() {
    let tasks = r#"{"master": {"tasks": [{"id": 1, "title": "t", "status": "pending", "subtasks": [{"id": 1, "title": "a", "status": "pending"}]}]}}"#;
    let env = environment(tasks.as_bytes(), true);
    env.auto("start 1").ok();
    env.to_commit();
    env.write(
        FILE,
        tasks.replace("\"title\": \"t\"", "\"title\": \"my idea\""),
    );
    let committed = env.auto("commit").ok();
    let warning = committed["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("somebody else"), "{committed}");
}

/// A clone may bring links along. What they lead to is the user's.
#[test]
fn a_link_of_the_repository_is_not_written_through() {
    for link in [
        ".taskmaster",
        ".taskmaster/tasks",
        ".taskmaster/tasks/tasks.json",
        ".taskmaster/state.json",
        "plan.md",
    ] {
        let env = TestEnvironment::new();
        env.write(".taskmaster/state.json", "{\"currentTag\": \"other\"}\n");
        env.write("plan.md", "# A plan\n\n- [ ] One\n");
        env.commit_all("Files");
        let outside = env.folder().join("outside");
        let place = env.project().join(link);
        fs::rename(&place, &outside).unwrap();
        std::os::unix::fs::symlink(&outside, &place).unwrap();
        let start: &[&str] = match link {
            "plan.md" => &["autopilot", "start", "--plan", "plan.md", "--allow-dirty"],
            _ => &[
                "autopilot",
                "--tag",
                "master",
                "start",
                "1",
                "--allow-dirty",
            ],
        };
        let abort = || env.auto("abort").ok();
        // Whoever made the link here may have it followed.
        env.tm(start).ok();
        abort();
        env.git(&["switch", "--quiet", "main"]);
        env.git(&["add", "--all"]);
        env.git(&["commit", "--quiet", "--message", "Link"]);
        let before = everything_below(&outside);
        env.refused_of(start, 3, "leads_outside", "out of git");
        assert_eq!(everything_below(&outside), before, "{link}");
    }
}

/// What a file holds, or all files of a folder.
fn everything_below(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    if path.is_file() {
        return vec![(path.to_owned(), fs::read(path).unwrap())];
    }
    let mut all: Vec<_> = fs::read_dir(path)
        .unwrap()
        .flat_map(|entry| everything_below(&entry.unwrap().path()))
        .collect();
    all.sort();
    all
}

/// A link in a submodule came with the clone as well.
#[test]
fn links_of_a_submodule_are_not_written_through() {
    let env = TestEnvironment::new();
    let (outside, part) = (env.folder().join("outside"), env.folder().join("part"));
    fs::rename(env.project().join(".taskmaster/tasks"), &outside).unwrap();
    fs::rename(env.project().join(".taskmaster"), &part).unwrap();
    std::os::unix::fs::symlink("../../outside", part.join("tasks")).unwrap();
    let within = |arguments: &[&str]| {
        let all = [&["-C", part.to_str().unwrap()], arguments].concat();
        env.git(&all);
    };
    within(&["init", "--quiet"]);
    within(&["add", "--all"]);
    let name = ["-c", "user.name=A", "-c", "user.email=a@localhost"];
    within(&[&name[..], &["commit", "--quiet", "--message", "Part"]].concat());
    env.git(&["rm", "-r", "--quiet", "--cached", ".taskmaster"]);
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "--quiet",
    ];
    env.git(&[&add[..], &[part.to_str().unwrap(), ".taskmaster"]].concat());
    env.commit_all("A part");
    let before = everything_below(&outside);
    let start = ["autopilot", "--tag", "master", "start", "1"];
    env.refused_of(&start, 3, "leads_outside", "out of git");
    assert_eq!(everything_below(&outside), before);
}

#[test]
fn a_closing_commit_that_failed_is_made_when_it_is_repeated() {
    let env = TestEnvironment::started();
    env.to_finalize();
    env.hook("pre-commit", "kill -9 $PPID");
    let failed = env.auto("finalize --results failed:0,passed:2");
    assert_ne!(failed.status, 0, "{failed:#?}");
    let status = || env.tm(&["tasks", "show", "1"]).ok()["status"].clone();
    assert_ne!(status(), "review");
    env.hook("pre-commit", "exit 0");
    let resumed = env.auto("resume").ok();
    assert_eq!(resumed["nextAction"]["status"], "completed", "{resumed}");
    assert_eq!(status(), "review");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}
