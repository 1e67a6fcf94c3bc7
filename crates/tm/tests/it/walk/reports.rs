//! Reports that say too little, or what cannot be.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Story, at, at_of, story};
use crate::honest::work::{Before, FINALIZE, GREEN, RED, SHOP, VERIFIED, Way, Work, age};

const CLAIMED: Before<'static> = SHOP.by(Way::Claimed);

/// A report in numbers.
fn numbers(phase: &[&str], results: &str) -> impl Fn(&Work) -> (i32, Value) + Send + 'static {
    let call = [phase, &["--results", results]].concat().join(" ");
    move |work| work.ask(&call.split(' ').collect::<Vec<_>>())
}

#[test]
fn red() {
    let not_there = |name, path: &'static str| {
        story(name, "report_missing")
            .done(|work| fs::create_dir(work.outside().join("empty")).unwrap())
            .call(move |work| {
                let path = work.outside().join(path);
                work.ask(&["complete", "red", "--report", path.to_str().unwrap()])
            })
    };
    at_of(
        &SHOP
            .settings(r#""evidence": {"require": "reported"}"#)
            .without_baseline(),
        Before::at_red,
        RED,
    )
    .tell([
        story("less is said than is asked for", "evidence_too_weak")
            .call(numbers(RED, "failed:1,passed:1"))
            .then(|work| {
                let next = work.tm(&["next"])["nextSteps"].to_string();
                assert!(next.contains("--report FILE"), "{next}");
            }),
        not_there("there is no such file", "no.tap"),
        not_there("there is none in the folder", "empty"),
        story("it is something else", "report_unreadable").call(|work| {
            let path = work.outside().join("notes.txt");
            fs::write(&path, "all is well\n").unwrap();
            work.ask(&["complete", "red", "--report", path.to_str().unwrap()])
        }),
    ]);
}

const COVERED: Before<'static> =
    CLAIMED.test(r#""patterns": ["**/tests/**"], "coverageThresholds": {"lines": 80}"#);

/// Something is run before the suite, until it is taken away.
fn runs_first(name: &'static str, code: &'static str, script: &'static str) -> Story {
    story(name, code)
        .done(|work| work.write("before.sh", script))
        .deed(|work| work.delete("before.sh"))
}

#[test]
fn green() {
    at_of(&COVERED, Before::with_code, GREEN).tell([
        story("no test ran", "no_tests_ran")
            .call(numbers(GREEN, "failed:0,passed:0 --coverage 90")),
        story("all tests were skipped", "no_tests_ran")
            .call(numbers(GREEN, "failed:0,passed:0,skipped:2 --coverage 90")),
        story("coverage is too low", "coverage_below_threshold")
            .call(numbers(GREEN, "failed:0,passed:2 --coverage 50"))
            .deed(|work| work.append("tests/double.test", "# all of it\n")),
    ]);
    at_of(&VERIFIED, Before::with_code, GREEN).tell([
        runs_first(
            "nothing is told",
            "report_unreadable",
            "echo all is well; exit 0\n",
        ),
        runs_first(
            "half is told",
            "report_unreadable",
            "printf '1..2\\nok 1 - adds\\n'; exit 0\n",
        ),
        runs_first("it fails", "command_failed", "trap 'exit 1' EXIT\n"),
        runs_first("it is killed", "command_failed", "trap 'kill -9 $$' EXIT\n"),
        story("it is not written", "report_missing").call(|work| {
            let old = work.printed();
            age(Path::new(&old), 3600);
            work.ask(&["complete", "green", "--verify", "--report", &old])
        }),
    ]);
    at(Before::with_code, GREEN).tell([
        story("coverage is not told", "coverage_missing")
            .of(COVERED.settings(r#""evidence": {"requireCoverage": true}"#)),
        runs_first("it hangs", "test_timeout", "sleep 60\n")
            .of(VERIFIED.settings(r#""autopilot": {"testTimeout": 1000}"#)),
    ]);
}

#[test]
fn a_report_says_other_than_what_is_there() {
    at_of(&SHOP, Before::with_code, GREEN)
        .tell([story("numbers follow names", "tests_missing")
            .call(numbers(GREEN, "failed:0,passed:2"))]);
    at_of(&SHOP, Before::committed, FINALIZE).tell([
        story("it fails", "suite_failing")
            .done(|work| {
                work.write(".git/info/exclude", "before.sh\n");
                let fails = "test() { [ \"$1\" != 8 ] && command test \"$@\"; }\n";
                work.write("before.sh", fails);
            })
            .deed(|work| work.delete("before.sh")),
        story("files are left", "changed_after_commit")
            .done(|work| work.write("trace.out", "a trace\n"))
            .deed(|work| work.delete("trace.out")),
        story("files are changed", "changed_after_commit")
            .done(|work| work.append("src/double.sh", "# twice\n")),
    ]);
}
