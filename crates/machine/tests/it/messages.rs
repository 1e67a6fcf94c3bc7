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
    assert_eq!(
        (
            refused.code.as_str(),
            refused.message.as_deref(),
            refused.suggestion.as_deref()
        ),
        ("nothing_ran", Some("No test ran"), Some("run them"))
    );
    let told = |driver: &Driver| {
        let last = driver.run.last.as_ref().unwrap();
        let finding = &last.findings[0];
        let code = last.code.clone().into_iter();
        let codes: Vec<String> = code.chain(last.warnings.clone()).collect();
        (
            codes.concat(),
            finding.message.clone(),
            finding.suggestion.clone(),
        )
    };
    driver.report(tests(1, 0, 2)).unwrap();
    let said = |code: &str, message: &str| (code.to_owned(), message.to_owned());
    let (code, message, fix) = told(&driver);
    assert_eq!((code, message), said("one_fails", "One fails"));
    assert_eq!(fix.as_deref(), Some("mend it"));

    driver.report(tests(2, 0, 2)).unwrap();
    let pause = driver.run.pause.clone().unwrap();
    assert_eq!(
        (pause.reason, pause.message.unwrap()),
        said("many_fail", "Many fail")
    );
    driver.resume().unwrap();

    driver.report(tests(0, 3, 2)).unwrap();
    let (code, message, _) = told(&driver);
    assert_eq!((code, message), said("some_skipped", "Some are skipped"));
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
