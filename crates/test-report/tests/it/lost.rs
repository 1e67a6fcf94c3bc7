//! What failed is in the report, whatever passed beside it.

use test_report::{Kind, read_tests};

/// Total, failed, and not collected.
fn totals(text: &str) -> (u64, u64, u64) {
    let totals = read_tests(text.as_bytes(), None).expect("a report").totals;
    (totals.total, totals.failed, totals.not_collected)
}

/// As gotestsum writes them with short names of classes: two packages that are called alike.
#[test]
fn a_test_of_go_is_not_its_namesake_of_another_package() {
    let suite = |package: &str, failures: u32, inside: &str| {
        format!(
            r#"<testsuite tests="1" failures="{failures}" errors="0" name="{package}"><properties><property name="go.version" value="go1.19"/></properties><testcase classname="v1" name="TestParse">{inside}</testcase></testsuite>"#
        )
    };
    let failed = r#"<failure message="Failed" type="">no</failure>"#;
    for (first, second) in [((1, failed), (0, "")), ((0, ""), (1, failed))] {
        let text = format!(
            r#"<testsuites tests="2" failures="1" errors="0">{}{}</testsuites>"#,
            suite("x/api/v1", first.0, first.1),
            suite("x/web/v1", second.0, second.1)
        );
        assert_eq!(totals(&text), (2, 1, 0));
    }
}

/// The process died between its last test and its summary.
#[test]
fn a_program_of_tests_that_dies_after_its_last_test_has_not_passed() {
    let text = "     Running unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)

running 2 tests
test adds ... ok
test buys ... ok
error: test failed, to rerun pass `--lib`

Caused by:
  process didn't exit successfully: `target/debug/deps/shop-0123456789abcdef` (signal: 11, SIGSEGV: invalid memory reference)
";
    assert_eq!(totals(text), (3, 0, 1));
}

#[test]
fn a_script_that_failed_and_reports_no_failure_is_one_that_could_not_be_run() {
    let scripts = |end: &str| {
        format!(
            "packages/a test$ node --test --test-reporter=tap
packages/b test$ node check.js
packages/a test: TAP version 13
packages/a test: ok 1 - adds
packages/a test: 1..1
packages/b test: 3 of 5 checks broke
packages/a test: Done
packages/b test: {end}
"
        )
    };
    assert_eq!(totals(&scripts("Done")), (1, 0, 0));
    assert_eq!(totals(&scripts("Failed")), (2, 0, 1));
}

#[test]
fn suites_of_suites_may_not_count_failures_that_are_nowhere() {
    let text = |case: &str| {
        format!(
            r#"<testsuites tests="1" failures="1"><testsuite name="shop" tests="1">{case}</testsuite></testsuites>"#
        )
    };
    let passed = text(r#"<testcase name="adds"/>"#);
    let fault = read_tests(passed.as_bytes(), None).expect_err("a contradiction");
    assert_eq!(fault.kind, Kind::Contradiction);
    let failed = r#"<testcase name="adds"><failure/></testcase>"#;
    assert_eq!(totals(&text(failed)), (1, 1, 0));
}
