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
    let project = Project::with_tasks(TAGGED);
    let task = project.task("1");
    // Without a status it is not begun.
    insta::assert_snapshot!(parts(&task), @r"
    1.1 done
    1.2 pending 1.1
    1.3 pending 1.1 1.2 2.1
    ");
    assert_eq!(task.elsewhere.get("2.1"), Some(&Status::Review));
    assert!(task.subtasks.iter().all(|subtask| !subtask.implicit));
    let json = serde_json::to_value(&task).unwrap();
    for (place, expected) in [
        ("/id", "1"),
        ("/title", "Create the CLI"),
        ("/description", "A skeleton."),
        ("/details", "Use the parser."),
        ("/testStrategy", "Run it."),
        ("/status", "in-progress"),
        ("/subtasks/1/acceptanceCriteria/0", "it starts"),
        ("/subtasks/1/acceptanceCriteria/1", "it says so"),
    ] {
        assert_eq!(json.pointer(place).unwrap(), expected);
    }
    assert_eq!(serde_json::from_value::<Task>(json).unwrap(), task);

    // One without subtasks is one subtask.
    let task = project.task("3");
    let [only] = task.subtasks.as_slice() else {
        panic!("one subtask: {:?}", task.subtasks)
    };
    let told = [&only.id, &only.title, &only.description];
    assert_eq!(told, ["3.1", "Alone", "By itself."]);
    assert_eq!((&*only.details, &*only.test_strategy), ("D", "T"));
    assert!(only.implicit);
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
    // The older shape is the tag `master`, and a tag may be called `tasks`. Texts in other forms are taken.
    let older = r#"{"tasks": [{"id": 1, "title": 404, "description": null, "details": ["a", "b"],
        "status": null, "subtasks": null, "dependencies": null}], "metadata": {}}"#;
    let named = format!("{{\"tasks\": {older}}}");
    for (text, own, other) in [(older, "master", "tasks"), (&named, "tasks", "master")] {
        let project = Project::with_tasks(text);
        let task = project.tag(own).load_task("1").unwrap();
        assert_eq!((&*task.title, &*task.details), ("404", "a\nb"));
        assert_eq!(task.status, Status::Pending);
        assert_eq!(project.tag(own).tags().unwrap(), [own]);
        let error = project.tag(other).load_task("1").unwrap_err();
        assert_eq!(error.code(), "not_found");
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
    for (tag, id, unmet, in_review) in [
        ("master", "2", "1=in-progress 7=none", ""),
        ("feature", "1", "", "2"),
    ] {
        let tag = project.tag(tag);
        let check = tag.check_dependencies(&tag.load_task(id).unwrap()).unwrap();
        let told = check.unmet.iter().map(|unmet| {
            let status = unmet.status.as_ref().map_or("none", Status::as_str);
            format!("{}={status}", unmet.id)
        });
        let told = told.collect::<Vec<_>>().join(" ");
        assert_eq!((&*told, &*check.in_review.join(" ")), (unmet, in_review));
    }
}

#[test]
fn unknown_ids_are_told_with_the_known_ones() {
    let project = Project::with_tasks(TAGGED);
    let error = project.error("9");
    assert_eq!(error.code(), "not_found");
    assert_eq!(error.suggestion().unwrap(), "use one of: 1, 2, 3");
    for id in ["1.2", "3.1"] {
        let error = project.error(id);
        assert!(matches!(error, TaskError::IsSubtask { .. }), "{id}");
    }
    assert_eq!(Project::new().error("1").code(), "tasks_missing");
    for id in ["../x", "a/b", "-f", "a\\b"] {
        let text = json!({ "tasks": [{ "id": id, "title": "t" }] });
        let error = Project::with_tasks(text.to_string()).error(id);
        assert_eq!(error.code(), "bad_name", "{id}");
    }
    let twice = r#"{"tasks": [{"id": 1, "title": "a"}, {"id": "1", "title": "b"}]}"#;
    let error = Project::with_tasks(twice).error("1");
    assert!(matches!(error, TaskError::DuplicateId { .. }), "{error}");
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
        let (_, told) = told.split_once("tasks.json:").unwrap();
        assert_eq!(told, expected, "{text}");
    }
    let error = Project::with_tasks(b"{\n \"a\": \"\xff\"}").error("1");
    assert!(error.to_string().contains(":2:8: not UTF-8"), "{error}");
    let deep = "[".repeat(500_000) + &"]".repeat(500_000);
    let text = format!(r#"{{"tasks": [{{"id": 1, "title": "t", "x": {deep}}}]}}"#);
    assert_eq!(Project::with_tasks(text).error("1").code(), "tasks_invalid");
    let project = Project::new();
    std::fs::create_dir_all(project.path(".taskmaster/tasks/tasks.json")).unwrap();
    assert_eq!(project.error("1").code(), "io_failed");
}

#[test]
fn spellings_of_a_status() {
    for case in "pending=pending,in-progress=in-progress,In Progress=in-progress,in_progress=in-progress,DONE=done,\
                 completed=completed,canceled=cancelled,Deferred=deferred,blocked=blocked,review=review,Waiting=Waiting".split(',')
    {
        let (text, expected) = case.split_once('=').unwrap();
        let status = Status::from_text(text);
        assert_eq!(status.as_str(), expected);
        assert_eq!(matches!(status, Status::Other(_)), text == "Waiting", "{text}");
        let json = serde_json::to_string(&status).unwrap();
        assert_eq!(serde_json::from_str::<Status>(&json).unwrap(), status);
    }
}

#[test]
fn tasks_of_the_command_line() {
    let two = ["Store".to_owned(), "Forget".to_owned()];
    let two = InlineTask::new(" Add a cache! ", &two).unwrap();
    assert_eq!((&*two.id(), two.path()), ("add-a-cache", None));
    let task = two.load_task("add-a-cache").unwrap();
    assert_eq!(task.title, "Add a cache!");
    assert_eq!(parts(&task), "add-a-cache.1 pending\nadd-a-cache.2 pending");
    let change = StatusChange::new("add-a-cache.1", "done");
    assert_eq!(two.rewrite(&[change]).unwrap(), None);
    assert_eq!(two.load_task("other").unwrap_err().code(), "not_found");
    let one = InlineTask::new("Alone", &[]).unwrap();
    for (task, implicit, count) in [(&two, false, 3), (&one, true, 1)] {
        assert_eq!(task.task().subtasks[0].implicit, implicit);
        assert_eq!(task.task_statuses().unwrap().len(), count);
    }
    for (title, subtasks) in [("  ", &[][..]), ("a", &[String::new()])] {
        let error = InlineTask::new(title, subtasks).unwrap_err();
        assert_eq!(error.code(), "usage");
    }
}

#[test]
fn many_tasks_are_read_in_linear_time() {
    let subtask = r#"{"id": 1, "title": "s", "status": "pending", "details": "0123456789012345678901234567890123456789"}"#;
    let task = |id| {
        format!(r#"{{"id": {id}, "title": "t", "status": "pending", "subtasks": [{subtask}]}}"#)
    };
    let tasks: Vec<String> = (0..30_000).map(task).collect();
    let text = format!(r#"{{"tasks": [{}]}}"#, tasks.join(","));
    let source = Project::with_tasks(&text);
    let source = source.source();
    assert_eq!(source.load_task("29999").unwrap().id, "29999");
    let change = StatusChange::new("29999.1", "done");
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
        let (id, waits) = entry.split_once(": ").unwrap_or((entry, ""));
        let done = id.strip_prefix('+');
        let (id, status) = done.map_or((id, "pending"), |id| (id, "done"));
        let number = |id: &str| id.parse::<u32>().map_or_else(|_| json!(id), |id| json!(id));
        let waits: Vec<Value> = waits.split_whitespace().map(number).collect();
        let (of, number) = id.split_once('.').unwrap_or(("", id));
        let new = json!({ "id": number, "title": "t", "status": status, "dependencies": waits, "subtasks": [] });
        match tasks.iter_mut().find(|task| task["id"] == of) {
            Some(task) => task["subtasks"].as_array_mut().unwrap().push(new),
            None => tasks.push(new),
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
