//! Work items: set by the caller, or read from the design document.

use engine::Kind;
use serde_json::{Value, json};

use super::stage::Stage;

/// Number, title, type, status and dependencies of each item, as they are told.
fn told(stage: &Stage) -> Vec<Value> {
    let items = stage.full().work_items;
    items
        .iter()
        .map(|item| {
            json!([
                item.number,
                item.title,
                item.kind,
                item.status,
                item.depends_on
            ])
        })
        .collect()
}

/// The numbers of the items in the order in which they are taken.
fn order(stage: &Stage) -> Vec<Value> {
    let mut order = Vec::new();
    while stage.state() != "ready-to-implement" {
        let answer = stage.step();
        if let Some(number) = answer.params.item_number
            && order.last() != Some(&number)
        {
            order.push(number);
        }
    }
    order
}

#[test]
fn numbers_types_and_statuses_are_taken_as_they_are_met() {
    let stage = Stage::with(&json!([
        {"number": 1, "title": " One ", "type": "feature"},
        {"number": "2a", "title": "Two", "type": "Spike"},
        {"number": "#3", "title": "Three", "type": "BUG", "status": "pending", "dependsOn": [1, "#2A"]},
        {"number": "10", "title": "Ten", "type": "refactor", "status": "documented"},
        {"number": 11, "title": "Eleven", "type": "fix", "status": "complete", "dependsOn": null},
    ]));
    assert_eq!(
        told(&stage),
        [
            json!([1, "One", "code", "pending", []]),
            json!(["2a", "Two", "task", "pending", []]),
            json!([3, "Three", "bugfix", "pending", [1, "2a"]]),
            json!([10, "Ten", "code", "documented", []]),
            json!([11, "Eleven", "bugfix", "complete", []]),
        ]
    );
    let full = stage.full();
    assert_eq!((full.total_items, full.documented_items), (5, 2));
    assert_eq!(order(&stage), [json!(1), json!("2a"), json!(3)]);
}

#[test]
fn items_that_make_no_sense_are_refused_and_begin_nothing() {
    let long = "x".repeat(501);
    for items in [
        json!("one"),
        json!({}),
        json!([7]),
        json!([null]),
        json!([{}]),
        json!([{"title": "No number", "type": "code"}]),
        json!([{"number": "", "title": "t", "type": "code"}]),
        json!([{"number": " # ", "title": "t", "type": "code"}]),
        json!([{"number": -1, "title": "t", "type": "code"}]),
        json!([{"number": 1.5, "title": "t", "type": "code"}]),
        json!([{"number": "a/b", "title": "t", "type": "code"}]),
        json!([{"number": [1], "title": "t", "type": "code"}]),
        json!([{"number": "1\n2", "title": "t", "type": "code"}]),
        json!([{"number": "y".repeat(41), "title": "t", "type": "code"}]),
        json!([{"number": 1, "title": 7, "type": "code"}]),
        json!([{"number": 1, "title": "a\u{1b}[31m", "type": "code"}]),
        json!([{"number": 1, "title": "a\nb", "type": "code"}]),
        json!([{"number": 1, "title": long, "type": "code"}]),
        json!([{"number": 1, "title": "t"}]),
        json!([{"number": 1, "title": "t", "type": ""}]),
        json!([{"number": 1, "title": "t", "type": "poem"}]),
        json!([{"number": 1, "title": "t", "type": ["code"]}]),
        json!([{"number": 1, "title": "t", "type": "code", "status": 1}]),
        json!([{"number": 1, "title": "t", "type": "code", "dependsOn": 2}]),
        json!([{"number": 1, "title": "t", "type": "code", "dependsOn": [{}]}]),
        json!([{"number": 1, "title": "t", "type": "code", "colour": "red"}]),
        json!([{"number": 1, "title": "t", "type": "code"}, {"number": 2, "title": "t", "type": "poem"}]),
        Value::Array(
            (0..1001)
                .map(|n| json!({"number": n, "title": "t", "type": "code"}))
                .collect(),
        ),
    ] {
        let stage = Stage::bare();
        let fault = stage.update(&json!({ "workItems": items })).unwrap_err();
        assert_eq!(
            (fault.kind, fault.code.as_str()),
            (Kind::Usage, "bad_input"),
            "{items}"
        );
        assert!(!fault.suggestion.is_empty());
        assert!(fault.message.len() < 2000, "{}", fault.message.len());
        assert_eq!(stage.runs(), 0, "{items}");
    }
}

#[test]
fn an_item_that_is_named_twice_is_refused() {
    let stage = Stage::of(&["code"]);
    let before = stage.files();
    let items = json!([
        {"number": 1, "title": "One", "type": "code"},
        {"number": "#1", "title": "Another", "type": "task"},
    ]);
    let updated = stage.update(&json!({ "workItems": items })).unwrap();
    assert_eq!(
        updated.code.as_deref(),
        Some("bad_dependencies"),
        "{updated:?}"
    );
    assert!(updated.message.unwrap().contains('1'));
    stage.is_as(&before);
}

#[test]
fn the_first_update_begins_a_session() {
    let stage = Stage::bare();
    let updated = stage.set(&json!({"workItems": [{"number": 1, "title": "One", "type": "code"}]}));
    assert_eq!(updated.state, "collab-start");
    assert_eq!(updated.fields.get("totalItems"), Some(&json!(1)));
    assert_eq!(stage.done("collab-start").state, "gather-goals");
    assert_eq!(stage.full().total_items, 1);
}

#[test]
fn what_follows_from_the_rails_cannot_be_set() {
    let stage = Stage::bare();
    let derived = [
        "state",
        "phase",
        "displayName",
        "lastActivity",
        "currentItemType",
        "totalItems",
        "documentedItems",
        "batches",
        "currentBatch",
        "completedTasks",
        "pendingTasks",
        "batch",
        "item",
        "items",
        "tasks",
        "nonsense",
        "",
    ];
    for name in derived {
        let fault = stage.update(&json!({ name: "x" })).unwrap_err();
        assert_eq!(fault.code, "no_session", "{name}");
    }
    assert_eq!(stage.runs(), 0);
    stage.done("collab-start");
    let before = stage.files();
    for name in derived {
        // What could be set beside it is not set either.
        let updated = stage
            .update(&json!({ "hasSnapshot": true, name: "x" }))
            .unwrap();
        assert_eq!(
            updated.code.as_deref(),
            Some("read_only"),
            "{name}: {updated:?}"
        );
        assert!(updated.message.unwrap().contains(name));
    }
    stage.is_as(&before);
    let fault = stage.update(&json!({})).unwrap_err();
    assert_eq!(
        (fault.kind, fault.code.as_str()),
        (Kind::Usage, "nothing_to_set")
    );
}

#[test]
fn items_are_open_up_to_the_goals_and_the_snapshot_always() {
    let stage = Stage::of(&["code", "bugfix"]);
    stage.set(&json!({"currentItem": 2}));
    assert_eq!(stage.full().current_item, Some(json!(2)));
    stage.set(&json!({"currentItem": null}));
    assert_eq!(stage.full().current_item, None);
    stage.done("gather-session-goals");
    let mut snapshot = false;
    while stage.state() != "done" {
        let before = stage.files();
        for fields in [
            json!({"workItems": []}),
            json!({"workItems": [{"number": 9, "title": "Nine", "type": "task"}]}),
            json!({"currentItem": 2}),
            json!({"hasSnapshot": true, "currentItem": 1}),
        ] {
            let updated = stage.update(&fields).unwrap();
            assert_eq!(
                updated.code.as_deref(),
                Some("not_now"),
                "{fields}: {updated:?}"
            );
            assert!(updated.message.unwrap().contains("gather-goals"));
        }
        stage.is_as(&before);
        snapshot = !snapshot;
        let (state, unit) = (stage.state(), stage.brief().unit_id);
        let updated = stage.set(&json!({"hasSnapshot": snapshot}));
        assert_eq!(updated.fields.get("hasSnapshot"), Some(&json!(snapshot)));
        assert_eq!(stage.full().has_snapshot, snapshot);
        assert_eq!((stage.state(), stage.brief().unit_id), (state, unit));
        stage.step();
    }
    let updated = stage.update(&json!({"hasSnapshot": true})).unwrap();
    assert_eq!(updated.code.as_deref(), Some("run_over"));
}

#[test]
fn senseless_values_are_refused() {
    let stage = Stage::of(&["code"]);
    let before = stage.files();
    for fields in [
        json!({"hasSnapshot": "yes"}),
        json!({"hasSnapshot": 1}),
        json!({"hasSnapshot": null}),
        json!({"currentItem": {}}),
        json!({"currentItem": -2}),
        json!({"currentItem": " "}),
    ] {
        let fault = stage.update(&fields).unwrap_err();
        assert_eq!(
            (fault.kind, fault.code.as_str()),
            (Kind::Usage, "bad_input"),
            "{fields}"
        );
    }
    let updated = stage.update(&json!({"currentItem": 7})).unwrap();
    assert_eq!(updated.code.as_deref(), Some("unknown_item"), "{updated:?}");
    let message = updated.message.unwrap();
    assert!(message.contains("item 7"), "{message}");
    stage.is_as(&before);
}

#[test]
fn a_session_without_items_does_not_leave_its_goals() {
    let stage = Stage::bare();
    stage.done("collab-start");
    let answer = stage.refused("gather-session-goals", "no_items");
    assert_eq!(answer.next_skill.as_deref(), Some("gather-session-goals"));
    stage.document("design.md", " \n\n");
    stage.refused("gather-session-goals", "no_items");
    stage.document("design.md", "# Design\n\nNothing is decided yet.\n");
    stage.refused("gather-session-goals", "no_items");
    stage.set_items(&json!([]));
    stage.refused("gather-session-goals", "no_items");
    stage.document("design.md", "### Item 1: One\n**Type:** code\n");
    assert_eq!(stage.done("gather-session-goals").state, "clear-pre-item");
}

#[test]
fn dependencies_that_cannot_be_are_refused_with_the_goals() {
    for (first, second, third, words) in [
        (vec![4], vec![], vec![], ["1", "4"]),
        (vec![], vec![2], vec![], ["2", "itself"]),
        (vec![3], vec![1], vec![2], ["circle", "→"]),
    ] {
        let items = [first, second, third];
        let items: Vec<Value> = items
            .iter()
            .zip(1..)
            .map(|(needs, number)| json!({"number": number, "title": "t", "type": "task", "dependsOn": needs}))
            .collect();
        let stage = Stage::with(&items.clone().into());
        let answer = stage.refused("gather-session-goals", "bad_dependencies");
        let message = answer.message.unwrap();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");

        // The same from a design document.
        let stage = Stage::bare();
        stage.done("collab-start");
        let text: Vec<String> = items
            .iter()
            .map(|item| {
                let needs: Vec<String> = item["dependsOn"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                format!(
                    "### Item {}: t\n**Type:** task\n**Depends on:** {}\n\n",
                    item["number"],
                    needs.join(", ")
                )
            })
            .collect();
        stage.document("design.md", &text.concat());
        let answer = stage.complete("gather-session-goals", None).unwrap();
        assert!(!answer.validated, "{answer:?}");
        assert_eq!(stage.state(), "gather-goals");
    }
}

#[test]
fn items_come_in_their_order_and_after_what_they_depend_on() {
    let stage = Stage::with(&json!([
        {"number": 1, "title": "One", "type": "bugfix", "dependsOn": [4]},
        {"number": 2, "title": "Two", "type": "bugfix"},
        {"number": 3, "title": "Three", "type": "bugfix", "dependsOn": [1]},
        {"number": 4, "title": "Four", "type": "bugfix", "dependsOn": [2]},
    ]));
    assert_eq!(order(&stage), [2, 4, 1, 3].map(Value::from));
    // The order holds for what is executed, too.
    let batches = super::stage::ids(&stage.graph());
    assert_eq!(batches, [["item-2"], ["item-4"], ["item-1"], ["item-3"]]);
}

#[test]
fn the_current_item_is_first_if_it_is_ready() {
    let items = json!([
        {"number": 1, "title": "One", "type": "bugfix"},
        {"number": 2, "title": "Two", "type": "bugfix", "dependsOn": [1]},
        {"number": 3, "title": "Three", "type": "bugfix"},
    ]);
    for (current, taken) in [
        (json!(3), [3, 1, 2]),
        (json!("#2"), [1, 2, 3]),
        (json!(1), [1, 2, 3]),
    ] {
        let stage = Stage::with(&items);
        stage.set(&json!({ "currentItem": current }));
        stage.done("gather-session-goals");
        assert_eq!(order(&stage), taken.map(Value::from), "{current}");
    }
    // One that is documented already is not taken at all.
    let stage = Stage::with(&json!([
        {"number": 1, "title": "One", "type": "bugfix"},
        {"number": 2, "title": "Two", "type": "bugfix", "status": "documented"},
    ]));
    stage.set(&json!({"currentItem": 2}));
    stage.done("gather-session-goals");
    assert_eq!(order(&stage), [json!(1)]);
}

#[test]
fn items_and_the_current_one_are_set_together() {
    let stage = Stage::bare();
    let items = json!([
        {"number": 1, "title": "One", "type": "bugfix"},
        {"number": "2a", "title": "Two", "type": "bugfix"},
    ]);
    stage.set(&json!({"currentItem": "2A", "workItems": items}));
    assert_eq!(stage.full().current_item, Some(json!("2a")));
    // One that is gone is no current one.
    stage.set_items(&json!([{"number": 1, "title": "One", "type": "bugfix"}]));
    assert_eq!(stage.full().current_item, None);
    // All of it or nothing.
    let before = stage.files();
    let updated = stage
        .update(&json!({"currentItem": 9, "workItems": items}))
        .unwrap();
    assert_eq!(updated.code.as_deref(), Some("unknown_item"));
    stage.is_as(&before);
}

#[test]
fn items_all_done_before_lead_straight_to_execution() {
    let stage = Stage::with(&json!([
        {"number": 1, "title": "One", "type": "task", "status": "documented"},
    ]));
    stage.done("gather-session-goals");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.state, "ready-to-implement");
}

const UNTIDY: &str = "\u{feff}# Design\r\n\r\nSome words.\r\n\r\n## Item 1: Types\r\n\r\n- **Type**: Feature\r\n- **Status:** to do\r\n\r\nText of the item.\r\n\r\n#### Item 2a — The machine\r\n**Type:** refactor\r\n**Depends on:** Item 1\r\n\r\n### Item #3: Crash at start\r\nType: bug\r\n\r\n```markdown\r\n### Item 9: An example\r\n**Type:** code\r\n```\r\n\r\n### Item 4: Look around\r\n**Type:** `spike`\r\n**Depends on:** none\r\n\r\n## Decisions\r\n\r\nNone.\r\n";

#[test]
fn an_untidy_design_is_read_as_it_is_meant() {
    let stage = Stage::bare();
    stage.done("collab-start");
    stage.document("design.md", UNTIDY);
    let answer = stage.done("gather-session-goals");
    assert_eq!(answer.state, "clear-pre-item");
    assert_eq!(
        told(&stage),
        [
            json!([1, "Types", "code", "pending", []]),
            json!(["2a", "The machine", "code", "pending", [1]]),
            json!([3, "Crash at start", "bugfix", "pending", []]),
            json!([4, "Look around", "task", "pending", []]),
        ]
    );
    // What comes into the document later changes nothing any more.
    stage.document("design.md", "### Item 7: Seven\n**Type:** poem\n");
    assert_eq!(
        stage.done("collab-clear").params.item_number,
        Some(json!(1))
    );
    assert_eq!(stage.full().total_items, 4);
}

#[test]
fn items_that_cannot_be_read_are_told_with_their_lines() {
    let stage = Stage::bare();
    stage.done("collab-start");
    stage.document(
        "design.md",
        "# Design\n\n### Item 1: One\n**Type:** poem\n\n### Item 2: Two\n**Type:** code\n\n### Item 3: Three\n\n### Item 2: Twice\n**Type:** task\n",
    );
    let answer = stage.refused("gather-session-goals", "items_unreadable");
    let lines: Vec<u32> = answer.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines.len(), 3, "{:?}", answer.problems);
    assert!(
        lines.contains(&4) && lines.contains(&9) && lines.contains(&11),
        "{lines:?}"
    );
    for problem in &answer.problems {
        assert_eq!(problem.document, "design.md");
        assert!(!problem.message.is_empty() && !problem.code.is_empty());
    }
    assert_eq!(stage.full().total_items, 0);
    // The items that are set count, and not the document.
    stage.set_items(&json!([{"number": 5, "title": "Five", "type": "task"}]));
    stage.done("gather-session-goals");
    assert_eq!(stage.full().total_items, 1);
}

#[test]
fn a_design_that_is_no_text_is_refused() {
    let stage = Stage::bare();
    stage.done("collab-start");
    let place = stage.dir().join("documents/design.md");
    std::fs::write(&place, b"# Design\n\n### Item 1: \xff\n").unwrap();
    let fault = stage.complete("gather-session-goals", None).unwrap_err();
    assert_eq!(
        (fault.kind, fault.code.as_str()),
        (Kind::Refused, "not_text")
    );
    assert!(fault.message.contains("line 3"), "{}", fault.message);
    std::fs::remove_file(&place).unwrap();
    std::fs::create_dir(&place).unwrap();
    let fault = stage.complete("gather-session-goals", None).unwrap_err();
    assert_eq!(fault.code, "no_ordinary_file");
    std::fs::remove_dir(&place).unwrap();
    stage.write("outside.md", "### Item 1: One\n**Type:** code\n");
    std::os::unix::fs::symlink(stage.project().join("outside.md"), &place).unwrap();
    let fault = stage.complete("gather-session-goals", None).unwrap_err();
    assert_eq!(fault.code, "no_ordinary_file");
    assert_eq!(stage.state(), "gather-goals");
}
