//! Tasks of other tools, in the forms that people and models really write.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use workspace::tasks::import::{
    ImportFormat, Imported, ImportedTask, MergeOutcome, merge, read, read_issue, write_back,
};
use workspace::tasks::{Status, TaskFile};

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
            task.status,
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

/// Imports the file as it is now, and gives the statuses by title, those of subtasks indented.
fn imported_again(text: &str, project: &Path, path: &str) -> (String, Vec<String>) {
    let (text, _) = merged(text, project, path);
    let file: Value = serde_json::from_str(&text).unwrap();
    let mut all = Vec::new();
    for task in file["master"]["tasks"].as_array().unwrap() {
        let line = |entry: &Value| {
            format!(
                "{} {}",
                entry["status"].as_str().unwrap(),
                entry["title"].as_str().unwrap()
            )
        };
        all.push(line(task));
        let parts = task["subtasks"].as_array().into_iter().flatten();
        all.extend(parts.map(|part| format!("  {}", line(part))));
    }
    (text, all)
}

/// The tasks file with the subtask of this title done.
fn done(text: &str, title: &str) -> String {
    let mut file: Value = serde_json::from_str(text).unwrap();
    for task in file["master"]["tasks"].as_array_mut().unwrap() {
        for part in task["subtasks"].as_array_mut().unwrap() {
            if part["title"] == title {
                part["status"] = "done".into();
            }
        }
    }
    file.to_string()
}

fn written_back(text: &str, project: &Path) -> (Vec<String>, usize) {
    let told = write_back(text, "master", project).unwrap();
    for rewrite in &told.rewrites {
        rewrite.apply().unwrap();
    }
    (told.written, told.problems.len())
}

/// A list, what it became, whether the old number is ticked at once, what is in the tasks file then, and the number that is ticked.
type Renumbered<'t> = (&'t str, &'t str, bool, &'t [&'t str], &'t [&'t str]);

const RENUMBERED: [Renumbered<'static>; 10] = [
    // Renumbered.
    (
        "- [ ] T001 Old\n- [ ] T002 Other\n",
        "- [ ] T001 New\n- [ ] T002 Old\n- [ ] T003 Other\n",
        false,
        &[
            "pending Tasks",
            "  done Old",
            "  pending Other",
            "  pending New",
        ],
        &["T002"],
    ),
    // In another order.
    (
        "- [ ] T001 Old\n- [ ] T002 Other\n",
        "- [ ] T002 Other\n- [ ] T001 Old\n",
        true,
        &["pending Tasks", "  done Old", "  pending Other"],
        &[],
    ),
    // Swapped.
    (
        "- [ ] T001 Old\n- [ ] T002 Other\n",
        "- [ ] T001 Other\n- [ ] T002 Old\n",
        false,
        &["pending Tasks", "  done Old", "  pending Other"],
        &["T002"],
    ),
    // With another title: it may be another task.
    (
        "- [ ] T001 Old\n- [ ] T002 Other\n",
        "- [ ] T001 Young\n- [ ] T002 Another\n",
        false,
        &[
            "pending Tasks",
            "  done Old",
            "  pending Another",
            "  pending Young",
        ],
        &[],
    ),
    // Deleted.
    (
        "- [ ] T001 Old\n- [ ] T002 Other\n",
        "- [ ] T001 Other\n- [ ] T003 More\n",
        false,
        &[
            "pending Tasks",
            "  done Old",
            "  pending Other",
            "  pending More",
        ],
        &[],
    ),
    // Titles that are there twice, renumbered: the first one stays the first one.
    (
        "## Phase 1: A\n- [ ] T001 Test it\n- [ ] T002 Old\n- [ ] T003 Test it\n",
        "## Phase 1: A\n- [ ] T001 New\n- [ ] T002 Test it\n- [ ] T003 Old\n- [ ] T004 Test it\n",
        false,
        &[
            "pending Phase 1: A",
            "  pending Test it",
            "  done Old",
            "  pending Test it",
            "  pending New",
        ],
        &["T003"],
    ),
    // Another phase in front: the groups are known by what is in them.
    (
        "## Phase 1: A\n- [ ] T001 Old\n- [ ] T002 Test it\n## Phase 2: B\n- [ ] T003 Test it\n",
        "## Phase 1: New\n- [ ] T001 Test it\n## Phase 2: A\n- [ ] T002 Old\n- [ ] T003 Test it\n## Phase 3: B\n- [ ] T004 Test it\n",
        false,
        &[
            "pending Phase 2: A",
            "  done Old",
            "  pending Test it",
            "pending Phase 3: B",
            "  pending Test it",
            "pending Phase 1: New",
            "  pending Test it",
        ],
        &["T002"],
    ),
    // A phase that went takes what was done along: another task of that title is another task.
    (
        "## Phase 1: A\n- [ ] T001 Old\n## Phase 2: B\n- [ ] T002 Last\n",
        "## Phase 1: B\n- [ ] T001 Last\n- [ ] T002 Old\n",
        false,
        &[
            "pending Phase 1: A",
            "  done Old",
            "pending Phase 1: B",
            "  pending Last",
            "  pending Old",
        ],
        &[],
    ),
    // Another phase with a part of the same title is another phase.
    (
        "## Phase 1: A\n- [ ] T001 Old\n- [ ] T002 Build A\n## Phase 2: B\n- [ ] T003 Last\n",
        "## Phase 1: C\n- [ ] T001 Build C\n- [ ] T002 Old\n## Phase 2: B\n- [ ] T003 Last\n",
        false,
        &[
            "pending Phase 1: A",
            "  done Old",
            "  pending Build A",
            "pending Phase 2: B",
            "  pending Last",
            "pending Phase 1: C",
            "  pending Build C",
            "  pending Old",
        ],
        &[],
    ),
    // Moved into another phase: it stays where it was done.
    (
        "## Phase 1: A\n- [ ] T001 Old\n- [ ] T002 Other\n## Phase 2: B\n- [ ] T003 Last\n",
        "## Phase 1: A\n- [ ] T001 Other\n## Phase 2: B\n- [ ] T002 Last\n- [ ] T003 Old\n",
        false,
        &[
            "pending Phase 1: A",
            "  done Old",
            "  pending Other",
            "pending Phase 2: B",
            "  pending Last",
        ],
        &["T003"],
    ),
];

#[test]
fn what_is_done_is_ticked_where_its_title_stands() {
    let path = "specs/1/tasks.md";
    for (was, is, at_once, statuses, ticked) in RENUMBERED {
        let project = project(&[(path, was)]);
        let (text, _) = merged("", project.path(), path);
        let text = done(&text, "Old");
        fs::write(project.path().join(path), is).unwrap();
        let (written, problems) = written_back(&text, project.path());
        assert_eq!(!written.is_empty(), at_once, "{is} {written:?}");
        assert_eq!(problems == 0, at_once, "{is}");
        let (text, all) = imported_again(&text, project.path(), path);
        assert_eq!(all, statuses, "{is}");
        let (written, problems) = written_back(&text, project.path());
        assert_eq!(
            (written.iter().map(String::as_str).collect(), problems),
            (ticked.to_vec(), 0),
            "{is}"
        );
        let now = fs::read_to_string(project.path().join(path)).unwrap();
        let ticks: Vec<&str> = now.lines().filter(|line| line.contains("[x]")).collect();
        let wrong = ticks.iter().find(|line| !line.ends_with("Old"));
        assert_eq!(wrong, None, "{is}");
        let (same, all) = imported_again(&text, project.path(), path);
        assert_eq!((same, all.len()), (text, statuses.len()), "{is}");
    }
}

#[test]
fn groups_that_were_renumbered_are_ticked_where_their_titles_stand() {
    let path = "openspec/changes/add/tasks.md";
    let project = project(&[(path, "## 1. Store\n- [ ] 1.1 Table\n- [ ] 1.2 Index\n")]);
    let (text, _) = merged("", project.path(), path);
    let text = done(&text, "Table");
    let now = "## 1. Prepare\n- [ ] 1.1 Folder\n## 2. Storage\n- [ ] 2.1 Table\n- [ ] 2.2 Index\n";
    fs::write(project.path().join(path), now).unwrap();
    assert_eq!(written_back(&text, project.path()), (Vec::new(), 1));
    let (text, all) = imported_again(&text, project.path(), path);
    let expected = [
        "pending Storage",
        "  done Table",
        "  pending Index",
        "pending Prepare",
        "  pending Folder",
    ];
    assert_eq!(all, expected);
    assert_eq!(written_back(&text, project.path()).0, ["add/2.1"]);
    let now = now.replace("- [ ] 2.1", "- [x] 2.1");
    assert_eq!(fs::read_to_string(project.path().join(path)).unwrap(), now);
}

#[test]
fn a_number_that_two_of_one_title_may_have_is_not_ticked() {
    let path = "specs/1/tasks.md";
    let project = project(&[(path, "- [ ] T001 Same\n- [ ] T002 Other\n")]);
    let (text, _) = merged("", project.path(), path);
    let text = done(&text, "Same");
    fs::write(
        project.path().join(path),
        "- [ ] T001 Same\n- [ ] T002 Same\n- [ ] T003 Other\n",
    )
    .unwrap();
    assert_eq!(written_back(&text, project.path()), (Vec::new(), 1));
    let (_, all) = imported_again(&text, project.path(), path);
    assert_eq!(
        all,
        [
            "pending Tasks",
            "  done Same",
            "  pending Other",
            "  pending Same"
        ]
    );
}

#[test]
fn what_is_done_here_is_never_a_task_of_another_title() {
    let path = "specs/1/tasks.md";
    let project = project(&[(path, "- [ ] T001 Old\n- [ ] T002 Other\n")]);
    let (text, _) = merged("", project.path(), path);
    let text = done(&text, "Old");
    let now = "- [x] T001 In other words\n- [ ] T002 Other\n";
    fs::write(project.path().join(path), now).unwrap();
    let (text, all) = imported_again(&text, project.path(), path);
    let expected = [
        "pending Tasks",
        "  done Old",
        "  pending Other",
        "  done In other words",
    ];
    assert_eq!(all, expected);
    assert_eq!(written_back(&text, project.path()), (Vec::new(), 0));
}

#[test]
fn an_issue_and_the_box_that_names_it_are_both_there_once() {
    let issues = r#"[{"number": 1, "title": "All", "state": "open", "body": "- [ ] #3 Part\n- [ ] by hand"},
        {"number": 3, "title": "Part", "state": "open", "blockedBy": [{"number": 4}]},
        {"number": 4, "title": "First", "state": "open"}]"#;
    let project = project(&[("issues.json", issues)]);
    let (text, _) = merged("", project.path(), "issues.json");
    let (again, all) = imported_again(&text, project.path(), "issues.json");
    assert_eq!(again, text);
    let expected = [
        "pending All",
        "  pending #3 Part",
        "  pending by hand",
        "pending Part",
        "pending First",
    ];
    assert_eq!(all, expected);
}

#[test]
fn an_issue_that_is_asked_for_alone_says_nothing_of_others() {
    let project = project(&[]);
    let mut text = String::new();
    for number in [1, 2, 1] {
        let json = format!("{{\"number\": {number}, \"title\": \"Log in\", \"state\": \"open\"}}");
        let imported = read_issue(number, &json).unwrap();
        let merged = merge(&text, "master", &imported, project.path(), false).unwrap();
        assert_eq!(merged.gone, Vec::<String>::new(), "{number}");
        text = merged.text;
    }
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["master"]["tasks"].as_array().unwrap().len(), 2);
}

#[test]
fn a_task_without_a_title_is_named_and_stops_no_other() {
    let files = [
        ("specs/1/tasks.md", "- [ ] T001 First\n- [ ] T002\n- [ ] \n"),
        (
            "openspec/changes/a/tasks.md",
            "## 1.\n- [ ] 1.1 First\n- [ ] \n- [ ] 1.2 **  **\n## 2. Empty\n- [ ] \n",
        ),
        (
            "issues.jsonl",
            "{\"id\":\"a\",\"title\":\" \",\"status\":\"open\"}\n{\"id\":\"b\",\"title\":\"First\",\"status\":\"open\"}\n{\"id\":\"e\",\"title\":\"\\t\",\"status\":\"open\"}\n{\"id\":\"e.1\",\"title\":\"Child\",\"status\":\"open\"}\n",
        ),
        (
            "issues.json",
            "[{\"number\":1,\"title\":\" \",\"state\":\"open\"},{\"number\":2,\"title\":\"First\",\"state\":\"open\"}]",
        ),
    ];
    for (path, text) in files {
        let project = project(&[(path, text)]);
        let imported = read(&project.path().join(path), None).unwrap();
        assert!(!imported.problems.is_empty(), "{path}");
        let merged = merge("", "master", &imported, project.path(), false).unwrap();
        let file = TaskFile::in_project(project.path(), "master").unwrap();
        let (tasks, _) = file.holding(&merged.text).load_tasks().unwrap();
        let titles = tasks
            .iter()
            .flat_map(|task| &task.subtasks)
            .map(|part| &part.title);
        assert!(titles.into_iter().any(|title| title == "First"), "{path}");
    }
}

#[test]
fn nothing_is_brought_into_a_file_that_nobody_can_read() {
    let project = project(&[("specs/1/tasks.md", SPEC_KIT)]);
    let imported = read(&project.path().join("specs/1/tasks.md"), None).unwrap();
    let broken = "{\"master\": {\"tasks\": [\n{\"id\": 1, \"title\": \"\"}]}}";
    let error = merge(broken, "master", &imported, project.path(), false).unwrap_err();
    assert!(error.contains("tasks.json:2:1"), "{error}");
}

#[test]
fn a_mark_that_is_not_known_is_open_work() {
    let marks = [
        "~", "!", "-", " x ", "/", ">", "x ", "?", "D", "o", "⚠️", "*",
    ];
    let lines: Vec<String> = (1..)
        .zip(marks)
        .map(|(number, mark)| format!("- [{mark}] T{number:03} Task\n"))
        .collect();
    let path = "specs/1/tasks.md";
    let legend = "- [P] T can run in parallel\n- [1] a footnote\n- [x](https://example.com)\n- [ab]: a link\n";
    let text = format!(
        "{legend}{}- [x] T090 Done\n- [ ] T091 Open\n",
        lines.concat()
    );
    let (imported, told) = of(&[(path, &text)], path);
    let parts = &imported.tasks[0].subtasks;
    let open = parts.iter().filter(|part| part.status == Status::Pending);
    assert_eq!(open.count(), marks.len() + 1, "{told:#?}");
    assert_eq!(parts.len(), marks.len() + 2);
    assert_eq!(imported.problems.len(), 1, "{told:#?}");
    assert_eq!(imported.problems[0].line, 5);
    let project = project(&[(path, &text)]);
    let (text, _) = merged("", project.path(), path);
    let text = text.replace("\"pending\"", "\"done\"");
    let (written, problems) = written_back(&text, project.path());
    assert_eq!((written.len(), problems), (marks.len() + 1, 0));
    let now = fs::read_to_string(project.path().join(path)).unwrap();
    assert_eq!(now.matches("- [x] T").count(), marks.len() + 2);
}

#[test]
fn a_backlog_has_statuses_of_its_own() {
    let task = |id: u32, status: &str| {
        format!("---\nid: BACK-{id}\ntitle: Task {id}\nstatus: {status}\n---\n")
    };
    let config = "project_name: a\nstatuses: [\"Ideas\", \"To Do\", \"Doing\", \"QA\", \"Live: now\", \"Sold\"]\n";
    let tasks = [
        task(1, "Ideas"),
        task(2, "'Doing'"),
        task(3, "QA"),
        task(4, "Sold"),
        task(5, "Ideas"),
        task(6, "Ideas"),
    ];
    let files: Vec<(&str, &str)> = [
        ("backlog/config.yml", config),
        ("backlog/tasks/back-1.md", &tasks[0]),
        ("backlog/tasks/back-2.md", &tasks[1]),
        ("backlog/tasks/back-3.md", &tasks[2]),
        ("backlog/tasks/back-4.md", &tasks[3]),
        ("backlog/archive/tasks/back-5.md", &tasks[4]),
        ("backlog/completed/back-6.md", &tasks[5]),
    ]
    .to_vec();
    let (imported, told) = of(&files, "backlog");
    let statuses: Vec<&str> = imported
        .tasks
        .iter()
        .map(|task| task.status.as_str())
        .collect();
    let by_key: Vec<&str> = imported.tasks.iter().map(|task| &*task.key).collect();
    assert_eq!(
        by_key,
        ["BACK-1", "BACK-2", "BACK-3", "BACK-4", "BACK-6", "BACK-5"]
    );
    assert_eq!(
        statuses,
        [
            "pending",
            "in-progress",
            "pending",
            "done",
            "done",
            "cancelled"
        ]
    );
    // `Ideas` and `QA` say nothing that is known.
    assert_eq!(imported.problems.len(), 2, "{told:#?}");
    let project = project(&files);
    let (text, _) = merged("", project.path(), "backlog");
    let text = text
        .replace("\"pending\"", "\"done\"")
        .replace("\"in-progress\"", "\"done\"");
    assert_eq!(
        written_back(&text, project.path()),
        (
            vec![
                "BACK-1".to_owned(),
                "BACK-2".to_owned(),
                "BACK-3".to_owned()
            ],
            0
        )
    );
    let now = |name: &str| fs::read_to_string(project.path().join(name)).unwrap();
    assert!(now("backlog/tasks/back-1.md").contains("\nstatus: Sold\n"));
    assert!(now("backlog/tasks/back-2.md").contains("\nstatus: 'Sold'\n"));
    // A number that another task has by now.
    fs::write(
        project.path().join("backlog/tasks/back-1.md"),
        "\u{feff}---\nid: BACK-1\ntitle: Another\nstatus: Ideas\n---\n",
    )
    .unwrap();
    assert_eq!(written_back(&text, project.path()), (Vec::new(), 1));
    let (_, all) = imported_again(&text, project.path(), "backlog");
    assert!(all.contains(&"pending Another".to_owned()), "{all:?}");
}

#[test]
fn a_byte_order_mark_stays_in_front() {
    let path = "specs/1/tasks.md";
    let project = project(&[(path, "\u{feff}- [ ] T001 First\n- [ ] T002 Second\n")]);
    let (text, _) = merged("", project.path(), path);
    let (written, _) = written_back(&text.replace("\"pending\"", "\"done\""), project.path());
    assert_eq!(written, ["T001", "T002"]);
    assert_eq!(
        fs::read_to_string(project.path().join(path)).unwrap(),
        "\u{feff}- [x] T001 First\n- [x] T002 Second\n"
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
                    let found = told(&imported).len() - imported.problems.len();
                    tasks += found;
                    problems += imported.problems.len();
                    if found == 0 {
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
