//! Plans in Markdown.

use workspace::tasks::{Applied, PlanFile, Status, StatusChange, Task, TaskSource};

use super::Project;

const PLAN: &str = "\u{feff}---\r\ntitle: front matter\r\n- [ ] not this\r\n---\r\nSome words first.\r\n\r\n# Add a *cache* #\r\n\r\nMore words.\r\n\r\n```md\r\n# Not the title\r\n- [ ] in code\r\n```\r\n<!-- - [ ] in a comment -->\r\n<!--\r\n- [ ] in a longer comment\r\n-->\r\n- [x] Store answers\r\n* [ ] Forget old ones (depends on: 1)\r\n  Old answers are read again.\r\n\r\n  After a while.\r\n  - [ ] the limit can be set\r\n  - [x] it has a default\r\n## Then\r\n3. [X] Count\r\n- an ordinary point\r\n- [link](x)\r\n- [x](y) and [ ] in words\r\n- []byte\r\n+ [ ] Show counts\r\n\t~~~\r\n\t- [ ] code again\r\n\t~~~\r\n\t**Depends on:** #3 and 2\r\n";

fn read(text: &str) -> Task {
    let project = Project::new();
    PlanFile::new(project.write("plan.md", text))
        .task()
        .unwrap()
}

#[test]
fn a_checklist_is_a_task() {
    let task = read(PLAN);
    assert_eq!(
        (task.id.as_str(), task.title.as_str()),
        ("add-a-cache", "Add a *cache*")
    );
    assert_eq!(task.status, Status::Pending);
    assert!(
        task.description
            .starts_with("Some words first.\n\n\nMore words."),
        "{:?}",
        task.description
    );
    let items: Vec<_> = task
        .subtasks
        .iter()
        .map(|item| (item.id.as_str(), item.title.as_str(), item.status.as_str()))
        .collect();
    assert_eq!(
        items,
        [
            ("add-a-cache.1", "Store answers", "done"),
            ("add-a-cache.2", "Forget old ones", "pending"),
            ("add-a-cache.3", "Count", "done"),
            ("add-a-cache.4", "Show counts", "pending"),
        ]
    );
    let second = &task.subtasks[1];
    assert_eq!(second.dependencies, ["add-a-cache.1"]);
    assert_eq!(
        second.acceptance_criteria,
        ["the limit can be set", "it has a default"]
    );
    assert!(
        second
            .description
            .starts_with("Old answers are read again.\n\nAfter a while.\n")
    );
    let fourth = &task.subtasks[3];
    assert_eq!(fourth.dependencies, ["add-a-cache.3", "add-a-cache.2"]);
    assert_eq!(fourth.description, "~~~\n- [ ] code again\n~~~");
    assert!(fourth.acceptance_criteria.is_empty());
}

#[test]
fn without_a_heading_the_file_names_the_task() {
    let project = Project::new();
    let source = PlanFile::new(project.write("Add Cache.md", "- [ ] one\n- [ ] two"));
    let task = source.load_task("add-cache").unwrap();
    assert_eq!(task.title, "Add Cache");
    assert_eq!(
        source.load_task("other").unwrap_err().suggestion().unwrap(),
        "use one of: add-cache"
    );
    assert_eq!(source.task_statuses().unwrap().len(), 3);
}

#[test]
fn what_looks_like_an_item_and_is_none_is_refused_in_its_line() {
    for odd in [
        "- [-] two",
        "- [✅] two",
        "- [o] two",
        "- [|] two",
        "- [] two",
        "-[ ] two",
        "- [ x ] two",
        "- [ ]two",
        "* [✓] two",
    ] {
        let project = Project::new();
        let plan = PlanFile::new(project.write("p.md", format!("# P\n- [ ] one\n{odd}\n")));
        let refused = plan.task().unwrap_err().to_string();
        assert!(refused.contains("p.md:3:1"), "{odd}: {refused}");
        assert!(refused.contains("- [x] title"), "{odd}: {refused}");
    }
}

#[test]
fn a_comment_is_no_part_of_a_title() {
    let task = read(
        "# Plan <!-- draft -->\n- [ ] one <!-- by Ann --> more\n- [ ] two <!-- a note\n- [ ] in it\n-->\n- [ ] three\n",
    );
    let titles: Vec<_> = task
        .subtasks
        .iter()
        .map(|item| item.title.as_str())
        .collect();
    assert_eq!(
        (task.title.as_str(), titles),
        ("Plan", vec!["one more", "two", "three"])
    );
}

#[test]
fn a_plan_in_a_code_block_as_models_answer_is_read() {
    let text = "```markdown\n# Plan\n- [ ] one\n  ```sh\n  make\n  ```\n- [ ] two\n```\n";
    let project = Project::new();
    let path = project.write("p.md", text);
    let source = PlanFile::new(path);
    let task = source.task().unwrap();
    assert_eq!((task.title.as_str(), task.subtasks.len()), ("Plan", 2));
    assert!(task.subtasks[0].description.contains("make"));
    let done = StatusChange::new("plan.2".to_owned(), "done");
    let rewrite = source.rewrite(&[done]).unwrap().unwrap();
    rewrite.apply().unwrap();
    assert_eq!(project.read("p.md"), text.replace("- [ ] two", "- [x] two"));
}

#[test]
fn items_in_a_code_block_alone_are_told() {
    let project = Project::new();
    let plan = PlanFile::new(project.write("p.md", "# Plan\nDo:\n```\n- [ ] one\n```\n"));
    let refused = plan.task().unwrap_err().to_string();
    assert!(refused.contains("p.md:4:1"), "{refused}");
    assert!(refused.contains("code block"), "{refused}");
}

#[test]
fn dependencies_are_written_in_several_ways() {
    for (line, expected) in [
        ("depends on: 1, 2", &["p.1", "p.2"][..]),
        ("Depends On : 1", &["p.1"]),
        ("- depends on: #1; 2.", &["p.1", "p.2"]),
        ("depends on: p.2", &["p.2"]),
        ("depends on: none", &[]),
        ("depends on: 1, 1", &["p.1"]),
        ("depends on: the first", &["p.the", "p.first"]),
    ] {
        let task = read(&format!(
            "# p\n- [ ] a\n- [ ] b\n- [ ] c\n  {line}\n  text\n"
        ));
        assert_eq!(task.subtasks[2].dependencies, expected, "{line}");
        assert_eq!(task.subtasks[2].description, "text", "{line}");
    }
    let prose = read("# p\n- [ ] a\n  This depends on: luck\n");
    assert!(prose.subtasks[0].dependencies.is_empty());
}

#[test]
fn a_plan_without_items_is_refused() {
    let project = Project::new();
    for (text, says) in [
        ("# Title\n\ntext\n", ":4:1: the plan has no item"),
        ("", ":1:1: the plan has no item"),
        ("# T\n- [ ]  \n", ":2:4: this item has no title"),
        (
            "# T\n- [ ] a\n```\nx\n``` end\n- [ ] b\n",
            ":3:1: what begins here",
        ),
        ("# T\n- [ ] a\n<!-- b\n- [ ] c\n", ":3:1: what begins here"),
    ] {
        let error = PlanFile::new(project.write("plan.md", text))
            .task()
            .unwrap_err();
        assert_eq!(error.code(), "tasks_invalid");
        assert!(error.to_string().contains(says), "{text:?}: {error}");
    }
}

#[test]
fn done_items_are_ticked_and_nothing_else_changes() {
    let project = Project::new();
    let source = PlanFile::new(project.write("plan.md", PLAN));
    let done =
        |number: u32, status: &str| StatusChange::new(format!("add-a-cache.{number}"), status);
    let rewrite = source
        .rewrite(&[done(4, "done"), done(2, "done"), done(1, "done")])
        .unwrap()
        .unwrap();
    assert_eq!(rewrite.splices.len(), 2);
    assert_eq!(rewrite.apply().unwrap(), Applied::Done);
    let expected = PLAN
        .replace("* [ ] Forget", "* [x] Forget")
        .replace("+ [ ] Show", "+ [x] Show");
    assert_eq!(project.read("plan.md"), expected);
    assert!(source.task().unwrap().status.is_finished());
    let back = source.rewrite(&[done(3, "pending")]).unwrap().unwrap();
    back.apply().unwrap();
    assert_eq!(
        project.read("plan.md"),
        expected.replace("[X] Count", "[ ] Count")
    );
    assert_eq!(
        source
            .rewrite(&[StatusChange::new("add-a-cache", "review")])
            .unwrap(),
        None
    );
    assert_eq!(source.rewrite(&[done(4, "in-progress")]).unwrap(), None);
    for unknown in ["add-a-cache.5", "add-a-cache.0", "add-a-cache.x", "other.1"] {
        let error = source
            .rewrite(&[StatusChange::new(unknown, "done")])
            .unwrap_err();
        assert_eq!(error.code(), "unknown_task", "{unknown}");
    }
}

#[test]
fn brackets_may_say_several_things() {
    let task = read(
        "# T\n- [ ] A (kind: docs, refactor: no)\n- [ ] B (kind: fix) (refactor: yes) (depends on: 1)\n- [ ] C (kind: fix, later)\n",
    );
    let told: Vec<_> = task
        .subtasks
        .iter()
        .map(|item| (item.title.as_str(), item.kind.as_str(), item.refactor))
        .collect();
    assert_eq!(
        told,
        [
            ("A", "docs", Some(false)),
            ("B", "fix", Some(true)),
            ("C (kind: fix, later)", "", None),
        ]
    );
}
