//! Cursors, statuses, what guards see of them, and work that has a name of its own.

use machine::state::ItemStatus;
use serde_json::{Value, json};

use crate::driver::{Driver, Outcome, reading};
use crate::marked::with;
use crate::tdd::code;

/// A workflow over the set `parts` that fills it, stands in `told`, and takes these edges of its report.
fn over_parts(edges: &str) -> String {
    let status = "status: { open: [new, late], active: [begun], done: [ready], failed: [dropped] }";
    let fields = "fields: { id: string, needs: [string], n: int, words: [one, two] }";
    with(
        &format!(
            "vars: {{ c: ref parts, d: {{ type: ref parts }}, n: int }}\nitems: {{ parts: {{ key: id, needs: needs, {status}, {fields} }} }}"
        ),
        &format!(
            r#"a: {{ expects: graph, work: {{}}, on: {{ report: [ {{ load: {{ parts: =graph.tasks }}, to: told }} ] }} }}
told:
  expects: outcome
  work: {{}}
  on:
    report:
      - {{ when: "outcome.outcome == 'again'", to: again }}
      - {{ when: "outcome.outcome == 'end'", to: z }}
{edges}
again: {{ work: {{}}, to: a }}"#
        ),
    )
}

fn filled(edges: &str, parts: Value) -> Driver {
    let mut driver = Driver::begun(&over_parts(edges));
    fill(&mut driver, parts).unwrap();
    driver
}

fn status_of(driver: &Driver, part: &str) -> ItemStatus {
    driver.run.sets["parts"].get(part).unwrap().status
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
      - { when: \"outcome.outcome == 'take'\", set: { c: =parts.next, c.status: begun, c.n: =size(outcome.outcome) + 1, n: =c.n }, to: told }
      - { when: \"outcome.outcome == 'done'\", set: { c.status: ready, c: =parts.next, d: =c }, to: told }
      - { when: \"outcome.outcome == 'drop'\", set: { c.status: dropped, c: =null }, to: told }
      - { when: \"outcome.outcome == 'r'\", set: { c: ='r' }, to: told }
      - { when: \"outcome.outcome == 'odd'\", set: { c: ='odd' }, to: told }
      - { when: \"outcome.outcome == 'none'\", set: { c: '' }, to: told }
      - { when: \"outcome.outcome == 'two' && c.words == 'two' && c.id == vars.c\", to: z }
      - { when: \"outcome.outcome == 'nothing' && c.id == '' && c.n == 0 && c.words == 'one' && size(c.needs) == 0 && c.status == 'new'\", to: z }
      - { refuse: not_so }";

#[test]
fn a_cursor_points_at_what_is_there_or_at_nothing() {
    let mut driver = filled(PLAIN, three());
    assert_eq!(driver.run.vars["c"], "");
    assert_eq!(driver.run.pointed_at("c"), None);
    assert_eq!(code(say(&mut driver, "two")), "not_so");
    // Nothing is set through it, and it is not set to what is not there.
    for word in ["done", "drop", "odd"] {
        assert_eq!(code(say(&mut driver, word)), "definition_fault");
    }
    // It shows the fields of its item.
    say(&mut driver, "r").unwrap();
    assert_eq!(driver.run.pointed_at("c"), Some("r"));
    assert_eq!(code(say(&mut driver, "nothing")), "not_so");
    say(&mut driver, "none").unwrap();
    assert_eq!(driver.run.pointed_at("c"), None);
    say(&mut driver, "r").unwrap();
    say(&mut driver, "two").unwrap();
    assert_eq!(driver.state(), "z");
    // Where it points at nothing, every field is empty.
    let mut driver = filled(PLAIN, three());
    say(&mut driver, "nothing").unwrap();
    assert_eq!(driver.state(), "z");
    // When all is taken, the next one is none.
    let mut driver = filled(PLAIN, json!([]));
    assert_eq!(code(say(&mut driver, "take")), "definition_fault");
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
    assert_eq!(status_of(&driver, "p"), ItemStatus::Active);
    // Two fields of one item are one change.
    let changes = driver.names(0);
    let changes = changes.iter().filter(|name| *name == "item:changed");
    assert_eq!(changes.count(), 1);
    // The old item is closed and the next one taken on one edge.
    say(&mut driver, "done").unwrap();
    assert_eq!(driver.field("parts", "p", "status"), "ready");
    // `parts.next` was evaluated before `p` was ready, so `q` could not come next.
    assert_eq!(driver.run.pointed_at("c"), Some("r"));
    assert_eq!(driver.run.pointed_at("d"), Some("p"));
}

#[test]
fn a_set_that_is_filled_with_what_it_has_is_no_event() {
    let mut driver = filled(PLAIN, three());
    for parts in [three(), json!([{ "id": "p" }])] {
        say(&mut driver, "again").unwrap();
        driver.report(json!({})).unwrap();
        let events = driver.events.len();
        fill(&mut driver, parts.clone()).unwrap();
        let loaded = driver.names(events).contains(&"items:loaded".to_owned());
        assert_eq!(loaded, parts != three());
    }
    let mut driver = Driver::begun(&over_parts(PLAIN));
    let gone = fill(&mut driver, json!([{ "id": "p", "status": "gone" }]));
    assert_eq!(code(gone), "definition_fault");
}

#[test]
fn nested_states_see_cursors_of_other_sets_beside_their_item() {
    let tools = "{ key: id, status: { open: [idle], active: [used], done: [worn] }, fields: { id: string, uses: int } }";
    let parts = "{ key: id, fields: { id: string, with: string } }";
    let first = "{ when: \"tool.id == ''\", set: { tool: =tools.next, tool.uses: 1, item.with: =tools.next.id }, to: made }";
    let then =
        "{ set: { tool.uses: =tool.uses + 1, item.with: =tool.id, tool.status: used }, to: made }";
    let text = with(
        &format!("vars: {{ tool: ref tools }}\nitems: {{ tools: {tools}, parts: {parts} }}"),
        &format!(
            "a: {{ expects: design, route: [ {{ load: {{ tools: =design.items, parts: =design.errors }}, to: all }} ] }}
all: {{ each: {{ items: parts, initial: one }}, on: {{ done: {{ to: z }} }}, states: {{ one: {{ work: {{}}, on: {{ report: [ {first}, {then} ] }} }}, made: {{ final: completed }} }} }}"
        ),
    );
    let mut driver = Driver::new(&text);
    let found = json!({ "items": [{ "id": "saw" }], "errors": [{ "id": "a" }, { "id": "b" }] });
    driver.readings.insert("design".to_owned(), reading(found));
    driver.start(json!({}), json!({})).unwrap();
    assert!(driver.after("report report").ends_with("completed"));
    assert_eq!(driver.field("tools", "saw", "uses"), 2);
    assert_eq!(driver.field("tools", "saw", "status"), "used");
    for part in ["a", "b"] {
        assert_eq!(driver.field("parts", part, "with"), "saw");
    }
}
