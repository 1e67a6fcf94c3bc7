//! Sessions of skills: from each refusal to the skill that is due.

use std::path::Path;

use serde_json::{Value, json};

use super::{Story, at, story};
use crate::honest::work::{Before, SHOP, Work};

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

/// A session that has begun.
fn session(before: &Before<'static>) -> Work {
    let work = before.unbegun();
    done(&work, "complete-skill collab-start");
    work
}

/// Gives a session items of these types, and completes skill after skill, as far as the state of that name.
fn to(work: &Work, types: &[&str], state: &str) {
    items(work, types);
    goes_to(work, state);
}

fn items(work: &Work, types: &[&str]) {
    let item =
        |(number, kind): (i32, &&str)| json!({ "number": number, "title": "A", "type": kind });
    let items: Vec<Value> = (1..).zip(types).map(item).collect();
    done(work, &format!("update --work-items '{}'", json!(items)));
}

fn goes_to(work: &Work, state: &str) {
    for _ in 0..60 {
        let now = done(work, "state");
        if now["state"] == state {
            return;
        }
        if now["state"] == "build-task-graph" {
            write(work, "task-graph.md", GRAPH);
        }
        testkit::write_draft(&now);
        let [skill, unit] = ["skill", "unitId"].map(|name| now[name].as_str().unwrap());
        done(work, &format!("complete-skill {skill} --unit-id {unit}"));
    }
    panic!("it never comes to {state}");
}

/// A task graph in a file of its own.
pub fn graph(work: &Work) -> String {
    let file = work.outside().join("graph.md");
    std::fs::write(&file, GRAPH).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Writes one of the session's documents.
fn write(work: &Work, name: &str, text: impl AsRef<[u8]>) {
    let folder = done(work, "state")["documents"]
        .as_str()
        .unwrap()
        .to_owned();
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(Path::new(&folder).join(name), text).unwrap();
}

fn calls(name: &'static str, command: &'static str, code: &'static str) -> Story {
    story(name, code).call(move |work| tm(work, command))
}

fn completes(name: &'static str, skill: &'static str, code: &'static str) -> Story {
    story(name, code).call(move |work| tm(work, &format!("complete-skill {skill}")))
}

#[test]
fn a_skill_is_completed_that_is_not_due_or_not_done() {
    at(session, &[]).tell([
        completes("another one", "rough-draft-interface", "unexpected_skill")
            .done(|work| items(work, &["task"])),
        completes("unknown", "gather-session-gaols", "unknown_skill")
            .done(|work| items(work, &["task"])),
        completes("without items", "gather-session-goals", "no_items"),
        completes("unreadable", "gather-session-goals", "items_unreadable")
            .done(|work| {
                write(
                    work,
                    "design.md",
                    "# Goals\n\n### Item 1: A\n**Type:** thing\n",
                );
            })
            .deed(|work| {
                write(
                    work,
                    "design.md",
                    "# Goals\n\n### Item 1: A\n**Type:** task\n",
                );
            }),
        completes("nothing left", "systematic-debugging", "draft_missing")
            .done(|work| to(work, &["bugfix"], "systematic-debugging"))
            .deed(|work| write(work, "design.md", "#### Cause\n")),
    ]);
}

#[test]
fn there_is_no_graph_or_none_that_can_be_read() {
    let built = |name, code| {
        completes(name, "build-task-graph", code)
            .done(|work| to(work, &["code"], "build-task-graph"))
    };
    let invalid = |name, text: &'static [u8]| {
        built(name, "graph_invalid")
            .done(move |work| write(work, "task-graph.md", text))
            .deed(|work| write(work, "task-graph.md", GRAPH))
    };
    at(session, &[]).tell([
        built("none", "graph_missing"),
        invalid(
            "an unknown need",
            b"```yaml\ntasks:\n  - id: a\n    depends-on: [b]\n```\n",
        ),
        invalid("no text", &[0xff, 0xfe, 0]),
    ]);
}

#[test]
fn tasks_are_set_out_of_turn() {
    at(session, &[]).tell([
        calls("too early", "task item-1=completed", "not_now").done(|work| items(work, &["task"])),
        completes("unfinished", "executing-plans", "tasks_unfinished")
            .done(|work| to(work, &["bugfix", "bugfix"], "execute-batch")),
        completes("one has failed", "executing-plans", "task_failed")
            .done(|work| to(work, &["bugfix", "bugfix"], "execute-batch"))
            .done(|work| done(work, "task item-1=completed item-2=failed")),
        calls("it waits", "task lexer=completed", "needs_unmet")
            .done(|work| to(work, &["code"], "execute-batch")),
        calls("it waits again", "task lexer=completed", "needs_unmet")
            .done(|work| to(work, &["code"], "execute-batch"))
            .done(|work| done(work, "task types=completed"))
            .done(|work| done(work, "task types=pending")),
        calls("its batch is over", "task types=pending", "batch_over")
            .done(|work| to(work, &["code"], "execute-batch"))
            .done(|work| done(work, "task types=completed"))
            .done(|work| done(work, "complete-skill executing-plans"))
            .done(|work| goes_to(work, "execute-batch")),
        story("one is of a batch to come", "not_in_batch")
            .done(|work| to(work, &["bugfix", "code"], "execute-batch"))
            .done(|work| done(work, "task types=completed"))
            .call(|work| {
                let graph = done(work, "graph");
                let later = graph["batches"][1]["tasks"][0]["id"].as_str().unwrap();
                tm(work, &format!("task {later}=completed"))
            }),
    ]);
}

/// A session executes a task that names its file.
fn executes(work: &Work) {
    to(work, &["bugfix"], "ready-to-implement");
    let named = "tasks:\n  - id: double\n    files: [src/double.sh]\n";
    write(work, "task-graph-item-1.md", named);
    goes_to(work, "execute-batch");
    done(work, "task double=completed");
}

#[test]
fn nothing_is_changed_or_nothing_committed() {
    at(session, &[]).tell([
        completes("no change", "executing-plans", "batch_without_change")
            .done(executes)
            .deed(Work::code),
        completes("another change", "executing-plans", "task_without_change")
            .of(SHOP.settings(r#""evidence": {"policy": {"task_without_change": "refuse"}}"#))
            .done(executes)
            .done(|work| work.write("src/other.sh", "true\n"))
            .deed(Work::code),
        completes(
            "without a commit",
            "finishing-a-development-branch",
            "work_uncommitted",
        )
        .done(executes)
        .done(Work::code)
        .done(|work| goes_to(work, "workflow-complete"))
        .deed(|work| work.commit_by_hand("Double")),
    ]);
}
