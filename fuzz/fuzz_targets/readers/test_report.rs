//! Every report that is read holds together, whatever it is made from; what is refused is told shortly.

use test_report::limits::{LONGEST_ID, LONGEST_MESSAGE};
use test_report::{Kind, Named, TestFormat, TestReport, Totals, Unreadable, read_tests};

/// Reads the bytes as this format, and as what they look like.
pub fn check(bytes: &[u8], format: TestFormat) {
    let given = read_tests(bytes, Some(format));
    let told = read_tests(bytes, None);
    if let (Ok(given), Ok(told)) = (&given, &told)
        && told.format == format
    {
        assert_eq!(given, told);
    }
    for read in [given, told] {
        match read {
            Ok(report) => holds_together(&report),
            Err(fault) => is_told(&fault),
        }
    }
}

fn holds_together(report: &TestReport) {
    let totals = &report.totals;
    assert!(totals.total > 0);
    let mut named = Totals::default();
    for test in &report.tests {
        named.count(test.outcome, 1);
        assert!(test.id.len() <= LONGEST_ID);
        assert!(
            test.message
                .as_deref()
                .is_none_or(|message| message.len() <= LONGEST_MESSAGE)
        );
        assert!(
            test.file
                .as_deref()
                .is_none_or(|file| file.len() <= LONGEST_ID)
        );
    }
    match report.named {
        Named::Every => assert_eq!(named, *totals),
        Named::Some => assert!(named.total > 0),
        Named::None => assert_eq!(named.total, 0),
    }
    for (named, all) in [
        (named.total, totals.total),
        (named.passed, totals.passed),
        (named.failed, totals.failed),
        (named.errors, totals.errors),
        (named.not_collected, totals.not_collected),
        (named.skipped, totals.skipped),
        (named.expected_failures, totals.expected_failures),
        (named.flaky, totals.flaky),
    ] {
        assert!(named <= all, "{report:?}");
    }
    let mut twice = report.clone();
    twice.merge(report.clone());
    assert_eq!(twice.totals.failures() > 0, totals.failures() > 0);
}

fn is_told(fault: &Unreadable) {
    assert_ne!(fault.kind, Kind::Io, "{fault}");
    let told = fault.to_string();
    assert!(!told.is_empty() && told.len() < 4000, "{told}");
    assert!(!told.contains(char::is_control), "{told:?}");
    assert_ne!(fault.line, Some(0));
}
