//! Tasks of other tools, in the forms that people and models really write.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use workspace::tasks::import::{
    ImportFormat, Imported, ImportedTask, MergeOutcome, merge, read, write_back,
};

/// A project with these files.
fn project(files: &[(&str, &str)]) -> TempDir {
    let project = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let place = project.path().join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }
    project
}

/// The tasks, a line each: key, status, kind, title, and what they wait for.
fn told(imported: &Imported) -> Vec<String> {
    fn add(task: &ImportedTask, depth: usize, into: &mut Vec<String>) {
        let needs = if task.dependencies.is_empty() {
            String::new()
        } else {
            format!(" <- {}", task.dependencies.join(" "))
        };
        let kind = if task.kind.is_empty() {
            String::new()
        } else {
            format!(" ({})", task.kind)
        };
        into.push(format!(
            "{}{} {} {}{kind}{needs}",
            "  ".repeat(depth),
            task.key,
            task.status.0,
            task.title
        ));
        for part in &task.subtasks {
            add(part, depth + 1, into);
        }
    }
    let mut all = Vec::new();
    for task in &imported.tasks {
        add(task, 0, &mut all);
    }
    all.extend(
        imported
            .problems
            .iter()
            .map(|problem| format!("! {}: {}", problem.line, problem.message)),
    );
    all
}

fn of(files: &[(&str, &str)], path: &str) -> (Imported, Vec<String>) {
    let project = project(files);
    let imported = read(&project.path().join(path), None).unwrap();
    let told = told(&imported);
    (imported, told)
}

const SPEC_KIT: &str = "\
# Tasks: Accounts

- **[P]**: Can run in parallel

## Phase 1: Setup (Shared)

**Purpose**: Make room

- [x] T001 Create the folders in `src/`
- [ ] T002 [P] Set up the linter

## Notes

- [P] tasks = different files, no dependencies
- [ ] all of it looks good

## Phase 3.1: User Story 1 - Log in (Priority: P1) 🎯 MVP

- [X] **T009a** [P] [US1] Contract test for POST /login in tests/login_test.py
- [ ] T010 [US1] Log in, in `src/login.py` (depends on T001-T002, T009a)
  With a cookie.
- [x] ~~T011~~ [US1] ~~Log in by mail~~
```text
- [ ] T099 in a block of code
```
- [ ] T012 Explain it in docs/login.md
";

#[test]
fn spec_kit() {
    let (imported, told) = of(
        &[("specs/001-accounts/tasks.md", SPEC_KIT)],
        "specs/001-accounts",
    );
    assert_eq!(imported.format, ImportFormat::SpecKit);
    assert_eq!(
        told,
        [
            "phase-1 pending Phase 1: Setup (Shared)",
            "  T001 done Create the folders in `src/`",
            "  T002 pending Set up the linter",
            "phase-3.1 pending Phase 3.1: User Story 1 - Log in (Priority: P1) 🎯 MVP <- phase-1",
            "  T009a done Contract test for POST /login in tests/login_test.py",
            "  T010 pending Log in, in `src/login.py` (depends on T001-T002, T009a) <- T001 T002 T009a",
            "  T011 cancelled Log in by mail",
            "  T012 pending Explain it in docs/login.md (docs)",
            "! 15: without an id such as `T001` it is no task",
        ]
    );
    assert_eq!(imported.tasks[0].description, "**Purpose**: Make room");
    assert_eq!(imported.tasks[1].subtasks[1].description, "With a cookie.");
}

const OPENSPEC: &str = "\
# Tasks

## 1. Store
- [x] 1.1 Add a table
- [ ] 1.2 Read it
  - [ ] when it is empty
  - [ ] 1.2.1 Page by page
  Details of the page.

## Backend
- [ ] Without a number
- a bullet
";

#[test]
fn openspec() {
    let path = "openspec/changes/add-store/tasks.md";
    let (imported, told) = of(&[(path, OPENSPEC)], path);
    assert_eq!(imported.format, ImportFormat::Openspec);
    assert_eq!(
        told,
        [
            "add-store/1 pending Store",
            "  add-store/1.1 done Add a table",
            "  add-store/1.2 pending Read it",
            "  add-store/1.2.1 pending Page by page",
            "add-store/Backend pending Backend",
            "  add-store/Without a number pending Without a number",
            "! 12: without a checkbox it is no task",
        ]
    );
    assert_eq!(
        imported.tasks[0].subtasks[1].acceptance_criteria,
        ["when it is empty"]
    );
}

const BEADS: &str = r#"{"id":"bd-1","title":"An epic","status":"open","issue_type":"epic"}
{"id":"bd-1.1","title":"A child by its id","status":"in_progress","issue_type":"bug"}
{"_type":"issue","id":"bd-3","title":"Another child","status":"open","issue_type":"chore","dependencies":[{"issue_id":"bd-3","depends_on_id":"bd-1","type":"parent-child"},{"issue_id":"bd-3","depends_on_id":"bd-1.1","type":"blocks"},{"issue_id":"bd-3","depends_on_id":"bd-9","type":"blocks"},{"issue_id":"bd-3","depends_on_id":"bd-4","type":"related"}]}
{"id":"bd-4","title":"Gone","status":"tombstone"}
{"_type":"memory","key":"a","value":"b"}
<<<<<<< HEAD
{"id":"bd-5","title":"Old","status":"closed","updated_at":"2025-01-01T00:00:00Z"}
{"id":"bd-5","title":"New","status":"closed","updated_at":"2025-02-01T00:00:00Z"}
{"id":"bd-6","title":"Round","status":"open","dependencies":[{"depends_on_id":"bd-7","type":"parent"}]}
{"id":"bd-7","title":"And round","status":"open","dependencies":[{"depends_on_id":"bd-6","type":"child"}]}
"#;

#[test]
fn beads() {
    let path = ".beads/issues.jsonl";
    let (imported, told) = of(&[(path, BEADS)], path);
    assert_eq!(imported.format, ImportFormat::Beads);
    assert_eq!(
        told,
        [
            "bd-1 pending An epic",
            "  bd-1.1 in-progress A child by its id (fix)",
            "  bd-3 pending Another child (chore) <- bd-1.1",
            "bd-5 done New",
            "bd-6 pending Round",
            "bd-7 pending And round",
            "! 6: it is no JSON object",
            "! 8: `bd-5` is there twice: the one that was changed last counts",
            "! 3: `bd-3` waits for `bd-9`, which is not there",
        ]
    );
}

const BACKLOG: &[(&str, &str)] = &[
    (
        "backlog/tasks/back-7 - Log-in.md",
        "---\nid: BACK-007\ntitle: >-\n  Log in, and\n  out\nstatus: To Do\nassignee: @ann\nlabels: [a]\ndependencies:\n  - task-8\n  - BACK-99\ntype: bug\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nIt fails.\n\n## Why\n\nNobody knows.\n<!-- SECTION:DESCRIPTION:END -->\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 It works\n- [x] again\n<!-- AC:END -->\n\n## Definition of Done\n- [ ] #1 Tests pass\n",
    ),
    (
        "backlog/tasks/back-7.1 - Part.md",
        "---\nid: back-7.1\ntitle: 'A part: small'\nstatus: \"In Progress\"\nparent_task_id: BACK-7\n---\n",
    ),
    (
        "backlog/completed/back-8 - Done.md",
        "---\nid: BACK-8\ntitle: Before\nstatus: Completed\n---## Description\nDone.\n",
    ),
    ("backlog/tasks/README.md", "---\nid: no\ntitle: no\n---\n"),
    ("backlog/tasks/notes.md", "No front matter\n"),
];

#[test]
fn backlog() {
    let (imported, told) = of(BACKLOG, "backlog");
    assert_eq!(imported.format, ImportFormat::Backlog);
    assert_eq!(
        told,
        [
            "BACK-7 pending Log in, and out (fix) <- BACK-8",
            "  BACK-7.1 in-progress A part: small",
            "BACK-8 done Before",
            "! 1: it has no front matter with an `id` and a `title`",
            "! 1: `BACK-7` waits for `BACK-99`, which is not there",
        ]
    );
    assert_eq!(
        imported.tasks[0].description,
        "It fails.\n\n## Why\n\nNobody knows."
    );
    assert_eq!(imported.tasks[0].acceptance_criteria, ["It works", "again"]);
    assert_eq!(imported.tasks[1].description, "Done.");
}

#[test]
fn a_circle_of_parents_in_a_backlog_loses_no_task() {
    let files = [
        (
            "backlog/tasks/task-1.md",
            "---\nid: task-1\ntitle: Round\nparent_task_id: task-2\n---\n",
        ),
        (
            "backlog/tasks/task-2.md",
            "---\nid: task-2\ntitle: And round\nparent_task_id: task-1\n---\n",
        ),
        (
            "backlog/tasks/task-2.1.md",
            "---\nid: task-2.1\ntitle: Below them\n---\n",
        ),
    ];
    let (_, told) = of(&files, "backlog");
    assert_eq!(
        told,
        [
            "TASK-1 pending Round",
            "TASK-2.1 pending Below them",
            "TASK-2 pending And round",
        ]
    );
}

#[test]
fn github() {
    let rest = r#"[{"number": 1, "title": "Log in", "state": "open", "body": "Please.\r\n- [ ] by mail\r\n- [x] by key\r\n## Acceptance criteria\r\n- [ ] it works\r\n", "labels": [{"name": "type: bug"}]},
      {"number": 2, "title": "A change", "state": "open", "pull_request": {}},
      {"number": 3, "title": "Not now", "state": "closed", "state_reason": "not_planned", "body": null}]
      [{"number": 4, "title": "On another page", "state": "closed"}]"#;
    let (_, rest) = of(&[("issues.json", rest)], "issues.json");
    assert_eq!(
        rest,
        [
            "#1 pending Log in (fix)",
            "  #1/by mail pending by mail",
            "  #1/by key done by key",
            "#3 cancelled Not now",
            "#4 done On another page",
            "! 0: 1 pull requests are no tasks",
        ]
    );
    let gh = r#"{"number": 7, "title": "Later", "state": "OPEN", "labels": {"nodes": [{"name": "docs"}]}, "blockedBy": {"nodes": [{"number": 6, "title": "x"}], "totalCount": 1}}"#;
    let project = tempfile::tempdir().unwrap();
    let file = project.path().join("a.json");
    // As PowerShell saves it.
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(gh.encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    fs::write(&file, utf16).unwrap();
    assert_eq!(
        told(&read(&file, None).unwrap()),
        ["#7 pending Later (docs) <- #6"]
    );
    fs::write(
        &file,
        r#"{"data": {"repository": {"issues": {"nodes": [{"number": 9, "title": "t"}]}}}}"#,
    )
    .unwrap();
    let told = told(&read(&file, None).unwrap());
    assert_eq!(
        told,
        [
            "#9 pending t",
            "! 0: #9 does not say whether it is open, and counts as that"
        ]
    );
    fs::write(&file, r#"{"message": "Not Found"}"#).unwrap();
    assert!(read(&file, None).is_err());
}

#[test]
fn what_is_no_issue_is_told() {
    let list = r#"[{"number": 3, "title": "a", "state": "open"}, {"title": "no number"}, {"number": "16", "title": "b"}, {"number": 4}, "bare"]"#;
    let (_, told) = of(&[("issues.json", list)], "issues.json");
    let passed_over = |number: usize| {
        format!(
            "! 0: entry {number} of the list is passed over: it has no `number` (a number) and `title` (a text)"
        )
    };
    let mut expected = vec!["#3 pending a".to_owned()];
    expected.extend((2..=5).map(passed_over));
    assert_eq!(told, expected);
}

#[test]
fn numbered_lists_and_labels_are_read() {
    let tasks = "# Tasks: T\n\n## Phase 1: One\n\n1. [ ] T001 Begin\n2) [x] T002 Go on\n1a. [ ] T003 no list\n";
    let path = "specs/001-x/tasks.md";
    let (_, told) = of(&[(path, tasks)], path);
    assert_eq!(
        told,
        [
            "phase-1 pending Phase 1: One",
            "  T001 pending Begin",
            "  T002 done Go on",
        ]
    );
    let task = "---\nid: BACK-1\ntitle: Explain\nstatus: To Do\nlabels: [later, docs]\n---\n";
    let (_, told) = of(&[("backlog/tasks/back-1.md", task)], "backlog");
    assert_eq!(told, ["BACK-1 pending Explain (docs)"]);
}

/// Commands are told for people to run: nothing that others wrote gets into one.
#[test]
fn commands_of_a_write_back_hold_no_text_of_others() {
    let source = |format: &str, key: &str| {
        json!({ "id": 1, "title": "t", "status": "done",
            "source": { "format": format, "file": "x", "key": key } })
    };
    let keys = [
        ("github", "#3"),
        ("github", "#3/one; touch /tmp/pwned"),
        ("github", "#`id`"),
        ("beads", "bd-a1.2"),
        ("beads", "$(id)"),
        ("beads", "--all"),
    ];
    let tasks: Vec<Value> = keys
        .iter()
        .map(|(format, key)| source(format, key))
        .collect();
    let file = json!({ "master": { "tasks": tasks } }).to_string();
    let told = write_back(&file, "master", Path::new("/nowhere")).unwrap();
    assert_eq!(told.commands, ["gh issue close 3", "bd close bd-a1.2"]);
    assert_eq!(told.problems.len(), 4, "{told:?}");
}

fn merged(text: &str, project: &Path, path: &str) -> (String, Vec<MergeOutcome>) {
    let imported = read(&project.join(path), None).unwrap();
    let merged = merge(text, "master", &imported, project, false).unwrap();
    (
        merged.text,
        merged
            .tasks
            .into_iter()
            .map(|(_, _, outcome)| outcome)
            .collect(),
    )
}

#[test]
fn what_is_brought_in_twice_is_there_once() {
    let path = "specs/001-accounts/tasks.md";
    let project = project(&[(path, SPEC_KIT)]);
    let begun = r#"{"master": {"tasks": [{"id": 4, "title": "Own", "later": 1}], "metadata": {"a": 1}}, "other": {"tasks": []}}"#;
    let (first, outcomes) = merged(begun, project.path(), path);
    assert_eq!(outcomes, [MergeOutcome::Added, MergeOutcome::Added]);
    let file: Value = serde_json::from_str(&first).unwrap();
    let tasks = &file["master"]["tasks"];
    assert_eq!(tasks[0]["later"], 1);
    assert_eq!(file["master"]["metadata"]["a"], 1);
    assert_eq!((&tasks[1]["id"], &tasks[2]["id"]), (&5.into(), &6.into()));
    assert_eq!(tasks[2]["dependencies"], serde_json::json!([5]));
    assert_eq!(
        tasks[2]["subtasks"][1]["dependencies"],
        serde_json::json!([1])
    );
    let (again, outcomes) = merged(&first, project.path(), path);
    assert_eq!(
        (again, outcomes),
        (first.clone(), vec![MergeOutcome::Unchanged; 2])
    );
    // What was done here stays done, and what changed there comes along.
    let done = first.replace(r#""status": "pending""#, r#""status": "done""#);
    let (kept, _) = merged(&done, project.path(), path);
    assert_eq!(kept, done);
    fs::write(
        project.path().join(path),
        SPEC_KIT.replace("Set up the linter", "Set it up"),
    )
    .unwrap();
    let (changed, outcomes) = merged(&first, project.path(), path);
    assert_eq!(outcomes, [MergeOutcome::Updated, MergeOutcome::Unchanged]);
    assert!(changed.contains("Set it up"));
}

#[test]
fn a_checkbox_and_a_status_are_written_back() {
    let crlf = SPEC_KIT.replace('\n', "\r\n");
    let path = "specs/001-accounts/tasks.md";
    let files = [&[(path, crlf.as_str())], BACKLOG].concat();
    let project = project(&files);
    let (text, _) = merged("", project.path(), path);
    let (text, _) = merged(&text, project.path(), "backlog");
    assert!(
        write_back(&text, "master", project.path())
            .unwrap()
            .rewrites
            .is_empty()
    );
    let done = text.replace(r#""status": "pending""#, r#""status": "done""#);
    let told = write_back(&done, "master", project.path()).unwrap();
    assert_eq!(told.written, ["BACK-7", "T002", "T010", "T012"]);
    for rewrite in &told.rewrites {
        rewrite.apply().unwrap();
    }
    let expected = crlf
        .replace("- [ ] T002", "- [x] T002")
        .replace("- [ ] T010", "- [x] T010")
        .replace("- [ ] T012", "- [x] T012");
    assert_eq!(
        fs::read_to_string(project.path().join(path)).unwrap(),
        expected
    );
    assert!(
        write_back(&done, "master", project.path())
            .unwrap()
            .rewrites
            .is_empty()
    );
}

/// A corpus of real files, which are not ours to keep: `TRAMLINE_TASK_CORPUS` names a folder with one for each format.
#[test]
fn real_files_are_read() {
    let Some(corpus) = std::env::var_os("TRAMLINE_TASK_CORPUS").map(PathBuf::from) else {
        return;
    };
    let mut table = Vec::new();
    for (folder, format) in [
        ("spec-kit", ImportFormat::SpecKit),
        ("openspec", ImportFormat::Openspec),
        ("beads", ImportFormat::Beads),
        ("backlog", ImportFormat::Backlog),
        ("github", ImportFormat::Github),
    ] {
        let (mut files, mut tasks, mut problems, mut failed) = (0, 0, 0, Vec::new());
        for file in all_files(&corpus.join(folder)) {
            let name = file.to_string_lossy().into_owned();
            let ending = file.extension().and_then(|ending| ending.to_str());
            let is_meant = match format {
                ImportFormat::Openspec => name.ends_with("/tasks.md"),
                ImportFormat::Beads => ending == Some("jsonl"),
                ImportFormat::Github => ending == Some("json"),
                _ => ending == Some("md"),
            };
            if !is_meant {
                continue;
            }
            files += 1;
            match read(&file, Some(format)) {
                Ok(imported) => {
                    tasks += imported.count();
                    problems += imported.problems.len();
                    if imported.count() == 0 {
                        failed.push(format!(
                            "{name}: nothing: {:?}",
                            imported.problems.first().map(|p| &p.message)
                        ));
                    }
                    let merged = merge("", "master", &imported, &corpus, true).unwrap();
                    let again = merge(&merged.text, "master", &imported, &corpus, true).unwrap();
                    assert_eq!(merged.text, again.text, "{name}");
                }
                Err(error) => failed.push(format!("{name}: {error}")),
            }
        }
        table.push(format!(
            "{folder}: {files} files, {tasks} tasks, {problems} problems, {} files without a task",
            failed.len()
        ));
        assert!(files >= 20, "{folder} has {files} files");
        // Side files of beads and fixtures that were emptied hold no issues.
        assert!(failed.len() * 6 < files, "{folder}: {}", failed.join("\n"));
    }
    fs::write(corpus.join("READ.txt"), table.join("\n")).unwrap();
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(all_files(&path));
        } else {
            all.push(path);
        }
    }
    all.sort();
    all
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]

    /// Whatever stands in a file, it is read or refused, and what is read comes into the tasks file in one way alone.
    #[test]
    fn any_text_is_read_or_refused(
        text in r#"(---\n|id: [A-Za-z]-?[0-9.]{1,4}\n|title: .{0,9}\n|\#{1,3} (Phase )?[0-9.]{0,3}.{0,8}\n|[ ]{0,4}[-*+] ?\[[ xX~-]?\] ?[*~]{0,2}(T|TASK-)?[0-9.]{0,4}[a-z]?.{0,12}\n|\{"(id|number)":("a"|1),"title":"t"\}\n|.{0,20}\n){0,14}"#,
    ) {
        let project = project(&[("tasks.md", &text)]);
        for format in ImportFormat::ALL {
            let Ok(imported) = read(&project.path().join("tasks.md"), Some(format)) else {
                continue;
            };
            let first = merge("", "master", &imported, project.path(), true).unwrap();
            let again = merge(&first.text, "master", &imported, project.path(), true).unwrap();
            assert_eq!(first.text, again.text, "{format:?} {text}");
            assert!(write_back(&first.text, "master", project.path()).unwrap().written.is_empty());
        }
    }
}
