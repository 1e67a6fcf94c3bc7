//! Tests are known by names, which reports of one format have and others have not, or otherwise.

use std::fmt::Write as _;

use serde_json::Value;

use super::{at, at_of, story};
use crate::honest::work::{Before, FAILING, GREEN, OLD_FAILURE, RED, VERIFIED, Way, Work, code_of};

/// Writes a report outside of the project, and gives its path.
fn report(work: &Work, name: &str, text: &str) -> String {
    let path = work.outside().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A report of the suite in another format, that of `JUnit`.
fn junit(work: &Work) -> String {
    let mut cases = String::new();
    for line in work.suite().lines() {
        let Some((sign, name)) = line.split_once(" - ") else {
            continue;
        };
        let failed = if sign.starts_with("ok") {
            ""
        } else {
            "<failure message=\"no\"/>"
        };
        write!(cases, "<testcase name=\"{name}\">{failed}</testcase>").unwrap();
    }
    let text = format!("<testsuites><testsuite name=\"all\">{cases}</testsuite></testsuites>");
    report(work, "junit.xml", &text)
}

fn by_junit(work: &Work, phase: &[&str]) -> (i32, Value) {
    work.ask(&[phase, &["--report", &junit(work)]].concat())
}

fn by_tap(work: &Work, phase: &[&str]) -> (i32, Value) {
    work.ask(&[phase, &["--report", &work.printed()]].concat())
}

#[test]
fn old_failures_are_known_by_other_names_or_none() {
    at(Before::with_code, GREEN).tell([
        story("by those of another format", "unnamed_failures")
            .of(FAILING)
            .call(|work| by_junit(work, GREEN)),
        story("RED has those of a file", "tests_missing").call(|work| by_junit(work, GREEN)),
        story("by names behind numbers", "green_tests_still_failing")
            .of(FAILING.by(Way::Claimed))
            .call(|work| by_tap(work, GREEN)),
    ]);
    at_of(&FAILING, Before::begin, RED).tell([
        story("by those of another format in RED", "unnamed_failures")
            .done(Work::test)
            .call(|work| by_junit(work, RED)),
        story("in numbers", "unnamed_failures").call(|work| {
            work.write("tests/double.test", "doubles: true\n");
            let answer = work.ask(&["complete", "red", "--results", "failed:1,passed:2"]);
            work.test();
            answer
        }),
    ]);
    at(Before::begin, GREEN).tell([story("behind a broken RED", "green_tests_still_failing")
        .of(FAILING.without_baseline())
        .done(Work::test)
        .done(|work| work.tm(&["complete", "red", "--results", "failed:0,passed:0,errors:1"]))
        .done(Work::code)
        .call(|work| by_tap(work, GREEN))]);
}

/// However late it comes, the baseline is known by names of every kind after it: each format is compared with its own.
#[test]
fn the_baseline_is_made_known_in_another_format_behind_a_commit() {
    let work = FAILING.task("2").begin();
    let baseline = std::fs::read_to_string(junit(&work)).unwrap();
    work.test();
    work.red();
    work.code();
    work.green();
    work.commit();
    work.second_test();
    assert_eq!(code_of(&by_junit(&work, RED).1), "unnamed_failures");
    // One that fails now is no baseline.
    assert_eq!(code_of(&by_junit(&work, &["baseline"]).1), "baseline_known");
    work.tm(&[
        "baseline",
        "--report",
        &report(&work, "baseline.xml", &baseline),
    ]);
    let (status, red) = by_junit(&work, RED);
    assert_eq!((status, &red["warning"]), (0, &Value::Null), "{red:#}");
    work.second_code();
    let (status, green) = by_junit(&work, GREEN);
    assert_eq!(status, 0, "{green:#}");
    work.ends();
}

/// The first step leads to making known what failed before.
fn leads_to_the_baseline(answer: &Value) {
    let steps = answer["nextSteps"].to_string();
    assert!(steps.contains("tm autopilot baseline"), "{answer:#}");
}

#[test]
fn red_has_shown_only_what_failed_before() {
    let then_a_test = |work: &Work| {
        work.delete("src/double.sh");
        work.test();
    };
    at(Before::begin, GREEN).tell([
        // A test of what is there, beside one that failed.
        story("by names", "tests_missing")
            .of(OLD_FAILURE.by(Way::Reported))
            .done(|work| {
                let there = "doubles: test $(sh src/add.sh 4 4) = 8\n";
                work.write("tests/double.test", there);
                leads_to_the_baseline(&work.accepted(RED));
                work.code();
                leads_to_the_baseline(&work.refused(GREEN, "green_tests_still_failing"));
                work.tm(&["baseline"]);
            })
            .deed(then_a_test)
            .then(Work::code)
            .then(Work::goes_through),
    ]);
}

/// A runner that writes a report of its own, and one that says otherwise than it prints.
const TWO_FACED: &str = r#"[ -z "$REAL" ] || exec pytest
out=${PYTEST_ADDOPTS##*--junitxml=}
case=''
[ -f tests/double.test ] && case='<testcase classname="test_a" name="test_b"/>'
[ -f tests/double.test ] && [ ! -f src/double.sh ] && case='<testcase classname="test_a" name="test_b"><failure message="no"/></testcase>'
printf '<testsuites><testsuite name="pytest">%s<testcase classname="test_a" name="test_c"/></testsuite></testsuites>' "$case" >"$out"
echo '============================= test session starts =============================='
echo
if [ -f lies ]; then
  echo '=========================== short test summary info ============================'
  echo 'FAILED test_a.py::test_b - assert 1 == 2'
  echo '========================= 1 failed, 1 passed in 0.02s =========================='
fi
[ -z "${case##*failure*}" ] && [ -n "$case" ] && exit 1
exit 0
"#;

#[test]
fn what_is_run_here_says_two_things() {
    at(Before::at_red, GREEN).tell([story("it is printed otherwise", "report_contradicted")
        .of(VERIFIED
            .with(&[("suite.sh", TWO_FACED)])
            .command("sh suite.sh")
            .without_baseline())
        .done(|work| work.accepted(RED))
        .done(Work::code)
        .done(|work| work.write("lies", ""))
        .deed(|work| work.delete("lies"))
        .then(Work::commit)]);
}

#[test]
fn a_made_up_baseline_counts_less_than_what_was_seen() {
    let made_up = |work: &Work| {
        let path = report(
            work,
            "before.tap",
            "TAP version 13\n1..1\nnot ok 1 - adds\n",
        );
        work.ask(&["baseline", "--report", &path]).1
    };
    let work = VERIFIED.without_baseline().at_red();
    assert_eq!(code_of(&made_up(&work)), "");
    work.red();
    work.code();
    let add = work.read("src/add.sh");
    work.write("src/add.sh", "echo broken\n");
    work.refused(GREEN, "green_tests_still_failing");
    work.write("src/add.sh", &add);
    work.green();
    // Nor does it take the place of one that was seen.
    assert_eq!(code_of(&made_up(&VERIFIED.begin())), "baseline_known");
}
