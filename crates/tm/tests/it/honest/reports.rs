//! Reports, wherever they lie and however they come to be.

use std::fs;
use std::time::{Duration, SystemTime};

use super::work::{
    BY_NAME, Before, DOUBLE, DOUBLES, HALVE, HALVES, NO_BEFORE, SHOP, WAYS, Way, Work, set_modified,
};

/// The runner's text in a file of the project.
fn tee(work: &Work, path: &str) {
    let text = work.suite();
    work.write(path, &text);
}

#[test]
fn a_report_within_the_project_that_git_does_not_know() {
    let before = Before {
        task: "2",
        baseline: false,
        ..SHOP
    };
    for folder in ["", "out/", "tests/"] {
        let path = format!("{folder}report.tap");
        let work = Work::begin(&before, Way::Reported);
        for (at, (name, test, code)) in [("double", DOUBLES, DOUBLE), ("halve", HALVES, HALVE)]
            .into_iter()
            .enumerate()
        {
            work.write(&format!("tests/{name}.test"), test);
            tee(&work, &path);
            work.hand_in(&[&path]);
            work.warns(if at == 0 { &[NO_BEFORE] } else { &[] });
            work.red();
            work.write(&format!("src/{name}.sh"), code);
            tee(&work, &path);
            work.hand_in(&[&path]);
            work.green();
            let files = work.tm(&["commit"])["files"].to_string();
            assert!(!files.contains("report.tap"), "{files}");
            assert_eq!(
                work.git(&["status", "--porcelain", "--untracked-files=all"]),
                format!("?? {path}")
            );
        }
        tee(&work, &path);
        work.hand_in(&[&path]);
        work.finalize();
    }
}

#[test]
fn a_report_that_is_ignored_and_one_that_is_tracked() {
    for tracked in [true, false] {
        let files = [
            SHOP.files[0],
            SHOP.files[1],
            if tracked {
                ("report.tap", "TAP version 13\n")
            } else {
                (".gitignore", "report.tap\n")
            },
        ];
        let before = Before {
            files: &files,
            ..SHOP
        };
        let work = Work::begin(&before, Way::Reported);
        work.write("tests/double.test", DOUBLES);
        tee(&work, "report.tap");
        work.hand_in(&["report.tap"]);
        work.red();
        work.write("src/double.sh", DOUBLE);
        tee(&work, "report.tap");
        work.hand_in(&["report.tap"]);
        work.green();
        let committed = work.commit();
        assert_eq!(
            committed.contains(&"report.tap".to_owned()),
            tracked,
            "{committed:?}"
        );
        let report = work.printed();
        work.hand_in(&[&report]);
        work.finalize();
    }
}

fn junit(package: &str, cases: &[(&str, bool)]) -> String {
    let failures = cases.iter().filter(|case| !case.1).count();
    let text: Vec<String> = cases
        .iter()
        .map(|(name, passed)| {
            let failure = if *passed { "" } else { "<failure message=\"no\"/>" };
            format!("<testcase classname=\"{package}\" name=\"{name}\" time=\"0.1\">{failure}</testcase>")
        })
        .collect();
    let text = text.concat();
    format!(
        "<?xml version=\"1.0\"?>\n<testsuite name=\"{package}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\">{text}</testsuite>\n",
        cases.len()
    )
}

/// The reports of two packages, of which one is worked on.
fn packages(work: &Work, folder: &str, doubled: Option<bool>) {
    let cases: Vec<(&str, bool)> = [("adds", true)]
        .into_iter()
        .chain(doubled.map(|passed| ("doubles", passed)))
        .collect();
    work.write(&format!("{folder}/one.xml"), &junit("one", &cases));
    work.write(
        &format!("{folder}/two.xml"),
        &junit("two", &[("works", true)]),
    );
}

#[test]
fn several_packages_as_files_and_as_a_folder() {
    for folder in [false, true] {
        let files = [SHOP.files[0], SHOP.files[1], (".gitignore", "out/\n")];
        let before = Before {
            files: &files,
            baseline: false,
            ..SHOP
        };
        let work = Work::begin(&before, Way::Reported);
        let all: &[&str] = if folder {
            &["out"]
        } else {
            &["out/one.xml", "out/two.xml"]
        };
        work.write("tests/double.test", DOUBLES);
        packages(&work, "out", Some(false));
        work.hand_in(all);
        work.warns(&[NO_BEFORE]);
        work.red();
        work.write("src/double.sh", DOUBLE);
        packages(&work, "out", Some(true));
        work.hand_in(all);
        work.green();
        work.commit();
        // Written again, with the very same content.
        packages(&work, "out", Some(true));
        work.hand_in(all);
        work.finalize();
    }
}

#[test]
fn a_snapshot_is_written_by_the_second_package_after_the_report_of_the_first() {
    let files = [SHOP.files[0], SHOP.files[1], (".gitignore", "out/\n")];
    let before = Before {
        files: &files,
        baseline: false,
        ..SHOP
    };
    let work = Work::begin(&before, Way::Reported);
    work.write("tests/double.test", DOUBLES);
    packages(&work, "out", Some(false));
    work.hand_in(&["out"]);
    work.warns(&[NO_BEFORE]);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.write(
        "out/one.xml",
        &junit("one", &[("adds", true), ("doubles", true)]),
    );
    work.age("src/double.sh", 60);
    work.write("tests/__snapshots__/double.snap", "8\n");
    work.write("out/two.xml", &junit("two", &[("works", true)]));
    // The file system may tell no two moments apart that are this near.
    let first = fs::metadata(work.root().join("out/one.xml")).unwrap();
    let later = first.modified().unwrap() + Duration::from_millis(30);
    set_modified(&work.root().join("tests/__snapshots__/double.snap"), later);
    work.hand_in(&["out"]);
    work.warns(&["What these snapshots ask for is what the code gave"]);
    work.green();
    work.commit();
    packages(&work, "out", Some(true));
    work.hand_in(&["out"]);
    work.finalize();
}

#[test]
fn a_report_that_is_handed_in_long_after_it_was_written() {
    let work = Work::begin(&SHOP, Way::Reported);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    let report = work.printed();
    // Meanwhile things happen that are no work on what was tested.
    work.git(&["status"]);
    work.git(&["add", "--all"]);
    work.git(&["fetch", "--quiet", "."]);
    work.ask(&["next"]);
    work.ask(&["status"]);
    fs::write(work.outside().join("note"), "x").unwrap();
    work.write(".git/note", "x");
    work.hand_in(&[&report]);
    work.green();
    work.commit();
    let report = work.printed();
    work.ask(&["next"]);
    work.hand_in(&[&report]);
    work.finalize();
}

#[test]
fn files_with_times_of_another_age() {
    for way in BY_NAME {
        let work = Work::begin(&SHOP, way);
        work.write("tests/double.test", DOUBLES);
        work.age("tests/double.test", 1_000_000);
        work.red();
        work.write("src/double.sh", DOUBLE);
        // As an archive, a copy that keeps times, or `cp -p` leaves it.
        work.age("src/double.sh", 2_000_000_000);
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn files_with_times_that_are_yet_to_come() {
    // As a file server leaves them whose clock is ahead. A report in a file of this machine is older than they are.
    let later = SystemTime::now() + Duration::from_hours(1);
    for way in [Way::Claimed, Way::Verified] {
        let work = Work::begin(&SHOP, way);
        work.write("tests/double.test", DOUBLES);
        set_modified(&work.root().join("tests/double.test"), later);
        work.red();
        work.write("src/double.sh", DOUBLE);
        set_modified(&work.root().join("src/double.sh"), later);
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn the_runner_writes_its_report_where_the_command_is_run_by_tm() {
    let script = "sh list.sh >report.tap\nstatus=$?\necho done\nexit $status\n";
    let lister = "status=0\necho TAP version 13\nn=0\nfor file in tests/*.test; do n=$((n + 1)); if sh \"$file\"; then echo \"ok $n - $file\"; else echo \"not ok $n - $file\"; status=1; fi; done\necho 1..$n\nexit $status\n";
    let files = [
        ("check.sh", script),
        ("list.sh", lister),
        ("src/add.sh", "echo $(($1 + $2))\n"),
        ("tests/add.test", "test $(sh src/add.sh 1 2) = 3\n"),
        (".gitignore", "report.tap\n"),
    ];
    let before = Before {
        files: &files,
        command: "sh check.sh",
        baseline: false,
        ..SHOP
    };
    let work = Work::begin(&before, Way::Verified);
    work.write(
        "tests/double.test",
        "test \"$(sh src/double.sh 4 2>&1)\" = 8\n",
    );
    work.hand_in(&["report.tap"]);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.hand_in(&["report.tap"]);
    // A checkout has it at the same place.
    let green = work.green();
    assert_eq!(green["warning"], serde_json::Value::Null, "{green:#}");
    work.commit();
    work.hand_in(&["report.tap"]);
    work.finalize();
}

#[test]
fn red_in_a_clean_tree() {
    for way in WAYS {
        let before = Before {
            settings: r#""evidence": {"redInCleanTree": true}"#,
            ..SHOP
        };
        let work = Work::begin(&before, way);
        work.write("tests/double.test", DOUBLES);
        work.write("tests/helper.sh", "echo help\n");
        work.red();
        work.write("src/double.sh", DOUBLE);
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn verified_because_the_settings_ask_for_it() {
    let before = Before {
        settings: r#""evidence": {"require": "verified"}"#,
        ..SHOP
    };
    let work = Work::begin(&before, Way::Verified);
    work.write("tests/double.test", DOUBLES);
    assert_eq!(work.tm(&["complete"])["nextAction"]["action"], "green");
    work.write("src/double.sh", DOUBLE);
    assert_eq!(work.tm(&["complete"])["nextAction"]["action"], "commit");
    work.commit();
    let end = work.tm(&["finalize"]);
    assert_eq!(end["nextAction"]["action"], "complete", "{end:#}");
    assert!(end.get("warning").is_none(), "{end:#}");
}
