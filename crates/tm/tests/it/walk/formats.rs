//! Tests are known by names, which reports of one format have and others have not, or otherwise.

use std::fmt::Write as _;

use super::tests::to_green;
use super::walk;
use crate::honest::work::{Before, DOUBLE, DOUBLES, HALVE, HALVES, OLD_FAILURE, SHOP, Way, Work};

/// A report of the suite in another format, that of `JUnit`.
fn junit(work: &Work) -> String {
    let mut cases = String::new();
    for line in work.suite().lines() {
        let (ok, name) = match line.split_once(" - ") {
            Some((sign, name)) => (sign.starts_with("ok"), name),
            None => continue,
        };
        let inside = if ok { "" } else { "<failure message=\"no\"/>" };
        write!(cases, "<testcase name=\"{name}\">{inside}</testcase>").unwrap();
    }
    let path = work.outside().join("junit.xml");
    let text = format!("<testsuites><testsuite name=\"all\">{cases}</testsuite></testsuites>");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn old_failures_are_known_by_other_names() {
    let before = Before {
        files: &[("tests/add.test", "adds: true\nold: false\n")],
        ..SHOP
    };
    let work = Work::begin(&before, Way::Reported);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--report", &junit(work)]),
        "unnamed_failures",
        &[],
    );
}

#[test]
fn old_failures_are_known_by_other_names_when_there_are_new_tests() {
    let before = Before {
        files: &[("tests/add.test", "adds: true\nold: false\n")],
        ..SHOP
    };
    let work = Work::begin(&before, Way::Reported);
    work.write("tests/double.test", DOUBLES);
    walk(
        &work,
        |work| work.ask(&["complete", "red", "--report", &junit(work)]),
        "unnamed_failures",
        &[],
    );
}

/// However late it comes, the baseline is known by names of every kind after it: each format is compared with its own.
#[test]
fn the_baseline_is_made_known_in_another_format_behind_a_commit() {
    let before = Before {
        files: &[("tests/add.test", "adds: true\nold: false\n")],
        task: "2",
        ..SHOP
    };
    let work = Work::begin(&before, Way::Reported);
    let baseline = std::fs::read_to_string(junit(&work)).unwrap();
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    work.write("tests/halve.test", HALVES);
    let (status, refused) = work.ask(&["complete", "red", "--report", &junit(&work)]);
    assert_eq!(
        (status != 0, &refused["code"]),
        (true, &"unnamed_failures".into()),
        "{refused:#}"
    );
    // One that fails now is no baseline.
    let (status, more) = work.ask(&["baseline", "--report", &junit(&work)]);
    assert_eq!(
        (status != 0, &more["error"]["code"]),
        (true, &"baseline_known".into()),
        "{more:#}"
    );
    let path = work.outside().join("baseline.xml");
    std::fs::write(&path, baseline).unwrap();
    let (status, known) = work.ask(&["baseline", "--report", path.to_str().unwrap()]);
    assert_eq!(status, 0, "{known:#}");
    let (status, red) = work.ask(&["complete", "red", "--report", &junit(&work)]);
    assert_eq!(
        (status, &red["warning"]),
        (0, &serde_json::Value::Null),
        "{red:#}"
    );
    work.write("src/halve.sh", HALVE);
    let (status, green) = work.ask(&["complete", "green", "--report", &junit(&work)]);
    assert_eq!(status, 0, "{green:#}");
    work.commit();
    work.finalize();
}

#[test]
fn numbers_follow_names() {
    let way = Way::Reported;
    let work = to_green(way);
    work.write("src/double.sh", DOUBLE);
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--results", "failed:0,passed:2"]),
        "tests_missing",
        &[],
    );
}

#[test]
fn names_follow_numbers_where_a_test_failed_before() {
    let before = Before {
        files: &[("tests/add.test", "adds: true\nold: false\n")],
        ..SHOP
    };
    let work = Work::begin(&before, Way::Claimed);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    let report = work.printed();
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--report", &report]),
        "green_tests_still_failing",
        &[],
    );
}

#[test]
fn an_old_failure_shows_behind_a_red_that_could_not_be_built() {
    let before = Before {
        files: &[("tests/add.test", "adds: true\nold: false\n")],
        baseline: false,
        ..SHOP
    };
    let work = Work::begin(&before, Way::Reported);
    work.write("tests/double.test", DOUBLES);
    let (status, red) = work.ask(&["complete", "red", "--results", "failed:0,passed:0,errors:1"]);
    assert_eq!(status, 0, "{red:#}");
    work.write("src/double.sh", DOUBLE);
    let report = work.printed();
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--report", &report]),
        "green_tests_still_failing",
        &[],
    );
}

/// What `go test` prints of a package without `-v`, and with `-json`.
fn go(work: &Work, tests: &[(&str, &str)]) -> [String; 2] {
    let (mut text, mut json) = (String::new(), String::new());
    for (name, outcome) in tests {
        if *outcome == "fail" {
            writeln!(text, "--- FAIL: {name} (0.00s)\n    a_test.go:1: no").unwrap();
        }
        let event =
            serde_json::json!({ "Action": outcome, "Package": "a", "Test": name, "Elapsed": 0 });
        writeln!(json, "{event}").unwrap();
    }
    text.push_str("FAIL\nFAIL\ta\t0.001s\nFAIL\n");
    let end = serde_json::json!({ "Action": "fail", "Package": "a", "Elapsed": 0.001 });
    writeln!(json, "{end}").unwrap();
    [("go.txt", text), ("go.json", json)].map(|(name, text)| {
        let path = work.outside().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    })
}

/// Go lists only what fails: where all of that failed before, nothing says that anything passes.
#[test]
fn a_report_lists_none_but_old_failures() {
    let before = Before {
        baseline: false,
        ..SHOP
    };
    let work = Work::begin(&before, Way::Reported);
    let [text, _] = go(&work, &[("TestOld", "fail"), ("TestFine", "pass")]);
    let known = work.tm(&["baseline", "--report", &text]);
    let told = known["message"].as_str().unwrap();
    assert!(!told.contains("0 tests passed"), "{told}");
    work.write("tests/double.test", DOUBLES);
    let [text, _] = go(
        &work,
        &[
            ("TestOld", "fail"),
            ("TestFine", "pass"),
            ("TestNew", "fail"),
        ],
    );
    work.tm(&["complete", "red", "--report", &text]);
    work.write("src/double.sh", DOUBLE);
    let [text, json] = go(
        &work,
        &[
            ("TestOld", "fail"),
            ("TestFine", "pass"),
            ("TestNew", "pass"),
        ],
    );
    let (status, refused) = work.ask(&["complete", "green", "--report", &text]);
    assert_eq!(
        (status != 0, &refused["code"]),
        (true, &"green_requires_passing_tests".into()),
        "{refused:#}"
    );
    let way_on = refused["suggestion"].as_str().unwrap();
    assert!(way_on.contains("-json"), "{way_on}");
    let green = work.tm(&["complete", "green", "--report", &json]);
    assert_eq!(green["validated"], true, "{green:#}");
}

#[test]
fn a_report_is_in_another_format_than_that_of_red() {
    // RED with a report and GREEN with what the runner printed, and the other way round.
    for red_by_file in [true, false] {
        let work = Work::begin(&SHOP, Way::Verified);
        work.write("tests/double.test", DOUBLES);
        let report = |phase: &str, by_file: bool| {
            if by_file {
                work.ask(&["complete", phase, "--report", &junit(&work)])
            } else {
                work.ask(&["complete", phase, "--verify"])
            }
        };
        let (status, answer) = report("red", red_by_file);
        assert_eq!(status, 0, "{answer:#}");
        work.write("src/double.sh", DOUBLE);
        let (_, refused) = report("green", !red_by_file);
        let first = refused["nextSteps"][0]["command"].as_str().unwrap();
        let option = if red_by_file {
            "--report FILE"
        } else {
            "--verify"
        };
        assert!(first.ends_with(option), "{refused:#}");
        let (status, answer) = report("green", red_by_file);
        assert_eq!(status, 0, "{answer:#}");
    }
}

/// A suite with a test that failed before, and a run whose first report is accepted for that one alone.
fn with_an_old_failure_for_red() -> Work {
    let before = Before {
        settings: r#""evidence": {"baseline": "off"}"#,
        ..OLD_FAILURE
    };
    let work = Work::begin(&before, Way::Verified);
    // It tests what is there.
    work.write(
        "tests/double.test",
        "doubles: test $(sh src/add.sh 4 4) = 8\n",
    );
    let red = work.tm(&["complete", "red", "--verify"]);
    assert_eq!(red["validated"], true, "{red:#}");
    let advised = red["suggestion"].as_str().unwrap();
    assert!(advised.contains("tm autopilot baseline"), "{red:#}");
    work
}

#[test]
fn red_has_shown_only_what_failed_before() {
    let work = with_an_old_failure_for_red();
    work.write("src/double.sh", DOUBLE);
    let (_, refused) = work.report(&["complete", "green"]);
    assert_eq!(refused["code"], "green_tests_still_failing", "{refused:#}");
    let advised = refused["suggestion"].as_str().unwrap();
    assert!(advised.contains("tm autopilot baseline"), "{refused:#}");
    work.tm(&["baseline"]);
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "tests_missing",
        &[("write a test of it", |work| {
            work.delete("src/double.sh");
            work.write("tests/double.test", DOUBLES);
        })],
    );
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    work.finalize();
}

#[test]
fn red_is_told_in_numbers_where_tests_failed_before() {
    let before = Before {
        files: &[("tests/add.test", "adds: true\nold: false\n")],
        ..SHOP
    };
    let work = Work::begin(&before, Way::Reported);
    walk(
        &work,
        |work| {
            work.write("tests/double.test", "doubles: true\n");
            let answer = work.ask(&["complete", "red", "--results", "failed:1,passed:2"]);
            work.write("tests/double.test", DOUBLES);
            answer
        },
        "unnamed_failures",
        &[],
    );
}

/// A report of today is none of before, whatever its format.
#[test]
fn what_fails_now_is_no_baseline_by_other_names() {
    let work = Work::begin(&SHOP, Way::Reported);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    let path = work.outside().join("later.xml");
    let text = r#"<testsuites><testsuite name="s"><testcase classname="" name="adds"/><testcase classname="" name="doubles"><failure message="no"/></testcase></testsuite></testsuites>"#;
    std::fs::write(&path, text).unwrap();
    let (status, answer) = work.ask(&["baseline", "--report", path.to_str().unwrap()]);
    assert_eq!(
        (status != 0, &answer["error"]["code"]),
        (true, &"baseline_known".into()),
        "{answer:#}"
    );
}

#[test]
fn red_has_shown_in_numbers_only_what_failed_before() {
    let before = Before {
        files: &[("tests/add.test", "adds: true\nold: false\n")],
        baseline: false,
        ..SHOP
    };
    let work = Work::begin(&before, Way::Claimed);
    work.write("tests/double.test", "doubles: true\n");
    work.ask(&["complete", "red", "--results", "failed:1,passed:2"]);
    work.write("src/double.sh", DOUBLE);
    let (_, failing) = work.report(&["complete", "green"]);
    let advised = failing["suggestion"].as_str().unwrap();
    assert!(advised.contains("tm autopilot baseline"), "{failing:#}");
    work.tm(&["baseline"]);
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--verify"]),
        "tests_missing",
        &[("write a test of it", |work| {
            work.delete("src/double.sh");
            work.write("tests/double.test", DOUBLES);
        })],
    );
}

/// RED could not be built and has no names; the new test has to show up in GREEN nevertheless.
#[test]
fn a_red_without_names_is_answered_by_a_new_test() {
    let guard = "[ -f src/double.sh ] || [ ! -f tests/double.test ] || { echo 'double.ts(1,1): error TS2304: Cannot find name' >&2; exit 2; }\n";
    let before = Before {
        files: &[("before.sh", guard), ("tests/add.test", "adds: true\n")],
        ..SHOP
    };
    let work = Work::begin(&before, Way::Verified);
    work.write("tests/double.test", DOUBLES);
    work.warns(&["No test failed, they only could not be compiled"]);
    work.red();
    work.write("src/double.sh", "a stub\n");
    work.write(
        "before.sh",
        "find() { command find tests -name add.test; }\n",
    );
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "tests_missing",
        &[("bring them back", |work| {
            work.write("before.sh", "\n");
            work.write("src/double.sh", DOUBLE);
        })],
    );
    work.commit();
}

#[test]
fn a_made_up_baseline_counts_less_than_what_was_seen() {
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
        ],
        baseline: false,
        ..SHOP
    };
    let work = Work::begin(&before, Way::Verified);
    let made_up = work.outside().join("before.tap");
    std::fs::write(&made_up, "TAP version 13\n1..1\nnot ok 1 - adds\n").unwrap();
    work.tm(&["baseline", "--report", made_up.to_str().unwrap()]);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.write("src/add.sh", "echo broken\n");
    let (_, refused) = work.report(&["complete", "green"]);
    assert_eq!(refused["code"], "green_tests_still_failing", "{refused:#}");
    work.write("src/add.sh", "echo $(($1 + $2))\n");
    work.green();

    // Nor does it take the place of one that was seen.
    let work = Work::begin(&SHOP, Way::Verified);
    std::fs::write(
        work.outside().join("before.tap"),
        "TAP version 13\n1..1\nnot ok 1 - adds\n",
    )
    .unwrap();
    let path = work.outside().join("before.tap");
    let (_, refused) = work.ask(&["baseline", "--report", path.to_str().unwrap()]);
    assert_eq!(refused["error"]["code"], "baseline_known", "{refused:#}");
}

/// The files of the tests are as they were: none was taken out.
#[test]
fn a_test_is_said_to_be_taken_out_and_is_not() {
    let way = Way::Reported;
    let work = to_green(way);
    work.write("src/double.sh", DOUBLE);
    work.write(
        "before.sh",
        "find() { command find tests -name double.test; }\n",
    );
    work.remove(&["adds"]);
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "tests_missing",
        &[("bring them back", |work| work.delete("before.sh"))],
    );
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
fn a_report_says_otherwise_than_what_was_printed() {
    let before = Before {
        files: &[("suite.sh", TWO_FACED), ("tests/add.test", "adds: true\n")],
        command: "sh suite.sh",
        baseline: false,
        ..SHOP
    };
    let work = Work::begin(&before, Way::Verified);
    work.write("tests/double.test", DOUBLES);
    work.tm(&["complete", "red", "--verify"]);
    work.write("src/double.sh", DOUBLE);
    work.write("lies", "");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "report_contradicted",
        &[("what writes over its report", |work| work.delete("lies"))],
    );
    work.commit();
}

/// Who takes a test out in RED hears of it at once, unless it is named.
#[test]
fn a_test_is_gone_in_red() {
    for is_named in [false, true] {
        let work = Work::begin(&SHOP, Way::Verified);
        work.delete("tests/add.test");
        work.write("tests/double.test", DOUBLES);
        if is_named {
            work.remove(&["adds"]);
        } else {
            work.warns(&["Tests that passed before are gone or skipped (adds)"]);
        }
        work.red();
        work.write("src/double.sh", DOUBLE);
        let (_, answer) = work.report(&["complete", "green"]);
        assert_eq!(answer["validated"], is_named, "{answer:#}");
    }
}
