//! What a test runner printed, as the numbers of a report.

/// Counts of one run of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// What could not be compiled or collected.
    pub errors: u64,
}

impl Counts {
    /// As `--results` takes them.
    pub fn results(self) -> String {
        format!(
            "passed:{},failed:{},errors:{}",
            self.passed, self.failed, self.errors
        )
    }
}

/// The whole number that stands right before `label`, 0 if it is not there.
fn before(text: &str, label: &str) -> u64 {
    text.split(label)
        .next()
        .filter(|head| head.len() < text.len())
        .and_then(|head| head.split_whitespace().next_back())
        .and_then(|word| word.parse().ok())
        .unwrap_or(0)
}

/// The whole number that stands right after `label`, 0 if it is not there.
fn after(text: &str, label: &str) -> u64 {
    let digits: String = text
        .split_once(label)
        .map(|(_, tail)| tail.chars().take_while(char::is_ascii_digit).collect())
        .unwrap_or_default();
    digits.parse().unwrap_or(0)
}

/// Reads what `cargo test` prints: one summary for each test program.
pub fn of_cargo(output: &str) -> Counts {
    let mut counts = Counts::default();
    for line in output.lines() {
        if line.starts_with("test result:") {
            counts.passed += before(line, " passed;");
            counts.failed += before(line, " failed;");
        } else if line.starts_with("error: could not compile") {
            counts.errors += 1;
        }
    }
    counts
}

/// Reads what `unittest` prints: how many ran, and of these how many did not pass.
pub fn of_unittest(output: &str) -> Counts {
    let (failed, errors) = (after(output, "failures="), after(output, "errors="));
    Counts {
        passed: after(output, "Ran ").saturating_sub(failed + errors),
        failed,
        errors,
    }
}

/// Reads the summary that Node's own runner prints below its TAP.
pub fn of_node(output: &str) -> Counts {
    Counts {
        passed: after(output, "\n# pass "),
        failed: after(output, "\n# fail "),
        errors: 0,
    }
}

#[test]
fn the_runners_are_understood() {
    let cargo = "running 2 tests\ntest result: FAILED. 3 passed; 1 failed; 0 ignored;\n\
                 test result: ok. 4 passed; 0 failed; 0 ignored;\n";
    assert_eq!(of_cargo(cargo).results(), "passed:7,failed:1,errors:0");
    let broken = "error[E0432]: unresolved import\nerror: could not compile `a` (test \"b\")\n";
    assert_eq!(of_cargo(broken).results(), "passed:0,failed:0,errors:1");
    let unittest = "Ran 6 tests in 0.001s\n\nFAILED (failures=1, errors=2)\n";
    assert_eq!(
        of_unittest(unittest).results(),
        "passed:3,failed:1,errors:2"
    );
    assert_eq!(
        of_unittest("Ran 1 test in 0.000s\n\nOK\n").results(),
        "passed:1,failed:0,errors:0"
    );
    let node = "# tests 3\n# pass 2\n# fail 1\n# cancelled 0\n";
    assert_eq!(of_node(node).results(), "passed:2,failed:1,errors:0");
}
