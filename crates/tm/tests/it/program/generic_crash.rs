//! Runs of a user's own workflow when processes die, and when many of them report at once.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use super::environment::TestEnvironment;
use super::generic::{ok, run, with_examples};

/// The places that a run without effects passes.
const FAIL_POINTS: [&str; 4] = [
    "before-append",
    "after-append",
    "derived-before-state",
    "after-derived",
];

/// Runs `tm run` with `words`, and kills it at `point`.
fn killed_at(environment: &TestEnvironment, point: &str, words: &[&str]) {
    let mut arguments = vec!["run"];
    arguments.extend(words);
    let output = environment
        .program(&arguments)
        .env("TRAMLINE_FAIL_POINT", point)
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        None,
        "{point}: {words:?} was not killed: {output:?}"
    );
}

fn count(environment: &TestEnvironment, event: &str) -> usize {
    fs::read_to_string(environment.journal_path())
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["event"] == event)
        .count()
}

#[test]
fn a_kill_anywhere_loses_nothing_and_repeats_nothing() {
    let words: [&[&str]; 3] = [
        &[
            "report",
            "--unit",
            "a-write",
            "--outcome",
            "done",
            "--files",
            "a",
        ],
        &["report", "--unit", "a-review", "--outcome", "approved"],
        &["report", "--unit", "publish"],
    ];
    let points = FAIL_POINTS.iter().chain(&["end-before-report"]);
    for point in points {
        let project = with_examples();
        ok(
            &project,
            &["start", "document-review", "--input", "documents=a"],
        );
        for (at, words) in words.iter().enumerate() {
            if *point == "end-before-report" && at < 2 {
                ok(&project, words);
                continue;
            }
            killed_at(&project, point, words);
            assert!(
                ok(&project, words)["validated"].as_bool().unwrap(),
                "{point}"
            );
        }
        assert_eq!(count(&project, "report:accepted"), 3, "{point}");
        assert_eq!(ok(&project, &["next"])["status"], "completed", "{point}");
        let folder = project.journal_path().parent().unwrap().to_owned();
        let state: Value =
            serde_json::from_slice(&fs::read(folder.join("state.json")).unwrap()).unwrap();
        assert_eq!(state["status"], "completed", "{point}");
        assert!(folder.join("report.md").exists(), "{point}");
        let verified = project.tm(&["log", "verify", "--json"]).json_with(0);
        assert_eq!(verified["whole"], true, "{point}");
    }
}

#[test]
fn a_start_that_is_killed_is_no_run_or_a_whole_one() {
    let start = ["start", "document-review", "--input", "documents=a"];
    for point in FAIL_POINTS.iter().chain(&["start-after-folder"]) {
        let project = with_examples();
        killed_at(&project, point, &start);
        let began = !matches!(*point, "before-append" | "start-after-folder");
        if began {
            assert_eq!(ok(&project, &["next"])["unitId"], "a-write", "{point}");
        } else {
            assert_eq!(run(&project, &["next"]).status, 4, "{point}");
            ok(&project, &start);
        }
        // What the killed one left is swept away, so this is the only folder.
        assert!(project.journal_path().exists(), "{point}");
        let done = ["report", "--outcome", "done", "--files", "a"];
        assert_eq!(
            ok(&project, &done)["nextAction"]["unitId"],
            "a-review",
            "{point}"
        );
    }
}

/// Lets processes report at once, and gives their exit statuses.
fn at_once(environment: &TestEnvironment, reports: &[Vec<String>]) -> Vec<i32> {
    let children: Vec<_> = reports
        .iter()
        .map(|words| {
            let mut arguments = vec!["run", "report", "--json"];
            arguments.extend(words.iter().map(String::as_str));
            let mut program = environment.program(&arguments);
            program.stdout(Stdio::null()).stderr(Stdio::null());
            program.spawn().unwrap()
        })
        .collect();
    children
        .into_iter()
        .map(|mut child| child.wait().unwrap().code().unwrap())
        .collect()
}

fn words(unit: &str, file: &str) -> Vec<String> {
    ["--unit", unit, "--outcome", "done", "--files", file]
        .map(str::to_owned)
        .to_vec()
}

#[test]
fn of_many_reports_for_one_unit_one_is_taken_in() {
    let project = with_examples();
    ok(
        &project,
        &["start", "document-review", "--input", "documents=a"],
    );
    let same: Vec<_> = (0..16).map(|_| words("a-write", "a")).collect();
    assert_eq!(at_once(&project, &same), [0; 16]);
    assert_eq!(count(&project, "report:accepted"), 1);

    let project = with_examples();
    ok(
        &project,
        &["start", "document-review", "--input", "documents=a"],
    );
    let different: Vec<_> = (0..16)
        .map(|n| words("a-write", &format!("f{n}")))
        .collect();
    let statuses = at_once(&project, &different);
    assert_eq!(statuses.iter().filter(|status| **status == 0).count(), 1);
    assert_eq!(statuses.iter().filter(|status| **status == 5).count(), 15);
    assert_eq!(count(&project, "report:accepted"), 1);
}

#[test]
fn units_that_are_open_at_once_are_reported_at_once() {
    let project = with_examples();
    ok(
        &project,
        &[
            "start",
            "document-review",
            "--input",
            "documents=a,b,c,d,e,f",
        ],
    );
    let reports: Vec<_> = ["a", "b", "c", "d"]
        .iter()
        .map(|item| words(&format!("{item}-write"), item))
        .collect();
    assert_eq!(at_once(&project, &reports), [0; 4]);
    assert_eq!(count(&project, "report:accepted"), 4);
    let open = ok(&project, &["next"])["units"].as_array().unwrap().len();
    assert_eq!(open, 4);
}
