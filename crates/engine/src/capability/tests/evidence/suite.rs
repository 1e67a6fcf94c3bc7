//! Verified evidence: the test command is run here, and its outcome read.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ::test_report::{TestFormat, TestReport, Unreadable, printed_in_events, read_tests};
use serde::{Deserialize, Serialize};
use text::plain::{cut_bytes, many_lines};
use workspace::config::{Config, Level};
use workspace::process::Cancellation;
use workspace::runner::adapter::{SomeTests, runners_behind};
use workspace::runner::identity::identity;
use workspace::suite::{CommandLine, How, SuiteRan, SuiteRun, run_suite};

use crate::capability::tests::evidence::adapter::Adapter;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::{
    SubmittedFile, TestEvidence, counts, is_built_first, nanos, read_reports,
};
use crate::capability::tests::results::Counts;
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::next_step::{argument, step};

/// How much of the end of an output is shown where it is not understood, in bytes.
const SHOWN: usize = 2000;
/// The exit statuses of a shell that cannot start a program.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;
/// How much of an output is kept with the run, in bytes.
pub(crate) const MOST_KEPT: usize = 4 * 1024 * 1024;

/// A run of the test command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SuiteVerdict {
    /// The command.
    pub command: String,
    /// Its exit status.
    pub status: i32,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Hash of everything that it printed.
    pub output_sha256: String,
    /// The runner that was made to name its tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// What it printed, as far as it is kept.
    #[serde(skip)]
    pub output: Vec<u8>,
    /// What each test did.
    #[serde(skip)]
    pub ledger: Option<Ledger>,
}

/// What is to be run.
#[derive(Clone, Copy)]
pub struct Suite<'a> {
    /// The command.
    pub command: &'a str,
    /// Where.
    pub folder: &'a Path,
    /// The settings.
    pub config: &'a Config,
    /// The format of its report, where somebody named it.
    pub format: Option<TestFormat>,
    /// The files that it writes its report to; what it prints, where there are none.
    pub reports: &'a [PathBuf],
    /// When it is ended because nobody wants its outcome any more.
    pub cancelled: &'a Cancellation,
    /// Whether a command that fails before any test is heard of, or dies among them, counts as one that could not be built, where its
    /// runner is known. Else it says nothing.
    pub may_break: bool,
    /// Variables on top of the environment, or all that it has.
    pub env: &'a [(OsString, OsString)],
    /// Whether it has no other.
    pub is_whole: bool,
    /// The tests that are to be run; all of them, if none are named.
    pub only: Option<&'a SomeTests<'a>>,
}

/// Runs only the tests that `suite` names. None if its runner cannot run some tests alone, or gives no result.
pub fn verify_some(suite: &Suite<'_>) -> Result<Option<TestEvidence>, Fault> {
    let Some(adapter) = Adapter::of(suite)? else {
        return Ok(None);
    };
    match verify_by(suite, Some(&adapter)) {
        Err(fault) if fault.code == "cancelled" => Err(fault),
        done => Ok(done.unwrap_or_default()),
    }
}

/// Runs the test command, reads its result, and notes what it was run by.
pub fn verify(suite: &Suite<'_>) -> Result<TestEvidence, Fault> {
    let is_given =
        |name: &OsString| !suite.is_whole || suite.env.iter().any(|(own, _)| own == name);
    let variables = env::vars_os().filter(|(name, _)| is_given(name)).collect();
    let runner = identity(suite.folder, suite.command, &variables);
    Ok(TestEvidence {
        runner: Some(runner),
        ..verify_once(suite)?
    })
}

fn verify_once(suite: &Suite<'_>) -> Result<TestEvidence, Fault> {
    let adapter = Adapter::of(suite)?;
    match verify_by(suite, adapter.as_ref())? {
        Some(taken) => Ok(taken),
        // What was added may be what it does not take: it is run as it stands.
        None => verify_by(suite, None)?
            .ok_or_else(|| Fault::bug("a test command was run, and nothing came of it")),
    }
}

/// Runs it with what an adapter adds. None where there is one, and nothing of what was printed is understood.
fn verify_by(suite: &Suite<'_>, adapter: Option<&Adapter>) -> Result<Option<TestEvidence>, Fault> {
    let began = nanos(SystemTime::now());
    let line = adapter.map(|adapter| adapter.command.line.clone());
    let ran = run(suite, line)?;
    let status = match ran.how {
        How::Exited(status) => status,
        How::Signalled(signal) => 128 + signal,
        How::Cancelled => return Err(cancelled(suite.command)),
        How::TimedOut | How::Flooded => {
            return Err(fault!(
                "test_timeout",
                command = suite.command,
                test_timeout = suite.config.autopilot.test_timeout / 1000
            )
            .detail("output", end_of(&ran.both)));
        }
    };
    let has_failed =
        matches!(ran.how, How::Exited(status) if !matches!(status, 0 | NOT_EXECUTABLE | NOT_FOUND));
    let is_unbuilt = has_failed
        && (suite.may_break && is_built_first(suite.folder, suite.command)
            || is_type_error(&ran.both)
            || is_vetted(&ran.both));
    let named = adapter.and_then(|adapter| adapter.report(&ran, began));
    let is_adapted = adapter.is_some_and(Adapter::is_changed);
    let adapter = named.as_ref().and(adapter);
    let (report, files) = if let Some(named) = named {
        named
    } else if suite.reports.is_empty() {
        match printed(suite, &ran) {
            Ok(report) => (report, Vec::new()),
            // Of what is there before the first test that is an answer.
            Err(why) if why.kind == ::test_report::Kind::Nothing && !suite.may_break => {
                return Ok(Some(without_result(suite, status, ran, Counts::default())));
            }
            Err(_) if is_adapted => return Ok(None),
            Err(why) if is_unbuilt || suite.may_break && is_cut_off(&why, status) => {
                return Ok(Some(broken(suite, status, ran)));
            }
            Err(why) => return Err(not_understood(suite, &ran, status, &why)),
        }
    } else {
        let read = read_reports(suite.reports, suite.format);
        let told = printed(suite, &ran);
        let is_unbuilt = is_unbuilt
            || suite.may_break && told.as_ref().is_err_and(|why| is_cut_off(why, status));
        let is_old = |(_, files): &(TestReport, Vec<SubmittedFile>)| {
            files.iter().any(|file| is_of_before(file.written, began))
        };
        let is_fresh = read.as_ref().is_ok_and(|read| !is_old(read));
        if is_adapted && !is_fresh && status != 0 {
            return Ok(None);
        }
        let broke = told
            .ok()
            .filter(|told| !is_fresh && status != 0 && told.totals.not_collected > 0);
        if is_unbuilt && !is_fresh && broke.is_none() {
            return Ok(Some(broken(suite, status, ran)));
        }
        // It came to no report, and said why.
        let (report, files) = match broke {
            Some(told) => (told, Vec::new()),
            None => read?,
        };
        if let Some(old) = files.iter().find(|file| is_of_before(file.written, began)) {
            return Err(fault!(
                "report_missing.report_not_written",
                command = suite.command,
                old = old.path.display()
            ));
        }
        (report, files)
    };
    let numbers = counts(&report.totals);
    if numbers.failing() == 0 && status != 0 {
        return Err(
            fault!("command_failed.tests", command = suite.command, status)
                .detail("output", end_of(&ran.both)),
        );
    }
    if adapter.is_some_and(Adapter::writes_files)
        && numbers.failing() == 0
        && let Some(printed) = printed_failures(&ran)
    {
        return Err(fault!(
            "report_unreadable.report_contradicted",
            command = suite.command,
            printed
        )
        .detail("output", end_of(&ran.both)));
    }
    let ledger = Some(Ledger::of(&report)).filter(Ledger::names_any);
    Ok(Some(TestEvidence {
        level: Some(Level::Verified),
        verify: true,
        counts: numbers,
        report: Some(report),
        files,
        ran: Some(SuiteVerdict {
            adapter: adapter.map(|adapter| adapter.command.runner.to_owned()),
            ..verdict(suite, status, ran, ledger)
        }),
        ..TestEvidence::default()
    }))
}

/// Whether a file was written before a run began, both in nanoseconds since 1970: some file systems keep times in coarse steps.
pub(super) fn is_of_before(written: i64, began: i64) -> bool {
    const STEP: i64 = 50_000_000;
    written.saturating_add(STEP) < began
}

/// How many tests failed by what was printed; none where that has no failure, or is no report.
fn printed_failures(ran: &SuiteRan) -> Option<u64> {
    let mut printed = [&ran.stdout, &ran.both, &ran.stderr].into_iter();
    let read = printed.find_map(|text| read_tests(&text[..], None).ok())?;
    Some(counts(&read.totals).failing()).filter(|failing| *failing > 0)
}

/// What is kept of a run of the command.
fn verdict(suite: &Suite<'_>, status: i32, ran: SuiteRan, ledger: Option<Ledger>) -> SuiteVerdict {
    let mut output = ran.both;
    output.truncate(MOST_KEPT);
    SuiteVerdict {
        command: suite.command.to_owned(),
        status,
        duration_ms: u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX),
        output_sha256: ran.sha256,
        adapter: None,
        output,
        ledger,
    }
}

/// A command that failed, and of no test was heard: it could not be built.
fn broken(suite: &Suite<'_>, status: i32, ran: SuiteRan) -> TestEvidence {
    let counts = Counts {
        errors: 1,
        ..Counts::default()
    };
    without_result(suite, status, ran, counts)
}

/// A command of which no test was heard.
fn without_result(suite: &Suite<'_>, status: i32, ran: SuiteRan, counts: Counts) -> TestEvidence {
    TestEvidence {
        level: Some(Level::Verified),
        verify: true,
        counts,
        ran: Some(verdict(suite, status, ran, None)),
        ..TestEvidence::default()
    }
}

/// Runs the command, as its user would; where it is given in words, in these.
pub(super) fn run(suite: &Suite<'_>, line: Option<CommandLine>) -> Result<SuiteRan, Fault> {
    run_suite(&SuiteRun {
        command: suite.command,
        line,
        cwd: suite.folder,
        timeout: Duration::from_millis(suite.config.autopilot.test_timeout),
        cancelled: suite.cancelled.clone(),
        env: suite.env.to_vec(),
        is_whole: suite.is_whole,
    })
    .map_err(|error| {
        Fault::new(Kind::Environment, "config_invalid", error.to_string())
            .suggest(error.suggestion())
    })
}

/// The fault of a command whose caller went away.
pub(crate) fn cancelled(command: &str) -> Fault {
    fault!("cancelled.cancelled", command)
}

/// Whether the program of a runner that is known died among its tests: a run that only has tests that fail ends with 1.
fn is_cut_off(why: &Unreadable, status: i32) -> bool {
    why.format.is_some() && why.kind == ::test_report::Kind::Truncated && !matches!(status, 0 | 1)
}

/// What the command printed, as a report: on its standard output alone, where build tools do not interfere, else all of it.
fn printed(suite: &Suite<'_>, ran: &SuiteRan) -> Result<TestReport, Unreadable> {
    let mut why = match read_tests(&ran.stdout[..], suite.format) {
        Ok(report) => return Ok(report),
        Err(why) => why,
    };
    for text in [&ran.both, &ran.stderr] {
        match read_tests(&text[..], suite.format) {
            Ok(report) => return Ok(report),
            // What says most of it is what was understood furthest.
            Err(other) if other.format.is_some() => why = other,
            Err(_) => {}
        }
    }
    Err(why)
}

/// The refusal of a command that came to no report of tests.
fn not_understood(suite: &Suite<'_>, ran: &SuiteRan, status: i32, why: &Unreadable) -> Fault {
    let message = match why.format {
        Some(_) => format!("what `{}` printed is not understood: {why}", suite.command),
        None => format!(
            "`{}` ended with status {status}, and nothing that it printed is a report of tests",
            suite.command
        ),
    };
    let claim = if suite.may_break && suite.config.evidence.require == Level::Claimed {
        concat!(
            "report the numbers with ",
            argument!("results"),
            " failed:N,passed:N, or "
        )
    } else {
        ""
    };
    let report = concat!(
        "let it print or write a report (JUnit XML, TAP, JSON…), and name the file with ",
        argument!("report"),
        " beside ",
        argument!("verify")
    );
    // Such as a linter that stands before the tests in the same command.
    let stopped = concat!(
        "fix what stopped it before the tests, such as a linter or a build, and report again: ",
        step!("report")
    );
    let suggestion = if status == 0 {
        format!("{claim}{report}")
    } else if runners_behind(suite.folder, suite.command).is_empty() {
        format!("{claim}{report}. Where the tests did not run, {stopped}")
    } else {
        format!("{stopped}. Where the tests ran, {claim}{report}")
    };
    refused("report_unreadable", message, &suggestion).detail("output", end_of(&ran.both))
}

/// Whether a compiler of TypeScript stopped a command, as it may before tests of a language that needs none: it names each error
/// as `error TS` and its number.
fn is_type_error(output: &[u8]) -> bool {
    let text = String::from_utf8_lossy(output);
    text.split("error TS").skip(1).any(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && rest[digits..].starts_with(':')
    })
}

/// Whether `go vet` stopped a command that has it before the tests, for something that the compiler does not know: it names each
/// place as `vet: FILE:LINE:COLUMN:`. What else it finds fault with does not keep tests from being built.
fn is_vetted(output: &[u8]) -> bool {
    let text = String::from_utf8_lossy(output);
    let mut told = text.lines().filter_map(|line| line.strip_prefix("vet: "));
    told.any(|place| {
        let mut parts = place.split(':');
        let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
        let is_file = |file: &str| {
            Path::new(file)
                .extension()
                .is_some_and(|ending| ending == "go")
                && !file.contains(' ')
        };
        parts.next().is_some_and(is_file) && is_number(parts.next()) && is_number(parts.next())
    })
}

pub(crate) fn refused(code: &str, message: impl Into<String>, suggestion: &str) -> Fault {
    Fault::new(Kind::Refused, code, message).suggest(suggestion)
}

/// The end of an output, as text.
pub(crate) fn end_of(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let text = many_lines(&printed_in_events(&text));
    let from = text.ceil_char_boundary(text.len().saturating_sub(SHOWN));
    let end = cut_bytes(&text[from..], SHOWN);
    // In whole lines, where it has several.
    let whole = end.split_once('\n').filter(|_| from > 0);
    whole.map_or(end, |(_, whole)| whole).to_owned()
}
