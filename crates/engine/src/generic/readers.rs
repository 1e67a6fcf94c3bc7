//! What a report of a workflow without rails of its own brings along: an outcome, or counts of tests.

use std::path::{Component, Path, PathBuf};

use machine::{Finding, Reading, RunState};
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::capability::tests::evidence::{self, TestEvidence};
use crate::fault;
use crate::fault::Fault;
use crate::generic::{files, messages};
use crate::next_step::argument;
use crate::report::Report;
use crate::support::{HandlerError, object};

/// The longest outcome, in bytes: a word that guards compare.
const LONGEST_OUTCOME: usize = 200;
/// The longest note, in bytes: it stands in the journal and in the snapshot.
const LONGEST_NOTE: usize = 16 * 1024;
/// The most files that a report names.
const MOST_FILES: usize = 200;

/// What a call brought along, read as far as it can be read without the run.
#[derive(Debug, Clone, Default)]
pub struct ReportInput {
    pub(crate) outcome: Option<String>,
    pub(crate) note: String,
    pub(crate) files: Vec<String>,
    /// Test results, and what they rest on.
    taken: Box<TestEvidence>,
}

impl ReportInput {
    /// Reads a report. What makes no sense is refused before anything is looked at.
    pub(crate) fn of(report: &Report, root: &Path, cwd: &Path) -> Result<Self, Fault> {
        if report.evidence.verify {
            return Err(fault!("usage.no_tests_here"));
        }
        let outcome = report.outcome.as_deref().map(outcome).transpose()?;
        let note = report.note.clone().unwrap_or_default();
        let (bytes, files) = (note.len(), report.files.len());
        if bytes > LONGEST_NOTE {
            return Err(fault!("usage.long_note", bytes, most = LONGEST_NOTE));
        }
        if files > MOST_FILES {
            return Err(fault!("usage.many_files", files, most = MOST_FILES));
        }
        let files = report
            .files
            .iter()
            .map(|name| file(name, root))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            outcome,
            note,
            files,
            taken: Box::new(evidence::take(&report.evidence, cwd)?),
        })
    }

    /// Hash of all that is reported.
    pub(crate) fn digest(&self) -> String {
        let all = json!({
            "outcome": self.outcome,
            "note": self.note,
            "files": self.files,
            "counts": self.taken.level.map(|_| self.taken.digest()),
            "coverage": self.taken.coverage,
        });
        journal::sha256_hex(all.to_string().as_bytes())
    }
}

fn outcome(text: &str) -> Result<String, Fault> {
    let word = text.trim();
    if word.is_empty() || word.len() > LONGEST_OUTCOME || word.chars().any(char::is_control) {
        return Err(fault!("usage.outcome", most = LONGEST_OUTCOME));
    }
    Ok(word.to_owned())
}

/// A path inside the project, relative to its root. It need not be there: a report may be of a deletion.
pub(crate) fn file(name: &str, root: &Path) -> Result<String, Fault> {
    let refused = || fault!("bad_name.file", name);
    let given = Path::new(name.trim());
    let relative = if given.is_absolute() {
        given.strip_prefix(root).map_err(|_| refused())?
    } else {
        given
    };
    let mut path = PathBuf::new();
    for component in relative.components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            _ => return Err(refused()),
        }
    }
    let text = path.to_str().filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(refused)
}

/// What the reader called `reader` finds in the report.
pub(crate) fn read(
    call: &Call<'_>,
    reader: &str,
    run: &RunState,
    token: u32,
) -> Result<Reading, HandlerError> {
    let state = run.token(token).map_or("", |token| token.state.as_str());
    if call.definition.response(state, &run.vars).is_some() {
        return read_file(call, reader, run, token);
    }
    from(call, reader, state, &call.input.report())
}

/// A report that was written into a file: the outcome in its first line and a note below; or counts of tests.
fn read_file(
    call: &Call<'_>,
    reader: &str,
    run: &RunState,
    token: u32,
) -> Result<Reading, HandlerError> {
    let state = run.token(token).map_or("", |token| token.state.as_str());
    let (taken, bytes) = files::take_in(call, run, token)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim();
    let mut report = Report::default();
    if reader == "tests" {
        report.evidence.results = Some(text.to_owned());
    } else {
        let (outcome, note) = text.split_once('\n').unwrap_or((text, ""));
        report.outcome = Some(outcome.trim().to_owned());
        report.note = Some(note.trim().to_owned());
    }
    let given = ReportInput::of(&report, call.root, call.root)?;
    let read = from(call, reader, state, &given)?;
    Ok(Reading {
        facts: read.facts,
        findings: read.findings,
        level: read.level,
        ..taken
    })
}

fn from(
    call: &Call<'_>,
    reader: &str,
    state: &str,
    given: &ReportInput,
) -> Result<Reading, HandlerError> {
    match reader {
        "outcome" => {
            let Some(outcome) = &given.outcome else {
                return Err(no_outcome(call, state).into());
            };
            Ok(Reading {
                facts: report_facts(given, outcome),
                level: "claimed".to_owned(),
                ..Reading::default()
            })
        }
        "tests" => {
            if given.taken.level.is_none() {
                return Err(fault!("usage.no_results_here", state).into());
            }
            tests(call, given)
        }
        other => Err(Fault::bug(format!(
            "the workflow names the reader `{other}`, which needs rails of its own"
        ))
        .into()),
    }
}

fn no_outcome(call: &Call<'_>, state: &str) -> Fault {
    let known = messages::outcomes(&call.definition, state);
    if known.is_empty() {
        return fault!("usage.no_outcome", state, known = "such as done");
    }
    let one_of = format!("one of {}", known.join(", "));
    fault!("usage.no_outcome", state, known = one_of).expected(known)
}

fn report_facts(given: &ReportInput, outcome: &str) -> Map<String, Value> {
    object(json!({
        "outcome": outcome,
        "note": given.note.trim(),
        "files": given.files,
    }))
}

fn tests(call: &Call<'_>, given: &ReportInput) -> Result<Reading, HandlerError> {
    let taken = &given.taken;
    evidence::enough(taken, &call.pinned)?;
    let thresholds = &call.pinned.test.coverage_thresholds;
    let coverage = taken.coverage.unwrap_or_default();
    // What guards have no name for is still worth its place in the journal.
    let mut facts = report_facts(given, given.outcome.as_deref().unwrap_or_default());
    facts.extend(taken.counts.facts());
    facts.insert("under".to_owned(), coverage.under(thresholds).into());
    facts.extend(taken.facts());
    if let Some(coverage) = &taken.coverage {
        facts.insert("coverage".to_owned(), json!(coverage));
    }
    let missing = coverage.missing(thresholds);
    let required = call.pinned.evidence.require_coverage && taken.coverage.is_none();
    let finding = (!missing.is_empty() || required).then(|| Finding {
        policy: "coverage_missing".to_owned(),
        message: "the settings ask for coverage, and it was not reported in full".to_owned(),
        suggestion: Some(concat!("report it with ", argument!("coverage")).to_owned()),
        details: Map::new(),
    });
    Ok(Reading {
        facts,
        findings: finding.into_iter().collect(),
        level: evidence::level_name(taken.level()).to_owned(),
        evidence: taken.keep(&call.dir)?,
        ..Reading::default()
    })
}
