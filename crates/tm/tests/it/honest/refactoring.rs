//! What passes may be given another form before it is committed, where the settings or the subtask ask for that.

use serde_json::json;

use super::work::{Before, DOUBLE, DOUBLES, HALVE, HALVES, SHOP, Way, Work};

/// The shop, where what passes is refactored.
pub const REFACTORED: Before<'static> = Before {
    settings: r#""autopilot": {"refactor": true}"#,
    ..SHOP
};

/// A run whose first subtask is to be refactored.
pub fn at_refactoring(before: &Before<'_>, way: Way) -> Work {
    let work = Work::begin(before, way);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.accept(&["complete", "green"], "refactor");
    work
}

#[test]
fn what_passes_is_given_another_form() {
    let way = Way::Reported;
    let work = at_refactoring(&REFACTORED, way);
    work.write("src/double.sh", "sh src/add.sh $1 $1\n");
    work.accept(&["complete", "refactor"], "commit");
    work.commit();
    work.finalize();
    let (status, verified) = work.shell("tm verify main..HEAD");
    assert_eq!(status, 0, "{verified:#}");
    assert_eq!(
        verified["message"], "all 2 commits were earned",
        "{verified:#}"
    );
    let (_, report) = work.shell("tm runs report");
    let row = &report["subtasks"][0];
    assert_eq!(row["refactored"]["passed"], 2, "{row:#}");
    assert_eq!(row["attempts"], 1, "{row:#}");
}

#[test]
fn nothing_to_refactor_is_an_answer() {
    let way = Way::Reported;
    let work = at_refactoring(&REFACTORED, way);
    let unchanged = ["complete", "refactor", "--unchanged"];
    work.write("src/double.sh", "echo $((2 * $1))\n");
    let (status, told) = work.ask(&unchanged);
    assert_eq!(
        (status, &told["code"]),
        (3, &json!("not_unchanged")),
        "{told:#}"
    );
    work.write("src/double.sh", DOUBLE);
    let told = work.tm(&unchanged);
    assert_eq!(told["nextAction"]["action"], "commit", "{told:#}");
    // Said once more it is the same report.
    let told = work.tm(&unchanged);
    assert_eq!(told["nextAction"]["action"], "commit", "{told:#}");
    work.commit();
    work.finalize();
    let (_, report) = work.shell("tm runs report");
    let row = &report["subtasks"][0];
    assert_eq!(row["refactored"]["asBefore"], "GREEN", "{row:#}");
    let (status, verified) = work.shell("tm verify main..HEAD");
    assert_eq!(status, 0, "{verified:#}");
    assert_eq!(
        verified["message"], "all 2 commits were earned",
        "{verified:#}"
    );
}

#[test]
fn a_subtask_says_whether_it_is_refactored() {
    let tasks = json!({ "master": { "tasks": [{
        "id": 1, "title": "Two", "status": "pending", "subtasks": [
            { "id": 1, "title": "Double", "refactor": false },
            { "id": 2, "title": "Halve" },
        ],
    }] } });
    let way = Way::Reported;
    let work = Work::begin_with(&REFACTORED, way, |work| {
        work.write(".taskmaster/tasks/tasks.json", &tasks.to_string());
    });
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    work.write("tests/halve.test", HALVES);
    work.red();
    work.write("src/halve.sh", HALVE);
    work.accept(&["complete", "green"], "refactor");
    let told = work.tm(&["complete", "--unchanged"]);
    assert_eq!(told["nextAction"]["action"], "commit", "{told:#}");
    let told = work.tm(&["reopen", "--reason", "it could be shorter"]);
    assert_eq!(told["nextAction"]["action"], "refactor", "{told:#}");
    let told = work.tm(&["reopen", "--reason", "it lacks something"]);
    assert_eq!(told["nextAction"]["action"], "green", "{told:#}");
    let work = Work::unbegun(&SHOP, Way::Claimed);
    work.tm(&["start", "--title", "Double (refactor: yes)"]);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.accept(&["complete", "green"], "refactor");
}

#[test]
fn no_test_is_loosened_meanwhile() {
    let way = Way::Reported;
    let work = at_refactoring(&REFACTORED, way);
    let refused = |code: &str| {
        let (status, told) = work.report(&["complete", "refactor"]);
        assert_eq!((status, &told["code"]), (3, &json!(code)), "{told:#}");
    };
    work.write("tests/double.test", "doubles: true\n");
    refused("tests_changed");
    work.write("tests/double.test", DOUBLES);
    work.write("src/double.sh", "echo $(($1 * 3))\n");
    refused("green_tests_still_failing");
    work.write("src/double.sh", "echo $((2 * $1))\n");
    work.delete("tests/add.test");
    let (status, told) = work.report(&["complete", "refactor"]);
    assert_eq!(status, 3, "{told:#}");
    work.write("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n");
    work.accept(&["complete", "refactor"], "commit");
    work.commit();
}

#[test]
fn that_nothing_was_changed_says_nothing_of_tests_that_nobody_ran() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    work.write("tests/double.test", DOUBLES);
    for phase in ["red", "green"] {
        let (status, told) = work.ask(&["complete", phase, "--unchanged"]);
        assert_eq!(
            (status, &told["error"]["code"]),
            (2, &json!("no_results")),
            "{told:#}"
        );
        if phase == "red" {
            work.red();
        }
    }
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    let (status, told) = work.ask(&["complete", "finalize", "--unchanged"]);
    assert_ne!(status, 0, "{told:#}");
}
