//! One line of a journal: how an event is written, and how it is read back.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::digest::{HexDigest, hex_digest, sealed_digest, sha256_hex};
use crate::error::{EventFlaw, JournalError};
use crate::position::Head;
use crate::timestamp;

/// The format that this program writes, and the newest that it reads. It stands on the first line.
pub const FORMAT_VERSION: u32 = 2;

/// From this version on the last line of every unit is sealed.
pub(crate) const SEALED_SINCE: u32 = 2;

/// The longest line that is written or read, in bytes. Larger matter belongs into the evidence store.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// How deeply the fields of an event may be nested. The JSON reader stops at 128.
pub const MAX_DEPTH: usize = 100;

/// Keys of a line that no field of an event may have.
pub const RESERVED_KEYS: [&str; 8] = ["ts", "seq", "prev", "k", "n", "v", "event", "u"];

/// An event to be appended.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// Its name, such as `commit:created`.
    pub event: String,
    /// What belongs to it. None of the [`RESERVED_KEYS`].
    pub fields: Map<String, Value>,
}

impl NewEvent {
    /// An event of this name with these fields.
    pub fn new(event: impl Into<String>, fields: Map<String, Value>) -> Self {
        Self {
            event: event.into(),
            fields,
        }
    }
}

/// An event as it stands in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// When it was appended: UTC, RFC 3339 with milliseconds.
    pub ts: String,
    /// Its number, from 1 without gaps.
    pub seq: u64,
    /// SHA-256 of the line before it, as hex; 64 zeros for the first.
    pub prev: String,
    /// Its place in its unit, from 1.
    pub k: u32,
    /// How many events its unit has.
    pub n: u32,
    /// The journal's format, on its first line.
    pub v: Option<u32>,
    /// Its name.
    pub event: String,
    /// What belongs to it.
    pub fields: Map<String, Value>,
    /// SHA-256 of what stands before it on its line, on the last line of a unit.
    pub seal: Option<String>,
    /// Bytes from the start of the journal to the start of its line.
    pub offset: u64,
    /// Bytes of its line, without the newline.
    pub len: u64,
}

/// Serializes as the line does, so that what is shown of an event is what is on disk.
impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Line {
            ts: &self.ts,
            seq: self.seq,
            prev: &self.prev,
            k: self.k,
            n: self.n,
            v: self.v,
            event: &self.event,
            fields: &self.fields,
            u: self.seal.as_deref(),
        }
        .serialize(serializer)
    }
}

/// The keys of a line in the order in which they are written.
#[derive(Serialize)]
struct Line<'a> {
    ts: &'a str,
    seq: u64,
    prev: &'a str,
    k: u32,
    n: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    v: Option<u32>,
    event: &'a str,
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    u: Option<&'a str>,
}

/// The bytes of a unit that follows `head`, and the head after it.
pub(crate) fn encode_unit(
    head: &Head,
    ts: &str,
    events: &[NewEvent],
) -> Result<(Vec<u8>, Head), JournalError> {
    let refuse = |event: &str, flaw| {
        Err(JournalError::InvalidEvent {
            event: event.to_owned(),
            flaw,
        })
    };
    if !timestamp::is_valid(ts) {
        return refuse("", EventFlaw::Time(ts.to_owned()));
    }
    if events.is_empty() {
        return refuse("", EventFlaw::EmptyUnit);
    }
    let Ok(n) = u32::try_from(events.len()) else {
        return refuse("", EventFlaw::UnitTooLarge);
    };

    let mut unit = Vec::with_capacity(events.len() * 256);
    let mut end = head.clone();
    for (k, event) in (1..=n).zip(events) {
        if let Some(flaw) = flaw_of(event) {
            return refuse(&event.event, flaw);
        }
        let start = unit.len();
        let seq = end.seq + 1;
        let line = Line {
            ts,
            seq,
            prev: &end.hash,
            k,
            n,
            v: (seq == 1).then_some(FORMAT_VERSION),
            event: &event.event,
            fields: &event.fields,
            u: None,
        };
        if let Err(error) = serde_json::to_writer(&mut unit, &line) {
            return refuse(&event.event, EventFlaw::Json(error.to_string()));
        }
        if k == n {
            seal(&mut unit, start);
        }
        let written = &unit[start..];
        if written.len() > MAX_LINE_BYTES {
            return refuse(&event.event, EventFlaw::TooLong);
        }
        let line_len = written.len() as u64;
        end = Head {
            seq,
            hash: sha256_hex(written),
            len: end.len + line_len + 1,
            line_len,
        };
        unit.push(b'\n');
    }
    Ok((unit, end))
}

/// Puts the seal onto the line that begins at `start`, as its last key. All lines before it in its unit are held by the chain.
fn seal(unit: &mut Vec<u8>, start: usize) {
    // The brace that ends the line comes behind it again.
    unit.pop();
    let seal = hex_digest(&unit[start..]);
    unit.extend_from_slice(SEAL_BEGINS);
    unit.extend_from_slice(&seal);
    unit.extend_from_slice(SEAL_ENDS);
}

const SEAL_BEGINS: &[u8] = b",\"u\":\"";
const SEAL_ENDS: &[u8] = b"\"}";

/// The hash of a line, and whether its seal is right; `None` where it has none in its place.
pub(crate) fn digest(line: &[u8]) -> (HexDigest, Option<bool>) {
    let at = line
        .len()
        .saturating_sub(SEAL_BEGINS.len() + size_of::<HexDigest>() + SEAL_ENDS.len());
    let (body, rest) = line.split_at(at);
    let seal = rest
        .strip_prefix(SEAL_BEGINS)
        .and_then(|rest| rest.strip_suffix(SEAL_ENDS));
    let (before, whole) = sealed_digest(body, rest);
    (whole, seal.map(|seal| seal == before.as_slice()))
}

fn flaw_of(event: &NewEvent) -> Option<EventFlaw> {
    if event.event.is_empty() {
        return Some(EventFlaw::NoName);
    }
    if let Some(key) = RESERVED_KEYS
        .iter()
        .find(|key| event.fields.contains_key(**key))
    {
        return Some(EventFlaw::ReservedField((*key).to_owned()));
    }
    let deep = event.fields.values().any(|value| !fits(value, MAX_DEPTH));
    deep.then_some(EventFlaw::TooDeep)
}

/// Whether `value` is nested at most `depth` deep. Stops descending there, whatever comes below.
fn fits(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => false,
        Value::Array(values) => values.iter().all(|value| fits(value, depth - 1)),
        Value::Object(fields) => fields.values().all(|value| fits(value, depth - 1)),
        _ => true,
    }
}

/// A line as it was read; `fields` stays empty when only the chain is of interest.
#[derive(Debug)]
pub(crate) struct Parsed<'a> {
    pub(crate) ts: Cow<'a, str>,
    pub(crate) seq: u64,
    pub(crate) prev: Cow<'a, str>,
    pub(crate) k: u32,
    pub(crate) n: u32,
    pub(crate) v: Option<u64>,
    pub(crate) event: Cow<'a, str>,
    pub(crate) fields: Map<String, Value>,
    pub(crate) seal: Option<Cow<'a, str>>,
}

impl Parsed<'_> {
    /// The event, given where its line stands.
    pub(crate) fn into_record(self, offset: u64, len: u64) -> Record {
        Record {
            ts: self.ts.into_owned(),
            seq: self.seq,
            prev: self.prev.into_owned(),
            k: self.k,
            n: self.n,
            v: self.v.and_then(|v| u32::try_from(v).ok()),
            event: self.event.into_owned(),
            fields: self.fields,
            seal: self.seal.map(Cow::into_owned),
            offset,
            len,
        }
    }
}

/// How much of a line is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What the chain needs.
    Chain,
    /// The fields too.
    Whole,
}

/// Reads one line, without its newline.
pub(crate) fn parse(line: &[u8], depth: Depth) -> Result<Parsed<'_>, String> {
    let mut json = serde_json::Deserializer::from_slice(line);
    json.deserialize_map(LineVisitor { depth })
        .and_then(|parsed| json.end().map(|()| parsed))
        .map_err(|error| error.to_string())
}

/// The version on a line of which nothing else may be readable.
pub(crate) fn version_alone(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Versioned {
        v: u64,
    }
    serde_json::from_slice::<Versioned>(line)
        .ok()
        .map(|versioned| versioned.v)
}

/// Text that borrows from the line unless it has escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

struct LineVisitor {
    depth: Depth,
}

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Parsed<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parsed<'de>, A::Error> {
        let mut ts: Option<Text<'de>> = None;
        let mut seq: Option<u64> = None;
        let mut prev: Option<Text<'de>> = None;
        let mut k: Option<u32> = None;
        let mut n: Option<u32> = None;
        let mut v: Option<u64> = None;
        let mut event: Option<Text<'de>> = None;
        let mut seal: Option<Text<'de>> = None;
        let mut fields = Map::new();
        while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
            match key.as_ref() {
                "ts" => once(&mut ts, "ts", &mut map)?,
                "seq" => once(&mut seq, "seq", &mut map)?,
                "prev" => once(&mut prev, "prev", &mut map)?,
                "k" => once(&mut k, "k", &mut map)?,
                "n" => once(&mut n, "n", &mut map)?,
                "v" => once(&mut v, "v", &mut map)?,
                "event" => once(&mut event, "event", &mut map)?,
                "u" => once(&mut seal, "u", &mut map)?,
                _ if self.depth == Depth::Chain => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    fields.insert(key.into_owned(), map.next_value()?);
                }
            }
        }
        Ok(Parsed {
            ts: ts.ok_or_else(|| A::Error::missing_field("ts"))?.0,
            seq: seq.ok_or_else(|| A::Error::missing_field("seq"))?,
            prev: prev.ok_or_else(|| A::Error::missing_field("prev"))?.0,
            k: k.ok_or_else(|| A::Error::missing_field("k"))?,
            n: n.ok_or_else(|| A::Error::missing_field("n"))?,
            v,
            event: event.ok_or_else(|| A::Error::missing_field("event"))?.0,
            fields,
            seal: seal.map(|text| text.0),
        })
    }
}

/// Takes the value of a key that may stand on a line only once.
fn once<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    slot: &mut Option<T>,
    key: &'static str,
    map: &mut A,
) -> Result<(), A::Error> {
    if slot.is_some() {
        return Err(A::Error::duplicate_field(key));
    }
    *slot = Some(map.next_value()?);
    Ok(())
}
