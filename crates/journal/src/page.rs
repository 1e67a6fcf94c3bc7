//! Some of the events of a journal, found without reading what is before and behind them.

use std::path::Path;

use crate::error::JournalError;
use crate::file::{extent, open_to_read, settled};
use crate::position::Position;
use crate::record::{Depth, Record};
use crate::scan::Extent;

/// What is gone through line by line, once the place that is looked for is known this well, in bytes.
const NEAR: u64 = 64 * 1024;

/// Some events of a journal, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The events of whole units.
    pub records: Vec<Record>,
    /// The number of the journal's last event.
    pub last: u64,
}

/// The events of the journal file `path` that come before the one with the number `before` (before the end, where there is
/// none or no such event yet), at most `most` of them and the newest, but for what makes the first unit whole.
///
/// What is read grows with `most` and with the logarithm of the journal. Of what lies outside of the page nothing is checked.
pub fn page(path: &Path, before: Option<u64>, most: u64) -> Result<Page, JournalError> {
    settled(|| {
        let file = open_to_read(path)?;
        let mut whole = extent(&file, path)?;
        let end = whole.head()?;
        let to = match before {
            Some(before) if before <= end.seq => whole.unit_end(before.saturating_sub(1))?,
            _ => end.position(),
        };
        let from = whole.unit_end(to.seq.saturating_sub(most))?;
        let records = Extent {
            source: &file,
            len: to.offset,
            path,
        }
        .read(&from)?
        .records;
        Ok(Page {
            records,
            last: end.seq,
        })
    })
}

/// The end of the last unit of the journal file `path` with no event behind the one with the number `seq`.
pub fn unit_end(path: &Path, seq: u64) -> Result<Position, JournalError> {
    settled(|| {
        let file = open_to_read(path)?;
        extent(&file, path)?.unit_end(seq)
    })
}

impl<S: std::io::Read + std::io::Seek> Extent<'_, S> {
    /// The end of the last unit with no event behind the one with the number `seq`.
    fn unit_end(&mut self, seq: u64) -> Result<Position, JournalError> {
        let end = self.head()?;
        if end.seq <= seq {
            return Ok(end.position());
        }
        let (mut from, mut to) = (Position::start(), end.len);
        while to - from.offset > NEAR {
            let middle = from.offset.midpoint(to);
            let found = self.cut(middle).head()?.position();
            if found.offset <= from.offset {
                // The next unit goes on behind the middle: it alone is half of what is left.
                break;
            }
            if found.seq > seq {
                to = middle;
            } else {
                from = found;
            }
        }
        let mut last = from.offset;
        // Up to a place where units are whole: what is cut in between belongs to none of those that are looked for.
        self.cut(to)
            .scan(&from, Depth::Chain, |line, offset, len| {
                if line.k == line.n && line.seq <= seq {
                    last = offset + len + 1;
                }
            })?;
        Ok(self.cut(last).head()?.position())
    }
}
