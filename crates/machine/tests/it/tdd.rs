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

/// A run with three subtasks, the last of which needs the first.
pub fn three() -> Driver {
    let mut driver = tdd(&json!([
        subtask("1.1", &[]),
        subtask("1.2", &[]),
        subtask("1.3", &["1.1"]),
    ]));
    begin(&mut driver).unwrap();
    driver
}

pub fn one() -> Driver {
    let mut driver = tdd(&json!([subtask("1.1", &[])]));
    begin(&mut driver).unwrap();
    driver
}

pub fn begin(driver: &mut Driver) -> Outcome {
    driver.start(
        json!({ "taskId": "1" }),
        json!({ "maxGreenAttempts": 3, "redAllPassing": "refuse", "refactor": false }),
    )
}

pub fn code(result: Outcome) -> String {
    result.unwrap_err().code
}

pub fn through(driver: &mut Driver) {
    driver.report(tests(0, 1)).unwrap();
    driver.report(tests(1, 0)).unwrap();
    driver.report(own_commit()).unwrap();
}

pub fn counts(driver: &Driver) -> Value {
    let mut facts = driver
        .run
        .set_facts(&driver.definition, "subtasks", &[])
        .unwrap();
    facts.as_object_mut().unwrap().shift_remove("next");
    facts
}

pub fn status_of(driver: &Driver, key: &str) -> ItemStatus {
    driver.run.sets["subtasks"].get(key).unwrap().status
}
