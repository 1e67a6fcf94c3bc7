//! Tasks of other tools, in the forms that people and models really write.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use workspace::tasks::import::{
    ImportFormat, Imported, ImportedTask, MergeOutcome, merge, read, read_issue, write_back,
};
use workspace::tasks::{Status, TaskFile};

use crate::folder;

/// The format, then the tasks, a line each: key, status, kind, title, and what they wait for; then the problems.
fn told(imported: &Imported) -> String {
    fn add(task: &ImportedTask, depth: &str, into: &mut Vec<String>) {
        let (key, status, title) = (&task.key, &task.status, &task.title);
        let kind = Some(&task.kind).filter(|kind| !kind.is_empty());
        let kind = kind.map_or_else(String::new, |kind| format!(" ({kind})"));
        let waits = Some(&task.dependencies).filter(|waits| !waits.is_empty());
        let waits = waits.map_or_else(String::new, |waits| format!(" <- {}", waits.join(" ")));
        into.push(format!("{depth}{key} {status} {title}{kind}{waits}"));
        for part in &task.subtasks {
            add(part, &format!("{depth}  "), into);
        }
    }
    let mut all = vec![format!("{:?}", imported.format)];
    for task in &imported.tasks {
        add(task, "", &mut all);
    }
    let problems = imported.problems.iter();
    all.extend(problems.map(|problem| format!("! {}: {}", problem.line, problem.message)));
    all.join("\n")
}

fn of(files: &[(impl AsRef<Path>, impl AsRef<[u8]>)], path: &str) -> (Imported, String) {
    let project = folder(files);
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
1. [ ] T012 Explain it in docs/login.md
1a. [ ] T013 no list
";

#[test]
fn spec_kit() {
    let path = "specs/001-accounts/tasks.md";
    let (imported, told) = of(&[(path, SPEC_KIT)], "specs/001-accounts");
    insta::assert_snapshot!(told, @r"
    SpecKit
    phase-1 pending Phase 1: Setup (Shared)
      T001 done Create the folders in `src/`
      T002 pending Set up the linter
    phase-3.1 pending Phase 3.1: User Story 1 - Log in (Priority: P1) 🎯 MVP <- phase-1
      T009a done Contract test for POST /login in tests/login_test.py
      T010 pending Log in, in `src/login.py` (depends on T001-T002, T009a) <- T001 T002 T009a
      T011 cancelled Log in by mail
      T012 pending Explain it in docs/login.md (docs)
    ! 15: without an id such as `T001` it is no task
    ");
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
    insta::assert_snapshot!(told, @r"
    Openspec
    add-store/1 pending Store
      add-store/1.1 done Add a table
      add-store/1.2 pending Read it
      add-store/1.2.1 pending Page by page
    add-store/Backend pending Backend
      add-store/Without a number pending Without a number
    ! 12: without a checkbox it is no task
    ");
    let criteria = &imported.tasks[0].subtasks[1].acceptance_criteria;
    assert_eq!(criteria, &["when it is empty"]);
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
    insta::assert_snapshot!(of(&[(path, BEADS)], path).1, @r"
    Beads
    bd-1 pending An epic
      bd-1.1 in-progress A child by its id (fix)
      bd-3 pending Another child (chore) <- bd-1.1
    bd-5 done New
    bd-6 pending Round
    bd-7 pending And round
    ! 6: it is no JSON object
    ! 8: `bd-5` is there twice: the one that was changed last counts
    ! 3: `bd-3` waits for `bd-9`, which is not there
    ");
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
    insta::assert_snapshot!(told, @r"
    Backlog
    BACK-7 pending Log in, and out (fix) <- BACK-8
      BACK-7.1 in-progress A part: small
    BACK-8 done Before
    ! 1: it has no front matter with an `id` and a `title`
    ! 1: `BACK-7` waits for `BACK-99`, which is not there
    ");
    let [first, second] = &*imported.tasks else {
        panic!("two tasks");
    };
    assert_eq!(first.description, "It fails.\n\n## Why\n\nNobody knows.");
    assert_eq!(first.acceptance_criteria, ["It works", "again"]);
    assert_eq!(second.description, "Done.");
}

#[test]
fn a_circle_of_parents_and_labels_in_a_backlog_lose_no_task() {
    let files = [
        backlog_task("tasks", "1", "To Do\nparent_task_id: back-2"),
        backlog_task("tasks", "2", "To Do\nparent_task_id: back-1"),
        backlog_task("tasks", "2.1", "To Do"),
        backlog_task("tasks", "3", "To Do\nlabels: [later, docs]"),
    ];
    insta::assert_snapshot!(of(&files, "backlog").1, @"
    Backlog
    BACK-1 pending Task 1
    BACK-2.1 pending Task 2.1
    BACK-2 pending Task 2
    BACK-3 pending Task 3 (docs)
    ");
}

/// A file of a backlog, of a task with this status, and what else stands below it.
fn backlog_task(folder: &str, id: &str, status: &str) -> (String, String) {
    let text = format!("---\nid: BACK-{id}\ntitle: Task {id}\nstatus: {status}\n---\n");
    (format!("backlog/{folder}/back-{id}.md"), text)
}

#[test]
fn github() {
    let told = |text: &[u8]| of(&[("a.json", text)], "a.json").1;
    let rest = r#"[{"number": 1, "title": "Log in", "state": "open", "body": "Please.\r\n- [ ] by mail\r\n- [x] by key\r\n## Acceptance criteria\r\n- [ ] it works\r\n", "labels": [{"name": "type: bug"}]},
      {"number": 2, "title": "A change", "state": "open", "pull_request": {}}, {"title": "no number"}, {"number": "16", "title": "b"}, {"number": 4}, "bare",
      {"number": 3, "title": "Not now", "state": "closed", "state_reason": "not_planned", "body": null}]
      [{"number": 4, "title": "On another page", "state": "closed"}]"#;
    insta::assert_snapshot!(told(rest.as_bytes()), @"
    Github
    #1 pending Log in (fix)
      #1/by mail pending by mail
      #1/by key done by key
    #3 cancelled Not now
    #4 done On another page
    ! 0: entry 3 of the list is passed over: it has no `number` (a number) and `title` (a text)
    ! 0: entry 4 of the list is passed over: it has no `number` (a number) and `title` (a text)
    ! 0: entry 5 of the list is passed over: it has no `number` (a number) and `title` (a text)
    ! 0: entry 6 of the list is passed over: it has no `number` (a number) and `title` (a text)
    ! 0: 1 pull requests are no tasks
    ");
    let gh = r#"{"number": 7, "title": "Later", "state": "OPEN", "labels": {"nodes": [{"name": "docs"}]}, "blockedBy": {"nodes": [{"number": 6, "title": "x"}], "totalCount": 1}}"#;
    // As PowerShell saves it.
    let utf16 = "\u{feff}".encode_utf16().chain(gh.encode_utf16());
    let utf16: Vec<u8> = utf16.flat_map(u16::to_le_bytes).collect();
    assert_eq!(told(&utf16), "Github\n#7 pending Later (docs) <- #6");
    let graph =
        br#"{"data": {"repository": {"issues": {"nodes": [{"number": 9, "title": "t"}]}}}}"#;
    let expected =
        "Github\n#9 pending t\n! 0: #9 does not say whether it is open, and counts as that";
    assert_eq!(told(graph), expected);
    let project = folder(&[("a.json", r#"{"message": "Not Found"}"#)]);
    assert!(read(&project.path().join("a.json"), None).is_err());
}

/// Commands are told for people to run: nothing that others wrote gets into one.
#[test]
fn commands_of_a_write_back_hold_no_text_of_others() {
    let keys = "github #3,github #3/one; touch /tmp/pwned,github #`id`,beads bd-a1.2,beads $(id),beads --all";
    let tasks = keys.split(',').map(|key| {
        let (format, key) = key.split_once(' ').unwrap();
        json!({ "id": 1, "title": "t", "status": "done",
            "source": { "format": format, "file": "x", "key": key } })
    });
    let tasks: Vec<Value> = tasks.collect();
    let file = json!({ "master": { "tasks": tasks } }).to_string();
    let told = write_back(&file, "master", Path::new("/nowhere")).unwrap();
    assert_eq!(told.commands, ["gh issue close 3", "bd close bd-a1.2"]);
    assert_eq!(told.problems.len(), 4, "{told:?}");
}

/// A project with one list of another tool, and the tasks file that it was brought into.
struct Scene {
    project: TempDir,
    path: &'static str,
    text: String,
}

impl Scene {
    /// Brought in once.
    fn new(files: &[(impl AsRef<Path>, impl AsRef<[u8]>)], path: &'static str) -> Self {
        let mut scene = Self {
            project: folder(files),
            path,
            text: String::new(),
        };
        scene.bring_in();
        scene
    }

    fn list(list: &str) -> Self {
        Self::new(&[(LIST, list)], LIST)
    }

    /// Brings the list in as it is now, and says what became of each task.
    fn bring_in(&mut self) -> Vec<MergeOutcome> {
        let imported = read(&self.project.path().join(self.path), None).unwrap();
        let merged = merge(&self.text, "master", &imported, self.project.path(), false).unwrap();
        self.text = merged.text;
        let tasks = merged.tasks.into_iter();
        tasks.map(|(_, _, outcome)| outcome).collect()
    }

    /// The statuses by title, those of parts in brackets.
    fn statuses(&self) -> String {
        let file: Value = serde_json::from_str(&self.text).unwrap();
        let told = |list: &Value, between: &str, line: &dyn Fn(&Value) -> String| {
            let list = list.as_array().map_or(&[][..], Vec::as_slice);
            list.iter().map(line).collect::<Vec<_>>().join(between)
        };
        let line = |entry: &Value| {
            let (status, title) = (entry["status"].as_str(), entry["title"].as_str());
            format!("{} {}", status.unwrap(), title.unwrap())
        };
        let task =
            |task: &Value| format!("{} [{}]", line(task), told(&task["subtasks"], ", ", &line));
        told(&file["master"]["tasks"], "; ", &task).replace(" []", "")
    }

    /// The subtask of this title is done.
    fn done(mut self, title: &str) -> Self {
        let mut file: Value = serde_json::from_str(&self.text).unwrap();
        for task in file["master"]["tasks"].as_array_mut().unwrap() {
            for part in task["subtasks"].as_array_mut().unwrap() {
                if part["title"] == title {
                    part["status"] = "done".into();
                }
            }
        }
        self.text = file.to_string();
        self
    }

    fn all_done(mut self) -> Self {
        for open in ["pending", "in-progress"] {
            let open = format!("\"{open}\"");
            self.text = self.text.replace(&open, "\"done\"");
        }
        self
    }

    /// What is ticked in the list, and how many problems that has.
    fn write_back(&self) -> (String, usize) {
        let told = write_back(&self.text, "master", self.project.path()).unwrap();
        for rewrite in &told.rewrites {
            rewrite.apply().unwrap();
        }
        (told.written.join(" "), told.problems.len())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project.path().join(name)).unwrap()
    }

    fn write(&self, text: &str) {
        fs::write(self.project.path().join(self.path), text).unwrap();
    }
}

const LIST: &str = "specs/1/tasks.md";

#[test]
fn what_is_brought_in_twice_is_there_once() {
    let mut scene = Scene::new(&[(LIST, SPEC_KIT)], LIST);
    let begun = r#"{"master": {"tasks": [{"id": 4, "title": "Own", "later": 1}], "metadata": {"a": 1}}, "other": {"tasks": []}}"#;
    begun.clone_into(&mut scene.text);
    assert_eq!(scene.bring_in(), [MergeOutcome::Added; 2]);
    let file: Value = serde_json::from_str(&scene.text).unwrap();
    let [own, one, two] = [0, 1, 2].map(|at| &file["master"]["tasks"][at]);
    let kept = &file["master"]["metadata"]["a"];
    let told = json!([
        own["later"],
        kept,
        one["id"],
        two["id"],
        two["dependencies"]
    ]);
    assert_eq!(told, json!([1, 1, 5, 6, [5]]));
    assert_eq!(two["subtasks"][1]["dependencies"], json!([1]));
    let first = scene.text.clone();
    assert_eq!(scene.bring_in(), [MergeOutcome::Unchanged; 2]);
    assert_eq!(scene.text, first);
    // What was done here stays done, and what changed there comes along.
    scene = scene.all_done();
    let done = scene.text.clone();
    scene.bring_in();
    assert_eq!(scene.text, done);
    scene.write(&SPEC_KIT.replace("Set up the linter", "Set it up"));
    scene.text = first;
    let expected = [MergeOutcome::Updated, MergeOutcome::Unchanged];
    assert_eq!(scene.bring_in(), expected);
    assert!(scene.text.contains("Set it up"));
}

#[test]
fn a_checkbox_and_a_status_are_written_back() {
    let crlf = format!("\u{feff}{}", SPEC_KIT.replace('\n', "\r\n"));
    let files = [&[(LIST, crlf.as_str())], BACKLOG].concat();
    let mut scene = Scene::new(&files, LIST);
    scene.path = "backlog";
    scene.bring_in();
    assert_eq!(scene.write_back().0, "");
    scene = scene.all_done();
    assert_eq!(scene.write_back().0, "BACK-7 BACK-7.1 T002 T010 T012");
    let mut expected = crlf;
    for id in ["T002", "T010", "T012"] {
        expected = expected.replace(&format!("[ ] {id}"), &format!("[x] {id}"));
    }
    assert_eq!(scene.read(LIST), expected);
    assert_eq!(scene.write_back().0, "");
}

/// What happened, the list before and after; below it what is in the tasks file then, and the number that is ticked: at once,
/// or only when the list was brought in again.
const RENUMBERED: &str = "
renumbered: T001 Old, T002 Other ⇒ T001 New, T002 Old, T003 Other
  pending Tasks [done Old, pending Other, pending New] | T002
in another order: T001 Old, T002 Other ⇒ T002 Other, T001 Old
  pending Tasks [done Old, pending Other] | T001 at once
swapped: T001 Old, T002 Other ⇒ T001 Other, T002 Old
  pending Tasks [done Old, pending Other] | T002
with another title it may be another task: T001 Old, T002 Other ⇒ T001 Young, T002 Another
  pending Tasks [done Old, pending Another, pending Young] | 
deleted: T001 Old, T002 Other ⇒ T001 Other, T003 More
  pending Tasks [done Old, pending Other, pending More] | 
of a title that is there twice, the first stays the first: # 1: A, T001 Test, T002 Old, T003 Test ⇒ # 1: A, T001 New, T002 Test, T003 Old, T004 Test
  pending Phase 1: A [pending Test, done Old, pending Test, pending New] | T003
with a phase in front, groups are known by what is in them: # 1: A, T001 Old, T002 Test, # 2: B, T003 Test ⇒ # 1: New, T001 Test, # 2: A, T002 Old, T003 Test, # 3: B, T004 Test
  pending Phase 2: A [done Old, pending Test]; pending Phase 3: B [pending Test]; pending Phase 1: New [pending Test] | T002
a phase that went takes along what was done: # 1: A, T001 Old, # 2: B, T002 Last ⇒ # 1: B, T001 Last, T002 Old
  pending Phase 1: A [done Old]; pending Phase 1: B [pending Last, pending Old] | 
another phase with a part of the same title: # 1: A, T001 Old, T002 Build A, # 2: B, T003 Last ⇒ # 1: C, T001 Build C, T002 Old, # 2: B, T003 Last
  pending Phase 1: A [done Old, pending Build A]; pending Phase 2: B [pending Last]; pending Phase 1: C [pending Build C, pending Old] | 
of two of this title either may be it: T001 Old, T002 Other ⇒ T001 Old, T002 Old, T003 Other
  pending Tasks [done Old, pending Other, pending Old] | T001
ticked there under another title: T001 Old, T002 Other ⇒ +T001 In words that are not Old, T002 Other
  pending Tasks [done Old, pending Other, done In words that are not Old] | 
moved into another phase, it stays where it was done: # 1: A, T001 Old, T002 Other, # 2: B, T003 Last ⇒ # 1: A, T001 Other, # 2: B, T002 Last, T003 Old
  pending Phase 1: A [done Old, pending Other]; pending Phase 2: B [pending Last] | T003
";

#[test]
fn what_is_done_is_ticked_where_its_title_stands() {
    let list = |entries: &str| {
        let line = |entry: &str| match entry.split_at(1) {
            ("#", phase) => format!("## Phase{phase}\n"),
            ("+", ticked) => format!("- [x] {ticked}\n"),
            _ => format!("- [ ] {entry}\n"),
        };
        entries.split(", ").map(line).collect::<String>()
    };
    let lines: Vec<&str> = RENUMBERED.trim().lines().collect();
    for case in lines.chunks(2) {
        let (what, lists) = case[0].split_once(": ").unwrap();
        let (was, is) = lists.split_once(" ⇒ ").unwrap();
        let (statuses, ticked) = case[1].trim_start().split_once(" | ").unwrap();
        let mut scene = Scene::list(&list(was)).done("Old");
        scene.write(&list(is));
        let at_once = ticked.strip_suffix(" at once");
        let problems = usize::from(at_once.is_none());
        let now = (at_once.unwrap_or_default().to_owned(), problems);
        assert_eq!(scene.write_back(), now, "{what}");
        scene.bring_in();
        assert_eq!(scene.statuses(), statuses, "{what}");
        let later = if at_once.is_some() { "" } else { ticked };
        assert_eq!(scene.write_back(), (later.to_owned(), 0), "{what}");
        let now = scene.read(LIST);
        let mut ticks = now.lines();
        let wrong = ticks.find(|line| line.contains("[x]") && !line.ends_with("Old"));
        assert_eq!(wrong, None, "{what}");
        let text = scene.text.clone();
        scene.bring_in();
        assert_eq!(scene.text, text, "{what}");
    }
}

#[test]
fn groups_that_were_renumbered_are_ticked_where_their_titles_stand() {
    let path = "openspec/changes/add/tasks.md";
    let was = "## 1. Store\n- [ ] 1.1 Table\n- [ ] 1.2 Index\n";
    let now = "## 1. Prepare\n- [ ] 1.1 Folder\n## 2. Storage\n- [ ] 2.1 Table\n- [ ] 2.2 Index\n";
    let mut scene = Scene::new(&[(path, was)], path).done("Table");
    scene.write(now);
    assert_eq!(scene.write_back(), (String::new(), 1));
    scene.bring_in();
    let expected = "pending Storage [done Table, pending Index]; pending Prepare [pending Folder]";
    assert_eq!(scene.statuses(), expected);
    assert_eq!(scene.write_back().0, "add/2.1");
    assert_eq!(scene.read(path), now.replace("- [ ] 2.1", "- [x] 2.1"));
}

#[test]
fn an_issue_and_the_box_that_names_it_are_both_there_once() {
    let issues = r#"[{"number": 1, "title": "All", "state": "open", "body": "- [ ] #3 Part\n- [ ] by hand"},
        {"number": 3, "title": "Part", "state": "open", "blockedBy": [{"number": 4}]},
        {"number": 4, "title": "First", "state": "open"}]"#;
    let mut scene = Scene::new(&[("issues.json", issues)], "issues.json");
    let text = scene.text.clone();
    scene.bring_in();
    assert_eq!(scene.text, text);
    let expected = "pending All [pending #3 Part, pending by hand]; pending Part; pending First";
    assert_eq!(scene.statuses(), expected);
    // One that is asked for alone says nothing of others.
    for (number, count) in [(9, 4), (3, 3)] {
        let json = format!("{{\"number\": {number}, \"title\": \"Part\", \"state\": \"open\"}}");
        let imported = read_issue(number, &json).unwrap();
        let merged = merge(&text, "master", &imported, scene.project.path(), false).unwrap();
        assert_eq!(merged.gone, [""; 0], "{number}");
        let file: Value = serde_json::from_str(&merged.text).unwrap();
        let tasks = file["master"]["tasks"].as_array().unwrap();
        assert_eq!(tasks.len(), count);
    }
    let broken = "{\"master\": {\"tasks\": [\n{\"id\": 1, \"title\": \"\"}]}}";
    let imported = read_issue(9, r#"{"number": 9, "title": "Part"}"#).unwrap();
    let error = merge(broken, "master", &imported, Path::new("/nowhere"), false).unwrap_err();
    assert!(error.contains("tasks.json:2:1"), "{error}");
}

#[test]
fn a_task_without_a_title_is_named_and_stops_no_other() {
    for case in [
        "specs/1/tasks.md ⇒ - [ ] T001 First\n- [ ] T002\n- [ ] \n",
        "openspec/changes/a/tasks.md ⇒ ## 1.\n- [ ] 1.1 First\n- [ ] \n- [ ] 1.2 **  **\n## 2. Empty\n- [ ] \n",
        "issues.jsonl ⇒ {\"id\":\"a\",\"title\":\" \",\"status\":\"open\"}\n{\"id\":\"b\",\"title\":\"First\",\"status\":\"open\"}\n{\"id\":\"e\",\"title\":\"\\t\",\"status\":\"open\"}\n{\"id\":\"e.1\",\"title\":\"Child\",\"status\":\"open\"}\n",
        r#"issues.json ⇒ [{"number":1,"title":" ","state":"open"},{"number":2,"title":"First","state":"open"}]"#,
    ] {
        let (path, text) = case.split_once(" ⇒ ").unwrap();
        let (imported, _) = of(&[(path, text)], path);
        assert!(!imported.problems.is_empty(), "{path}");
        let scene = Scene::new(&[(path, text)], path);
        let file = TaskFile::in_project(scene.project.path(), "master").unwrap();
        let (tasks, _) = file.holding(&scene.text).load_tasks().unwrap();
        let mut parts = tasks.iter().flat_map(|task| &task.subtasks);
        assert!(parts.any(|part| part.title == "First"), "{path}");
    }
}

#[test]
fn a_mark_that_is_not_known_is_open_work() {
    let marks = "~|!|-| x |/|>|x |?|D|o|⚠️|*".split('|');
    let lines = (1..).zip(marks.clone());
    let lines = lines.map(|(number, mark)| format!("- [{mark}] T{number:03} Task\n"));
    let legend = "- [P] T can run in parallel\n- [1] a footnote\n- [x](https://example.com)\n- [ab]: a link\n";
    let lines: String = lines.collect();
    let text = format!("{legend}{lines}- [x] T090 Done\n- [ ] T091 Open\n");
    let (imported, told) = of(&[(LIST, &text)], LIST);
    let (parts, all) = (&imported.tasks[0].subtasks, marks.count() + 2);
    let open = parts.iter().filter(|part| part.status == Status::Pending);
    assert_eq!((open.count(), parts.len()), (all - 1, all), "{told}");
    let problems: Vec<_> = imported
        .problems
        .iter()
        .map(|problem| problem.line)
        .collect();
    assert_eq!(problems, [5], "{told}");
    let scene = Scene::list(&text).all_done();
    let (written, problems) = scene.write_back();
    assert_eq!((written.split(' ').count(), problems), (all - 1, 0));
    assert_eq!(scene.read(LIST).matches("- [x] T").count(), all);
}

#[test]
fn a_backlog_has_statuses_of_its_own() {
    let config = "project_name: a\nstatuses: [\"Ideas\", \"To Do\", \"Doing\", \"QA\", \"Live: now\", \"Sold\"]\n";
    let files = [
        ("backlog/config.yml".to_owned(), config.to_owned()),
        backlog_task("tasks", "1", "Ideas"),
        backlog_task("tasks", "2", "'Doing'"),
        backlog_task("tasks", "3", "QA"),
        backlog_task("tasks", "4", "Sold"),
        backlog_task("archive/tasks", "5", "Ideas"),
        backlog_task("completed", "6", "Ideas"),
    ];
    insta::assert_snapshot!(of(&files, "backlog").1, @"
    Backlog
    BACK-1 pending Task 1
    BACK-2 in-progress Task 2
    BACK-3 pending Task 3
    BACK-4 done Task 4
    BACK-6 done Task 6
    BACK-5 cancelled Task 5
    ! 0: the status `Ideas` is not known: its tasks count as pending
    ! 0: the status `QA` is not known: its tasks count as pending
    ");
    let mut scene = Scene::new(&files, "backlog").all_done();
    assert_eq!(scene.write_back(), ("BACK-1 BACK-2 BACK-3".to_owned(), 0));
    for (id, status) in [(1, "\nstatus: Sold\n"), (2, "\nstatus: 'Sold'\n")] {
        let now = scene.read(&format!("backlog/tasks/back-{id}.md"));
        assert!(now.contains(status), "{now}");
    }
    // A number that another task has by now.
    let another = "\u{feff}---\nid: BACK-1\ntitle: Another\nstatus: Ideas\n---\n";
    let file = scene.project.path().join("backlog/tasks/back-1.md");
    fs::write(file, another).unwrap();
    assert_eq!(scene.write_back(), (String::new(), 1));
    scene.bring_in();
    assert!(scene.statuses().contains("pending Another"));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]

    /// Whatever stands in a file, it is read or refused, and what is read comes into the tasks file in one way alone.
    #[test]
    fn any_text_is_read_or_refused(
        text in r#"(---\n|id: [A-Za-z]-?[0-9.]{1,4}\n|title: .{0,9}\n|\#{1,3} (Phase )?[0-9.]{0,3}.{0,8}\n|[ ]{0,4}[-*+] ?\[[ xX~-]?\] ?[*~]{0,2}(T|TASK-)?[0-9.]{0,4}[a-z]?.{0,12}\n|\{"(id|number)":("a"|1),"title":"t"\}\n|.{0,20}\n){0,14}"#,
    ) {
        let project = folder(&[("tasks.md", &text)]);
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
