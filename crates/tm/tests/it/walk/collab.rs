//! Sessions of skills: from each refusal to the skill that is due.

use serde_json::{Value, json};

use super::walk;
use crate::honest::work::{Before, SHOP, Way, Work};

/// Tasks of which the second one waits for the first.
const GRAPH: &str = "```yaml\ntasks:\n  - id: types\n    description: Types\n    depends-on: []\n  - id: lexer\n    description: Lexer\n    depends-on: [types]\n```\n";

fn tm(work: &Work, command: &str) -> (i32, Value) {
    work.shell(&format!("tm collab {command}"))
}

fn done(work: &Work, command: &str) -> Value {
    let (status, answer) = tm(work, command);
    assert_eq!(status, 0, "{command}: {answer:#}");
    answer
}

/// A session with items of these types, one of them where none is said.
fn session(types: &[&str]) -> Work {
    session_in(&SHOP, types)
}

/// The same in a project of its own.
fn session_in(project: &Before<'_>, types: &[&str]) -> Work {
    let work = Work::unbegun(project, Way::Claimed);
    done(&work, "complete-skill collab-start");
    let items: Vec<Value> = types
        .iter()
        .zip(1..)
        .map(|(kind, number)| json!({ "number": number, "title": "A", "type": kind }))
        .collect();
    if !items.is_empty() {
        done(&work, &format!("update --work-items '{}'", json!(items)));
    }
    work
}

/// Completes skill after skill, as far as the state of that name.
fn to(work: &Work, state: &str) -> String {
    for _ in 0..60 {
        let now = done(work, "state");
        let text = |name: &str| now[name].as_str().unwrap().to_owned();
        if now["state"] == state {
            return text("documents");
        }
        if now["state"] == "build-task-graph" {
            write(&text("documents"), "task-graph.md", GRAPH);
        }
        testkit::write_draft(&now);
        done(
            work,
            &format!(
                "complete-skill {} --unit-id {}",
                text("skill"),
                text("unitId")
            ),
        );
    }
    panic!("it never comes to {state}");
}

/// A task graph in a file of its own.
pub fn graph(work: &Work) -> String {
    let folder = work.outside();
    write(folder.to_str().unwrap(), "graph.md", GRAPH);
    folder.join("graph.md").to_str().unwrap().to_owned()
}

fn write(folder: &str, name: &str, text: &str) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(std::path::Path::new(folder).join(name), text).unwrap();
}

/// The folder of the session's documents.
fn documents(work: &Work) -> String {
    done(work, "state")["documents"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn another_skill_is_completed() {
    let work = session(&["task"]);
    for (skill, code) in [
        ("rough-draft-interface", "unexpected_skill"),
        ("gather-session-gaols", "unknown_skill"),
    ] {
        walk(
            &work,
            |work| tm(work, &format!("complete-skill {skill}")),
            code,
            &[],
        );
    }
}

#[test]
fn there_are_no_items() {
    let work = session(&[]);
    walk(
        &work,
        |work| tm(work, "complete-skill gather-session-goals"),
        "no_items",
        &[],
    );
}

#[test]
fn items_cannot_be_read() {
    let work = session(&[]);
    let text = "# Goals\n\n### Item 1: A\n**Type:** thing\n";
    write(&documents(&work), "design.md", text);
    let deed = |work: &Work| {
        let text = "# Goals\n\n### Item 1: A\n**Type:** task\n";
        write(&documents(work), "design.md", text);
    };
    walk(
        &work,
        |work| tm(work, "complete-skill gather-session-goals"),
        "items_unreadable",
        &[("mend", deed)],
    );
}

#[test]
fn there_is_no_graph_or_none_that_can_be_read() {
    for (text, code) in [
        ("", "graph_missing"),
        (
            "```yaml\ntasks:\n  - id: a\n    depends-on: [b]\n```\n",
            "graph_invalid",
        ),
    ] {
        let work = session(&["code"]);
        let folder = to(&work, "build-task-graph");
        if !text.is_empty() {
            write(&folder, "task-graph.md", text);
        }
        let deed = |work: &Work| write(&documents(work), "task-graph.md", GRAPH);
        let deeds = [("mend those lines", deed as fn(&Work))];
        walk(
            &work,
            |work| tm(work, "complete-skill build-task-graph"),
            code,
            if text.is_empty() { &[] } else { &deeds },
        );
    }
}

#[test]
fn a_graph_holds_bytes_that_are_no_text() {
    let work = session(&["code"]);
    let folder = to(&work, "build-task-graph");
    std::fs::write(
        std::path::Path::new(&folder).join("task-graph.md"),
        [0xff, 0xfe, 0],
    )
    .unwrap();
    let deed = |work: &Work| write(&documents(work), "task-graph.md", GRAPH);
    walk(
        &work,
        |work| tm(work, "complete-skill build-task-graph"),
        "graph_invalid",
        &[("mend", deed)],
    );
}

#[test]
fn tasks_are_set_too_early() {
    let work = session(&["task"]);
    walk(
        &work,
        |work| tm(work, "task item-1=completed"),
        "not_now",
        &[],
    );
}

#[test]
fn a_batch_is_not_finished() {
    for failed in [false, true] {
        let work = session(&["bugfix", "bugfix"]);
        to(&work, "execute-batch");
        let code = if failed {
            done(&work, "task item-1=completed item-2=failed");
            "task_failed"
        } else {
            "tasks_unfinished"
        };
        walk(
            &work,
            |work| tm(work, "complete-skill executing-plans"),
            code,
            &[],
        );
    }
}

#[test]
fn a_task_waits_for_another_one() {
    let work = session(&["code"]);
    to(&work, "execute-batch");
    for _ in 0..2 {
        walk(
            &work,
            |work| tm(work, "task lexer=completed"),
            "needs_unmet",
            &[],
        );
        done(&work, "task types=pending");
    }
}

#[test]
fn a_task_is_of_a_batch_that_is_over() {
    let work = session(&["code"]);
    to(&work, "execute-batch");
    done(&work, "task types=completed");
    done(&work, "complete-skill executing-plans");
    to(&work, "execute-batch");
    walk(
        &work,
        |work| tm(work, "task types=pending"),
        "batch_over",
        &[],
    );
}

#[test]
fn a_task_is_of_a_batch_to_come() {
    let work = session(&["bugfix", "code"]);
    to(&work, "execute-batch");
    let graph = done(&work, "graph");
    let later = graph["batches"][1]["tasks"][0]["id"].as_str().unwrap();
    done(&work, &format!("task {}=completed", "types"));
    walk(
        &work,
        |work| tm(work, &format!("task {later}=completed")),
        "not_in_batch",
        &[],
    );
}

#[test]
fn a_skill_leaves_nothing_behind() {
    let work = session(&["bugfix"]);
    to(&work, "systematic-debugging");
    let deed = |work: &Work| write(&documents(work), "design.md", "#### Cause\n");
    walk(
        &work,
        |work| tm(work, "complete-skill systematic-debugging"),
        "draft_missing",
        &[("write what came of it to", deed)],
    );
}

/// A task that names its file.
const NAMED: &str = "tasks:\n  - id: double\n    files: [src/double.sh]\n";

/// A session that executes a task which names its file.
fn executing(settings: &str) -> Work {
    let shop = Before { settings, ..SHOP };
    let work = session_in(&shop, &["bugfix"]);
    let folder = to(&work, "ready-to-implement");
    write(&folder, "task-graph-item-1.md", NAMED);
    to(&work, "execute-batch");
    done(&work, "task double=completed");
    work
}

#[test]
fn nothing_is_changed_for_a_batch() {
    let deed = |work: &Work| work.write("src/double.sh", "echo $(($1 * 2))\n");
    let work = executing("");
    let call = |work: &Work| tm(work, "complete-skill executing-plans");
    walk(&work, call, "batch_without_change", &[("do them", deed)]);

    let work = executing(r#""evidence": {"policy": {"task_without_change": "refuse"}}"#);
    work.write("src/other.sh", "true\n");
    let asked = "see that they were done";
    walk(&work, call, "task_without_change", &[(asked, deed)]);
}

#[test]
fn a_branch_is_finished_without_a_commit() {
    let work = executing("");
    work.write("src/double.sh", "echo $(($1 * 2))\n");
    to(&work, "workflow-complete");
    walk(
        &work,
        |work| tm(work, "complete-skill finishing-a-development-branch"),
        "work_uncommitted",
        &[("commit it", |work: &Work| {
            work.runs_well("git add src && git commit --quiet --message Double");
        })],
    );
}
