//! From YAML to values of which each knows its line.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Error, Spanned};

use crate::documents::quoting::line_number;

/// How deep values may stand in one another.
const MOST_LEVELS: usize = 32;
/// How many values a document may hold.
const MOST_NODES: usize = 4_000_000;
/// How often it may refer back to anchors.
const MOST_ALIASES: usize = 1_000_000;
/// How many values those may stand for in any document; in a long one, two for each of its bytes besides.
const SURELY_REPEATED: usize = 10_000;
/// How many anchors it may have.
const MOST_ANCHORS: usize = 200_000;
/// How many documents may stand in one stream.
const MOST_DOCUMENTS: usize = 10_000;

/// A value, and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    /// The line in which it is used, from 1.
    pub(super) line: u32,
    /// Where its text stands, where that is known: start and end in bytes.
    source: Option<(usize, usize)>,
}

#[derive(Debug)]
pub(super) enum Value {
    Null,
    /// A number or truth value, which has to be taken from the source as it is written there.
    Plain(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// Its text as it is written, where it is a single value.
    pub(super) fn text<'a>(&'a self, source: &'a str) -> Option<Cow<'a, str>> {
        match &self.value {
            Value::Text(text) => Some(Cow::Borrowed(text)),
            Value::Plain(fallback) => {
                let written = self
                    .source
                    .and_then(|(start, end)| source.get(start..end))
                    .map(str::trim)
                    .filter(|text| !text.is_empty() && !text.contains([' ', '\n', '\r', '\t']));
                Some(Cow::Borrowed(written.unwrap_or(fallback)))
            }
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// What it is, for messages.
    pub(super) const fn what(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Plain(_) | Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

impl From<Spanned<Value>> for Node {
    fn from(spanned: Spanned<Value>) -> Self {
        let span = spanned.defined.span();
        let number = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok());
        let source = number(span.byte_offset())
            .zip(number(span.byte_len()))
            .map(|(start, length)| (start, start.saturating_add(length)));
        Self {
            line: u32::try_from(spanned.referenced.line()).unwrap_or(u32::MAX),
            value: spanned.value,
            source,
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Plain(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element::<Spanned<Value>>()? {
            nodes.push(Node::from(node));
        }
        Ok(Value::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<Spanned<Value>, Spanned<Value>>()? {
            entries.push((Node::from(key), Node::from(value)));
        }
        Ok(Value::Map(entries))
    }
}

/// Why a text could not be read.
#[derive(Debug)]
pub(super) struct Fault {
    /// Whether it holds too much, rather than something wrong.
    pub(super) too_large: bool,
    /// Where, from 1; not beyond the text.
    pub(super) line: u32,
    pub(super) message: String,
    pub(super) suggestion: String,
}

/// Reads all YAML documents of a text.
pub(super) fn parse(text: &str) -> Result<Vec<Node>, Fault> {
    // So the time that it takes follows from how long the document is, whatever its aliases unfold to.
    let repeated = SURELY_REPEATED.saturating_add(text.len().saturating_mul(2));
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MOST_LEVELS,
            max_nodes: MOST_NODES,
            max_events: 2 * MOST_NODES,
            max_aliases: MOST_ALIASES,
            max_anchors: MOST_ANCHORS,
            max_merge_keys: MOST_ALIASES,
            max_documents: MOST_DOCUMENTS,
            max_recorded_anchor_events: 2 * MOST_NODES,
            // One anchor that every task refers to is how anchors are meant to be used.
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: repeated,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        // As in YAML 1.2: `no` and `on` are text, as far as ids go.
        strict_booleans: true,
        // Whatever looks like a number is text here.
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    };
    serde_saphyr::from_multiple_with_options::<Spanned<Value>>(text, options)
        .map(|nodes| nodes.into_iter().map(Node::from).collect())
        .map_err(|error| fault(text, &error))
}

fn fault(text: &str, error: &Error) -> Fault {
    let last = text.trim_end().lines().count().max(1);
    let line = error
        .location()
        .map_or(1, |location| location.line())
        .clamp(1, last as u64);
    let line = usize::try_from(line).unwrap_or(usize::MAX);
    let written = text.lines().nth(line - 1).unwrap_or_default();
    let (too_large, message, suggestion) = explain(error.without_snippet(), written);
    // A text that a tab breaks off is said to be where it begins.
    let line = if suggestion == NO_TABS {
        let tabbed = text.lines().skip(line - 1).position(is_indented_with_tabs);
        line + tabbed.unwrap_or(0)
    } else {
        line
    };
    Fault {
        too_large,
        line: line_number(line),
        message,
        suggestion,
    }
}

/// What the library found, in words that mean something to who wrote the line.
fn explain(error: &Error, written: &str) -> (bool, String, String) {
    match error {
        Error::AliasError { error, .. } => explain(error, written),
        Error::Budget { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => too_much(),
        Error::DuplicateMappingKey { key, .. } => (
            false,
            key.as_ref().map_or_else(
                || "a key is there twice in one map".to_owned(),
                |key| {
                    format!(
                        "{} is there twice in one map",
                        crate::documents::quoting::quoted(key)
                    )
                },
            ),
            "keep one of the two, or begin the second task with `- id:`".to_owned(),
        ),
        Error::UnknownAnchor { .. } => (
            false,
            "there is no anchor of that name above".to_owned(),
            "name one above with `&name`, or put a text that begins with `*` in quotes: `\"*.rs\"`"
                .to_owned(),
        ),
        Error::MergeValueNotMapOrSeqOfMaps { .. } => (
            false,
            "`<<` takes a map, and gets something else".to_owned(),
            "refer to an anchor on a map: `<<: *defaults`".to_owned(),
        ),
        Error::RecursiveReferencesRequireWeakTypes { .. } => (
            false,
            "what the anchor stands for refers to the anchor itself".to_owned(),
            "take the alias out of it".to_owned(),
        ),
        Error::Eof { .. } => (
            false,
            "the YAML ends in the middle of something".to_owned(),
            "close what is open: a quote, `[` or `{`".to_owned(),
        ),
        other => {
            let whole = other.to_string();
            let line = whole.lines().next().unwrap_or_default();
            let line = line.strip_prefix("error: ").unwrap_or(line);
            let said = line.rfind(" at line ").map_or(line, |end| &line[..end]);
            if said.contains("recursion limit") {
                return too_much();
            }
            let said: String = said.chars().filter(|c| !c.is_control()).take(300).collect();
            let hint = hint(&said, written).to_owned();
            (false, format!("this is no YAML: {said}"), hint)
        }
    }
}

fn too_much() -> (bool, String, String) {
    (
        true,
        "the graph is too deep, too long, or repeats itself too often".to_owned(),
        format!(
            "at most {MOST_LEVELS} levels and {MOST_NODES} values are read, and few of them by way of aliases: write it out plainly"
        ),
    )
}

const NO_TABS: &str = "indent with spaces: YAML allows no tabs";

fn is_indented_with_tabs(line: &str) -> bool {
    let indent = line.len() - line.trim_start().len();
    line[..indent].contains('\t')
}

/// What is most often wrong with a line that cannot be read.
fn hint(said: &str, written: &str) -> &'static str {
    let value = written
        .split_once(": ")
        .map_or("", |(_, value)| value.trim());
    let is_quoted = value.starts_with(['"', '\'', '[', '{']);
    if is_indented_with_tabs(written) || said.contains(" tab") {
        NO_TABS
    } else if written.chars().any(|c| c.is_control() && c != '\t') {
        "take the control character out"
    } else if value.starts_with(['@', '`', '%', '|', '>', '!', '&']) {
        "put the text in quotes: it begins with a sign that means something in YAML"
    } else if !is_quoted && value.contains(": ") {
        "put the text in quotes: it has a colon in it"
    } else if ["quoted", "flow", "bracket", "':' indicator"]
        .iter()
        .any(|sign| said.contains(sign))
    {
        "see whether a quote, `[` or `{` is left open, here or in the lines above"
    } else {
        "see whether the line and those above it are indented alike, and put texts with `:`, `#` or quotes in them in quotes"
    }
}
