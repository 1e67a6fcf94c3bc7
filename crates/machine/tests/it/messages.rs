//! Codes of a definition in its own words.

use machine::Definition;
use serde_json::json;

use crate::driver::Driver;
use crate::marked::with;
use crate::support::catalog;

const EDGES: &str = "a: { expects: tests, work: { attempts: 2 }, on: { report: [
  { when: tests.ran == 0, refuse: nothing_ran },
  { when: tests.failed == 1, retry: one_fails },
  { when: tests.failed > 1, pause: many_fail },
  { when: tests.skipped > 0, warn: some_skipped },
  { to: z } ] } }
";

fn definition(messages: &str) -> String {
    with(messages, EDGES)
}

fn tests(failed: u64, skipped: u64, ran: u64) -> serde_json::Value {
    json!({ "passed": 1, "failed": failed, "errors": 0, "skipped": skipped, "failing": failed, "ran": ran })
}

#[test]
fn a_code_is_answered_in_the_words_of_the_definition() {
    let mut driver = Driver::begun(&definition(
        "messages: { nothing_ran: { message: No test ran, fix: run them }, one_fails: { message: One fails, fix: mend it },
  some_skipped: { message: Some are skipped }, many_fail: { message: Many fail } }",
    ));
    let refused = driver.report(tests(0, 0, 0)).unwrap_err();
    let words = [refused.message, refused.suggestion].map(Option::unwrap);
    assert_eq!(refused.code, "nothing_ran");
    assert_eq!(words, ["No test ran", "run them"]);
    let told = |driver: &Driver| {
        let last = driver.run.last.as_ref().unwrap();
        let code = last.code.iter().chain(&last.warnings).next();
        let found = &last.findings[0];
        let fix = found.suggestion.clone().unwrap_or_default();
        [code.unwrap().clone(), found.message.clone(), fix]
    };
    driver.report(tests(1, 0, 2)).unwrap();
    assert_eq!(told(&driver), ["one_fails", "One fails", "mend it"]);
    driver.report(tests(2, 0, 2)).unwrap();
    let pause = driver.run.pause.clone().unwrap();
    assert_eq!(pause.message.as_deref(), Some("Many fail"));
    driver.resume().unwrap();
    driver.report(tests(0, 3, 2)).unwrap();
    assert_eq!(told(&driver), ["some_skipped", "Some are skipped", ""]);
}

#[test]
fn a_code_without_words_is_a_fault_and_so_are_words_without_a_code() {
    let mut known = catalog();
    known.codes.extend(["nothing_ran", "one_fails"]);
    for (messages, rules) in [
        ("messages: { some_skipped: { message: Some } }", &[][..]),
        ("", &["no_message"]),
        (
            "messages: { some_skiped: { message: Some } }",
            &["unused_message", "no_message"],
        ),
    ] {
        let faults = Definition::load(&definition(messages), &known).err();
        let faults = faults.into_iter().flatten();
        assert_eq!(faults.map(|fault| fault.rule).collect::<Vec<_>>(), rules);
    }
}
