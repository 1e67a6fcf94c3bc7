//! Ways back: items and tasks that are taken up again or given up, items that come late, and what the end still asks for.

use engine::view::COLLAB;
use engine::{Fault, Turn, Verb};
use serde_json::{Value, json};

use super::stage::{Stage, says_why};

/// What is in hand is meant.
fn in_hand() -> Turn<'static> {
    Turn::new(Verb::Reopen, "for no reason")
}

fn item(number: &str) -> Turn<'static> {
    Turn {
        reason: "for no reason",
        ..Turn::skip(Some(number), "")
    }
}

fn tasks(ids: &[&str]) -> Turn<'static> {
    let ids: Vec<String> = ids.iter().map(|&id| id.to_owned()).collect();
    in_hand().of_tasks(&ids)
}

fn because<'a>(reason: &'a str, turn: Turn<'a>) -> Turn<'a> {
    Turn { reason, ..turn }
}

fn as_kind(kind: &str, turn: Turn<'static>) -> Turn<'static> {
    let mut turn = turn;
    turn.flags.insert("kind".to_owned(), kind.into());
    turn
}

/// Where a turn led.
struct Turned {
    state: String,
    message: String,
    instructions: Option<String>,
}

fn turn(stage: &Stage, verb: Verb, wish: &Turn<'_>) -> Result<Turned, Fault> {
    let turn = Turn {
        verb,
        ..wish.clone()
    };
    let session = stage.session.as_deref();
    let answer = stage.engine().turn(&COLLAB, session, &turn)?;
    let unit = answer.next_action.and_then(|next| next.unit);
    let unit = unit.unwrap_or_default();
    Ok(Turned {
        state: unit.state,
        message: answer.message,
        instructions: unit.instructions,
    })
}

#[track_caller]
fn reopen(stage: &Stage, wish: &Turn<'_>) -> Turned {
    let turned = turn(stage, Verb::Reopen, wish).unwrap();
    assert!(turned.instructions.is_some(), "{}", turned.state);
    turned
}

#[track_caller]
fn skip(stage: &Stage, wish: &Turn<'_>) -> Turned {
    turn(stage, Verb::Skip, wish).unwrap()
}

/// Neither a skip nor a reopening of this is taken.
#[track_caller]
fn not_turned(stage: &Stage, code: &str, wish: &Turn<'_>) {
    for verb in [Verb::Skip, Verb::Reopen] {
        stage.unmoved(code, || turn(stage, verb, wish).err().unwrap());
    }
}

/// The code of what becomes of an item that comes late, where it is refused.
fn late(stage: &Stage, item: &Value) -> Option<String> {
    let added = stage.update(&json!({ "addItems": [item] }));
    added.map_or_else(|fault| Some(fault.code), |answer| answer.verdict.code)
}

/// The status of every item.
fn statuses(stage: &Stage) -> Vec<String> {
    let items = stage.full().work_items.into_iter();
    items.map(|item| item.status).collect()
}

#[test]
fn the_item_in_hand_is_given_up_or_begun_anew() {
    let stage = Stage::of(&["task", "bugfix"]);
    not_turned(&stage, "nothing_in_hand", &in_hand());
    stage.until("brainstorm-designing");
    let wrong = because("the facts were wrong", item("1"));
    assert_eq!(reopen(&stage, &wrong).state, "clear-pre-item");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.state, "brainstorm-exploring");
    let told = answer.instructions.unwrap();
    assert!(told.contains("the facts were wrong"), "{told}");
    let unit = stage.until("clear-bs1").unit_id;
    reopen(&stage, &in_hand());
    // A unit that was left is told apart from one that was completed, and a skill that is asked for again from a repetition.
    let left = stage.complete("collab-clear", unit.as_deref()).unwrap();
    let told = left.verdict.message.unwrap();
    assert!(told.contains("has gone another way"), "{told}");
    stage.done("collab-clear");
    stage.done("brainstorming-exploring");
    assert_eq!(stage.state(), "clear-bs1");
    let answer = skip(&stage, &because("not needed", in_hand()));
    assert_eq!(answer.state, "clear-post-item");
    assert_eq!(stage.done("collab-clear").item.unwrap().number, 2);
    stage.until("execute-batch");
    assert_eq!(stage.ids(), [["item-2"]]);
    let full = stage.full();
    assert_eq!((full.total_items, full.documented_items), (2, 1));
    let skipped = &full.work_items[0];
    let stands = (skipped.status.as_str(), skipped.reason.as_str());
    assert_eq!(stands, ("skipped", "not needed"));
    stage.until("done");
}

#[test]
fn an_item_may_be_of_another_type_when_it_is_taken_up_again() {
    let stage = Stage::of(&["code"]);
    stage.until("rough-draft-interface");
    let turned = as_kind("fix", item("1"));
    assert_eq!(reopen(&stage, &turned).state, "clear-pre-item");
    assert_eq!(stage.done("collab-clear").state, "systematic-debugging");
    stage.until("execute-batch");
    // The batch goes on; the item is worked out again behind it, as what it is now.
    let turned = as_kind("task", item("1"));
    assert_eq!(reopen(&stage, &turned).state, "execute-batch");
    assert_eq!(stage.ids(), [vec![], vec!["item-1"]]);
    assert_eq!(stage.past_told().state, "clear-pre-item");
    assert_eq!(stage.done("collab-clear").state, "brainstorm-exploring");
    stage.until("done");
    let odd = turn(&stage, Verb::Reopen, &as_kind("odd", item("1")));
    says_why("usage", &odd.err().unwrap());
}

#[test]
fn what_others_build_on_is_turned_after_them() {
    let stage = Stage::needing(&[("bugfix", &[]), ("bugfix", &[1]), ("task", &[2])]);
    stage.until("brainstorm-exploring");
    for number in ["1", "2"] {
        not_turned(&stage, "dependents_begun", &item(number));
    }
    skip(&stage, &in_hand());
    stage.done("collab-clear");
    assert_eq!(stage.state(), "ready-to-implement");
    not_turned(&stage, "dependents_begun", &item("1"));
    reopen(&stage, &item("2"));
    // What is documented but for that comes first.
    assert_eq!(stage.done("ready-to-implement").state, "clear-pre-item");
    assert_eq!(stage.done("collab-clear").item.unwrap().number, 2);
    stage.until("execute-batch");
    assert_eq!(stage.ids(), [["item-1"], ["item-2"]]);
    assert_eq!(statuses(&stage)[2], "skipped");
}

#[test]
fn what_needs_a_skipped_item_is_not_waited_for() {
    let stage = Stage::needing(&[("bugfix", &[]), ("code", &[1])]);
    stage.until("systematic-debugging");
    skip(&stage, &in_hand());
    assert_eq!(stage.done("collab-clear").state, "ready-to-implement");
    stage.done("ready-to-implement");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.state, "workflow-complete");
    let lost = [
        "items skipped: 1",
        "items not worked out because of that: 2",
    ];
    assert_eq!(answer.notes, lost);
    // No task is made up for the one that waits.
    assert_eq!(reopen(&stage, &item("2")).state, "workflow-complete");
    assert!(stage.graph().batches.is_empty());
    assert_eq!(reopen(&stage, &item("1")).state, "clear-pre-execute");
    assert_eq!(stage.done("collab-clear").state, "clear-pre-item");
    stage.until("execute-batch");
    assert_eq!(stage.ids().concat(), ["item-1", "types", "machine"]);
    stage.until("done");
    assert_eq!(statuses(&stage), ["complete", "complete"]);
}

#[test]
fn an_item_that_comes_late_is_worked_out_behind_what_is_in_hand() {
    let stage = Stage::begun();
    let first = json!({ "title": "Late", "type": "feature", "dependsOn": [1] });
    // Before the goals are gathered nothing comes late.
    assert_eq!(late(&stage, &first).as_deref(), Some("no_items"));
    assert_eq!(late(&Stage::bare(), &first).as_deref(), Some("no_run"));
    let stage = Stage::of(&["bugfix"]);
    stage.until("systematic-debugging");
    // Said again it is the same.
    for _ in 0..2 {
        assert_eq!(late(&stage, &first), None);
        assert_eq!(stage.full().work_items.len(), 2);
    }
    assert_eq!(stage.full().work_items[1].number, 2);
    let (needs, senseless) = ("bad_dependencies", "usage");
    for (field, value, code) in [
        ("dependsOn", json!([9]), needs),
        ("number", json!(1), needs),
        ("number", json!("a/b"), senseless),
        ("status", json!("complete"), senseless),
        ("title", Value::Null, senseless),
        ("type", Value::Null, senseless),
    ] {
        let mut item = json!({ "title": "X", "type": "task" });
        item[field] = value;
        assert_eq!(late(&stage, &item).as_deref(), Some(code), "{item}");
    }
    let many = vec![json!({ "title": "X", "type": "task" }); 999];
    let many = stage.update(&json!({ "addItems": many })).unwrap();
    assert_eq!(many.verdict.code.as_deref(), Some("bad_value"));
    stage.until("execute-batch");
    assert_eq!(stage.ids().concat(), ["item-1", "types", "machine"]);
    // While batches are executed it waits for the one in hand, and no longer.
    let item = json!({ "number": "2a", "title": "Later", "type": "task" });
    assert_eq!(late(&stage, &item), None);
    assert_eq!(stage.past_batch().state, "clear-pre-item");
    assert_eq!(stage.done("collab-clear").item.unwrap().number, "2a");
    // Graphs may be handed over meanwhile; batches are cut when all is documented.
    let graph = "tasks:\n  - id: types\n  - id: other\n";
    assert!(stage.synced_of(Some("2"), graph).batches.is_empty());
    stage.until("execute-batch");
    let batches = [vec!["item-1"], vec!["types", "other", "item-2a"]];
    assert_eq!(stage.ids(), batches);
    stage.until("workflow-complete");
    // Those that come together may need each other.
    let two = json!({ "addItems": [
        { "number": 8, "title": "C", "type": "bugfix", "dependsOn": [9] },
        { "number": 9, "title": "D", "type": "bugfix", "dependsOn": [1] },
    ]});
    for _ in 0..2 {
        assert_eq!(stage.set(&two).fields["addedItems"], json!([8, 9]));
    }
    let finished = stage.done("finishing-a-development-branch");
    assert_eq!(finished.state, "clear-pre-execute");
    stage.until("done");
    assert_eq!(statuses(&stage), ["complete"; 5]);
}

const FOUR: &str = "tasks:
  - id: a
  - id: b
    depends-on: [a]
  - id: c
    depends-on: [b]
  - id: d
    depends-on: [a]
";

#[test]
fn tasks_are_given_up_before_their_batch() {
    let stage = Stage::executing(FOUR);
    let told = skip(&stage, &tasks(&["b", "d"])).message;
    assert!(told.contains("not run: c"), "{told}");
    let full = stage.full();
    let lost = (full.failed_tasks.concat(), full.not_run_tasks.concat());
    assert_eq!(lost, ("bd".to_owned(), "c".to_owned()));
    // Nothing of the others can be run.
    let answer = stage.past_batch();
    assert_eq!(answer.state, "workflow-complete");
    assert_eq!(answer.notes, ["skipped: b and d", "not run: c"]);
    // Where all batches are over, it is gone to at once.
    assert_eq!(reopen(&stage, &tasks(&["b"])).state, "clear-pre-execute");
    stage.until("clear-post-batch");
    // Between batches it comes into one of its own.
    let again = reopen(&stage, &tasks(&["a", "b"])).message;
    assert!(again.contains("a in batch-"), "{again}");
    stage.until("done");
    assert_eq!(stage.full().completed_tasks, ["a", "b", "c"]);
}

#[test]
fn an_item_takes_its_tasks_along() {
    let stage = Stage::of(&["code", "bugfix"]);
    stage.until("execute-batch");
    assert_eq!(stage.ids(), [vec!["types", "item-2"], vec!["machine"]]);
    stage.told(&[("types", "completed")]);
    skip(&stage, &item("1"));
    let full = stage.full();
    assert_eq!(full.completed_tasks, ["types"]);
    assert_eq!(full.failed_tasks, ["machine"]);
    reopen(&stage, &item("1"));
    assert!(stage.full().failed_tasks.is_empty());
    stage.until("clear-post-batch");
    stage.until("build-task-graph");
    stage.synced("tasks:\n  - id: types\n  - id: machine\n    depends-on: [types]\n  - id: more\n");
    stage.until("done");
    let done = stage.full().completed_tasks;
    assert_eq!(done, ["types", "item-2", "machine", "more"]);
}

#[test]
fn what_the_end_asks_for_is_one_more_task() {
    let stage = Stage::executing(FOUR);
    stage.until("workflow-complete");
    let why = "two tests of the parser fail";
    let answer = reopen(&stage, &because(why, in_hand()));
    assert_eq!(answer.state, "clear-pre-execute");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.state, "execute-batch");
    assert!(answer.instructions.unwrap().contains(why));
    // It is of no item, and a graph that is handed over does not take it away.
    stage.synced(&format!("{FOUR}  - id: e\n"));
    assert_eq!(stage.ids()[3..], [["late-fix-1"], ["e"]]);
    stage.until("workflow-complete");
    // Or it is written into the graph.
    let synced = stage.synced(&format!("{FOUR}  - id: e\n  - id: f\n"));
    assert_eq!(synced.tasks, 6);
    let finished = stage.done("finishing-a-development-branch");
    assert_eq!(finished.state, "clear-pre-execute");
    for turn in [tasks(&["f"]), in_hand()] {
        stage.until("cleanup");
        assert_eq!(reopen(&stage, &turn).state, "clear-pre-execute");
    }
    stage.until("cleanup");
    let last = json!({ "title": "Last", "type": "bugfix" });
    assert_eq!(late(&stage, &last), None);
    assert_eq!(stage.done("collab-cleanup").state, "clear-pre-execute");
    stage.until("done");
    not_turned(&stage, "run_over", &tasks(&["f"]));
}

#[test]
fn a_turn_says_why_and_what_is_meant() {
    let stage = Stage::executing(FOUR);
    let both = item("1").of_tasks(&["a".to_owned()]);
    for (senseless, code) in [
        (because(" ", item("1")), "usage"),
        (because(&"y".repeat(9000), item("1")), "too_large"),
        (both, "usage"),
        (item("../x"), "usage"),
    ] {
        not_turned(&stage, code, &senseless);
    }
    not_turned(&stage, "unknown_item", &item("7"));
    not_turned(&stage, "not_found", &tasks(&["a", "x"]));
    stage.turn(&Turn::new(Verb::Pause, "lunch"));
    not_turned(&stage, "paused", &item("1"));
}

#[test]
fn an_item_that_is_reopened_is_run_when_it_is_worked_out_and_not_before() {
    let stage = Stage::of(&["bugfix", "bugfix"]);
    stage.until("execute-batch");
    let why = "the cause is another one";
    reopen(&stage, &because(why, item("1")));
    assert_eq!(stage.ids(), [["item-2"], ["item-1"]]);
    stage.past_batch();
    let answer = stage.done("collab-clear");
    assert_eq!(answer.state, "systematic-debugging");
    assert!(answer.instructions.unwrap().contains(why));
    let batch = stage.until("execute-batch").batch.unwrap();
    let task = &batch.tasks[0];
    assert_eq!((task.id.as_str(), task.reason.as_str()), ("item-1", why));
    stage.until("workflow-complete");
    // The one task of an item without a graph is all of it.
    reopen(&stage, &item("1"));
    stage.until("execute-batch");
    assert_eq!(stage.full().pending_tasks, ["item-1"]);
    stage.until("done");
    assert_eq!(stage.full().completed_tasks.len(), 2);
}

/// What is told is the work as it is, also where it has changed since the skill was asked for.
#[test]
fn what_is_to_be_done_is_told_as_it_stands() {
    let stage = Stage::executing(
        "tasks:\n  - { id: a, files: [a] }\n  - { id: b, files: [b] }\n  - { id: c, files: [c], depends-on: [b] }\n",
    );
    let tells = |all: [&str; 2]| {
        let told = stage.full().instructions.unwrap();
        all.map(|part| told.contains(part))
    };
    let both = ["- `a`", "- `b`"];
    assert_eq!(tells(both), [true, true]);
    // What waits is not what is advised.
    let answer = stage.untold(&[("c", "completed")], "needs_unmet");
    let advised = engine::next_step::steps(&answer.verdict.suggestion.unwrap());
    let names = |id: &str| format!("{advised:?}").contains(&format!("{id:?}"));
    assert_eq!((advised.len(), names("b"), names("c")), (1, true, false));
    skip(&stage, &tasks(&["a"]));
    assert_eq!(tells(both), [false, true]);
    assert!(stage.brief().instructions.unwrap().contains("- `b`"));
    let again = reopen(&stage, &because("of use", tasks(&["a"])));
    assert!(again.instructions.unwrap().contains("again: `of use`"));
    stage.told(&[("a", "in_progress"), ("a", "completed")]);
    assert_eq!(tells(both), [false, true]);
    // A batch of which the rest was given up is no work any more.
    skip(&stage, &tasks(&["b"]));
    let branch = "what becomes of the branch";
    assert_eq!(tells(["Nothing of batch 1", branch]), [true, false]);
    stage.until("workflow-complete");
    assert_eq!(tells(["Nothing of batch 1", branch]), [false, true]);
    reopen(&stage, &tasks(&["b"]));
    assert_eq!(tells(["- `a`", branch]), [false, false]);
}
