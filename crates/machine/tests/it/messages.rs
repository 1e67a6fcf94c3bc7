//! Codes of a definition in its own words.

use machine::{Definition, RunStatus};
use serde_json::json;

use crate::driver::Driver;
use crate::marked::{END, with};
use crate::support::catalog;

const EDGES: &str = "a: { expects: tests, work: { attempts: 2 }, on: { report: [
  { when: tests.ran == 0, refuse: nothing_ran },
  { when: tests.failed == 1, retry: one_fails },
  { when: tests.failed > 1, pause: many_fail },
  { when: tests.skipped > 0, warn: some_skipped },
  { to: z } ] } }
";

fn definition(messages: &str) -> String {
    with(messages, &format!("{EDGES}{END}"))
}

fn tests(failed: u64, skipped: u64, ran: u64) -> serde_json::Value {
    json!({ "passed": 1, "failed": failed, "errors": 0, "skipped": skipped, "failing": failed, "ran": ran })
}

#[test]
fn a_code_is_answered_in_the_words_of_the_definition() {
    let mut driver = Driver::new(&definition(
        "messages: { nothing_ran: { message: No test ran, fix: run them }, one_fails: { message: One fails, fix: mend it },
  some_skipped: { message: Some are skipped }, many_fail: { message: Many fail } }",
    ));
    driver.start(json!({}), json!({})).unwrap();
    let refused = driver.report(tests(0, 0, 0)).unwrap_err();
    assert_eq!(refused.code, "nothing_ran");
    assert_eq!(refused.message.as_deref(), Some("No test ran"));
    assert_eq!(refused.suggestion.as_deref(), Some("run them"));

    driver.report(tests(1, 0, 2)).unwrap();
    let retried = driver.run.last.clone().unwrap();
    assert_eq!(retried.code.as_deref(), Some("one_fails"));
    assert_eq!(retried.findings[0].message, "One fails");
    assert_eq!(retried.findings[0].suggestion.as_deref(), Some("mend it"));

    driver.report(tests(2, 0, 2)).unwrap();
    assert_eq!(driver.status(), RunStatus::Paused);
    let pause = driver.run.pause.clone().unwrap();
    assert_eq!(pause.reason, "many_fail");
    assert_eq!(pause.message.as_deref(), Some("Many fail"));
    driver.resume().unwrap();

    driver.report(tests(0, 3, 2)).unwrap();
    let taken = driver.run.last.clone().unwrap();
    assert_eq!(taken.warnings, ["some_skipped"]);
    assert_eq!(taken.findings[0].message, "Some are skipped");
    assert_eq!(driver.run, driver.replayed());
}

#[test]
fn a_code_without_words_is_a_fault_and_so_are_words_without_a_code() {
    let mut known = catalog();
    known.codes.extend(["nothing_ran", "one_fails"]);
    let faults = |messages: &str| {
        let faults = Definition::load(&definition(messages), &known).err();
        let faults = faults.into_iter().flatten();
        faults
            .map(|fault| (fault.rule, fault.help))
            .collect::<Vec<_>>()
    };
    assert!(faults("messages: { some_skipped: { message: Some } }").is_empty());
    let missing = faults("");
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert_eq!(missing[0].0, "no_message");
    assert!(
        missing[0]
            .1
            .starts_with("say it: `messages: { some_skipped: "),
        "{missing:?}"
    );
    let unused = faults("messages: { some_skiped: { message: Some } }");
    let rules: Vec<&str> = unused.iter().map(|fault| fault.0).collect();
    assert_eq!(rules, ["unused_message", "no_message"]);
    assert_eq!(unused[0].1, "did you mean `some_skipped`?");
}
