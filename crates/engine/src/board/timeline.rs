//! What happened in a run, event by event, a page at a time.

use journal::Record;
use serde::Serialize;
use serde_json::Value;

use crate::engine::Engine;
use crate::fault::Fault;
use crate::open_run::{self, event_of};
use crate::summary;

/// An event, and what it means for people.
#[derive(Debug, Clone, Serialize)]
pub struct TimelineEntry {
    /// What happened, in a line of Markdown; none where the events beside it say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The same for programs, as a run's report has it among its steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Value>,
    /// The event as it stands in the journal.
    pub record: Record,
}

/// Some events of a run.
#[derive(Debug, Clone, Serialize)]
pub struct TimelinePage {
    /// The events, the newest first.
    pub entries: Vec<TimelineEntry>,
    /// The number of the run's last event.
    pub last: u64,
    /// The number of the oldest event on the page, where there are older ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub older_than: Option<u64>,
}

impl Engine {
    /// About `most` events of a run, the newest of those that came before the one with the number `before`; the newest of all, where
    /// none is named. The cost does not grow with the run.
    pub fn timeline(
        &self,
        run: Option<&str>,
        before: Option<u64>,
        most: u64,
    ) -> Result<TimelinePage, Fault> {
        let (dir, loaded) = self.load_any(run)?;
        let definition = open_run::pinned(dir.path(), &loaded.run)?;
        let page = journal::page(&dir.journal_path(), before, most)?;
        let mut entries = Vec::new();
        for record in page.records.into_iter().rev() {
            let event = event_of(&record)?;
            let (step, line) = summary::told(&definition, &record.ts, &event);
            entries.push(TimelineEntry { line, step, record });
        }
        let oldest = entries.last().map_or(1, |entry| entry.record.seq);
        Ok(TimelinePage {
            entries,
            last: page.last,
            older_than: (oldest > 1).then_some(oldest),
        })
    }
}
