//! What happened in a run, event by event, a page at a time.

use journal::Record;
use machine::Event;
use serde::Serialize;
use serde_json::Value;
use text::counted;

use crate::engine::Engine;
use crate::fault::Fault;
use crate::open_run::{self, event_of};
use crate::refusals::{self, Refused};
use crate::summary;

/// An event, and what it means for people.
#[derive(Debug, Clone, Serialize)]
pub struct TimelineEntry {
    /// What happened, in a line of Markdown; none where the events beside it say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The event in a few plain words, where it has no such line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brief: Option<String>,
    /// The same for programs, as a run's report has it among its steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Value>,
    /// When, UTC.
    pub at: String,
    /// The event as it stands in the journal; none of what was refused, which changes nothing and so is no event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
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

impl TimelineEntry {
    /// What happened, without the time that its line begins with.
    pub fn told(&self) -> Option<&str> {
        let line = self.line.as_deref()?;
        Some(line.split_once(" — ").map_or(line, |(_, told)| told))
    }

    fn of_refusal(refused: &Refused) -> Self {
        let unit = refused.unit.as_deref().unwrap_or_default();
        Self {
            line: Some(summary::refusal(unit, &refused.code, &refused.message)),
            brief: None,
            step: None,
            at: refused.ts.clone(),
            record: None,
        }
    }
}

/// An event in a few plain words.
fn brief(name: &str, event: &Event) -> String {
    let of = |item: &Option<String>| {
        item.as_ref()
            .map_or_else(String::new, |item| format!(" ({item})"))
    };
    match event {
        Event::RunCreated {
            workflow, actor, ..
        } => format!("{actor} began {workflow}"),
        Event::ItemsLoaded { set, items } => format!("{set}: {}", counted(items.len(), "item")),
        Event::ItemAdded { set, item } => format!("{set}: {} is new", item.key),
        Event::ItemChanged { set, key, .. } => format!("{set}: {key} changed"),
        Event::TokenOpened { key, state, .. } => format!("{key} begins at {state}"),
        Event::TokenClosed {
            item, left: true, ..
        } => format!("Left as it was{}", of(item)),
        Event::TokenClosed { item, done, .. } => {
            let word = if *done { "Done" } else { "Not done" };
            format!("{word}{}", of(item))
        }
        Event::StateEntered { from, to, item, .. } => format!("From {from} to {to}{}", of(item)),
        Event::VarsChanged { values, .. } => {
            let names: Vec<&str> = values.keys().map(String::as_str).collect();
            match names.as_slice() {
                [] => "Noted for Tramline itself".to_owned(),
                names => format!("Noted: {}", names.join(", ")),
            }
        }
        Event::UnitIssued { unit, attempt, .. } => format!("Asked for: {unit}, attempt {attempt}"),
        Event::EffectIntended { name, .. } => format!("{name} begins"),
        Event::EffectDone { name, .. } => format!("{name} is done"),
        Event::EffectFailed { name, message, .. } => format!("{name} failed: {message}"),
        Event::ArtifactRecorded(artifact) => format!("Recorded: {}", artifact.path),
        _ => name.to_owned(),
    }
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
            let at = record.ts.clone();
            entries.push(TimelineEntry {
                brief: line.is_none().then(|| brief(&record.event, &event)),
                line,
                step,
                at,
                record: Some(record),
            });
        }
        let mut records = entries.iter().filter_map(|entry| entry.record.as_ref());
        let oldest = records.next_back().map_or(1, |record| record.seq);
        // What was refused between the events of the page; behind the newest event all that was.
        let from = entries.last().map(|entry| entry.at.clone());
        let to = entries.first().filter(|_| before.is_some());
        let to = to.map(|entry| entry.at.clone());
        let refused = refusals::all(dir.path()).into_iter().filter(|refused| {
            from.as_ref().is_none_or(|from| refused.ts >= *from)
                && to.as_ref().is_none_or(|to| refused.ts <= *to)
        });
        entries.extend(refused.map(|refused| TimelineEntry::of_refusal(&refused)));
        entries.sort_by(|a, b| b.at.cmp(&a.at));
        Ok(TimelinePage {
            entries,
            last: page.last,
            older_than: (oldest > 1).then_some(oldest),
        })
    }
}
