//! The tasks of a project: a list of another tool is brought in, a run is made of it, and what is done is written back.

use serde_json::{Value, json};

use super::environment::TestEnvironment;

const SPEC: &str = "specs/001-sums/tasks.md";
const TASKS: &str = "\
# Tasks: Sums

## Phase 1: Setup

- [x] T001 Create the folders

## Phase 2: Sums

- [ ] T002 [US1] Add in src/add.sh
- [ ] T003 Explain it in docs/add.md

- [ ] all is well
";

fn tm(project: &TestEnvironment, words: &[&str]) -> (i32, Value) {
    let output = project
        .program(&[&["tasks"], words, &["--json"]].concat())
        .output()
        .unwrap();
    let told = [output.stdout, output.stderr].concat();
    let answer = serde_json::from_slice(&told)
        .unwrap_or_else(|error| panic!("{words:?}: {error}: {}", String::from_utf8_lossy(&told)));
    (output.status.code().unwrap(), answer)
}

fn auto(project: &TestEnvironment, words: &str) {
    let words: Vec<&str> = words.split(' ').collect();
    let done = project
        .program(&[&["autopilot"], &*words].concat())
        .output()
        .unwrap();
    assert!(done.status.success(), "{words:?}: {done:?}");
}

#[test]
fn a_list_of_another_tool_is_worked_through() {
    let project = TestEnvironment::bare();
    project.write("run.sh", "[ ! -f fail ]\n");
    project.write(
        ".taskmaster/config.json",
        r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#,
    );
    project.write(SPEC, TASKS);
    project.git(&["init", "--quiet", "--template="]);
    project.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    project.git(&["config", "user.name", "A"]);
    project.git(&["config", "user.email", "a@localhost"]);
    let (status, told) = tm(&project, &["list"]);
    assert_eq!(
        (status, &told["error"]["code"]),
        (4, &json!("no_tasks")),
        "{told:#}"
    );

    let (_, planned) = tm(&project, &["import", "specs/001-sums", "--dry-run"]);
    assert_eq!(planned["dryRun"], true, "{planned:#}");
    assert!(!project.project().join(".taskmaster/tasks").exists());
    let (status, told) = tm(&project, &["import", "specs/001-sums"]);
    assert_eq!(status, 0, "{told:#}");
    let outcomes: Vec<_> = told["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| &task["outcome"])
        .collect();
    assert_eq!(outcomes, ["over", "added"]);
    assert_eq!(told["problems"][0]["line"], 12, "{told:#}");
    let (_, told) = tm(&project, &["import", SPEC]);
    assert_eq!(told["tasks"][1]["outcome"], "unchanged", "{told:#}");

    let (_, list) = tm(&project, &["list"]);
    assert_eq!(list["tasks"][0]["subtasks"], 2, "{list:#}");
    let (_, next) = tm(&project, &["next"]);
    assert_eq!(next["task"]["id"], "1", "{next:#}");
    let (_, task) = tm(&project, &["show", "1"]);
    assert_eq!(task["subtasks"][1]["kind"], "docs", "{task:#}");

    project.git(&["add", "--all"]);
    project.git(&["commit", "--quiet", "--message", "Begin"]);
    auto(&project, "start 1");
    project.write("tests/add.sh", "false\n");
    auto(&project, "complete red --results failed:1,passed:0");
    project.write("src/add.sh", "expr $1 + $2\n");
    auto(&project, "complete green --results failed:0,passed:1");
    auto(&project, "commit");
    let (_, told) = tm(&project, &["write-back", "--dry-run"]);
    assert_eq!(told["written"], json!(["T002"]), "{told:#}");
    assert_eq!(project.read(SPEC), TASKS);
    tm(&project, &["write-back"]);
    assert_eq!(
        project.read(SPEC),
        TASKS.replace("- [ ] T002", "- [x] T002")
    );
    let (_, told) = tm(&project, &["write-back"]);
    assert_eq!(told["written"], json!([]), "{told:#}");
}

#[test]
fn what_cannot_be_brought_in_is_told() {
    let project = TestEnvironment::bare();
    project.write("notes.md", "- [ ] buy milk\n");
    project.write("broken.json", "{\"number\": 1");
    for (words, status, code) in [
        (&["import", "notes.md"][..], 2, "import_unreadable"),
        (&["import", "nothing.md"], 2, "import_unreadable"),
        (&["import", "broken.json"], 2, "import_unreadable"),
        (
            &["import", "notes.md", "--from", "jira"],
            2,
            "unknown_format",
        ),
    ] {
        let (told, answer) = tm(&project, words);
        assert_eq!(
            (told, &answer["error"]["code"]),
            (status, &json!(code)),
            "{answer:#}"
        );
    }
    project.write(".taskmaster/tasks/tasks.json", "{");
    project.write(
        "issues.json",
        r#"[{"number": 1, "title": "A", "state": "OPEN"}]"#,
    );
    let (status, told) = tm(&project, &["import", "issues.json"]);
    assert_eq!(
        (status, &told["error"]["code"]),
        (6, &json!("tasks_unreadable")),
        "{told:#}"
    );
    assert_eq!(project.read(".taskmaster/tasks/tasks.json"), "{");
}

#[test]
fn nothing_can_begin() {
    let project = TestEnvironment::bare();
    project.write(
        ".taskmaster/tasks/tasks.json",
        r#"{"master": {"tasks": [{"id": 1, "title": "Later", "status": "deferred"}, {"id": 2, "title": "After", "dependencies": [1]}]}}"#,
    );
    let (status, told) = tm(&project, &["next"]);
    assert_eq!((status, &told["task"]), (7, &Value::Null));
    let (_, list) = tm(&project, &["list"]);
    assert_eq!(list["tasks"][1]["waitsFor"], json!(["1"]), "{list:#}");
}

#[test]
fn a_task_that_start_refuses_is_never_next() {
    let project = TestEnvironment::new();
    project.write(
        ".taskmaster/tasks/tasks.json",
        r#"{"master": {"tasks": [
            {"id": 1, "title": "a", "dependencies": [2]},
            {"id": 2, "title": "b", "dependencies": [1]},
            {"id": 3, "title": "c", "subtasks": [{"id": 1, "title": "x", "dependencies": ["4.1"]}]},
            {"id": 4, "title": "d", "subtasks": [{"id": 1, "title": "x", "dependencies": ["3.1"]}]},
            {"id": 5, "title": "e", "subtasks": [{"id": 1, "title": "x", "status": "done"}]},
            {"id": 6, "title": "f"}]}}"#,
    );
    project.git(&["commit", "--quiet", "--all", "--message", "tasks"]);
    let (status, next) = tm(&project, &["next"]);
    assert_eq!((status, &next["task"]["id"]), (0, &json!("6")), "{next:#}");
    assert_eq!(next["circle"], json!(["1", "2", "1"]));
    let (_, list) = tm(&project, &["list"]);
    for task in list["tasks"].as_array().unwrap() {
        let id = task["id"].as_str().unwrap();
        let waits = task["waitsFor"] != json!([]) || !task["blocked"].is_null();
        let words = ["autopilot", "start", id, "--dry-run", "--json"];
        let started = project.program(&words).output().unwrap();
        assert_eq!(started.status.success(), !waits, "{task:#}: {started:?}");
    }
    let output = project.program(&["doctor", "--json"]).output().unwrap();
    let doctor = String::from_utf8(output.stdout).unwrap();
    assert!(doctor.contains("1 -> 2 -> 1"), "{doctor}");
}
