//! Every file of the corpus gives what its runner said of that run.
//!
//! Beside each fixture `NAME` stands `NAME.made.json`: the tool with its version, the command that made the file, what the
//! runner itself said (`said`, word for word), and what is expected: totals, or the kind of [`test_report::Unreadable`].

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Made {
    /// Tool and version.
    tool: String,
    /// The command, or how a real file was broken by hand.
    command: String,
    /// The summary of the runner itself, word for word; of a broken file, why it is broken.
    said: String,
    #[serde(default)]
    tests: Option<Tests>,
    #[serde(default)]
    coverage: Option<Measured>,
    /// The kind of fault that reading it has to give.
    #[serde(default)]
    unreadable: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tests {
    totals: serde_json::Value,
    /// `every`, `some`, `none`.
    named: String,
    /// Some of the tests: id and outcome.
    #[serde(default)]
    some: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    lines: Option<(u64, u64)>,
    #[serde(default)]
    branches: Option<(u64, u64)>,
    #[serde(default)]
    functions: Option<(u64, u64)>,
    #[serde(default)]
    statements: Option<(u64, u64)>,
    files: usize,
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/corpus")
}

/// The folder of a fixture is the name of its format.
fn fixtures() -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for folder in fs::read_dir(corpus()).expect("the corpus").flatten() {
        let format = folder.file_name().into_string().expect("a format");
        for file in fs::read_dir(folder.path()).expect("a folder").flatten() {
            if !file.path().to_string_lossy().ends_with(".made.json") {
                found.push((format.clone(), file.path()));
            }
        }
    }
    found.sort();
    found
}

fn made(path: &Path) -> Made {
    let beside = format!("{}.made.json", path.display());
    let text = fs::read_to_string(&beside).unwrap_or_else(|error| panic!("{beside}: {error}"));
    let made: Made =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{beside}: {error}"));
    assert!(
        !made.tool.is_empty() && !made.command.is_empty() && !made.said.is_empty(),
        "{beside}: say how it was made, and what its runner said"
    );
    made
}

/// What is wrong with one fixture.
fn check(format: &str, path: &Path) -> Result<(), String> {
    let made = made(path);
    let open = || fs::File::open(path).expect("a fixture");
    if let Some(kind) = &made.unreadable {
        let (test, coverage) = (
            test_report::read_tests(open(), None).map(|report| format!("{:?}", report.totals)),
            test_report::read_coverage(open(), None).map(|report| format!("{report:?}")),
        );
        let fault = if format.parse::<test_report::CoverageFormat>().is_ok() {
            coverage.err()
        } else {
            test.err()
        };
        return match fault {
            Some(fault) if fault.kind.name() == kind => Ok(()),
            Some(fault) => Err(format!("{} instead of {kind}: {fault}", fault.kind.name())),
            None => Err(format!("was read, and should be {kind}")),
        };
    }
    if let Some(expected) = &made.tests {
        let report = test_report::read_tests(open(), None).map_err(|fault| fault.to_string())?;
        let totals = serde_json::to_value(report.totals).expect("totals");
        let named = serde_json::to_value(report.named).expect("named");
        if report.format.name() != format {
            return Err(format!("read as {}", report.format));
        }
        for (key, value) in totals.as_object().expect("an object") {
            let wanted = expected.totals.get(key).cloned().unwrap_or(0.into());
            if *value != wanted {
                return Err(format!("{key}: {value} instead of {wanted}"));
            }
        }
        if named != expected.named.as_str() {
            return Err(format!("named {named} instead of {}", expected.named));
        }
        for (id, outcome) in &expected.some {
            let seen: Vec<_> = report
                .tests
                .iter()
                .filter(|test| *test.id == **id)
                .collect();
            if !seen.iter().any(|test| test.outcome.name() == outcome) {
                let all: Vec<_> = report.tests.iter().map(|test| &*test.id).take(30).collect();
                return Err(format!(
                    "{id} is not {outcome}: {seen:?}; there are {all:#?}"
                ));
            }
        }
        return Ok(());
    }
    if let Some(expected) = &made.coverage {
        let read = test_report::read_coverage(open(), None).map_err(|fault| fault.to_string())?;
        if read.format.name() != format {
            return Err(format!("read as {}", read.format));
        }
        let pair = |metric: Option<test_report::Metric>| metric.map(|m| (m.covered, m.total));
        for (what, seen, wanted) in [
            ("lines", pair(read.lines), expected.lines),
            ("branches", pair(read.branches), expected.branches),
            ("functions", pair(read.functions), expected.functions),
            ("statements", pair(read.statements), expected.statements),
        ] {
            if seen != wanted {
                return Err(format!("{what}: {seen:?} instead of {wanted:?}"));
            }
        }
        if read.files.len() != expected.files {
            return Err(format!(
                "{} files instead of {}",
                read.files.len(),
                expected.files
            ));
        }
        return Ok(());
    }
    Err("nothing is expected of it: give `tests`, `coverage` or `unreadable`".to_owned())
}

#[test]
fn every_fixture_gives_what_its_runner_said() {
    let wrong: Vec<String> = fixtures()
        .iter()
        .filter_map(|(format, path)| {
            let why = check(format, path).err()?;
            Some(format!("{}: {why}", path.display()))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A file that was cut off anywhere is refused, or at least never has more tests and fewer failures than the whole.
#[test]
fn a_cut_report_is_never_better_than_the_whole() {
    for (format, path) in fixtures() {
        if made(&path).tests.is_none() {
            continue;
        }
        let bytes = fs::read(&path).expect("a fixture");
        let whole = test_report::read_tests(&bytes[..], None).expect("a report");
        let step = (bytes.len() / 200).max(1);
        for end in (0..bytes.len()).step_by(step) {
            if let Ok(cut) = test_report::read_tests(&bytes[..end], None) {
                assert!(
                    bytes[end..].iter().all(u8::is_ascii_whitespace) && cut.totals == whole.totals
                        || cut.totals.failures() >= whole.totals.failures()
                            && cut.totals.total <= whole.totals.total
                        || ends_after_a_part(&format, &bytes[..end]),
                    "{format} {}: cut at {end} of {}: {:?} instead of {:?}",
                    path.display(),
                    bytes.len(),
                    cut.totals,
                    whole.totals
                );
            }
        }
    }
}

/// Some runners write one part for each binary or package, and nothing after the last: cut between two parts, such a report
/// is one of fewer parts, and nothing in it tells that there were more.
fn ends_after_a_part(format: &str, cut: &[u8]) -> bool {
    let (begins, ends): (&[&str], &[&str]) = match format {
        "cargo-text" => (
            &["running ", "     Running ", "   Doc-tests "],
            &["test result: ", "process didn't exit successfully: "],
        ),
        "libtest-json" => (
            &["\"event\": \"started\"", "\"event\":\"started\""],
            &["\"passed\""],
        ),
        "go-json" => (&["\"Action\":\"run\""], &["\"Elapsed\""]),
        "go-text" => (&["=== RUN ", "--- FAIL"], &["ok  \t", "FAIL\t"]),
        _ => return false,
    };
    let cut = String::from_utf8_lossy(cut);
    let last = |marks: &[&str]| marks.iter().filter_map(|mark| cut.rfind(mark)).max();
    last(ends).is_some_and(|end| last(begins).is_none_or(|begin| begin < end))
}

/// What people pipe through `jq .` says the same.
#[test]
fn json_that_was_spread_over_lines_is_read_alike() {
    let mut tried = 0;
    for (format, path) in fixtures() {
        let bytes = fs::read(&path).expect("a fixture");
        let values = serde_json::Deserializer::from_slice(&bytes).into_iter();
        let values: Result<Vec<serde_json::Value>, _> = values.collect();
        let (Ok(values), true) = (values, made(&path).tests.is_some()) else {
            continue;
        };
        let spread: Vec<String> = values.iter().map(|value| format!("{value:#}\n")).collect();
        let spread = spread.concat();
        let whole = test_report::read_tests(&bytes[..], None).expect("a report");
        let read = test_report::read_tests(spread.as_bytes(), None)
            .unwrap_or_else(|fault| panic!("{format} {}: {fault}", path.display()));
        assert_eq!(read.totals, whole.totals, "{}", path.display());
        let given = test_report::read_tests(spread.as_bytes(), Some(whole.format));
        assert_eq!(
            given.expect("a report").tests,
            whole.tests,
            "{}",
            path.display()
        );
        tried += 1;
    }
    assert!(tried > 10, "{tried}");
}
