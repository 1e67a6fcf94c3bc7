//! The whole chain checked, from the first line to the last.

use std::path::Path;

use crate::durable;
use crate::error::{Damage, DamageKind, JournalError};
use crate::file::{extent, holds_against, open_to_read};
use crate::lock::LastEnd;
use crate::position::{Head, Position};
use crate::record::Depth;
use crate::scan::{Fault, Scanned};

/// What a check of a whole journal found.
///
/// The chain has no key. It shows accidents and careless edits: every line is held by the hash in
/// the line after it, and the last line only by whoever kept its hash elsewhere, so compare
/// [`VerifyReport::head`] with a head that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyReport {
    /// Events in whole units, up to the damage if there is any.
    pub events: u64,
    /// The end of those.
    pub head: Head,
    /// Bytes of a torn unit at the end of the file; 0 when there is none or when there is damage.
    pub torn_bytes: u64,
    /// Whether that unit was whole once, by what the lock file has on record: the end of something that was
    /// acknowledged is missing.
    pub was_whole: bool,
    /// The first place that cannot be what was written.
    pub damage: Option<Damage>,
}

/// Checks every line of the journal file `path`, in bounded memory and without its lock.
///
/// Damage is part of the report. An error means that the file could not be read, or that its
/// format is newer than this program.
pub fn verify(path: &Path) -> Result<VerifyReport, JournalError> {
    let mut report = check(path)?;
    // A writer may cut a torn unit off and write over it while it is being read.
    for _ in 0..3 {
        if report.damage.is_none() {
            break;
        }
        let again = check(path)?;
        if again == report {
            break;
        }
        report = again;
    }
    Ok(report)
}

fn check(path: &Path) -> Result<VerifyReport, JournalError> {
    // First, since the journal only grows.
    let known = LastEnd::of(durable::folder_of(path));
    let file = open_to_read(path)?;
    let mut extent = extent(&file, path)?;
    let report = |scanned: Scanned, damage| VerifyReport {
        events: scanned.events,
        was_whole: scanned.torn_bytes > 0
            && known
                .as_ref()
                .is_some_and(|known| known.head.len > scanned.head.len),
        head: scanned.head,
        torn_bytes: scanned.torn_bytes,
        damage,
    };
    match extent.scan_faults(&Position::start(), Depth::Chain, |_, _, _| {}) {
        Ok(scanned) => {
            let held = holds_against(known.as_ref(), &scanned.head, scanned.torn_bytes, path);
            let Err(JournalError::Damaged(damage)) = held else {
                return Ok(report(scanned, None));
            };
            // The unit that was changed is not among what is whole.
            let whole = known
                .as_ref()
                .map_or(0, |known| known.from)
                .min(scanned.head.len);
            extent.len = if damage.kind == DamageKind::Seal {
                whole
            } else {
                scanned.head.len
            };
            let before = extent
                .scan(&Position::start(), Depth::Chain, |_, _, _| {})
                .unwrap_or(scanned);
            Ok(report(before, Some(damage)))
        }
        Err(Fault::Damaged { line, kind, before }) => {
            let path = path.to_owned();
            Ok(report(*before, Some(Damage { path, line, kind })))
        }
        Err(Fault::Io(source)) => Err(JournalError::io("read", path)(source)),
        Err(Fault::Newer(found)) => Err(JournalError::NewerFormat {
            path: path.to_owned(),
            found,
        }),
    }
}
