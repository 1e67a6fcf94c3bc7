//! The ledger: tests by their names, from one report to the next.

use std::fs;

use super::stage::{NEW_CODE, NEW_TESTS, Stage, accepted, with_report};

const TAP: &str = "TAP version 14\n";

/// A report of these lines, which nobody has run: for runners that this machine has not.
fn written(stage: &Stage, lines: &[&str]) -> std::path::PathBuf {
    let path = stage.next_report();
    let cases: Vec<String> = lines
        .iter()
        .enumerate()
        .map(|(at, line)| {
            let (how, name) = line.split_once(": ").unwrap();
            format!("{how} {} - {name}\n", at + 1)
        })
        .collect();
    let cases = cases.concat();
    fs::write(&path, format!("{TAP}{cases}1..{}\n", lines.len())).unwrap();
    path
}

#[test]
fn tests_do_not_go_missing_by_name() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    for (lines, names) in [
        (
            // As many as there were, under other names.
            &[
                "ok: words test_one",
                "ok: words test_other",
                "ok: spaces test_spaces",
            ][..],
            "missing: words test_two",
        ),
        (
            &[
                "ok: words test_one",
                "ok: words test_two",
                "ok: spaces test_other",
            ],
            "missing: spaces test_spaces",
        ),
        (
            &[
                "ok: words test_one",
                "ok: words test_two # SKIP",
                "ok: spaces test_spaces",
            ],
            "skipped: words test_two",
        ),
        (
            &[
                "ok: words test_one",
                "ok: words test_two",
                "not ok: spaces test_spaces # TODO",
            ],
            "expected to fail: spaces test_spaces",
        ),
    ] {
        let report = written(&stage, lines);
        let words = with_report("complete green", &report);
        let answer = stage.refused(&words, "tests_missing", &[names], "bring them back");
        let (_, name) = names.split_once(": ").unwrap();
        assert_eq!(answer.json()["details"]["tests"][0], name, "{answer:#?}");
        // To call it removed excuses nothing that RED had.
        let mut words = words;
        words.extend(["--removed", name, "--removed", "*"]);
        stage.refused(&words, "tests_missing", &[names], "bring them back");
    }
    accepted(stage.report("complete green").ok());
}

/// Two tests of one name are two: what breaks one of them does not hide behind the other, which was broken before.
#[test]
fn tests_of_one_name_are_counted_one_by_one() {
    let stage = Stage::new("");
    let old = ["ok: words test_one", "ok: twin", "not ok: twin"];
    let before = written(&stage, &old);
    let before = before.to_str().unwrap();
    let start = ["autopilot", "start", "1", "--baseline-report", before];
    stage.env.tm(&start).ok();
    let with = |new: &[&str]| written(&stage, &[&old[..1], new].concat());
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let (one, fails) = ("ok: words test_one", "not ok: words test_one");
    let red = with(&["ok: twin", "not ok: twin", fails]);
    let told = accepted(stage.hand_in("complete red", &red).ok());
    let message = "RED accepted: 1 newly failing, 1 failing as before, 2 passing";
    assert_eq!(told["message"], message, "{told:#}");
    stage.env.write("src/spaces.sh", NEW_CODE);
    for (green, failing) in [
        (["not ok: twin", "not ok: twin", one], "(twin)"),
        (["ok: twin", "not ok: twin", fails], "(words test_one (2))"),
    ] {
        let told = stage.hand_in("complete green", &with(&green));
        assert_eq!(told.code(), "green_tests_still_failing", "{told:#?}");
        let message = format!("1 test still fails {failing}");
        assert!(told.message().contains(&message), "{told:#?}");
    }
    let green = with(&["not ok: twin", "ok: twin", one]);
    accepted(stage.hand_in("complete green", &green).ok());
}

/// A test that RED's report names, and that is not there, is owed until RED is reported anew.
#[test]
fn a_test_that_red_named_and_is_not_there_leads_back() {
    let stage = Stage::started();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let old = ["ok: words test_one", "ok: words test_two"];
    let with = |new: &[&str]| written(&stage, &[&old[..], new].concat());
    let red = with(&["not ok: spaces test_spaces", "not ok: phantom"]);
    accepted(stage.hand_in("complete red", &red).ok());
    stage.env.write("src/spaces.sh", NEW_CODE);
    let green = with(&["ok: spaces test_spaces"]);
    let words = with_report("complete green", &green);
    stage.refused(&words, "tests_missing", &["phantom"], "reopen --reason");
    stage.reopen();
    fs::remove_file(stage.path("src/spaces.sh")).unwrap();
    accepted(stage.report("complete red").ok());
    stage.env.write("src/spaces.sh", NEW_CODE);
    accepted(stage.report("complete green").ok());
}

/// Parameters such as times, addresses and random numbers are named anew in each run.
#[test]
fn cases_whose_names_differ_in_each_run_are_the_same() {
    let stage = Stage::started();
    let lines = |how: &str, run: usize| -> Vec<String> {
        let name = ["", "Ann", "Bob", "Cid"][run];
        vec![
            "ok: words test_one".to_owned(),
            "ok: words test_two".to_owned(),
            format!("ok: a.py::test_old[{run}]"),
            "ok: a.py::test_two[one]".to_owned(),
            "ok: a.py::test_two[two]".to_owned(),
            format!("ok: suite takes {run}7ms"),
            format!("ok: suite knows {name}"),
            format!("{how}: b.py::test_new[{run}]"),
        ]
    };
    let without = |mut lines: Vec<String>, gone: &str| {
        lines.retain(|line| !line.contains(gone));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        written(&stage, &lines)
    };
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let red = without(lines("not ok", 1), "none");
    let mut words = with_report("complete red", &red);
    words.extend(["--removed", "suite knows *"]);
    accepted(stage.env.tm(&words).ok());
    stage.env.write("src/spaces.sh", NEW_CODE);
    for (gone, missing) in [
        ("test_old", "missing: a.py::test_old[1]"),
        ("test_new", "missing: b.py::test_new[1]"),
        ("takes", "missing: suite takes 17ms"),
        // RED still ran it, so that one that begins so is owed.
        ("knows", "missing: suite knows Ann"),
        (
            "::test_two",
            "missing: a.py::test_two[one], a.py::test_two[two]",
        ),
    ] {
        let part = without(lines("ok", 2), gone);
        let words = with_report("complete green", &part);
        stage.refused(&words, "tests_missing", &[missing], "bring them back");
    }
    // One case fewer of a function is reported.
    let fewer = without(lines("ok", 2), "test_two[two]");
    let answer = stage.hand_in("complete green", &fewer).ok();
    let warning = answer["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("a.py::test_two[two]"), "{answer}");
}

#[test]
fn a_part_of_the_suite_is_not_the_suite() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let part = written(&stage, &["ok: spaces test_spaces"]);
    stage.refused(
        &with_report("complete green", &part),
        "tests_missing",
        &["words test_one", "words test_two"],
        "report the whole suite",
    );
    accepted(stage.report("complete green").ok());
    stage.env.auto("commit").ok();
    // In RED the new test alone will do.
    stage.env.write(
        "tests/tabs_test.sh",
        "test_tabs() { test \"$(tabs)\" = tabs; }\n",
    );
    let part = written(&stage, &["not ok: tabs test_tabs"]);
    accepted(stage.hand_in("complete red", &part).ok());
    stage.env.write("src/tabs.sh", "tabs() { echo tabs; }\n");
    let part = written(&stage, &["ok: tabs test_tabs"]);
    stage.refused(
        &with_report("complete green", &part),
        "tests_missing",
        &["spaces test_spaces", "words test_one", "words test_two"],
        "report the whole suite",
    );
    accepted(stage.report("complete green").ok());
    stage.env.auto("commit").ok();
    let part = written(&stage, &["ok: tabs test_tabs"]);
    stage.refused(
        &with_report("finalize", &part),
        "tests_missing",
        &["spaces test_spaces", "words test_one", "words test_two"],
        "report the whole suite",
    );
    let end = stage.report("finalize").ok();
    assert_eq!(end["nextAction"]["status"], "completed", "{end}");
}

#[test]
fn tests_that_are_obsolete_are_announced() {
    for (when, removed) in [
        ("red", "words test_two"),
        ("red", "words test_t*"),
        ("green", "words test_two"),
    ] {
        let stage = Stage::started();
        stage.env.write(
            "tests/words_test.sh",
            "test_one() { test \"$(words one)\" = 1; }\n",
        );
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        let report = stage.suite();
        let mut words = with_report("complete red", &report);
        if when == "red" {
            words.extend(["--removed", removed]);
        }
        accepted(stage.env.tm(&words).ok());
        stage.env.write("src/spaces.sh", NEW_CODE);
        if when == "green" {
            let words = "complete green";
            stage.report_refused(words, "tests_missing", &["words test_two"], "--removed");
        }
        let report = stage.suite();
        let mut words = with_report("complete green", &report);
        if when == "green" {
            words.extend(["--removed", removed]);
        }
        accepted(stage.env.tm(&words).ok());
        stage.env.auto("commit").ok();
        // From here on it is owed by nobody.
        stage.subtask("tabs");
        stage.report("finalize").ok();
        let journal = String::from_utf8(stage.env.journal()).unwrap();
        assert!(
            journal.contains(&format!(r#""removed":["{removed}"]"#)),
            "{when}"
        );
    }
}

#[test]
fn numbers_after_names() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let claim = [
        "autopilot",
        "complete",
        "green",
        "--results",
        "passed:3,failed:0",
    ];
    stage.refused(
        &claim,
        "tests_missing",
        &["only numbers", "tap"],
        "--report",
    );
    accepted(stage.report("complete green").ok());
    stage.env.auto("commit").ok();
    stage.subtask("tabs");
    let claim = ["autopilot", "finalize", "--results", "passed:4,failed:0"];
    stage.refused(&claim, "tests_missing", &["only numbers"], "--report");
    stage.report("finalize").ok();
}

#[test]
fn another_format_in_green() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let xml = stage.junit();
    // Others than those of the same tests.
    let others = fs::read_to_string(&xml)
        .unwrap()
        .replace("name=\"", "name=\"no ");
    fs::write(&xml, others).unwrap();
    stage.refused(
        &with_report("complete green", &xml),
        "tests_missing",
        &["tap", "junit"],
        "tm autopilot reopen",
    );
    stage.reopen();
    fs::remove_file(stage.path("src/spaces.sh")).unwrap();
    let red = stage.hand_in("complete red", &stage.junit()).ok();
    assert_eq!(red["nextAction"]["action"], "green", "{red}");
    stage.env.write("src/spaces.sh", NEW_CODE);
    accepted(stage.hand_in("complete green", &stage.junit()).ok());
    stage.env.auto("commit").ok();
}

#[test]
fn the_names_of_another_format_are_found_again() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    // One that passed in RED is gone, by whatever name.
    let xml = stage.junit();
    let all = fs::read_to_string(&xml).unwrap();
    let mut cases: Vec<&str> = all.lines().collect();
    let gone = cases.iter().position(|line| line.contains("></testcase>"));
    cases.remove(gone.unwrap());
    let fewer = cases.join("\n").replace("tests=\"3\"", "tests=\"2\"");
    let few = stage.junit();
    fs::write(&few, fewer).unwrap();
    stage.refused(
        &with_report("complete green", &few),
        "tests_missing",
        &["missing"],
        "tm autopilot complete",
    );
    accepted(stage.hand_in("complete green", &stage.junit()).ok());
}

#[test]
fn what_fails_again_is_no_known_failure() {
    let stage = Stage::new("");
    stage
        .env
        .write("tests/old_test.sh", "test_old() { old; }\n");
    stage.env.commit_all("A test that fails");
    stage.start();
    stage.red();
    // This subtask mends it on the way.
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage.env.write("src/old.sh", "old() { :; }\n");
    accepted(stage.report("complete green").ok());
    stage.env.auto("commit").ok();
    stage.env.write(
        "tests/tabs_test.sh",
        "test_tabs() { test \"$(tabs)\" = tabs; }\n",
    );
    accepted(stage.report("complete red").ok());
    stage.env.write("src/tabs.sh", "tabs() { echo tabs; }\n");
    fs::remove_file(stage.path("src/old.sh")).unwrap();
    let answer = stage.report("complete green");
    assert_eq!(answer.code(), "green_tests_still_failing", "{answer:#?}");
    stage.env.write("src/old.sh", "old() { :; }\n");
    accepted(stage.report("complete green").ok());
}

#[test]
fn skipped_before_and_still() {
    let stage = Stage::new("");
    stage.env.write(
        "tests/odd_test.sh",
        "test_odd() { return 77; }\ntest_todo() { return 78; }\n",
    );
    stage.env.commit_all("A test that is skipped");
    stage.start();
    stage.red();
    stage.green();
    stage.env.auto("commit").ok();
    stage.subtask("tabs");
    stage.report("finalize").ok();
}

#[test]
fn flaky_tests_are_named() {
    let flaky = |settings: &str| {
        let stage = Stage::new(settings);
        // The second try finds what the first one left.
        let again = stage.outside("again");
        let test = format!(
            "test_again() {{ test -f '{0}' || {{ : >'{0}'; false; }}; }}\n",
            again.display()
        );
        stage.env.write("tests/again_test.sh", test);
        stage.env.commit_all("A test that fails now and then");
        fs::write(&again, "").unwrap();
        let report = stage.junit();
        let report = report.to_str().unwrap();
        let start = ["autopilot", "start", "1", "--baseline-report", report];
        stage.env.tm(&start).ok();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        accepted(stage.hand_in("complete red", &stage.junit()).ok());
        stage.env.write("src/spaces.sh", NEW_CODE);
        fs::remove_file(&again).unwrap();
        (stage, again)
    };
    for (settings, refused) in [
        ("", false),
        (r#""evidence": {"flaky": "warn"}"#, false),
        (r#""evidence": {"flaky": "refuse"}"#, true),
        (r#""evidence": {"policy": {"flaky": "refuse"}}"#, true),
    ] {
        let (stage, _) = flaky(settings);
        let report = stage.junit();
        let words = with_report("complete green", &report);
        if refused {
            stage.refused(&words, "flaky", &["again::test_again"], "mend");
            accepted(stage.hand_in("complete green", &stage.junit()).ok());
        } else {
            let answer = stage.env.tm(&words).ok();
            let warning = answer["warning"].as_str().unwrap();
            assert!(warning.contains("test_again"), "{answer}");
            let journal = String::from_utf8(stage.env.journal()).unwrap();
            assert!(journal.contains("\"flakyTests\":[\"again"), "{journal}");
        }
    }
}

#[test]
fn names_in_odd_shapes() {
    let stage = Stage::new("");
    stage.env.auto("start 1").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let names = [
        "ünïcode ✓ 日本",
        "quotes \" ' `",
        "<b>&amp;</b>",
        "a * b > c",
        "--removed",
    ];
    let with =
        |how: &str| -> Vec<String> { names.iter().map(|name| format!("{how}: {name}")).collect() };
    let failing = with("not ok");
    let failing: Vec<&str> = failing.iter().map(String::as_str).collect();
    stage
        .hand_in("complete red", &written(&stage, &failing))
        .ok();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let passing = with("ok");
    let passing: Vec<&str> = passing.iter().map(String::as_str).collect();
    let report = written(&stage, &passing[..4]);
    let words = with_report("complete green", &report);
    stage.refused(&words, "tests_missing", &["--removed"], "bring them back");
    accepted(
        stage
            .hand_in("complete green", &written(&stage, &passing))
            .ok(),
    );
}
