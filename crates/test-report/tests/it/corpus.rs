//! Every file of the corpus gives what its runner said of that run.
//!
//! Beside each fixture `NAME` stands `NAME.made.json`: the tool with its version, the command that made the file, what the
//! runner itself said (`said`, word for word), and what is expected: totals, or the kind of [`test_report::Unreadable`].

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use test_report::{CoverageFormat, read_coverage, read_tests};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Made {
    /// Tool and version.
    tool: String,
    /// The command, or how a real file was broken by hand.
    command: String,
    /// The summary of the runner itself, word for word; of a broken file, why it is broken.
    said: String,
    /// `totals`; whether `every`, `some` or `none` of the tests is `named`; of `some` of them id and outcome.
    #[serde(default)]
    tests: Option<Value>,
    /// Covered and total number of `lines`, `branches`, `functions` and `statements`, and the number of `files`.
    #[serde(default)]
    coverage: Option<Value>,
    /// The kind of fault that reading it has to give.
    #[serde(default)]
    unreadable: Option<String>,
}

/// The folder of a fixture is the name of its format.
pub fn fixtures() -> Vec<(String, PathBuf)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/corpus");
    let mut found = Vec::new();
    for folder in fs::read_dir(corpus).expect("the corpus").flatten() {
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
    let tests = || read_tests(open(), None);
    let coverage = || read_coverage(open(), None);
    let (seen, wanted) = match (&made.unreadable, &made.tests, &made.coverage) {
        (Some(kind), ..) => {
            let fault = if format.parse::<CoverageFormat>().is_ok() {
                coverage().err()
            } else {
                tests().err()
            };
            (json!(fault.map(|fault| fault.kind.name())), json!(kind))
        }
        (_, Some(expected), _) => {
            let report = tests().map_err(|fault| fault.to_string())?;
            let totals = json!(report.totals);
            let keys = totals.as_object().expect("an object").keys();
            let number = |key| expected["totals"].get(key).cloned().unwrap_or(0.into());
            let wanted: serde_json::Map<_, _> =
                keys.map(|key| (key.clone(), number(key))).collect();
            let is_there = |of: &&Value| {
                let mut tests = report.tests.iter();
                tests.any(|test| of[0] == *test.id && of[1] == test.outcome.name())
            };
            let some = expected["some"].as_array().into_iter().flatten();
            let there = some.clone().filter(is_there).count();
            (
                json!([report.format.name(), totals, report.named, there]),
                json!([format, wanted, expected["named"], some.count()]),
            )
        }
        (_, _, Some(expected)) => {
            let read = coverage().map_err(|fault| fault.to_string())?;
            let pairs = [read.lines, read.branches, read.functions, read.statements]
                .map(|metric| metric.map(|metric| (metric.covered, metric.total)));
            let metrics = ["lines", "branches", "functions", "statements"];
            let wanted = metrics.map(|metric| expected[metric].clone());
            (
                json!([read.format.name(), pairs, read.files.len()]),
                json!([format, wanted, expected["files"]]),
            )
        }
        _ => return Err("give `tests`, `coverage` or `unreadable`".to_owned()),
    };
    let told = || Err(format!("{seen} instead of {wanted}"));
    if seen == wanted { Ok(()) } else { told() }
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
        let whole = read_tests(&bytes[..], None).expect("a report");
        let step = (bytes.len() / 70).max(1);
        for end in (0..bytes.len()).step_by(step) {
            let (begun, rest) = bytes.split_at(end);
            if let Ok(cut) = read_tests(begun, None) {
                let (cut, whole) = (cut.totals, whole.totals);
                assert!(
                    rest.iter().all(u8::is_ascii_whitespace) && cut == whole
                        || cut.failures() >= whole.failures() && cut.total <= whole.total
                        || ends_after_a_part(&format, begun),
                    "{format} {}: cut at {end}: {cut:?} instead of {whole:?}",
                    path.display()
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
        let values: Result<Vec<Value>, _> = values.collect();
        let (Ok(values), true) = (values, made(&path).tests.is_some()) else {
            continue;
        };
        let spread: Vec<String> = values.iter().map(|value| format!("{value:#}\n")).collect();
        let spread = spread.concat();
        let whole = read_tests(&bytes[..], None).expect("a report");
        let read = read_tests(spread.as_bytes(), None).expect("a report");
        assert_eq!(read.totals, whole.totals, "{format} {}", path.display());
        let given = read_tests(spread.as_bytes(), Some(whole.format)).expect("a report");
        assert_eq!(given.tests, whole.tests, "{format} {}", path.display());
        tried += 1;
    }
    assert!(tried > 10, "{tried}");
}
