//! Reports, wherever they lie and however they come to be.

use std::fs;
use std::time::{Duration, SystemTime};

use super::work::{Before, SHOP, VERIFIED, Way, Work, age, set_modified};
use super::{go_through, run};

/// The reports of two packages, of which one is worked on.
fn packages(work: &Work, doubled: bool) {
    let failure = if doubled { "" } else { "<failure/>" };
    let cases = format!("<testcase name=\"adds\"/><testcase name=\"doubles\">{failure}</testcase>");
    // Among what else lies there, and what Maven leaves beside its reports.
    work.write("out/notes.txt", "no report\n");
    work.write("out/failsafe-summary.xml", "<failsafe-summary/>\n");
    work.write("out/one.xml", &format!("<testsuite>{cases}</testsuite>\n"));
    second_package(work);
}

fn second_package(work: &Work) {
    let works = "<testsuite><testcase name=\"works\"/></testsuite>\n";
    work.write("out/two.xml", works);
}

const PACKAGES: Before<'static> = SHOP.with(&[(".gitignore", "out/\n")]).without_baseline();

#[test]
fn a_snapshot_is_written_by_the_second_package_after_the_report_of_the_first() {
    let work = PACKAGES.at_red();
    packages(&work, false);
    // A file of it is named, too.
    work.hand_in(&["out/one.xml", "out"]);
    work.red();
    work.code();
    packages(&work, true);
    age(&work.root().join("src/double.sh"), 60);
    let snapshot = "tests/__snapshots__/double.snap";
    work.write(snapshot, "8\n");
    second_package(&work);
    // The file system may tell no two moments apart that are this near.
    let first = fs::metadata(work.root().join("out/one.xml")).unwrap();
    let later = first.modified().unwrap() + Duration::from_millis(30);
    set_modified(&work.root().join(snapshot), later);
    work.hand_in(&["out"]);
    work.warns(&["snapshots_written"]);
    work.green();
    work.commit();
    packages(&work, true);
    work.hand_in(&["out"]);
    work.finalize();
}

/// As an archive, a copy that keeps times, or `cp -p` leaves them; and as a file server whose clock is ahead.
#[test]
fn files_with_times_of_another_age() {
    let earlier = |work: &Work, path: &str| age(&work.root().join(path), 1_000_000_000);
    // A report in a file of this machine is older than they are.
    let later = |work: &Work, path: &str| {
        let later = SystemTime::now() + Duration::from_hours(1);
        set_modified(&work.root().join(path), later);
    };
    go_through([
        run("long ago")
            .red(move |work| earlier(work, "tests/double.test"))
            .green(move |work| earlier(work, "src/double.sh")),
        run("yet to come")
            .by(&[Way::Verified])
            .red(move |work| later(work, "tests/double.test"))
            .green(move |work| later(work, "src/double.sh")),
    ]);
}

/// A checkout has it at the same place.
#[test]
fn the_runner_writes_its_report_where_the_command_is_run_by_tm() {
    let script = "sh run.sh >report.tap\nstatus=$?\necho done\nexit $status\n";
    let files = [("check.sh", script), (".gitignore", "report.tap\n")];
    let before = VERIFIED.with(&files).command("sh check.sh");
    let work = before.without_baseline().at_red();
    work.hand_in(&["report.tap"]);
    work.red();
    work.code();
    work.hand_in(&["report.tap"]);
    let green = work.green();
    assert!(green["warning"].is_null(), "{green:#}");
    work.commit();
    work.hand_in(&["report.tap"]);
    work.finalize();
}

#[test]
fn settings_that_look_like_a_report_are_work() {
    let work = SHOP.at_red();
    work.red();
    work.code();
    let suites =
        "<testsuites><testsuite name=\"all\"><directory>tests</directory></testsuite></testsuites>";
    work.write("suites.xml", &format!("<phpunit>{suites}</phpunit>\n"));
    work.green();
    assert!(work.commit().contains(&"suites.xml".to_owned()));
}
