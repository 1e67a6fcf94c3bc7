//! The `tdd` definition, driven from end to end.

use machine::command::Report;
use machine::state::ItemStatus;
use machine::{Command, RunStatus, Severity, UnitMatch, match_unit};
use serde_json::{Value, json};

use crate::commands;
use crate::driver::{Driver, finding};
use crate::tdd::{
    attempt, begin, begin_with, code, in_green, one, own_commit, status_of, subtask, tdd, tests,
    three, through, to_commit, to_finalize,
};

const COUNTED: [&str; 5] = ["size", "remaining", "done", "failed", "blocked"];

#[test]
fn a_whole_run() {
    let mut driver = three();
    assert_eq!(driver.carried_out, ["git.branch", "tag.switch"]);
    assert_eq!(driver.counted("subtasks", COUNTED), [3, 3, 0, 0, 0]);
    for (unit, facts) in [
        ("workUnit-1.1-RED", tests(0, 2)),
        ("workUnit-1.1-GREEN", tests(2, 0)),
        ("workUnit-1.1-COMMIT", own_commit()),
    ] {
        assert_eq!(driver.unit(), unit);
        driver.report(facts).unwrap();
    }
    assert_eq!(driver.unit(), "workUnit-1.2-RED");
    assert_eq!(status_of(&driver, "1.1"), ItemStatus::Done);
    assert_eq!(driver.counted("subtasks", COUNTED), [3, 2, 1, 0, 0]);
    through(&mut driver);
    assert_eq!(driver.unit(), "workUnit-1.3-RED");
    through(&mut driver);
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE");
    driver.report(tests(9, 0)).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
    let commits = ["git.commit", "git.commit", "git.commit"];
    assert_eq!(driver.carried_out[2..5], commits);
    assert_eq!(driver.carried_out[5..], ["task.finish", "tag.restore"]);
    let refused = ["!run_over"; 6].join(" ");
    assert_eq!(driver.after("pass pause resume abort skip reopen"), refused);
}

#[test]
fn a_commit_that_the_agent_made_needs_no_effect() {
    let mut driver = to_commit();
    let made = json!({ "sha": "feed", "message": "", "files": [] });
    driver.report(made).unwrap();
    assert_eq!(status_of(&driver, "1.1"), ItemStatus::Done);
    assert!(!driver.carried_out.contains(&"git.commit".to_owned()));
}

#[test]
fn attempts_run_out_and_resume_grants_a_fresh_set() {
    let mut driver = in_green();
    for present in [
        ("workUnit-1.1-GREEN", 1),
        ("workUnit-1.1-GREEN-2", 2),
        ("workUnit-1.1-GREEN-3", 3),
    ] {
        assert_eq!(attempt(&driver), present);
        driver.after("fail");
    }
    assert_eq!(driver.paused_for(), "max_attempts_reached");
    driver.after("resume");
    assert_eq!(attempt(&driver), ("workUnit-1.1-GREEN-4", 1));
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
fn a_step_back_from_each_phase() {
    let mut driver = one();
    assert_eq!(
        driver.after("reopen fail"),
        "!cannot_reopen workUnit-1.1-GREEN"
    );
    assert_eq!(driver.after("reopen"), "workUnit-1.1-RED-2");
    driver.after("fail pass");
    assert_eq!(driver.after("reopen"), "workUnit-1.1-GREEN-3");
    let (token, _) = driver.run.waiting().next().unwrap();
    assert_eq!(token.reason.as_deref(), Some("the test is wrong"));
    let stale = driver.report_to("workUnit-1.1-GREEN", tests(1, 0));
    assert_eq!(code(stale), "stale_unit");
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
    driver.report(tests(3, 0)).unwrap();
    assert_eq!(driver.status(), RunStatus::Failed);
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
    assert_eq!(
        driver.after("reopen mend commit fail"),
        "!nothing_before workUnit-1.fix-1-COMMIT workUnit-1-FINALIZE-2 workUnit-1.fix-2-GREEN"
    );
    // It passes again, and nothing was changed: there is nothing to commit.
    assert_eq!(driver.after("pass"), "workUnit-1-FINALIZE-3");
    let last = driver.run.last.as_ref().unwrap();
    assert_eq!(last.warnings, ["passes_unchanged"]);
    assert_eq!(driver.after("pass"), "completed");
}

#[test]
fn a_step_back_at_the_end_opens_a_repair_and_skip_fails_the_run() {
    let mut driver = to_finalize();
    assert_eq!(
        driver.after("reopen skip skip"),
        "workUnit-1.fix-1-GREEN workUnit-1-FINALIZE-2 failed"
    );
    assert_eq!(driver.run.end_reason.as_deref(), Some("too hard"));
}

#[test]
fn red_with_passing_tests_is_refused_or_skipped_as_the_settings_say() {
    let mut driver = one();
    assert_eq!(driver.after("pass"), "!red_requires_failing_tests");
    assert_eq!(code(driver.report(tests(0, 0))), "no_tests_ran");
    driver.report(tests(2, 1)).unwrap();
    let last = driver.run.last.as_ref().unwrap();
    assert_eq!(last.warnings, ["red_has_passing_tests"]);
    let mut driver = tdd(&json!([subtask("1.1", &[])]));
    begin_with(&mut driver, json!({ "taskId": "1" }), "skip").unwrap();
    assert_eq!(driver.after("pass"), "workUnit-1-FINALIZE");
    assert_eq!(status_of(&driver, "1.1"), ItemStatus::Done);
}

#[test]
fn which_unit_a_report_means() {
    const RED: &str = "workUnit-1.1-RED";
    const GREEN: &str = "workUnit-1.1-GREEN";
    let unnamed = |state: &str, item: &str, digest: &str| Report {
        state: Some(state.to_owned()).filter(|state| !state.is_empty()),
        item: Some(item.to_owned()).filter(|item| !item.is_empty()),
        digest: digest.to_owned(),
        ..Report::default()
    };
    let named = |unit: &str| Report {
        unit: Some(unit.to_owned()),
        ..Report::default()
    };
    let present = |unit: &str| UnitMatch::Present {
        token: 1,
        unit: unit.to_owned(),
    };
    let used = |unit: &str| UnitMatch::Used {
        unit: unit.to_owned(),
    };
    let means = |driver: &Driver, expected: &[(Report, UnitMatch)]| {
        for (report, expected) in expected {
            let found = match_unit(&driver.run, report);
            assert_eq!(found, *expected, "{report:?}");
        }
    };
    let digest = format!("digest of {RED}");
    let again = |item: &str| unnamed("red", item, &digest);

    let mut driver = one();
    let expected = [(named(RED), present(RED)), (named(GREEN), UnitMatch::Stale)];
    means(&driver, &expected);
    driver.report(tests(0, 1)).unwrap();
    means(
        &driver,
        &[
            (named(RED), used(RED)),
            (named("workUnit-1.1-RED-2"), UnitMatch::Stale),
            (named("workUnit-1.1-RED-1"), UnitMatch::Stale),
            (unnamed("", "", "x"), present(GREEN)),
            (unnamed("green", "1.1", "x"), present(GREEN)),
            (again("1.1"), used(RED)),
            (unnamed("red", "1.1", "x"), UnitMatch::Stale),
            (unnamed("green", "1.9", "x"), UnitMatch::Stale),
        ],
    );

    driver.pause().unwrap();
    means(
        &driver,
        &[
            (named(RED), used(RED)),
            (named(GREEN), UnitMatch::Paused),
            (again(""), used(RED)),
            (unnamed("green", "", "x"), UnitMatch::Paused),
        ],
    );
    assert_eq!(
        driver.after("pass skip pause resume resume"),
        "!paused !paused paused:lunch workUnit-1.1-GREEN workUnit-1.1-GREEN"
    );

    driver.abort(json!({})).unwrap();
    means(
        &driver,
        &[
            (named(RED), used(RED)),
            (named(GREEN), used(GREEN)),
            (named("nothing"), UnitMatch::Over),
        ],
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
    assert_eq!(
        code(driver.send(&commands::allow("no_tests_ran"))),
        "not_a_policy"
    );
    driver.send(&commands::allow("red_without_tests")).unwrap();
    let begin = driver.events.len();
    driver.send(&commands::allow("red_without_tests")).unwrap();
    assert_eq!(driver.events.len(), begin);
    driver.report(tests(0, 1)).unwrap();
    let last = driver.run.last.as_ref().unwrap();
    assert_eq!(last.warnings, ["red_without_tests"]);
    assert_eq!(last.findings.len(), 1);
    driver.reopen().unwrap();
    assert_eq!(code(driver.report(tests(0, 1))), "red_without_tests");
}

#[test]
fn a_policy_may_pause_warn_or_be_off() {
    let policy = "history_rewritten";
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
    let circle = [
        subtask("1", &["2"]),
        subtask("2", &["3"]),
        subtask("3", &["1"]),
    ];
    let needs_none = json!({ "id": "1.1", "dependencies": "1.2" });
    for (expected, all) in [
        (
            "bad_dependencies",
            [
                json!([subtask("1.1", &["1.9"])]),
                json!([subtask("1.1", &["1.1"])]),
                json!([subtask("1", &[]), subtask("1", &[])]),
                json!(circle),
            ],
        ),
        (
            "definition_fault",
            [
                json!([{ "title": "no id" }]),
                json!([{ "id": 1 }]),
                json!([{ "id": "1.1", "kind": "other" }]),
                json!([needs_none]),
            ],
        ),
    ] {
        for subtasks in all {
            let mut driver = tdd(&subtasks);
            assert_eq!(code(begin(&mut driver)), expected, "{subtasks}");
        }
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
        (json!({ "taskId": 1 }), "bad_input"),
        (json!({ "task": "1" }), "unknown_input"),
        (json!({ "maxAttempts": "3" }), "bad_input"),
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
        assert_eq!(code(driver.send(&command)), "not_started");
    }
    let refused = ["!not_started"; 5].join(" ");
    assert_eq!(driver.after("step resume pause reopen abort"), refused);
    begin(&mut driver).unwrap();
    let again = Command::Start(Box::default());
    assert_eq!(code(driver.send(&again)), "already_started");
}
