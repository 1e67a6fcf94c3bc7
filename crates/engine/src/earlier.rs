//! What a reader of a journal had made of it behind the events that its run is taken back to later on.

use std::collections::{BTreeMap, BTreeSet};

use journal::Record;
use machine::Event;

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
