//! What callers may set: all of it or nothing, where the definition leaves it open.

use machine::command::Edit;
use machine::state::ItemStatus;
use machine::{Command, Refusal};
use serde_json::{Value, json};

use crate::commands;
use crate::driver::{Driver, added, deferred, fields, map, reopened, skipped, stands, var, whole};
use crate::sets::{SETS, acting, end_wave, gathered, gathering, job, jobs, waves};
use crate::tdd::code;

fn refused(driver: &mut Driver, edits: impl Into<Vec<Edit>>) -> Refusal {
    *driver.edit(edits.into()).unwrap_err()
}

/// The edit is refused with this code.
fn refused_as(driver: &mut Driver, edit: Edit, code: &str) {
    let told = format!("{edit:?}");
    assert_eq!(refused(driver, [edit]).code, code, "{told}");
}

/// The edit is refused, and the refusal says what it is about.
fn refused_about(driver: &mut Driver, edit: Edit, code: &str, about: Value) {
    let refusal = refused(driver, [edit]);
    assert_eq!(refusal.code, code);
    for (name, value) in map(about) {
        assert_eq!(refusal.details[&name], value, "{code}");
    }
}

fn parts() -> [Value; 3] {
    [
        json!({ "id": "p" }),
        json!({ "id": "q", "needs": ["p"] }),
        json!({ "id": "r", "weight": 2 }),
    ]
}

/// A run that has these parts.
fn with_parts() -> Driver {
    let mut driver = gathering();
    driver.set([whole("parts", parts())]);
    driver
}

fn status_of(driver: &Driver, part: &str) -> ItemStatus {
    driver.run.sets["parts"].get(part).unwrap().status
}

#[test]
fn what_is_not_open_is_refused_and_it_is_said_where_it_is() {
    let mut driver = gathering();
    // The last one of a command counts.
    driver.set([var("flag", true), var("note", "a"), var("note", "tea")]);
    assert_eq!(driver.run.vars["note"], "tea");
    let about = json!({ "field": "closed" });
    refused_about(&mut driver, var("closed", 1), "read_only", about);
    for (edit, code) in [
        (var("group", "wave-1"), "read_only"),
        (var("nowhere", 1), "read_only"),
        (var("flag", "yes"), "bad_value"),
        (var("flag", Value::Null), "bad_value"),
        (whole("parts", [json!({ "id": "" })]), "bad_value"),
        (
            whole("parts", [json!({ "id": "p", "odd": 1 })]),
            "bad_value",
        ),
        (whole("jobs", jobs("a <a")), "bad_dependencies"),
    ] {
        refused_as(&mut driver, edit, code);
    }
    let mut driver = acting("a @f, b <a @f");
    let about = json!({ "field": "part", "state": "act", "states": ["collect"] });
    refused_about(&mut driver, var("part", "p"), "not_now", about);
    for (edit, code) in [
        (whole("parts", []), "not_now"),
        (whole("groups", []), "read_only"),
        (stands("groups", "wave-1", "completed"), "read_only"),
        (stands("nowhere", "a", "ok"), "read_only"),
        (stands("jobs", "a", "no status"), "bad_status"),
        (fields("jobs", "b", json!({ "id": "x" })), "read_only"),
        (
            fields("jobs", "b", json!({ "wave": "wave-9" })),
            "read_only",
        ),
        (fields("jobs", "b", json!({ "needs": [] })), "read_only"),
        (fields("jobs", "b", json!({ "files": [] })), "read_only"),
        (fields("jobs", "b", json!({ "solo": true })), "read_only"),
    ] {
        refused_as(&mut driver, edit, code);
    }
    driver.set([fields("jobs", "b", json!({ "text": "about it" }))]);
    // What was finished with its wave stays.
    end_wave(&mut driver, &[]);
    let about = json!({ "wave": "wave-1" });
    refused_about(
        &mut driver,
        stands("jobs", "a", "lost"),
        "batch_over",
        about,
    );
}

#[test]
fn cursors_are_set_by_key() {
    let mut driver = gathering();
    let about = json!({ "item": "p" });
    refused_about(&mut driver, var("part", "p"), "unknown_item", about);
    // In the order of the command: the item is there by the time it is pointed at.
    driver.set([whole("parts", parts()), var("part", "r")]);
    assert_eq!(driver.run.pointed_at("part"), Some("r"));
    assert_eq!(driver.facts_of("parts")["next"]["id"], "r");
    let about = json!({ "nearest": "r" });
    refused_about(&mut driver, var("part", "rr"), "unknown_item", about);
    refused_as(&mut driver, var("part", 1), "bad_value");
    // `q` is not ready.
    driver.set([var("part", "q")]);
    assert_eq!(driver.facts_of("parts")["next"]["id"], "p");
    for nothing in [Value::Null, json!("")] {
        driver.set([var("part", "p"), var("part", nothing)]);
        assert_eq!(driver.run.pointed_at("part"), None);
    }
}

#[test]
fn a_chain_is_done_in_one_command_in_any_order_and_as_a_whole_only() {
    let mut driver = with_parts();
    let about = json!({ "item": "q", "needs": ["p"] });
    let ready = |part| stands("parts", part, "ready");
    refused_about(&mut driver, ready("q"), "needs_unmet", about);
    driver.set([ready("q"), ready("p")]);
    assert_eq!(driver.counted("parts", ["done"]), [2]);
    // What others rest on is not taken back.
    let new = |part| stands("parts", part, "new");
    driver.set([stands("parts", "q", "begun")]);
    let about = json!({ "dependents": ["q"] });
    refused_about(&mut driver, new("p"), "dependents_begun", about);
    driver.set([new("p"), new("q")]);
    assert_eq!(driver.counted("parts", ["done"]), [0]);
}

#[test]
fn a_run_remembers_what_it_is_told_to_keep() {
    let mut driver = gathering();
    for source in [json!("design.md"), Value::Null] {
        let told = Command::Edit {
            edits: Vec::new(),
            keep: map(json!({ "source": source })),
        };
        driver.send(&told).unwrap();
        let kept = driver.run.kept.get("source").cloned();
        assert_eq!(kept.unwrap_or_default(), source);
        let events = driver.events.len();
        driver.send(&told).unwrap();
        assert_eq!(driver.events.len(), events, "{source}");
    }
}

#[test]
fn a_set_that_is_given_again_keeps_where_its_items_stand() {
    let mut driver = with_parts();
    driver.set([stands("parts", "p", "ready")]);
    let mut again = parts();
    again[0]["note"] = json!("still");
    driver.set([whole("parts", again)]);
    assert_eq!(driver.field("parts", "p", "status"), "ready");
    assert_eq!(driver.field("parts", "p", "note"), "still");
    assert_eq!(status_of(&driver, "p"), ItemStatus::Done);
    // What says where it stands stands there.
    let said = json!({ "id": "p", "status": "late" });
    driver.set([whole("parts", [said])]);
    assert_eq!(status_of(&driver, "p"), ItemStatus::Open);
}

#[test]
fn fields_of_an_item_are_opened_one_by_one() {
    let mut driver = with_parts();
    let of_p = |value| fields("parts", "p", value);
    driver.set([of_p(json!({ "kind": "odd", "weight": 3, "note": "n" }))]);
    assert_eq!(driver.field("parts", "p", "kind"), "odd");
    for (edit, code) in [
        (of_p(json!({ "kind": "other" })), "bad_value"),
        // What fixes the place of an item is not set; but what it needs may still be told.
        (of_p(json!({ "id": "x" })), "read_only"),
    ] {
        refused_as(&mut driver, edit, code);
    }
    driver.set([fields("parts", "r", json!({ "needs": ["p"] }))]);
    gathered(&mut driver, json!(jobs("a"))).unwrap();
    driver.set([of_p(json!({ "note": "later", "status": "begun" }))]);
    let edit = of_p(json!({ "note": "x", "weight": 1 }));
    refused_as(&mut driver, edit, "not_now");
    assert_eq!(driver.field("parts", "p", "note"), "later");
}

#[test]
fn work_on_what_waits_for_others_is_refused() {
    let mut driver = acting("a, b <a, c <a <b");
    for status in ["active", "broken", "ok"] {
        let edit = stands("jobs", "b", status);
        refused_as(&mut driver, edit, "needs_unmet");
    }
    driver.set([stands("jobs", "b", "pending")]);
    driver.set([stands("jobs", "a", "ok")]);
    let active = |job| stands("jobs", job, "active");
    let about = json!({ "needs": ["b"] });
    refused_about(&mut driver, active("c"), "needs_unmet", about);
    // All that it needs is done, and still its wave is not in hand.
    let about = json!({ "wave": "wave-2" });
    refused_about(&mut driver, active("b"), "not_in_batch", about);
    driver.set([stands("jobs", "a", "pending"), stands("jobs", "a", "lost")]);
    refused_as(&mut driver, active("b"), "needs_unmet");
}

#[test]
fn what_is_given_up_before_its_wave_is_passed_over() {
    let mut driver = acting("a, b <a, c <b, d <a, e <d");
    driver.set([skipped("jobs", "b"), skipped("jobs", "d")]);
    assert_eq!(driver.field("jobs", "b", "status"), "lost");
    assert_eq!(driver.counted("groups", ["remaining", "blocked"]), [1, 2]);
    end_wave(&mut driver, &[]);
    assert_eq!(driver.state(), "over");
}

#[test]
fn what_is_to_be_run_later_leaves_the_wave_in_hand_with_what_needs_it() {
    let mut driver = acting("a, b, c <a, d <b");
    end_wave(&mut driver, &[]);
    // `a` comes back into the wave in hand, where `c` waits for it.
    driver.set([reopened("jobs", "a")]);
    assert_eq!(waves(&driver), "b | c d a");
    driver.set([stands("jobs", "d", "ok")]);
    driver.set([deferred("jobs", "a")]);
    assert_eq!(waves(&driver), "b | d | a | c");
    driver.set([deferred("jobs", "d")]);
    assert_eq!(waves(&driver), "b |  | d a | c");
    for _ in 0..3 {
        end_wave(&mut driver, &[]);
    }
    assert_eq!(driver.state(), "over");
    assert_eq!(driver.counted("jobs", ["done"]), [4]);
}

#[test]
fn one_more_is_cut_behind_what_is_begun() {
    let mut driver = acting("a, b <a");
    driver.set([added("jobs", job("c <b"))]);
    driver.set([added("jobs", job("d <a"))]);
    assert_eq!(waves(&driver), "a | b d | c");
    // It is there.
    let events = driver.events.len();
    driver.set([added("jobs", job("d <a"))]);
    assert_eq!(driver.events.len(), events);
    driver.set([added("parts", json!({ "id": "p" }))]);
    let p = json!({ "id": "p", "weight": 3 });
    let needs_r = json!({ "id": "q", "needs": ["r"] });
    for (set, item, code) in [
        ("jobs", job("d"), "bad_dependencies"),
        ("jobs", job("e <nowhere"), "bad_dependencies"),
        ("jobs", json!({}), "bad_value"),
        ("groups", job("e"), "read_only"),
        ("parts", p, "bad_dependencies"),
        ("parts", needs_r, "bad_dependencies"),
    ] {
        refused_as(&mut driver, added(set, item), code);
    }
}

#[test]
fn what_is_reopened_takes_words_along() {
    let mut driver = with_parts();
    let again = |fields: Value| Edit::Reopen {
        set: "parts".to_owned(),
        key: "p".to_owned(),
        fields: map(fields),
        later: false,
    };
    driver.set([skipped("parts", "p")]);
    // `q` needs it.
    assert_eq!(driver.counted("parts", ["blocked"]), [1]);
    driver.set([again(json!({ "kind": "odd" }))]);
    let told = ["status", "kind"].map(|field| driver.field("parts", "p", field));
    assert_eq!(told, ["new", "odd"]);
    for (edit, code) in [
        (skipped("jobs", "a"), "not_now"),
        (skipped("parts", "x"), "unknown_item"),
        (again(json!({ "kind": "strange" })), "bad_value"),
        (again(json!({ "id": "pp" })), "read_only"),
    ] {
        refused_as(&mut driver, edit, code);
    }
}

#[test]
fn a_way_aside_of_the_workflow_is_one_of_each_state_that_has_none_but_of_no_item() {
    let mut driver = Driver::small(
        "items: { parts: { key: id, open: { all: always }, fields: { id: string } } }
on: { reopen: { to: a }, skip: [ { when: command.reason == 'no', refuse: not_that }, { to: z } ] }",
        "a: { work: {}, to: b }
b: { work: {}, to: many, on: { skip: { to: many } } }
many: { each: { items: parts, initial: c }, on: { done: { to: z } }, states: { c: { work: {}, to: d }, d: { final: completed } } }",
    );
    let no = commands::skip(None, "no");
    assert_eq!(code(driver.send(&no)), "not_that");
    driver.set([whole("parts", [json!({ "id": "p" })])]);
    let told = driver.after("done:a reopen done:a skip skip reopen");
    assert_eq!(told, "b a-2 b-2 p-c !not_possible !not_possible");
    let mut driver = gathering();
    assert_eq!(code(driver.skip()), "not_possible");
}

#[test]
fn nothing_is_set_while_the_run_is_paused_or_over() {
    let mut driver = gathering();
    driver.pause().unwrap();
    refused_as(&mut driver, var("flag", true), "paused");
    assert_eq!(refused(&mut driver, []).code, "paused");
    driver.resume().unwrap();
    driver.set([var("flag", true)]);
    driver.abort(json!({})).unwrap();
    refused_as(&mut driver, var("flag", false), "run_over");
    let mut unborn = Driver::new(SETS);
    refused_as(&mut unborn, var("flag", true), "internal");
}
