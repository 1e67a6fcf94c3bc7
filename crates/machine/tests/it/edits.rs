//! What callers may set: all of it or nothing, where the definition leaves it open.

use machine::command::Edit;
use machine::state::ItemStatus;
use machine::{Command, Refusal};
use serde_json::{Map, Value, json};

use crate::driver::{Driver, added, deferred, fields, reopened, says, skipped, stands, var, whole};
use crate::sets::{acting, gathering, in_hand, job, touching, waves};

fn refused(driver: &mut Driver, edits: Vec<Edit>) -> Refusal {
    let before = serde_json::to_string(&driver.run).unwrap();
    let events = driver.events.len();
    let refusal = driver.edit(edits).unwrap_err();
    assert_eq!(serde_json::to_string(&driver.run).unwrap(), before);
    assert_eq!(driver.events.len(), events);
    *refusal
}

fn code(driver: &mut Driver, edit: Edit) -> String {
    refused(driver, vec![edit]).code
}

fn parts() -> [Value; 3] {
    [
        json!({ "id": "p" }),
        json!({ "id": "q", "needs": ["p"] }),
        json!({ "id": "r", "weight": 2 }),
    ]
}

#[test]
fn vars_are_set_where_they_are_open() {
    let mut driver = gathering();
    driver
        .edit(vec![var("flag", true), var("note", "tea")])
        .unwrap();
    assert_eq!(
        (&driver.run.vars["flag"], &driver.run.vars["note"]),
        (&json!(true), &json!("tea"))
    );
    let refusal = refused(&mut driver, vec![var("closed", 1)]);
    assert_eq!(
        (refusal.code.as_str(), &refusal.details["field"]),
        ("read_only", &json!("closed"))
    );
    assert_eq!(code(&mut driver, var("group", "wave-1")), "read_only");
    assert_eq!(code(&mut driver, var("nowhere", 1)), "read_only");
    assert_eq!(code(&mut driver, var("state", "over")), "read_only");
    assert_eq!(code(&mut driver, var("flag", "yes")), "bad_value");
    assert_eq!(code(&mut driver, var("flag", Value::Null)), "bad_value");
    assert_eq!(code(&mut driver, var("note", 7)), "bad_value");
    let mut driver = acting(json!([job("a", &[])]));
    driver
        .edit(vec![var("flag", true), var("note", "late")])
        .unwrap();
    crate::sets::end_wave(&mut driver, &[]);
    assert_eq!(driver.state(), "over");
}

#[test]
fn elsewhere_it_is_said_where_they_are() {
    let mut driver = acting(json!([job("a", &[])]));
    let refusal = refused(&mut driver, vec![var("part", "p")]);
    assert_eq!(refusal.code, "not_now");
    assert_eq!(refusal.details["field"], "part");
    assert_eq!(refusal.details["state"], "act");
    assert_eq!(refusal.details["states"], json!(["collect"]));
    assert!(
        says(&refusal).contains("only in collect"),
        "{}",
        says(&refusal)
    );
    assert_eq!(code(&mut driver, whole("parts", [])), "not_now");
    assert_eq!(code(&mut driver, whole("groups", [])), "read_only");
    assert_eq!(code(&mut driver, whole("nowhere", [])), "read_only");
    assert_eq!(
        code(&mut driver, stands("groups", "wave-1", "completed")),
        "read_only"
    );
    assert_eq!(code(&mut driver, stands("nowhere", "a", "ok")), "read_only");
    driver.edit(vec![stands("jobs", "a", "ok")]).unwrap();
    driver.complete("acting").unwrap();
    assert_eq!(code(&mut driver, stands("jobs", "a", "pending")), "not_now");
}

#[test]
fn cursors_are_set_by_key() {
    let mut driver = gathering();
    let refusal = refused(&mut driver, vec![var("part", "p")]);
    assert_eq!(
        (refusal.code.as_str(), &refusal.details["item"]),
        ("unknown_item", &json!("p"))
    );
    // In the order of the command: the item is there by the time it is pointed at.
    driver
        .edit(vec![whole("parts", parts()), var("part", "r")])
        .unwrap();
    assert_eq!(driver.run.pointed_at("part"), Some("r"));
    assert_eq!(driver.facts_of("parts")["next"]["id"], "r");
    let refusal = refused(&mut driver, vec![var("part", "rr")]);
    assert_eq!(refusal.details["nearest"], "r");
    assert_eq!(code(&mut driver, var("part", 1)), "bad_value");
    driver.edit(vec![var("part", "q")]).unwrap();
    assert_eq!(
        driver.facts_of("parts")["next"]["id"],
        "p",
        "`q` is not ready"
    );
    driver.edit(vec![var("part", Value::Null)]).unwrap();
    assert_eq!(driver.run.pointed_at("part"), None);
    driver
        .edit(vec![var("part", "p"), var("part", "")])
        .unwrap();
    assert_eq!(driver.run.pointed_at("part"), None);
}

#[test]
fn cursors_on_removed_items_point_at_nothing() {
    let mut driver = gathering();
    driver
        .edit(vec![whole("parts", parts()), var("part", "r")])
        .unwrap();
    driver
        .edit(vec![whole("parts", [json!({ "id": "p" })])])
        .unwrap();
    assert_eq!(driver.run.pointed_at("part"), None);
    assert_eq!(driver.run.vars["part"], "");
    // Set and taken away in one command.
    driver
        .edit(vec![
            whole("parts", parts()),
            var("part", "r"),
            whole("parts", [json!({ "id": "p" })]),
        ])
        .unwrap();
    assert_eq!(driver.run.vars["part"], "");
}

#[test]
fn the_last_one_of_a_command_counts() {
    let mut driver = gathering();
    driver
        .edit(vec![var("note", "a"), var("note", "b")])
        .unwrap();
    assert_eq!(driver.run.vars["note"], "b");
    driver
        .edit(vec![var("note", "c"), var("note", "b")])
        .unwrap();
    assert_eq!(driver.run.vars["note"], "b");
    driver
        .edit(vec![
            whole("parts", parts()),
            stands("parts", "p", "begun"),
            stands("parts", "p", "ready"),
            stands("parts", "q", "begun"),
        ])
        .unwrap();
    assert_eq!(driver.field("parts", "p", "status"), "ready");
    assert_eq!(driver.field("parts", "q", "status"), "begun");
}

#[test]
fn one_bad_edit_among_many_undoes_all_of_them() {
    let mut driver = gathering();
    driver.edit(vec![whole("parts", parts())]).unwrap();
    let good = [
        var("flag", true),
        stands("parts", "p", "ready"),
        stands("parts", "q", "begun"),
        fields("parts", "r", json!({ "weight": 9 })),
    ];
    let bad = [
        (var("closed", 1), "read_only"),
        (stands("parts", "nobody", "ready"), "unknown_item"),
        (stands("parts", "r", "no status"), "bad_status"),
        (
            fields("parts", "r", json!({ "weight": "heavy" })),
            "bad_value",
        ),
        (
            whole("parts", [json!({ "id": "p" }), json!({ "id": "p" })]),
            "bad_dependencies",
        ),
    ];
    for (bad, expected) in bad {
        for at in 0..=good.len() {
            let mut edits = good.to_vec();
            edits.insert(at, bad.clone());
            assert_eq!(refused(&mut driver, edits).code, expected);
        }
    }
    driver.edit(good.to_vec()).unwrap();
    assert_eq!(driver.field("parts", "q", "status"), "begun");
}

#[test]
fn any_number_of_them_at_once_all_count() {
    let jobs: Vec<Value> = (0..200).map(|at| job(&format!("j{at}"), &[])).collect();
    let mut driver = acting(json!(jobs));
    let edits = (0..200).map(|at| stands("jobs", &format!("j{at}"), "ok"));
    driver.edit(edits.collect()).unwrap();
    assert_eq!(driver.facts_of("jobs")["count"]["ok"], 200);
}

#[test]
fn a_chain_is_done_in_one_command_in_any_order_and_as_a_whole_only() {
    let mut driver = gathering();
    driver.edit(vec![whole("parts", parts())]).unwrap();
    let refusal = refused(&mut driver, vec![stands("parts", "q", "ready")]);
    assert_eq!(refusal.code, "needs_unmet");
    assert_eq!(refusal.details["item"], "q");
    assert_eq!(refusal.details["needs"], json!(["p"]));
    driver
        .edit(vec![
            stands("parts", "q", "ready"),
            stands("parts", "p", "ready"),
        ])
        .unwrap();
    assert_eq!(driver.facts_of("parts")["done"], 2);
}

#[test]
fn what_is_so_already_is_no_event() {
    let mut driver = gathering();
    let edits = vec![
        var("flag", true),
        whole("parts", parts()),
        var("part", "p"),
        stands("parts", "p", "ready"),
        fields("parts", "r", json!({ "note": "n" })),
    ];
    driver.edit(edits.clone()).unwrap();
    let (events, before) = (driver.events.len(), driver.run.clone());
    for edit in [&edits[0], &edits[2], &edits[3], &edits[4]] {
        driver.edit(vec![edit.clone()]).unwrap();
    }
    driver.edit(Vec::new()).unwrap();
    driver
        .edit(vec![var("flag", false), var("flag", true)])
        .unwrap();
    assert_eq!(&driver.run.vars, &before.vars);
    assert!(
        driver
            .names(events)
            .iter()
            .all(|name| name == "vars:changed")
    );
    let events = driver.events.len();
    driver
        .edit(vec![var("flag", true), stands("parts", "p", "ready")])
        .unwrap();
    assert_eq!(driver.events.len(), events);
}

#[test]
fn a_run_remembers_what_it_is_told_to_keep() {
    let mut driver = gathering();
    let keep: Map<String, Value> = crate::driver::map(json!({ "source": "design.md" }));
    let edit = |keep: &Map<String, Value>| Command::Edit {
        edits: Vec::new(),
        keep: keep.clone(),
    };
    driver.send(&edit(&keep)).unwrap();
    assert_eq!(driver.run.kept["source"], "design.md");
    let events = driver.events.len();
    driver.send(&edit(&keep)).unwrap();
    assert_eq!(driver.events.len(), events);
    let none = crate::driver::map(json!({ "source": null }));
    driver.send(&edit(&none)).unwrap();
    assert!(!driver.run.kept.contains_key("source"));
    let events = driver.events.len();
    driver.send(&edit(&none)).unwrap();
    assert_eq!(driver.events.len(), events, "it was forgotten before");
}

#[test]
fn a_set_is_taken_as_a_whole_or_not_at_all() {
    let mut driver = gathering();
    assert_eq!(
        code(&mut driver, whole("parts", [json!({ "title": "x" })])),
        "bad_value"
    );
    assert_eq!(
        code(&mut driver, whole("parts", [json!({ "id": "" })])),
        "bad_value"
    );
    assert_eq!(
        code(&mut driver, whole("parts", [json!({ "id": 7 })])),
        "bad_value"
    );
    assert_eq!(
        code(
            &mut driver,
            whole("parts", [json!({ "id": "p", "odd": 1 })])
        ),
        "bad_value"
    );
    assert_eq!(
        code(
            &mut driver,
            whole("parts", [json!({ "id": "p", "weight": 1.5 })])
        ),
        "bad_value"
    );
    assert_eq!(
        code(
            &mut driver,
            whole("parts", [json!({ "id": "p", "status": "gone" })])
        ),
        "bad_status"
    );
    assert_eq!(
        code(
            &mut driver,
            whole("parts", [json!({ "id": "p" }), json!({ "id": "p" })])
        ),
        "bad_dependencies"
    );
    assert_eq!(
        code(&mut driver, whole("jobs", [job("a", &["a"])])),
        "bad_dependencies"
    );
    assert_eq!(
        code(&mut driver, whole("jobs", [job("a", &["b"])])),
        "bad_dependencies"
    );
    // What parts need is judged where they are used: they may come in several calls.
    driver
        .edit(vec![whole("parts", [json!({ "id": "q", "needs": ["p"] })])])
        .unwrap();
    assert_eq!(driver.facts_of("parts")["next"]["id"], "");
    driver.edit(vec![whole("parts", parts())]).unwrap();
    assert_eq!(driver.facts_of("parts")["next"]["id"], "p");
}

#[test]
fn a_set_that_is_given_again_keeps_where_its_items_stand() {
    let mut driver = gathering();
    driver
        .edit(vec![whole("parts", parts()), stands("parts", "p", "ready")])
        .unwrap();
    let mut again = parts();
    again[0]["note"] = json!("still");
    driver.edit(vec![whole("parts", again)]).unwrap();
    assert_eq!(driver.field("parts", "p", "status"), "ready");
    assert_eq!(driver.field("parts", "p", "note"), "still");
    assert_eq!(
        driver.run.sets["parts"].get("p").unwrap().status,
        ItemStatus::Done
    );
    // What says where it stands stands there.
    driver
        .edit(vec![whole(
            "parts",
            [json!({ "id": "p", "status": "late" })],
        )])
        .unwrap();
    assert_eq!(
        driver.run.sets["parts"].get("p").unwrap().status,
        ItemStatus::Open
    );
}

#[test]
fn fields_of_an_item_are_opened_one_by_one() {
    let mut driver = gathering();
    driver.edit(vec![whole("parts", parts())]).unwrap();
    driver
        .edit(vec![fields(
            "parts",
            "p",
            json!({ "kind": "odd", "weight": 3, "note": "n" }),
        )])
        .unwrap();
    assert_eq!(driver.field("parts", "p", "kind"), "odd");
    assert_eq!(
        code(
            &mut driver,
            fields("parts", "p", json!({ "kind": "other" }))
        ),
        "bad_value"
    );
    let mut driver = gathering();
    driver.edit(vec![whole("parts", parts())]).unwrap();
    crate::sets::gathered(&mut driver, json!([job("a", &[])])).unwrap();
    driver
        .edit(vec![fields(
            "parts",
            "p",
            json!({ "note": "later", "status": "begun" }),
        )])
        .unwrap();
    assert_eq!(
        code(
            &mut driver,
            fields("parts", "p", json!({ "note": "x", "weight": 1 }))
        ),
        "not_now"
    );
    assert_eq!(driver.field("parts", "p", "note"), "later");
}

#[test]
fn what_fixes_the_place_of_an_item_is_not_set() {
    let mut driver = gathering();
    driver.edit(vec![whole("parts", parts())]).unwrap();
    assert_eq!(
        code(&mut driver, fields("parts", "p", json!({ "id": "x" }))),
        "read_only"
    );
    // What it needs may still be told, as with the whole set.
    driver
        .edit(vec![fields("parts", "r", json!({ "needs": ["p"] }))])
        .unwrap();
    let mut driver = acting(json!([
        touching("a", &[], &["f"]),
        touching("b", &["a"], &["f"])
    ]));
    for (field, value) in [
        ("id", json!("x")),
        ("wave", json!("wave-9")),
        ("needs", json!([])),
        ("files", json!([])),
        ("ports", json!(["80"])),
        ("solo", json!(true)),
    ] {
        let mut one = json!({});
        one[field] = value;
        let refusal = refused(&mut driver, vec![fields("jobs", "b", one)]);
        assert_eq!(
            (refusal.code.as_str(), &refusal.details["field"]),
            ("read_only", &json!(field))
        );
    }
    driver
        .edit(vec![fields("jobs", "b", json!({ "text": "about it" }))])
        .unwrap();
}

#[test]
fn work_on_what_waits_for_others_is_refused() {
    let mut driver = acting(json!([
        job("a", &[]),
        job("b", &["a"]),
        job("c", &["a", "b"])
    ]));
    for status in ["active", "broken", "ok"] {
        assert_eq!(
            code(&mut driver, stands("jobs", "b", status)),
            "needs_unmet"
        );
    }
    driver.edit(vec![stands("jobs", "b", "pending")]).unwrap();
    driver.edit(vec![stands("jobs", "a", "ok")]).unwrap();
    let refusal = refused(&mut driver, vec![stands("jobs", "c", "active")]);
    assert_eq!(refusal.details["needs"], json!(["b"]));
    // All that it needs is done, and still its wave is not in hand.
    let refusal = refused(&mut driver, vec![stands("jobs", "b", "active")]);
    assert_eq!(
        (refusal.code.as_str(), &refusal.details["wave"]),
        ("wave_not_begun", &json!("wave-2"))
    );
    driver.edit(vec![stands("jobs", "a", "pending")]).unwrap();
    driver.edit(vec![stands("jobs", "a", "lost")]).unwrap();
    assert_eq!(
        code(&mut driver, stands("jobs", "b", "active")),
        "needs_unmet"
    );
}

#[test]
fn what_was_finished_with_its_wave_stays() {
    let mut driver = acting(json!([job("a", &[]), job("b", &["a"])]));
    crate::sets::end_wave(&mut driver, &[]);
    assert_eq!(in_hand(&driver), ["b"]);
    for status in ["pending", "active", "lost"] {
        let refusal = refused(&mut driver, vec![stands("jobs", "a", status)]);
        assert_eq!(
            (refusal.code.as_str(), &refusal.details["wave"]),
            ("wave_over", &json!("wave-1"))
        );
    }
    driver
        .edit(vec![stands("jobs", "a", "ok"), stands("jobs", "b", "ok")])
        .unwrap();
}

#[test]
fn what_is_given_up_before_its_wave_is_passed_over() {
    let mut driver = acting(json!([
        job("a", &[]),
        job("b", &["a"]),
        job("c", &["b"]),
        job("d", &["a"]),
        job("e", &["d"]),
    ]));
    assert_eq!(waves(&driver), [vec!["a"], vec!["b", "d"], vec!["c", "e"]]);
    driver
        .edit(vec![skipped("jobs", "b"), skipped("jobs", "d")])
        .unwrap();
    assert_eq!(driver.field("jobs", "b", "status"), "lost");
    let facts = driver.facts_of("groups");
    assert_eq!(
        (&facts["remaining"], &facts["blocked"]),
        (&json!(1), &json!(2))
    );
    crate::sets::end_wave(&mut driver, &[]);
    assert_eq!(driver.state(), "over");
}

#[test]
fn what_is_reopened_comes_into_another_wave() {
    let jobs = json!([
        touching("a", &[], &["x"]),
        job("b", &["a"]),
        job("c", &[]),
        job("d", &["c"]),
    ]);
    let mut driver = acting(jobs);
    crate::sets::end_wave(&mut driver, &["c"]);
    assert_eq!(waves(&driver), [vec!["a", "c"], vec!["b", "d"]]);
    assert_eq!(in_hand(&driver), ["b", "d"]);
    // What builds on it is begun, or done, before long: then that is reopened first.
    driver.edit(vec![stands("jobs", "b", "ok")]).unwrap();
    let refusal = refused(&mut driver, vec![reopened("jobs", "a")]);
    assert_eq!(
        (refusal.code.as_str(), &refusal.details["dependents"]),
        ("dependents_begun", &json!(["b"]))
    );
    // Something of the wave in hand waits for it: it is run there.
    driver.edit(vec![reopened("jobs", "c")]).unwrap();
    assert_eq!(waves(&driver), [vec!["a"], vec!["b", "d", "c"]]);
    assert_eq!(driver.field("jobs", "c", "status"), "pending");
    assert_eq!(driver.field("jobs", "c", "wave"), "wave-2");
    assert_eq!(
        code(&mut driver, stands("jobs", "d", "active")),
        "needs_unmet"
    );
    driver
        .edit(vec![reopened("jobs", "b"), reopened("jobs", "a")])
        .unwrap();
    assert_eq!(
        waves(&driver),
        [vec![], vec!["b", "d", "c", "a"]],
        "a wave that is over stays one"
    );
}

#[test]
fn between_waves_what_is_reopened_is_cut_anew_with_what_waited_for_it() {
    let mut driver = acting(json!([
        job("a", &[]),
        job("b", &["a"]),
        job("x", &[]),
        job("y", &["x"]),
        job("z", &["y", "b"]),
    ]));
    crate::sets::end_wave(&mut driver, &["a"]);
    assert_eq!(in_hand(&driver), ["b", "y"]);
    driver.edit(vec![stands("jobs", "y", "ok")]).unwrap();
    driver.complete("acting").unwrap();
    assert_eq!(driver.state(), "rest");
    // `b` could not be run in its wave, which is over now.
    driver.edit(vec![reopened("jobs", "a")]).unwrap();
    assert_eq!(
        waves(&driver),
        [vec!["x"], vec!["y"], vec!["a"], vec!["b"], vec!["z"]]
    );
    driver.complete("rest").unwrap();
    for _ in 0..3 {
        crate::sets::end_wave(&mut driver, &[]);
    }
    assert_eq!(driver.state(), "over");
    assert_eq!(driver.facts_of("jobs")["done"], 5);
}

#[test]
fn what_is_to_be_run_later_leaves_the_wave_in_hand_with_what_needs_it() {
    let jobs = json!([
        job("a", &[]),
        job("b", &[]),
        job("c", &["a"]),
        job("d", &["b"])
    ]);
    let mut driver = acting(jobs);
    crate::sets::end_wave(&mut driver, &[]);
    // `a` comes back into the wave in hand, where `c` waits for it.
    driver.edit(vec![reopened("jobs", "a")]).unwrap();
    assert_eq!(waves(&driver), [vec!["b"], vec!["c", "d", "a"]]);
    driver.edit(vec![stands("jobs", "d", "ok")]).unwrap();
    driver.edit(vec![deferred("jobs", "a")]).unwrap();
    assert_eq!(waves(&driver), [vec!["b"], vec!["d"], vec!["a"], vec!["c"]]);
    driver.edit(vec![deferred("jobs", "d")]).unwrap();
    assert_eq!(
        waves(&driver),
        [vec!["b"], vec![], vec!["d", "a"], vec!["c"]]
    );
    for _ in 0..3 {
        crate::sets::end_wave(&mut driver, &[]);
    }
    assert_eq!(driver.state(), "over");
    assert_eq!(driver.facts_of("jobs")["done"], 4);
}

#[test]
fn one_more_is_cut_behind_what_is_begun() {
    let mut driver = acting(json!([job("a", &[]), job("b", &["a"])]));
    driver.edit(vec![added("jobs", job("c", &["b"]))]).unwrap();
    driver.edit(vec![added("jobs", job("d", &["a"]))]).unwrap();
    assert_eq!(waves(&driver), [vec!["a"], vec!["b", "d"], vec!["c"]]);
    let events = driver.events.len();
    driver.edit(vec![added("jobs", job("d", &["a"]))]).unwrap();
    assert_eq!(driver.events.len(), events, "it is there");
    assert_eq!(
        code(&mut driver, added("jobs", job("d", &[]))),
        "bad_dependencies"
    );
    assert_eq!(
        code(&mut driver, added("jobs", job("e", &["nowhere"]))),
        "bad_dependencies"
    );
    assert_eq!(code(&mut driver, added("jobs", json!({}))), "bad_value");
    assert_eq!(
        code(&mut driver, added("groups", job("e", &[]))),
        "read_only"
    );
    driver
        .edit(vec![added("parts", json!({ "id": "p" }))])
        .unwrap();
    assert_eq!(
        code(
            &mut driver,
            added("parts", json!({ "id": "p", "weight": 3 }))
        ),
        "bad_dependencies"
    );
    assert_eq!(
        code(
            &mut driver,
            added("parts", json!({ "id": "q", "needs": ["r"] }))
        ),
        "bad_dependencies"
    );
}

#[test]
fn what_is_reopened_or_given_up_takes_words_along() {
    let mut driver = gathering();
    assert_eq!(code(&mut driver, skipped("jobs", "a")), "not_now");
    driver.edit(vec![whole("parts", parts())]).unwrap();
    assert_eq!(code(&mut driver, skipped("parts", "x")), "unknown_item");
    let again = |fields: Value| Edit::Reopen {
        set: "parts".to_owned(),
        key: "p".to_owned(),
        fields: crate::driver::map(fields),
        later: false,
    };
    driver.edit(vec![skipped("parts", "p")]).unwrap();
    assert_eq!(driver.facts_of("parts")["blocked"], 1, "`q` needs it");
    driver
        .edit(vec![again(
            json!({ "kind": "odd", "note": "it is needed" }),
        )])
        .unwrap();
    for (field, value) in [("status", "new"), ("kind", "odd"), ("note", "it is needed")] {
        assert_eq!(driver.field("parts", "p", field), value);
    }
    assert_eq!(
        code(&mut driver, again(json!({ "kind": "strange" }))),
        "bad_value"
    );
    assert_eq!(code(&mut driver, again(json!({ "id": "pp" }))), "read_only");
    assert_eq!(
        code(&mut driver, again(json!({ "nothing": 1 }))),
        "bad_value"
    );
}

/// A workflow with ways aside that are valid in every state but those of an `each`.
const ASIDE: &str = r"
tramline: 1
id: aside
title: Ways aside
items:
  parts:
    key: id
    open: { all: always }
    fields: { id: string }
initial: one
on:
  reopen: { to: one }
  skip: [ { when: command.reason == 'no', refuse: not_that }, { to: over } ]
messages: { not_that: { message: That is no reason, fix: name one } }
states:
  one: { work: {}, to: two }
  two: { work: {}, to: many, on: { skip: { to: many } } }
  many:
    each: { items: parts, initial: part }
    on: { done: { to: over } }
    states:
      part: { work: {}, to: ready }
      ready: { final: completed }
  over: { final: completed }
";

#[test]
fn a_way_aside_of_the_workflow_is_one_of_each_state_that_has_none() {
    let mut driver = Driver::begun(ASIDE);
    let no = Command::Skip {
        item: None,
        reason: "no".to_owned(),
        keep: Map::new(),
        approval: None,
    };
    assert_eq!(driver.send(&no).unwrap_err().code, "not_that");
    driver.complete("one").unwrap();
    driver.reopen().unwrap();
    assert_eq!(driver.state(), "one");
    driver.complete("one").unwrap();
    driver.skip().unwrap();
    assert_eq!(driver.state(), "over", "nothing is in `many`");

    let mut driver = Driver::begun(ASIDE);
    driver
        .edit(vec![whole("parts", [json!({ "id": "p" })])])
        .unwrap();
    driver.complete("one").unwrap();
    driver.complete("two").unwrap();
    assert_eq!(driver.run.waiting().count(), 1);
    assert_eq!(driver.skip().unwrap_err().code, "cannot_skip");
    assert_eq!(driver.reopen().unwrap_err().code, "cannot_reopen");

    let mut driver = Driver::begun(ASIDE);
    driver.skip().unwrap();
    assert_eq!(driver.state(), "over");
}

#[test]
fn nothing_is_set_while_the_run_is_paused_or_over() {
    let mut driver = gathering();
    driver.pause().unwrap();
    assert_eq!(code(&mut driver, var("flag", true)), "paused");
    assert_eq!(refused(&mut driver, Vec::new()).code, "paused");
    driver.resume().unwrap();
    driver.edit(vec![var("flag", true)]).unwrap();
    driver.abort(json!({})).unwrap();
    assert_eq!(code(&mut driver, var("flag", false)), "run_over");
    let mut unborn = Driver::new(crate::sets::SETS);
    assert_eq!(code(&mut unborn, var("flag", true)), "not_started");
}

#[test]
fn an_edit_leaves_the_work_unit_as_it_is() {
    let mut driver = acting(json!([job("a", &[])]));
    let unit = driver.run.waiting().next().unwrap().1.clone();
    let transitions = driver.run.transitions;
    driver
        .edit(vec![stands("jobs", "a", "active"), var("note", "x")])
        .unwrap();
    assert_eq!(*driver.run.waiting().next().unwrap().1, unit);
    assert_eq!(driver.run.transitions, transitions);
    assert_eq!(waves(&driver), [["a"]]);
}

#[test]
fn what_others_rest_on_is_not_taken_back() {
    let mut driver = gathering();
    driver.edit(vec![whole("parts", parts())]).unwrap();
    driver
        .edit(vec![
            stands("parts", "p", "ready"),
            stands("parts", "q", "begun"),
        ])
        .unwrap();
    let refusal = refused(&mut driver, vec![stands("parts", "p", "new")]);
    assert_eq!(
        (refusal.code.as_str(), &refusal.details["dependents"]),
        ("dependents_begun", &json!(["q"]))
    );
    driver
        .edit(vec![
            stands("parts", "p", "new"),
            stands("parts", "q", "new"),
        ])
        .unwrap();
    assert_eq!(driver.facts_of("parts")["done"], 0);
}
