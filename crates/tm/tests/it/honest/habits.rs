//! What runners print by themselves, as they are called where nobody asks for more. Many name tests only where they fail.

use super::work::{SHOP, Way, play};

/// The runner of a project with one test, to which another one comes; it prints this before the subtask, in RED and in GREEN.
fn run([test, code]: [&str; 2], printed: [&str; 3]) {
    let [before, red, green] =
        printed.map(|text| format!("cat <<'END'\n{}\nEND\n", text.trim_end()));
    let script = format!(
        "if [ ! -f {test} ]; then\n{before}elif [ ! -f {code} ]; then\n{red}exit 1\nelse\n{green}fi\n"
    );
    let files = [("suite.sh", &*script), ("src/old", "old\n")];
    let shop = SHOP.files(&files).command("sh suite.sh").test("");
    let work = shop.by(Way::Verified).begin();
    work.write(test, "of the new\n");
    work.red();
    work.write(code, "new\n");
    work.goes_through();
}

const GO_BEFORE: &str = "ok  \texample.com/shop\t0.002s\nok  \texample.com/shop/till\t0.002s\n";

#[test]
fn what_runners_print_by_themselves_is_understood() {
    let habits = [
        (
            "jest names tests only in a run of one file",
            ["double.test.js", "double.js"],
            [
                "\
PASS ./add.test.js
  ✓ adds (3 ms)

Test Suites: 1 passed, 1 total
Tests:       1 passed, 1 total
Snapshots:   0 total
Time:        0.275 s, estimated 1 s
",
                "\
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
                "\
PASS ./double.test.js
PASS ./add.test.js

Test Suites: 2 passed, 2 total
Tests:       2 passed, 2 total
Snapshots:   0 total
Time:        0.275 s, estimated 1 s
",
            ],
        ),
        (
            "go names packages where nothing fails",
            ["double_test.go", "double.go"],
            [
                GO_BEFORE,
                "\
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
                GO_BEFORE,
            ],
        ),
    ];
    play(
        habits.map(|(name, files, printed)| (name, (files, printed))),
        |(files, printed)| run(files, printed),
    );
}
