//! Reading `tasks.json`.

use workspace::tasks::{InlineTask, Status, StatusChange, TaskError, TaskFile, TaskSource, circle};

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

#[test]
fn a_task_is_read_with_its_subtasks() {
    let project = Project::with_tasks(TAGGED);
    let task = project.source().load_task("1").unwrap();
    assert_eq!(
        (task.id.as_str(), task.title.as_str()),
        ("1", "Create the CLI")
    );
    assert_eq!(task.description, "A skeleton.");
    assert_eq!(task.details, "Use the parser.");
    assert_eq!(task.test_strategy, "Run it.");
    assert_eq!(task.status, Status::InProgress);
    let ids: Vec<_> = task
        .subtasks
        .iter()
        .map(|subtask| subtask.id.as_str())
        .collect();
    assert_eq!(ids, ["1.1", "1.2", "1.3"]);
    assert_eq!(task.subtasks[0].status, Status::Done);
    assert_eq!(task.subtasks[1].dependencies, ["1.1"]);
    assert_eq!(
        task.subtasks[1].acceptance_criteria,
        ["it starts", "it says so"]
    );
    assert_eq!(
        task.subtasks[2].status,
        Status::Pending,
        "without a status it is not begun"
    );
    assert_eq!(task.subtasks[2].dependencies, ["1.1", "1.2", "2.1"]);
    assert_eq!(task.elsewhere.get("2.1"), Some(&Status::Review));
    assert!(task.subtasks.iter().all(|subtask| !subtask.implicit));
}

#[test]
fn a_task_without_subtasks_is_one_subtask() {
    let project = Project::with_tasks(TAGGED);
    let task = project.source().load_task("3").unwrap();
    let [only] = task.subtasks.as_slice() else {
        panic!("one subtask: {:?}", task.subtasks)
    };
    assert!(only.implicit);
    assert_eq!(only.id, "3.1");
    assert_eq!(
        (only.title.as_str(), only.description.as_str()),
        ("Alone", "By itself.")
    );
    assert_eq!(
        (only.details.as_str(), only.test_strategy.as_str()),
        ("D", "T")
    );
    assert_eq!(only.acceptance_criteria, ["one", "two"]);
}

#[test]
fn tags_are_lists_of_their_own() {
    let project = Project::with_tasks(TAGGED);
    assert_eq!(project.source().tags().unwrap(), ["master", "feature"]);
    let feature = TaskFile::in_project(project.root.path(), "feature").unwrap();
    assert_eq!(feature.load_task("1").unwrap().title, "In the feature");
    let missing = TaskFile::in_project(project.root.path(), "later").unwrap();
    let error = missing.load_task("1").unwrap_err();
    assert!(matches!(&error, TaskError::UnknownTag { tags, .. } if *tags == ["master", "feature"]));
    assert_eq!(
        error.suggestion().unwrap(),
        "name one of these tags: master, feature"
    );
    for tag in ["../up", "a/b", "-x", ""] {
        let error = TaskFile::in_project(project.root.path(), tag).unwrap_err();
        assert_eq!(error.code(), "bad_name", "{tag:?}");
    }
}

#[test]
fn the_older_shape_is_the_tag_master() {
    let project = Project::with_tasks(r#"{"tasks": [{"id": 5, "title": "Old"}], "metadata": {}}"#);
    assert_eq!(project.source().load_task("5").unwrap().title, "Old");
    assert_eq!(project.source().tags().unwrap(), ["master"]);
    let other = TaskFile::in_project(project.root.path(), "other").unwrap();
    assert_eq!(other.load_task("5").unwrap_err().code(), "unknown_tag");
}

#[test]
fn a_tag_may_be_called_tasks() {
    let project = Project::with_tasks(r#"{"tasks": {"tasks": [{"id": 1, "title": "T"}]}}"#);
    let source = TaskFile::in_project(project.root.path(), "tasks").unwrap();
    assert_eq!(source.load_task("1").unwrap().title, "T");
    assert_eq!(source.tags().unwrap(), ["tasks"]);
    assert_eq!(
        project.source().load_task("1").unwrap_err().code(),
        "unknown_tag"
    );
}

#[test]
fn statuses_and_dependencies_of_tasks() {
    let project = Project::with_tasks(TAGGED);
    let source = project.source();
    let statuses = source.task_statuses().unwrap();
    let listed: Vec<_> = statuses
        .iter()
        .map(|(id, status)| format!("{id}={status}"))
        .collect();
    assert_eq!(
        listed,
        [
            "1=in-progress",
            "1.1=done",
            "1.2=pending",
            "1.3=pending",
            "2=pending",
            "2.1=review",
            "3=pending"
        ]
    );
    let check = source
        .check_dependencies(&source.load_task("2").unwrap())
        .unwrap();
    let unmet: Vec<_> = check
        .unmet
        .iter()
        .map(|unmet| (unmet.id.as_str(), unmet.status.as_ref()))
        .collect();
    assert_eq!(unmet, [("1", Some(&Status::InProgress)), ("7", None)]);
    let feature = TaskFile::in_project(project.root.path(), "feature").unwrap();
    let check = feature
        .check_dependencies(&feature.load_task("1").unwrap())
        .unwrap();
    assert!(check.unmet.is_empty());
    assert_eq!(check.in_review, ["2"]);
}

#[test]
fn unknown_ids_are_told_with_the_known_ones() {
    let project = Project::with_tasks(TAGGED);
    let error = project.source().load_task("9").unwrap_err();
    assert_eq!(error.code(), "unknown_task");
    assert_eq!(error.suggestion().unwrap(), "use one of: 1, 2, 3");
    for id in ["1.2", "3.1"] {
        let error = project.source().load_task(id).unwrap_err();
        assert!(
            matches!(error, TaskError::IsSubtask { .. }),
            "{id}: {error}"
        );
    }
    let error = Project::new().source().load_task("1").unwrap_err();
    assert_eq!(error.code(), "tasks_missing");
    assert!(error.suggestion().unwrap().contains("by a title"));
}

#[test]
fn what_is_wrong_in_the_file_is_placed() {
    for (text, place, says) in [
        (
            "{\n  \"master\": {\n    \"tasks\": [\n      {\"id\": 1,}\n    ]}}",
            "4:16",
            "key must be a string",
        ),
        ("", "1:1", "ends"),
        ("[]", "1:1", "an object is expected"),
        (
            "{\"tasks\": [\n{\"id\": true, \"title\": \"a\"}]}",
            "2:8",
            "a number or a string",
        ),
        ("{\"tasks\": [\n 7]}", "2:2", "an object is expected"),
        ("{\"tasks\": [\n{\"title\": \"a\"}]}", "2:1", "no `id`"),
        ("{\"tasks\": [\n{\"id\": 1}]}", "2:1", "no `title`"),
        (
            "{\"tasks\": [{\"id\": 1, \"title\": \"a\",\n\"status\": 3}]}",
            "2:11",
            "a string is expected",
        ),
        (
            "{\"tasks\": [{\"id\": 1, \"title\": \"a\",\n\"subtasks\": {}}]}",
            "2:13",
            "a list is expected",
        ),
        (
            "{\"tasks\": [{\"id\": 1, \"title\": \"a\",\n\"dependencies\": [{}]}]}",
            "2:18",
            "an id is",
        ),
        (
            "{\"tasks\": [{\"id\": 1, \"title\": {\"x\": 1}}]}",
            "1:31",
            "a string is expected",
        ),
        (
            "{\"tasks\": [{\"id\": 1, \"title\": \"a\0\"}]}",
            "1:32",
            "control character",
        ),
    ] {
        let project = Project::with_tasks(text);
        let error = project.source().load_task("1").unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains(&format!("tasks.json:{place}: ")),
            "{text:?}: {message}"
        );
        assert!(message.contains(says), "{text:?}: {message}");
        assert_eq!(error.code(), "tasks_invalid");
        assert_eq!(project.tasks(), text);
    }
    let project = Project::with_tasks(b"{\n \"a\": \"\xff\"}");
    let message = project.source().load_task("1").unwrap_err().to_string();
    assert!(message.contains(":2:8: not UTF-8"), "{message}");
}

#[test]
fn ids_that_lead_elsewhere_and_ids_used_twice_are_refused() {
    for id in ["../x", "a/b", "-f", "a\\\\b"] {
        let project =
            Project::with_tasks(format!(r#"{{"tasks": [{{"id": "{id}", "title": "t"}}]}}"#));
        let error = project
            .source()
            .load_task(&id.replace("\\\\", "\\"))
            .unwrap_err();
        assert_eq!(error.code(), "bad_name", "{id}");
    }
    let twice = r#"{"tasks": [{"id": 1, "title": "a"}, {"id": "1", "title": "b"}]}"#;
    let error = Project::with_tasks(twice)
        .source()
        .load_task("1")
        .unwrap_err();
    assert!(matches!(error, TaskError::DuplicateId { .. }), "{error}");
}

#[test]
fn texts_in_other_forms_are_taken() {
    let project = Project::with_tasks(
        r#"{"tasks": [{"id": 1, "title": 404, "description": null, "details": ["a", "b"],
            "status": null, "subtasks": null, "dependencies": null}]}"#,
    );
    let task = project.source().load_task("1").unwrap();
    assert_eq!(
        (task.title.as_str(), task.details.as_str()),
        ("404", "a\nb")
    );
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
fn a_task_survives_json() {
    let task = Project::with_tasks(TAGGED).source().load_task("1").unwrap();
    let json = serde_json::to_value(&task).unwrap();
    assert_eq!(json["testStrategy"], "Run it.");
    assert_eq!(json["subtasks"][1]["acceptanceCriteria"][0], "it starts");
    assert_eq!(
        serde_json::from_value::<workspace::tasks::Task>(json).unwrap(),
        task
    );
}

#[test]
fn tasks_of_the_command_line() {
    let two =
        InlineTask::new(" Add a cache! ", &["Store".to_owned(), "Forget".to_owned()]).unwrap();
    assert_eq!(two.id(), "add-a-cache");
    assert_eq!(two.path(), None);
    let task = two.load_task("add-a-cache").unwrap();
    assert_eq!(task.title, "Add a cache!");
    let ids: Vec<_> = task
        .subtasks
        .iter()
        .map(|subtask| subtask.id.as_str())
        .collect();
    assert_eq!(ids, ["add-a-cache.1", "add-a-cache.2"]);
    assert!(!task.subtasks[0].implicit);
    let change = StatusChange::new("add-a-cache.1", "done");
    assert_eq!(two.rewrite(&[change]).unwrap(), None);
    assert_eq!(two.load_task("other").unwrap_err().code(), "unknown_task");
    assert_eq!(two.task_statuses().unwrap().len(), 3);

    let one = InlineTask::new("Alone", &[]).unwrap();
    assert!(one.task().subtasks[0].implicit);
    assert_eq!(one.task_statuses().unwrap().len(), 1);
    assert_eq!(InlineTask::new("  ", &[]).unwrap_err().code(), "no_title");
    assert_eq!(
        InlineTask::new("a", &[String::new()])
            .unwrap_err()
            .to_string(),
        "subtask 1 has no title"
    );
}

#[test]
fn ten_megabytes_are_read_in_linear_time() {
    let subtask = r#"{"id": 1, "title": "s", "status": "pending", "details": "0123456789012345678901234567890123456789"}"#;
    let tasks: Vec<String> = (0..60_000)
        .map(|id| {
            format!(r#"{{"id": {id}, "title": "t", "status": "pending", "subtasks": [{subtask}]}}"#)
        })
        .collect();
    let text = format!(r#"{{"tasks": [{}]}}"#, tasks.join(","));
    assert!(text.len() > 9_000_000);
    let project = Project::with_tasks(&text);
    let source = project.source();
    assert_eq!(source.load_task("59999").unwrap().id, "59999");
    let change = StatusChange::new("59999.1", "done");
    let rewrite = source.rewrite(&[change]).unwrap().unwrap();
    assert_eq!(rewrite.splices.len(), 1);
}

#[test]
fn deep_nesting_is_an_error() {
    let text = format!(
        r#"{{"tasks": [{{"id": 1, "title": "t", "x": {}"#,
        "[".repeat(500_000) + &"]".repeat(500_000) + "}]}"
    );
    let error = Project::with_tasks(text)
        .source()
        .load_task("1")
        .unwrap_err();
    assert!(error.to_string().contains("nesting depth"), "{error}");
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let project = Project::new();
    std::fs::create_dir_all(project.path(".taskmaster/tasks/tasks.json")).unwrap();
    assert_eq!(
        project.source().load_task("1").unwrap_err().code(),
        "tasks_io"
    );
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
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.json");
    std::fs::write(&path, text).unwrap();
    let source = TaskFile::at(&path, "master").unwrap();
    let task = source.load_task("1").unwrap();
    let told: Vec<String> = task
        .subtasks
        .iter()
        .map(|part| {
            format!(
                "{} {} {}",
                part.id,
                part.status,
                part.dependencies.join(" ")
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "1.1 pending ",
            "1.2.1 done 1.1",
            "1.2.2 pending 1.2.1 1.1",
            "1.3 deferred ",
            "1.4 pending 1.2.1 1.2.2",
        ]
    );
    let change = [StatusChange::new("1.2.2", "done")];
    let rewrite = source.rewrite(&change).unwrap().unwrap();
    rewrite.apply().unwrap();
    let statuses = source.task_statuses().unwrap();
    assert_eq!(statuses["1.2.2"], Status::Done);
    assert_eq!(statuses["1.2"], Status::Done);
    assert_eq!(statuses["1.1"], Status::Pending);
    // As a whole it is over now, and so are its parts.
    assert_eq!(source.load_task("1").unwrap().subtasks.len(), 4);
}

#[test]
fn tasks_that_wait_for_each_other_are_a_circle() {
    for (tasks, of, expected) in [
        (r#"[{"id":1,"title":"a","dependencies":[1]}]"#, None, "1 1"),
        (
            r#"[{"id":1,"title":"a","dependencies":[2]},{"id":2,"title":"b","dependencies":[3,1]},{"id":3,"title":"c","dependencies":[1]}]"#,
            None,
            "1 2 3 1",
        ),
        (
            r#"[{"id":1,"title":"a","dependencies":[2]},{"id":2,"title":"b","dependencies":[1]},{"id":3,"title":"c","dependencies":[3]}]"#,
            None,
            "1 2 1",
        ),
        (
            r#"[{"id":1,"title":"a","dependencies":[2]},{"id":2,"title":"b","dependencies":[1]},{"id":3,"title":"c","dependencies":[3]}]"#,
            Some("3"),
            "3 3",
        ),
        // One elsewhere is none of it.
        (
            r#"[{"id":1,"title":"a","dependencies":[2]},{"id":2,"title":"b"},{"id":3,"title":"c","dependencies":[3]}]"#,
            Some("1"),
            "",
        ),
        // Across subtasks, and from a subtask to a task that waits for the one that it is a part of.
        (
            r#"[{"id":1,"title":"a","subtasks":[{"id":1,"title":"x","dependencies":["2.1"]}]},{"id":2,"title":"b","subtasks":[{"id":1,"title":"x","dependencies":["1.1"]}]}]"#,
            None,
            "1.1 2.1 1.1",
        ),
        (
            r#"[{"id":1,"title":"a","subtasks":[{"id":1,"title":"x","dependencies":[2]}]},{"id":2,"title":"b","dependencies":[1]}]"#,
            None,
            "1 1.1 2 1",
        ),
        (
            r#"[{"id":1,"title":"a","dependencies":[2],"subtasks":[{"id":1,"title":"x"}]},{"id":2,"title":"b","subtasks":[{"id":1,"title":"x","dependencies":["1.1"]}]}]"#,
            None,
            "2 2.1 1.1 2",
        ),
        // What is over waits for nothing.
        (
            r#"[{"id":1,"title":"a","dependencies":[2]},{"id":2,"title":"b","status":"done","dependencies":[1]}]"#,
            None,
            "",
        ),
        (
            r#"[{"id":1,"title":"a","dependencies":[2, 3]},{"id":2,"title":"b","dependencies":[3]},{"id":3,"title":"c"}]"#,
            None,
            "",
        ),
    ] {
        let project = Project::with_tasks(format!(r#"{{"master": {{"tasks": {tasks}}}}}"#));
        let (all, _) = project.source().load_tasks().unwrap();
        assert_eq!(
            circle(&all, of).unwrap_or_default().join(" "),
            expected,
            "{tasks}"
        );
    }
}

#[test]
fn a_number_that_no_sibling_has_is_that_of_a_task() {
    let project = Project::with_tasks(
        r#"{"master": {"tasks": [
        {"id": 11, "title": "a", "status": "in-progress"},
        {"id": 2, "title": "b", "subtasks": [{"id": 1, "title": "x", "dependencies": [11]}, {"id": 3, "title": "y", "dependencies": [1]}]},
        {"id": 1, "title": "c", "subtasks": [{"id": 2, "title": "x", "dependencies": [1, 9]}]}]}}"#,
    );
    let task = project.source().load_task("2").unwrap();
    assert_eq!(task.subtasks[0].dependencies, ["11"]);
    assert_eq!(task.subtasks[1].dependencies, ["2.1"]);
    assert_eq!(task.elsewhere["11"], Status::InProgress);
    let own = project.source().load_task("1").unwrap();
    assert_eq!(own.subtasks[0].dependencies, ["1.1", "1.9"]);
}
