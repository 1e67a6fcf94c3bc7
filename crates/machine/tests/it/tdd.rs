//! Runs of the `tdd` definition, ready to be driven.

use machine::state::ItemStatus;
use serde_json::{Value, json};

use crate::driver::{Driver, Outcome, map};
use crate::support::TDD;

pub fn tests(passed: u32, failed: u32) -> Value {
    json!({
        "passed": passed, "failed": failed, "errors": 0, "skipped": 0, "failing": failed,
        "ran": passed + failed, "total": passed + failed, "under": [], "files": [], "level": "claimed", "compiled": false,
    })
}

/// All tests pass, with a file that was changed for it.
pub fn mended(passed: u32) -> Value {
    let mut facts = tests(passed, 0);
    facts["files"] = json!(["src/lib.rs"]);
    facts
}

pub fn own_commit() -> Value {
    json!({ "sha": "", "message": "", "files": [] })
}

pub fn subtask(id: &str, needs: &[&str]) -> Value {
    json!({ "id": id, "title": format!("Subtask {id}"), "dependencies": needs })
}

pub fn tdd(subtasks: &Value) -> Driver {
    let mut driver = Driver::new(TDD);
    let items = subtasks.as_array().unwrap().iter().cloned().map(map);
    driver.items = vec![("subtasks".to_owned(), items.collect())];
    driver.effects.insert(
        "git.commit".to_owned(),
        Ok(json!({ "sha": "abc", "owed": false })),
    );
    driver
}

/// A run with these subtasks that has begun.
fn begun(subtasks: &Value) -> Driver {
    let mut driver = tdd(subtasks);
    begin(&mut driver).unwrap();
    driver
}

/// A run with three subtasks, the last of which needs the first.
pub fn three() -> Driver {
    let last = subtask("1.3", &["1.1"]);
    begun(&json!([subtask("1.1", &[]), subtask("1.2", &[]), last]))
}

pub fn one() -> Driver {
    begun(&json!([subtask("1.1", &[])]))
}

/// A run of one subtask whose test is to be made to pass.
pub fn in_green() -> Driver {
    let mut driver = one();
    driver.report(tests(0, 1)).unwrap();
    driver
}

/// A run of one subtask that is to be committed.
pub fn to_commit() -> Driver {
    let mut driver = in_green();
    driver.report(tests(1, 0)).unwrap();
    driver
}

/// A run whose subtasks are all done.
pub fn to_finalize() -> Driver {
    let mut driver = one();
    through(&mut driver);
    driver
}

/// What waits, and which attempt it is.
pub fn attempt(driver: &Driver) -> (&str, u32) {
    let (_, unit) = driver.run.waiting().next().unwrap();
    (&unit.id, unit.attempt)
}

pub fn begin(driver: &mut Driver) -> Outcome {
    begin_with(driver, json!({ "taskId": "1" }), "refuse")
}

/// Begins with these inputs, and this setting for tests that pass in RED.
pub fn begin_with(driver: &mut Driver, inputs: Value, passing: &str) -> Outcome {
    let config = json!({ "maxGreenAttempts": 3, "redAllPassing": passing, "refactor": false });
    driver.start(inputs, config)
}

pub fn code(result: Outcome) -> String {
    result.unwrap_err().code
}

pub fn through(driver: &mut Driver) {
    driver.report(tests(0, 1)).unwrap();
    driver.report(tests(1, 0)).unwrap();
    driver.report(own_commit()).unwrap();
}

pub fn status_of(driver: &Driver, key: &str) -> ItemStatus {
    driver.run.sets["subtasks"].get(key).unwrap().status
}
