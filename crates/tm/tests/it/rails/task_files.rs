//! Where tasks come from, and what is written back: the bytes of a status, and nothing else.

use std::fs;
use std::os::unix::fs::symlink;

use testkit::files::contents;

use super::environment::{
    CONFIG, FINALIZE, GREEN, RED, SETTINGS, TASKS_FILE, TestEnvironment, tells,
};

/// A task without subtasks.
const ALONE: &str = r#"{"tasks": [{"id": 1, "title": "t", "status": "pending"}]}"#;

/// A task with two.
const TWO: &str = r#"{"master": {"tasks": [{"id": 1, "title": "t", "status": "pending", "subtasks": [{"id": 1, "title": "a", "status": "pending"}, {"id": 2, "title": "b", "status": "pending"}]}]}}"#;

/// A repository with these tasks, and with a plan.
fn environment(tasks: &str, plan: &str) -> TestEnvironment {
    let env = TestEnvironment::with(tasks, CONFIG);
    env.commit_file("plan.md", plan);
    env
}

/// Which bytes they are in a file of any form is told where tasks are read.
#[test]
fn the_bytes_of_a_status_are_written_and_no_others() {
    testkit::by_chance!(3);
    // A BOM, Windows line ends, repeated and unknown keys, escapes, no newline at the end.
    let tasks = "\u{feff}{\r\n\t\"master\" : {\"x\":[1e3,-0.10],\"tasks\":[ {\"status\":\"pend\\u0069ng\",\"id\":\"1\",\r\n\
        \"title\":\"\\u00e9\", \"priority\":\"high\" ,\"subtasks\":[\r\n{\"title\":\"status\",\"id\":\"1.1\",\"status\"\t:\t\"pending\"  }]}]}\r\n}";
    let done = tasks
        .replace("\"pend\\u0069ng\"", "\"review\"")
        .replace("\"pending\"", "\"done\"");
    for tracked in [true, false] {
        let env = TestEnvironment::with(tasks, CONFIG);
        if !tracked {
            env.write(".gitignore", ".taskmaster/\n");
            env.git_words("rm --quiet --cached -r .taskmaster");
            env.commit_all("Without the tasks");
        }
        env.whole_run("start 1");
        assert_eq!(env.read(TASKS_FILE), done, "tracked: {tracked}");
        assert_eq!(env.changes(), "");
        assert_eq!(env.git(&["ls-files", TASKS_FILE]).is_empty(), !tracked);
        let subjects = env.git_words("log --format=%s main..HEAD");
        let is_told = subjects.contains("chore(tasks): set task");
        assert_eq!(is_told, tracked, "{subjects}");
    }
}

/// A task without subtasks is run as one, whose `done` is the task's own status.
#[test]
fn the_status_at_the_end_is_a_setting() {
    testkit::by_chance!(3);
    for (setting, expected) in [("\"done\"", "done"), ("false", "pending")] {
        let finalization = format!(r#""finalization": {{"updateTaskStatus": {setting}}}"#);
        let config = format!(r#"{{"test": {{"command": "x"}}, "autopilot": {{{finalization}}}}}"#);
        let env = TestEnvironment::started_on(ALONE, &config);
        assert_eq!(env.next()["subtask"]["id"], "1.1");
        env.subtask();
        assert_eq!(env.read(TASKS_FILE), ALONE);
        env.finish();
        assert_eq!(env.read(TASKS_FILE), ALONE.replace("pending", expected));
        assert_eq!(env.changes(), "");
    }
}

#[test]
fn a_symbolic_link_is_followed() {
    testkit::by_chance!(3);
    let env = TestEnvironment::with(ALONE, CONFIG);
    let link = env.project().join(TASKS_FILE);
    let real = env.project().join("shared.json");
    fs::rename(&link, &real).unwrap();
    symlink(&real, &link).unwrap();
    env.commit_all("A link");
    env.whole_run("start 1");
    assert!(link.is_symlink());
    let done = ALONE.replace("pending", "review");
    assert_eq!(env.read("shared.json"), done);
    assert_eq!(env.changes(), "");
    assert_eq!(env.git(&["show", "HEAD:shared.json"]), done);
}

/// It comes along, since git commits whole files; it is said.
#[test]
fn what_somebody_else_writes_meanwhile_is_kept_and_named() {
    testkit::by_chance!(3);
    let env = TestEnvironment::in_commit();
    let tasks = env.read(TASKS_FILE);
    env.write(TASKS_FILE, tasks.replace("Tabs too.", "my idea"));
    tells(&env.commit()["warning"], &["somebody else"]);
    tells(env.read(TASKS_FILE), &["my idea"]);
    assert_eq!(env.tasks()[0]["subtasks"][0]["status"], "done");
    env.subtask();
    // A file that cannot be read any more is named, and not written.
    env.write(TASKS_FILE, "{");
    env.comes_to(FINALIZE, "tasks_invalid");
    assert_eq!(env.read(TASKS_FILE), "{");
    assert_eq!(env.action(), "finalize");
    env.git(&["checkout", "--quiet", "--", TASKS_FILE]);
    env.auto(FINALIZE).ok();
}

#[test]
fn a_plan_is_ticked() {
    const PLAN: &str =
        "# Words\n\n- [ ] Count them\n  depends on: 2\n* [ ] Find them\n- [x] Read the text\n";
    testkit::by_chance!(3);
    let env = environment("{\"tasks\": []}", PLAN);
    let plan = env.auto("start --plan plan.md --dry-run").ok();
    let order = [0, 1].map(|at| &plan["subtasks"][at]["title"]);
    assert_eq!(order, ["Find them", "Count them"]);
    env.whole_run("start --plan plan.md");
    assert_eq!(env.read("plan.md"), PLAN.replace("[ ]", "[x]"));
    assert_eq!((env.changes(), env.commits()), (String::new(), "2".into()));
}

#[test]
fn a_task_may_be_given_on_the_command_line() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    env.git(&["rm", "--quiet", TASKS_FILE]);
    env.commit_all("No tasks");
    let begin = |title, subtask| {
        let start = ["autopilot", "start", "--title", title];
        env.tm(&[&start[..], &["--subtask", subtask]].concat())
    };
    assert_eq!(begin("a", " ").code(), "usage");
    let started = begin("Count the words", "By spaces").ok();
    assert_eq!(started["branch"], "master/task-count-the-words");
    env.finish();
    assert_eq!((env.changes(), env.commits()), (String::new(), "1".into()));
    assert!(!env.project().join(TASKS_FILE).exists());
    // Nothing in it to make an id of is no reason to refuse.
    env.switch("main");
    begin("!!!", "…").ok();
}

#[test]
fn the_tag_of_the_project_is_switched_and_set_back() {
    testkit::by_chance!(3);
    let tasks = r#"{"master": {"tasks": []}, "later": {"tasks": [{"id": 1, "title": "t", "status": "pending"}]}}"#;
    let path = ".taskmaster/state.json";
    let state = "{\n  \"currentTag\": \"master\",\n  \"other\": [1]\n}\n";
    let env = TestEnvironment::with(tasks, CONFIG);
    env.commit_file(path, state);
    env.save(0);
    env.auto("start 1 --tag later").ok();
    assert_eq!(env.read(path), state.replace("master", "later"));
    env.finish();
    assert_eq!(
        (env.read(path), env.changes()),
        (state.into(), String::new())
    );
    // Somebody who switched it since is left alone.
    for (now, then) in [("later", "master"), ("third", "third")] {
        env.restore(0);
        env.auto("start 1 --tag later").ok();
        env.write(path, state.replace("master", now));
        env.auto("abort").ok();
        assert_eq!(env.read(path), state.replace("master", then));
    }
    // Where there is no such file none is made.
    let env = TestEnvironment::with(tasks, CONFIG);
    env.whole_run("start 1 --tag later");
    assert!(!env.project().join(path).exists());
    // A state that names the tag chooses it; what was done lies on the branch of that.
    env.write(path, state.replace("master", "later"));
    env.switch("main");
    let answer = env.refused("start 1", 3, "all_done", "merge");
    tells(answer.message(), &["`later/task-1-t`"]);
}

#[test]
fn the_work_of_a_project_in_a_subfolder_is_all_of_its_repository() {
    testkit::by_chance!(3);
    let mut env = TestEnvironment::bare();
    env.init();
    env.write(&format!("app/{SETTINGS}"), CONFIG);
    env.write(&format!("app/{TASKS_FILE}"), ALONE);
    env.write("lib/a.txt", "a\n");
    env.write("lib/b.txt", "b\n");
    env.commit_file("all.lock", "1\n");
    env.cwd = env.project().join("app");
    env.write("lib/a.txt", "somebody else's\n");
    env.write("lib/new.txt", "new\n");
    env.refuses("start 1", "dirty_tree");
    env.auto("start 1 --allow-dirty").ok();
    env.refuses(RED, "red_without_tests");
    env.write("app/tests/a.sh", "test\n");
    env.refuses(&format!("{RED} --files ../../a"), "bad_name");
    env.auto(&format!("{RED} --files tests/a.sh")).ok();
    // The change alone of what lies beside it is one.
    env.write("lib/b.txt", "code\n");
    env.write("all.lock", "2\n");
    // From a folder further down too.
    env.write("app/src/keep", "");
    env.cwd = env.project().join("app/src");
    env.auto(GREEN).ok();
    env.write("lib/new.txt", "newer\n");
    env.refuses("commit", "unfit_files");
    env.write("lib/new.txt", "new\n");
    env.write("lib/b.txt", "other code\n");
    env.refuses("commit", "changed_after_green");
    env.write("lib/b.txt", "code\n");
    env.commit();
    let committed = "all.lock\napp/src/keep\napp/tests/a.sh\nlib/b.txt";
    assert_eq!(env.committed(), committed);
    env.auto(FINALIZE).ok();
    assert_eq!(env.changes(), " M lib/a.txt\n?? lib/new.txt");
}

/// Whatever is put in, taken out or moved while a run is under way: the item that the run is about is ticked, or none.
#[test]
fn a_plan_that_is_edited_meanwhile_ticks_no_other_item() {
    const PLAN: &str = "# Words\n\n- [ ] alpha\n- [ ] beta\n";
    testkit::by_chance!(3);
    let env = environment("{\"tasks\": []}", PLAN);
    env.auto("start --plan plan.md").ok();
    env.to_commit();
    env.save(0);
    // What is between the plan's first line and its last, and whether alpha is ticked there.
    for (edited, is_ticked) in [
        ("# Words\n\n- [ ] new\n- [ ] alpha\n- [ ] beta\n", true),
        ("# Words\n\n- [ ] beta\n- [ ] alpha\n", true),
        ("# Other words\n\n- [ ] alpha\n- [ ] beta\n", true),
        ("# Words\n\n- [ ] beta\n", false),
        ("# Words\n\n- [ ] alpha\n- [ ] beta\n- [ ] alpha\n", false),
    ] {
        env.write("plan.md", edited);
        let warning = env.commit()["warning"].to_string();
        let told = ["somebody else", "it is owed"].map(|part| warning.contains(part));
        assert_eq!(told, [is_ticked, !is_ticked], "{edited:?}: {warning}");
        let ticked = edited.replace("[ ] alpha", "[x] alpha");
        let (expected, committed) = if is_ticked {
            (&*ticked, &*ticked)
        } else {
            (edited, PLAN)
        };
        assert_eq!(env.read("plan.md"), expected);
        assert_eq!(env.git(&["show", "HEAD:plan.md"]), committed.trim_end());
        env.restore(0);
    }
}

/// A status that has no place in the file any more is owed, and nobody's removal of tasks is committed under our name.
#[test]
fn a_status_that_cannot_be_written_is_owed() {
    testkit::by_chance!(3);
    let without = TWO.replace(r#"{"id": 1, "title": "a", "status": "pending"}, "#, "");
    let env = TestEnvironment::started_on(TWO, CONFIG);
    let is_owed = |answer: &serde_json::Value, whose: &str| {
        tells(&answer["warning"], &[whose, "owed"]);
    };
    env.to_commit();
    env.write(TASKS_FILE, &without);
    is_owed(&env.commit(), "1.1");
    assert_eq!(env.read(TASKS_FILE), without);
    assert_eq!(env.git(&["show", &format!("HEAD:{TASKS_FILE}")]), TWO);
    // It comes back, and what is owed is written with the next commit.
    env.write(TASKS_FILE, TWO);
    env.subtask();
    let both = TWO.replace("\"pending\"}", "\"done\"}");
    assert_eq!(env.read(TASKS_FILE), both);

    // All tasks are gone: the run ends, says what it could not write, and commits nothing.
    let gone = r#"{"master": {"tasks": []}}"#;
    env.write(TASKS_FILE, gone);
    let head = env.head();
    let end = env.auto(FINALIZE).ok();
    is_owed(&end, "");
    assert_eq!((env.head(), env.read(TASKS_FILE)), (head, gone.to_owned()));
    tells(&end["report"], &["could not be written"]);
}

/// A clone may bring links along. What they lead to is the user's.
#[test]
fn a_link_of_the_repository_is_not_written_through() {
    testkit::by_chance!(3);
    for link in [
        ".taskmaster",
        TASKS_FILE,
        ".taskmaster/state.json",
        "plan.md",
    ] {
        let env = TestEnvironment::new();
        env.write(".taskmaster/state.json", "{\"currentTag\": \"other\"}\n");
        env.commit_file("plan.md", "# A plan\n\n- [ ] One\n");
        let outside = env.folder().join("outside");
        fs::create_dir(&outside).unwrap();
        let (place, real) = (env.project().join(link), outside.join("it"));
        fs::rename(&place, &real).unwrap();
        symlink(&real, &place).unwrap();
        let start = match link {
            "plan.md" => "start --plan plan.md --allow-dirty",
            _ => "--tag master start 1 --allow-dirty",
        };
        // Whoever made the link here may have it followed.
        env.auto(start).ok();
        env.auto("abort").ok();
        env.switch("main");
        env.commit_all("Link");
        let before = contents(&outside);
        env.refused(start, 3, "unsafe_path", "out of git");
        assert_eq!(contents(&outside), before, "{link}");
    }
}

/// A link in a submodule came with the clone as well.
#[test]
fn links_of_a_submodule_are_not_written_through() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    let (outside, part) = (env.folder().join("outside"), env.folder().join("part"));
    fs::rename(env.project().join(".taskmaster/tasks"), &outside).unwrap();
    fs::rename(env.project().join(".taskmaster"), &part).unwrap();
    symlink("../../outside", part.join("tasks")).unwrap();
    let name = "-c user.name=A -c user.email=a@localhost";
    env.git_words("-C ../part init --quiet");
    env.git_words("-C ../part add --all");
    env.git_words(&format!("-C ../part {name} commit --quiet --message Part"));
    env.git_words("rm -r --quiet --cached .taskmaster");
    let allow = "-c protocol.file.allow=always";
    let part = part.display();
    env.git_words(&format!("{allow} submodule add --quiet {part} .taskmaster"));
    env.commit_all("A part");
    let before = contents(&outside);
    env.refused("--tag master start 1", 3, "unsafe_path", "out of git");
    assert_eq!(contents(&outside), before);
}
