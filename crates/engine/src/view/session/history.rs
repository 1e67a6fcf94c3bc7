//! The transitions and the files of a session, from its journal.

use std::path::Path;

use journal::{FileJournal, Journal as _, Position};
use machine::{Definition, Event, RunStatus};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::capability::profile::memory::{PROCESSED, Processed};
use crate::fault::Fault;
use crate::integrity::file_problems;
use crate::journal_end::{JournalEnd, lines_with};
use crate::view::session::answer::{ArtifactEntry, HistoryEntry};

/// How much of the journal's end is looked at where the last entries are enough, in bytes: more of it where it holds too few, and
/// all of it where it holds none, as behind a rejection that says very much.
const TAILS: [u64; 3] = [64 * 1024, 16 * 1024 * 1024, u64::MAX];
/// How many of the last entries are told then.
const MOST_TOLD: usize = 20;
/// The events that are told of, as their lines name them.
const TOLD: [&str; 3] = [
    r#""event":"state:entered""#,
    r#""event":"artifact:recorded""#,
    r#""event":"report:accepted""#,
];

/// Transitions and files.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) entries: Vec<HistoryEntry>,
    pub(crate) artifacts: Vec<ArtifactEntry>,
    /// What was said of the response that leads to the next transition.
    said: Option<Processed>,
}

/// An event's line, as far as it is looked at.
#[derive(Deserialize)]
struct Line {
    ts: String,
    event: String,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// Where in a run's folder a file with this content was recorded, the oldest first.
pub(crate) fn places_of(dir: &Path, sha256: &str) -> Result<Vec<String>, Fault> {
    let lines = lines_with(dir, sha256)?;
    let recorded = lines.iter().filter_map(|line| {
        let line: Line = serde_json::from_str(line).ok()?;
        match Event::from_fields(&line.event, &line.fields) {
            Ok(Event::ArtifactRecorded(file)) => (file.sha256 == sha256).then_some(file.path),
            _ => None,
        }
    });
    Ok(recorded.collect())
}

/// All of them, and which files are not in their places as they were recorded.
pub(crate) fn checked(dir: &Path, definition: &Definition) -> Result<History, Fault> {
    let records = FileJournal::open(dir)?.read(&Position::start())?.records;
    let mut history = History::default();
    for record in &records {
        history.take(definition, &record.ts, &record.event, &record.fields);
    }
    for problem in file_problems(dir, &records) {
        let mut newest = history.artifacts.iter_mut().rev();
        if let Some(entry) = newest.find(|entry| entry.path == problem.path) {
            entry.problem = Some(problem.state);
        }
    }
    Ok(history)
}

/// The last of them, at a cost that does not grow with the session.
pub(crate) fn last(dir: &Path, definition: &Definition) -> Result<History, Fault> {
    let mut history = History::default();
    for tail in TAILS {
        let end = JournalEnd::read(dir, tail)?;
        // Most lines are about something else, and reading them all would be most of what a step costs.
        let mut seen = [0; TOLD.len()];
        let last = end.lines_backwards().filter(|line| {
            let told = TOLD.iter().position(|event| line.contains(event));
            told.is_some_and(|told| {
                seen[told] += 1;
                // One more than the transitions, since each has the report that led there before it.
                seen[told] <= MOST_TOLD + 1
            })
        });
        // A line that a crash cut off is no event yet.
        let mut lines: Vec<Line> = last
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        lines.reverse();
        history = History::default();
        for line in &lines {
            history.take(definition, &line.ts, &line.event, &line.fields);
        }
        let enough = match history.entries.len() {
            0 => false,
            some => some >= MOST_TOLD || tail > TAILS[0],
        };
        if end.is_whole || enough {
            break;
        }
    }
    keep_last(&mut history.entries);
    keep_last(&mut history.artifacts);
    Ok(history)
}

fn keep_last<T>(all: &mut Vec<T>) {
    all.drain(..all.len().saturating_sub(MOST_TOLD));
}

/// What a profile said of a response, where that is among what is kept.
fn said(keep: &Map<String, Value>) -> Option<Processed> {
    PROCESSED.read(keep).ok().flatten()
}

impl History {
    fn take(
        &mut self,
        definition: &Definition,
        ts: &str,
        event: &str,
        fields: &Map<String, Value>,
    ) {
        match Event::from_fields(event, fields) {
            Ok(Event::StateEntered {
                to,
                iteration,
                outcome,
                decision,
                keep,
                ..
            }) => self.entries.push(HistoryEntry {
                // What was read of a report is journalled with it, else with the way that it led.
                said: self.said.take().or_else(|| said(&keep)),
                status: status_of(definition, &to).to_owned(),
                phase: to,
                iteration: iteration.unwrap_or(0),
                timestamp: ts.to_owned(),
                outcome,
                decision: decision.map(|_| "reject".to_owned()),
            }),
            Ok(Event::ReportAccepted(report)) => self.said = said(&report.keep_run),
            Ok(Event::ArtifactRecorded(artifact)) => {
                self.artifacts.push(ArtifactEntry::of(artifact, ts));
            }
            _ => {}
        }
    }
}

/// The status of a session that stands at that state.
fn status_of(definition: &Definition, state: &str) -> &'static str {
    let end = definition.state(state).and_then(|state| state.end.as_ref());
    status(end.map_or(RunStatus::Running, |end| end.value.into()))
}

/// The status of a session, by the one of its run.
pub(crate) fn status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running | RunStatus::Paused => "IN_PROGRESS",
        RunStatus::Completed => "SUCCESS",
        RunStatus::Failed | RunStatus::Error => "ERROR",
        RunStatus::Cancelled | RunStatus::Aborted => "CANCELLED",
    }
}
