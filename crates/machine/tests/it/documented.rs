//! What docs/definitions.md shows works as it says.

use machine::{Catalog, Definition, RunStatus};
use serde_json::json;

use crate::driver::Driver;
use crate::marked::indented;
use crate::support::{catalog, load};

const DOCUMENT: &str = include_str!("../../../../docs/definitions.md");

/// The blocks of YAML, in their order.
fn blocks() -> Vec<&'static str> {
    let behind = DOCUMENT.split("```yaml\n").skip(1);
    behind
        .filter_map(|block| block.split("```").next())
        .collect()
}

fn with_templates() -> Catalog {
    let mut catalog = catalog();
    let proposal = "proposal.md".to_owned();
    catalog.templates.insert(proposal, Vec::new());
    catalog
}

fn example() -> Driver {
    let mut all = blocks().into_iter();
    let text = all.find(|text| text.contains("id: proposal")).unwrap();
    let mut driver = Driver::of(Definition::load(text, &with_templates()).unwrap());
    let inputs = json!({ "subject": "tea" });
    driver.start(inputs, json!({})).unwrap();
    driver
}

fn answer(driver: &mut Driver) {
    driver.files.insert(driver.response());
    driver.step().unwrap();
}

#[test]
fn every_whole_workflow_passes_the_proof() {
    let mut whole = blocks();
    whole.retain(|text| text.starts_with("tramline:"));
    assert_eq!(whole.len(), 4);
    for text in whole {
        let loaded = Definition::load(text, &with_templates());
        assert!(loaded.is_ok(), "{:?}", loaded.err());
    }
}

/// The part that begins with that key.
fn part(key: &str) -> &'static str {
    let mut all = blocks().into_iter();
    all.find(|text| text.starts_with(&format!("{key}:")))
        .unwrap()
}

/// The parts on waves, put together.
fn in_waves() -> String {
    format!(
        "tramline: 1\nid: x\ntitle: X\n{}  batch: ref batches\nitems:\n{}initial: plan\nstates:\n{}{}",
        part("vars"),
        indented(part("tasks")),
        "  plan: { expects: graph, work: {}, on: { report: { load: { tasks: =graph.tasks }, to: choose } } }\n",
        indented(part("choose")),
    ) + "  over: { final: completed }\n"
}

#[test]
fn every_part_of_one_fits_into_one() {
    let mut parts = blocks();
    parts.retain(|text| !text.starts_with("tramline:"));
    assert_eq!(parts.len(), 9);
    let head = "tramline: 1\nid: x\ntitle: X\n";
    let begin = "initial: a\nstates:\n";
    for part in parts {
        let text = match part.split(':').next().unwrap() {
            "tasks" | "choose" | "vars" => in_waves(),
            "write" => {
                let part = part.replace("instructions: proposal.md", "instructions: red.md");
                format!(
                    "{head}vars: {{ round: int }}\ninitial: write\nstates:\n  {part}  announce: {{ work: {{}}, to: z }}\n"
                )
            }
            "gates" => format!(
                "{head}inputs: {{ checks: [auto, human] }}\n{part}{begin}  a: {{ gate: agreed, route: {{ to: b }} }}\n  b: {{ gate: checked, route: {{ to: z }} }}\n"
            ),
            "messages" => format!(
                "{head}{part}{begin}  a: {{ expects: outcome, work: {{}}, on: {{ report: [ {{ when: outcome.outcome == 'no', refuse: unknown_verdict }}, {{ when: outcome.outcome == 'x', refuse: name_the_notes }}, {{ to: z }} ] }} }}\n"
            ),
            "initial" => format!("{head}{}{part}", uses()),
            "uses" => format!("{head}{}initial: z\nstates:\n", uses()),
            _ => format!(
                "{head}{part}{begin}  a: {{ expects: outcome, work: {{}}, on: {{ report: {{ when: outcome.outcome == 'yes', to: z }} }} }}\n  dropped: {{ final: cancelled }}\n"
            ),
        };
        let is_whole = text == in_waves();
        load(&(text + ["  z: { final: completed }\n", ""][usize::from(is_whole)]));
    }
}

#[test]
fn the_example_goes_round_until_somebody_agrees() {
    let mut driver = example();
    assert!(driver.files.contains("round-1/task.md"));
    let refusal = driver.step().unwrap_err();
    assert_eq!(refusal.details["path"], "round-1/proposal.md");
    answer(&mut driver);
    assert_eq!(driver.step().unwrap_err().details["gate"], "agreed");
    driver.reject("agreed", "shorter").unwrap();
    assert!(driver.files.contains("round-2/task.md"));
    assert_eq!(driver.run.tokens[0].reason.as_deref(), Some("shorter"));
    answer(&mut driver);
    driver.approve("agreed").unwrap();
    assert_eq!(driver.unit(), "announce");
    driver.report(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

/// What a workflow on a task's branch declares, with the part of the page that says so.
fn uses() -> String {
    format!(
        "{}inputs: {{ taskId: string, maxAttempts: int }}\nitems: {{ subtasks: {{ key: id, fields: {{ id: string, title: string }} }} }}\n",
        part("uses")
    )
}

/// Every key and word of the language is told of.
#[test]
fn every_key_is_documented() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../../schemas/workflow.schema.json")).unwrap();
    let places = "state work edge on itemSet statuses waves".split(' ');
    let places = places.map(|place| format!("/$defs/{place}"));
    for place in places.chain([String::new()]) {
        let keys = schema.pointer(&format!("{place}/properties")).unwrap();
        for key in keys.as_object().unwrap().keys() {
            assert!(DOCUMENT.contains(&format!("`{key}`")), "{key} of {place}");
        }
    }
}
