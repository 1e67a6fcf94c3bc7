//! Plans in Markdown.

use workspace::tasks::{Applied, PlanFile, Status, StatusChange, Subtask, Task, TaskSource};

use super::Project;

const PLAN: &str = "\u{feff}---\r\ntitle: front matter\r\n- [ ] not this\r\n---\r\nSome words first.\r\n\r\n# Add a *cache* #\r\n\r\nMore words.\r\n\r\n```md\r\n# Not the title\r\n- [ ] in code\r\n```\r\n<!-- - [ ] in a comment -->\r\n<!--\r\n- [ ] in a longer comment\r\n-->\r\n- [x] Store answers\r\n* [ ] Forget old ones (depends on: 1)\r\n  Old answers are read again.\r\n\r\n  After a while.\r\n  - [ ] the limit can be set\r\n  - [x] it has a default\r\n## Then\r\n3. [X] Count\r\n- an ordinary point\r\n- [link](x)\r\n- [x](y) and [ ] in words\r\n- []byte\r\n+ [ ] Show counts\r\n\t~~~\r\n\t- [ ] code again\r\n\t~~~\r\n\t**Depends on:** #3 and 2\r\n";

fn plan(text: &str) -> (Project, PlanFile) {
    let project = Project::new();
    let plan = PlanFile::new(project.write("plan.md", text));
    (project, plan)
}

fn read(text: &str) -> Task {
    plan(text).1.task().unwrap()
}

/// The items, a line each: number, status, title, kind, whether it is refactored, and what it waits for.
fn told(task: &Task) -> String {
    let line = |item: &Subtask| {
        let number = item.id.rsplit('.').next().unwrap();
        let (status, title, kind) = (&item.status, &item.title, &item.kind);
        let (refactor, waits) = (item.refactor, item.dependencies.join(" "));
        format!("{number} {status} {title} [{kind}] {refactor:?} <- {waits}")
    };
    let lines: Vec<String> = task.subtasks.iter().map(line).collect();
    lines.join("\n")
}

#[test]
fn a_checklist_is_a_task() {
    let task = read(PLAN);
    assert_eq!((&*task.id, &*task.title), ("add-a-cache", "Add a *cache*"));
    assert_eq!(task.status, Status::Pending);
    let description = "Some words first.\n\n\nMore words.";
    assert!(task.description.starts_with(description), "{task:?}");
    insta::assert_snapshot!(told(&task), @"
    1 done Store answers [] None <- 
    2 pending Forget old ones [] None <- add-a-cache.1
    3 done Count [] None <- 
    4 pending Show counts [] None <- add-a-cache.3 add-a-cache.2
    ");
    let (second, fourth) = (&task.subtasks[1], &task.subtasks[3]);
    let criteria = ["the limit can be set", "it has a default"];
    assert_eq!(second.acceptance_criteria, criteria);
    let description = "Old answers are read again.\n\nAfter a while.\n";
    assert!(second.description.starts_with(description), "{second:?}");
    assert_eq!(fourth.description, "~~~\n- [ ] code again\n~~~");
    assert!(fourth.acceptance_criteria.is_empty());
    // Without a heading the file names the task.
    let project = Project::new();
    let source = PlanFile::new(project.write("Add Cache.md", "- [ ] one\n- [ ] two"));
    assert_eq!(source.load_task("add-cache").unwrap().title, "Add Cache");
    let unknown = source.load_task("other").unwrap_err();
    assert_eq!(unknown.suggestion().unwrap(), "use one of: add-cache");
    assert_eq!(source.task_statuses().unwrap().len(), 3);
}

#[test]
fn what_looks_like_an_item_and_is_none_is_refused_in_its_line() {
    let odd = "- [-] two|- [✅] two|- [o] two|- [] two|-[ ] two|- [ x ] two|- [ ]two|* [✓] two";
    for odd in odd.split('|').chain(["- [|] two"]) {
        let refused = refused(&format!("# P\n- [ ] one\n{odd}\n"));
        assert!(refused.starts_with(":3:1"), "{odd}: {refused}");
    }
}

#[test]
fn a_comment_is_no_part_of_a_title_and_brackets_may_say_several_things() {
    let task = read(
        "# Plan <!-- draft -->\n- [ ] one <!-- by Ann --> more\n- [ ] two <!-- a note\n- [ ] in it\n-->\n- [ ] A (kind: docs, refactor: no)\n- [ ] B (kind: fix) (refactor: yes) (depends on: 1)\n- [ ] C (kind: fix, later)\n",
    );
    assert_eq!(task.title, "Plan");
    insta::assert_snapshot!(told(&task), @"
    1 pending one more [] None <- 
    2 pending two [] None <- 
    3 pending A [docs] Some(false) <- 
    4 pending B [fix] Some(true) <- plan.1
    5 pending C (kind: fix, later) [] None <-
    ");
}

#[test]
fn a_plan_in_a_code_block_as_models_answer_is_read() {
    let text = "```markdown\n# Plan\n- [ ] one\n  ```sh\n  make\n  ```\n- [ ] two\n```\n";
    let (project, source) = plan(text);
    let task = source.task().unwrap();
    assert_eq!((&*task.title, task.subtasks.len()), ("Plan", 2));
    assert!(task.subtasks[0].description.contains("make"));
    let done = StatusChange::new("plan.2".to_owned(), "done");
    source.rewrite(&[done]).unwrap().unwrap().apply().unwrap();
    let expected = text.replace("- [ ] two", "- [x] two");
    assert_eq!(project.read("plan.md"), expected);
}

#[test]
fn dependencies_are_written_in_several_ways() {
    for (line, expected) in [
        ("depends on: 1, 2", "p.1 p.2"),
        ("Depends On : 1", "p.1"),
        ("- depends on: #1; 2.", "p.1 p.2"),
        ("depends on: p.2", "p.2"),
        ("depends on: none", ""),
        ("depends on: 1, 1", "p.1"),
        ("depends on: the first", "p.the p.first"),
    ] {
        let task = read(&format!(
            "# p\n- [ ] a\n- [ ] b\n- [ ] c\n  {line}\n  text\n"
        ));
        assert_eq!(task.subtasks[2].dependencies.join(" "), expected, "{line}");
        assert_eq!(task.subtasks[2].description, "text", "{line}");
    }
    let prose = read("# p\n- [ ] a\n  This depends on: luck\n");
    assert!(prose.subtasks[0].dependencies.is_empty());
}

#[test]
fn a_plan_without_items_is_refused() {
    for case in [
        "# Title\n\ntext\n ⇒ :4:1: the plan has no item such as `- [ ] title`",
        " ⇒ :1:1: the plan has no item such as `- [ ] title`",
        "# T\n- [ ]  \n ⇒ :2:4: this item has no title",
        "# T\n- [ ] a\n```\nx\n``` end\n- [ ] b\n ⇒ :3:1: what begins here, code or a comment, is never closed, and hides what looks like an item",
        "# T\n- [ ] a\n<!-- b\n- [ ] c\n ⇒ :3:1: what begins here, code or a comment, is never closed, and hides what looks like an item",
        "# Plan\nDo:\n```\n- [ ] one\n```\n ⇒ :4:1: the plan has no item: what looks like one stands in a code block, whose fences have to go",
    ] {
        let (text, expected) = case.split_once(" ⇒ ").unwrap();
        assert_eq!(refused(text), expected);
    }
}

/// Where the plan is refused, and why.
fn refused(text: &str) -> String {
    let error = plan(text).1.task().unwrap_err();
    assert_eq!(error.code(), "tasks_invalid", "{text}");
    error
        .to_string()
        .split_once("plan.md")
        .unwrap()
        .1
        .to_owned()
}

#[test]
fn done_items_are_ticked_and_nothing_else_changes() {
    let (project, source) = plan(PLAN);
    let is = |number: &str, status| StatusChange::new(format!("add-a-cache{number}"), status);
    let rewrite = source.rewrite(&[is(".4", "done"), is(".2", "done"), is(".1", "done")]);
    let rewrite = rewrite.unwrap().unwrap();
    assert_eq!(rewrite.splices.len(), 2);
    assert_eq!(rewrite.apply().unwrap(), Applied::Done);
    let expected = PLAN.replace("* [ ] Forget", "* [x] Forget");
    let expected = expected.replace("+ [ ] Show", "+ [x] Show");
    assert_eq!(project.read("plan.md"), expected);
    assert!(source.task().unwrap().status.is_finished());
    let back = source.rewrite(&[is(".3", "pending")]).unwrap().unwrap();
    back.apply().unwrap();
    let expected = expected.replace("[X] Count", "[ ] Count");
    assert_eq!(project.read("plan.md"), expected);
    for nothing in [is("", "review"), is(".4", "in-progress")] {
        assert_eq!(source.rewrite(&[nothing]).unwrap(), None);
    }
    for unknown in [".5", ".0", ".x", "s.1"] {
        let error = source.rewrite(&[is(unknown, "done")]).unwrap_err();
        assert_eq!(error.code(), "not_found", "{unknown}");
    }
}
