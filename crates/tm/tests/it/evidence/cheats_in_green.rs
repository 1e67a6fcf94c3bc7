//! Cheats in GREEN: the tests made to pass, taken away, or not run.

use std::fs;

use super::cheats_in_red::executable;
use super::stage::{NEW_CODE, NEW_TESTS, Stage, accepted};
use crate::rails::terminal::agreed;

/// What somebody does to the tests instead of the code.
type Cheat = (&'static str, fn(&Stage), &'static [&'static str]);

const CHEATS: &[Cheat] = &[
    (
        "made to pass",
        |stage| {
            stage
                .env
                .write("tests/spaces_test.sh", "test_spaces() { true; }\n");
        },
        &["tests/spaces_test.sh (changed)"],
    ),
    (
        "emptied",
        |stage| stage.env.write("tests/spaces_test.sh", ""),
        &["tests/spaces_test.sh (changed)"],
    ),
    (
        "skipped",
        |stage| {
            stage
                .env
                .write("tests/spaces_test.sh", "test_spaces() { return 77; }\n");
        },
        &["tests/spaces_test.sh (changed)"],
    ),
    (
        "deleted",
        |stage| fs::remove_file(stage.path("tests/spaces_test.sh")).unwrap(),
        &["tests/spaces_test.sh (deleted or renamed)"],
    ),
    (
        "renamed",
        |stage| {
            let to = stage.path("tests/spaces.sh.later");
            fs::rename(stage.path("tests/spaces_test.sh"), to).unwrap();
        },
        &["tests/spaces_test.sh (deleted or renamed)"],
    ),
    (
        "an old one changed",
        |stage| {
            stage
                .env
                .write("tests/words_test.sh", "test_one() { true; }\n");
        },
        &["tests/words_test.sh (changed)"],
    ),
    (
        "an old one deleted",
        |stage| fs::remove_file(stage.path("tests/words_test.sh")).unwrap(),
        &["tests/words_test.sh (deleted)"],
    ),
    (
        "several",
        |stage| {
            stage
                .env
                .write("tests/words_test.sh", "test_one() { true; }\n");
            fs::remove_file(stage.path("tests/spaces_test.sh")).unwrap();
        },
        &["tests/spaces_test.sh", "tests/words_test.sh"],
    ),
];

#[test]
fn tests_are_not_made_to_pass() {
    for (name, cheat, files) in CHEATS {
        let stage = Stage::in_green();
        stage.env.write("src/spaces.sh", NEW_CODE);
        cheat(&stage);
        let words = "complete green";
        let answer = stage.report_refused(words, "tests_changed", files, "tm autopilot reopen");
        let listed = answer.json()["details"]["files"].as_array();
        assert_eq!(
            listed.map(Vec::len),
            Some(files.len()),
            "{name}: {answer:#?}"
        );
        // A claim does not get past it either.
        let claim = [
            "autopilot",
            "complete",
            "green",
            "--results",
            "passed:9,failed:0",
        ];
        stage.refused(&claim, "tests_changed", files, "tm autopilot reopen");
        // Put back, it is accepted.
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        stage.env.git(&["reset", "--quiet"]);
        stage
            .env
            .git(&["checkout", "--quiet", "--", "tests/words_test.sh"]);
        accepted(stage.report("complete green").ok());
    }
}

/// Where tests have names, a file may have another one; what is in it has to be run as before.
#[test]
fn tests_are_not_renamed_out_of_the_way() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage
        .env
        .git(&["mv", "tests/words_test.sh", "tests/words.sh"]);
    let missing = ["missing: words test_one"];
    stage.report_refused(
        "complete green",
        "tests_missing",
        &missing,
        "bring them back",
    );
    let claim = [
        "autopilot",
        "complete",
        "green",
        "--results",
        "passed:3,failed:0",
    ];
    let files = ["tests/words_test.sh (renamed)"];
    stage.refused(&claim, "tests_changed", &files, "tm autopilot reopen");
    stage
        .env
        .git(&["mv", "tests/words.sh", "tests/words_test.sh"]);
    accepted(stage.report("complete green").ok());
    stage.env.auto("commit").ok();
}

#[test]
fn tests_are_not_hidden_from_git() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let ignored = stage.env.read(".gitignore");
    stage
        .env
        .write(".gitignore", format!("{ignored}tests/spaces_test.sh\n"));
    let words = "complete green";
    let files = &["tests/spaces_test.sh (git ignores it now)"];
    stage.report_refused(words, "tests_changed", files, "tm autopilot reopen");
    // What else is ignored is nobody's business; and who has committed the test already has not hidden it.
    stage.env.write(".gitignore", format!("{ignored}*.bak\n"));
    stage.env.write("tests/words_test.sh.bak", "\n");
    accepted(stage.report(words).ok());
    stage.env.auto("commit").ok();
    stage.env.write(
        "tests/tabs_test.sh",
        "test_tabs() { test \"$(tabs)\" = tabs; }\n",
    );
    accepted(stage.report("complete red").ok());
    stage.env.commit_all("The test");
    stage.env.write("src/tabs.sh", "tabs() { echo tabs; }\n");
    accepted(stage.report(words).ok());
    stage.env.commit_all("And the code");
    stage.env.auto("commit --sha HEAD").ok();
}

#[test]
fn a_commit_hides_no_change_of_tests() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let old = stage.env.read("tests/words_test.sh");
    stage.env.write(
        "tests/words_test.sh",
        "test_one() { :; }\ntest_two() { :; }\n",
    );
    stage
        .env
        .write("tests/more_test.sh", "test_more() { :; }\n");
    stage.env.commit_all("Tests and code");
    let words = "complete green";
    let files = &["tests/words_test.sh (changed)"];
    let answer = stage.report_refused(words, "tests_changed", files, "tm autopilot reopen");
    assert!(!answer.message().contains("more_test"), "{answer:#?}");
    stage.env.write("tests/words_test.sh", old);
    accepted(stage.report(words).ok());
}

#[test]
fn a_wrong_test_is_mended_in_red() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let other = "test_spaces() { test \"$(spaces a b c)\" = 2; }\n";
    stage.env.write("tests/spaces_test.sh", other);
    stage.report_refused(
        "complete green",
        "tests_changed",
        &["tests/spaces_test.sh"],
        "tm autopilot reopen",
    );
    stage.reopen();
    fs::remove_file(stage.path("src/spaces.sh")).unwrap();
    accepted(stage.report("complete red").ok());
    stage.env.write("src/spaces.sh", NEW_CODE);
    accepted(stage.report("complete green").ok());
    stage.env.auto("commit").ok();
}

#[test]
fn a_person_lets_a_changed_test_pass() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage.env.write(
        "tests/words_test.sh",
        "test_one() { true; }\ntest_two() { true; }\n",
    );
    let words = "complete green";
    stage.report_refused(words, "tests_changed", &["words_test"], "reopen");
    stage.allow("tests_changed");
    let answer = stage.report(words).ok();
    let warning = answer["warning"].as_str().unwrap();
    assert!(warning.contains("tests/words_test.sh"), "{answer}");
}

#[test]
fn what_is_no_change_of_the_tests() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage.env.write(
        "tests/more_test.sh",
        "test_more() { test \"$(words)\" = 0; }\n",
    );
    stage.env.write("tests/fixtures/three.txt", "a b c\n");
    stage.env.write("tests/output/words.txt", "1\n");
    executable(&stage, "tests/spaces_test.sh");
    executable(&stage, "tests/words_test.sh");
    accepted(stage.report("complete green").ok());
    stage.env.auto("commit").ok();
}

#[test]
fn fewer_tests_are_counted() {
    for (results, names) in [
        ("passed:2,failed:0", ["2 tests", "3 were there"]),
        ("passed:1,failed:0,skipped:2", ["1 test ran", "2 skipped"]),
    ] {
        let stage = Stage::new("");
        stage.env.auto("start 1").ok();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        stage
            .env
            .auto("complete red --results failed:1,passed:2")
            .ok();
        stage.env.write("src/spaces.sh", NEW_CODE);
        let green = ["autopilot", "complete", "green", "--results", results];
        stage.refused(&green, "fewer_tests", &names, "tm autopilot reopen");
        let honest = "complete green --results passed:3,failed:0";
        accepted(stage.env.auto(honest).ok());
    }
    let stage = Stage::new("");
    stage.env.auto("start 1").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    stage.env.auto("complete red --results failed:3").ok();
    let all = [
        "autopilot",
        "complete",
        "green",
        "--results",
        "passed:0,skipped:3",
    ];
    stage.refused(
        &all,
        "no_tests_ran",
        &["all 3 were skipped"],
        "run the tests",
    );
}

#[test]
fn the_suite_is_not_made_smaller_behind_the_tests() {
    // The files of tests are as they were; what is new leaves some of them out.
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let out = |status: u32| format!("[ \"$2\" != test_spaces ] || exit {status}\n");
    stage.env.write("src/zz.sh", out(77));
    stage.report_refused(
        "complete green",
        "tests_missing",
        &["skipped: spaces test_spaces"],
        "bring them back",
    );
    stage.env.write("src/zz.sh", out(78));
    stage.report_refused(
        "complete green",
        "tests_missing",
        &["spaces test_spaces"],
        "bring them back",
    );
    fs::remove_file(stage.path("src/zz.sh")).unwrap();
    accepted(stage.report("complete green").ok());
}

#[test]
fn stuck_after_three_alike() {
    let stage = Stage::in_green_with(r#""autopilot": {"maxGreenAttempts": 9}"#);
    for attempt in 1..=2 {
        let answer = stage.report("complete green");
        assert_eq!(
            answer.code(),
            "green_tests_still_failing",
            "{attempt}: {answer:#?}"
        );
    }
    let answer = stage.report("complete green");
    assert_eq!((answer.code(), answer.status), ("stuck", 3), "{answer:#?}");
    assert!(
        answer.message().contains("spaces test_spaces"),
        "{answer:#?}"
    );
    assert_eq!(
        answer.json()["nextAction"]["action"],
        "paused",
        "{answer:#?}"
    );
    assert_eq!(answer.json()["nextAction"]["pausedReason"], "stuck");
    assert!(
        answer.suggestion().contains("tm autopilot resume"),
        "{answer:#?}"
    );
    let paused = stage.env.auto("complete green --results passed:3,failed:0");
    assert_eq!((paused.code(), paused.status), ("paused", 5), "{paused:#?}");
    let (status, shown) = agreed(&stage.env, &["autopilot", "resume"]);
    assert_eq!(status, 0, "{shown}");
    stage.green();

    // Of what failed before nobody is asked why.
    let stage = Stage::new("");
    let old = "test_old() { false; }\n";
    stage.env.write("tests/old_test.sh", old);
    stage.env.commit_all("A test that fails");
    stage.start();
    stage.red();
    for _ in 1..=2 {
        stage.report("complete green");
    }
    let answer = stage.report("complete green");
    assert_eq!(answer.code(), "stuck", "{answer:#?}");
    assert!(
        answer.message().contains("the same 1 test failed 3 times"),
        "{answer:#?}"
    );
    assert!(!answer.message().contains("test_old"), "{answer:#?}");

    // Who gets on is not stuck, however often it takes.
    let stage = Stage::in_green_with(r#""autopilot": {"maxGreenAttempts": 9}"#);
    for attempt in 1..=5 {
        let failing = format!("words() {{ test $# = {} && echo $#; }}\n", attempt % 2 + 1);
        stage.env.write("src/words.sh", failing);
        let answer = stage.report("complete green");
        assert_eq!(
            answer.code(),
            "green_tests_still_failing",
            "{attempt}: {answer:#?}"
        );
    }
    stage.env.write("src/words.sh", "words() { echo $#; }\n");
    stage.green();
}
