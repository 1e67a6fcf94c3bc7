//! Back, aside, and on again.

use super::work::{BY_NAME, Before, DOUBLE, DOUBLES, HALVE, HALVES, SHOP, WAYS, Work};

#[test]
fn a_test_that_was_wrong_is_mended_after_reopen() {
    for way in WAYS {
        let work = Work::begin(&SHOP, way);
        work.write(
            "tests/double.test",
            "doubles: test $(sh src/double.sh 4) = 9\n",
        );
        work.red();
        work.write("src/double.sh", DOUBLE);
        let (status, answer) = work.report(&["complete", "green"]);
        assert_eq!(
            (status, answer["code"].as_str()),
            (3, Some("green_tests_still_failing"))
        );
        work.reopen("red");
        // What was written in GREEN is still there; as long as it makes the right test pass, there is no RED.
        work.delete("src/double.sh");
        work.write("tests/double.test", DOUBLES);
        work.red();
        work.write("src/double.sh", DOUBLE);
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn a_formatter_finds_all_in_its_form() {
    for way in WAYS {
        let work = Work::begin_with(&SHOP, way, |work| {
            work.write(
                ".git/hooks/pre-commit",
                "#!/bin/sh\nfor file in $(git diff --cached --name-only); do\n  sed -i -e 's/ *$//' \"$file\"; git add \"$file\"\ndone\n",
            );
            work.runs("chmod +x .git/hooks/pre-commit");
        });
        work.subtask(
            || work.write("tests/double.test", DOUBLES),
            || work.write("src/double.sh", DOUBLE),
        );
        work.finalize();
    }
}

#[test]
fn a_test_that_was_missing_is_written_after_reopen() {
    for way in WAYS {
        let work = Work::begin(&SHOP, way);
        work.write("tests/double.test", DOUBLES);
        work.red();
        work.write("src/double.sh", DOUBLE);
        work.reopen("red");
        work.append(
            "tests/double.test",
            "doubles nothing: test $(sh src/double.sh) = 0\n",
        );
        work.warns(&["files other than tests were changed in RED: src/double.sh"]);
        work.red();
        work.write("src/double.sh", "echo $((${1:-0} * 2))\n");
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn green_is_tidied_after_reopen() {
    for way in WAYS {
        let work = Work::begin(&SHOP, way);
        work.write("tests/double.test", DOUBLES);
        work.red();
        work.write("src/double.sh", DOUBLE);
        work.green();
        work.reopen("green");
        work.append("src/double.sh", "# tidy\n");
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn several_attempts_that_fail_otherwise_each_time() {
    for way in WAYS {
        let work = Work::begin(&SHOP, way);
        work.write(
            "tests/double.test",
            &(DOUBLES.to_owned() + "doubles more: test $(sh src/double.sh 5) = 10\n"),
        );
        work.red();
        for code in ["echo 10\n", "echo 8\n"] {
            work.write("src/double.sh", code);
            let (_, answer) = work.report(&["complete", "green"]);
            assert_eq!(answer["code"], "green_tests_still_failing", "{answer:#}");
            assert!(answer.get("warning").is_none(), "{answer:#}");
        }
        work.write("src/double.sh", DOUBLE);
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn a_subtask_that_is_skipped_and_the_next_one() {
    for way in WAYS {
        let before = Before { task: "3", ..SHOP };
        let work = Work::begin(&before, way);
        work.write("tests/double.test", DOUBLES);
        work.red();
        work.write("src/double.sh", "echo 7\n");
        work.tm(&["skip", "--reason", "too hard"]);
        // What it left is cleared away.
        work.delete("tests/double.test");
        work.delete("src/double.sh");
        work.subtask(
            || work.write("tests/halve.test", HALVES),
            || work.write("src/halve.sh", HALVE),
        );
        let answer = work.report(&["finalize"]).1;
        assert_eq!(answer["validated"], true, "{answer:#}");
        assert!(answer.get("warning").is_none(), "{answer:#}");
        assert_eq!(answer["nextAction"]["status"], "failed", "{answer:#}");
    }
}

#[test]
fn the_next_subtask_takes_on_what_was_left() {
    for way in WAYS {
        let before = Before { task: "3", ..SHOP };
        let work = Work::begin(&before, way);
        work.write("tests/double.test", DOUBLES);
        work.red();
        work.tm(&["skip", "--reason", "belongs to the next one"]);
        work.write("tests/double.test", &(DOUBLES.to_owned() + HALVES));
        work.red();
        work.write("src/double.sh", DOUBLE);
        work.write("src/halve.sh", HALVE);
        work.green();
        work.commit();
        let answer = work.report(&["finalize"]).1;
        assert_eq!(answer["validated"], true, "{answer:#}");
    }
}

/// A project where a test fails as long as a file outside of the project is there.
fn fragile(way: super::work::Way) -> Work {
    let work = Work::begin(&SHOP, way);
    work.subtask(
        || {
            work.write(
                "tests/double.test",
                "doubles: test $(sh src/double.sh 4) = 8\ndoubles there: test ! -f ../home/winter || grep -q mended src/double.sh\nis new: test -f src/double.sh\n",
            );
        },
        || {
            if way == super::work::Way::Verified {
                work.warns(&["these tests pass without this subtask's change, too, and show nothing of it: doubles there"]);
            }
            work.write("src/double.sh", DOUBLE);
        },
    );
    std::fs::write(work.outside().join("winter"), "").unwrap();
    let (status, answer) = work.report(&["finalize"]);
    assert_eq!(
        (status, answer["code"].as_str()),
        (3, Some("suite_failing")),
        "{answer:#}"
    );
    assert_eq!(answer["nextAction"]["action"], "green", "{answer:#}");
    work
}

#[test]
fn a_repair_at_the_end() {
    for way in WAYS {
        let work = fragile(way);
        work.append("src/double.sh", "# mended\n");
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn a_repair_mends_the_test_itself() {
    for way in WAYS {
        let work = fragile(way);
        work.replace(
            "tests/double.test",
            "! -f ../home/winter ||",
            "-f ../home/winter ||",
        );
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn a_repair_that_somebody_opens() {
    for way in WAYS {
        let work = Work::begin(&SHOP, way);
        work.subtask(
            || work.write("tests/double.test", DOUBLES),
            || work.write("src/double.sh", DOUBLE),
        );
        work.reopen("green");
        work.append("src/double.sh", "# tidy\n");
        work.append(
            "tests/double.test",
            "doubles more: test $(sh src/double.sh 5) = 10\n",
        );
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn a_pause_in_between() {
    for way in WAYS {
        let work = Work::begin(&SHOP, way);
        work.write("tests/double.test", DOUBLES);
        work.red();
        work.tm(&["pause"]);
        work.write("src/double.sh", DOUBLE);
        work.tm(&["resume"]);
        work.green();
        work.commit();
        work.tm(&["pause"]);
        work.tm(&["resume"]);
        work.finalize();
    }
}

#[test]
fn a_commit_that_the_executor_made() {
    for way in WAYS {
        let work = Work::begin(&SHOP, way);
        work.write("tests/double.test", DOUBLES);
        work.red();
        work.write("src/double.sh", DOUBLE);
        work.green();
        work.git(&["add", "--all"]);
        work.git(&["commit", "--quiet", "--message", "Double"]);
        let answer = work.tm(&["commit", "--sha", "HEAD"]);
        assert!(answer.get("warning").is_none(), "{answer:#}");
        work.finalize();
    }
}

#[test]
fn the_same_report_again_is_answered_as_before() {
    for way in BY_NAME {
        let work = Work::begin(&SHOP, way);
        work.write("tests/double.test", DOUBLES);
        let report = work.printed();
        let call = ["complete", "red", "--report", &report];
        let first = work.tm(&call);
        let again = work.tm(&call);
        assert_eq!(first["message"], again["message"]);
        work.write("src/double.sh", DOUBLE);
        work.green();
        work.commit();
        work.finalize();
    }
}
