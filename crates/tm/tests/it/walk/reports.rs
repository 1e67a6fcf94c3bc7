//! Reports that say too little, or what cannot be.

use std::path::Path;

use super::walk;
use crate::honest::work::{Before, DOUBLE, DOUBLES, SHOP, Way, Work};

fn to_red(before: &Before<'_>, way: Way) -> Work {
    let work = Work::begin(before, way);
    work.write("tests/double.test", DOUBLES);
    work
}

fn to_green(before: &Before<'_>, way: Way) -> Work {
    let work = to_red(before, way);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work
}

fn to_finalize(way: Way) -> Work {
    let work = to_green(&SHOP, way);
    work.green();
    work.commit();
    work
}

fn end_of(work: &Work) {
    work.commit();
    work.finalize();
}

#[test]
fn no_test_ran() {
    let work = to_red(&SHOP, Way::Claimed);
    walk(
        &work,
        |work| work.ask(&["complete", "red", "--results", "failed:0,passed:0"]),
        "no_tests_ran",
        &[],
    );
}

#[test]
fn all_tests_of_a_report_were_skipped() {
    let work = to_green(&SHOP, Way::Claimed);
    let skipped = "failed:0,passed:0,skipped:2";
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--results", skipped]),
        "no_tests_ran",
        &[],
    );
    end_of(&work);
}

#[test]
fn what_fails_failed_before_too() {
    let before = Before {
        files: &[("tests/add.test", "adds: true\nold: false\n")],
        ..SHOP
    };
    let way = Way::Reported;
    let work = Work::begin(&before, way);
    work.write("tests/double.test", "fine: true\n");
    let deed = |work: &Work| work.write("tests/double.test", DOUBLES);
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "no_new_failure",
        &[("write a test of the new behaviour", deed)],
    );
}

#[test]
fn not_the_whole_suite_is_reported() {
    let work = to_green(&SHOP, Way::Claimed);
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--results", "failed:0,passed:1"]),
        "fewer_tests",
        &[],
    );
    end_of(&work);
}

#[test]
fn as_many_fail_as_failed_before() {
    let before = Before {
        files: &[("tests/add.test", "adds: true\nold: false\n")],
        ..SHOP
    };
    let work = to_green(&before, Way::Verified);
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--results", "failed:1,passed:2"]),
        "unnamed_failures",
        &[],
    );
}

const COVERED: Before<'static> = Before {
    test: r#""patterns": ["**/tests/**"], "coverageThresholds": {"lines": 80}"#,
    ..SHOP
};

#[test]
fn coverage_is_not_reported() {
    let before = Before {
        settings: r#""evidence": {"requireCoverage": true}"#,
        ..COVERED
    };
    let work = to_green(&before, Way::Claimed);
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "coverage_missing",
        &[],
    );
}

#[test]
fn coverage_is_too_low() {
    let work = to_green(&COVERED, Way::Claimed);
    let deed = |work: &Work| work.append("tests/double.test", "# all of it\n");
    walk(
        &work,
        |work| {
            work.ask(&[
                "complete",
                "green",
                "--results",
                "failed:0,passed:2",
                "--coverage",
                "50",
            ])
        },
        "coverage_below_threshold",
        &[("add tests for what is not covered", deed)],
    );
}

#[test]
fn the_suite_fails_at_the_end() {
    let way = Way::Reported;
    let work = to_finalize(way);
    std::fs::create_dir_all(work.outside().join("flag")).unwrap();
    work.write(".git/info/exclude", "before.sh\n");
    work.write(
        "before.sh",
        "test() { [ \"$1\" != 8 ] && command test \"$@\"; }\n",
    );
    let deed = |work: &Work| work.delete("before.sh");
    walk(
        &work,
        |work| work.report(&["finalize"]),
        "suite_failing",
        &[("The full suite fails", deed)],
    );
}

#[test]
fn files_are_left_at_the_end() {
    let way = Way::Reported;
    let work = to_finalize(way);
    work.write("trace.out", "a trace\n");
    let deed = |work: &Work| work.delete("trace.out");
    walk(
        &work,
        |work| work.report(&["finalize"]),
        "changed_after_commit",
        &[("take them away", deed)],
    );
}

#[test]
fn files_are_changed_at_the_end() {
    let way = Way::Reported;
    let work = to_finalize(way);
    work.append("src/double.sh", "# twice\n");
    walk(
        &work,
        |work| work.report(&["finalize"]),
        "changed_after_commit",
        &[],
    );
}

#[test]
fn the_report_is_not_there() {
    for path in ["no.tap", "empty"] {
        let work = to_red(&SHOP, Way::Reported);
        std::fs::create_dir(work.outside().join("empty")).unwrap();
        let path = work.outside().join(path);
        let path = path.to_str().unwrap();
        walk(
            &work,
            |work| work.ask(&["complete", "red", "--report", path]),
            "report_missing",
            &[],
        );
    }
}

#[test]
fn the_report_cannot_be_read() {
    let work = to_red(&SHOP, Way::Reported);
    let path = work.outside().join("notes.txt");
    std::fs::write(&path, "all is well\n").unwrap();
    walk(
        &work,
        |work| work.ask(&["complete", "red", "--report", path.to_str().unwrap()]),
        "report_unreadable",
        &[],
    );
}

#[test]
fn the_command_prints_nothing_of_tests() {
    let work = to_green(&SHOP, Way::Claimed);
    work.write("before.sh", "echo all is well; exit 0\n");
    let deed = |work: &Work| work.delete("before.sh");
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--verify"]),
        "report_unreadable",
        &[("let it print or write a report", deed)],
    );
}

#[test]
fn the_command_fails_though_all_tests_pass() {
    let work = to_green(&SHOP, Way::Verified);
    work.write("before.sh", "trap 'exit 1' EXIT\n");
    let deed = |work: &Work| work.delete("before.sh");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "test_command_failed",
        &[("see why in its output", deed)],
    );
}

#[test]
fn the_command_does_not_write_the_report() {
    let work = to_green(&SHOP, Way::Verified);
    let old = work.printed();
    crate::honest::work::age(Path::new(&old), 3600);
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--verify", "--report", &old]),
        "report_not_written",
        &[],
    );
}

#[test]
fn the_command_takes_too_long() {
    let before = Before {
        settings: r#""autopilot": {"testTimeout": 1000}"#,
        ..SHOP
    };
    let work = to_green(&before, Way::Verified);
    work.write("before.sh", "while :; do :; done\n");
    let deed = |work: &Work| work.delete("before.sh");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "test_timeout",
        &[("find what hangs", deed)],
    );
}

/// Puts a file back so that it shows: times of files go forward in steps, and git may be faster than one.
fn put_back_after(work: &Work, report: &str) {
    let time = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
    let own = work.root().join("src/add.sh");
    loop {
        work.git(&["checkout", "--", "src/add.sh"]);
        if time(&own) > time(Path::new(report)) {
            return;
        }
        work.append("src/add.sh", "# again\n");
    }
}

/// The tests ran on what is not there any more.
#[test]
fn a_report_is_of_a_tree_that_was_put_back() {
    let work = to_green(&SHOP, Way::Reported);
    work.write("src/double.sh", "echo $(($1 * 2))\n");
    work.append("src/add.sh", "# only for this report\n");
    let report = work.printed();
    put_back_after(&work, &report);
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--report", &report]),
        "stale_report",
        &[],
    );
    work.commit();
    work.append("src/add.sh", "# once more\n");
    let report = work.printed();
    put_back_after(&work, &report);
    walk(
        &work,
        |work| work.ask(&["finalize", "--report", &report]),
        "stale_report",
        &[],
    );
}
