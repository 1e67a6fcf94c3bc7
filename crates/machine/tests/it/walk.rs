//! The `tdd` definition, driven from end to end.

use machine::command::{Finding, Report};
use machine::event::Event;
use machine::state::ItemStatus;
use machine::{Command, RunStatus, Severity, UnitMatch, match_unit};
use serde_json::{Value, json};

use crate::driver::ann;
use crate::tdd::{
    begin, code, counts, mended, one, own_commit, status_of, subtask, tdd, tests, three, through,
};

#[test]
fn a_whole_run() {
    let mut driver = three();
    assert_eq!(driver.carried_out, ["git.branch", "tag.switch"]);
    assert_eq!(driver.unit(), "workUnit-1.1-RED");
    assert_eq!(
        counts(&driver),
        json!({ "size": 3, "remaining": 3, "done": 0, "failed": 0, "blocked": 0 })
    );
    driver.report(tests(0, 2)).unwrap();
    assert_eq!(driver.unit(), "workUnit-1.1-GREEN");
    driver.report(tests(2, 0)).unwrap();
    assert_eq!(driver.unit(), "workUnit-1.1-COMMIT");
    driver.report(own_commit()).unwrap();
    assert_eq!(driver.unit(), "workUnit-1.2-RED");
    let item = driver.run.sets["subtasks"].get("1.1").unwrap();
    assert_eq!(item.status, ItemStatus::Done);
    assert_eq!(
        counts(&driver),
        json!({ "size": 3, "remaining": 2, "done": 1, "failed": 0, "blocked": 0 })
    );
    through(&mut driver);
    assert_eq!(driver.unit(), "workUnit-1.3-RED");
    through(&mut driver);
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE");
    driver.report(tests(9, 0)).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
    assert_eq!(
        driver.carried_out,
        [
            "git.branch",
            "tag.switch",
            "git.commit",
            "git.commit",
            "git.commit",
            "task.finish",
            "tag.restore",
        ]
    );
    assert_eq!(code(driver.report(tests(1, 0))), "run_over");
    assert_eq!(code(driver.pause()), "run_over");
    assert_eq!(code(driver.resume()), "run_over");
    assert_eq!(code(driver.abort(json!({}))), "run_over");
    assert_eq!(code(driver.skip()), "run_over");
    assert_eq!(code(driver.reopen()), "run_over");
}

#[test]
fn a_commit_that_the_agent_made_needs_no_effect() {
    let mut driver = one();
    driver.report(tests(0, 1)).unwrap();
    driver.report(tests(1, 0)).unwrap();
    driver
        .report(json!({ "sha": "feed", "message": "", "files": [] }))
        .unwrap();
    let item = driver.run.sets["subtasks"].get("1.1").unwrap();
    assert_eq!(item.status, ItemStatus::Done);
    assert!(!driver.carried_out.contains(&"git.commit".to_owned()));
}

#[test]
fn attempts_run_out_and_resume_grants_a_fresh_set() {
    let mut driver = one();
    driver.report(tests(0, 1)).unwrap();
    for (attempt, unit) in [
        (1, "workUnit-1.1-GREEN"),
        (2, "workUnit-1.1-GREEN-2"),
        (3, "workUnit-1.1-GREEN-3"),
    ] {
        let (_, present) = driver.run.waiting().next().unwrap();
        assert_eq!(
            (present.id.as_str(), present.attempt, present.max_attempts),
            (unit, attempt, Some(3))
        );
        driver.report(tests(0, 1)).unwrap();
    }
    assert_eq!(driver.paused_for(), "max_attempts_reached");
    assert_eq!(driver.unit(), "");
    driver.resume().unwrap();
    let (_, present) = driver.run.waiting().next().unwrap();
    assert_eq!(
        (present.id.as_str(), present.attempt),
        ("workUnit-1.1-GREEN-4", 1)
    );
}

#[test]
fn a_step_back_leads_out_of_a_pause_and_keeps_the_attempts() {
    let mut driver = one();
    driver.report(tests(0, 1)).unwrap();
    for _ in 0..3 {
        driver.report(tests(0, 1)).unwrap();
    }
    assert_eq!(driver.status(), RunStatus::Paused);
    driver.reopen().unwrap();
    assert_eq!(driver.status(), RunStatus::Running);
    assert_eq!(driver.unit(), "workUnit-1.1-RED-2");
    driver.report(tests(0, 1)).unwrap();
    let (_, present) = driver.run.waiting().next().unwrap();
    assert_eq!(
        (present.id.as_str(), present.attempt),
        ("workUnit-1.1-GREEN-4", 4)
    );
    driver.report(tests(0, 1)).unwrap();
    assert_eq!(driver.paused_for(), "max_attempts_reached");
}

#[test]
fn a_step_back_from_each_phase() {
    let mut driver = one();
    assert_eq!(code(driver.reopen()), "cannot_reopen");
    driver.report(tests(0, 1)).unwrap();
    driver.reopen().unwrap();
    assert_eq!(driver.unit(), "workUnit-1.1-RED-2");
    driver.report(tests(0, 1)).unwrap();
    driver.report(tests(1, 0)).unwrap();
    driver.reopen().unwrap();
    assert_eq!(driver.unit(), "workUnit-1.1-GREEN-3");
    let token = driver.run.waiting().next().unwrap().0;
    assert_eq!(token.reason.as_deref(), Some("the test is wrong"));
    assert_eq!(
        code(driver.report_to("workUnit-1.1-GREEN", tests(1, 0))),
        "stale_unit"
    );
}

#[test]
fn a_skipped_subtask_bars_its_dependents_and_the_run_fails() {
    let mut driver = three();
    driver.skip().unwrap();
    assert_eq!(status_of(&driver, "1.1"), ItemStatus::Failed);
    assert_eq!(
        counts(&driver),
        json!({ "size": 3, "remaining": 1, "done": 0, "failed": 1, "blocked": 1 })
    );
    assert_eq!(driver.unit(), "workUnit-1.2-RED");
    through(&mut driver);
    assert_eq!(status_of(&driver, "1.3"), ItemStatus::Open);
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE");
    driver.report(tests(3, 0)).unwrap();
    assert_eq!(driver.status(), RunStatus::Failed);
    assert!(!driver.carried_out.contains(&"task.finish".to_owned()));
}

#[test]
fn skip_means_the_item_it_names() {
    let mut driver = three();
    let skip = |item: &str| Command::Skip {
        item: Some(item.to_owned()),
        reason: "no".to_owned(),
        keep: serde_json::Map::new(),
        approval: None,
    };
    let refusal = driver.send(&skip("1.2")).unwrap_err();
    assert_eq!(refusal.code, "not_present");
    assert_eq!(refusal.details["item"], "1.2");
    driver.send(&skip("1.1")).unwrap();
    assert_eq!(status_of(&driver, "1.1"), ItemStatus::Failed);
}

#[test]
fn what_a_skip_keeps_is_in_the_memory() {
    let mut driver = one();
    let Value::Object(keep) = json!({ "dirty": ["a.rs"] }) else {
        unreachable!()
    };
    driver
        .send(&Command::Skip {
            item: None,
            reason: "no".to_owned(),
            keep: keep.clone(),
            approval: None,
        })
        .unwrap();
    assert_eq!(driver.run.kept["dirty"], keep["dirty"]);
}

#[test]
fn a_failing_suite_opens_a_repair() {
    let mut driver = one();
    through(&mut driver);
    let begin = driver.events.len();
    driver.report(tests(4, 1)).unwrap();
    assert!(driver.names(begin).contains(&"report:retried".to_owned()));
    assert_eq!(driver.unit(), "workUnit-1.fix-1-GREEN");
    let last = driver.run.last.clone().unwrap();
    assert_eq!(
        (last.code.as_deref(), last.answer.validated),
        (Some("suite_failing"), false)
    );
    assert_eq!(
        last.answer.next.unwrap().unit.as_deref(),
        Some("workUnit-1.fix-1-GREEN")
    );
    assert_eq!(code(driver.reopen()), "nothing_before");
    driver.report(mended(5)).unwrap();
    driver.report(own_commit()).unwrap();
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE-2");
    driver.report(tests(4, 1)).unwrap();
    assert_eq!(driver.unit(), "workUnit-1.fix-2-GREEN");
    // It passes again, and nothing was changed: there is nothing to commit.
    driver.report(tests(5, 0)).unwrap();
    let last = driver.run.last.clone().unwrap();
    assert_eq!(last.warnings, ["passes_unchanged"]);
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE-3");
    driver.report(tests(5, 0)).unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn a_step_back_at_the_end_opens_a_repair_and_skip_fails_the_run() {
    let mut driver = one();
    through(&mut driver);
    driver.reopen().unwrap();
    assert_eq!(driver.unit(), "workUnit-1.fix-1-GREEN");
    driver.skip().unwrap();
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE-2");
    driver.skip().unwrap();
    assert_eq!(driver.status(), RunStatus::Failed);
    assert_eq!(driver.run.end_reason.as_deref(), Some("too hard"));
}

#[test]
fn red_with_passing_tests_is_refused_or_skipped_as_the_settings_say() {
    let mut driver = one();
    assert_eq!(
        code(driver.report(tests(3, 0))),
        "red_requires_failing_tests"
    );
    assert_eq!(code(driver.report(tests(0, 0))), "no_tests_ran");
    let mut driver = tdd(&json!([subtask("1.1", &[])]));
    driver
        .start(
            json!({ "taskId": "1" }),
            json!({ "maxGreenAttempts": 3, "redAllPassing": "skip", "refactor": false }),
        )
        .unwrap();
    driver.report(tests(3, 0)).unwrap();
    assert_eq!(driver.unit(), "workUnit-1-FINALIZE");
    let item = driver.run.sets["subtasks"].get("1.1").unwrap();
    assert_eq!(item.status, ItemStatus::Done);
}

#[test]
fn warnings_ride_on_the_report() {
    let mut driver = one();
    driver.report(tests(2, 1)).unwrap();
    assert_eq!(
        driver.run.last.as_ref().unwrap().warnings,
        ["red_has_passing_tests"]
    );
}

#[test]
fn which_unit_a_report_means() {
    let mut driver = one();
    let unnamed = |state: Option<&str>, item: Option<&str>, digest: &str| Report {
        state: state.map(str::to_owned),
        item: item.map(str::to_owned),
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
    let red = "workUnit-1.1-RED";
    let green = "workUnit-1.1-GREEN";

    assert_eq!(match_unit(&driver.run, &named(red)), present(red));
    assert_eq!(match_unit(&driver.run, &named(green)), UnitMatch::Stale);
    driver.report(tests(0, 1)).unwrap();
    let digest = format!("digest of {red}");
    assert_eq!(match_unit(&driver.run, &named(red)), used(red));
    assert_eq!(
        match_unit(&driver.run, &named("workUnit-1.1-RED-2")),
        UnitMatch::Stale
    );
    assert_eq!(
        match_unit(&driver.run, &named("workUnit-1.1-RED-1")),
        UnitMatch::Stale
    );
    assert_eq!(
        match_unit(&driver.run, &unnamed(None, None, "x")),
        present(green)
    );
    assert_eq!(
        match_unit(&driver.run, &unnamed(Some("green"), Some("1.1"), "x")),
        present(green)
    );
    assert_eq!(
        match_unit(&driver.run, &unnamed(Some("red"), Some("1.1"), &digest)),
        used(red)
    );
    assert_eq!(
        match_unit(&driver.run, &unnamed(Some("red"), Some("1.1"), "x")),
        UnitMatch::Stale
    );
    assert_eq!(
        match_unit(&driver.run, &unnamed(Some("green"), Some("1.9"), "x")),
        UnitMatch::Stale
    );

    driver.pause().unwrap();
    assert_eq!(match_unit(&driver.run, &named(red)), used(red));
    assert_eq!(match_unit(&driver.run, &named(green)), UnitMatch::Paused);
    assert_eq!(
        match_unit(&driver.run, &unnamed(Some("red"), None, &digest)),
        used(red)
    );
    assert_eq!(
        match_unit(&driver.run, &unnamed(Some("green"), None, "x")),
        UnitMatch::Paused
    );
    assert_eq!(code(driver.report(tests(1, 0))), "paused");
    assert_eq!(code(driver.skip()), "paused");
    driver.pause().unwrap();
    driver.resume().unwrap();
    driver.resume().unwrap();
    assert_eq!(driver.unit(), green);

    driver.abort(json!({})).unwrap();
    assert_eq!(match_unit(&driver.run, &named(red)), used(red));
    assert_eq!(match_unit(&driver.run, &named(green)), used(green));
    assert_eq!(match_unit(&driver.run, &named("nothing")), UnitMatch::Over);
}

#[test]
fn an_allowed_policy_passes_once() {
    let mut driver = one();
    let finding = |policy: &str| Finding {
        policy: policy.to_owned(),
        message: "no test file changed".to_owned(),
        suggestion: Some("write a test".to_owned()),
        details: serde_json::Map::new(),
    };
    let allow = |code: &str| Command::Allow {
        code: code.to_owned(),
        reason: "generated".to_owned(),
        approval: Some(Box::new(ann())),
    };
    driver
        .readings
        .entry("tests".to_owned())
        .or_default()
        .findings = vec![finding("red_without_tests"), finding("no_such_thing")];
    let refusal = driver.report(tests(0, 1)).unwrap_err();
    assert_eq!(refusal.code, "red_without_tests");
    assert_eq!(refusal.suggestion.as_deref(), Some("write a test"));
    assert_eq!(code(driver.send(&allow("no_tests_ran"))), "not_a_policy");
    driver.send(&allow("red_without_tests")).unwrap();
    let begin = driver.events.len();
    driver.send(&allow("red_without_tests")).unwrap();
    assert_eq!(driver.names(begin).len(), 0);
    driver.report(tests(0, 1)).unwrap();
    let last = driver.run.last.as_ref().unwrap();
    assert_eq!(last.warnings, ["red_without_tests"]);
    assert_eq!(last.findings.len(), 1);
    driver.reopen().unwrap();
    assert_eq!(code(driver.report(tests(0, 1))), "red_without_tests");
}

#[test]
fn a_policy_may_pause_warn_or_be_off() {
    for (severity, paused, warned) in [
        (Severity::Pause, true, false),
        (Severity::Warn, false, true),
        (Severity::Off, false, false),
    ] {
        let mut driver = tdd(&json!([subtask("1.1", &[])]));
        driver
            .policies
            .insert("history_rewritten".to_owned(), severity);
        begin(&mut driver).unwrap();
        driver
            .readings
            .entry("tests".to_owned())
            .or_default()
            .findings = vec![Finding {
            policy: "history_rewritten".to_owned(),
            message: "it was".to_owned(),
            suggestion: None,
            details: serde_json::Map::new(),
        }];
        driver.report(tests(0, 1)).unwrap();
        assert_eq!(driver.status() == RunStatus::Paused, paused);
        let last = driver.run.last.clone().unwrap();
        assert_eq!(
            last.warnings.contains(&"history_rewritten".to_owned()),
            warned
        );
        if paused {
            assert_eq!(driver.paused_for(), "history_rewritten");
            driver.resume().unwrap();
            assert_eq!(driver.unit(), "workUnit-1.1-RED-2");
        }
    }
}

#[test]
fn subtasks_that_could_never_be_run_are_refused_at_the_start() {
    for (subtasks, needle) in [
        (
            json!([subtask("1.1", &["1.9"])]),
            "1.1 depends on 1.9, which does not exist",
        ),
        (json!([subtask("1.1", &["1.1"])]), "1.1 depends on itself"),
        (
            json!([subtask("1.1", &[]), subtask("1.1", &[])]),
            "the id 1.1 is used twice",
        ),
        (
            json!([
                subtask("1", &["2"]),
                subtask("2", &["3"]),
                subtask("3", &["1"])
            ]),
            "in a circle: 1 → 2 → 3 → 1",
        ),
    ] {
        let mut driver = tdd(&subtasks);
        let refusal = begin(&mut driver).unwrap_err();
        assert_eq!(refusal.code, "bad_dependencies");
        assert!(refusal.message.unwrap().contains(needle));
        assert!(driver.events.is_empty());
    }
}

#[test]
fn what_the_reader_gives_must_be_items() {
    for subtasks in [
        json!([{ "title": "no id" }]),
        json!([{ "id": 1 }]),
        json!([{ "id": "1.1", "kind": "other" }]),
        json!([{ "id": "1.1", "dependencies": "1.2" }]),
    ] {
        assert_eq!(
            code(begin(&mut tdd(&subtasks))),
            "definition_fault",
            "{subtasks}"
        );
    }
}

#[test]
fn a_repair_never_takes_the_place_of_an_item() {
    let mut driver = tdd(&json!([subtask("1.1", &[]), subtask("1.fix-1", &[])]));
    begin(&mut driver).unwrap();
    through(&mut driver);
    through(&mut driver);
    let refusal = driver.report(tests(1, 1)).unwrap_err();
    assert_eq!(refusal.code, "bad_dependencies");
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
        let config = json!({ "maxGreenAttempts": 3, "redAllPassing": "refuse", "refactor": false });
        assert_eq!(code(driver.start(inputs, config)), wanted);
    }
}

#[test]
fn attempts_below_one_count_as_one() {
    for attempts in [0, -5] {
        let mut driver = tdd(&json!([subtask("1.1", &[])]));
        driver
            .start(
                json!({ "taskId": "1", "maxAttempts": attempts }),
                json!({ "maxGreenAttempts": 3, "redAllPassing": "refuse", "refactor": false }),
            )
            .unwrap();
        driver.report(tests(0, 1)).unwrap();
        driver.report(tests(0, 1)).unwrap();
        assert_eq!(driver.paused_for(), "max_attempts_reached");
    }
}

#[test]
fn a_run_is_started_once_and_before_anything_else() {
    let mut driver = tdd(&json!([subtask("1.1", &[])]));
    for command in [
        Command::Resume {
            approval: Some(Box::new(ann())),
        },
        Command::Pause {
            reason: String::new(),
            approval: None,
        },
        Command::Reopen {
            item: None,
            reason: String::new(),
            flags: serde_json::Map::new(),
            approval: Some(Box::new(ann())),
        },
        Command::Step,
        Command::Decide(Box::default()),
        Command::Abort {
            approval: None,
            flags: serde_json::Map::new(),
        },
        Command::Report(Report::default()),
        Command::EffectDone {
            result: Value::Null,
            keep: serde_json::Map::new(),
            artifacts: Vec::new(),
        },
    ] {
        assert_eq!(code(driver.send(&command)), "not_started");
    }
    begin(&mut driver).unwrap();
    let again = Command::Start(Box::default());
    assert_eq!(code(driver.send(&again)), "already_started");
}

#[test]
fn every_issue_of_a_unit_has_an_id_of_its_own() {
    let mut driver = one();
    for _ in 0..4 {
        driver.report(tests(0, 1)).unwrap();
        driver.reopen().unwrap();
    }
    let issued: Vec<&str> = driver
        .events
        .iter()
        .filter_map(|(_, event)| match event {
            Event::UnitIssued { unit, .. } => Some(unit.as_str()),
            _ => None,
        })
        .collect();
    let mut once = issued.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), issued.len());
    assert_eq!(issued.last(), Some(&"workUnit-1.1-RED-5"));
    assert_eq!(driver.contexts, issued);
}
