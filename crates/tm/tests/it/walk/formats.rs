//! Tests are known by names, which reports of one format have and others have not, or otherwise.

use std::fmt::Write as _;

use serde_json::Value;

use super::{at, story};
use crate::honest::work::{Before, GREEN, OLD_FAILURE, RED, VERIFIED, Way, Work};

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

#[test]
fn tests_are_reported_as_they_were_in_red() {
    at(Before::with_code, GREEN).tell([story("RED has names of another format", "tests_missing")
        .call(|work| by_junit(work, GREEN))]);
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
                work.accepted(RED);
                work.code();
            })
            .call(|work| work.ask(&[GREEN, &["--verify"]].concat()))
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
    at(Before::at_red, GREEN).tell([story("it is printed otherwise", "report_unreadable")
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
