//! The scripted executor: it writes real tests and real code, runs the tests, and reads the numbers off them.

use engine::Fault;

use super::stage::{Stage, unexpected};

/// Runs every `test_…` function of every `tests/*_test.sh`, each in a shell of its own, and prints TAP.
pub const RUNNER: &str = r##"#!/bin/sh
# Runs every function named test_... of every tests/*_test.sh, or of the files that are named, each in a shell of its own.
# Prints TAP: https://testanything.org
cd "$(dirname "$0")/.." || exit 2
[ $# -gt 0 ] || set -- tests/*_test.sh
passed=0
failed=0
echo "TAP version 13"
for file in "$@"; do
    [ -f "$file" ] || continue
    for name in $(sed -n 's/^\(test_[a-z_]*\)().*/\1/p' "$file"); do
        if sh -c '. "$1" && "$2"' sh "./$file" "$name" >/dev/null 2>&1; then
            passed=$((passed + 1))
            echo "ok $((passed + failed)) - $name"
        else
            failed=$((failed + 1))
            echo "not ok $((passed + failed)) - $name"
        fi
    done
done
echo "1..$((passed + failed))"
echo "# failed:$failed,passed:$passed"
[ "$failed" -eq 0 ]
"##;

/// Where the runner is.
pub const RUNNER_FILE: &str = "tests/run.sh";

/// A runner under which every test passes.
pub const PLEASED_RUNNER: &str = r#"#!/bin/sh
cd "$(dirname "$0")/.." || exit 2
echo "TAP version 13"
number=0
for name in $(sed -n 's/^\(test_[a-z_]*\)().*/\1/p' tests/*_test.sh); do
    number=$((number + 1))
    echo "ok $number - $name"
done
echo "1..$number"
"#;

/// Where the executor keeps what the runner prints.
pub const REPORT: &str = "report.tap";

/// What the executor knows how to do for one subtask.
#[derive(Debug)]
pub struct Piece {
    /// The subtask.
    pub id: &'static str,
    /// Its test file.
    pub test_file: &'static str,
    /// What is in there.
    pub tests: &'static str,
    /// Its code file.
    pub code_file: &'static str,
    /// What is in there.
    pub code: &'static str,
    /// Code that looks right and is not.
    pub wrong_code: &'static str,
}

const PIECES: &[Piece] = &[
    Piece {
        id: "1.1",
        test_file: "tests/fahrenheit_test.sh",
        tests: "\
. ./src/fahrenheit.sh

test_water_freezes_at_thirty_two() {
    [ \"$(to_fahrenheit 0)\" = 32 ]
}

test_water_boils_at_two_hundred_and_twelve() {
    [ \"$(to_fahrenheit 100)\" = 212 ]
}
",
        code_file: "src/fahrenheit.sh",
        code: "\
to_fahrenheit() {
    echo $(($1 * 9 / 5 + 32))
}
",
        wrong_code: "\
to_fahrenheit() {
    echo $(($1 * 2 + 30))
}
",
    },
    Piece {
        id: "1.2",
        test_file: "tests/table_test.sh",
        tests: "\
. ./src/table.sh

test_a_table_has_a_line_for_each_temperature() {
    [ \"$(table 0 100 | wc -l | tr -d ' ')\" = 2 ]
}

test_a_line_has_both_scales() {
    [ \"$(table 100)\" = '100 C = 212 F' ]
}
",
        code_file: "src/table.sh",
        code: "\
. ./src/fahrenheit.sh
. ./src/celsius.sh

table() {
    for degrees in \"$@\"; do
        fahrenheit=$(to_fahrenheit \"$degrees\")
        echo \"$(to_celsius \"$fahrenheit\") C = $fahrenheit F\"
    done
}
",
        wrong_code: "\
table() {
    echo '100 C = 212 F'
}
",
    },
    Piece {
        id: "1.3",
        test_file: "tests/celsius_test.sh",
        tests: "\
. ./src/celsius.sh

test_thirty_two_is_zero() {
    [ \"$(to_celsius 32)\" = 0 ]
}

test_both_scales_meet_at_forty_below() {
    [ \"$(to_celsius -40)\" = -40 ]
}
",
        code_file: "src/celsius.sh",
        code: "\
to_celsius() {
    echo $((($1 - 32) * 5 / 9))
}
",
        wrong_code: "\
to_celsius() {
    echo $((($1 - 30) / 2))
}
",
    },
];

/// What is to be written for a subtask.
pub fn piece(id: &str) -> Result<&'static Piece, Fault> {
    PIECES.iter().find(|piece| piece.id == id).ok_or_else(|| {
        unexpected(format!(
            "the executor was asked for a subtask that is not in the plan: {id:?}"
        ))
    })
}

/// Runs the tests, all of them or those of a file, and gives the numbers, such as `failed:2,passed:4`. What the runner prints
/// is the report.
pub fn run_tests(stage: &Stage, file: Option<&str>) -> Result<String, Fault> {
    let ran = stage
        .process("sh")
        .arg(RUNNER_FILE)
        .args(file)
        .output()
        .map_err(|error| Fault::environment("io_failed", "sh could not be run", &error))?;
    let printed = String::from_utf8_lossy(&ran.stdout);
    let numbers = printed
        .lines()
        .last()
        .and_then(|line| line.strip_prefix("# "));
    match numbers {
        Some(numbers) if numbers.starts_with("failed:") => {
            stage.write(REPORT, &printed)?;
            Ok(numbers.to_owned())
        }
        _ => Err(unexpected(format!(
            "the tests printed no results: {printed}"
        ))),
    }
}
