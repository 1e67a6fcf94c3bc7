//! Sessions of the `review` definition, ready to be stepped.

use machine::Reading;
use machine::command::Artifact;
use serde_json::{Value, json};

use crate::driver::{Driver, reading};
use crate::support::REVIEW;

/// The phases in which somebody writes or looks, in the order in which a session comes through them; the last two
/// belong to the second iteration.
pub const PHASES: [&str; 9] = [
    "INITIALIZED",
    "PLANNING",
    "PLANNED",
    "GENERATING",
    "GENERATED",
    "REVIEWING",
    "REVIEWED",
    "REVISING",
    "REVISED",
];

pub const GATES: [(&str, &str); 3] = [
    ("plan", "PLANNED"),
    ("code", "REVIEWING"),
    ("review", "REVIEWED"),
];

/// A session that was just begun, with these inputs.
pub fn begun(inputs: Value) -> Driver {
    let mut driver = Driver::new(REVIEW);
    let gates = json!({ "plan": "auto", "code": "auto", "review": "auto" });
    driver
        .start(inputs, json!({ "maxIterations": 10, "gates": gates }))
        .unwrap();
    driver
}

/// The response of the present state is there, and reads as `status`.
pub fn respond(driver: &mut Driver, status: &str) {
    let path = driver.response();
    let mut taken_in = Vec::new();
    if !path.is_empty() {
        taken_in.push(Artifact {
            path: path.clone(),
            sha256: "feed".to_owned(),
            state: driver.state().to_owned(),
            iteration: driver.round(),
        });
        driver.files.insert(path);
    }
    let facts = reading(json!({
        "status": status, "reason": format!("why it is {status}"), "files": 1, "hash": "", "staged": "",
    }));
    for (reader, found) in [("", Reading::default()), ("response", facts)] {
        let artifacts = taken_in.clone();
        let found = Reading { artifacts, ..found };
        driver.readings.insert(reader.to_owned(), found);
    }
}

/// One step with everything there that it needs; REVIEWED reads as a failed review, which leads to a revision.
pub fn go_on(driver: &mut Driver) {
    let failed = driver.state() == "REVIEWED";
    // After a step back the prompt stands there still, and nothing is asked anew.
    let asked = driver.files.contains(&driver.prompt());
    if driver.state() == "REVIEWING" && driver.unit().is_empty() && !asked {
        driver.step().unwrap();
    }
    respond(driver, if failed { "FAILED" } else { "SUCCESS" });
    driver.step().unwrap();
}

/// Goes on to `phase`, opening every gate that is closed on the way.
pub fn lead(driver: &mut Driver, phase: &str) {
    for _ in 0..40 {
        if driver.state() == phase {
            return;
        }
        let gate = GATES.iter().find(|(_, at)| *at == driver.state());
        if let Some((gate, _)) = gate
            && driver.run.inputs[&format!("{gate}Gate")] == "human"
        {
            driver.approve(gate).unwrap();
        }
        go_on(driver);
    }
    panic!("{phase} is never reached");
}

/// A session that stands in `phase` for the first time.
pub fn at(phase: &str) -> Driver {
    with_gates(json!({}), phase)
}

/// The same, with inputs such as `{ "planGate": "human" }`.
pub fn with_gates(inputs: Value, phase: &str) -> Driver {
    let mut driver = begun(inputs);
    lead(&mut driver, phase);
    driver
}

/// A session with one human gate, that stands before it in that iteration.
pub fn before(gate: &str, iteration: i64) -> Driver {
    let phase = GATES.iter().find(|(name, _)| *name == gate).unwrap().1;
    let mut driver = with_gates(json!({ format!("{gate}Gate"): "human" }), phase);
    while driver.round() != Some(iteration) && gate != "plan" {
        driver.approve(gate).unwrap();
        go_on(&mut driver);
        lead(&mut driver, phase);
    }
    driver
}

/// A session that stands in `from`, with its prompt there.
pub fn standing(from: &str) -> Driver {
    let mut driver = at(from);
    if from == "REVIEWING" {
        driver.step().unwrap();
    }
    driver
}
