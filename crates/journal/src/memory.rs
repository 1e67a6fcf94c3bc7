//! A journal without a file, for tests and for trying a workflow out.

use std::io::Cursor;
use std::path::Path;

use crate::contract::{Journal, Tail};
use crate::error::JournalError;
use crate::position::{Head, Position};
use crate::record::{self, NewEvent};
use crate::scan::Extent;

/// A journal in memory. It holds the very bytes that a file would hold.
#[derive(Clone, Debug)]
pub struct MemoryJournal {
    bytes: Vec<u8>,
    head: Head,
}

impl MemoryJournal {
    /// A journal without events.
    pub fn new() -> Self {
        Self {
            bytes: Vec::new(),
            head: Head::empty(),
        }
    }

    /// A journal of bytes that a file held. A torn unit at their end is left away; other damage is an error.
    pub fn of(bytes: Vec<u8>) -> Result<Self, JournalError> {
        let mut journal = Self {
            bytes,
            head: Head::empty(),
        };
        journal.head = journal.read(&Position::start())?.head;
        let whole = usize::try_from(journal.head.len).unwrap_or(usize::MAX);
        journal.bytes.truncate(whole);
        Ok(journal)
    }

    /// The bytes that a journal file with these events would hold.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::new()
    }
}

impl Journal for MemoryJournal {
    fn read(&self, after: &Position) -> Result<Tail, JournalError> {
        Extent {
            source: Cursor::new(self.bytes.as_slice()),
            len: self.bytes.len() as u64,
            path: Path::new("(memory)"),
        }
        .read(after)
    }

    fn append(
        &mut self,
        expected: &Head,
        ts: &str,
        events: &[NewEvent],
    ) -> Result<Head, JournalError> {
        let (unit, head) = record::encode_unit(expected, ts, events)?;
        if *expected != self.head {
            return Err(JournalError::Conflict {
                expected: Box::new(expected.clone()),
                found: Box::new(self.head.clone()),
            });
        }
        self.bytes.extend_from_slice(&unit);
        self.head = head.clone();
        Ok(head)
    }

    fn head(&self) -> Result<Head, JournalError> {
        Ok(self.head.clone())
    }
}
