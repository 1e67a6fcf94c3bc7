//! Reading `tasks.json`.

use serde_json::{Value, json};
use workspace::tasks::{
    InlineTask, Status, StatusChange, Subtask, Task, TaskError, TaskFile, TaskSource, circle,
};

use super::Project;

const TAGGED: &str = r#"{
  "master": {
    "tasks": [
      {
        "id": 1, "title": "Create the CLI", "description": "A skeleton.", "details": "Use the parser.",
        "testStrategy": "Run it.", "status": "in-progress", "priority": "high", "dependencies": [],
        "subtasks": [
          { "id": 1, "title": "Structure", "status": "done", "dependencies": [] },
          { "id": "2", "title": "Start", "description": "Begins.", "details": "d", "testStrategy": "t",
            "status": "pending", "dependencies": [1], "acceptanceCriteria": ["- it starts", "it says so"] },
          { "id": "1.3", "title": "Status", "dependencies": ["1.1", "2", 2, "2.1"] }
        ]
      },
      { "id": "2", "title": "Other", "status": "pending", "dependencies": [1, "7"],
        "subtasks": [{ "id": 1, "title": "Far", "status": "review" }] },
      { "id": "3", "title": "Alone", "description": "By itself.", "details": "D", "testStrategy": "T",
        "status": "pending", "acceptanceCriteria": "one\ntwo" }
    ],
    "metadata": { "created": "2025-01-01" }
  },
  "feature": { "tasks": [{ "id": 1, "title": "In the feature", "status": "done", "dependencies": ["2"] },
                         { "id": 2, "title": "Looked at", "status": "review" }] },
  "notes": { "text": "not a tag" }
}"#;

/// The parts of a task, a line each: id, status, and what they wait for.
fn parts(task: &Task) -> String {
    let line = |part: &Subtask| {
        let waits = part.dependencies.join(" ");
        format!("{} {} {waits}", part.id, part.status)
            .trim_end()
            .to_owned()
    };
    let lines: Vec<String> = task.subtasks.iter().map(line).collect();
    lines.join("\n")
}

#[test]
fn a_task_is_read_with_its_subtasks() {
    let task = Project::with_tasks(TAGGED).task("1");
    assert_eq!((&*task.id, &*task.title), ("1", "Create the CLI"));
    assert_eq!(task.description, "A skeleton.");
    assert_eq!(task.details, "Use the parser.");
    assert_eq!(task.test_strategy, "Run it.");
    assert_eq!(task.status, Status::InProgress);
    // Without a status it is not begun.
    insta::assert_snapshot!(parts(&task), @r"
    1.1 done
    1.2 pending 1.1
    1.3 pending 1.1 1.2 2.1
    ");
    let criteria = &task.subtasks[1].acceptance_criteria;
    assert_eq!(criteria, &["it starts", "it says so"]);
    assert_eq!(task.elsewhere.get("2.1"), Some(&Status::Review));
    assert!(task.subtasks.iter().all(|subtask| !subtask.implicit));
    let json = serde_json::to_value(&task).unwrap();
    assert_eq!(json["testStrategy"], "Run it.");
    assert_eq!(json["subtasks"][1]["acceptanceCriteria"][0], "it starts");
    assert_eq!(serde_json::from_value::<Task>(json).unwrap(), task);
}

#[test]
fn a_task_without_subtasks_is_one_subtask() {
    let task = Project::with_tasks(TAGGED).task("3");
    let [only] = task.subtasks.as_slice() else {
        panic!("one subtask: {:?}", task.subtasks)
    };
    assert!(only.implicit);
    assert_eq!((&*only.id, &*only.title), ("3.1", "Alone"));
    assert_eq!(only.description, "By itself.");
    assert_eq!((&*only.details, &*only.test_strategy), ("D", "T"));
    assert_eq!(only.acceptance_criteria, ["one", "two"]);
}

#[test]
fn tags_are_lists_of_their_own() {
    let project = Project::with_tasks(TAGGED);
    assert_eq!(project.source().tags().unwrap(), ["master", "feature"]);
    let feature = project.tag("feature").load_task("1").unwrap();
    assert_eq!(feature.title, "In the feature");
    let error = project.tag("later").load_task("1").unwrap_err();
    assert!(matches!(&error, TaskError::UnknownTag { tags, .. } if *tags == ["master", "feature"]));
    for tag in ["../up", "a/b", "-x", ""] {
        let error = TaskFile::in_project(project.root.path(), tag).unwrap_err();
        assert_eq!(error.code(), "bad_name", "{tag:?}");
    }
}

#[test]
fn the_older_shape_is_the_tag_master_and_a_tag_may_be_called_tasks() {
    let older = r#"{"tasks": [{"id": 1, "title": "T"}], "metadata": {}}"#;
    let named = r#"{"tasks": {"tasks": [{"id": 1, "title": "T"}]}}"#;
    for (text, own, other) in [(older, "master", "tasks"), (named, "tasks", "master")] {
        let project = Project::with_tasks(text);
        assert_eq!(project.tag(own).load_task("1").unwrap().title, "T");
        assert_eq!(project.tag(own).tags().unwrap(), [own]);
        let error = project.tag(other).load_task("1").unwrap_err();
        assert_eq!(error.code(), "unknown_tag");
    }
}

#[test]
fn statuses_and_dependencies_of_tasks() {
    let project = Project::with_tasks(TAGGED);
    let statuses = project.source().task_statuses().unwrap();
    let listed = statuses.iter().map(|(id, status)| format!("{id}={status}"));
    let listed = listed.collect::<Vec<_>>().join(" ");
    let expected = "1=in-progress 1.1=done 1.2=pending 1.3=pending 2=pending 2.1=review 3=pending";
    assert_eq!(listed, expected);
    let check = project.source().check_dependencies(&project.task("2"));
    let check = check.unwrap();
    let unmet = check.unmet.iter();
    let unmet = unmet.map(|unmet| (&*unmet.id, unmet.status.as_ref()));
    assert!(unmet.eq([("1", Some(&Status::InProgress)), ("7", None)]));
    let feature = project.tag("feature");
    let task = feature.load_task("1").unwrap();
    let check = feature.check_dependencies(&task).unwrap();
    assert!(check.unmet.is_empty());
    assert_eq!(check.in_review, ["2"]);
}

#[test]
fn unknown_ids_are_told_with_the_known_ones() {
    let project = Project::with_tasks(TAGGED);
    let error = project.error("9");
    assert_eq!(error.code(), "unknown_task");
    assert_eq!(error.suggestion().unwrap(), "use one of: 1, 2, 3");
    for id in ["1.2", "3.1"] {
        let error = project.error(id);
        assert!(
            matches!(error, TaskError::IsSubtask { .. }),
            "{id}: {error}"
        );
    }
    assert_eq!(Project::new().error("1").code(), "tasks_missing");
}

#[test]
fn what_is_wrong_in_the_file_is_placed() {
    for case in [
        "{\n  \"master\": {\n    \"tasks\": [\n      {\"id\": 1,}\n    ]}} ⇒ 4:16: key must be a string",
        " ⇒ 1:1: the file ends within a value",
        "[] ⇒ 1:1: the file: an object is expected, not a list",
        "{\"tasks\": [\n{\"id\": true, \"title\": \"a\"}]} ⇒ 2:8: a task, `id`: an id is a number or a string, not true or false",
        "{\"tasks\": [\n 7]} ⇒ 2:2: a task: an object is expected, not a number",
        "{\"tasks\": [\n{\"title\": \"a\"}]} ⇒ 2:1: a task: it has no `id`",
        "{\"tasks\": [\n{\"id\": 1}]} ⇒ 2:1: task 1: it has no `title`",
        "{\"tasks\": [{\"id\": 1, \"title\": \"a\",\n\"status\": 3}]} ⇒ 2:11: task 1, `status`: a string is expected, not a number",
        "{\"tasks\": [{\"id\": 1, \"title\": \"a\",\n\"subtasks\": {}}]} ⇒ 2:13: task 1, `subtasks`: a list is expected, not an object",
        "{\"tasks\": [{\"id\": 1, \"title\": \"a\",\n\"dependencies\": [{}]}]} ⇒ 2:18: task 1, `dependencies`: an id is a number or a string, not an object",
        r#"{"tasks": [{"id": 1, "title": {"x": 1}}]} ⇒ 1:31: task 1, `title`: a string is expected, not an object"#,
        "{\"tasks\": [{\"id\": 1, \"title\": \"a\0\"}]} ⇒ 1:32: control character (\\u0000-\\u001F) found while parsing a string",
    ] {
        let (text, expected) = case.split_once(" ⇒ ").unwrap();
        let project = Project::with_tasks(text);
        let error = project.error("1");
        assert_eq!((error.code(), &*project.tasks()), ("tasks_invalid", text));
        let told = error.to_string();
        assert!(
            told.ends_with(&format!("tasks.json:{expected}")),
            "{text}: {told}"
        );
    }
    let error = Project::with_tasks(b"{\n \"a\": \"\xff\"}").error("1");
    assert!(error.to_string().contains(":2:8: not UTF-8"), "{error}");
    let deep = "[".repeat(500_000) + &"]".repeat(500_000);
    let text = format!(r#"{{"tasks": [{{"id": 1, "title": "t", "x": {deep}}}]}}"#);
    assert_eq!(Project::with_tasks(text).error("1").code(), "tasks_invalid");
    let project = Project::new();
    std::fs::create_dir_all(project.path(".taskmaster/tasks/tasks.json")).unwrap();
    assert_eq!(project.error("1").code(), "tasks_io");
}

#[test]
fn ids_that_lead_elsewhere_and_ids_used_twice_are_refused() {
    for id in ["../x", "a/b", "-f", "a\\b"] {
        let text = serde_json::json!({ "tasks": [{ "id": id, "title": "t" }] });
        let error = Project::with_tasks(text.to_string()).error(id);
        assert_eq!(error.code(), "bad_name", "{id}");
    }
    let twice = r#"{"tasks": [{"id": 1, "title": "a"}, {"id": "1", "title": "b"}]}"#;
    let error = Project::with_tasks(twice).error("1");
    assert!(matches!(error, TaskError::DuplicateId { .. }), "{error}");
}

#[test]
fn texts_in_other_forms_are_taken() {
    let text = r#"{"tasks": [{"id": 1, "title": 404, "description": null, "details": ["a", "b"],
        "status": null, "subtasks": null, "dependencies": null}]}"#;
    let task = Project::with_tasks(text).task("1");
    assert_eq!((&*task.title, &*task.details), ("404", "a\nb"));
    assert_eq!(task.status, Status::Pending);
}

#[test]
fn spellings_of_a_status() {
    for (text, status) in [
        ("pending", Status::Pending),
        ("in-progress", Status::InProgress),
        ("In Progress", Status::InProgress),
        ("in_progress", Status::InProgress),
        ("DONE", Status::Done),
        ("completed", Status::Completed),
        ("canceled", Status::Cancelled),
        ("Deferred", Status::Deferred),
        ("blocked", Status::Blocked),
        ("review", Status::Review),
        ("Waiting", Status::Other("Waiting".to_owned())),
    ] {
        assert_eq!(Status::from_text(text), status);
        let json = serde_json::to_string(&status).unwrap();
        assert_eq!(serde_json::from_str::<Status>(&json).unwrap(), status);
    }
}

#[test]
fn tasks_of_the_command_line() {
    let two = ["Store".to_owned(), "Forget".to_owned()];
    let two = InlineTask::new(" Add a cache! ", &two).unwrap();
    assert_eq!(two.id(), "add-a-cache");
    assert_eq!(two.path(), None);
    let task = two.load_task("add-a-cache").unwrap();
    assert_eq!(task.title, "Add a cache!");
    assert_eq!(parts(&task), "add-a-cache.1 pending\nadd-a-cache.2 pending");
    assert!(!task.subtasks[0].implicit);
    let change = StatusChange::new("add-a-cache.1", "done");
    assert_eq!(two.rewrite(&[change]).unwrap(), None);
    assert_eq!(two.load_task("other").unwrap_err().code(), "unknown_task");
    assert_eq!(two.task_statuses().unwrap().len(), 3);

    let one = InlineTask::new("Alone", &[]).unwrap();
    assert!(one.task().subtasks[0].implicit);
    assert_eq!(one.task_statuses().unwrap().len(), 1);
    for (title, subtasks) in [("  ", &[][..]), ("a", &[String::new()])] {
        let error = InlineTask::new(title, subtasks).unwrap_err();
        assert_eq!(error.code(), "no_title");
    }
}

#[test]
fn ten_megabytes_are_read_in_linear_time() {
    let subtask = r#"{"id": 1, "title": "s", "status": "pending", "details": "0123456789012345678901234567890123456789"}"#;
    let task = |id| {
        format!(r#"{{"id": {id}, "title": "t", "status": "pending", "subtasks": [{subtask}]}}"#)
    };
    let tasks: Vec<String> = (0..60_000).map(task).collect();
    let text = format!(r#"{{"tasks": [{}]}}"#, tasks.join(","));
    assert!(text.len() > 9_000_000);
    let source = Project::with_tasks(&text);
    let source = source.source();
    assert_eq!(source.load_task("59999").unwrap().id, "59999");
    let change = StatusChange::new("59999.1", "done");
    let rewrite = source.rewrite(&[change]).unwrap().unwrap();
    assert_eq!(rewrite.splices.len(), 1);
}

/// Parts of a subtask are what is run of it, and it is done with the last of them.
#[test]
fn subtasks_have_subtasks() {
    let text = r#"{"master": {"tasks": [{"id": 1, "title": "A", "subtasks": [
        {"id": 1, "title": "first", "status": "pending"},
        {"id": 2, "title": "many", "status": "pending", "dependencies": [1], "subtasks": [
            {"id": 1, "title": "one", "status": "done"},
            {"id": 2, "title": "two", "dependencies": [1]}
        ]},
        {"id": 3, "title": "later", "status": "deferred", "subtasks": [{"id": 1, "title": "never"}]},
        {"id": 4, "title": "last", "dependencies": [2]}
    ]}]}}"#;
    let project = Project::with_tasks(text);
    insta::assert_snapshot!(parts(&project.task("1")), @r"
    1.1 pending
    1.2.1 done 1.1
    1.2.2 pending 1.2.1 1.1
    1.3 deferred
    1.4 pending 1.2.1 1.2.2
    ");
    let change = [StatusChange::new("1.2.2", "done")];
    let source = project.source();
    source.rewrite(&change).unwrap().unwrap().apply().unwrap();
    let statuses = source.task_statuses().unwrap();
    let statuses = ["1.2.2", "1.2", "1.1"].map(|id| statuses[id].as_str());
    assert_eq!(statuses, ["done", "done", "pending"]);
    // As a whole it is over now, and so are its parts.
    assert_eq!(project.task("1").subtasks.len(), 4);
}

/// Tasks as `id: what it waits for`, `+` in front of one that is done, and parts with a dot.
fn waiting(told: &str) -> Project {
    let mut tasks: Vec<Value> = Vec::new();
    for entry in told.split(", ") {
        let (id, waits) = entry
            .split_once(": ")
            .unwrap_or((entry.trim_end_matches(':'), ""));
        let (id, status) = id
            .strip_prefix('+')
            .map_or((id, "pending"), |id| (id, "done"));
        let waits: Vec<Value> = waits
            .split_whitespace()
            .map(|id| id.parse::<u32>().map_or_else(|_| json!(id), |id| json!(id)))
            .collect();
        let (of, number) = id.split_once('.').unwrap_or(("", id));
        let new = json!({ "id": number, "title": "t", "status": status, "dependencies": waits, "subtasks": [] });
        if of.is_empty() {
            tasks.push(new);
        } else {
            let task = tasks.iter_mut().find(|task| task["id"] == of).unwrap();
            task["subtasks"].as_array_mut().unwrap().push(new);
        }
    }
    Project::with_tasks(json!({ "master": { "tasks": tasks } }).to_string())
}

#[test]
fn tasks_that_wait_for_each_other_are_a_circle() {
    for (tasks, of, expected) in [
        ("1: 1", None, "1 1"),
        ("1: 2, 2: 3 1, 3: 1", None, "1 2 3 1"),
        ("1: 2, 2: 1, 3: 3", None, "1 2 1"),
        ("1: 2, 2: 1, 3: 3", Some("3"), "3 3"),
        // One elsewhere is none of it.
        ("1: 2, 2, 3: 3", Some("1"), ""),
        // Across subtasks, and from a subtask to a task that waits for the one that it is a part of.
        ("1, 1.1: 2.1, 2, 2.1: 1.1", None, "1.1 2.1 1.1"),
        ("1, 1.1: 2, 2: 1", None, "1 1.1 2 1"),
        ("1: 2, 1.1, 2, 2.1: 1.1", None, "2 2.1 1.1 2"),
        // What is over waits for nothing.
        ("1: 2, +2: 1", None, ""),
        ("1: 2 3, 2: 3, 3", None, ""),
    ] {
        let (all, _) = waiting(tasks).source().load_tasks().unwrap();
        let found = circle(&all, of).unwrap_or_default().join(" ");
        assert_eq!(found, expected, "{tasks}");
    }
}

#[test]
fn a_number_that_no_sibling_has_is_that_of_a_task() {
    let project = waiting("11, 2, 2.1: 11, 2.3: 1, 1, 1.2: 1 9");
    assert_eq!(parts(&project.task("2")), "2.1 pending 11\n2.3 pending 2.1");
    assert_eq!(project.task("2").elsewhere["11"], Status::Pending);
    assert_eq!(parts(&project.task("1")), "1.2 pending 1.1 1.9");
}
