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
    let rewrite = project.source().rewrite(changes).unwrap();
    let rewrite = rewrite.expect("something changes");
    // Asking for the change changes nothing.
    assert_eq!(project.tasks(), text);
    assert_eq!(rewrite.apply().unwrap(), Applied::Done);
    let result = project.tasks();
    assert_eq!(rewrite.revert().unwrap(), RevertOutcome::Done);
    assert_eq!(project.tasks(), text, "and it can be taken back");
    result
}

const STRANGE: &str = "\u{feff}{\r\n\t\"metadata\":{\"b\":1,\"a\":1.50,\"e\":1E3,\"u\":\"\\u00e9\\/\"},\r\n\t\"tasks\" :[\r\n\t\t{\"title\" : \"One\",\"id\":1 , \"status\" :  \"pending\"  ,\"subtasks\":[{\"id\":1,\"title\":\"status\",\"details\":\"\\\"status\\\": \\\"pending\\\"\",\"status\":\"pending\"},\r\n\t\t{ \"id\" : \"2\", \"status\" : \"in-progress\", \"title\" : \"S\" } ] } ]\r\n}\r\n\r\n";

/// A project with these tasks, and a change of one status in it that is not made yet.
fn to_be_done(text: &str, id: &str) -> (Project, Rewrite) {
    let project = Project::with_tasks(text);
    let rewrite = project.source().rewrite(&[change(id, "done")]);
    (project, rewrite.unwrap().unwrap())
}

#[test]
fn only_the_bytes_of_the_status_change() {
    let whole = "\"status\" :  \"pending\"  ,";
    let first = "\\\"\",\"status\":\"pending\"";
    let edits = [
        ("1.1", "done", first, "pending"),
        ("1.2", "done", "\"in-progress\"", "in-progress"),
        ("1", "review", whole, "pending"),
    ];
    for these in [&edits[..1], &edits[1..2], &edits[2..], &edits[1..]] {
        let changes = these.iter().map(|(id, status, ..)| change(id, status));
        let changes: Vec<_> = changes.collect();
        let mut expected = STRANGE.to_owned();
        for (_, status, place, was) in these {
            expected = expected.replace(place, &place.replace(was, status));
        }
        assert_eq!(after(STRANGE, &changes), expected, "{changes:?}");
    }
}

#[test]
fn a_missing_status_is_put_in_as_the_file_is_written() {
    for case in [
        "{\"tasks\": [\n  {\n    \"id\": 1,\n    \"title\": \"T\"\n  }\n]}\n ⇒ {\"tasks\": [\n  {\n    \"id\": 1,\n    \"title\": \"T\",\n    \"status\": \"done\"\n  }\n]}\n",
        "{\"tasks\": [\r\n\t{\r\n\t\t\"id\" : 1\r\n\t}\r\n]} ⇒ {\"tasks\": [\r\n\t{\r\n\t\t\"id\" : 1,\r\n\t\t\"status\" : \"done\"\r\n\t}\r\n]}",
        "{\"tasks\": [{ \"id\": 1, \"title\": \"T\" }]} ⇒ {\"tasks\": [{ \"id\": 1, \"title\": \"T\", \"status\": \"done\" }]}",
        "{\"tasks\":[{\"id\":1}]} ⇒ {\"tasks\":[{\"id\":1,\"status\":\"done\"}]}",
        "{\"tasks\": [{\"id\": 1}]} ⇒ {\"tasks\": [{\"id\": 1, \"status\": \"done\"}]}",
        "{\"tasks\": [{\"id\": 1, \"status\": null}]} ⇒ {\"tasks\": [{\"id\": 1, \"status\": \"done\"}]}",
        // Of two equal keys the last is read and written.
        r#"{"tasks": [], "tasks": [{"id": 9, "id": 1, "status": "done", "status": "x"}]} ⇒ {"tasks": [], "tasks": [{"id": 9, "id": 1, "status": "done", "status": "done"}]}"#,
    ] {
        let (text, expected) = case.split_once(" ⇒ ").unwrap();
        assert_eq!(after(text, &[change("1", "done")]), expected);
    }
    let hostile = "a\"},\n{\u{7}";
    let result = after(
        r#"{"tasks": [{"id": 1, "status": "x"}]}"#,
        &[change("1", hostile)],
    );
    let value: serde_json::Value = serde_json::from_str(&result).unwrap();
    let expected = serde_json::json!({ "tasks": [{ "id": 1, "status": hostile }] });
    assert_eq!(value, expected);
}

#[test]
fn what_needs_no_change_gives_none() {
    let text = r#"{"tasks": [{"id": 1, "title": "t", "status": "done"}]}"#;
    let source = Project::with_tasks(text);
    let rewrite = |changes: &[StatusChange]| source.source().rewrite(changes);
    for changes in [
        &[][..],
        &[change("1", "done")],
        &[change("1", "review"), change("1", "done")],
        // The implied subtask.
        &[change("1.1", "done")],
    ] {
        assert_eq!(rewrite(changes).unwrap(), None, "{changes:?}");
    }
    for (id, status, code) in [
        ("1.2", "done", "not_found"),
        ("2", "done", "not_found"),
        ("1", " ", "tasks_invalid"),
    ] {
        let error = rewrite(&[change(id, status)]).unwrap_err();
        assert_eq!(error.code(), code, "{id}");
    }
}

#[test]
fn applying_and_reverting_know_where_they_stand() {
    let (project, rewrite) = to_be_done(STRANGE, "1.1");
    let json = serde_json::to_string(&rewrite).unwrap();
    assert_eq!(serde_json::from_str::<Rewrite>(&json).unwrap(), rewrite);
    let state = || rewrite.state().unwrap();
    let (apply, revert) = (|| rewrite.apply().unwrap(), || rewrite.revert().unwrap());
    let not_needed = (FileState::Old, RevertOutcome::NotNeeded);
    assert_eq!((state(), revert()), not_needed);
    assert_eq!((apply(), state()), (Applied::Done, FileState::New));
    let twice = (Applied::AlreadyDone, RevertOutcome::Done, Applied::Done);
    assert_eq!((apply(), revert(), apply()), twice);

    let edited = project.tasks() + " ";
    let left_alone = (FileState::Other, RevertOutcome::LeftAlone);
    project.write(".taskmaster/tasks/tasks.json", &edited);
    assert_eq!((state(), revert()), left_alone);
    assert!(matches!(rewrite.apply(), Err(TaskError::Changed { .. })));
    assert_eq!(project.tasks(), edited);
    // Read again, it can be written.
    let again = project.source().rewrite(&[change("1", "review")]);
    assert_eq!(again.unwrap().unwrap().apply().unwrap(), Applied::Done);

    fs::remove_file(project.path(".taskmaster/tasks/tasks.json")).unwrap();
    assert_eq!((state(), revert()), left_alone);
    assert_eq!(rewrite.apply().unwrap_err().code(), "tasks_missing");
}

#[test]
fn a_rewrite_that_was_tampered_with_writes_nothing() {
    let (project, good) = to_be_done(STRANGE, "1.1");
    let tampered: [fn(&mut Rewrite); 4] = [
        |rewrite| rewrite.splices[0].new = "\"evil\"".to_owned(),
        |rewrite| rewrite.splices[0].old = "\"other\"".to_owned(),
        |rewrite| rewrite.splices[0].offset = usize::MAX,
        |rewrite| rewrite.splices.push(rewrite.splices[0].clone()),
    ];
    for tamper in tampered {
        let mut bad = good.clone();
        tamper(&mut bad);
        assert_eq!(bad.apply().unwrap_err().code(), "tasks_invalid");
        assert_eq!(project.tasks(), STRANGE);
        good.apply().unwrap();
        let written = project.tasks();
        assert_eq!(bad.revert().unwrap_err().code(), "tasks_invalid");
        assert_eq!(project.tasks(), written);
        good.revert().unwrap();
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
    let rewrite = project.source().rewrite(&[change("1.1", "done")]);
    let rewrite = rewrite.unwrap().unwrap();
    assert_eq!(rewrite.path, fs::canonicalize(&real).unwrap());
    rewrite.apply().unwrap();
    assert!(link.is_symlink());
    let mode = fs::metadata(&real).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o640);
    assert_ne!(project.read("elsewhere/real.json"), STRANGE);
    for folder in ["elsewhere", ".taskmaster/tasks"] {
        assert_eq!(fs::read_dir(project.path(folder)).unwrap().count(), 1);
    }
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
