//! Checks that are run.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::test_report::{CheckFinding, CheckFormat, Severity, read_findings, told_findings};
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};
use serde_json::{Value, json};
use text::plain::{cut_bytes, many_lines};
use workspace::checks::{Check, Stream};
use workspace::config::Config;
use workspace::git::Repository;
use workspace::process::Cancellation;
use workspace::suite::{CommandLine, How, SuiteError, SuiteRan, SuiteRun, run_suite};

use crate::capability::tests::evidence::suite::{MOST_KEPT, end_of};
use crate::fault;
use crate::fault::Fault;

/// More files than these are not named to a tool: it looks at all instead.
const MOST_FILES: usize = 500;

/// A check that was run, or could not be.
#[derive(Debug, Clone)]
pub(crate) struct CheckRun {
    /// What it is called.
    pub(crate) name: String,
    /// What it found, as far as that counts, in files that git does not ignore.
    pub(crate) findings: Vec<CheckFinding>,
    /// Why nothing can be said of what it would have found.
    pub(crate) broken: Option<String>,
    /// How long it took, in milliseconds.
    duration_ms: u64,
    /// The SHA-256 of what it printed.
    sha256: String,
    /// What it printed, up to what is kept of a suite.
    pub(crate) output: Vec<u8>,
}

impl CheckRun {
    /// It as a fact of a report; `new` of its findings were not there before.
    pub(super) fn fact(&self, new: usize) -> Value {
        let mut fact = json!({
            "name": self.name,
            "findings": self.findings.len(),
            "new": new,
            "durationMs": self.duration_ms,
            "outputSha256": self.sha256,
        });
        if let Some(why) = &self.broken {
            fact["broken"] = why.as_str().into();
        }
        fact
    }

    fn broken(check: &Check, why: String) -> Self {
        Self {
            name: check.name.clone(),
            findings: Vec::new(),
            broken: Some(why),
            duration_ms: 0,
            sha256: String::new(),
            output: Vec::new(),
        }
    }
}

/// Where checks are run.
pub(crate) struct Place<'a> {
    pub(super) root: &'a Path,
    pub(super) repository: &'a Repository,
    timeout: Duration,
    cancelled: &'a Cancellation,
    /// The root, with links resolved.
    real: PathBuf,
    /// The files that git does not ignore, by their names in the project.
    known: HashSet<String>,
}

impl<'a> Place<'a> {
    /// The project that lies at `root`.
    pub(crate) fn of(
        root: &'a Path,
        repository: &'a Repository,
        config: &Config,
        cancelled: &'a Cancellation,
    ) -> Result<Self, Fault> {
        let known = repository.known_files()?;
        let status = repository.status()?;
        let untracked = status.changes.iter().map(|change| &change.path);
        let untracked = untracked.filter(|path| repository.in_scope(path));
        let known = known.iter().chain(untracked);
        Ok(Self {
            root,
            repository,
            timeout: Duration::from_millis(config.autopilot.test_timeout),
            cancelled,
            real: std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned()),
            known: known.map(|path| repository.name_in_scope(path)).collect(),
        })
    }

    /// Runs a check on these files, or on all where none are named.
    pub(super) fn run(&self, check: &Check, files: &[String]) -> Result<CheckRun, Fault> {
        if check.program.is_none() {
            let program = check.argv.first().map(String::as_str).unwrap_or_default();
            return Ok(CheckRun::broken(
                check,
                format!("`{program}` is not installed"),
            ));
        }
        let files = if files.len() > MOST_FILES { &[] } else { files };
        let files = match (files, &check.endings) {
            // One that has no word for all is given all that it is about.
            ([], Some(_)) if check.all.is_empty() => self.all_of(check),
            _ => files.to_vec(),
        };
        if files.is_empty() && check.endings.is_some() && check.all.is_empty() {
            return Ok(CheckRun {
                broken: None,
                ..CheckRun::broken(check, String::new())
            });
        }
        let line = CommandLine {
            env: Vec::new(),
            argv: check.argv_for(&files),
        };
        let plain = [("NO_COLOR", "1"), ("LC_ALL", "C.UTF-8"), ("CI", "1")];
        let ran = run_suite(&SuiteRun {
            command: &check.line(),
            line: Some(line),
            cwd: self.root,
            timeout: self.timeout,
            cancelled: self.cancelled.clone(),
            env: plain
                .map(|(name, value)| (OsString::from(name), OsString::from(value)))
                .into(),
            is_whole: false,
        });
        match ran {
            Ok(ran) if ran.how == How::Cancelled => {
                Err(fault!("cancelled.run", check = check.name))
            }
            Ok(ran) => Ok(self.read(check, &ran)),
            Err(SuiteError::Program { reason, .. }) => {
                Ok(CheckRun::broken(check, reason.to_string()))
            }
            Err(error) => Ok(CheckRun::broken(check, error.to_string())),
        }
    }

    /// The files of the project that a check is about.
    fn all_of(&self, check: &Check) -> Vec<String> {
        let mut all: Vec<String> = self.known.iter().cloned().collect();
        all.retain(|name| check.is_about(name) && self.root.join(name).is_file());
        all.sort();
        all
    }

    fn read(&self, check: &Check, ran: &SuiteRan) -> CheckRun {
        let read = match check.format {
            Some(name) => of_tool(check, name, ran),
            None => of_command(check, ran),
        };
        let (mut findings, broken) = match read {
            Ok(findings) => (findings, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let least = least(check);
        findings.retain(|finding| finding.severity >= least);
        for finding in &mut findings {
            finding.path = self.name_of(&finding.path).into();
        }
        findings.retain(|finding| finding.path.is_empty() || self.known.contains(&*finding.path));
        CheckRun {
            name: check.name.clone(),
            findings,
            broken,
            duration_ms: u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX),
            sha256: ran.sha256.clone(),
            output: ran.both[..ran.both.len().min(MOST_KEPT)].to_vec(),
        }
    }

    /// The name in the project of a file that a tool names.
    fn name_of(&self, path: &str) -> String {
        let inside = [self.root, &self.real].into_iter().find_map(|root| {
            let inside = Path::new(path).strip_prefix(root).ok()?;
            inside.to_str().map(str::to_owned)
        });
        inside.unwrap_or_else(|| path.strip_prefix("./").unwrap_or(path).to_owned())
    }
}

fn least(check: &Check) -> Severity {
    match check.least {
        "note" => Severity::Note,
        "error" => Severity::Error,
        _ => Severity::Warning,
    }
}

/// What a tool found that is known. An exit status by itself says nothing: not that there are findings, and not that there are none.
fn of_tool(check: &Check, format: &str, ran: &SuiteRan) -> Result<Vec<CheckFinding>, String> {
    let name: StrDeserializer<'_, Error> = format.into_deserializer();
    let format = CheckFormat::deserialize(name).map_err(|error| error.to_string())?;
    let printed = match check.stream {
        Stream::Output => &ran.stdout,
        Stream::Error => &ran.stderr,
        Stream::Both => &ran.both,
    };
    let findings = read_findings(printed, format);
    let end = || match said(ran) {
        None => ended(ran.how),
        Some(said) => format!("{}: {said}", ended(ran.how)),
    };
    match (&ran.how, findings) {
        (How::Exited(0), Ok(findings)) => Ok(findings),
        (How::Exited(0), Err(why)) => Err(format!("what it printed is not understood: {why}")),
        // What cannot be parsed hides the rest, and is found itself.
        (How::Exited(_), Ok(findings)) if !findings.is_empty() => Ok(findings),
        _ => Err(end()),
    }
}

/// What a tool that broke says of that: its complaint begins with what is wrong, and what it prints else ends with it.
fn said(ran: &SuiteRan) -> Option<String> {
    const LONGEST: usize = 300;
    let plain = |bytes: &[u8]| many_lines(&String::from_utf8_lossy(bytes));
    let (complaint, printed) = (plain(&ran.stderr), plain(&ran.stdout));
    let is_said = |line: &&str| !line.trim().is_empty();
    let first = complaint.lines().find(is_said);
    let line = first.or_else(|| printed.lines().rfind(is_said))?;
    Some(cut_bytes(line.trim(), LONGEST).to_owned())
}

/// What a command of the project's own found. Where it fails and names no place, that is one finding.
fn of_command(check: &Check, ran: &SuiteRan) -> Result<Vec<CheckFinding>, String> {
    let failed = match ran.how {
        How::Exited(status) => status != 0,
        how => return Err(ended(how)),
    };
    let told = [&ran.stdout, &ran.stderr]
        .into_iter()
        .find_map(|printed| told_findings(printed));
    match told {
        // Anything that is printed may look like a line that names a place.
        Some((CheckFormat::Lines, _)) | None if !failed => Ok(Vec::new()),
        Some((_, findings)) => Ok(findings),
        None => Ok(vec![CheckFinding {
            path: Box::default(),
            line: None,
            rule: check.name.as_str().into(),
            // What starts it (npm and its like) warns of settings of its own beside that.
            message: printed(ran).into(),
            severity: Severity::Error,
        }]),
    }
}

/// The end of what a command printed: of its output, or of its complaints where that is empty.
fn printed(ran: &SuiteRan) -> String {
    let outputs = [&ran.stdout, &ran.stderr];
    let ends = outputs.map(|output| end_of(output).trim().to_owned());
    ends.into_iter()
        .find(|end| !end.is_empty())
        .unwrap_or_default()
}

fn ended(how: How) -> String {
    match how {
        How::Exited(status) => format!("it ended with status {status}"),
        How::Signalled(signal) => format!("it was ended by signal {signal}"),
        How::TimedOut | How::Flooded | How::Cancelled => "it did not end in time".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_starts_a_check_warns_of_something_else() {
        let ran = |stdout: &str, stderr: &str| SuiteRan {
            how: How::Exited(1),
            stdout: stdout.into(),
            stdout_left_out: 0,
            stderr: stderr.into(),
            stderr_left_out: 0,
            both: format!("{stderr}{stdout}").into(),
            left_out: 0,
            sha256: String::new(),
            duration: Duration::ZERO,
        };
        let warning = "npm warn Unknown project config\n";
        let found = "\n  \u{2716}  3:1  Unexpected var\n";
        assert_eq!(
            printed(&ran(found, warning)),
            "\u{2716}  3:1  Unexpected var"
        );
        assert_eq!(printed(&ran(" \n", warning)), warning.trim());
    }
}
