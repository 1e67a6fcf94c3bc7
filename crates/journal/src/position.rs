//! Places in a journal: where its last whole unit ends, and where a reader left off.

use serde::{Deserialize, Serialize};

use crate::digest::ZERO_HASH;

/// The end of a journal: its last event, and the bytes up to the end of its last whole unit.
///
/// What a writer names when it appends; see [`Journal::append`](crate::Journal::append).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Head {
    /// Sequence number of the last event; 0 when there is none.
    pub seq: u64,
    /// SHA-256 of the last line without its newline, as hex; 64 zeros when there is none.
    pub hash: String,
    /// Bytes from the start of the journal to the end of its last whole unit, newline included.
    pub len: u64,
    /// Bytes of the last line, without its newline; 0 when there is none.
    pub line_len: u64,
}

impl Head {
    /// The head of a journal without events.
    pub fn empty() -> Self {
        Self {
            seq: 0,
            hash: ZERO_HASH.to_owned(),
            len: 0,
            line_len: 0,
        }
    }

    /// The position from which everything after this head is read.
    pub fn position(&self) -> Position {
        Position {
            seq: self.seq,
            hash: self.hash.clone(),
            offset: self.len,
            line_len: self.line_len,
        }
    }
}

impl From<&Head> for Position {
    fn from(head: &Head) -> Self {
        head.position()
    }
}

/// The end of some whole unit, from which reading goes on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Position {
    /// Sequence number of the last event before this position; 0 at the start.
    pub seq: u64,
    /// SHA-256 of the line that ends here, without its newline, as hex; 64 zeros at the start.
    pub hash: String,
    /// Bytes from the start of the journal to the end of that line, newline included.
    pub offset: u64,
    /// Bytes of that line, without its newline.
    pub line_len: u64,
}

impl Position {
    /// Before the first event.
    pub fn start() -> Self {
        Head::empty().position()
    }

    /// Whether this is the position before the first event.
    pub fn is_start(&self) -> bool {
        self.offset == 0
    }

    /// The head of a journal that ends here.
    pub(crate) fn head(&self) -> Head {
        Head {
            seq: self.seq,
            hash: self.hash.clone(),
            len: self.offset,
            line_len: self.line_len,
        }
    }
}
