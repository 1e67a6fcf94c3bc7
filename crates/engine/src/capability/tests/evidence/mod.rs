//! What a report of tests rests on: numbers that somebody gives, a runner's own report, or a run of our own.

mod adapter;
pub mod baseline;
pub mod bench;
pub mod changed_lines;
pub mod hollow;
pub mod ledger;
pub mod names;
pub mod show;
pub mod suite;
pub mod verified;
pub mod work;

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ::test_report::{
    CoverageFormat, FileCoverage, Metric, Outcome, TestFormat, TestReport, Totals, Unreadable,
};
use journal::EvidenceStore;
use machine::{Role, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use text::plain::cut_bytes;
use workspace::config::{Config, Level};
use workspace::runner::adapter::runners_behind;
use workspace::runner::identity::RunnerIdentity;

use crate::call::pinned;
use crate::capability::checks::CheckEvidence;
use crate::capability::memory::{LAST_LEVEL, SHOWN};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::verified::RanOn;
use crate::capability::tests::results::{Counts, Coverage};
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::next_step::argument;
use crate::view::autopilot::request;

/// A report up to this length, in bytes, is kept with the run; of a longer one its hash is.
const LONGEST_KEPT: u64 = 16 * 1024 * 1024;

/// Which tests have a name in a report, as a fact of it: `every`, `some` or `none`.
pub(crate) const NAMED: &str = "named";

fn named_in(report: &TestReport) -> &'static str {
    let ledger = Ledger::of(report);
    if ledger.names_any() && ledger.every {
        "every"
    } else if ledger.names_any() {
        "some"
    } else {
        "none"
    }
}

/// Why the suite was run in the working tree, as a fact of its report.
pub(crate) const OFF_BENCH: &str = "offBench";

/// The end of what a command printed that could not run its tests, as a fact of the report.
pub(crate) const OUTPUT: &str = "output";

/// What a call brought along of tests, taken in before the run is looked at.
#[derive(Debug, Clone, Default)]
pub struct TestEvidence {
    /// How much is known.
    pub level: Option<Level>,
    /// The numbers.
    pub counts: Counts,
    /// Coverage, if given.
    pub coverage: Option<Coverage>,
    /// What each test did, where the report names them.
    pub report: Option<TestReport>,
    /// The files that were handed in.
    pub files: Vec<SubmittedFile>,
    /// The same by file.
    pub covered: Vec<FileCoverage>,
    /// The file with the coverage.
    pub coverage_file: Option<SubmittedFile>,
    /// What was run, if we ran it.
    pub ran: Option<suite::SuiteVerdict>,
    /// What they were run by, if we ran them.
    pub runner: Option<RunnerIdentity>,
    /// Ids of tests that were taken out on purpose. One that ends with `*` stands for all that begin so.
    pub removed: Vec<String>,
    /// Ids of tests, in the same way, that failed before the item and are to pass with it.
    pub repairs: Vec<String>,
    /// The test command was to be run.
    pub verify: bool,
    /// It says that nothing was changed since a report that was accepted.
    pub unchanged: bool,
    /// The trees that it was run on, where we ran it.
    pub ran_on: Option<RanOn>,
    /// Why it was run in the working tree, and not on the bench.
    pub off_bench: Option<String>,
    /// The tests that fail on the bench and pass in the working tree, where that was looked at.
    pub fails_there: Vec<String>,
    /// What the tests of RED did without the product that was written for them, where they were run with that, too.
    pub without_product: Option<Ledger>,
    /// What the tests of the report of failing tests did, where others came to them since, or they have another form: their numbers,
    /// and what each of them did.
    pub with_tests_of_red: Option<(Counts, Option<Ledger>)>,
    /// What the tests did before the item, where that was found out beside.
    pub baseline: Option<Box<TestEvidence>>,
    /// What checks found beside them, where there are any.
    pub checks: Option<Box<CheckEvidence>>,
    /// Its new tests on a product that does nothing, where that was tried.
    pub hollow: Option<hollow::HollowRun>,
}

/// A file that was handed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubmittedFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Its hash.
    pub sha256: String,
    /// When it was written: nanoseconds since 1970.
    pub written: i64,
    /// Its bytes, unless there are too many of them.
    #[serde(skip)]
    pub bytes: Option<Vec<u8>>,
}

impl TestEvidence {
    /// The level, `claimed` where nothing was handed in.
    pub fn level(&self) -> Level {
        self.level.unwrap_or(Level::Claimed)
    }

    /// What each test did, by name.
    pub fn ledger(&self) -> Option<Ledger> {
        self.report
            .as_ref()
            .map(Ledger::of)
            .filter(Ledger::names_any)
    }

    /// Marks as flaky the failed tests that passed in `again`, another run of some of them.
    pub fn mark_flaky(&mut self, again: &Self) {
        let (Some(report), Some(again)) = (&mut self.report, &again.report) else {
            return;
        };
        report.mark_flaky(again);
        self.counts = counts(&report.totals);
        let ledger = Ledger::of(report);
        if let Some(ran) = &mut self.ran {
            ran.ledger = Some(ledger);
        }
    }

    /// All that a repeated report has to be the same in.
    pub fn digest(&self) -> Value {
        match self.verify {
            true => json!({ "verify": true }),
            false if self.unchanged => json!({ "unchanged": true }),
            false if self.files.is_empty() => json!(self.counts),
            false => json!(
                self.files
                    .iter()
                    .map(|file| &file.sha256)
                    .collect::<Vec<_>>()
            ),
        }
    }

    /// Takes in what is given of coverage.
    pub fn take_coverage(&mut self, given: &request::Evidence, cwd: &Path) -> Result<(), Fault> {
        let said = given.coverage.as_deref().map(Coverage::parse).transpose()?;
        self.coverage = said.or(self.coverage);
        if let Some(path) = &given.coverage_report {
            if said.is_some() {
                return Err(twice(
                    "the coverage",
                    argument!("coverage"),
                    argument!("coverageReport"),
                ));
            }
            // What a suite on the bench wrote was read there.
            if self.coverage_file.is_none() {
                let path = cwd.join(path);
                return self.take_coverage_of(&path, &path);
            }
        }
        Ok(())
    }

    /// Takes in a file of coverage that is known by this path.
    pub(crate) fn take_coverage_of(&mut self, written: &Path, path: &Path) -> Result<(), Fault> {
        let (coverage, covered, file) = read_coverage(written)?;
        self.covered = covered;
        self.coverage = Some(coverage);
        self.coverage_file = Some(SubmittedFile {
            path: path.to_owned(),
            ..file
        });
        Ok(())
    }

    /// Keeps what was handed in with the run, and returns the hashes. What is too long to keep has its hash among the
    /// [facts](Self::facts) alone: nobody looks for bytes that were never there.
    pub fn keep(&self, dir: &Path) -> Result<Vec<String>, Fault> {
        let store = EvidenceStore::new(dir);
        let mut hashes = Vec::new();
        for file in self.files.iter().chain(&self.coverage_file) {
            if let Some(bytes) = &file.bytes {
                hashes.push(store.put(bytes)?);
            }
        }
        let hollow = self
            .hollow
            .iter()
            .filter_map(|hollow| hollow.verified.as_ref());
        for ran in self.ran.iter().chain(hollow) {
            hashes.push(store.put(&ran.output)?);
        }
        if let Some(checks) = &self.checks {
            hashes.extend(checks.keep(dir)?);
        }
        Ok(hashes)
    }

    /// What the journal says of where the numbers come from.
    pub fn facts(&self) -> Map<String, Value> {
        let mut facts = Map::new();
        facts.insert("level".to_owned(), level_name(self.level()).into());
        if let Some(report) = &self.report {
            facts.insert("format".to_owned(), report.format.name().into());
            facts.insert(NAMED.to_owned(), named_in(report).into());
        }
        if !self.files.is_empty() {
            facts.insert("reports".to_owned(), json!(self.files));
        }
        if let Some(file) = &self.coverage_file {
            facts.insert("coverageReport".to_owned(), json!(file));
        }
        if let Some(ran) = &self.ran {
            facts.insert("verified".to_owned(), json!(ran));
        }
        let ran = self.ran.as_ref();
        let broken = ran.filter(|_| self.report.is_none() || self.counts.errors > 0);
        if let Some(ran) = broken {
            facts.insert(OUTPUT.to_owned(), suite::end_of(&ran.output).into());
        } else if let Some(said) = self.said_of_failures(|_| true) {
            facts.insert(OUTPUT.to_owned(), said.into());
        } else if let Some(ran) = ran.filter(|_| self.counts.failing() > 0) {
            // Whoever had the tests run has not seen what they printed.
            facts.insert(OUTPUT.to_owned(), suite::end_of(&ran.output).into());
        }
        if let Some(ran_on) = &self.ran_on {
            facts.insert("ranOn".to_owned(), json!(ran_on));
        }
        if let Some(reason) = &self.off_bench {
            facts.insert(OFF_BENCH.to_owned(), reason.as_str().into());
        }
        if let Some(hollow) = &self.hollow {
            facts.insert("withoutProduct".to_owned(), json!(hollow));
        }
        if let Some(checks) = &self.checks {
            facts.extend(checks.facts());
        }
        for (name, ids) in [("removed", &self.removed), ("repairs", &self.repairs)] {
            if !ids.is_empty() {
                facts.insert(name.to_owned(), json!(ids));
            }
        }
        facts
    }

    /// What the report says of the first failing tests of some, those first that could not be built or collected; nothing where
    /// there are none.
    pub(crate) fn said_of_failures(&self, is_asked: impl Fn(&str) -> bool) -> Option<String> {
        const FIRST: usize = 3;
        /// As much of each as tells what it is about, in bytes.
        const LONGEST: usize = 400;
        let report = self.report.as_ref()?;
        let of = |such: &'static [Outcome]| {
            let tests = report.tests.iter();
            tests.filter(move |test| such.contains(&test.outcome))
        };
        let said: Vec<String> = of(&[Outcome::Error, Outcome::NotCollected])
            .chain(of(&[Outcome::Failed]))
            .filter(|test| is_asked(&test.id))
            .filter_map(|test| {
                let message = test.message.as_deref()?.trim();
                Some(format!("{}: {}", test.id, cut_bytes(message, LONGEST)))
            })
            .take(FIRST)
            .collect();
        (!said.is_empty()).then(|| said.join("\n"))
    }
}

/// Whether an id is meant by what a caller names: itself, also as pytest takes it (`tests/test_a.py::test_b`), or with `*` at the end
/// all that begin so.
pub fn is_meant(named: &str, id: &str) -> bool {
    let of_pytest = named
        .split_once(".py::")
        .map(|(file, test)| format!("{}::{test}", file.replace('/', ".")));
    let mut all = std::iter::once(named).chain(of_pytest.as_deref());
    all.any(|named| match named.strip_suffix('*') {
        // A bare `*` would stand for whatever there is.
        Some(beginning) => !beginning.is_empty() && id.starts_with(beginning),
        None => id == named,
    })
}

impl TestEvidence {
    /// Whether the tests are compiled before they run, so that a test of what is not there yet cannot even be built.
    pub fn is_compiled(&self, framework: &str) -> bool {
        use TestFormat::{
            CargoText, CtestText, DotnetText, GoJson, GoText, Junit, LibtestJson, MavenText, Trx,
        };
        match self.report.as_ref().map(|report| report.format) {
            Some(
                CargoText | CtestText | LibtestJson | GoJson | GoText | Trx | DotnetText
                | MavenText,
            ) => true,
            Some(Junit) | None => is_compiled(framework),
            Some(_) => false,
        }
    }
}

/// Frameworks whose reports say themselves that something could not be built.
const TELL_OF_BUILDS: [&str; 4] = ["cargo", "libtest", "nextest", "go"];
/// Frameworks that say nothing of a test where something could not be built.
const BUILT_BEFORE: [&str; 7] = [
    "maven", "gradle", "junit", "dotnet", "xunit", "swift", "ctest",
];

fn is_compiled(framework: &str) -> bool {
    let all = TELL_OF_BUILDS.iter().chain(&BUILT_BEFORE);
    all.clone().any(|name| framework.contains(name))
}

/// Whether the test command of the project at `root` may fail before any test is heard of because something could not be built. Of
/// other runners that only says that they are not set up, and of unknown ones nothing.
fn is_built_first(root: &Path, command: &str) -> bool {
    let mut runners = runners_behind(root, command).into_iter();
    runners.any(|runner| BUILT_BEFORE.iter().any(|name| runner.contains(name)))
}

/// The name of a level in files and answers.
pub fn level_name(level: Level) -> &'static str {
    match level {
        Level::Claimed => "claimed",
        Level::Reported => "reported",
        Level::Ran => "ran",
        Level::Verified => "verified",
    }
}

/// The level of that name.
pub(crate) fn level_named(name: &str) -> Option<Level> {
    Level::ALL
        .into_iter()
        .find(|level| level_name(*level) == name)
}

/// Takes in what a caller gives, without a run of our own. `cwd` is where the caller stands.
pub fn take(given: &request::Evidence, cwd: &Path) -> Result<TestEvidence, Fault> {
    let mut taken = TestEvidence {
        removed: given.removed.clone(),
        repairs: given.repairs.clone(),
        ..TestEvidence::default()
    };
    taken.take_coverage(given, cwd)?;
    match (&given.results, given.reports.is_empty()) {
        (Some(_), false) => {
            return Err(twice(
                "the results",
                argument!("results"),
                argument!("report"),
            ));
        }
        (Some(results), true) => {
            taken.counts = Counts::parse(results)?;
            taken.level = Some(Level::Claimed);
        }
        (None, false) => {
            let format = format_named(given.format.as_deref())?;
            let paths: Vec<PathBuf> = given.reports.iter().map(|path| cwd.join(path)).collect();
            let (report, files) = read_reports(&paths, format)?;
            taken.counts = counts(&report.totals);
            taken.report = Some(report);
            taken.files = files;
            taken.level = Some(Level::Reported);
        }
        (None, true) => {}
    }
    Ok(taken)
}

fn twice(what: &str, one: &str, other: &str) -> Fault {
    fault!("usage.twice", what, one, other)
}

/// The format that a caller names.
pub fn format_named(name: Option<&str>) -> Result<Option<TestFormat>, Fault> {
    name.map(str::parse)
        .transpose()
        .map_err(|error: Unreadable| {
            Fault::new(Kind::Usage, "usage", error.to_string()).suggest(concat!(
                "leave ",
                argument!("format"),
                " out: reports are told by their content"
            ))
        })
}

/// Reads test reports that belong together: of several packages, say. A folder stands for the reports in it.
pub fn read_reports(
    paths: &[PathBuf],
    format: Option<TestFormat>,
) -> Result<(TestReport, Vec<SubmittedFile>), Fault> {
    let mut all: Option<TestReport> = None;
    let mut files = Vec::new();
    for path in listed(paths)? {
        let read = read_file(&path, |input| ::test_report::read_tests(input, format));
        let (report, file) = read?;
        files.push(file);
        match &mut all {
            None => all = Some(report),
            Some(all) if all.format == report.format => all.merge(report),
            Some(all) => {
                return Err(unreadable(
                    &path,
                    &format!(
                        "it is {}, and the report before it {}",
                        report.format, all.format
                    ),
                ));
            }
        }
    }
    match all {
        Some(all) => Ok((all, files)),
        None => Err(fault!("report_missing.read_reports")),
    }
}

/// Whether it is what Maven leaves beside its reports: numbers of a whole run, in a format of its own.
pub(crate) fn is_summary(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name == "failsafe-summary.xml")
}

/// The files that are meant: a folder stands for those in it that have an ending of reports.
pub(crate) fn listed(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Fault> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).map_err(|error| missing(path, &error))?;
        let mut inside: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| {
                let ending = path.extension().and_then(|ending| ending.to_str());
                let is_report = matches!(ending, Some("xml" | "json" | "jsonl" | "tap" | "trx"));
                is_report && path.is_file() && !is_summary(path)
            })
            .collect();
        inside.sort();
        if inside.is_empty() {
            return Err(fault!("report_missing.listed", path = path.display()));
        }
        all.extend(inside);
    }
    // A file that is named twice, once by its folder say, is one report.
    let mut seen = HashSet::new();
    all.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    Ok(all)
}

/// A share in percent, with two digits. Cut, not rounded: nobody gets over a threshold by it.
pub(crate) fn percent_of(metric: Metric) -> Option<f64> {
    let percent = metric.percent()?;
    Some((percent * 100.0).floor() / 100.0)
}

fn read_coverage(path: &Path) -> Result<(Coverage, Vec<FileCoverage>, SubmittedFile), Fault> {
    let (read, file) = read_file(path, |input| {
        ::test_report::read_coverage(input, None::<CoverageFormat>)
    })?;
    let percent = |metric: Option<Metric>| metric.and_then(percent_of);
    let coverage = Coverage {
        lines: percent(read.lines),
        branches: percent(read.branches),
        functions: percent(read.functions),
        statements: percent(read.statements),
        changed_lines: None,
    };
    Ok((coverage, read.files, file))
}

fn read_file<T>(
    path: &Path,
    read: impl FnOnce(&mut dyn Read) -> Result<T, Unreadable>,
) -> Result<(T, SubmittedFile), Fault> {
    // To open what is no file might wait for ever.
    let is_file = std::fs::metadata(path).map(|found| found.is_file());
    if !is_file.map_err(|error| missing(path, &error))? {
        return Err(unreadable(path, "it is no ordinary file"));
    }
    let mut file = File::open(path).map_err(|error| missing(path, &error))?;
    let metadata = file.metadata().map_err(|error| missing(path, &error))?;
    let written = metadata.modified().map_err(|error| missing(path, &error))?;
    let (value, sha256, bytes) = if metadata.len() <= LONGEST_KEPT {
        let mut bytes = Vec::new();
        file.take(LONGEST_KEPT + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| missing(path, &error))?;
        let value = read(&mut &bytes[..]);
        (value, journal::sha256_hex(&bytes), Some(bytes))
    } else {
        let mut hashed = journal::Sha256Reader::new(&mut file);
        let value = read(&mut hashed);
        (
            value,
            hashed.finish().map_err(|error| missing(path, &error))?,
            None,
        )
    };
    let value = value.map_err(|fault| unreadable(path, &fault.to_string()))?;
    let handed = SubmittedFile {
        path: path.to_owned(),
        sha256,
        written: nanos(written),
        bytes,
    };
    Ok((value, handed))
}

/// Nanoseconds since 1970.
pub fn nanos(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

fn missing(path: &Path, error: &std::io::Error) -> Fault {
    fault!("report_missing.missing", path = path.display(), error)
}

fn unreadable(path: &Path, why: &str) -> Fault {
    fault!("report_unreadable", path = path.display(), why)
}

/// The numbers of a report. A test that could not be collected is an error; every other failure is one.
pub fn counts(totals: &Totals) -> Counts {
    Counts {
        passed: totals
            .passed
            .saturating_add(totals.expected_failures)
            .saturating_add(totals.flaky),
        failed: totals.failed.saturating_add(totals.errors),
        skipped: totals.skipped,
        errors: totals.not_collected,
    }
}

/// The level that a report is asked for: what the settings require, and what the reports had that it is held against.
pub(crate) fn asked_level(run: &RunState, role: &Role, kept: &Map<String, Value>) -> Level {
    let require = pinned(run).map_or(Level::Claimed, |config| config.evidence.require);
    let shown = SHOWN.read(kept, role.against.as_ref());
    let shown = shown.ok().flatten().map(|shown| shown.level);
    let shown = shown.filter(|level| level != level_name(Level::Claimed));
    // What is held against a report has to be told as that was; else as the last one was.
    let last = || LAST_LEVEL.text(&run.kept).map(str::to_owned);
    let before = shown.or_else(last);
    let before = before.as_deref().and_then(level_named);
    before.into_iter().fold(require, Level::max)
}

/// Refuses evidence that is less than the settings ask for.
pub fn enough(taken: &TestEvidence, config: &Config) -> Result<(), machine::Refusal> {
    let (has, needs) = (taken.level(), config.evidence.require);
    if has >= needs {
        return Ok(());
    }
    let way = match needs {
        Level::Reported => {
            concat!(
                "hand in the report that the test runner wrote, with ",
                argument!("report"),
                " FILE, or have the tests run with ",
                argument!("verify")
            )
        }
        _ if taken.off_bench.is_some() => {
            "see what the tests lack on the bench with `tm bench run`, and begin a new run with settings under `bench` that give it to them"
        }
        _ => concat!("have the tests run with ", argument!("verify")),
    };
    Err(crate::support::refusal(
        "evidence_too_weak",
        format!(
            "the results are {}, and the settings ask for {} ones (evidence.require)",
            level_name(has),
            level_name(needs)
        ),
        way,
    ))
}
