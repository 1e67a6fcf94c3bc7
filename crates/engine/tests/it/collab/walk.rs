//! The way of a session from its start to its end, for every mix of items.

use engine::view::collab::answer::SkillAnswer;
use serde_json::{Value, json};

use super::stage::{Stage, wire};

/// A state that waits, with what its answer says.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    pub state: &'static str,
    pub skill: &'static str,
    pub display: &'static str,
    pub item: Option<u64>,
    pub batch: Option<u64>,
}

const fn stop(state: &'static str, skill: &'static str, display: &'static str) -> Stop {
    Stop {
        state,
        skill,
        display,
        item: None,
        batch: None,
    }
}

const fn clear(state: &'static str) -> Stop {
    stop(state, "collab-clear", "Context check")
}

const BEGINNING: [Stop; 3] = [
    stop("collab-start", "collab-start", "Starting"),
    stop("gather-goals", "gather-session-goals", "Gathering goals"),
    clear("clear-pre-item"),
];
const BRAINSTORMING: [Stop; 7] = [
    stop(
        "brainstorm-exploring",
        "brainstorming-exploring",
        "Exploring",
    ),
    clear("clear-bs1"),
    stop(
        "brainstorm-clarifying",
        "brainstorming-clarifying",
        "Clarifying",
    ),
    clear("clear-bs2"),
    stop(
        "brainstorm-designing",
        "brainstorming-designing",
        "Designing",
    ),
    clear("clear-bs3"),
    stop(
        "brainstorm-validating",
        "brainstorming-validating",
        "Validating",
    ),
];
const DRAFTING: [Stop; 10] = [
    clear("clear-pre-rough"),
    stop(
        "rough-draft-interface",
        "rough-draft-interface",
        "Interface",
    ),
    clear("clear-rd1"),
    stop(
        "rough-draft-pseudocode",
        "rough-draft-pseudocode",
        "Pseudocode",
    ),
    clear("clear-rd2"),
    stop("rough-draft-skeleton", "rough-draft-skeleton", "Skeleton"),
    clear("clear-rd3"),
    stop("build-task-graph", "build-task-graph", "Task graph"),
    clear("clear-rd4"),
    stop("rough-draft-handoff", "rough-draft-handoff", "Handoff"),
];
const PLANNING: Stop = stop("task-planning", "task-planning", "Planning");
const DEBUGGING: Stop = stop(
    "systematic-debugging",
    "systematic-debugging",
    "Investigating",
);
const ITEM_OVER: Stop = clear("clear-post-item");
const READY: [Stop; 2] = [
    stop("ready-to-implement", "ready-to-implement", "Ready"),
    clear("clear-pre-execute"),
];
const BATCH: [Stop; 2] = [
    stop("execute-batch", "executing-plans", "Executing"),
    clear("clear-post-batch"),
];
const END: [Stop; 2] = [
    stop(
        "workflow-complete",
        "finishing-a-development-branch",
        "Finishing",
    ),
    stop("cleanup", "collab-cleanup", "Cleaning up"),
];

/// Every state that a session with items of these types waits in, in order.
pub fn way(types: &[&str], batches: u64) -> Vec<Stop> {
    let mut all = BEGINNING.to_vec();
    for (kind, number) in types.iter().zip(1..) {
        let mut of: Vec<Stop> = Vec::new();
        match *kind {
            "code" => of.extend(BRAINSTORMING.into_iter().chain(DRAFTING)),
            "task" => of.extend(BRAINSTORMING.into_iter().chain([PLANNING])),
            _ => of.push(DEBUGGING),
        }
        of.push(ITEM_OVER);
        all.extend(of.into_iter().map(|stop| Stop {
            item: Some(number),
            ..stop
        }));
    }
    all.extend(READY);
    for index in 0..batches {
        let [execute, clear] = BATCH;
        all.push(Stop {
            batch: Some(index),
            ..execute
        });
        all.push(clear);
    }
    all.extend(END);
    all
}

/// Asserts that an answer leads to where `stop` says.
pub fn leads_to(answer: &SkillAnswer, stop: &Stop) {
    assert_eq!(answer.state, stop.state, "{answer:?}");
    assert_eq!(answer.next_skill.as_deref(), Some(stop.skill), "{answer:?}");
    assert_eq!(answer.display_name, stop.display, "{answer:?}");
    let action = if stop.skill == "collab-clear" {
        "clear"
    } else {
        "none"
    };
    assert_eq!(answer.action, action, "{answer:?}");
    assert_eq!(
        answer.params.item_number,
        stop.item.map(Value::from),
        "{answer:?}"
    );
    assert_eq!(answer.params.batch_index, stop.batch, "{answer:?}");
    assert_eq!(
        answer.item.as_ref().map(|item| &item.number),
        answer.params.item_number.as_ref()
    );
    assert_eq!(answer.batch.as_ref().map(|batch| batch.index), stop.batch);
    assert!(!answer.done, "{answer:?}");
    assert!(answer.unit_id.is_some(), "{answer:?}");
    let told = answer.instructions.as_deref().unwrap_or_default();
    assert!(told.contains(stop.skill), "{answer:?}");
}

/// Asserts that an answer says that the session is over.
pub fn is_over(answer: &SkillAnswer) {
    assert!(answer.done, "{answer:?}");
    assert_eq!(answer.next_skill, None);
    assert_eq!(answer.state, "done");
    assert_eq!(answer.display_name, "Done");
    assert_eq!(answer.action, "none");
    assert_eq!(wire(&answer.params), "{}");
    let as_value: Value = serde_json::from_str(&wire(answer)).unwrap();
    assert_eq!(as_value["next_skill"], Value::Null);
    assert!(as_value.as_object().unwrap().contains_key("next_skill"));
}

/// Walks a session through its items; how many completions it took.
fn through_items(stage: &Stage, types: &[&str]) -> usize {
    let way = way(types, 0);
    let mut completions = 1;
    for (stop, next) in way.iter().zip(&way[1..]).skip(1) {
        leads_to(&stage.step_at(stop.state, stop.skill), next);
        completions += 1;
        if next.state == "ready-to-implement" {
            break;
        }
    }
    completions
}

/// Walks a session to its end; how many completions it took.
fn walked(types: &[&str], batches: u64) -> usize {
    let stage = Stage::of(types);
    let way = way(types, batches);
    let mut completions = 1;
    for (at, stop) in way.iter().enumerate().skip(1) {
        let answer = stage.step_at(stop.state, stop.skill);
        completions += 1;
        match way.get(at + 1) {
            Some(next) => leads_to(&answer, next),
            None => is_over(&answer),
        }
    }
    assert_eq!(stage.brief().skill, None);
    assert!(stage.brief().done);
    completions
}

#[test]
fn forty_completions_lead_from_the_start_to_the_end() {
    assert_eq!(walked(&["code", "task", "bugfix"], 2), 40);
}

#[test]
fn the_first_answer_tells_all_that_there_is_to_tell() {
    let stage = Stage::bare();
    let answer = stage.done("collab-start");
    leads_to(&answer, &way(&["code"], 1)[1]);
    let as_value: Value = serde_json::from_str(&wire(&answer)).unwrap();
    let names: Vec<&String> = as_value.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "validated",
            "next_skill",
            "action",
            "params",
            "session",
            "state",
            "display_name",
            "unit_id",
            "instructions"
        ]
    );
    assert_eq!(as_value["params"], json!({}));
    assert_eq!(as_value["session"], "default");
}

/// All sequences of so many types.
fn sequences(length: usize) -> Vec<Vec<&'static str>> {
    let mut all: Vec<Vec<&str>> = vec![Vec::new()];
    for _ in 0..length {
        all = all
            .iter()
            .flat_map(|begun| {
                ["code", "task", "bugfix"].map(|kind| {
                    let mut longer = begun.clone();
                    longer.push(kind);
                    longer
                })
            })
            .collect();
    }
    all
}

/// Walks all sequences of three items that begin with `first`.
fn three(first: &str) {
    for types in sequences(3) {
        if types[0] == first {
            through_items(&Stage::of(&types), &types);
        }
    }
}

#[test]
fn one_or_two_items_of_every_type_come_to_their_end() {
    for types in sequences(1).into_iter().chain(sequences(2)) {
        let batches = if types.contains(&"code") { 2 } else { 1 };
        walked(&types, batches);
    }
}

#[test]
fn three_items_with_code_first_are_gone_through() {
    three("code");
}

#[test]
fn three_items_with_a_task_first_are_gone_through() {
    three("task");
}

#[test]
fn three_items_with_a_bugfix_first_are_gone_through() {
    three("bugfix");
}

#[test]
fn each_clear_goes_on_to_its_own_successor() {
    let stage = Stage::of(&["code", "task", "bugfix"]);
    let mut seen: Vec<(String, String)> = Vec::new();
    while stage.state() != "done" {
        let before = stage.brief();
        let answer = stage.step();
        if before.skill.as_deref() == Some("collab-clear") {
            let pair = (before.state, answer.state);
            if !seen.contains(&pair) {
                seen.push(pair);
            }
        }
    }
    let seen: Vec<(&str, &str)> = seen.iter().map(|(from, to)| (&**from, &**to)).collect();
    assert_eq!(
        seen,
        [
            ("clear-pre-item", "brainstorm-exploring"),
            ("clear-bs1", "brainstorm-clarifying"),
            ("clear-bs2", "brainstorm-designing"),
            ("clear-bs3", "brainstorm-validating"),
            ("clear-pre-rough", "rough-draft-interface"),
            ("clear-rd1", "rough-draft-pseudocode"),
            ("clear-rd2", "rough-draft-skeleton"),
            ("clear-rd3", "build-task-graph"),
            ("clear-rd4", "rough-draft-handoff"),
            ("clear-post-item", "brainstorm-exploring"),
            ("clear-post-item", "systematic-debugging"),
            ("clear-post-item", "ready-to-implement"),
            ("clear-pre-execute", "execute-batch"),
            ("clear-post-batch", "execute-batch"),
            ("clear-post-batch", "workflow-complete"),
        ]
    );
}

#[test]
fn a_finished_draft_documents_the_present_item_and_no_other() {
    let stage = Stage::of(&["code", "task", "bugfix"]);
    let standing = |stage: &Stage| -> Vec<String> {
        let items = stage.full().work_items;
        items.into_iter().map(|item| item.status).collect()
    };
    for (state, after) in [
        ("rough-draft-handoff", ["documented", "pending", "pending"]),
        ("task-planning", ["documented", "documented", "pending"]),
        (
            "systematic-debugging",
            ["documented", "documented", "documented"],
        ),
    ] {
        stage.until(state);
        let before = standing(&stage);
        stage.step();
        assert_ne!(before, standing(&stage));
        assert_eq!(standing(&stage), after);
    }
    assert_eq!(stage.full().documented_items, 3);
    stage.until("execute-batch");
    assert_eq!(standing(&stage), ["documented"; 3]);
    stage.told(&[("item-3", "completed")]);
    assert_eq!(standing(&stage), ["documented", "documented", "complete"]);
    assert_eq!(stage.full().documented_items, 3);
    stage.until("done");
    assert_eq!(standing(&stage), ["complete"; 3]);
}
