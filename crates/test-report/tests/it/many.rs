//! Reports of very many tests: what a reader does for each must not grow with their number, or these tests take minutes.

use std::fmt::Write as _;

use test_report::{Outcome, read_tests};

const MANY: usize = 50_000;

/// A report in which each of the tests failed, put together of lines for each.
fn text(begin: &str, parts: &[&dyn Fn(usize) -> String], between: &[&str]) -> String {
    let mut text = begin.to_owned();
    for (part, behind) in parts.iter().zip(between) {
        for test in 0..MANY {
            let _ = writeln!(text, "{}", part(test));
        }
        let _ = writeln!(text, "{behind}");
    }
    text
}

/// Every one failed; what is told of the eighth.
fn failed(text: &str) -> Option<String> {
    let report = read_tests(text.as_bytes(), None).expect("a report");
    let counted = (report.totals.failed, report.tests.len());
    assert_eq!(counted, (MANY as u64, MANY));
    let mut tests = report.tests.iter();
    assert!(tests.all(|test| test.outcome == Outcome::Failed));
    report.tests[7].message.as_deref().map(str::to_owned)
}

#[test]
fn pytest() {
    let text = text(
        "================ test session starts ================\n",
        &[
            &|test| format!("test_cart.py::test_{test} FAILED [ 50%]"),
            &|test| format!("FAILED test_cart.py::test_{test} - assert {test} == 0"),
        ],
        &[
            "================ short test summary info ================",
            &format!("================ {MANY} failed in 12.34s ================"),
        ],
    );
    assert_eq!(failed(&text).as_deref(), Some("assert 7 == 0"));
}

#[test]
fn unittest() {
    let (heavy, light) = ("=".repeat(70), "-".repeat(70));
    let text = text(
        "",
        &[
            &|test| format!("test_{test} (cart.Cart.test_{test}) ... FAIL"),
            &|test| {
                format!(
                    "{heavy}\nFAIL: test_{test} (cart.Cart.test_{test})\n{light}\nAssertionError: {test} != 0\n"
                )
            },
        ],
        &[
            "",
            &format!("{light}\nRan {MANY} tests in 12.340s\n\nFAILED (failures={MANY})"),
        ],
    );
    assert_eq!(failed(&text).as_deref(), Some("AssertionError: 7 != 0"));
}

#[test]
fn maven() {
    let numbers = format!("Tests run: {MANY}, Failures: {MANY}, Errors: 0, Skipped: 0");
    let text = text(
        &format!(
            "[INFO] Scanning for projects...\n[ERROR] {numbers}, Time elapsed: 12.34 s <<< FAILURE! -- in shop.CartTest\n"
        ),
        &[&|test| {
            format!("[ERROR] shop.CartTest.test{test} -- Time elapsed: 0.001 s <<< FAILURE!")
        }],
        &[&format!(
            "[INFO] Results:\n[ERROR] {numbers}\n[INFO] BUILD FAILURE"
        )],
    );
    failed(&text);
}
