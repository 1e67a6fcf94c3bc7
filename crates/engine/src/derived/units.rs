//! `work-units.json`: every unit that was issued, and what came of it.

use std::path::Path;

use journal::{FileJournal, Journal as _, Position};
use machine::event::AcceptedReport;
use machine::trigger::Trigger;
use machine::{Event, RunState};
use serde::{Deserialize, Serialize};

use crate::derived::put;

const FILE: &str = "work-units.json";
/// So a row of a unit that is open looks.
const OPEN: &str = "\"outcome\":\"open\"";
/// Above this many units the list of them is only written when the run ends.
const MOST: usize = 512;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    id: String,
    state: String,
    /// The phase, where it is not called as the state is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item: Option<String>,
    token: u32,
    attempt: u32,
    issued: String,
    outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reported: Option<String>,
}

/// Notes what `appended` says of units. Whether it could be written.
pub(super) fn write(dir: &Path, run: &RunState, appended: &[Event]) -> bool {
    let touches = appended.iter().any(|event| {
        matches!(
            event,
            Event::UnitIssued { .. }
                | Event::ReportAccepted(_)
                | Event::ReportRetried(_)
                | Event::StateEntered { .. }
                | Event::RunRewound { .. }
        )
    });
    if !touches || issued(run) > MOST {
        return true;
    }
    let text = journal::durable::read_text(&dir.join(FILE)).unwrap_or_default();
    let began = matches!(appended.first(), Some(Event::RunCreated { .. }));
    let Some((over, mut rows)) = parse_rows(&text).or_else(|| began.then(Default::default)) else {
        return rebuild(dir);
    };
    for event in appended {
        note(&mut rows, &run.updated_at, event);
    }
    put(dir, FILE, listed(over, &rows).as_bytes())
}

/// The list as it is kept: the text of the rows that are over, which stay as they are, and the rows behind them, from the first
/// open one on.
fn parse_rows(text: &str) -> Option<(&str, Vec<Row>)> {
    let rows = text.strip_prefix("[\n")?.strip_suffix("\n]\n")?;
    let open = rows.find(OPEN).unwrap_or(rows.len());
    let behind = match rows.get(..open)?.rfind('\n') {
        _ if open == rows.len() => rows.len(),
        Some(line) => line + 1,
        None => 0,
    };
    let (over, open) = rows.split_at(behind);
    let open = open.lines().map(|line| {
        let row = line.strip_suffix(',').unwrap_or(line);
        serde_json::from_str::<Row>(row).ok()
    });
    Some((
        over.trim_end_matches(['\n', ',']),
        open.collect::<Option<_>>()?,
    ))
}

/// Makes the list anew from the journal. Whether it could be written.
fn rebuild(dir: &Path) -> bool {
    let Ok(tail) = FileJournal::open(dir).and_then(|journal| journal.read(&Position::start()))
    else {
        return false;
    };
    let mut rows = Vec::new();
    for record in &tail.records {
        if let Ok(event) = Event::from_fields(&record.event, &record.fields) {
            note(&mut rows, &record.ts, &event);
        }
    }
    put(dir, FILE, listed("", &rows).as_bytes())
}

/// Whether the list has as many rows as units were issued.
pub(super) fn are_whole(dir: &Path, run: &RunState) -> bool {
    let issued = issued(run);
    if issued > MOST {
        return true;
    }
    let text = journal::durable::read_text(&dir.join(FILE)).unwrap_or_default();
    text.lines().count() == issued.max(1) + 2 && text.ends_with("]\n")
}

/// Writes the whole list, unless it is one that is only written when the run ends. Whether it could be written.
pub(super) fn put_all(dir: &Path, run: &RunState, rows: &[Row]) -> bool {
    let is_due = run.status.is_over() || issued(run) <= MOST;
    !is_due || put(dir, FILE, listed("", rows).as_bytes())
}

fn issued(run: &RunState) -> usize {
    run.issues.values().map(|count| *count as usize).sum()
}

pub(super) fn note(rows: &mut Vec<Row>, at: &str, event: &Event) {
    let mut close = |report: &AcceptedReport, outcome: &str| {
        if let Some(row) = rows.iter_mut().rfind(|row| row.id == report.unit) {
            outcome.clone_into(&mut row.outcome);
            row.reported = Some(at.to_owned());
        }
    };
    match event {
        Event::ReportAccepted(report) => close(report, "accepted"),
        Event::ReportRetried(report) => close(report, report.code.as_deref().unwrap_or("retry")),
        Event::StateEntered { token, cause, .. } => {
            let outcome = match cause {
                Trigger::Reopen => "reopened",
                Trigger::Skip => "skipped",
                Trigger::Adopt => "dropped",
                Trigger::Abort => "aborted",
                _ => return,
            };
            for row in rows
                .iter_mut()
                .filter(|row| row.outcome == "open" && row.token == *token)
            {
                outcome.clone_into(&mut row.outcome);
            }
        }
        Event::TokenClosed {
            token, left: true, ..
        } => {
            let mut rows = rows.iter_mut();
            let of_token = rows.find(|row| row.outcome == "open" && row.token == *token);
            if let Some(row) = of_token {
                "dropped".clone_into(&mut row.outcome);
            }
        }
        Event::RunEnded { .. } | Event::RunRewound { .. } => {
            let outcome = match event {
                Event::RunEnded { .. } => "dropped",
                _ => "rewound",
            };
            for row in rows.iter_mut().filter(|row| row.outcome == "open") {
                outcome.clone_into(&mut row.outcome);
            }
        }
        Event::UnitIssued {
            unit,
            token,
            state,
            attempt,
            item,
            role,
            ..
        } => rows.push(Row {
            id: unit.clone(),
            state: state.clone(),
            phase: role.phase.clone().filter(|phase| phase != state),
            item: item.clone(),
            token: *token,
            attempt: *attempt,
            issued: at.to_owned(),
            outcome: "open".to_owned(),
            reported: None,
        }),
        _ => {}
    }
}

/// The list: rows that are over as they stand in it, and those behind them.
fn listed(over: &str, rows: &[Row]) -> String {
    let lines: Vec<String> = rows
        .iter()
        .filter_map(|row| serde_json::to_string(row).ok())
        .collect();
    let between = if over.is_empty() || lines.is_empty() {
        ""
    } else {
        ",\n"
    };
    format!("[\n{over}{between}{}\n]\n", lines.join(",\n"))
}
