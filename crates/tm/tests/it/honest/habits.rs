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
    work.red();
    work.write(habit.code, "new\n");
    work.goes_through();
}

const GO_BEFORE: &str = "ok  \texample.com/shop\t0.002s\nok  \texample.com/shop/till\t0.002s\n";

#[test]
fn what_runners_print_by_themselves_is_understood() {
    let habits = [
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
        },
    ];
    play(habits.map(|habit| (habit.name, habit)), |habit| run(&habit));
}
