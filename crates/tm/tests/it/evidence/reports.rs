//! Reports that are old, used, missing or unreadable, and where they may lie.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::stage::{NEW_CODE, NEW_TESTS, Stage, accepted, set_age, with_report};

#[test]
fn a_report_from_before_the_phase() {
    let stage = Stage::started();
    let before = stage.suite();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let report = stage.suite();
    set_age(&report, 3600);
    stage.refused(
        &with_report("complete red", &report),
        "stale_report",
        &["before this phase"],
        "run the tests again",
    );
    set_age(&before, 3600);
    stage.refused(
        &with_report("complete red", &before),
        "stale_report",
        &["before this phase"],
        "run the tests again",
    );
    stage.red();
}

/// Of a report that is too long to keep the journal has the hash, and nobody looks for its bytes.
#[test]
fn a_report_too_long_to_keep_is_not_told_as_missing() {
    let stage = Stage::started();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let report = stage.suite();
    let file = fs::File::options().append(true).open(&report).unwrap();
    let mut file = std::io::BufWriter::new(file);
    for _ in 0..(17 << 20) / 64 {
        writeln!(file, "# {}", "x".repeat(61)).unwrap();
    }
    drop(file);
    accepted(stage.hand_in("complete red", &report).ok());
    let journal = String::from_utf8(stage.env.journal()).unwrap();
    let mut reports = journal.lines().filter(|line| line.contains(":accepted"));
    let told: serde_json::Value = serde_json::from_str(reports.next_back().unwrap()).unwrap();
    let hash = &told["facts"]["reports"][0]["sha256"];
    assert_eq!(hash.as_str().map(str::len), Some(64), "{told:#}");
    stage.env.tm(&["log", "verify"]).ok();
}

#[test]
fn a_report_from_before_the_change() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let report = stage.suite();
    // The code was worked on after it.
    later(&stage, "src/spaces.sh", 5);
    let words = with_report("complete green", &report);
    stage.refused(
        &words,
        "stale_report",
        &["older than the last change", "src/spaces.sh"],
        "run the tests again",
    );
    later(&stage, "src/spaces.sh", -5);
    // What the tests are not about may come after them.
    for (path, text) in [
        ("README.md", "words and spaces\n"),
        ("docs/spaces.md", "spaces\n"),
        (".gitignore", "*.tmp\n*.bak\n"),
        ("coverage.xml", "<coverage/>\n"),
        ("tests/output/a.txt", "1\n"),
    ] {
        stage.env.write(path, text);
        later(&stage, path, 5);
    }
    accepted(stage.env.tm(&words).ok());
}

#[test]
fn a_file_that_is_gone_since_the_report() {
    const OLD: &str = "src/old/a.sh";
    const STUB: &str = "src/stub.sh";
    /// What is gone, the folder that this changes, and how.
    type Removal = (&'static str, &'static str, fn(&Stage));
    let gone: [Removal; 4] = [
        (OLD, "src/old", |stage| {
            fs::remove_file(stage.path(OLD)).unwrap();
        }),
        (OLD, "src", |stage| {
            fs::remove_dir_all(stage.path("src/old")).unwrap();
        }),
        (OLD, "src/old", |stage| {
            fs::rename(stage.path(OLD), stage.path("src/b.sh")).unwrap();
        }),
        // Git never knew that one, but the last report did.
        (STUB, "src", |stage| {
            fs::remove_file(stage.path(STUB)).unwrap();
        }),
    ];
    for (path, folder, remove) in gone {
        let stage = Stage::new("");
        stage.env.write(OLD, ":\n");
        stage.env.commit_all("An old file");
        stage.env.auto("start 1").ok();
        stage.env.write(STUB, ":\n");
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        stage.report("complete red").ok();
        stage.env.write("src/spaces.sh", NEW_CODE);
        let report = stage.suite();
        remove(&stage);
        let dated = |at| {
            let folder = fs::File::open(stage.path(folder)).unwrap();
            folder.set_modified(at).unwrap();
        };
        let (now, soon) = (SystemTime::now(), Duration::from_secs(5));
        dated(now + soon);
        stage.refused(
            &with_report("complete green", &report),
            "stale_report",
            &[path],
            "run the tests again",
        );
        dated(now - soon);
        accepted(stage.report("complete green").ok());
    }
}

/// Somebody set such a date, and the file system knows when.
#[test]
fn a_file_that_is_dated_to_tomorrow() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    for path in ["src/spaces.sh", "tests/spaces_test.sh"] {
        later(&stage, path, 24 * 60 * 60);
    }
    accepted(stage.report("complete green").ok());
}

#[test]
fn a_report_that_was_refused_is_no_work() {
    let stage = Stage::started();
    let refused = |words: &str, option: &str, path: &str| {
        let path = stage.path(path);
        let mut words = crate::rails::environment::autopilot(words);
        words.extend([option, path.to_str().unwrap()]);
        let answer = stage.env.tm(&words);
        assert_eq!(
            (answer.code(), answer.status),
            ("report_unreadable", 2),
            "{answer:#?}"
        );
    };
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    stage.env.write("out/red.xml", "<testsuites>");
    refused("complete red", "--report", "out/red.xml");
    stage.report("complete red").ok();
    stage.env.write("src/spaces.sh", NEW_CODE);
    for path in ["junit.xml", "results", "folder/a.xml", "cov.info"] {
        stage.env.write(path, "nothing\n");
    }
    refused("complete green", "--report", "junit.xml");
    refused("complete green", "--report", "results");
    refused("complete green", "--report", "folder");
    // One stands beside a folder that holds none.
    fs::create_dir(stage.path("empty")).unwrap();
    stage.env.write("beside/a.xml", "nothing\n");
    let mut words = crate::rails::environment::autopilot("complete green");
    let (good, none) = (stage.path("beside/a.xml"), stage.path("empty"));
    words.extend([
        "--report",
        good.to_str().unwrap(),
        "--report",
        none.to_str().unwrap(),
    ]);
    assert_eq!(stage.env.tm(&words).code(), "report_missing");
    refused(
        "complete green --results passed:3,failed:0",
        "--coverage-report",
        "cov.info",
    );
    // What is called a report and is code is work all the same.
    refused("complete green", "--report", "src/spaces.sh");
    accepted(stage.report("complete green").ok());
    stage.env.auto("commit").ok();
    let files = stage.env.git(&["show", "--name-only", "--format=", "HEAD"]);
    let files: Vec<&str> = files.lines().collect();
    let tasks = ".taskmaster/tasks/tasks.json";
    assert_eq!(files, [tasks, "src/spaces.sh", "tests/spaces_test.sh"]);
}

#[test]
fn a_report_from_the_future() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let report = stage.suite();
    let file = fs::File::options().append(true).open(&report).unwrap();
    let year = Duration::from_hours(365 * 24);
    file.set_modified(SystemTime::now() + year).unwrap();
    stage.refused(
        &with_report("complete green", &report),
        "stale_report",
        &["future"],
        "run the tests again",
    );
    accepted(stage.report("complete green").ok());
}

#[test]
fn a_report_is_used_once() {
    let stage = Stage::started();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let of_red = stage.suite();
    accepted(stage.hand_in("complete red", &of_red).ok());
    // The same again is answered as it was, and moves nothing.
    let before = stage.env.journal();
    let unit = "complete red --unit workUnit-1.1-red";
    let unit = stage.hand_in(unit, &of_red);
    assert!(matches!(unit.status, 0 | 5), "{unit:#?}");
    assert!(before == stage.env.journal());
    let words = with_report("complete green", &of_red);
    stage.refused(
        &words,
        "stale_report",
        &["handed in before"],
        "run the tests again",
    );
    // An attempt is not made twice with one report.
    let failing = stage.suite();
    let retried = stage.hand_in("complete green", &failing);
    assert_eq!(retried.code(), "green_tests_still_failing");
    let words = with_report("complete green", &failing);
    stage.refused(
        &words,
        "stale_report",
        &["handed in before"],
        "run the tests again",
    );
    stage.env.write("src/spaces.sh", NEW_CODE);
    let of_green = stage.suite();
    accepted(stage.hand_in("complete green", &of_green).ok());
    stage.env.auto("commit").ok();
    // Nor for another subtask, nor under another name.
    let copy = stage.next_report();
    fs::copy(&failing, &copy).unwrap();
    let written = fs::metadata(&failing).unwrap().modified().unwrap();
    fs::File::options()
        .append(true)
        .open(&copy)
        .unwrap()
        .set_modified(written)
        .unwrap();
    stage.env.write(
        "tests/tabs_test.sh",
        "test_tabs() { test \"$(tabs)\" = tabs; }\n",
    );
    for report in [&failing, &copy] {
        let words = with_report("complete red", report);
        stage.refused(
            &words,
            "stale_report",
            &["handed in before"],
            "run the tests again",
        );
    }
    // A new run of it may print the very same.
    accepted(stage.report("complete red").ok());
}

#[test]
fn what_is_no_report() {
    let stage = Stage::in_green();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let report = stage.suite();
    let text = fs::read_to_string(&report).unwrap();
    let before = stage.env.journal();
    let cut = stage.next_report();
    fs::write(&cut, &text[..text.len() - 6]).unwrap();
    let prose = stage.next_report();
    fs::write(&prose, "all tests passed\n").unwrap();
    let empty = stage.next_report();
    fs::write(&empty, "").unwrap();
    let wrong = stage.next_report();
    let xml = r#"<testsuite tests="3"><testcase name="a"/></testsuite>"#;
    fs::write(&wrong, xml).unwrap();
    let folder = stage.outside("nothing");
    fs::create_dir(&folder).unwrap();
    let pipe = stage.outside("pipe");
    let made = stage.env.process("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for (path, code, names) in [
        (&cut, "report_unreadable", "reports/"),
        (&prose, "report_unreadable", "reports/"),
        (&empty, "report_unreadable", "reports/"),
        (&wrong, "report_unreadable", "3"),
        (&pipe, "report_unreadable", "no ordinary file"),
        (&folder, "report_missing", "nothing"),
        (
            &PathBuf::from("not/there.xml"),
            "report_missing",
            "not/there.xml",
        ),
    ] {
        let answer = stage.hand_in("complete green", path);
        assert_eq!((answer.code(), answer.status), (code, 2), "{answer:#?}");
        assert!(answer.message().contains(names), "{answer:#?}");
        assert!(!answer.suggestion().is_empty(), "{answer:#?}");
    }
    let answer = stage.hand_in("complete green --format junit", &report);
    assert_eq!(answer.code(), "report_unreadable", "{answer:#?}");
    let answer = stage.hand_in("complete green --format prose", &report);
    assert_eq!(answer.status, 2, "{answer:#?}");
    let both = with_report("complete green --results passed:3", &report);
    let answer = stage.env.tm(&both);
    assert_eq!(answer.status, 2, "{answer:#?}");
    let none = stage.env.auto("complete green");
    assert_eq!((none.code(), none.status), ("no_results", 2), "{none:#?}");
    assert!(before == stage.env.journal());
    accepted(stage.hand_in("complete green --format tap", &report).ok());
}

#[test]
fn reports_within_the_repository() {
    // One that git does not know is no work of the run; one that it knows is.
    for tracked in [false, true] {
        let stage = Stage::new("");
        if tracked {
            stage.env.write("report.xml", "<testsuites/>\n");
            stage.env.commit_all("A report");
        }
        stage.env.auto("start 1").ok();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        let report = stage.path("report.xml");
        stage.junit_at(&report);
        stage.hand_in("complete red", &report).ok();
        stage.env.write("src/spaces.sh", NEW_CODE);
        stage.junit_at(&report);
        accepted(stage.hand_in("complete green", &report).ok());
        stage.env.auto("commit").ok();
        let files = stage.env.git(&["show", "--name-only", "--format=", "HEAD"]);
        assert_eq!(files.contains("report.xml"), tracked, "{files}");
        assert!(files.contains("src/spaces.sh"), "{files}");
        // It may lie there, and change, until the end.
        stage.env.write(
            "tests/tabs_test.sh",
            "test_tabs() { test \"$(tabs)\" = tabs; }\n",
        );
        stage.junit_at(&report);
        accepted(stage.hand_in("complete red", &report).ok());
        stage.env.write("src/tabs.sh", "tabs() { echo tabs; }\n");
        stage.junit_at(&report);
        accepted(stage.hand_in("complete green", &report).ok());
        stage.env.auto("commit").ok();
        let last = if tracked {
            stage.junit()
        } else {
            stage.junit_at(&report);
            report
        };
        let end = stage.hand_in("finalize", &last).ok();
        assert_eq!(end["nextAction"]["status"], "completed", "{end}");
    }
}

#[test]
fn a_report_among_the_tests() {
    let stage = Stage::new("");
    stage.env.auto("start 1").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let report = stage.path("tests/report.xml");
    stage.junit_at(&report);
    // RED does not even mention it.
    stage
        .env
        .auto("complete red --results failed:1,passed:2")
        .ok();
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage.junit_at(&report);
    accepted(stage.hand_in("complete green", &report).ok());
    stage.env.auto("commit").ok();
    let files = stage.env.git(&["show", "--name-only", "--format=", "HEAD"]);
    assert!(!files.contains("report.xml"), "{files}");
}

#[test]
fn two_tracked_reports_are_as_old_as_each_other() {
    let stage = Stage::new("");
    for name in ["a.xml", "b.xml"] {
        stage.env.write(name, "<testsuites/>\n");
    }
    stage.env.commit_all("Reports");
    stage.env.auto("start 1").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let write = || {
        stage.junit_at(&stage.path("a.xml"));
        let xml = r#"<testsuite tests="1"><testcase classname="b" name="b"/></testsuite>"#;
        stage.env.write("b.xml", xml);
        set_age(&stage.path("a.xml"), 0);
        later(&stage, "b.xml", 5);
    };
    let both = |words| {
        let (a, b) = (stage.path("a.xml"), stage.path("b.xml"));
        let mut words = with_report(words, &a);
        words.extend(["--report", b.to_str().unwrap()]);
        stage.env.tm(&words).ok()
    };
    write();
    both("complete red");
    stage.env.write("src/spaces.sh", NEW_CODE);
    write();
    accepted(both("complete green"));
}

#[test]
fn a_folder_of_reports() {
    let stage = Stage::new("");
    stage.env.auto("start 1").ok();
    let folder = stage.outside("surefire");
    fs::create_dir(&folder).unwrap();
    let write = |outcome: &str| {
        for package in ["a", "b", "c"] {
            let inside = if package == "b" { outcome } else { "" };
            fs::write(
                folder.join(format!("TEST-{package}.xml")),
                format!(
                    r#"<testsuite tests="2"><testcase classname="{package}" name="one"/><testcase classname="{package}" name="two">{inside}</testcase></testsuite>"#
                ),
            )
            .unwrap();
        }
        fs::write(folder.join("notes.txt"), "no report\n").unwrap();
        // What Maven leaves beside its reports.
        let summary = "<failsafe-summary result=\"255\" timeout=\"false\"/>\n";
        fs::write(folder.join("failsafe-summary.xml"), summary).unwrap();
    };
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    write("<failure/>");
    let red = stage.hand_in("complete red", &folder).ok();
    assert!(
        red["message"]
            .as_str()
            .unwrap()
            .contains("1 failing, 5 passing"),
        "{red}"
    );
    stage.env.write("src/spaces.sh", NEW_CODE);
    write("");
    fs::remove_file(folder.join("TEST-c.xml")).unwrap();
    stage.refused(
        &with_report("complete green", &folder),
        "tests_missing",
        &["c::one", "c::two"],
        "report the whole suite",
    );
    write("");
    // The folder, and a file of it: that is counted once.
    let twice = folder.join("TEST-a.xml");
    let mut words = with_report("complete green", &folder);
    words.extend(["--report", twice.to_str().unwrap()]);
    let green = stage.env.tm(&words).ok();
    assert!(
        green["message"].as_str().unwrap().contains("6 passing"),
        "{green}"
    );
}

#[test]
fn coverage_reports() {
    let test = r#""patterns": ["tests/**"], "coverageThresholds": {"lines": 80}"#;
    let stage = Stage::with_test(test, r#""evidence": {"requireCoverage": true}"#);
    let start = stage.suite();
    let start = [
        "autopilot",
        "start",
        "1",
        "--baseline-report",
        start.to_str().unwrap(),
    ];
    stage.env.tm(&start).ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    stage.report("complete red").ok();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let lcov = stage.outside("lcov.info");
    let cover = |hit: usize| {
        let lines: Vec<String> = (1..=10)
            .map(|line| format!("DA:{line},{}\n", usize::from(line <= hit)))
            .collect();
        fs::write(
            &lcov,
            format!(
                "TN:\nSF:src/spaces.sh\n{}LF:10\nLH:{hit}\nend_of_record\n",
                lines.concat()
            ),
        )
        .unwrap();
    };
    let with_coverage = || {
        let report = stage.suite();
        let words = [
            "autopilot",
            "complete",
            "green",
            "--report",
            report.to_str().unwrap(),
            "--coverage-report",
            lcov.to_str().unwrap(),
        ];
        words.map(str::to_owned)
    };
    cover(7);
    let words = with_coverage();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    stage.refused(
        &words,
        "coverage_below_threshold",
        &["lines 70%", "80%"],
        "add tests",
    );
    cover(8);
    set_age(&lcov, 3600);
    let words = with_coverage();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    stage.refused(
        &words,
        "stale_report",
        &["lcov.info"],
        "run the tests again",
    );
    stage.report_refused(
        "complete green",
        "coverage_missing",
        &["lines"],
        "--coverage",
    );
    cover(8);
    let words = with_coverage();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    accepted(stage.env.tm(&words).ok());
}

#[test]
fn a_hundred_thousand_tests() {
    const MANY: usize = 100_000;
    let stage = Stage::new("");
    stage.env.auto("start 1").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let write = |failing: usize| {
        let path = stage.next_report();
        let mut xml = format!("<testsuites tests=\"{MANY}\"><testsuite tests=\"{MANY}\">\n");
        for at in 0..MANY {
            let inside = if at < failing {
                "<failure message=\"no\"/>"
            } else {
                ""
            };
            let module = at % 500;
            writeln!(
                xml,
                "<testcase classname=\"shop.module{module}\" name=\"test_{at}\">{inside}</testcase>"
            )
            .unwrap();
        }
        xml.push_str("</testsuite></testsuites>\n");
        fs::write(&path, xml).unwrap();
        path
    };
    let red = write(20_000);
    stage.hand_in("complete red", &red).ok();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let still = stage.hand_in("complete green", &write(10_000));
    assert_eq!(still.code(), "green_tests_still_failing");
    assert!(still.json().to_string().len() < 20_000);
    let report = write(0);
    let begun = std::time::Instant::now();
    accepted(stage.hand_in("complete green", &report).ok());
    // Two seconds in a release build; tests run with others, and unoptimized.
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    assert!(stage.env.journal().len() < 200_000);
}

/// Sets when a file of the project was changed, in seconds from now.
fn later(stage: &Stage, name: &str, seconds: i64) {
    let now = SystemTime::now();
    let by = Duration::from_secs(seconds.unsigned_abs());
    let at = if seconds < 0 { now - by } else { now + by };
    let file = fs::File::options().append(true).open(stage.path(name));
    file.unwrap().set_modified(at).unwrap();
}

const GO_TEST: &str =
    "package shop\n\nfunc TestB(t *testing.T) {\n\tif B() != 2 {\n\t\tt.Fatal()\n\t}\n}\n";

fn go_text(stage: &Stage, text: &str) -> PathBuf {
    let path = stage.next_report();
    fs::write(&path, text).unwrap();
    path
}

fn go_passing(stage: &Stage, names: &[&str]) -> PathBuf {
    let mut text = String::new();
    for name in names {
        for action in ["run", "pass"] {
            writeln!(
                text,
                r#"{{"Action":"{action}","Package":"shop","Test":"{name}"}}"#
            )
            .unwrap();
        }
    }
    go_text(
        stage,
        &(text + "{\"Action\":\"pass\",\"Package\":\"shop\"}\n"),
    )
}

const GO_UNBUILT: &str =
    "# shop [shop.test]\n./b_test.go:4:5: undefined: B\nFAIL\tshop [build failed]\nFAIL\n";

/// Nothing is known from before, and RED could not be built: its tests are known by what their file declares.
#[test]
fn tests_that_were_not_built_in_red_are_owed_by_the_names_in_their_file() {
    let stage = Stage::new("");
    stage.env.auto("start 1").ok();
    stage.env.write("tests/b_test.go", GO_TEST);
    let red = go_text(&stage, GO_UNBUILT);
    stage.hand_in("complete red", &red).ok();
    stage.env.write("b.go", "package shop\n");
    let verbose = "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tshop\t0.003s\n";
    for part in [go_text(&stage, verbose), go_passing(&stage, &["TestA"])] {
        stage.refused(
            &with_report("complete green", &part),
            "tests_missing",
            &["tests/b_test.go"],
            "--report",
        );
    }
    let all = go_passing(&stage, &["TestA", "TestB"]);
    accepted(stage.hand_in("complete green", &all).ok());
    stage.env.auto("commit").ok();
    // What was accepted may have been a part of the suite.
    let baseline = go_passing(&stage, &["TestA", "TestOld"]);
    stage.hand_in("baseline", &baseline).ok();
    stage
        .env
        .write("tests/c_test.go", GO_TEST.replace("TestB", "TestC"));
    let red = go_text(&stage, GO_UNBUILT);
    stage.hand_in("complete red", &red).ok();
    stage.env.write("c.go", "package shop\n");
    let names = ["TestA", "TestB", "TestC", "TestOld"];
    for part in [&names[..3], &names[1..]] {
        let part = go_passing(&stage, part);
        let missing = stage.hand_in("complete green", &part);
        assert_eq!(missing.code(), "tests_missing", "{missing:#?}");
    }
    let all = go_passing(&stage, &names);
    accepted(stage.hand_in("complete green", &all).ok());
}

/// Not run is not passed: the file of which no test is in the report is named.
#[test]
fn a_file_whose_tests_the_command_does_not_run_is_named() {
    let stage = Stage::new("");
    stage.env.auto("start 1").ok();
    stage.env.write("tests/b_test.go", GO_TEST);
    let report = go_passing(&stage, &["TestA"]);
    let refused = stage.hand_in("complete red", &report);
    assert_eq!(refused.code(), "red_requires_failing_tests", "{refused:#?}");
    assert!(
        refused.suggestion().contains("tests/b_test.go"),
        "{refused:#?}"
    );
    let report = go_passing(&stage, &["TestA", "TestB"]);
    let refused = stage.hand_in("complete red", &report);
    assert!(
        !refused.suggestion().contains("tests/b_test.go"),
        "{refused:#?}"
    );
}
