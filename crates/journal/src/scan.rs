//! The one place that decides which lines of a journal count.
//!
//! A scan starts after a known line and goes to the end of what it is given. A line counts when
//! it is whole, numbered next, names the hash of the line before it, and its unit is complete. What
//! remains at the very end without completing a unit is torn; everything else is damage.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::contract::Tail;
use crate::digest::{HexDigest, hex_digest, hex_text};
use crate::error::{Damage, DamageKind, JournalError};
use crate::position::{Head, Position};
use crate::record::{self, Depth, FORMAT_VERSION, MAX_LINE_BYTES, Parsed, SEALED_SINCE};

/// What a scan found up to the last whole unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scanned {
    /// The end of the last whole unit.
    pub(crate) head: Head,
    /// Events in whole units.
    pub(crate) events: u64,
    /// Bytes after the last whole unit.
    pub(crate) torn_bytes: u64,
}

/// Why a scan stopped before the end.
#[derive(Debug)]
pub(crate) enum Fault {
    Io(io::Error),
    Newer(u64),
    Damaged {
        /// The line, counted from 1 at the start of the scan.
        line: u64,
        kind: DamageKind,
        /// What counted before it.
        before: Box<Scanned>,
    },
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The last line seen, and its place in its unit.
struct Chain {
    seq: u64,
    hash: HexDigest,
    /// Place and size of the unit that is under way.
    unit: Option<(u32, u32)>,
}

impl Chain {
    fn check(&self, line: &Parsed<'_>) -> Result<(), DamageKind> {
        let expected = self.seq + 1;
        if line.seq != expected {
            return Err(DamageKind::Sequence {
                expected,
                found: line.seq,
            });
        }
        if line.prev.as_bytes() != self.hash.as_slice() {
            return Err(DamageKind::Chain);
        }
        if (line.seq == 1) != line.v.is_some() || line.v == Some(0) {
            return Err(DamageKind::Version);
        }
        let (fits, expected) = match self.unit {
            None => (line.k == 1 && line.n >= 1, "the first place".to_owned()),
            Some((k, n)) => (
                line.k == k + 1 && line.n == n,
                format!("place {} of {n}", k + 1),
            ),
        };
        if fits {
            Ok(())
        } else {
            Err(DamageKind::Unit {
                k: line.k,
                n: line.n,
                expected,
            })
        }
    }
}

/// Goes through `input`, which begins right after `from`, and hands every line to `on_line` with
/// its offset and length. Lines of a torn last unit are handed over too; `Scanned::events` says
/// how many count.
pub(crate) fn scan(
    input: &mut impl BufRead,
    from: &Position,
    version: Option<u64>,
    depth: Depth,
    mut on_line: impl FnMut(Parsed<'_>, u64, u64),
) -> Result<Scanned, Fault> {
    let mut is_sealed = version.is_some_and(|version| version >= u64::from(SEALED_SINCE));
    let mut good = Scanned {
        head: from.head(),
        events: 0,
        torn_bytes: 0,
    };
    let mut chain = Chain {
        seq: from.seq,
        hash: hash_of(from),
        unit: None,
    };
    let mut offset = from.offset;
    let mut lines = 0u64;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let limit = MAX_LINE_BYTES as u64 + 1;
        let read = input.take(limit).read_until(b'\n', &mut buffer)? as u64;
        if read == 0 {
            break;
        }
        let stop = |kind| Fault::Damaged {
            line: lines + 1,
            kind,
            before: Box::new(good.clone()),
        };
        let Some((b'\n', line)) = buffer.split_last() else {
            if read == limit {
                return Err(stop(DamageKind::TooLong));
            }
            if ends_otherwise(&buffer) {
                return Err(stop(DamageKind::Ending));
            }
            offset += read;
            break;
        };
        let first = from.seq == 0 && lines == 0;
        if first && let Some(found) = newer_version(line) {
            return Err(Fault::Newer(found));
        }
        let parsed =
            record::parse(line, depth).map_err(|error| stop(DamageKind::NotAnEvent(error)))?;
        chain.check(&parsed).map_err(stop)?;
        if let Some(version) = parsed.v {
            is_sealed = version >= u64::from(SEALED_SINCE);
        }
        let (hash, seal) = record::digest(line);
        let ends = parsed.k == parsed.n;
        let is_right = match seal {
            Some(seal) => seal && ends,
            None => parsed.seal.is_none() && !(ends && is_sealed),
        };
        if !is_right {
            return Err(stop(DamageKind::Seal));
        }

        let (k, n) = (parsed.k, parsed.n);
        on_line(parsed, offset, line.len() as u64);
        lines += 1;
        offset += read;
        chain = Chain {
            seq: chain.seq + 1,
            hash,
            unit: (k < n).then_some((k, n)),
        };
        if k == n {
            good.head.seq = chain.seq;
            good.head.len = offset;
            good.head.line_len = line.len() as u64;
            good.head.hash.clear();
            good.head
                .hash
                .extend(chain.hash.iter().map(|&digit| char::from(digit)));
            good.events = lines;
        }
    }
    good.torn_bytes = offset - good.head.len;
    Ok(good)
}

/// Whether the bytes at the end of a journal are the last line of a unit with another byte in the place of its newline.
/// What a crash leaves is the beginning of a line, and never that.
fn ends_otherwise(rest: &[u8]) -> bool {
    rest.split_last()
        .is_some_and(|(_, line)| record::digest(line).1 == Some(true))
}

/// The version of a first line, when it is one that this program does not know.
fn newer_version(line: &[u8]) -> Option<u64> {
    record::version_alone(line).filter(|&found| found > u64::from(FORMAT_VERSION))
}

/// The version that stands before the name of the first event.
fn version_in(begin: &[u8]) -> Option<u64> {
    let find = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|at| at == what);
    let before = &begin[..find(begin, b",\"event\":")?];
    if !before.starts_with(b"{\"ts\":\"") || before.contains(&b'\n') {
        return None;
    }
    let at = find(before, b",\"v\":")? + b",\"v\":".len();
    std::str::from_utf8(&before[at..]).ok()?.parse().ok()
}

/// How many newlines there are in `bytes`.
pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    bytes.split(|&byte| byte == b'\n').skip(1).count() as u64
}

/// The hash of `position` as digits; one that is not 64 bytes long can match no line.
fn hash_of(position: &Position) -> HexDigest {
    position.hash.as_bytes().try_into().unwrap_or([b'-'; 64])
}

/// A journal's bytes as far as they are to be looked at. Reading never goes beyond `len`, so
/// that what is appended meanwhile is left for the next read.
pub(crate) struct Extent<'a, S> {
    pub(crate) source: S,
    pub(crate) len: u64,
    pub(crate) path: &'a Path,
}

impl<S: Read + Seek> Extent<'_, S> {
    /// Every event after `after`.
    pub(crate) fn read(&mut self, after: &Position) -> Result<Tail, JournalError> {
        if !self.holds(after)? {
            return Err(JournalError::PositionLost {
                path: self.path.to_owned(),
                seq: after.seq,
                offset: after.offset,
            });
        }
        let mut records = Vec::new();
        let scanned = self.scan(after, Depth::Whole, |line, offset, len| {
            records.push(line.into_record(offset, len));
        })?;
        records.truncate(usize::try_from(scanned.events).unwrap_or(usize::MAX));
        Ok(Tail {
            records,
            head: scanned.head,
            torn_bytes: scanned.torn_bytes,
        })
    }

    /// The same journal as far as `len` bytes.
    pub(crate) fn cut(&mut self, len: u64) -> Extent<'_, &mut S> {
        Extent {
            source: &mut self.source,
            len,
            path: self.path,
        }
    }

    /// Scans what follows `after`, whose line was checked already.
    pub(crate) fn scan(
        &mut self,
        after: &Position,
        depth: Depth,
        on_line: impl FnMut(Parsed<'_>, u64, u64),
    ) -> Result<Scanned, JournalError> {
        self.scan_faults(after, depth, on_line)
            .map_err(|fault| self.explain(fault, after))
    }

    /// As [`Extent::scan`], with the fault as it is.
    pub(crate) fn scan_faults(
        &mut self,
        after: &Position,
        depth: Depth,
        on_line: impl FnMut(Parsed<'_>, u64, u64),
    ) -> Result<Scanned, Fault> {
        let version = if after.is_start() {
            // The scan comes upon it.
            None
        } else {
            self.version()?
        };
        if let Some(found) = version.filter(|&found| found > u64::from(FORMAT_VERSION)) {
            return Err(Fault::Newer(found));
        }
        let rest = self.len.saturating_sub(after.offset);
        self.source.seek(SeekFrom::Start(after.offset))?;
        let capacity = usize::try_from(rest.clamp(512, 128 * 1024)).unwrap_or(512);
        let mut input = BufReader::with_capacity(capacity, (&mut self.source).take(rest));
        scan(&mut input, after, version, depth, on_line)
    }

    /// Whether the line that ends at `position` is the one it names, and ends its unit.
    pub(crate) fn holds(&mut self, position: &Position) -> Result<bool, JournalError> {
        if position.is_start() {
            return Ok(*position == Position::start());
        }
        let line_len = position.line_len;
        let plausible = position.offset <= self.len
            && line_len <= MAX_LINE_BYTES as u64
            && line_len < position.offset;
        if !plausible {
            return Ok(false);
        }
        let bytes = self
            .bytes(position.offset - line_len - 1, line_len + 1)
            .map_err(JournalError::io("read", self.path))?;
        let Some((b'\n', line)) = bytes.split_last() else {
            return Ok(false);
        };
        Ok(hex_digest(line) == hash_of(position)
            && record::parse(line, Depth::Chain)
                .is_ok_and(|parsed| parsed.seq == position.seq && parsed.k == parsed.n))
    }

    /// The end of the last whole unit, looked for from the end backwards.
    ///
    /// The first line is looked at too, since a writer that asks only for the head would otherwise append
    /// to a format that it does not know.
    pub(crate) fn head(&mut self) -> Result<Head, JournalError> {
        let version = self.refuse_newer()?;
        let from = self
            .last_unit_end(version.is_some_and(|found| found >= u64::from(SEALED_SINCE)))
            .map_err(JournalError::io("read", self.path))?
            .unwrap_or_else(Position::start);
        Ok(self.scan(&from, Depth::Chain, |_, _, _| {})?.head)
    }

    /// The last line that ends a unit. `None` when there is none, or when the end of the file is
    /// such that only a scan from the start can tell what is wrong with it.
    fn last_unit_end(&mut self, is_sealed: bool) -> io::Result<Option<Position>> {
        const FIRST_WINDOW: u64 = 8 * 1024;
        const LAST_WINDOW: u64 = 4 * MAX_LINE_BYTES as u64;
        let mut window = FIRST_WINDOW;
        loop {
            let start = self.len.saturating_sub(window);
            let bytes = self.bytes(start, self.len - start)?;
            let mut rest = bytes.as_slice();
            while let Some(end) = rest.iter().rposition(|&byte| byte == b'\n') {
                let begin = match rest[..end].iter().rposition(|&byte| byte == b'\n') {
                    Some(newline) => newline + 1,
                    None if start == 0 => 0,
                    None => break,
                };
                let line = &rest[begin..end];
                let Ok(parsed) = record::parse(line, Depth::Chain) else {
                    return Ok(None);
                };
                if parsed.k == parsed.n {
                    let (hash, seal) = record::digest(line);
                    if seal != Some(true) && (is_sealed || parsed.seal.is_some()) {
                        return Ok(None);
                    }
                    return Ok(Some(Position {
                        seq: parsed.seq,
                        hash: hex_text(&hash),
                        offset: start + end as u64 + 1,
                        line_len: line.len() as u64,
                    }));
                }
                rest = &rest[..begin];
            }
            if start == 0 || window >= LAST_WINDOW {
                return Ok(None);
            }
            window *= 4;
        }
    }

    /// The journal's format, if it is one that this program knows.
    pub(crate) fn refuse_newer(&mut self) -> Result<Option<u64>, JournalError> {
        let version = self
            .version()
            .map_err(JournalError::io("read", self.path))?;
        match version.filter(|&found| found > u64::from(FORMAT_VERSION)) {
            None => Ok(version),
            Some(found) => Err(JournalError::NewerFormat {
                path: self.path.to_owned(),
                found,
            }),
        }
    }

    /// The journal's format, by the beginning of its first line; `None` where that cannot be read.
    pub(crate) fn version(&mut self) -> io::Result<Option<u64>> {
        const BEGINNING: u64 = 512;
        let begin = self.bytes(0, self.len.min(BEGINNING))?;
        if let Some(version) = version_in(&begin) {
            return Ok(Some(version));
        }
        let line = self.first_line()?;
        Ok(record::version_alone(
            line.strip_suffix(b"\n").unwrap_or(&line),
        ))
    }

    fn first_line(&mut self) -> io::Result<Vec<u8>> {
        self.source.seek(SeekFrom::Start(0))?;
        let mut line = Vec::new();
        BufReader::new((&mut self.source).take(MAX_LINE_BYTES as u64))
            .read_until(b'\n', &mut line)?;
        Ok(line)
    }

    fn bytes(&mut self, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        self.source.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        (&mut self.source).take(len).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The error that `fault` is, its line counted from the start of the file.
    fn explain(&mut self, fault: Fault, after: &Position) -> JournalError {
        let path = self.path.to_owned();
        match fault {
            Fault::Io(source) => JournalError::Io {
                doing: "read",
                path,
                source,
            },
            Fault::Newer(found) => JournalError::NewerFormat { path, found },
            Fault::Damaged { line, kind, .. } => match self.newlines_before(after.offset) {
                Ok(before) => JournalError::Damaged(Damage {
                    path,
                    line: before + line,
                    kind,
                }),
                Err(source) => JournalError::Io {
                    doing: "read",
                    path,
                    source,
                },
            },
        }
    }

    fn newlines_before(&mut self, offset: u64) -> io::Result<u64> {
        self.source.seek(SeekFrom::Start(0))?;
        let mut input = BufReader::with_capacity(128 * 1024, (&mut self.source).take(offset));
        let mut lines = 0;
        loop {
            let chunk = input.fill_buf()?;
            if chunk.is_empty() {
                return Ok(lines);
            }
            lines += newlines(chunk);
            let used = chunk.len();
            input.consume(used);
        }
    }
}
