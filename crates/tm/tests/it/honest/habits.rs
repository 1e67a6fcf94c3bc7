//! What runners print by themselves, as they are called where nobody asks for more. Many name tests only where they fail.

use super::work::{SHOP, Way, play};

/// What a runner prints before the subtask, in RED and in GREEN.
struct Habit {
    name: &'static str,
    test: &'static str,
    code: &'static str,
    before: &'static str,
    red: &'static str,
    green: &'static str,
    /// What RED is warned about.
    warns: &'static [&'static str],
}

/// The runner of a project with one test, to which another one comes.
fn run(habit: &Habit) {
    let said = |text: &str| format!("cat <<'END'\n{}\nEND\n", text.trim_end());
    let script = format!(
        "if [ ! -f {} ]; then\n{}elif [ ! -f {} ]; then\n{}exit 1\nelse\n{}fi\n",
        habit.test,
        said(habit.before),
        habit.code,
        said(habit.red),
        said(habit.green),
    );
    let files = [("suite.sh", &*script), ("src/old", "old\n")];
    let shop = SHOP.files(&files).command("sh suite.sh").test("");
    let work = shop.by(Way::Verified).begin();
    work.write(habit.test, "of the new\n");
    work.warns(habit.warns);
    work.red();
    work.write(habit.code, "new\n");
    work.goes_through();
}

const GO_BEFORE: &str = "ok  \texample.com/shop\t0.002s\nok  \texample.com/shop/till\t0.002s\n";

#[test]
fn what_runners_print_by_themselves_is_understood() {
    let habits = [
        Habit {
            name: "pytest cannot import what is not there yet",
            test: "tests/test_double.py",
            code: "double.py",
            before: "\
============================= test session starts ==============================
collected 2 items

tests/test_add.py ..                                                     [100%]

============================== 2 passed in 0.02s ===============================
",
            red: "\
============================= test session starts ==============================
collected 2 items / 1 error

==================================== ERRORS ====================================
____________________ ERROR collecting tests/test_double.py _____________________
ImportError while importing test module '/home/somebody/shop/tests/test_double.py'.
E   ModuleNotFoundError: No module named 'double'
=========================== short test summary info ============================
ERROR tests/test_double.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
=============================== 1 error in 0.08s ===============================
",
            green: "\
============================= test session starts ==============================
collected 3 items

tests/test_add.py ..                                                     [ 66%]
tests/test_double.py .                                                   [100%]

============================== 3 passed in 0.02s ===============================
",
            warns: &["red_only_errors"],
        },
        Habit {
            name: "jest names tests only in a run of one file",
            test: "double.test.js",
            code: "double.js",
            before: "\
PASS ./add.test.js
  ✓ adds (3 ms)

Test Suites: 1 passed, 1 total
Tests:       1 passed, 1 total
Snapshots:   0 total
Time:        0.275 s, estimated 1 s
",
            red: "\
FAIL ./double.test.js
  ● doubles

    expect(received).toBe(expected) // Object.is equality

      at Object.<anonymous> (double.test.js:4:7)

PASS ./add.test.js

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 1 passed, 2 total
Snapshots:   0 total
Time:        0.275 s, estimated 1 s
",
            green: "\
PASS ./double.test.js
PASS ./add.test.js

Test Suites: 2 passed, 2 total
Tests:       2 passed, 2 total
Snapshots:   0 total
Time:        0.275 s, estimated 1 s
",
            warns: &[],
        },
        Habit {
            name: "go names packages where nothing fails",
            test: "double_test.go",
            code: "double.go",
            before: GO_BEFORE,
            red: "\
--- FAIL: TestDouble (0.00s)
    --- FAIL: TestDouble/one (0.00s)
        double_test.go:9: no
    --- FAIL: TestDouble/two (0.00s)
        double_test.go:9: no
FAIL
FAIL\texample.com/shop\t0.004s
ok  \texample.com/shop/till\t(cached)
FAIL
",
            green: GO_BEFORE,
            warns: &[],
        },
    ];
    play(habits.map(|habit| (habit.name, habit)), |habit| run(&habit));
}
