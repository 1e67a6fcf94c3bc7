//! Runs of a user's own workflow when processes die.

use std::fs;

use serde_json::Value;

use super::environment::TestEnvironment;
use super::generic::{Run, with_examples};

/// The places that a run without effects passes.
const FAIL_POINTS: [&str; 4] = [
    "before-append",
    "after-append",
    "derived-before-state",
    "after-derived",
];

/// How many reports were taken in.
fn accepted(environment: &TestEnvironment) -> usize {
    let events = environment.events();
    let accepted = events.iter().filter(|event| *event == "report:accepted");
    accepted.count()
}

#[test]
fn a_kill_anywhere_loses_nothing_and_repeats_nothing() {
    for point in FAIL_POINTS.iter().chain(&["end-before-report"]) {
        let run = Run::of_review("a");
        for report in [
            "report --unit a-write --outcome done --files a",
            "report --unit a-review --outcome approved",
            "report --unit publish",
        ] {
            if *point != "end-before-report" || report.ends_with("publish") {
                run.killed_at(point, &format!("run {report}"));
            }
            assert_eq!(run.ok(report)["validated"], true, "{point}");
        }
        assert_eq!(accepted(&run), 3, "{point}");
        assert_eq!(run.ok("next")["status"], "completed", "{point}");
        let state = fs::read(run.run_folder().join("state.json")).unwrap();
        let state: Value = serde_json::from_slice(&state).unwrap();
        assert_eq!(state["status"], "completed", "{point}");
        assert!(run.run_folder().join("report.md").exists(), "{point}");
        assert_eq!(run.does("log verify")["whole"], true, "{point}");
    }
}

#[test]
fn a_start_that_is_killed_is_no_run_or_a_whole_one() {
    let start = "run start document-review --input documents=a";
    for point in FAIL_POINTS.iter().chain(&["start-after-folder"]) {
        let project = with_examples();
        project.killed_at(point, start);
        let next = project.line("run next");
        if matches!(*point, "before-append" | "start-after-folder") {
            assert_eq!(next.status, 4, "{point}");
            project.does(start);
        } else {
            assert_eq!(next.ok()["unitId"], "a-write", "{point}");
        }
        // What the killed one left is swept away, so this is the only folder.
        assert!(project.journal_path().exists(), "{point}");
        let done = project.does("run report --outcome done --files a");
        assert_eq!(done["nextAction"]["unitId"], "a-review", "{point}");
    }
}
