//! Sessions of skills: from each refusal to the skill that is due.

use std::path::Path;

use serde_json::{Value, json};

use super::{Story, at, at_of, story};
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

/// A session of items of these types, in which skill after skill is completed as far as the state of that name.
fn to(before: &Before<'static>, types: &[&str], state: &str) -> Work {
    let work = session(before);
    items(&work, types);
    goes_to(&work, state);
    work
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
    let design = |work: &Work, kind: &str| {
        let text = format!("# Goals\n\n### Item 1: A\n**Type:** {kind}\n");
        write(work, "design.md", text);
    };
    at_of(&SHOP, session, &[]).tell([
        completes("another one", "rough-draft-interface", "unexpected_skill")
            .done(|work| items(work, &["task"])),
        completes("unknown", "gather-session-gaols", "unknown_skill")
            .done(|work| items(work, &["task"])),
        completes("without items", "gather-session-goals", "no_items"),
        completes("unreadable", "gather-session-goals", "items_unreadable")
            .done(move |work| design(work, "thing"))
            .deed(move |work| design(work, "task")),
        calls("tasks too early", "task item-1=completed", "not_now")
            .done(|work| items(work, &["task"])),
    ]);
    let debugs = |before: &Before<'static>| to(before, &["bugfix"], "systematic-debugging");
    at(debugs, &[]).tell([
        completes("nothing left", "systematic-debugging", "draft_missing")
            .deed(|work| write(work, "design.md", "#### Cause\n")),
    ]);
}

#[test]
fn there_is_no_graph_or_none_that_can_be_read() {
    let built = |name, code| completes(name, "build-task-graph", code);
    let invalid = |name, text: &'static [u8]| {
        built(name, "graph_invalid")
            .done(move |work| write(work, "task-graph.md", text))
            .deed(|work| write(work, "task-graph.md", GRAPH))
    };
    let builds = |before: &Before<'static>| to(before, &["code"], "build-task-graph");
    at_of(&SHOP, builds, &[]).tell([
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
    const FIRST: &str = "task item-1=completed types=completed";
    let executes = |before: &Before<'static>| to(before, &["bugfix", "code"], "execute-batch");
    at_of(&SHOP, executes, &[]).tell([
        completes("unfinished", "executing-plans", "tasks_unfinished"),
        completes("one has failed", "executing-plans", "task_failed")
            .done(|work| done(work, "task item-1=completed types=failed")),
        calls("it waits", "task lexer=completed", "needs_unmet"),
        calls("it waits again", "task lexer=completed", "needs_unmet")
            .done(|work| done(work, FIRST))
            .done(|work| done(work, "task types=pending")),
        calls(
            "it is of a batch to come",
            "task lexer=completed",
            "not_in_batch",
        )
        .done(|work| done(work, FIRST)),
        calls("its batch is over", "task types=pending", "batch_over")
            .done(|work| done(work, FIRST))
            .done(|work| done(work, "complete-skill executing-plans"))
            .done(|work| goes_to(work, "execute-batch")),
    ]);
}

/// A session executes a task that names its file.
fn executes(before: &Before<'static>) -> Work {
    let work = to(before, &["bugfix"], "ready-to-implement");
    let named = "tasks:\n  - id: double\n    files: [src/double.sh]\n";
    write(&work, "task-graph-item-1.md", named);
    goes_to(&work, "execute-batch");
    done(&work, "task double=completed");
    work
}

#[test]
fn nothing_is_changed_or_nothing_committed() {
    let finishes = "finishing-a-development-branch";
    at_of(
        &SHOP.settings(r#""evidence": {"policy": {"task_without_change": "refuse"}}"#),
        executes,
        &[],
    )
    .tell([
        completes("no change", "executing-plans", "batch_without_change").deed(Work::code),
        completes("another change", "executing-plans", "task_without_change")
            .done(|work| work.write("src/other.sh", "true\n"))
            .deed(Work::code),
        completes("without a commit", finishes, "work_uncommitted")
            .done(Work::code)
            .done(|work| goes_to(work, "workflow-complete"))
            .deed(|work| work.commit_by_hand("Double")),
    ]);
}
