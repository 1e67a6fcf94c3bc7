//! What is understood of a report, before anybody rests anything on it.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

pub use ::test_report::Named;
use ::test_report::{
    Coverage, CoverageFormat, Metric, Outcome, TestFormat, TestReport, Unreadable, read_coverage,
    read_tests,
};
use serde::Serialize;
use text::plain::cut_bytes;

use crate::capability::tests::evidence::{counts, listed, missing, unreadable};
use crate::capability::tests::results::Counts;
use crate::fault;
use crate::fault::Fault;
use crate::next_step::argument;

/// How many tests and files are named, where nobody asked for more.
const USUALLY_NAMED: usize = 100;
/// How many failing tests are named to those who ask for them.
const MOST_NAMED: usize = 1000;
/// How much of a message is shown, in bytes, where nobody asked for more.
const USUAL_MESSAGE: usize = 500;
/// How many of the files that are covered least are shown.
const LEAST_COVERED: usize = 10;

/// What is to be shown.
#[derive(Debug, Clone, Default)]
pub struct Show {
    /// Reports of tests or coverage; a folder stands for the reports in it.
    pub paths: Vec<PathBuf>,
    /// Their format, where it is not to be told by their content.
    pub format: Option<String>,
    /// Only tests that failed, all of them that there is room for, with their messages as they were read.
    pub failed: bool,
}

/// What was understood.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Shown {
    /// Reports of tests, put together by format: those of one format can be reported together.
    pub tests: Vec<ShownTests>,
    /// Reports of coverage, one by one.
    pub coverage: Vec<ShownCoverage>,
}

/// What was understood of the test reports of a format.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownTests {
    /// The format.
    pub format: TestFormat,
    /// The reports.
    pub files: Vec<PathBuf>,
    /// How many tests had which outcome.
    pub totals: ShownTotals,
    /// The numbers that a run would take: the same as `--results` has.
    pub results: Counts,
    /// Whether every test is known by name, some are, or none.
    pub named: Named,
    /// Tests that failed, as far as they are known by name.
    pub failing: Vec<ShownTest>,
    /// Of how many that failed the name is known.
    pub failing_named: usize,
    /// Tests that were skipped, or are still to be written.
    pub skipped: Vec<Box<str>>,
    /// Tests that passed only when they were tried again.
    pub flaky: Vec<Box<str>>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
}

/// How many tests had which outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the outcomes, by name")]
pub struct ShownTotals {
    pub total: u64,
    pub passed: u64,
    pub failed: u64,
    pub errors: u64,
    pub not_collected: u64,
    pub skipped: u64,
    pub expected_failures: u64,
    pub flaky: u64,
}

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownTest {
    /// Its name.
    pub id: Box<str>,
    /// In which way.
    pub outcome: Outcome,
    /// The beginning of what the runner says of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The file it is in, where the report says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Box<str>>,
}

/// What was understood of a coverage report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownCoverage {
    /// The format.
    pub format: CoverageFormat,
    /// The report.
    pub file: PathBuf,
    /// Lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Share>,
    /// Branches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branches: Option<Share>,
    /// Functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub functions: Option<Share>,
    /// Statements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statements: Option<Share>,
    /// How many files it names.
    pub files: usize,
    /// Those of them that are covered least, the worst first.
    pub least_covered: Vec<LeastCovered>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
}

/// A metric of coverage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// How many were reached.
    pub covered: u64,
    /// How many there are.
    pub total: u64,
    /// The same in percent, cut to hundredths as it is held against a threshold.
    pub percent: Option<f64>,
}

/// A file of a coverage report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeastCovered {
    /// Its path, as the report writes it.
    pub path: Box<str>,
    /// Its lines.
    pub lines: Share,
}

/// The names of the formats of test reports.
pub fn test_formats() -> impl Iterator<Item = &'static str> {
    TestFormat::ALL.into_iter().map(TestFormat::name)
}

/// The names of the formats of coverage reports.
pub fn coverage_formats() -> impl Iterator<Item = &'static str> {
    CoverageFormat::ALL.into_iter().map(CoverageFormat::name)
}

/// A format that a caller names.
#[derive(Clone, Copy)]
enum Format {
    Tests(TestFormat),
    Coverage(CoverageFormat),
}

/// What a file was read as.
enum FileReading {
    Tests(TestReport),
    Coverage(Coverage),
}

/// Reads reports as a run would, each as one of tests or else as one of coverage. `cwd` is where the caller stands.
pub fn show(asked: &Show, cwd: &Path) -> Result<Shown, Fault> {
    let format = asked.format.as_deref().map(named).transpose()?;
    let paths: Vec<PathBuf> = asked.paths.iter().map(|path| cwd.join(path)).collect();
    let mut tests: BTreeMap<&str, (TestReport, Vec<PathBuf>)> = BTreeMap::new();
    let mut shown = Shown::default();
    for path in listed(&paths)? {
        let told = path.strip_prefix(cwd).unwrap_or(&path).to_owned();
        match understood(&path, &told, format)? {
            FileReading::Coverage(coverage) => shown.coverage.push(of_coverage(told, coverage)),
            FileReading::Tests(report) => match tests.get_mut(report.format.name()) {
                Some((all, files)) => {
                    all.merge(report);
                    files.push(told);
                }
                None => {
                    tests.insert(report.format.name(), (report, vec![told]));
                }
            },
        }
    }
    shown.tests = tests
        .into_values()
        .map(|(report, files)| of_tests(files, report, asked.failed))
        .collect();
    Ok(shown)
}

fn named(name: &str) -> Result<Format, Fault> {
    if let Ok(format) = name.parse() {
        return Ok(Format::Tests(format));
    }
    name.parse().map(Format::Coverage).map_err(|_: Unreadable| {
        let known: Vec<&str> = test_formats().chain(coverage_formats()).collect();
        fault!("usage.named", name).expected(known)
    })
}

/// Reads a file, which is `told` of by another name.
fn understood(path: &Path, told: &Path, format: Option<Format>) -> Result<FileReading, Fault> {
    let as_coverage = |format| {
        read(path, told, |file| read_coverage(file, format)).map(|it| it.map(FileReading::Coverage))
    };
    let as_tests = |format| {
        read(path, told, |file| read_tests(file, format)).map(|it| it.map(FileReading::Tests))
    };
    let fault = match format {
        Some(Format::Tests(format)) => as_tests(Some(format))?,
        Some(Format::Coverage(format)) => as_coverage(Some(format))?,
        None => match as_tests(None)? {
            Err(no_tests) => match as_coverage(None)? {
                // Who got as far as to know the format knows best what is wrong.
                Err(no_coverage) if no_coverage.format.is_some() => Err(no_coverage),
                Err(_) => Err(no_tests),
                read => read,
            },
            read => read,
        },
    };
    fault.map_err(|fault| not_understood(told, &fault, format.is_none()))
}

fn read<T>(
    path: &Path,
    told: &Path,
    read: impl FnOnce(File) -> Result<T, Unreadable>,
) -> Result<Result<T, Unreadable>, Fault> {
    // What is no file would be waited for, or never end.
    let metadata = std::fs::metadata(path).map_err(|error| missing(told, &error))?;
    if !metadata.is_file() {
        return Err(unreadable(told, "it is no ordinary file"));
    }
    let file = File::open(path).map_err(|error| missing(told, &error))?;
    Ok(read(file))
}

fn not_understood(path: &Path, why: &Unreadable, guessed: bool) -> Fault {
    let fault = unreadable(path, &why.to_string()).detail("kind", why.kind.name());
    let fault = match why.format {
        Some(format) => fault.detail("format", format),
        None => fault,
    };
    let fault = match why.line {
        Some(line) => fault.detail("line", line),
        None => fault,
    };
    fault.suggest(match (why.format, guessed) {
        (None, true) => concat!("reports are told by their content; name the format with ", argument!("format"), " if it is one of those that are read (docs/reports.md)"),
        (_, false) => concat!("leave ", argument!("format"), " out: reports are told by their content"),
        (Some(_), true) => "run the tests again, and let the runner end before the file is read; what is not whole is not counted",
    })
}

fn of_tests(files: Vec<PathBuf>, report: TestReport, failed: bool) -> ShownTests {
    let (most, longest) = if failed {
        (MOST_NAMED, usize::MAX)
    } else {
        (USUALLY_NAMED, USUAL_MESSAGE)
    };
    let mut failing = Vec::new();
    let mut failing_named = 0;
    let (mut skipped, mut flaky) = (Vec::new(), Vec::new());
    for test in report.tests {
        match test.outcome {
            outcome if outcome.is_failure() => {
                failing_named += 1;
                if failing.len() < most {
                    failing.push(ShownTest {
                        id: test.id,
                        outcome,
                        message: test
                            .message
                            .map(|message| cut_bytes(&message, longest).to_owned()),
                        file: test.file,
                    });
                }
            }
            Outcome::Skipped if !failed && skipped.len() < most => skipped.push(test.id),
            Outcome::Flaky if !failed && flaky.len() < most => flaky.push(test.id),
            _ => {}
        }
    }
    let totals = &report.totals;
    ShownTests {
        format: report.format,
        files,
        totals: ShownTotals {
            total: totals.total,
            passed: totals.passed,
            failed: totals.failed,
            errors: totals.errors,
            not_collected: totals.not_collected,
            skipped: totals.skipped,
            expected_failures: totals.expected_failures,
            flaky: totals.flaky,
        },
        results: counts(totals),
        named: report.named,
        failing,
        failing_named,
        skipped,
        flaky,
        notes: report.notes,
    }
}

fn of_coverage(file: PathBuf, coverage: Coverage) -> ShownCoverage {
    let mut least: Vec<LeastCovered> = coverage
        .files
        .iter()
        .filter(|file| file.lines.covered < file.lines.total)
        .map(|file| LeastCovered {
            path: file.path.clone(),
            lines: share(file.lines),
        })
        .collect();
    // Of two that are covered alike the one with more to do is worse.
    least.sort_by(|a, b| {
        let part = |one: &LeastCovered| one.lines.percent.unwrap_or(100.0);
        part(a)
            .total_cmp(&part(b))
            .then(b.lines.total.cmp(&a.lines.total))
            .then(a.path.cmp(&b.path))
    });
    least.truncate(LEAST_COVERED);
    ShownCoverage {
        format: coverage.format,
        file,
        lines: coverage.lines.map(share),
        branches: coverage.branches.map(share),
        functions: coverage.functions.map(share),
        statements: coverage.statements.map(share),
        files: coverage.files.len(),
        least_covered: least,
        notes: coverage.notes,
    }
}

fn share(metric: Metric) -> Share {
    Share {
        covered: metric.covered,
        total: metric.total,
        percent: metric
            .percent()
            .map(|percent| (percent * 100.0).floor() / 100.0),
    }
}
