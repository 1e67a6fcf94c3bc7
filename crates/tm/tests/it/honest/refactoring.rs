//! What passes may be given another form before it is committed, where the settings or the subtask ask for that.

use serde_json::{Value, json};

use super::work::{Before, GREEN, RED, SHOP, TASKS_FILE, TWO, Work, code_of};

/// The shop, where what passes is refactored.
pub const REFACTORED: Before<'static> = SHOP.settings(r#""autopilot": {"refactor": true}"#);

pub const REFACTOR: &[&str] = &["complete", "refactor"];
pub const UNCHANGED: &[&str] = &["complete", "refactor", "--unchanged"];

/// A run whose first subtask is to be refactored.
fn at_refactoring() -> Work {
    let work = REFACTORED.with_code();
    work.accept(GREEN, "refactor");
    work
}

/// All commits of the run were earned. What the report tells of its first subtask.
fn earned(work: &Work) -> Value {
    work.ends();
    let (status, verified) = work.shell("tm verify main..HEAD");
    let told = &verified["message"];
    let all = json!("all 2 commits were earned");
    assert_eq!((status, told), (0, &all), "{verified:#}");
    let (_, report) = work.shell("tm runs report");
    report["subtasks"][0].clone()
}

#[test]
fn what_passes_is_given_another_form_and_no_test_is_loosened_meanwhile() {
    let work = at_refactoring();
    work.write("tests/double.test", "doubles: true\n");
    work.refused(REFACTOR, "tests_changed");
    work.test();
    let add = work.read("tests/add.test");
    work.delete("tests/add.test");
    work.refused(REFACTOR, "tests_changed");
    work.write("tests/add.test", &add);
    work.write("src/double.sh", "sh src/add.sh $1 $1\n");
    work.accept(REFACTOR, "commit");
    let row = earned(&work);
    let told = [&row["refactored"]["passed"], &row["attempts"]];
    assert_eq!(told, [2, 1], "{row:#}");
}

#[test]
fn nothing_to_refactor_is_an_answer() {
    let work = at_refactoring();
    work.write("src/double.sh", "echo $(($1 * 3))\n");
    work.refused(REFACTOR, "green_tests_still_failing");
    work.code();
    // Said once more it is the same report.
    for _ in 0..2 {
        let told = work.tm(UNCHANGED);
        assert_eq!(told["nextAction"]["action"], "commit", "{told:#}");
    }
    let row = earned(&work);
    assert_eq!(row["refactored"]["asBefore"], "GREEN", "{row:#}");
}

#[test]
fn a_subtask_says_whether_it_is_refactored() {
    let refactored = TWO.settings(r#""autopilot": {"refactor": true}"#);
    let work = refactored
        .prepared(|work| {
            let title = "\"title\": \"Double a number\",";
            work.replace(TASKS_FILE, title, &format!("{title} \"refactor\": false,"));
        })
        .committed();
    work.second_test();
    work.red();
    work.second_code();
    work.accept(GREEN, "refactor");
    let told = work.tm(&["complete", "--unchanged"]);
    assert_eq!(told["nextAction"]["action"], "commit", "{told:#}");
    work.reopen("refactor");
    work.reopen("green");

    // That nothing was changed says nothing of tests that nobody ran.
    let nothing = |work: &Work, phase: &[&str]| {
        let (status, told) = work.ask(&[phase, &["--unchanged"]].concat());
        assert_eq!((status, code_of(&told)), (2, "usage"), "{told:#}");
    };
    let work = SHOP.unbegun();
    work.tm(&["start", "--title", "Double (refactor: yes)"]);
    work.test();
    nothing(&work, RED);
    work.accepted(RED);
    nothing(&work, GREEN);
    work.code();
    work.accept(GREEN, "refactor");
}
