//! Reports that are old, used, missing or unreadable, and where they may lie.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::stage::{CODE, GREEN, RED, SPACES, Stage, set_age, set_later};

const STALE: &str = "stale_report";

/// Of a report that is too long to keep the journal has the hash, and nobody looks for its bytes.
#[test]
fn a_report_too_long_to_keep_is_not_told_as_missing() {
    let stage = Stage::started("");
    stage.test("spaces");
    let report = fs::read_to_string(stage.suite()).unwrap();
    let noise = format!("# {}\n", "x".repeat(61)).repeat((17 << 20) / 64);
    stage.takes(RED, &stage.written(report + &noise));
    let journal = String::from_utf8(stage.journal()).unwrap();
    let mut reports = journal.lines().filter(|line| line.contains(":accepted"));
    let told: serde_json::Value = serde_json::from_str(reports.next_back().unwrap()).unwrap();
    let hash = &told["facts"]["reports"][0]["sha256"];
    assert_eq!(hash.as_str().map(str::len), Some(64), "{told:#}");
    stage.tm(&["log", "verify"]).ok();
}

#[test]
fn a_report_from_before_the_change() {
    let stage = Stage::coded();
    let report = stage.suite();
    set_later(&report, 365 * 24 * 60 * 60);
    stage.hand_in_refused(GREEN, &report, STALE, &[]);
    set_age(&report, 0);
    // The code was worked on after it.
    set_later(&stage.path(CODE), 5);
    stage.hand_in_refused(GREEN, &report, STALE, &[CODE]);
    set_age(&stage.path(CODE), 5);
    // What the tests are not about may come after them.
    for (path, text) in [
        ("README.md", "words and spaces\n"),
        ("tests/output/a.txt", "1\n"),
    ] {
        stage.write(path, text);
        set_later(&stage.path(path), 5);
    }
    stage.takes(GREEN, &report);
}

#[test]
fn a_report_that_was_refused_is_no_work() {
    let stage = Stage::started("");
    let unreadable = |words: &str| {
        let answer = stage.auto(words);
        answer.fault(2, "report_unreadable");
    };
    stage.test("spaces");
    stage.write("out/red.xml", "<testsuites>");
    unreadable("complete red --report out/red.xml");
    stage.accepts(RED);
    stage.code("spaces");
    // What nobody hands in is work.
    for path in [
        "junit.xml",
        "results",
        "cov.info",
        "folder/a.xml",
        "samples/one.tap",
    ] {
        stage.write(path, "nothing\n");
    }
    // What is called a report and is code is work all the same.
    for path in ["junit.xml", "results", "folder", CODE] {
        unreadable(&format!("complete green --report {path}"));
    }
    unreadable("complete green --results passed:3,failed:0 --coverage-report cov.info");
    // One stands beside a folder that holds none.
    fs::create_dir(stage.path("empty")).unwrap();
    let none = stage.auto("complete green --report folder/a.xml --report empty");
    assert_eq!(none.code(), "report_missing");
    stage.accepts(GREEN);
    stage.auto("commit").ok();
    let files = format!("samples/one.tap\n{CODE}\n{SPACES}");
    assert_eq!(stage.committed(), files);
}

#[test]
fn a_report_is_used_once() {
    let stage = Stage::started("");
    stage.test("spaces");
    let of_red = stage.suite();
    stage.takes(RED, &of_red);
    // The same again is answered as it was, and moves nothing.
    let before = stage.journal();
    let again = stage.hand_in("complete red --unit workUnit-1.1-red", &of_red);
    assert!(matches!(again.status, 0 | 5), "{again:#?}");
    assert!(before == stage.journal());
    stage.hand_in_refused(GREEN, &of_red, STALE, &[]);
    // An attempt is not made twice with one report, nor under another name.
    let failing = stage.suite();
    let retried = stage.hand_in(GREEN, &failing);
    assert_eq!(retried.code(), "green_tests_still_failing");
    let copy = stage.written(fs::read(&failing).unwrap());
    let written = fs::metadata(&failing).unwrap().modified().unwrap();
    fs::File::open(&copy)
        .unwrap()
        .set_modified(written)
        .unwrap();
    for report in [&failing, &copy] {
        stage.hand_in_refused(GREEN, report, STALE, &[]);
    }
    // A new run of it may print the very same.
    let retried = stage.report(GREEN);
    assert_eq!(retried.code(), "green_tests_still_failing");
}

#[test]
fn what_is_no_report() {
    let stage = Stage::coded();
    let text = fs::read_to_string(stage.suite()).unwrap();
    let folder = stage.outside("nothing");
    fs::create_dir(&folder).unwrap();
    let pipe = stage.outside("pipe");
    let made = stage.process("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let before = stage.journal();
    let is = |path: &Path, code: &str| {
        let message = stage.hand_in(GREEN, path).fault(2, code);
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(message.contains(name), "{message}");
    };
    let cut = &text[..text.len() - 6];
    is(&stage.written(cut), "report_unreadable");
    is(&pipe, "report_unreadable");
    is(&folder, "report_missing");
    assert!(before == stage.journal());
    stage.takes("complete green --format tap", &stage.suite());
}

#[test]
fn reports_within_the_repository() {
    // One that git does not know is no work of the run; one that it knows is.
    let old = "<testsuites/>\n";
    for (path, before, is_committed) in [
        ("tests/report.xml", &[][..], false),
        ("report.xml", &[(".gitignore", "report.xml\n")], false),
        ("report.xml", &[("report.xml", old), ("b.xml", old)], true),
    ] {
        let stage = Stage::with("", before);
        let report = stage.path(path);
        let hand_in = |words: &str| {
            stage.junit_at(&report);
            if !is_committed {
                return stage.hand_in(words, &report).ok();
            }
            // Two of them are as old as each other.
            let xml = r#"<testsuite tests="1"><testcase classname="b" name="b"/></testsuite>"#;
            stage.write("b.xml", xml);
            set_later(&stage.path("b.xml"), 5);
            stage
                .hand_in(&format!("{words} --report b.xml"), &report)
                .ok()
        };
        stage.auto("start 1").ok();
        // It may lie there, and change, until the end.
        for name in ["spaces", "tabs"] {
            stage.test(name);
            hand_in(RED);
            stage.code(name);
            hand_in(GREEN);
            stage.auto("commit").ok();
            assert_eq!(stage.committed().contains(path), is_committed);
        }
        if !is_committed {
            let end = hand_in("finalize");
            assert_eq!(end["nextAction"]["status"], "completed", "{end}");
        }
    }
}

#[test]
fn many_thousand_tests() {
    const MANY: usize = 25_000;
    let stage = Stage::new("");
    stage.begin("");
    let write = |failing: usize| {
        let mut xml = format!("<testsuites tests=\"{MANY}\"><testsuite tests=\"{MANY}\">\n");
        for at in 0..MANY {
            let inside = if at < failing { "<failure/>" } else { "" };
            let module = at % 500;
            let name = format!("classname=\"shop.module{module}\" name=\"test_{at}\"");
            writeln!(xml, "<testcase {name}>{inside}</testcase>").unwrap();
        }
        stage.written(xml + "</testsuite></testsuites>\n")
    };
    stage.hand_in(RED, &write(5_000)).ok();
    stage.code("spaces");
    let still = stage.hand_in(GREEN, &write(2_500));
    assert_eq!(still.code(), "green_tests_still_failing");
    assert!(still.json().to_string().len() < 20_000);
    let report = write(0);
    let begun = std::time::Instant::now();
    stage.takes(GREEN, &report);
    // Half a second in a release build; tests run with others, and unoptimized.
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    assert!(stage.journal().len() < 50_000);
}
