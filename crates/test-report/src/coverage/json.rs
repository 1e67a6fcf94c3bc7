//! A report that is one JSON value.

use std::fmt;
use std::io::ErrorKind;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;

use crate::source::Source;
use crate::unreadable::{Kind, Unreadable};

/// Reads the value, and that nothing comes after it.
pub(super) fn read<T: DeserializeOwned>(source: Source<'_>) -> Result<T, Unreadable> {
    let mut reader = serde_json::Deserializer::from_reader(source);
    let value = T::deserialize(&mut reader).map_err(|error| fault(&error))?;
    reader.end().map_err(|error| match error.classify() {
        Category::Syntax => {
            let message = "after the report comes something else: give the report of one run";
            Unreadable::new(Kind::Mixed, message).at_line(line(&error))
        }
        _ => fault(&error),
    })?;
    Ok(value)
}

fn line(error: &serde_json::Error) -> u64 {
    error.line() as u64
}

fn fault(error: &serde_json::Error) -> Unreadable {
    let kind = match error.classify() {
        Category::Io => {
            let kind = error.io_error_kind().unwrap_or(ErrorKind::Other);
            return std::io::Error::new(kind, error.to_string()).into();
        }
        Category::Eof => {
            let message = "the JSON ends before it is complete";
            return Unreadable::new(Kind::Truncated, message).at_line(line(error));
        }
        Category::Syntax | Category::Data => Kind::Malformed,
    };
    Unreadable::new(kind, error.to_string()).at_line(line(error))
}

/// The beginning of a value without the blanks between its tokens, as far as it is needed to tell formats apart.
pub(super) fn compact(head: &[u8]) -> Vec<u8> {
    let mut compact = Vec::with_capacity(512);
    let (mut in_string, mut escaped) = (false, false);
    for &byte in head.iter().take(16 * 1024) {
        if !in_string && byte.is_ascii_whitespace() {
            continue;
        }
        if byte == b'"' && !escaped {
            in_string = !in_string;
        }
        escaped = in_string && byte == b'\\' && !escaped;
        compact.push(byte);
    }
    compact
}

/// Whether these bytes stand somewhere in those.
pub(super) fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|here| here == wanted)
}

/// The entries of an object, in their order; of a key that is there twice, both.
pub(super) struct Entries<T>(pub(super) Vec<(Box<str>, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Object(PhantomData))
    }
}

/// The numbers of lines in an array.
#[derive(Default)]
pub(super) struct LineNumbers {
    /// How many elements it has.
    pub(super) length: u64,
    /// Those of them that are numbers of lines.
    pub(super) numbers: Vec<u32>,
}

impl<'de> Deserialize<'de> for LineNumbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Array;
        impl<'de> Visitor<'de> for Array {
            type Value = LineNumbers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<LineNumbers, A::Error> {
                let mut lines = LineNumbers::default();
                while let Some(element) = array.next_element::<Number>()? {
                    lines.length += 1;
                    lines.numbers.extend(element.0);
                }
                Ok(lines)
            }
        }
        deserializer.deserialize_seq(Array)
    }
}

/// The number of a line; none where something else stands there.
struct Number(Option<u32>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Element {
            Line(u32),
            Other(IgnoredAny),
        }
        Ok(Self(match Element::deserialize(deserializer)? {
            Element::Line(line) => Some(line),
            Element::Other(_) => None,
        }))
    }
}
