//! What a journal is, whatever it is kept in.

use crate::error::JournalError;
use crate::position::{Head, Position};
use crate::record::{NewEvent, Record};

/// An append-only list of events with compare-and-append.
pub trait Journal {
    /// Every event after `after`, in whole units only.
    ///
    /// The chain of what is read is checked. A torn last unit is reported in
    /// [`Tail::torn_bytes`] and is no error; anything else that is malformed is
    /// [`JournalError::Damaged`].
    fn read(&self, after: &Position) -> Result<Tail, JournalError>;

    /// Appends `events` as one unit at the time `ts`, provided that the journal still ends at
    /// `expected`; otherwise [`JournalError::Conflict`] and nothing is written.
    ///
    /// `ts` is UTC in RFC 3339 with milliseconds: `2025-10-07T14:30:00.123Z`. When this
    /// returns `Ok`, the unit is durable as far as the journal can make it.
    fn append(
        &mut self,
        expected: &Head,
        ts: &str,
        events: &[NewEvent],
    ) -> Result<Head, JournalError>;

    /// Where the journal ends, found without reading all of it.
    fn head(&self) -> Result<Head, JournalError>;
}

/// What was read after a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// The events, in order, of whole units only.
    pub records: Vec<Record>,
    /// Where the journal ended when it was read.
    pub head: Head,
    /// Bytes of a torn unit after that end; 0 when there is none.
    pub torn_bytes: u64,
}
