//! Writing a status: these bytes, no others, once.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use proptest::prelude::*;
use workspace::tasks::{
    Applied, FileState, RevertOutcome, Rewrite, StatusChange, TaskError, TaskSource,
};

use super::Project;

fn change(id: &str, status: &str) -> StatusChange {
    StatusChange::new(id, status)
}

/// What the file is after these changes.
fn after(text: &str, changes: &[StatusChange]) -> String {
    let project = Project::with_tasks(text);
    let rewrite = project
        .source()
        .rewrite(changes)
        .unwrap()
        .expect("something changes");
    assert_eq!(
        project.tasks(),
        text,
        "asking for the change changes nothing"
    );
    assert_eq!(rewrite.apply().unwrap(), Applied::Done);
    let result = project.tasks();
    assert_eq!(rewrite.revert().unwrap(), RevertOutcome::Done);
    assert_eq!(project.tasks(), text, "and it can be taken back");
    result
}

const STRANGE: &str = "\u{feff}{\r\n\t\"metadata\":{\"b\":1,\"a\":1.50,\"e\":1E3,\"u\":\"\\u00e9\\/\"},\r\n\t\"tasks\" :[\r\n\t\t{\"title\" : \"One\",\"id\":1 , \"status\" :  \"pending\"  ,\"subtasks\":[{\"id\":1,\"title\":\"status\",\"details\":\"\\\"status\\\": \\\"pending\\\"\",\"status\":\"pending\"},\r\n\t\t{ \"id\" : \"2\", \"status\" : \"in-progress\", \"title\" : \"S\" } ] } ]\r\n}\r\n\r\n";

#[test]
fn only_the_bytes_of_the_status_change() {
    assert_eq!(
        after(STRANGE, &[change("1.1", "done")]),
        STRANGE.replace(
            "\\\"\",\"status\":\"pending\"",
            "\\\"\",\"status\":\"done\""
        )
    );
    assert_eq!(
        after(STRANGE, &[change("1.2", "done")]),
        STRANGE.replace("\"in-progress\"", "\"done\"")
    );
    assert_eq!(
        after(STRANGE, &[change("1", "review")]),
        STRANGE.replace(
            "\"status\" :  \"pending\"  ,",
            "\"status\" :  \"review\"  ,"
        )
    );
    assert_eq!(
        after(STRANGE, &[change("1.2", "done"), change("1", "review")]),
        STRANGE.replace("\"in-progress\"", "\"done\"").replace(
            "\"status\" :  \"pending\"  ,",
            "\"status\" :  \"review\"  ,"
        )
    );
}

#[test]
fn a_missing_status_is_put_in_as_the_file_is_written() {
    for (text, expected) in [
        (
            "{\"tasks\": [\n  {\n    \"id\": 1,\n    \"title\": \"T\"\n  }\n]}\n",
            "{\"tasks\": [\n  {\n    \"id\": 1,\n    \"title\": \"T\",\n    \"status\": \"done\"\n  }\n]}\n",
        ),
        (
            "{\"tasks\": [\r\n\t{\r\n\t\t\"id\" : 1\r\n\t}\r\n]}",
            "{\"tasks\": [\r\n\t{\r\n\t\t\"id\" : 1,\r\n\t\t\"status\" : \"done\"\r\n\t}\r\n]}",
        ),
        (
            "{\"tasks\": [{ \"id\": 1, \"title\": \"T\" }]}",
            "{\"tasks\": [{ \"id\": 1, \"title\": \"T\", \"status\": \"done\" }]}",
        ),
        (
            "{\"tasks\":[{\"id\":1}]}",
            "{\"tasks\":[{\"id\":1,\"status\":\"done\"}]}",
        ),
        (
            "{\"tasks\": [{\"id\": 1}]}",
            "{\"tasks\": [{\"id\": 1, \"status\": \"done\"}]}",
        ),
        (
            "{\"tasks\": [{\"id\": 1, \"status\": null}]}",
            "{\"tasks\": [{\"id\": 1, \"status\": \"done\"}]}",
        ),
    ] {
        assert_eq!(after(text, &[change("1", "done")]), expected);
    }
}

#[test]
fn of_two_equal_keys_the_last_is_read_and_written() {
    let text = r#"{"tasks": [], "tasks": [{"id": 9, "id": 1, "title": "t", "status": "done", "status": "pending"}]}"#;
    let project = Project::with_tasks(text);
    assert_eq!(
        project.source().load_task("1").unwrap().status.as_str(),
        "pending"
    );
    assert_eq!(
        after(text, &[change("1", "review")]),
        text.replace("pending", "review")
    );
}

#[test]
fn what_needs_no_change_gives_none() {
    let text = r#"{"tasks": [{"id": 1, "title": "t", "status": "done"}]}"#;
    let source = Project::with_tasks(text);
    let source = source.source();
    assert_eq!(source.rewrite(&[]).unwrap(), None);
    assert_eq!(source.rewrite(&[change("1", "done")]).unwrap(), None);
    assert_eq!(
        source
            .rewrite(&[change("1", "review"), change("1", "done")])
            .unwrap(),
        None
    );
    assert_eq!(
        source.rewrite(&[change("1.1", "done")]).unwrap(),
        None,
        "the implied subtask"
    );
    assert_eq!(
        source.rewrite(&[change("1.2", "done")]).unwrap_err().code(),
        "unknown_task"
    );
    assert_eq!(
        source.rewrite(&[change("2", "done")]).unwrap_err().code(),
        "unknown_task"
    );
    assert_eq!(
        source.rewrite(&[change("1", " ")]).unwrap_err().code(),
        "bad_rewrite"
    );
}

#[test]
fn hostile_statuses_stay_strings() {
    let text = r#"{"tasks": [{"id": 1, "title": "t", "status": "x"}]}"#;
    let result = after(text, &[change("1", "a\"},\n{\u{7}")]);
    let value: serde_json::Value = serde_json::from_str(&result).unwrap();
    assert_eq!(value["tasks"][0]["status"], "a\"},\n{\u{7}");
    assert_eq!(value["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn applying_and_reverting_know_where_they_stand() {
    let project = Project::with_tasks(STRANGE);
    let rewrite = project
        .source()
        .rewrite(&[change("1.1", "done")])
        .unwrap()
        .unwrap();
    assert_eq!(rewrite.state().unwrap(), FileState::Old);
    assert_eq!(rewrite.revert().unwrap(), RevertOutcome::NotNeeded);
    assert_eq!(rewrite.apply().unwrap(), Applied::Done);
    assert_eq!(rewrite.state().unwrap(), FileState::New);
    assert_eq!(rewrite.apply().unwrap(), Applied::AlreadyDone);
    assert_eq!(rewrite.revert().unwrap(), RevertOutcome::Done);
    assert_eq!(rewrite.apply().unwrap(), Applied::Done);

    let edited = project.tasks() + " ";
    project.write(".taskmaster/tasks/tasks.json", &edited);
    assert_eq!(rewrite.state().unwrap(), FileState::Other);
    assert_eq!(rewrite.revert().unwrap(), RevertOutcome::LeftAlone);
    assert!(matches!(rewrite.apply(), Err(TaskError::Changed { .. })));
    assert_eq!(project.tasks(), edited);
    let again = project
        .source()
        .rewrite(&[change("1", "review")])
        .unwrap()
        .unwrap();
    assert_eq!(
        again.apply().unwrap(),
        Applied::Done,
        "read again, it can be written"
    );

    fs::remove_file(project.path(".taskmaster/tasks/tasks.json")).unwrap();
    assert_eq!(rewrite.state().unwrap(), FileState::Other);
    assert_eq!(rewrite.revert().unwrap(), RevertOutcome::LeftAlone);
    assert_eq!(rewrite.apply().unwrap_err().code(), "tasks_missing");
}

#[test]
fn a_rewrite_survives_json() {
    let project = Project::with_tasks(STRANGE);
    let rewrite = project
        .source()
        .rewrite(&[change("1.1", "done")])
        .unwrap()
        .unwrap();
    let json = serde_json::to_string(&rewrite).unwrap();
    let read: Rewrite = serde_json::from_str(&json).unwrap();
    assert_eq!(read, rewrite);
    assert_eq!(read.apply().unwrap(), Applied::Done);
}

#[test]
fn a_rewrite_that_was_tampered_with_writes_nothing() {
    let project = Project::with_tasks(STRANGE);
    let good = project
        .source()
        .rewrite(&[change("1.1", "done")])
        .unwrap()
        .unwrap();
    let tampered: [fn(&mut Rewrite); 4] = [
        |rewrite| rewrite.splices[0].new = "\"evil\"".to_owned(),
        |rewrite| rewrite.splices[0].old = "\"other\"".to_owned(),
        |rewrite| rewrite.splices[0].offset = usize::MAX,
        |rewrite| rewrite.splices.push(rewrite.splices[0].clone()),
    ];
    for tamper in tampered {
        let mut bad = good.clone();
        tamper(&mut bad);
        assert_eq!(bad.apply().unwrap_err().code(), "bad_rewrite");
        assert_eq!(project.tasks(), STRANGE);
    }
    good.apply().unwrap();
    let written = project.tasks();
    for tamper in tampered {
        let mut bad = good.clone();
        tamper(&mut bad);
        assert_eq!(bad.revert().unwrap_err().code(), "bad_rewrite");
        assert_eq!(project.tasks(), written);
    }
}

#[test]
fn mode_and_symbolic_link_stay_and_nothing_is_left_behind() {
    let project = Project::new();
    let real = project.write("elsewhere/real.json", STRANGE);
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(project.path(".taskmaster/tasks")).unwrap();
    let link = project.path(".taskmaster/tasks/tasks.json");
    symlink(Path::new("../../elsewhere/real.json"), &link).unwrap();
    let rewrite = project
        .source()
        .rewrite(&[change("1.1", "done")])
        .unwrap()
        .unwrap();
    assert_eq!(rewrite.path, fs::canonicalize(&real).unwrap());
    rewrite.apply().unwrap();
    assert!(
        fs::symlink_metadata(&link)
            .unwrap()
            .file_type()
            .is_symlink()
    );
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o7777,
        0o640
    );
    assert_ne!(project.read("elsewhere/real.json"), STRANGE);
    assert_eq!(fs::read_dir(project.path("elsewhere")).unwrap().count(), 1);
    assert_eq!(
        fs::read_dir(project.path(".taskmaster/tasks"))
            .unwrap()
            .count(),
        1
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever else stands in the file and however it is laid out: reading the result as JSON shows the new statuses and
    /// nothing else changed.
    #[test]
    fn nothing_else_changes(
        extra in any::<String>(),
        pretty in any::<bool>(),
        crlf in any::<bool>(),
        statuses in prop::collection::vec(prop::option::of("[a-z\"\\\\é]{1,8}"), 1..6),
        pick in any::<prop::sample::Index>(),
    ) {
        let subtasks: Vec<serde_json::Value> = statuses.iter().enumerate().map(|(at, status)| {
            let mut subtask = serde_json::json!({"id": at + 1, "extra": extra, "title": "t"});
            if let Some(status) = status {
                subtask["status"] = status.as_str().into();
            }
            subtask
        }).collect();
        let mut value = serde_json::json!({"z": extra, "master": {"metadata": {"s": "status"}, "tasks": [
            {"id": "0", "title": "first"}, {"id": 1, "title": extra, "subtasks": subtasks}]}});
        value["master"]["tasks"][1]["title"] = "t".into();
        let mut text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let at = pick.index(statuses.len());
        let result = after(&text, &[change(&format!("1.{}", at + 1), "done!")]);
        value["master"]["tasks"][1]["subtasks"][at]["status"] = "done!".into();
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&result).unwrap(), value.clone());
        if pretty && !crlf {
            prop_assert_eq!(result, serde_json::to_string_pretty(&value).unwrap());
        }
    }
}
