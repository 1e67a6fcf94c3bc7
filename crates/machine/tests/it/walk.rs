//! The `tdd` definition, driven from end to end.

use machine::command::Report;
use machine::state::ItemStatus;
use machine::{Command, Severity, UnitMatch, match_unit};
use serde_json::{Value, json};

use crate::commands;
use crate::driver::{Driver, finding};
use crate::tdd::{
    attempt, begin, begin_with, code, in_green, one, status_of, subtask, tdd, tests, three,
    through, to_finalize,
};

const COUNTED: [&str; 5] = ["size", "remaining", "done", "failed", "blocked"];

#[test]
fn a_whole_run() {
    let mut driver = three();
    assert_eq!(driver.counted("subtasks", COUNTED), [3, 3, 0, 0, 0]);
    through(&mut driver);
    assert_eq!(driver.unit(), "workUnit-1.2-RED");
    assert_eq!(driver.counted("subtasks", COUNTED), [3, 2, 1, 0, 0]);
    through(&mut driver);
    through(&mut driver);
    assert_eq!(driver.after("pass"), "completed");
    let before = ["git.branch", "tag.switch"];
    let behind = ["task.finish", "tag.restore"];
    let effects = [&before[..], &["git.commit"; 3], &behind].concat();
    assert_eq!(driver.carried_out, effects);
    let refused = ["!run_over"; 6].join(" ");
    assert_eq!(driver.after("pass pause resume abort skip reopen"), refused);
}

#[test]
fn attempts_run_out_and_resume_grants_a_fresh_set() {
    let mut driver = in_green();
    let told = driver.after("fail fail fail resume");
    let paused = "paused:max_attempts_reached";
    let again = "workUnit-1.1-GREEN-2 workUnit-1.1-GREEN-3";
    assert_eq!(told, format!("{again} {paused} workUnit-1.1-GREEN-4"));
    assert_eq!(attempt(&driver).1, 1);
}

#[test]
fn a_step_back_leads_out_of_a_pause_and_keeps_the_attempts() {
    let mut driver = in_green();
    driver.after("fail fail fail");
    assert_eq!(driver.after("reopen"), "workUnit-1.1-RED-2");
    driver.after("fail");
    assert_eq!(attempt(&driver), ("workUnit-1.1-GREEN-4", 4));
    assert_eq!(driver.after("fail"), "paused:max_attempts_reached");
}

#[test]
fn a_skipped_subtask_bars_its_dependents_and_the_run_fails() {
    let mut driver = three();
    let skip = |item: &str| commands::skip(Some(item), "no");
    let refusal = driver.send(&skip("1.2")).unwrap_err();
    assert_eq!(refusal.code, "not_present");
    assert_eq!(refusal.details["item"], "1.2");
    driver.send(&skip("1.1")).unwrap();
    assert_eq!(status_of(&driver, "1.1"), ItemStatus::Failed);
    assert_eq!(driver.counted("subtasks", COUNTED), [3, 1, 0, 1, 1]);
    assert_eq!(driver.unit(), "workUnit-1.2-RED");
    through(&mut driver);
    assert_eq!(status_of(&driver, "1.3"), ItemStatus::Open);
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE");
    assert_eq!(driver.after("pass"), "failed");
    assert!(!driver.carried_out.contains(&"task.finish".to_owned()));
}

#[test]
fn a_failing_suite_opens_a_repair() {
    let mut driver = to_finalize();
    driver.report(tests(4, 1)).unwrap();
    assert_eq!(driver.unit(), "workUnit-1.fix-1-GREEN");
    let last = driver.run.last.clone().unwrap();
    assert_eq!(last.code.as_deref(), Some("suite_failing"));
    assert!(!last.answer.validated);
    assert_eq!(last.answer.next.unwrap().unit, Some(driver.unit()));
    let told = driver.after("reopen mend commit fail");
    let mended = "workUnit-1.fix-1-COMMIT workUnit-1-FINALIZE-2 workUnit-1.fix-2-GREEN";
    assert_eq!(told, format!("!nothing_before {mended}"));
    // It passes again, and nothing was changed: there is nothing to commit.
    assert_eq!(driver.after("pass"), "workUnit-1-FINALIZE-3");
    let last = driver.run.last.as_ref().unwrap();
    assert_eq!(last.warnings, ["passes_unchanged"]);
    assert_eq!(driver.after("pass"), "completed");
}

#[test]
fn which_unit_a_report_means() {
    // A report names its unit; or state, item and digest, or none of them.
    let means = |driver: &Driver, report: &str| {
        let mut words = report.split(' ');
        let mut word = || words.next().filter(|word| *word != "-").map(str::to_owned);
        let report = Report {
            unit: word(),
            state: word(),
            item: word(),
            digest: word().map_or_else(|| "x".to_owned(), |unit| format!("digest of {unit}")),
            ..Report::default()
        };
        match match_unit(&driver.run, &report) {
            UnitMatch::Present { unit, .. } => format!("present {unit}"),
            UnitMatch::Used { unit } => format!("used {unit}"),
            other => format!("{other:?}"),
        }
    };
    let mut driver = one();
    let (red, green) = ("workUnit-1.1-RED", "workUnit-1.1-GREEN");
    let in_state = "- red 1.1 workUnit-1.1-RED";
    for (acts, report, expected) in [
        ("", red, "present workUnit-1.1-RED"),
        ("", green, "Stale"),
        ("fail", red, "used workUnit-1.1-RED"),
        ("", "workUnit-1.1-RED-2", "Stale"),
        ("", "workUnit-1.1-RED-1", "Stale"),
        ("", "-", "present workUnit-1.1-GREEN"),
        ("", "- green 1.1", "present workUnit-1.1-GREEN"),
        ("", in_state, "used workUnit-1.1-RED"),
        ("", "- red 1.1", "Stale"),
        ("", "- green 1.9", "Stale"),
        ("pause", red, "used workUnit-1.1-RED"),
        ("", green, "Paused"),
        ("", in_state, "used workUnit-1.1-RED"),
        ("", "- green", "Paused"),
        ("abort", red, "used workUnit-1.1-RED"),
        ("", green, "used workUnit-1.1-GREEN"),
        ("", "nothing", "Over"),
    ] {
        if !acts.is_empty() {
            driver.after(acts);
        }
        assert_eq!(means(&driver, report), expected, "{acts}: {report}");
    }
    assert_eq!(
        in_green().after("pause pass skip pause resume resume"),
        "paused:lunch !paused !paused paused:lunch workUnit-1.1-GREEN workUnit-1.1-GREEN"
    );
}

#[test]
fn an_allowed_policy_passes_once() {
    let mut driver = one();
    let found = driver.readings.entry("tests".to_owned()).or_default();
    found.findings = vec![finding("red_without_tests"), finding("no_such_thing")];
    found.findings[0].suggestion = Some("write a test".to_owned());
    let refusal = driver.report(tests(0, 1)).unwrap_err();
    assert_eq!(refusal.code, "red_without_tests");
    assert_eq!(refusal.suggestion.as_deref(), Some("write a test"));
    let allowed = driver.send(&commands::allow("no_tests_ran"));
    assert_eq!(code(allowed), "not_possible");
    let begin = driver.events.len();
    for _ in 0..2 {
        driver.send(&commands::allow("red_without_tests")).unwrap();
        assert_eq!(driver.events.len(), begin + 1);
    }
    driver.report(tests(0, 1)).unwrap();
    let last = driver.run.last.as_ref().unwrap();
    assert_eq!(last.warnings, ["red_without_tests"]);
    assert_eq!(last.findings.len(), 1);
    driver.after("reopen");
    assert_eq!(driver.after("fail"), "!red_without_tests");
}

#[test]
fn a_policy_may_pause_warn_or_be_off() {
    let policy = "config_loosened";
    for (severity, paused_for, warnings) in [
        (Severity::Pause, policy, &[][..]),
        (Severity::Warn, "", &[policy]),
        (Severity::Off, "", &[]),
    ] {
        let mut driver = tdd(&json!([subtask("1.1", &[])]));
        driver.policies.insert(policy.to_owned(), severity);
        begin(&mut driver).unwrap();
        let found = driver.readings.entry("tests".to_owned()).or_default();
        found.findings = vec![finding(policy)];
        driver.report(tests(0, 1)).unwrap();
        assert_eq!(driver.paused_for(), paused_for);
        assert_eq!(driver.run.last.as_ref().unwrap().warnings, warnings);
        if !paused_for.is_empty() {
            driver.resume().unwrap();
            assert_eq!(driver.unit(), "workUnit-1.1-RED-2");
        }
    }
}

#[test]
fn subtasks_that_are_none_or_could_never_be_run_are_refused_at_the_start() {
    for (subtask, expected) in [
        (subtask("1.1", &["1.9"]), "bad_dependencies"),
        (subtask("1.1", &["1.1"]), "bad_dependencies"),
        (json!({ "title": "no id" }), "definition_fault"),
        (json!({ "id": "1", "kind": "other" }), "definition_fault"),
    ] {
        let mut driver = tdd(&json!([subtask]));
        assert_eq!(code(begin(&mut driver)), expected, "{subtask}");
    }
}

#[test]
fn a_repair_never_takes_the_place_of_an_item() {
    let mut driver = tdd(&json!([subtask("1.1", &[]), subtask("1.fix-1", &[])]));
    begin(&mut driver).unwrap();
    through(&mut driver);
    through(&mut driver);
    assert_eq!(driver.after("fail"), "!bad_dependencies");
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE");
}

#[test]
fn inputs_are_checked() {
    for (inputs, wanted) in [
        (json!({ "taskId": 1 }), "usage"),
        (json!({ "task": "1" }), "usage"),
        (json!({ "maxAttempts": "3" }), "usage"),
    ] {
        let mut driver = tdd(&json!([subtask("1.1", &[])]));
        assert_eq!(code(begin_with(&mut driver, inputs, "refuse")), wanted);
    }
    // Attempts below one count as one.
    for attempts in [0, -5] {
        let mut driver = tdd(&json!([subtask("1.1", &[])]));
        let inputs = json!({ "taskId": "1", "maxAttempts": attempts });
        begin_with(&mut driver, inputs, "refuse").unwrap();
        driver.after("fail fail");
        assert_eq!(driver.paused_for(), "max_attempts_reached");
    }
}

#[test]
fn a_run_is_started_once_and_before_anything_else() {
    let mut driver = tdd(&json!([subtask("1.1", &[])]));
    let done = commands::effect_done(Value::Null);
    let decide = Command::Decide(Box::default());
    let report = Command::Report(Report::default());
    for command in [decide, report, done] {
        assert_eq!(code(driver.send(&command)), "internal");
    }
    let refused = ["!internal"; 5].join(" ");
    assert_eq!(driver.after("step resume pause reopen abort"), refused);
    begin(&mut driver).unwrap();
    let again = Command::Start(Box::default());
    assert_eq!(code(driver.send(&again)), "internal");
}
