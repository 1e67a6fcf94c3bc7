//! Reports, wherever they lie and however they come to be.

use std::fs;
use std::time::{Duration, SystemTime};

use super::work::{BY_NAME, Before, SHOP, TWO, WAYS, Way, Work, age, set_modified};
use super::{go_through, run};

/// The runner's text in a file of the project, which is to be handed in.
fn tee(work: &Work, path: &str) {
    let text = work.suite();
    work.write(path, &text);
    work.hand_in(&[path]);
}

#[test]
fn a_report_within_the_project_that_git_does_not_know() {
    for folder in ["", "out/", "tests/"] {
        let path = format!("{folder}report.tap");
        let work = TWO.without_baseline().at_red();
        for first in [true, false] {
            if !first {
                work.second_test();
            }
            tee(&work, &path);
            work.warns(if first { &["no_baseline"] } else { &[] });
            work.red();
            work.code();
            if !first {
                work.second_code();
            }
            tee(&work, &path);
            work.green();
            let files = work.tm(&["commit"])["files"].to_string();
            assert!(!files.contains("report.tap"), "{files}");
            let left = work.git(&["status", "--porcelain", "--untracked-files=all"]);
            assert_eq!(left, format!("?? {path}"));
        }
        tee(&work, &path);
        work.finalize();
    }
}

#[test]
fn a_report_that_is_ignored_and_one_that_is_tracked() {
    for (file, is_tracked) in [
        (("report.tap", "TAP version 13\n"), true),
        ((".gitignore", "report.tap\n"), false),
    ] {
        let work = SHOP.with(&[file]).at_red();
        tee(&work, "report.tap");
        work.red();
        work.code();
        tee(&work, "report.tap");
        work.green();
        let committed = work.commit();
        assert_eq!(committed.contains(&"report.tap".to_owned()), is_tracked);
        work.finalize();
    }
}

fn junit(work: &Work, package: &str, cases: &[(&str, bool)]) {
    let case = |(name, passed): &(&str, bool)| {
        let failure = if *passed {
            ""
        } else {
            "<failure message=\"no\"/>"
        };
        format!(
            "<testcase classname=\"{package}\" name=\"{name}\" time=\"0.1\">{failure}</testcase>"
        )
    };
    let cases: String = cases.iter().map(case).collect();
    let text = format!("<testsuite name=\"{package}\">{cases}</testsuite>\n");
    work.write(&format!("out/{package}.xml"), &text);
}

/// The reports of two packages, of which one is worked on.
fn packages(work: &Work, doubled: bool) {
    junit(work, "one", &[("adds", true), ("doubles", doubled)]);
    junit(work, "two", &[("works", true)]);
}

const PACKAGES: Before<'static> = SHOP.with(&[(".gitignore", "out/\n")]).without_baseline();

#[test]
fn several_packages_as_files_and_as_a_folder() {
    for all in [&["out"][..], &["out/one.xml", "out/two.xml"]] {
        let work = PACKAGES.at_red();
        packages(&work, false);
        work.hand_in(all);
        work.warns(&["no_baseline"]);
        work.red();
        work.code();
        packages(&work, true);
        work.hand_in(all);
        work.green();
        work.commit();
        // Written again, with the very same content.
        packages(&work, true);
        work.hand_in(all);
        work.finalize();
    }
}

#[test]
fn a_snapshot_is_written_by_the_second_package_after_the_report_of_the_first() {
    let work = PACKAGES.at_red();
    packages(&work, false);
    work.hand_in(&["out"]);
    work.warns(&["no_baseline"]);
    work.red();
    work.code();
    packages(&work, true);
    age(&work.root().join("src/double.sh"), 60);
    let snapshot = "tests/__snapshots__/double.snap";
    work.write(snapshot, "8\n");
    junit(&work, "two", &[("works", true)]);
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

#[test]
fn a_report_that_is_handed_in_long_after_it_was_written() {
    let work = SHOP.with_code();
    let report = work.printed();
    // Meanwhile things happen that are no work on what was tested.
    work.runs_well("git status && git add --all && git fetch --quiet .");
    work.tm(&["next"]);
    work.tm(&["status"]);
    fs::write(work.outside().join("note"), "x").unwrap();
    work.write(".git/note", "x");
    work.hand_in(&[&report]);
    work.green();
    work.commit();
    let report = work.printed();
    work.tm(&["next"]);
    work.hand_in(&[&report]);
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
            .by(&BY_NAME)
            .red(move |work| earlier(work, "tests/double.test"))
            .green(move |work| earlier(work, "src/double.sh")),
        run("yet to come")
            .by(&[Way::Claimed, Way::Verified])
            .red(move |work| later(work, "tests/double.test"))
            .green(move |work| later(work, "src/double.sh")),
    ]);
}

/// A checkout has it at the same place.
#[test]
fn the_runner_writes_its_report_where_the_command_is_run_by_tm() {
    let lister = "status=0\necho TAP version 13\nn=0\nfor file in tests/*.test; do n=$((n + 1)); if sh \"$file\"; then echo \"ok $n - $file\"; else echo \"not ok $n - $file\"; status=1; fi; done\necho 1..$n\nexit $status\n";
    let files = [
        (
            "check.sh",
            "sh list.sh >report.tap\nstatus=$?\necho done\nexit $status\n",
        ),
        ("list.sh", lister),
        ("tests/add.test", "test $(sh src/add.sh 1 2) = 3\n"),
        (".gitignore", "report.tap\n"),
    ];
    let before = SHOP.with(&files).command("sh check.sh").by(Way::Verified);
    let work = before.without_baseline().begin();
    let test = "test \"$(sh src/double.sh 4 2>&1)\" = 8\n";
    work.write("tests/double.test", test);
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
fn settings_ask_for_more() {
    go_through([run("RED in a clean tree")
        .of(SHOP.settings(r#""evidence": {"redInCleanTree": true}"#))
        .by(&WAYS)
        .red(|work| work.write("tests/helper.sh", "echo help\n"))]);
    // What has to be verified is, without a word.
    let work = SHOP
        .settings(r#""evidence": {"require": "verified"}"#)
        .by(Way::Verified)
        .at_red();
    for (call, next) in [("complete", "green"), ("complete", "commit")] {
        assert_eq!(work.tm(&[call])["nextAction"]["action"], next);
        work.code();
    }
    work.commit();
    let end = work.tm(&["finalize"]);
    assert_eq!(end["nextAction"]["action"], "complete", "{end:#}");
    assert!(end.get("warning").is_none(), "{end:#}");
}
