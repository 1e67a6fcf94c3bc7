//! Suites that are not all of one piece: tests that failed before, are skipped, have odd names, or come more than once.

use serde_json::json;

use super::work::{Before, DOUBLE, DOUBLES, HALVE, HALVES, NO_BEFORE, SHOP, WAYS, Way, Work};

#[test]
fn tests_that_failed_before_go_on_failing() {
    let way = Way::Reported;
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            (
                "tests/add.test",
                "adds: test $(sh src/add.sh 1 2) = 3\nis known: false\nis known, too: false\n",
            ),
        ],
        task: "2",
        ..SHOP
    };
    let work = Work::begin(&before, way);
    work.subtask(
        || work.write("tests/double.test", DOUBLES),
        || work.write("src/double.sh", DOUBLE),
    );
    work.subtask(
        || work.write("tests/halve.test", HALVES),
        || work.write("src/halve.sh", HALVE),
    );
    work.finalize();
}

#[test]
fn a_test_that_failed_before_is_mended_on_the_way() {
    let way = Way::Reported;
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            (
                "tests/add.test",
                "adds: test $(sh src/add.sh 1 2) = 3\nis known: test -f src/double.sh\n",
            ),
        ],
        ..SHOP
    };
    let work = Work::begin(&before, way);
    work.subtask(
        || work.write("tests/double.test", DOUBLES),
        || work.write("src/double.sh", DOUBLE),
    );
    work.finalize();
}

/// What they did before is found out in a checkout, which lies elsewhere.
#[test]
fn tests_may_have_the_folder_in_their_names() {
    let before = Before {
        files: &[
            (
                "before.sh",
                "echo() { printf '%s\\n' \"$*\" | sed \"s|HERE|$PWD|g\"; }\n",
            ),
            ("src/add.sh", "echo $(($1 + $2))\n"),
            (
                "tests/add.test",
                "adds in HERE/x: test $(sh src/add.sh 1 2) = 3\n",
            ),
        ],
        baseline: false,
        ..SHOP
    };
    let work = Work::begin(&before, Way::Verified);
    work.subtask(
        || work.write("tests/double.test", DOUBLES),
        || work.write("src/double.sh", DOUBLE),
    );
    work.finalize();
}

#[test]
fn tests_that_were_skipped_before_stay_skipped() {
    let way = Way::Reported;
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            (
                "tests/add.test",
                "adds: test $(sh src/add.sh 1 2) = 3\non another system: skip\n",
            ),
        ],
        task: "2",
        ..SHOP
    };
    let work = Work::begin(&before, way);
    work.subtask(
        || work.write("tests/double.test", DOUBLES),
        || work.write("src/double.sh", DOUBLE),
    );
    // A test that is skipped from its beginning is no test that was.
    work.subtask(
        || {
            work.write(
                "tests/halve.test",
                &(HALVES.to_owned() + "halves elsewhere: skip\n"),
            );
        },
        || work.write("src/halve.sh", HALVE),
    );
    work.finalize();
}

#[test]
fn a_test_that_was_skipped_before_runs_now() {
    let way = Way::Reported;
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            (
                "tests/add.test",
                "adds: test $(sh src/add.sh 1 2) = 3\ndoubles: skip\n",
            ),
        ],
        ..SHOP
    };
    let work = Work::begin(&before, way);
    work.subtask(
        || work.replace("tests/add.test", "doubles: skip\n", DOUBLES),
        || work.write("src/double.sh", DOUBLE),
    );
    work.finalize();
}

#[test]
fn only_the_new_test_in_red_and_the_whole_suite_in_green() {
    for baseline in [true, false] {
        for way in [Way::Claimed, Way::Reported] {
            let before = Before {
                task: "2",
                baseline,
                ..SHOP
            };
            let work = Work::begin(&before, way);
            for (name, test, code) in [("double", DOUBLES, DOUBLE), ("halve", HALVES, HALVE)] {
                work.write(&format!("tests/{name}.test"), test);
                let partial = work.outside().join("partial.tap");
                std::fs::write(
                    &partial,
                    format!("TAP version 13\nnot ok 1 - {name}s\n1..1\n"),
                )
                .unwrap();
                let red = match way {
                    Way::Claimed => work.tm(&["complete", "red", "--results", "failed:1,passed:0"]),
                    _ => work.tm(&["complete", "red", "--report", partial.to_str().unwrap()]),
                };
                let expected = way == Way::Reported && !baseline && name == "double";
                let warning = red["warning"].as_str();
                assert_eq!(
                    warning.is_some_and(|told| told.starts_with(NO_BEFORE)),
                    expected,
                    "{red:#}"
                );
                assert_eq!(warning.is_some(), expected, "{red:#}");
                work.write(&format!("src/{name}.sh"), code);
                work.green();
                work.commit();
            }
            work.finalize();
        }
    }
}

#[test]
fn parameters_under_one_name() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    work.subtask(
        || {
            let more = "doubles: test $(sh src/double.sh 5) = 10\ndoubles: test $(sh src/double.sh 0) = 0\n";
            work.write("tests/double.test", &(DOUBLES.to_owned() + more));
        },
        || work.write("src/double.sh", DOUBLE),
    );
    work.finalize();
}

#[test]
fn a_case_is_added_to_a_test_that_passes() {
    let way = Way::Reported;
    let before = Before { task: "1", ..SHOP };
    let work = Work::begin(&before, way);
    work.subtask(
        // Of the same name as one that passes.
        || work.append("tests/add.test", "adds: test $(sh src/add.sh 1 2 3) = 6\n"),
        || work.write("src/add.sh", "echo $(($1 + $2 + ${3:-0}))\n"),
    );
    work.finalize();
}

#[test]
fn odd_names() {
    let names = [
        "doubles \"quoted\" and 'so'",
        "doubles ümläut 日本 🦀",
        "doubles $HOME and `code`",
        "doubles with a very long name, longer than anybody would read, longer than anybody would write by hand, on and on and on",
        "doubles * and ? and [a-z]",
        "doubles <b>&amp;</b>",
        "doubles 100% (twice)",
        "- doubles",
        "doubles/with/slashes::and::colons.and.dots",
        "doubles \u{1f1e9}\u{1f1ea} e\u{301}",
    ];
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    work.subtask(
        || {
            let mut lines = String::new();
            for name in names {
                lines += name;
                lines += ": test $(sh src/double.sh 4) = 8\n";
            }
            work.write("tests/a name with spaces & more.test", &lines);
            work.write("tests/näme.test", DOUBLES);
        },
        || work.write("src/double.sh", DOUBLE),
    );
    work.finalize();
}

#[test]
fn tests_in_another_order() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    // A new file of tests, which comes first and moves every number.
    work.write("tests/aaa.test", "is first: true\n");
    work.green();
    work.commit();
    work.finalize();
}

#[test]
fn a_test_of_what_works_already_beside_one_that_fails() {
    for way in WAYS {
        let work = Work::begin(&SHOP, way);
        work.write("tests/double.test", DOUBLES);
        work.append(
            "tests/add.test",
            "adds nothing: test $(sh src/add.sh 0 0) = 0\n",
        );
        work.red();
        work.write("src/double.sh", DOUBLE);
        if way == Way::Verified {
            work.warns(&["these tests pass without this subtask's change, too, and show nothing of it: adds nothing"]);
        }
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn a_test_that_was_there_breaks_in_red_and_is_whole_in_green() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    // It now asks for more.
    work.write("tests/add.test", "adds: test $(sh src/add.sh 1 2 3) = 6\n");
    work.red();
    work.write("src/add.sh", "echo $(($1 + $2 + ${3:-0}))\n");
    work.green();
    work.commit();
    work.finalize();
}

#[test]
fn a_subtask_whose_tests_pass_already_where_that_is_allowed() {
    let way = Way::Reported;
    let before = Before {
        task: "2",
        settings: r#""autopilot": {"redAllPassing": "skip"}"#,
        ..SHOP
    };
    let work = Work::begin(&before, way);
    // The first subtask was done before, but for its test.
    work.write("src/double.sh", DOUBLE);
    work.write("tests/double.test", DOUBLES);
    let (status, answer) = work.report(&["complete", "red"]);
    assert_eq!(
        (status, &answer["nextAction"]["action"]),
        (0, &json!("red")),
        "{answer:#}"
    );
    assert!(answer.get("warning").is_none(), "{answer:#}");
    work.write("tests/halve.test", HALVES);
    // Its code is not committed yet, so it is there in this RED.
    work.warns(&["files other than tests were changed in RED: src/double.sh"]);
    work.red();
    work.write("src/halve.sh", HALVE);
    work.green();
    work.commit();
    work.finalize();
}
