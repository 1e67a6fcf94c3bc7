//! The way of a session from its start to its end. Each mix of items is gone through in the tests of the machine.

use std::sync::LazyLock;

use engine::view::collab::answer::SkillAnswer;
use machine::Definition;
use serde_json::json;

use super::stage::Stage;

static COLLAB: LazyLock<Definition> =
    LazyLock::new(|| Definition::parse(workflows::builtin("collab").unwrap().workflow).unwrap());

/// A state that waits, with the item and the batch in hand.
pub type Stop = (&'static str, Option<u64>, Option<u64>);

const BRAINSTORMING: &str = "brainstorm-exploring clear-bs1 brainstorm-clarifying clear-bs2 brainstorm-designing clear-bs3 brainstorm-validating";
const DRAFTING: &str = "clear-pre-rough rough-draft-interface clear-rd1 rough-draft-pseudocode clear-rd2 rough-draft-skeleton clear-rd3 build-task-graph clear-rd4 rough-draft-handoff";

/// Every state that a session with items of these types waits in, in order.
pub fn way(types: &[&str], batches: u64) -> Vec<Stop> {
    let mut all = Vec::new();
    let mut through = |states: &'static str, item: Option<u64>, batch: Option<u64>| {
        all.extend(states.split(' ').map(|state| (state, item, batch)));
    };
    through("collab-start gather-goals clear-pre-item", None, None);
    for (kind, number) in types.iter().zip(1..) {
        let parts = match *kind {
            "code" => vec![BRAINSTORMING, DRAFTING],
            "task" => vec![BRAINSTORMING, "task-planning"],
            _ => vec!["systematic-debugging"],
        };
        for part in parts {
            through(part, Some(number), None);
        }
        through("clear-post-item", Some(number), None);
    }
    through("ready-to-implement clear-pre-execute", None, None);
    for batch in 0..batches {
        through("execute-batch", None, Some(batch));
        through("clear-post-batch", None, None);
    }
    through("workflow-complete cleanup", None, None);
    all
}

/// The skill of a state.
pub fn skill_of(state: &str) -> &str {
    COLLAB.reported_as(state).unwrap_or(state)
}

/// Asserts that an answer leads to where `stop` says.
fn leads_to(answer: &SkillAnswer, &(state, item, batch): &Stop) {
    let skill = skill_of(state);
    let label = COLLAB.state(state).unwrap().label.as_deref().unwrap();
    let action = ["none", "clear"][usize::from(skill == "collab-clear")];
    let told = json!(answer);
    let parts = ["state", "next_skill", "display_name", "action"].map(|name| &told[name]);
    assert_eq!(parts, [state, skill, label, action], "{told}");
    let places = "/params/item_number /params/batch_index /item/number /batch/index";
    let in_hand: Vec<_> = places.split(' ').map(|at| told.pointer(at)).collect();
    assert_eq!(json!(in_hand), json!([item, batch, item, batch]), "{told}");
    assert_eq!((told.get("done"), answer.unit_id.is_some()), (None, true));
    let told = answer.instructions.as_deref().unwrap_or_default();
    assert!(told.contains(skill), "{answer:?}");
}

/// Asserts that an answer says that the session is over.
pub fn is_over(answer: &SkillAnswer) {
    let told = json!(answer);
    let expected = json!({
        "validated": true, "next_skill": null, "done": true, "action": "none", "params": {},
        "session": "default", "state": "done", "display_name": "Done",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(told.get(name), Some(value), "{name}: {told}");
    }
}

/// Walks a session to its end; how many completions it took.
fn walked(types: &[&str], batches: u64) -> usize {
    let stage = Stage::of(types);
    let way = way(types, batches);
    for next in &way[2..] {
        leads_to(&stage.step(), next);
    }
    is_over(&stage.step());
    let brief = stage.brief();
    assert_eq!((brief.skill, brief.done), (None, true));
    way.len()
}

#[test]
fn forty_completions_lead_from_the_start_to_the_end() {
    assert_eq!(walked(&["code", "task", "bugfix"], 2), 40);
    // Items of one type follow each other.
    walked(&["bugfix", "bugfix", "task", "task", "code", "code"], 2);
}

#[test]
fn the_first_answer_tells_all_that_there_is_to_tell() {
    let stage = Stage::bare();
    let answer = stage.done("collab-start");
    leads_to(&answer, &way(&[], 0)[1]);
    let told = json!(answer);
    let names: Vec<&str> = told
        .as_object()
        .unwrap()
        .keys()
        .map(|name| &**name)
        .collect();
    let all = "validated next_skill action params session state display_name unit_id instructions";
    assert_eq!(names.join(" "), all);
    assert_eq!(told["params"], json!({}));
    assert_eq!(told["session"], "default");
}

#[test]
fn a_finished_draft_documents_the_present_item_and_no_other() {
    let stage = Stage::of(&["code", "task", "bugfix"]);
    let stand = |expected: [&str; 3]| {
        let items = stage.full().work_items.into_iter();
        let statuses: Vec<String> = items.map(|item| item.status).collect();
        assert_eq!(statuses, expected);
    };
    let (open, drafted) = ("pending", "documented");
    stage.until("rough-draft-handoff");
    stand([open; 3]);
    stage.step();
    stand([drafted, open, open]);
    stage.until("execute-batch");
    stand([drafted; 3]);
    stage.told(&[("item-3", "completed")]);
    stand([drafted, drafted, "complete"]);
    assert_eq!(stage.full().documented_items, 3);
    stage.until("done");
    stand(["complete"; 3]);
}
