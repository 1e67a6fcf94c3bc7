//! The tests of a report are in its order, each time that it is read.

use test_report::{Outcome, read_tests};

#[test]
fn tests_that_did_not_end_are_in_the_order_in_which_they_began() {
    let text = "\
=== RUN   TestAdds
=== PAUSE TestAdds
=== RUN   TestBuys
=== PAUSE TestBuys
=== RUN   TestCounts
=== PAUSE TestCounts
=== CONT  TestAdds
--- PASS: TestAdds (0.00s)
=== RUN   TestDivides
=== RUN   TestEmpties
panic: the till is on fire
FAIL\texample.com/shop\t0.004s
FAIL
";
    for _ in 0..20 {
        let report = read_tests(text.as_bytes(), None).expect("a report");
        let tests = report.tests.iter();
        let broken = tests.filter(|test| test.outcome == Outcome::Error);
        let names = broken.map(|test| test.id.trim_start_matches("example.com/shop/Test"));
        assert!(names.eq(["Buys", "Counts", "Divides", "Empties"]));
    }
}
