//! Calls that are made at the wrong time, or in the wrong words.

use super::walk;
use crate::honest::work::{Before, DOUBLE, DOUBLES, HALVES, SHOP, Way, Work};

fn to_red() -> Work {
    let work = Work::begin(&SHOP, Way::Claimed);
    work.write("tests/double.test", DOUBLES);
    work
}

fn to_commit() -> Work {
    let work = to_red();
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.green();
    work
}

#[test]
fn a_report_is_of_no_sense() {
    for (call, code) in [
        ("complete red --results failed:many", "bad_results"),
        (
            "complete red --results failed:1,passed:1 --coverage much",
            "bad_coverage",
        ),
        ("complete red", "no_results"),
        (
            "complete red --results failed:1,passed:1 --files ../../x",
            "bad_path",
        ),
        ("complete green --results failed:0,passed:2", "stale_unit"),
        (
            "complete red 1.7 --results failed:1,passed:1",
            "unknown_item",
        ),
        ("commit", "stale_unit"),
        ("commit --sha HEAD", "stale_unit"),
        ("finalize --results failed:0,passed:2", "stale_unit"),
        ("reopen --reason again", "cannot_reopen"),
        ("skip 1.7 --reason no", "not_present"),
        ("allow no_tests_ran --reason fine", "not_a_policy"),
    ] {
        let work = to_red();
        let words: Vec<&str> = call.split(' ').collect();
        walk(&work, |work| work.ask(&words), code, &[]);
    }
}

#[test]
fn a_commit_is_of_no_sense() {
    for (call, code) in [
        ("complete red --results failed:0,passed:2", "stale_unit"),
        ("commit --files no.such", "file_not_changed"),
        ("commit --sha nothing", "foreign_commit"),
        ("commit --sha HEAD", "foreign_commit"),
        ("commit --files ../../x", "bad_path"),
        ("finalize --results failed:0,passed:2", "stale_unit"),
    ] {
        let work = to_commit();
        let words: Vec<&str> = call.split(' ').collect();
        walk(&work, |work| work.ask(&words), code, &[]);
    }
}

#[test]
fn the_run_is_paused() {
    let work = to_red();
    work.tm(&["pause", "--reason", "lunch"]);
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "paused",
        &[],
    );
}

#[test]
fn what_failed_before_is_known_already() {
    let before = Before { task: "2", ..SHOP };
    let work = Work::begin(&before, Way::Reported);
    work.write("tests/double.test", DOUBLES);
    // Until something is committed it may be told anew.
    work.tm(&["baseline"]);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    work.write("tests/halve.test", HALVES);
    walk(&work, |work| work.ask(&["baseline"]), "baseline_known", &[]);
}
