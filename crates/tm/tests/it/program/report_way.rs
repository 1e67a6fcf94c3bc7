//! The way of a report from the keyboard to the journal: few modules, which ARCHITECTURE names.

use std::fs;

use testkit::Outcome;
use testkit::documentation::workspace;

use super::environment::TestEnvironment;

/// The most modules whose calls are under way when a report is appended.
const MOST: usize = 10;
/// What tells of them.
const FAIL_POINT: &str = "engine/fail_point.rs";

#[test]
fn a_report_passes_few_modules_on_its_way_to_the_journal() {
    if !cfg!(debug_assertions) {
        // A release build has no fail points.
        return;
    }
    let environment = TestEnvironment::started();
    environment.write("tests/spaces_test.sh", "false\n");
    let words = "autopilot complete red --results failed:2,passed:0";
    let words: Vec<&str> = words.split(' ').collect();
    let mut program = environment.program(&words);
    program.env("TRAMLINE_FAIL_POINT", "before-append");
    let ran = Outcome::of(&program.env("TRAMLINE_FAIL_TRACE", "1").output().unwrap());
    assert!(ran.died(), "{ran:?}");

    let mut passed: Vec<String> = Vec::new();
    for module in ran.err.lines().rev().filter_map(module_of) {
        if module != FAIL_POINT && !passed.contains(&module) {
            passed.push(module);
        }
    }
    assert!((4..=MOST).contains(&passed.len()), "{passed:#?}");
    let architecture = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    for module in passed {
        let named = format!("`{module}`");
        assert!(architecture.contains(&named), "{named} is not named");
    }
}

/// The file that a line of a backtrace names; none where it is none of the program's.
fn module_of(line: &str) -> Option<String> {
    let place = line.trim_start().strip_prefix("at ")?;
    let (_, inside) = place.split_once("crates/")?;
    let (name, file) = inside.split_once("/src/")?;
    let (file, _) = file.split_once(':')?;
    Some(format!("{name}/{file}"))
}
