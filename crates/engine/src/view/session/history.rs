//! The transitions and the files of a session, from its journal.

use std::path::Path;

use journal::{FileJournal, Journal as _, Position, Record};
use machine::{Definition, Event, RunStatus};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::capability::profile::memory::{PROCESSED, Processed};
use crate::fault::Fault;
use crate::integrity::file_problems;
use crate::journal_end::JournalEnd;
use crate::view::session::answer::{ArtifactEntry, HistoryEntry};

/// How much of the journal's end is looked at where the last entries are enough, in bytes.
const TAIL: u64 = 64 * 1024;
/// How many times more of it each time that no transition is found, as behind a rejection that says very much.
const MORE: u64 = 8;
/// How far back is looked for the last entries, in bytes, unless there would be none at all.
const FARTHEST: u64 = 16 * 1024 * 1024;
/// How many of the last entries are told then.
const MOST_TOLD: usize = 20;
/// The events that are told of.
const ENTERED: &str = "state:entered";
const RECORDED: &str = "artifact:recorded";
const ACCEPTED: &str = "report:accepted";

/// Transitions and files.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) entries: Vec<HistoryEntry>,
    pub(crate) artifacts: Vec<ArtifactEntry>,
    /// What was said of the response that leads to the next transition.
    said: Option<Processed>,
}

/// All of them.
pub(crate) fn whole(dir: &Path, definition: &Definition) -> Result<History, Fault> {
    let tail = FileJournal::open(dir)?.read(&Position::start())?;
    Ok(of(&tail.records, definition))
}

/// All of them, and which files are not in their places as they were recorded.
pub(crate) fn checked(dir: &Path, definition: &Definition) -> Result<History, Fault> {
    let records = FileJournal::open(dir)?.read(&Position::start())?.records;
    let mut history = of(&records, definition);
    for problem in file_problems(dir, &records) {
        let mut newest = history.artifacts.iter_mut().rev();
        if let Some(entry) = newest.find(|entry| entry.path == problem.path) {
            entry.problem = Some(problem.state);
        }
    }
    Ok(history)
}

fn of(records: &[Record], definition: &Definition) -> History {
    let mut history = History::default();
    for Record {
        ts, event, fields, ..
    } in records
    {
        history.take(definition, ts, event, fields);
    }
    history
}

/// The last of them, at a cost that does not grow with the session.
pub(crate) fn last(dir: &Path, definition: &Definition) -> Result<History, Fault> {
    #[derive(Deserialize)]
    struct Line {
        ts: String,
        event: String,
        #[serde(flatten)]
        fields: Map<String, Value>,
    }
    let mut tail = TAIL;
    let mut history = loop {
        let end = JournalEnd::read(dir, tail)?;
        let from_start = end.is_whole;
        let (mut entered, mut recorded) = (0, 0);
        let mut lines: Vec<Line> = Vec::new();
        for line in end.lines_backwards() {
            // Most lines are about something else, and reading them all would be most of what a step costs.
            let entry = entered < MOST_TOLD && line.contains(ENTERED);
            let artifact = recorded < MOST_TOLD && line.contains(RECORDED);
            let accepted = entered <= MOST_TOLD && line.contains(ACCEPTED);
            if !entry && !artifact && !accepted {
                continue;
            }
            // A line that a crash cut off is no event yet.
            if let Ok(line) = serde_json::from_str::<Line>(line) {
                entered += usize::from(line.event == ENTERED);
                recorded += usize::from(line.event == RECORDED);
                lines.push(line);
            }
        }
        let mut history = History::default();
        for line in lines.iter().rev() {
            history.take(definition, &line.ts, &line.event, &line.fields);
        }
        let enough = history.entries.len() >= MOST_TOLD || tail >= FARTHEST;
        if from_start || (enough && !history.entries.is_empty()) {
            break history;
        }
        tail = tail.saturating_mul(MORE);
    };
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
        if !matches!(event, ENTERED | RECORDED | ACCEPTED) {
            return;
        }
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
