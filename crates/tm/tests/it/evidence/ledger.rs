//! The ledger: tests by their names, from one report to the next.

use std::fs;
use std::path::{Path, PathBuf};

use super::stage::{CLAIM, CODE, GREEN, RED, Stage, WORDS, with_report};

const MISSING: &str = "tests_missing";

/// A report of these lines, which nobody has run: for runners that this machine has not.
fn written(stage: &Stage, lines: &[&str]) -> PathBuf {
    let cases = lines.iter().zip(1..).map(|(line, at)| {
        let (how, name) = line.split_once(": ").unwrap();
        format!("{how} {at} - {name}\n")
    });
    let cases: String = cases.collect();
    stage.written(format!("TAP version 14\n{cases}1..{}\n", lines.len()))
}

#[test]
fn tests_do_not_go_missing_by_name() {
    let stage = Stage::coded();
    let (one, two, new) = (
        "ok: words test_one",
        "ok: words test_two",
        "ok: spaces test_spaces",
    );
    for (lines, how, name) in [
        // As many as there were, under other names.
        (
            [one, "ok: words test_other", new],
            "missing",
            "words test_two",
        ),
        (
            [one, two, "ok: spaces test_other"],
            "missing",
            "spaces test_spaces",
        ),
        (
            [one, "ok: words test_two # SKIP", new],
            "skipped",
            "words test_two",
        ),
        (
            [one, two, "not ok: spaces test_spaces # TODO"],
            "expected to fail",
            "spaces test_spaces",
        ),
    ] {
        let words = with_report(GREEN, &written(&stage, &lines));
        let named = format!("{how}: {name}");
        let answer = stage.refused(&words, MISSING, &[&named]);
        assert_eq!(answer.json()["details"]["tests"][0], name, "{answer:#?}");
        // To call it removed excuses nothing that RED had.
        stage.refused(&format!("{words} --removed *"), MISSING, &[&named]);
    }
    stage.accepts(GREEN);
}

/// Two tests of one name are two: what breaks one of them does not hide behind the other, which was broken before.
#[test]
fn tests_of_one_name_are_counted_one_by_one() {
    let stage = Stage::new("");
    let (one, fails) = ("ok: words test_one", "not ok: words test_one");
    let (twin, broken) = ("ok: twin", "not ok: twin");
    stage.start_with(&written(&stage, &[one, twin, broken]));
    stage.test("spaces");
    let told = stage.takes(RED, &written(&stage, &[one, twin, broken, fails]));
    let message = "RED accepted: 1 newly failing, 1 failing as before, 2 passing";
    assert_eq!(told["message"], message, "{told:#}");
    stage.code("spaces");
    for (green, failing) in [
        ([one, broken, broken, one], "(twin)"),
        ([one, twin, broken, fails], "(words test_one (2))"),
    ] {
        let told = stage.hand_in(GREEN, &written(&stage, &green));
        assert_eq!(told.code(), "green_tests_still_failing", "{told:#?}");
        assert!(told.message().contains(failing), "{told:#?}");
    }
    stage.takes(GREEN, &written(&stage, &[one, broken, twin, one]));
}

/// A test that RED's report names, and that is not there, is owed until RED is reported anew.
#[test]
fn a_test_that_red_named_and_is_not_there_leads_back() {
    let stage = Stage::started("");
    stage.test("spaces");
    let with = |new: &[&str]| {
        let old = ["ok: words test_one", "ok: words test_two"];
        written(&stage, &[&old[..], new].concat())
    };
    let red = with(&["not ok: spaces test_spaces", "not ok: phantom"]);
    stage.takes(RED, &red);
    stage.code("spaces");
    let green = with(&["ok: spaces test_spaces"]);
    stage.hand_in_refused(GREEN, &green, MISSING, &["phantom"]);
    stage.reopen();
    stage.delete(CODE);
    stage.accepts(RED);
    stage.green();
}

/// Parameters such as times, addresses and random numbers are named anew in each run.
#[test]
fn cases_whose_names_differ_in_each_run_are_the_same() {
    let stage = Stage::started("");
    let without = |how: &str, run: usize, gone: &str| {
        let name = ["", "Ann", "Bob"][run];
        let mut lines = vec![
            "ok: words test_one".to_owned(),
            "ok: words test_two".to_owned(),
            format!("ok: a.py::test_old[{run}]"),
            "ok: a.py::test_two[one]".to_owned(),
            "ok: a.py::test_two[two]".to_owned(),
            format!("ok: suite takes {run}7ms"),
            format!("ok: knows_{name}"),
            format!("{how}: b.py::test_new[{run}]"),
        ];
        lines.retain(|line| !line.contains(gone));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        written(&stage, &lines)
    };
    stage.test("spaces");
    let red = without("not ok", 1, "none");
    stage.takes("complete red --removed knows_*", &red);
    stage.code("spaces");
    for (gone, missing) in [
        ("test_old", "missing: a.py::test_old[1]"),
        ("test_new", "missing: b.py::test_new[1]"),
        ("takes", "missing: suite takes 17ms"),
        // RED still ran it, so that one that begins so is owed.
        ("knows", "missing: knows_Ann"),
        (
            "::test_two",
            "missing: a.py::test_two[one], a.py::test_two[two]",
        ),
    ] {
        let part = without("ok", 2, gone);
        stage.hand_in_refused(GREEN, &part, MISSING, &[missing]);
    }
    // One case fewer of a function is reported.
    let fewer = without("ok", 2, "test_two[two]");
    let answer = stage.hand_in(GREEN, &fewer).ok();
    let warning = answer["warning"].to_string();
    assert!(warning.contains("a.py::test_two[two]"), "{answer}");
}

#[test]
fn a_part_of_the_suite_is_not_the_suite() {
    let stage = Stage::coded();
    let (one, two, new) = ("words test_one", "words test_two", "spaces test_spaces");
    let part = written(&stage, &["ok: spaces test_spaces"]);
    stage.hand_in_refused(GREEN, &part, MISSING, &[one, two]);
    // Numbers after names are no names.
    stage.refused(CLAIM, MISSING, &[]);
    stage.accepts(GREEN);
    stage.auto("commit").ok();
    // In RED the new test alone will do.
    stage.test("tabs");
    stage.takes(RED, &written(&stage, &["not ok: tabs test_tabs"]));
    stage.code("tabs");
    let part = || written(&stage, &["ok: tabs test_tabs"]);
    stage.hand_in_refused(GREEN, &part(), MISSING, &[new, one, two]);
    stage.accepts(GREEN);
    stage.auto("commit").ok();
    stage.hand_in_refused("finalize", &part(), MISSING, &[new, one, two]);
    stage.refused("finalize --results passed:4,failed:0", MISSING, &[]);
    let end = stage.report("finalize").ok();
    assert_eq!(end["nextAction"]["status"], "completed", "{end}");
}

#[test]
fn tests_that_are_obsolete_are_announced() {
    for (when, removed) in [
        (RED, "words test_two"),
        (RED, "words test_t*"),
        (GREEN, "words test_two"),
    ] {
        let stage = Stage::started("");
        let report = |phase: &str| {
            let report = stage.suite();
            let mut words = vec!["autopilot"];
            words.extend(phase.split(' '));
            words.extend(["--report", report.to_str().unwrap()]);
            if phase == when {
                words.extend(["--removed", removed]);
            }
            stage.tm(&words).ok();
        };
        stage.write(WORDS, "test_one() { test \"$(words one)\" = 1; }\n");
        stage.test("spaces");
        report(RED);
        stage.code("spaces");
        if when == GREEN {
            stage.report_refused(GREEN, MISSING, &["words test_two"]);
        }
        report(GREEN);
        stage.auto("commit").ok();
        // From here on it is owed by nobody.
        stage.subtask("tabs");
        stage.report("finalize").ok();
        let journal = String::from_utf8(stage.journal()).unwrap();
        let told = format!(r#""removed":["{removed}"]"#);
        assert!(journal.contains(&told), "{when}");
    }
}

/// Writes a report anew, with this done to its text.
fn edited(report: PathBuf, edit: impl FnOnce(String) -> String) -> PathBuf {
    let text = fs::read_to_string(&report).unwrap();
    fs::write(&report, edit(text)).unwrap();
    report
}

#[test]
fn the_names_of_another_format_are_found_again() {
    let stage = Stage::coded();
    // Others than those of the same tests.
    let others = edited(stage.junit(), |xml| xml.replace("name=\"", "name=\"no "));
    stage.hand_in_refused(GREEN, &others, MISSING, &["tap", "junit"]);
    // One that passed in RED is gone, by whatever name.
    let fewer = edited(stage.junit(), |xml| {
        let mut cases: Vec<&str> = xml.lines().collect();
        let gone = cases.iter().position(|line| line.contains("></testcase>"));
        cases.remove(gone.unwrap());
        cases.join("\n").replace("tests=\"3\"", "tests=\"2\"")
    });
    stage.hand_in_refused(GREEN, &fewer, MISSING, &["missing"]);
    stage.takes(GREEN, &stage.junit());
    // Who reports in the other one from RED on is asked for nothing else.
    stage.reopen();
    stage.auto("reopen --reason again").ok();
    stage.delete(CODE);
    stage.hand_in(RED, &stage.junit()).ok();
    stage.code("spaces");
    stage.takes(GREEN, &stage.junit());
}

#[test]
fn skipped_before_and_still() {
    let odd = "test_odd() { return 77; }\ntest_todo() { return 78; }\n";
    let stage = Stage::with("", &[("tests/odd_test.sh", odd)]);
    stage.start();
    stage.subtask("spaces");
    stage.subtask("tabs");
    stage.report("finalize").ok();
}

/// A test that fails at its first try, and leaves there what the second one finds.
pub fn flaky_test(there: &Path) -> String {
    let there = there.display();
    format!("test_again() {{ test -f '{there}' || {{ : >'{there}'; false; }}; }}\n")
}

#[test]
fn flaky_tests_are_named() {
    for (settings, refused) in [
        ("", false),
        (r#""evidence": {"flaky": "warn"}"#, false),
        (r#""evidence": {"flaky": "refuse"}"#, true),
    ] {
        let stage = Stage::new(settings);
        let again = stage.outside("again");
        stage.write("tests/again_test.sh", flaky_test(&again));
        stage.commit_all("A test that fails now and then");
        fs::write(&again, "").unwrap();
        stage.start_with(&stage.junit());
        stage.test("spaces");
        stage.takes(RED, &stage.junit());
        stage.code("spaces");
        fs::remove_file(&again).unwrap();
        let report = stage.junit();
        if refused {
            stage.hand_in_refused(GREEN, &report, "flaky", &["again::test_again"]);
            stage.takes(GREEN, &stage.junit());
        } else {
            let answer = stage.hand_in(GREEN, &report).ok();
            let warning = answer["warning"].to_string();
            assert!(warning.contains("test_again"), "{answer}");
            let journal = String::from_utf8(stage.journal()).unwrap();
            assert!(journal.contains("\"flakyTests\":[\"again"), "{journal}");
        }
    }
}

#[test]
fn names_in_odd_shapes() {
    const NAMES: [&str; 5] = [
        "ünïcode ✓ 日本",
        "quotes \" ' `",
        "<b>&amp;</b>",
        "a * b > c",
        "--removed",
    ];
    let stage = Stage::new("");
    stage.auto("start 1").ok();
    stage.test("spaces");
    let with = |how: &str, count: usize| {
        let lines = NAMES[..count].iter().map(|name| format!("{how}: {name}"));
        let lines: Vec<String> = lines.collect();
        written(
            &stage,
            &lines.iter().map(String::as_str).collect::<Vec<_>>(),
        )
    };
    stage.hand_in(RED, &with("not ok", 5)).ok();
    stage.code("spaces");
    stage.hand_in_refused(GREEN, &with("ok", 4), MISSING, &["--removed"]);
    stage.takes(GREEN, &with("ok", 5));
}
