//! Ways back: items and tasks that are taken up again or given up, items that come late, and what the end still asks for.

use engine::Fault;
use engine::view::collab::answer::SkillAnswer;
use engine::view::collab::request::WorkTurn;
use serde_json::{Value, json};

use super::stage::{Stage, ids};

fn turn(item: Option<&str>, tasks: &[&str], reason: &str) -> WorkTurn {
    WorkTurn {
        session: None,
        item: item.map(str::to_owned),
        tasks: tasks.iter().map(|&id| id.to_owned()).collect(),
        kind: None,
        reason: reason.to_owned(),
    }
}

fn reopen(stage: &Stage, turn: &WorkTurn) -> SkillAnswer {
    let answer = stage.engine().collab_reopen(turn).unwrap();
    assert!(answer.validated, "{answer:?}");
    assert!(
        answer.message.is_some() && answer.instructions.is_some(),
        "{answer:?}"
    );
    answer
}

fn skip(stage: &Stage, turn: &WorkTurn) -> SkillAnswer {
    let answer = stage.engine().collab_skip(turn).unwrap();
    assert!(answer.validated, "{answer:?}");
    answer
}

/// What is refused moves nothing, and says what to do.
fn refused(
    stage: &Stage,
    code: &str,
    call: impl Fn() -> Result<SkillAnswer, Fault>,
) -> SkillAnswer {
    let before = stage.files();
    let answer = call().unwrap();
    assert_eq!(answer.code.as_deref(), Some(code), "{answer:?}");
    let said = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    assert!(
        said(&answer.message) && said(&answer.suggestion),
        "{answer:?}"
    );
    stage.is_as(&before);
    answer
}

fn late(stage: &Stage, item: &Value) -> Option<String> {
    stage.update(&json!({ "addItems": [item] })).unwrap().code
}

/// Number and status of every item.
fn items(stage: &Stage) -> Vec<(Value, String)> {
    let items = stage.full().work_items;
    items
        .into_iter()
        .map(|item| (item.number, item.status))
        .collect()
}

fn stands(stage: &Stage, item: u64) -> String {
    let found = items(stage)
        .into_iter()
        .find(|(number, _)| *number == json!(item));
    found.map(|(_, status)| status).unwrap_or_default()
}

#[test]
fn the_item_in_hand_is_given_up_or_begun_anew() {
    let stage = Stage::of(&["task", "bugfix"]);
    for call in [Stage::engine].map(|engine| engine(&stage)) {
        let nothing = turn(None, &[], "why");
        refused(&stage, "nothing_in_hand", || call.collab_skip(&nothing));
        refused(&stage, "nothing_in_hand", || call.collab_reopen(&nothing));
    }
    stage.until("brainstorm-designing");
    let answer = reopen(&stage, &turn(Some("1"), &[], "the facts were wrong"));
    assert_eq!(answer.state, "clear-pre-item");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.state, "brainstorm-exploring");
    let told = answer.instructions.unwrap();
    assert!(told.contains("the facts were wrong"), "{told}");
    stage.until("brainstorm-clarifying");
    let answer = skip(&stage, &turn(None, &[], "not needed"));
    assert_eq!(
        (answer.state.as_str(), stands(&stage, 1).as_str()),
        ("clear-post-item", "skipped")
    );
    assert_eq!(stage.done("collab-clear").item.unwrap().number, 2);
    stage.until("execute-batch");
    assert_eq!(ids(&stage.graph()), [["item-2"]]);
    let full = stage.full();
    assert_eq!((full.total_items, full.documented_items), (2, 1));
    assert_eq!(full.work_items[0].reason, "not needed");
    stage.until("done");
}

#[test]
fn an_item_may_be_of_another_type_when_it_is_taken_up_again() {
    let stage = Stage::of(&["code"]);
    stage.until("rough-draft-interface");
    let turned = WorkTurn {
        kind: Some("fix".to_owned()),
        ..turn(Some("1"), &[], "it is a bug")
    };
    assert_eq!(reopen(&stage, &turned).state, "clear-pre-item");
    assert_eq!(stage.done("collab-clear").state, "systematic-debugging");
    stage.until("execute-batch");
    // The batch goes on; the item is worked out again behind it, as what it is now.
    let turned = WorkTurn {
        kind: Some("task".to_owned()),
        ..turn(Some("1"), &[], "no code at all")
    };
    assert_eq!(reopen(&stage, &turned).state, "execute-batch");
    assert_eq!(ids(&stage.graph()), [vec![], vec!["item-1"]]);
    stage.done("executing-plans");
    assert_eq!(stage.done("collab-clear").state, "clear-pre-item");
    assert_eq!(stage.done("collab-clear").state, "brainstorm-exploring");
    stage.until("done");
    let senseless = WorkTurn {
        kind: Some("odd".to_owned()),
        ..turn(Some("1"), &[], "why")
    };
    let fault = stage.engine().collab_reopen(&senseless).unwrap_err();
    assert_eq!(fault.code, "bad_input");
}

#[test]
fn what_others_build_on_is_turned_after_them() {
    let stage = Stage::with(&json!([
        { "number": 1, "title": "One", "type": "bugfix" },
        { "number": 2, "title": "Two", "type": "bugfix", "dependsOn": [1] },
        { "number": 3, "title": "Three", "type": "bugfix", "dependsOn": [2] },
    ]));
    stage.until("ready-to-implement");
    let engine = stage.engine();
    let first = turn(Some("1"), &[], "again");
    let answer = refused(&stage, "dependents_begun", || engine.collab_reopen(&first));
    assert!(answer.message.unwrap().contains('2'));
    refused(&stage, "dependents_begun", || {
        engine.collab_skip(&turn(Some("2"), &[], "no"))
    });
    skip(&stage, &turn(Some("3"), &[], "no"));
    reopen(&stage, &turn(Some("2"), &[], "again"));
    // What is documented but for that comes first.
    assert_eq!(stage.done("ready-to-implement").state, "clear-pre-item");
    assert_eq!(stage.done("collab-clear").item.unwrap().number, 2);
    stage.until("execute-batch");
    assert_eq!(ids(&stage.graph()), [["item-1"], ["item-2"]]);
    assert_eq!(stands(&stage, 3), "skipped");
}

#[test]
fn what_needs_a_skipped_item_is_not_waited_for() {
    let stage = Stage::with(&json!([
        { "number": 1, "title": "One", "type": "bugfix" },
        { "number": 2, "title": "Two", "type": "code", "dependsOn": [1] },
    ]));
    stage.until("systematic-debugging");
    skip(&stage, &turn(None, &[], "no bug at all"));
    assert_eq!(stage.done("collab-clear").state, "ready-to-implement");
    stage.until("workflow-complete");
    assert!(stage.graph().batches.is_empty());
    // It was one after all.
    let answer = reopen(&stage, &turn(Some("1"), &[], "it is one"));
    assert_eq!(answer.state, "clear-pre-execute");
    assert_eq!(stage.done("collab-clear").state, "clear-pre-item");
    stage.until("execute-batch");
    assert_eq!(ids(&stage.graph()).concat(), ["item-1", "types", "machine"]);
    stage.until("done");
    assert!(items(&stage).iter().all(|(_, status)| status == "complete"));
}

#[test]
fn an_item_that_comes_late_is_worked_out_behind_what_is_in_hand() {
    let stage = Stage::of(&["bugfix"]);
    stage.until("gather-goals");
    stage.until("systematic-debugging");
    let item = json!({ "title": "Late", "type": "feature", "dependsOn": [1] });
    assert_eq!(late(&stage, &item), None);
    assert_eq!(late(&stage, &item), None, "said again it is the same");
    assert_eq!(items(&stage).len(), 2);
    assert_eq!(stage.full().work_items[1].number, 2);
    let code = |item: Value| late(&stage, &item).unwrap_or_default();
    assert_eq!(
        code(json!({ "title": "X", "type": "task", "dependsOn": [9] })),
        "bad_dependencies"
    );
    assert_eq!(
        code(json!({ "number": 1, "title": "X", "type": "task" })),
        "bad_dependencies"
    );
    for item in [
        json!({ "type": "task" }),
        json!({ "title": "X" }),
        json!({ "title": "X", "type": "task", "status": "complete" }),
        json!({ "title": "X", "type": "task", "number": "a/b" }),
    ] {
        let fault = stage.update(&json!({ "addItems": [item] })).unwrap_err();
        assert_eq!(fault.code, "bad_input", "{item}");
    }
    stage.until("execute-batch");
    assert_eq!(ids(&stage.graph()).concat(), ["item-1", "types", "machine"]);
    // While batches are executed it waits for the one in hand, and no longer.
    let item = json!({ "number": "2a", "title": "Later", "type": "task" });
    assert_eq!(late(&stage, &item), None);
    stage.finish_batch();
    stage.done("executing-plans");
    assert_eq!(stage.done("collab-clear").state, "clear-pre-item");
    stage.done("collab-clear");
    assert_eq!(stage.brief().item.unwrap().number, "2a");
    // Graphs may be handed over meanwhile; batches are cut when all is documented.
    let synced = stage.synced_of("2", "tasks:\n  - id: types\n  - id: other\n");
    assert!(synced.batches.is_empty(), "{synced:?}");
    stage.until("execute-batch");
    let graph = ids(&stage.graph());
    assert_eq!(graph[0], ["item-1"]);
    assert_eq!(graph[1], ["types", "other", "item-2a"]);
    stage.until("workflow-complete");
    assert_eq!(
        late(&stage, &json!({ "title": "At the end", "type": "task" })),
        None
    );
    assert_eq!(
        stage.done("finishing-a-development-branch").state,
        "clear-pre-execute"
    );
    stage.until("done");
    assert_eq!(items(&stage).len(), 4);
}

#[test]
fn before_the_goals_are_gathered_nothing_comes_late() {
    let stage = Stage::bare();
    stage.done("collab-start");
    let item = json!({ "title": "Late", "type": "task" });
    assert_eq!(late(&stage, &item).as_deref(), Some("no_items"));
    let fault = Stage::bare()
        .update(&json!({ "addItems": [item] }))
        .unwrap_err();
    assert_eq!(fault.code, "no_session");
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
fn tasks_of_batches_that_are_over_are_run_again() {
    let stage = Stage::executing(FOUR);
    stage.finish_batch();
    stage.done("executing-plans");
    stage.done("collab-clear");
    stage.told(&[("b", "completed"), ("d", "failed!")]);
    let engine = stage.engine();
    let answer = stage.untold(&[("a", "pending")], "batch_over");
    assert!(answer.suggestion.unwrap().contains("reopen"));
    let again = turn(None, &["a"], "it loses comments");
    refused(&stage, "dependents_begun", || engine.collab_reopen(&again));
    refused(&stage, "unknown_task", || {
        engine.collab_reopen(&turn(None, &["a", "x"], "why"))
    });
    let answer = reopen(&stage, &turn(None, &["b", "a", "d"], "they lose comments"));
    assert!(answer.message.unwrap().contains("a in batch-2"));
    assert_eq!(
        ids(&stage.graph()),
        [vec![], vec!["b", "d", "a"], vec!["c"]]
    );
    // What waits for it waits again.
    stage.untold(&[("b", "in_progress")], "needs_unmet");
    stage.refused("executing-plans", "tasks_unfinished");
    stage.told(&[("a", "completed")]);
    stage.told(&[("b", "completed"), ("d", "completed")]);
    stage.until("clear-post-batch");
    // Between batches it comes into one of its own.
    reopen(&stage, &turn(None, &["d"], "once more"));
    assert_eq!(
        ids(&stage.graph()),
        [vec![], vec!["b", "a"], vec!["c", "d"]]
    );
    stage.until("done");
}

#[test]
fn tasks_are_given_up_before_their_batch() {
    let stage = Stage::executing(FOUR);
    skip(&stage, &turn(None, &["b", "d"], "not now"));
    let full = stage.full();
    assert_eq!(
        (full.failed_tasks, full.not_run_tasks),
        (vec!["b".into(), "d".into()], vec!["c".into()])
    );
    stage.finish_batch();
    stage.done("executing-plans");
    let answer = stage.done("collab-clear");
    assert_eq!(
        answer.state, "workflow-complete",
        "nothing of the others can be run"
    );
    assert_eq!(answer.notes, ["skipped: b and d", "not run: c"]);
    // Where all batches are over, it is gone to at once.
    let answer = reopen(&stage, &turn(None, &["b"], "now"));
    assert_eq!(answer.state, "clear-pre-execute");
    stage.until("done");
    let full = stage.full();
    assert_eq!(full.completed_tasks, ["a", "b", "c"]);
    let summary = std::fs::read_to_string(stage.dir().join("report.md")).unwrap_or_default();
    assert!(
        summary.is_empty() || summary.contains("not now"),
        "{summary}"
    );
}

#[test]
fn an_item_takes_its_tasks_along() {
    let stage = Stage::of(&["code", "bugfix"]);
    stage.until("execute-batch");
    assert_eq!(
        ids(&stage.graph()),
        [vec!["types", "item-2"], vec!["machine"]]
    );
    stage.told(&[("types", "completed")]);
    skip(&stage, &turn(Some("1"), &[], "no"));
    let full = stage.full();
    assert_eq!(
        (full.completed_tasks, full.failed_tasks),
        (vec!["types".into()], vec!["machine".into()])
    );
    reopen(&stage, &turn(Some("1"), &[], "after all"));
    assert!(stage.full().failed_tasks.is_empty());
    stage.until("clear-post-batch");
    stage.until("build-task-graph");
    stage.synced("tasks:\n  - id: types\n  - id: machine\n    depends-on: [types]\n  - id: more\n");
    stage.until("done");
    assert_eq!(
        stage.full().completed_tasks,
        ["types", "item-2", "machine", "more"]
    );
}

#[test]
fn what_the_end_asks_for_is_one_more_task() {
    let stage = Stage::executing(FOUR);
    stage.until("workflow-complete");
    let answer = reopen(&stage, &turn(None, &[], "two tests of the parser fail"));
    assert_eq!(answer.state, "clear-pre-execute");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.state, "execute-batch");
    assert!(
        answer
            .instructions
            .unwrap()
            .contains("two tests of the parser fail")
    );
    // It is of no item, and a graph that is handed over does not take it away.
    let synced = stage.synced(&format!("{FOUR}  - id: e\n"));
    assert_eq!(
        ids(&stage.graph())[3..],
        [["late-fix-1"], ["e"]],
        "{synced:?}"
    );
    stage.until("workflow-complete");
    // Or it is written into the graph.
    let synced = stage.synced(&format!("{FOUR}  - id: e\n  - id: f\n"));
    assert_eq!(synced.tasks, 6);
    assert_eq!(
        stage.done("finishing-a-development-branch").state,
        "clear-pre-execute"
    );
    stage.until("cleanup");
    let answer = reopen(&stage, &turn(None, &["f"], "it was not"));
    assert_eq!(answer.state, "clear-pre-execute");
    stage.until("cleanup");
    let answer = reopen(&stage, &turn(None, &[], "it fails on the main branch"));
    assert_eq!(answer.state, "clear-pre-execute");
    stage.until("cleanup");
    assert_eq!(
        late(&stage, &json!({ "title": "Last", "type": "bugfix" })),
        None
    );
    assert_eq!(stage.done("collab-cleanup").state, "clear-pre-execute");
    stage.until("done");
    let fault = refused(&stage, "run_over", || {
        stage.engine().collab_reopen(&turn(None, &["f"], "again"))
    });
    assert!(fault.next_skill.is_none());
}

#[test]
fn a_turn_says_why_and_what_is_meant() {
    let stage = Stage::executing(FOUR);
    let engine = stage.engine();
    for senseless in [
        turn(Some("1"), &[], " "),
        turn(Some("1"), &["a"], "both"),
        turn(Some("../x"), &[], "no number"),
    ] {
        for done in [
            engine.collab_reopen(&senseless),
            engine.collab_skip(&senseless),
        ] {
            let fault = done.unwrap_err();
            assert!(
                ["no_reason", "bad_input"].contains(&fault.code.as_str()),
                "{fault:?}"
            );
            assert!(!fault.suggestion.is_empty());
        }
    }
    refused(&stage, "unknown_item", || {
        engine.collab_skip(&turn(Some("7"), &[], "why"))
    });
    engine.run_pause(Some("default"), "lunch").unwrap();
    refused(&stage, "paused", || {
        engine.collab_skip(&turn(Some("1"), &[], "why"))
    });
}

#[test]
fn an_item_that_is_reopened_is_run_when_it_is_worked_out_and_not_before() {
    let stage = Stage::of(&["bugfix", "bugfix"]);
    stage.until("execute-batch");
    reopen(&stage, &turn(Some("1"), &[], "the cause is another one"));
    assert_eq!(ids(&stage.graph()), [["item-2"], ["item-1"]]);
    stage.told(&[("item-2", "completed")]);
    stage.done("executing-plans");
    stage.done("collab-clear");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.state, "systematic-debugging");
    assert!(
        answer
            .instructions
            .unwrap()
            .contains("the cause is another one")
    );
    stage.until("execute-batch");
    let batch = serde_json::to_value(stage.brief().batch).unwrap();
    assert_eq!(batch["tasks"][0]["id"], "item-1");
    assert_eq!(batch["tasks"][0]["reason"], "the cause is another one");
    stage.until("workflow-complete");
    // The one task of an item without a graph is all of it.
    reopen(&stage, &turn(Some("1"), &[], "the crash is back"));
    stage.until("execute-batch");
    assert_eq!(stage.full().pending_tasks, ["item-1"]);
    stage.until("done");
    assert_eq!(stage.full().completed_tasks.len(), 2);
}

#[test]
fn what_the_item_in_hand_is_built_on_is_not_turned_under_it() {
    let stage = Stage::with(&json!([
        { "number": 1, "title": "One", "type": "bugfix" },
        { "number": 2, "title": "Two", "type": "bugfix", "dependsOn": [1] },
        { "number": 3, "title": "Three", "type": "task", "dependsOn": [2] },
    ]));
    stage.until("brainstorm-exploring");
    let engine = stage.engine();
    for item in ["1", "2"] {
        let turned = turn(Some(item), &[], "no");
        refused(&stage, "dependents_begun", || engine.collab_skip(&turned));
        refused(&stage, "dependents_begun", || engine.collab_reopen(&turned));
    }
    skip(&stage, &turn(None, &[], "no"));
    skip(&stage, &turn(Some("2"), &[], "no"));
    stage.done("collab-clear");
    let answer = stage.done("ready-to-implement");
    assert_eq!(answer.notes, ["items skipped: 2 and 3"]);
    let answer = skip(&stage, &turn(None, &["item-1"], "no"));
    assert_eq!(answer.message.as_deref(), Some("skipped: item-1"));
}

#[test]
fn what_is_lost_by_a_skip_is_told_at_once_and_at_the_end() {
    let stage = Stage::executing(FOUR);
    let answer = skip(&stage, &turn(None, &["b"], "no"));
    let told = answer.message.unwrap();
    assert!(told.contains("not run: c"), "{told}");
    let stage = Stage::with(&json!([
        { "number": 1, "title": "One", "type": "bugfix" },
        { "number": 2, "title": "Two", "type": "task", "dependsOn": [1] },
    ]));
    stage.until("systematic-debugging");
    skip(&stage, &turn(None, &[], "no"));
    stage.until("clear-pre-execute");
    let notes = stage.done("collab-clear").notes;
    assert_eq!(
        notes,
        [
            "items skipped: 1",
            "items not worked out because of that: 2"
        ]
    );
}

#[test]
fn what_waits_for_something_skipped_leads_nowhere() {
    let stage = Stage::with(&json!([
        { "number": 1, "title": "One", "type": "bugfix" },
        { "number": 2, "title": "Two", "type": "bugfix", "dependsOn": [1] },
    ]));
    stage.until("systematic-debugging");
    skip(&stage, &turn(None, &[], "no"));
    stage.until("workflow-complete");
    let answer = reopen(&stage, &turn(Some("2"), &[], "all the same"));
    assert_eq!(answer.state, "workflow-complete");
    assert!(
        stage.graph().batches.is_empty(),
        "no task is made up for it"
    );
}

#[test]
fn a_unit_that_was_left_and_a_skill_that_is_asked_for_again_are_told_apart() {
    let stage = Stage::of(&["task"]);
    stage.until("clear-bs1");
    reopen(&stage, &turn(None, &[], "the facts were wrong"));
    let answer = stage.complete("collab-clear", Some("clear-bs1")).unwrap();
    let told = answer.message.unwrap();
    assert!(told.contains("has gone another way"), "{told}");
    stage.done("collab-clear");
    stage.write_draft();
    let answer = stage.complete("brainstorming-exploring", None).unwrap();
    assert!(answer.validated, "it is no repetition: {answer:?}");
}

#[test]
fn items_that_come_late_may_need_each_other() {
    let stage = Stage::of(&["bugfix"]);
    stage.until("systematic-debugging");
    let late = json!([
        { "number": 3, "title": "C", "type": "task", "dependsOn": [4] },
        { "number": 4, "title": "D", "type": "task", "dependsOn": [1] },
    ]);
    let added = stage.set(&json!({ "addItems": late }));
    assert_eq!(added.fields["addedItems"], json!([3, 4]));
    let again = stage.set(&json!({ "addItems": late }));
    assert_eq!(again.fields, added.fields, "it is told the same");
    let long = WorkTurn {
        reason: "y".repeat(5000),
        ..turn(None, &[], "")
    };
    let fault = stage.engine().collab_reopen(&long).unwrap_err();
    assert_eq!(fault.code, "bad_input");
    let many: Vec<Value> = (0..999)
        .map(|_| json!({ "title": "X", "type": "task" }))
        .collect();
    let updated = stage.update(&json!({ "addItems": many })).unwrap();
    assert_eq!(
        updated.code.as_deref(),
        Some("bad_value"),
        "{:?}",
        updated.message
    );
}

/// What is told is the work as it is, also where it has changed since the skill was asked for.
#[test]
fn what_is_to_be_done_is_told_as_it_stands() {
    let stage = Stage::executing(
        "tasks:\n  - { id: a, files: [a] }\n  - { id: b, files: [b] }\n  - { id: c, files: [c], depends-on: [b] }\n",
    );
    let told = |stage: &Stage| stage.full().instructions.unwrap();
    assert!(told(&stage).contains("- `a`"));
    skip(&stage, &turn(None, &["a"], "of no use"));
    let now = told(&stage);
    assert!(!now.contains("- `a`") && now.contains("- `b`"), "{now}");
    assert!(stage.brief().instructions.unwrap().contains("- `b`"));
    let answer = reopen(&stage, &turn(None, &["a"], "of use after all"));
    let now = answer.instructions.unwrap();
    assert!(
        now.contains("- `a`: A (again: `of use after all`)")
            || now.contains("again: `of use after all`"),
        "{now}"
    );
    stage.until("workflow-complete");
    assert!(told(&stage).contains("what becomes of the branch"));
    reopen(&stage, &turn(None, &["c"], "not whole"));
    let now = told(&stage);
    assert!(!now.contains("what becomes of the branch"), "{now}");
}

/// What is refused because it waits is not what is advised.
#[test]
fn a_task_that_waits_is_not_advised_to_be_begun() {
    let stage = Stage::executing(
        "tasks:\n  - { id: a, files: [a] }\n  - { id: b, files: [b] }\n  - { id: c, files: [c], depends-on: [a] }\n",
    );
    let answer = stage.tell(&[("c", "completed")]);
    assert_eq!(answer.code.as_deref(), Some("needs_unmet"), "{answer:?}");
    let steps = engine::next_step::steps(&answer.suggestion.unwrap());
    let advised: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
    assert_eq!(advised.len(), 1, "{advised:?}");
    assert!(
        advised[0].contains("\"a\"") && !advised[0].contains("\"c\""),
        "{advised:?}"
    );
}

/// A batch of which all was given up is no work that came late, and what is done is not told again.
#[test]
fn what_is_given_up_at_the_end_is_no_work() {
    let stage = Stage::executing(
        "tasks:\n  - { id: a, files: [a] }\n  - { id: b, files: [b] }\n  - { id: c, files: [c], depends-on: [b] }\n",
    );
    stage.told(&[("a", "in_progress"), ("a", "completed")]);
    let now = stage.full().instructions.unwrap();
    assert!(!now.contains("- `a`") && now.contains("- `b`"), "{now}");
    skip(&stage, &turn(None, &["b"], "of no use"));
    let now = stage.full().instructions.unwrap();
    assert!(now.contains("Nothing of batch 1"), "{now}");
    stage.until("workflow-complete");
    let now = stage.full().instructions.unwrap();
    assert!(now.contains("what becomes of the branch"), "{now}");
}
