//! What Bun prints and leaves out of its report: files of tests that it could not load.

use super::plain;
use crate::limits::{LONGEST_MESSAGE, MOST_TESTS};
use crate::tests::builder::{cut, short_id};
use crate::tests::thrown::is_script;
use crate::tests::{Named, Outcome, Test, TestReport};

/// What it prints before an error that is none of a test.
const UNHANDLED: &str = "# Unhandled error between tests";

/// Adds to the report of a run the files that it printed as ones in which something failed outside of every test, where the report
/// does not name them: Bun has no case for a file that it could not load.
pub fn add_unhandled(report: &mut TestReport, printed: &str) {
    let printed = plain(printed);
    let mut file = None;
    let mut lines = printed.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_suffix(':').filter(|name| is_script(name)) {
            file = Some(name);
        }
        let (UNHANDLED, Some(name)) = (line, file) else {
            continue;
        };
        let is_known = report.tests.iter().any(|test| *test.id == *name);
        if is_known || report.tests.len() >= MOST_TESTS {
            continue;
        }
        let mut told = lines.by_ref().take(2);
        let error = told.find(|line| !line.starts_with("---"));
        report.tests.push(Test {
            id: short_id(name),
            outcome: Outcome::NotCollected,
            message: error.map(|error| cut(error, LONGEST_MESSAGE).into()),
            file: Some(name.into()),
        });
        report.totals.count(Outcome::NotCollected, 1);
        if report.named == Named::None {
            report.named = Named::Some;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Outcome, read_tests};

    use super::*;

    const REPORT: &str = "<testsuites tests=\"1\"><testsuite name=\"add.test.js\" tests=\"1\"><testcase name=\"adds\" classname=\"\"/></testsuite></testsuites>";

    #[test]
    fn files_that_could_not_be_loaded_are_added() {
        let printed = "bun test v1.4.5\n\ntest/add.test.js:\n(pass) adds\n\n\u{1b}[0mtest/double.test.js:\u{1b}[0m\n\n# Unhandled error between tests\n-------------------------------\nerror: Cannot find module '../double.js' from '/shop/test/double.test.js'\n-------------------------------\n\n\n 1 pass\n 1 fail\n 1 error\n";
        let mut report = read_tests(REPORT.as_bytes(), None).unwrap();
        let before = report.clone();
        add_unhandled(
            &mut report,
            "test/add.test.js:\n(pass) adds\n\n 1 pass\n 0 fail\n",
        );
        assert_eq!(report, before);
        add_unhandled(&mut report, printed);
        let added = &report.tests[1];
        let told = (&*added.id, added.outcome, report.totals.not_collected);
        assert_eq!(told, ("test/double.test.js", Outcome::NotCollected, 1));
        let message = added.message.as_deref().unwrap();
        assert!(message.starts_with("error: Cannot find module"));
        let once = report.clone();
        add_unhandled(&mut report, printed);
        assert_eq!(report, once);
    }
}
