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
        let broken: Vec<&str> = report
            .tests
            .iter()
            .filter(|test| test.outcome == Outcome::Error)
            .map(|test| &*test.id)
            .collect();
        assert_eq!(
            broken,
            ["TestBuys", "TestCounts", "TestDivides", "TestEmpties"]
                .map(|name| format!("example.com/shop/{name}"))
        );
    }
}
