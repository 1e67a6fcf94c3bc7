//! What a reader of a journal had made of it behind the events that its run is taken back to later on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use journal::Record;
use machine::Event;
use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::journal_end;

/// It, by the number of the event. Nothing is kept where no run is taken back.
#[derive(Debug, Default)]
pub(crate) struct Earlier<T> {
    wanted: BTreeSet<u64>,
    known: BTreeMap<u64, T>,
}

impl<T: Clone> Earlier<T> {
    /// For the journal of these lines.
    pub(crate) fn of(records: &[Record]) -> Self {
        let ways_back = records
            .iter()
            .filter_map(|record| Event::rewound_to(&record.event, &record.fields));
        Self {
            wanted: ways_back.collect(),
            known: BTreeMap::new(),
        }
    }

    /// For the journal of the run in this folder, as it is now.
    pub(crate) fn in_journal(dir: &Path) -> Result<Self, Fault> {
        let lines = journal_end::lines_with(dir, Event::REWOUND)?;
        let ways_back = lines.iter().filter_map(|line| {
            let fields: Map<String, Value> = serde_json::from_str(line).ok()?;
            Event::rewound_to(fields.get("event")?.as_str()?, &fields)
        });
        Ok(Self {
            wanted: ways_back.collect(),
            known: BTreeMap::new(),
        })
    }

    /// Whether it knows what it has to keep for this event.
    pub(crate) fn is_prepared_for(&self, record: &Record) -> bool {
        let to = Event::rewound_to(&record.event, &record.fields);
        to.is_none_or(|to| self.wanted.contains(&to))
    }

    /// Takes in what was made of it behind an event.
    pub(crate) fn note(&mut self, seq: u64, value: &T) {
        if self.wanted.contains(&seq) {
            self.known.insert(seq, value.clone());
        }
    }

    /// What was made of it behind an event.
    pub(crate) fn behind(&self, seq: u64) -> Option<&T> {
        self.known.get(&seq)
    }
}
