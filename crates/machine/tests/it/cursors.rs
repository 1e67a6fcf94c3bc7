//! Cursors, statuses, what guards see of them, and work that has a name of its own.

use machine::state::ItemStatus;
use machine::{Event, RunStatus};
use serde_json::{Value, json};

use crate::driver::{Driver, Outcome, reading, says};

/// A workflow over the set `parts` that fills it, stands in `a`, and takes these edges of its report.
fn over_parts(edges: &str) -> String {
    format!(
        r#"
tramline: 1
id: x
title: X
vars: {{ c: ref parts, d: {{ type: ref parts }}, n: int }}
items:
  parts:
    key: id
    needs: needs
    status: {{ open: [new, late], active: [begun], done: [ready], failed: [dropped] }}
    fields: {{ id: string, needs: [string], n: int, words: [one, two] }}
initial: fill
states:
  fill: {{ expects: graph, work: {{}}, on: {{ report: [ {{ load: {{ parts: =graph.tasks }}, to: a }} ] }} }}
  a:
    expects: outcome
    work: {{}}
    on:
      report:
        - {{ when: "outcome.outcome == 'again'", to: again }}
        - {{ when: "outcome.outcome == 'end'", to: z }}
{edges}
  again: {{ work: {{}}, to: fill }}
  z: {{ final: completed }}
"#
    )
}

fn filled(edges: &str, parts: Value) -> Driver {
    let mut driver = Driver::begun(&over_parts(edges));
    fill(&mut driver, parts).unwrap();
    driver
}

fn fill(driver: &mut Driver, parts: Value) -> Outcome {
    let mut graph = json!({ "present": true, "errors": [] });
    graph["tasks"] = parts;
    driver.report(graph)
}

fn say(driver: &mut Driver, outcome: &str) -> Outcome {
    driver.report(json!({ "outcome": outcome, "note": "", "files": [] }))
}

fn three() -> Value {
    json!([{ "id": "p" }, { "id": "q", "needs": ["p"] }, { "id": "r", "n": 7, "words": "two" }])
}

const PLAIN: &str = "
        - { when: \"outcome.outcome == 'take'\", set: { c: =parts.next, c.status: begun, c.n: =size(outcome.outcome) + 1, n: =c.n }, to: a }
        - { when: \"outcome.outcome == 'done'\", set: { c.status: ready, c: =parts.next, d: =c }, to: a }
        - { when: \"outcome.outcome == 'drop'\", set: { c.status: dropped, c: =null }, to: a }
        - { when: \"outcome.outcome == 'r'\", set: { c: ='r' }, to: a }
        - { when: \"outcome.outcome == 'odd'\", set: { c: ='odd' }, to: a }
        - { when: \"outcome.outcome == 'none'\", set: { c: '' }, to: a }
        - { when: \"outcome.outcome == 'two' && c.words == 'two' && c.id == vars.c\", to: z }
        - { when: \"outcome.outcome == 'nothing' && c.id == '' && c.n == 0 && c.words == 'one' && size(c.needs) == 0 && c.status == 'new'\", to: z }
        - { refuse: not_so }";

#[test]
fn a_cursor_that_points_at_nothing_has_every_field_empty() {
    let mut driver = filled(PLAIN, three());
    assert_eq!(driver.run.vars["c"], "");
    assert_eq!(driver.run.pointed_at("c"), None);
    say(&mut driver, "nothing").unwrap();
    assert_eq!(driver.state(), "z");
}

#[test]
fn a_cursor_shows_the_fields_of_its_item() {
    let mut driver = filled(PLAIN, three());
    assert_eq!(say(&mut driver, "two").unwrap_err().code, "not_so");
    say(&mut driver, "r").unwrap();
    say(&mut driver, "two").unwrap();
    assert_eq!(driver.state(), "z");
}

#[test]
fn what_is_set_through_a_cursor_counts_from_the_item_it_was_just_set_to() {
    let mut driver = filled(PLAIN, three());
    say(&mut driver, "take").unwrap();
    assert_eq!(driver.run.pointed_at("c"), Some("p"));
    assert_eq!(driver.field("parts", "p", "status"), "begun");
    assert_eq!(driver.field("parts", "p", "n"), 5);
    // Expressions see everything as it was before the edge: `c` pointed at nothing.
    assert_eq!(driver.run.vars["n"], 0);
    let item = driver.run.sets["parts"].get("p").unwrap();
    assert_eq!(item.status, ItemStatus::Active);
    let changes = driver
        .names(0)
        .iter()
        .filter(|name| *name == "item:changed")
        .count();
    assert_eq!(changes, 1, "two fields of one item are one change");
}

#[test]
fn the_old_item_is_closed_and_the_next_one_taken_on_one_edge() {
    let mut driver = filled(PLAIN, three());
    say(&mut driver, "take").unwrap();
    say(&mut driver, "done").unwrap();
    assert_eq!(driver.field("parts", "p", "status"), "ready");
    // `parts.next` was evaluated before `p` was ready, so `q` could not come next.
    assert_eq!(driver.run.pointed_at("c"), Some("r"));
    assert_eq!(driver.run.pointed_at("d"), Some("p"));
}

#[test]
fn nothing_is_set_through_a_cursor_that_points_at_nothing() {
    let mut driver = filled(PLAIN, three());
    for word in ["done", "drop"] {
        let refusal = say(&mut driver, word).unwrap_err();
        assert_eq!(refusal.code, "definition_fault");
        assert!(
            says(&refusal).contains("`c` points at no item"),
            "{}",
            says(&refusal)
        );
    }
}

#[test]
fn a_cursor_points_at_what_is_there_or_at_nothing() {
    let mut driver = filled(PLAIN, three());
    let refusal = say(&mut driver, "odd").unwrap_err();
    assert_eq!(refusal.code, "definition_fault");
    assert!(
        says(&refusal).contains("no such item"),
        "{}",
        says(&refusal)
    );
    say(&mut driver, "r").unwrap();
    assert_eq!(driver.run.pointed_at("c"), Some("r"));
    say(&mut driver, "none").unwrap();
    assert_eq!(driver.run.pointed_at("c"), None);
    // When all is taken, the next one is none.
    let mut driver = filled(PLAIN, json!([]));
    assert_eq!(
        say(&mut driver, "take").unwrap_err().code,
        "definition_fault"
    );
}

#[test]
fn what_was_skipped_bars_what_needs_it() {
    let mut driver = filled(PLAIN, three());
    let facts = driver.facts_of("parts");
    assert_eq!(
        facts["count"],
        json!({ "new": 3, "late": 0, "begun": 0, "ready": 0, "dropped": 0 })
    );
    assert_eq!(
        (&facts["size"], &facts["remaining"], &facts["next"]["id"]),
        (&json!(3), &json!(3), &json!("p"))
    );
    say(&mut driver, "take").unwrap();
    let facts = driver.facts_of("parts");
    assert_eq!(
        (&facts["remaining"], &facts["next"]["id"]),
        (&json!(3), &json!("r"))
    );
    say(&mut driver, "drop").unwrap();
    let facts = driver.facts_of("parts");
    assert_eq!(
        (
            &facts["remaining"],
            &facts["done"],
            &facts["failed"],
            &facts["blocked"]
        ),
        (&json!(1), &json!(0), &json!(1), &json!(1))
    );
    // What is blocked is counted nowhere else.
    assert_eq!(
        facts["count"],
        json!({ "new": 1, "late": 0, "begun": 0, "ready": 0, "dropped": 1 })
    );
    assert_eq!(driver.run.pointed_at("c"), None);
}

#[test]
fn a_set_that_is_filled_again_keeps_where_its_items_stand() {
    let mut driver = filled(PLAIN, three());
    say(&mut driver, "take").unwrap();
    say(&mut driver, "again").unwrap();
    driver.report(json!({})).unwrap();
    let events = driver.events.len();
    fill(
        &mut driver,
        json!([{ "id": "s" }, { "id": "p", "n": 5 }, { "id": "r", "status": "ready" }]),
    )
    .unwrap();
    assert_eq!(driver.field("parts", "p", "status"), "begun");
    assert_eq!(
        driver.field("parts", "r", "status"),
        "ready",
        "what is said counts"
    );
    assert_eq!(driver.field("parts", "s", "status"), "new");
    assert_eq!(
        driver.run.sets["parts"].get("p").unwrap().status,
        ItemStatus::Active
    );
    assert_eq!(
        driver.run.sets["parts"].get("r").unwrap().status,
        ItemStatus::Done
    );
    assert_eq!(driver.run.pointed_at("c"), Some("p"));
    assert!(driver.names(events).contains(&"items:loaded".to_owned()));
}

#[test]
fn a_set_that_is_filled_with_what_it_has_is_no_event() {
    let mut driver = filled(PLAIN, three());
    say(&mut driver, "again").unwrap();
    driver.report(json!({})).unwrap();
    let events = driver.events.len();
    fill(&mut driver, three()).unwrap();
    assert!(!driver.names(events).contains(&"items:loaded".to_owned()));
}

#[test]
fn a_cursor_whose_item_is_gone_points_at_nothing() {
    let mut driver = filled(PLAIN, three());
    say(&mut driver, "take").unwrap();
    say(&mut driver, "again").unwrap();
    driver.report(json!({})).unwrap();
    fill(&mut driver, json!([{ "id": "r" }])).unwrap();
    assert_eq!(driver.run.pointed_at("c"), None);
    say(&mut driver, "nothing").unwrap();
}

#[test]
fn a_status_that_is_none_is_refused_when_a_set_is_filled() {
    let mut driver = Driver::begun(&over_parts(PLAIN));
    let refusal = fill(&mut driver, json!([{ "id": "p", "status": "gone" }])).unwrap_err();
    assert_eq!(refusal.code, "definition_fault");
    assert_eq!(driver.state(), "fill");
}

#[test]
fn an_item_that_is_added_stands_where_it_says() {
    let edges = "
        - { add: { parts: { id: s, status: ready } }, set: { n: 1 }, to: a }";
    let mut driver = filled(edges, json!([{ "id": "t", "needs": [] }]));
    say(&mut driver, "").unwrap();
    assert_eq!(
        driver.run.sets["parts"].get("s").unwrap().status,
        ItemStatus::Done
    );
    assert_eq!(driver.facts_of("parts")["done"], 1);
    assert_eq!(driver.facts_of("parts")["next"]["id"], "t");
}

#[test]
fn what_an_edge_sets_is_of_the_declared_type() {
    let edges = "
        - { when: \"outcome.outcome == 'status'\", set: { c: =parts.next, c.status: =outcome.note }, to: a }
        - { refuse: not_so }";
    let mut driver = filled(edges, three());
    let refusal = driver
        .report(json!({ "outcome": "status", "note": "gone", "files": [] }))
        .unwrap_err();
    assert_eq!(refusal.code, "definition_fault");
    driver
        .report(json!({ "outcome": "status", "note": "late", "files": [] }))
        .unwrap();
    assert_eq!(driver.field("parts", "p", "status"), "late");
    assert_eq!(
        driver.run.sets["parts"].get("p").unwrap().status,
        ItemStatus::Open
    );
}

#[test]
fn nested_states_see_cursors_of_other_sets_beside_their_item() {
    let text = r#"
tramline: 1
id: x
title: X
vars: { tool: ref tools }
items:
  tools: { key: id, status: { open: [idle], active: [used], done: [worn] }, fields: { id: string, uses: int } }
  parts: { key: id, fields: { id: string, with: string } }
initial: fill
states:
  fill: { expects: design, route: [ { load: { tools: =design.items, parts: =design.errors }, to: all } ] }
  all:
    each: { items: parts, initial: one }
    on: { done: { to: z } }
    states:
      one:
        work: {}
        on:
          report:
            - { when: "tool.id == ''", set: { tool: =tools.next, tool.uses: 1, item.with: =tools.next.id }, to: made }
            - { set: { tool.uses: =tool.uses + 1, item.with: =tool.id, tool.status: used }, to: made }
      made: { final: completed }
  z: { final: completed }
"#;
    let mut driver = Driver::new(text);
    let found = json!({ "items": [{ "id": "saw" }], "errors": [{ "id": "a" }, { "id": "b" }] });
    driver.readings.insert("design".to_owned(), reading(found));
    driver.start(json!({}), json!({})).unwrap();
    driver.report(json!({})).unwrap();
    driver.report(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
    assert_eq!(driver.field("tools", "saw", "uses"), 2);
    assert_eq!(driver.field("tools", "saw", "status"), "used");
    assert_eq!(driver.field("parts", "a", "with"), "saw");
    assert_eq!(driver.field("parts", "b", "with"), "saw");
}

#[test]
fn work_is_reported_under_its_name_its_state_or_its_unit() {
    let text = "
tramline: 1
id: x
title: X
initial: a
states:
  a: { work: { as: digging }, to: b }
  b: { work: { as: digging, fresh: true }, to: c }
  c: { work: {}, to: z }
  z: { final: completed }
";
    let mut driver = Driver::begun(text);
    assert_eq!(
        (driver.unit().as_str(), driver.skill().as_str()),
        ("a", "digging")
    );
    let issued = driver.events.iter().find_map(|(_, event)| match event {
        Event::UnitIssued { name, .. } => name.clone(),
        _ => None,
    });
    assert_eq!(issued.as_deref(), Some("digging"));
    driver.complete("digging").unwrap();
    assert_eq!(
        driver.run.last.as_ref().unwrap().name.as_deref(),
        Some("digging")
    );
    // The next work has the same name: whoever names no unit means the present one.
    driver.complete("digging").unwrap();
    assert_eq!(driver.state(), "c");
    let refusal = driver.complete("digging").unwrap_err();
    assert_eq!(refusal.details["unit"], "b");
    driver.complete("c").unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
    let fresh = |state: &str| {
        driver
            .definition
            .state(state)
            .unwrap()
            .work
            .as_ref()
            .unwrap()
            .value
            .fresh
    };
    assert_eq!((fresh("a"), fresh("b")), (false, true));
}
