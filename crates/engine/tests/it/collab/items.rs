//! Work items: set by the caller, or read from the design document.

use engine::Kind;
use serde_json::{Value, json};

use super::stage::{DESIGN, Stage, items_of, says_why};

/// Number, title, type, status and dependencies of each item, as they are told.
fn told(stage: &Stage) -> Vec<Value> {
    let items = stage.full().work_items.into_iter();
    items
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
fn order(stage: &Stage) -> Value {
    let mut order = Vec::new();
    while stage.state() != "ready-to-implement" {
        order.extend(stage.step().params.item_number);
    }
    order.dedup();
    order.into()
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
    assert_eq!(order(&stage), json!([1, "2a", 3]));
}

#[test]
fn items_that_make_no_sense_are_refused_and_begin_nothing() {
    let stage = Stage::bare();
    let refused = |items: &Value| {
        let fault = stage.update(&json!({ "workItems": items })).unwrap_err();
        says_why("usage", &fault);
        assert_eq!(fault.kind, Kind::Usage, "{items}");
        assert!(fault.message.len() < 2000, "{}", fault.message.len());
    };
    for items in [
        json!("one"),
        json!([7]),
        json!([{}]),
        json!([{"number": 1, "title": "t", "type": "code", "colour": "red"}]),
        items_of(&vec![("code", &[][..]); 1001]),
    ] {
        refused(&items);
    }
    let (one_line, long_title) = ("a\nb", "x".repeat(501));
    for (field, values) in [
        ("number", json!(["", " # ", -1, 1.5, "a/b", "1\n2"])),
        ("number", json!([null, [1], "y".repeat(41)])),
        ("title", json!([7, "a\u{1b}[31m", one_line, long_title])),
        ("type", json!([null, "", "poem", ["code"]])),
        ("status", json!([1])),
        ("dependsOn", json!([2, [{}]])),
    ] {
        for value in values.as_array().unwrap() {
            let mut items = items_of(&[("code", &[]), ("task", &[])]);
            items[1][field] = value.clone();
            refused(&items);
        }
    }
    assert_eq!(stage.runs(), 0);
}

#[test]
fn what_follows_from_the_rails_cannot_be_set() {
    let derived = "state phase displayName lastActivity currentItemType totalItems documentedItems batches currentBatch completedTasks pendingTasks batch item items tasks nonsense ";
    let stage = Stage::bare();
    let fault = stage.update(&json!({ "state": "x" })).unwrap_err();
    assert_eq!((fault.code.as_str(), stage.runs()), ("no_run", 0));
    stage.done("collab-start");
    let before = stage.files();
    for name in derived.split(' ') {
        // What could be set beside it is not set either.
        let fields = json!({ "hasSnapshot": true, name: "x" });
        let updated = stage.update(&fields).unwrap();
        says_why("read_only", &updated);
        assert!(updated.verdict.message.unwrap().contains(name));
    }
    stage.is_as(&before);
    let fault = stage.update(&json!({})).unwrap_err();
    let told = (fault.kind, fault.code.as_str());
    assert_eq!(told, (Kind::Usage, "usage"));
}

#[test]
fn items_are_open_up_to_the_goals_and_the_snapshot_always() {
    let stage = Stage::of(&["code", "bugfix"]);
    for item in [json!(2), Value::Null] {
        stage.set(&json!({ "currentItem": item }));
        assert_eq!(json!(stage.full().current_item), item);
    }
    for (at, state) in ["clear-pre-item", "build-task-graph", "execute-batch"]
        .iter()
        .enumerate()
    {
        let brief = stage.until(state);
        for fields in [
            json!({"workItems": []}),
            json!({"workItems": [{"number": 9, "title": "Nine", "type": "task"}]}),
            json!({"currentItem": 2}),
            json!({"hasSnapshot": true, "currentItem": 1}),
        ] {
            let updated = stage.unmoved("not_now", || stage.update(&fields).unwrap());
            assert!(updated.verdict.message.unwrap().contains("gather-goals"));
        }
        let snapshot = at % 2 == 0;
        let updated = stage.set(&json!({"hasSnapshot": snapshot}));
        assert_eq!(updated.fields["hasSnapshot"], json!(snapshot));
        assert_eq!(stage.full().has_snapshot, snapshot);
        assert_eq!(stage.brief(), brief);
    }
}

#[test]
fn senseless_values_are_refused() {
    let stage = Stage::of(&["code"]);
    for fields in [
        json!({"hasSnapshot": "yes"}),
        json!({"hasSnapshot": null}),
        json!({"currentItem": -2}),
        json!({"currentItem": " "}),
    ] {
        let fault = stage.unmoved("usage", || stage.update(&fields).unwrap_err());
        assert_eq!(fault.kind, Kind::Usage, "{fields}");
    }
    let twice = json!([
        {"number": 1, "title": "One", "type": "code"},
        {"number": "#1", "title": "Another", "type": "task"},
    ]);
    for (fields, code, named) in [
        (json!({ "currentItem": 7 }), "unknown_item", "item 7"),
        (json!({ "workItems": twice }), "bad_dependencies", "1"),
    ] {
        let updated = stage.unmoved(code, || stage.update(&fields).unwrap());
        assert!(updated.verdict.message.unwrap().contains(named));
    }
}

#[test]
fn a_session_without_items_does_not_leave_its_goals() {
    let stage = Stage::begun();
    let skill = "gather-session-goals";
    let answer = stage.refused(skill, "no_items");
    assert_eq!(answer.next_skill.as_deref(), Some(skill));
    for design in [" \n\n", "# Design\n\nNothing is decided yet.\n"] {
        stage.document("design.md", design);
        stage.refused(skill, "no_items");
    }
    stage.set_items(&json!([]));
    stage.refused(skill, "no_items");
    stage.document("design.md", DESIGN);
    assert_eq!(stage.done(skill).state, "clear-pre-item");
}

#[test]
fn dependencies_that_cannot_be_are_refused_with_the_goals() {
    let stage = Stage::begun();
    let skill = "gather-session-goals";
    let circle = items_of(&[("task", &[3]), ("task", &[1]), ("task", &[2])]);
    stage.set_items(&circle);
    stage.refused(skill, "bad_dependencies");
    // The same from a design document.
    stage.set_items(&json!([]));
    stage.document("design.md", &format!("{DESIGN}**Depends on:** 4\n"));
    assert!(!stage.complete(skill, None).unwrap().verdict.validated);
}

#[test]
fn items_come_in_their_order_and_after_what_they_depend_on() {
    let stage = Stage::needing(&[
        ("bugfix", &[4]),
        ("bugfix", &[]),
        ("bugfix", &[1]),
        ("bugfix", &[2]),
    ]);
    assert_eq!(order(&stage), json!([2, 4, 1, 3]));
    // The order holds for what is executed, too.
    let batches = [["item-2"], ["item-4"], ["item-1"], ["item-3"]];
    assert_eq!(stage.ids(), batches);
    let told = stage.until("execute-batch").instructions.unwrap();
    assert!(told.contains("Item 2"), "{told}");
}

#[test]
fn the_current_item_is_first_if_it_is_ready() {
    let stage = Stage::needing(&[("bugfix", &[]), ("bugfix", &[1]), ("bugfix", &[])]);
    stage.set(&json!({ "currentItem": "#3" }));
    stage.done("gather-session-goals");
    assert_eq!(order(&stage), json!([3, 1, 2]));
}

#[test]
fn items_and_the_current_one_are_set_together() {
    let stage = Stage::bare();
    let mut items = items_of(&[("bugfix", &[]), ("bugfix", &[])]);
    items[1]["number"] = json!("2a");
    let begun = stage.set(&json!({"currentItem": "2A", "workItems": items}));
    let told = (begun.state.as_str(), &begun.fields["totalItems"]);
    assert_eq!(told, ("collab-start", &json!(2)));
    assert_eq!(stage.full().current_item, Some(json!("2a")));
    // One that is gone is no current one.
    stage.set_items(&items_of(&[("bugfix", &[])]));
    assert_eq!(stage.full().current_item, None);
    // All of it or nothing.
    let fields = json!({"currentItem": 9, "workItems": items});
    stage.unmoved("unknown_item", || stage.update(&fields).unwrap());
    // Items all done before lead straight to execution.
    items[0]["status"] = json!("documented");
    items[1]["status"] = json!("documented");
    stage.set_items(&items);
    for skill in ["collab-start", "gather-session-goals"] {
        stage.done(skill);
    }
    assert_eq!(stage.done("collab-clear").state, "ready-to-implement");
}

#[test]
fn a_design_is_read_as_it_is_meant_or_told_with_its_lines() {
    let stage = Stage::begun();
    stage.document(
        "design.md",
        "# Design\n\n### Item 1: One\n**Type:** poem\n\n### Item 2: Two\n**Type:** code\n\n### Item 3: Three\n\n### Item 2: Twice\n**Type:** task\n",
    );
    let answer = stage.refused("gather-session-goals", "items_unreadable");
    let lines: Vec<u32> = answer.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [4, 9, 11], "{:?}", answer.problems);
    for problem in &answer.problems {
        assert_eq!(problem.document, "design.md");
        assert!(!problem.message.is_empty() && !problem.code.is_empty());
    }
    assert_eq!(stage.full().total_items, 0);
    stage.document(
        "design.md",
        "\u{feff}# Design\r\n\r\n## Item 1: Types\r\n\r\n- **Type**: Feature\r\n\r\n#### Item 2a — The machine\r\n**Type:** refactor\r\n**Depends on:** Item 1\r\n",
    );
    stage.done("gather-session-goals");
    let items = [
        json!([1, "Types", "code", "pending", []]),
        json!(["2a", "The machine", "code", "pending", [1]]),
    ];
    assert_eq!(told(&stage), items);
    // What comes into the document later changes nothing any more.
    stage.document("design.md", "### Item 7: Seven\n**Type:** poem\n");
    let answer = stage.done("collab-clear");
    assert_eq!(answer.params.item_number, Some(json!(1)));
    assert_eq!(told(&stage), items);
}

#[test]
fn the_items_that_are_set_count_and_not_the_document() {
    let stage = Stage::begun();
    stage.document("design.md", "### Item 1: One\n**Type:** poem\n");
    stage.set_items(&items_of(&[("task", &[])]));
    stage.done("gather-session-goals");
    assert_eq!(told(&stage).len(), 1);
}

#[test]
fn a_design_that_is_no_text_is_refused() {
    let stage = Stage::begun();
    let place = stage.dir().join("documents/design.md");
    let fault = || stage.complete("gather-session-goals", None).unwrap_err();
    std::fs::write(&place, b"# Design\n\n### Item 1: \xff\n").unwrap();
    let told = fault();
    assert_eq!(
        (told.kind, told.code.as_str()),
        (Kind::Refused, "response_unreadable")
    );
    assert!(told.message.contains("line 3"), "{}", told.message);
    std::fs::remove_file(&place).unwrap();
    std::fs::create_dir(&place).unwrap();
    assert_eq!(fault().code, "unsafe_path");
    std::fs::remove_dir(&place).unwrap();
    stage.write("outside.md", DESIGN);
    std::os::unix::fs::symlink(stage.project().join("outside.md"), &place).unwrap();
    assert_eq!(fault().code, "unsafe_path");
    assert_eq!(stage.state(), "gather-goals");
}
