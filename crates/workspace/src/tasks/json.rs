//! JSON text read together with the place of every value in it.
//!
//! An ordinary parser forgets where a value stood, and a serializer writes a file in its own style. To change the bytes of
//! one value and no other, and to say in which line a setting is wrong, the places have to be kept. Strict RFC 8259, at most
//! 512 deep. Where a key stands twice in an object the last one counts, as for most parsers.

use std::borrow::Cow;
use std::ops::Range;

use jsonc_parser::common::{self, Ranged as _};
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use serde::de::IgnoredAny;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    /// Bytes of the text that are this value, quotes and brackets included.
    pub(crate) span: Range<usize>,
    /// The value itself.
    pub(crate) value: Value<'a>,
}

/// What a node is.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    /// As it was written.
    Number(&'a str),
    Text(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    Object(Vec<Member<'a>>),
}

/// One `"key": value` of an object.
#[derive(Debug, Clone)]
pub(crate) struct Member<'a> {
    pub(crate) key: Cow<'a, str>,
    /// Bytes of the key, quotes included.
    pub(crate) key_span: Range<usize>,
    pub(crate) node: Node<'a>,
}

/// The text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Byte at which reading stopped.
    pub(crate) offset: usize,
    /// What is wrong there.
    pub(crate) message: String,
}

impl<'a> Node<'a> {
    /// The value of a key of this object; the last one where it stands twice.
    pub(crate) fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.members()
            .iter()
            .rev()
            .find(|member| member.key == key)
            .map(|member| &member.node)
    }

    /// The members of this object, none where it is something else.
    pub(crate) fn members(&self) -> &[Member<'a>] {
        match &self.value {
            Value::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements, where this is an array.
    pub(crate) fn elements(&self) -> Option<&[Node<'a>]> {
        match &self.value {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The text, where this is a string.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What kind of value this is, in words for a message.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        }
    }

    /// The same value without its places.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(flag) => serde_json::Value::Bool(*flag),
            Value::Number(text) => serde_json::from_str(text).unwrap_or(serde_json::Value::Null),
            Value::Text(text) => serde_json::Value::String(text.to_string()),
            Value::Array(elements) => elements.iter().map(Node::to_json).collect(),
            Value::Object(members) => members
                .iter()
                .map(|member| (member.key.to_string(), member.node.to_json()))
                .collect(),
        }
    }
}

/// Line and column of a byte of a text, both from 1; the column counts characters, and a byte order mark is none.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[start..].chars().filter(|c| *c != '\u{feff}').count() + 1;
    (line, column)
}

/// Reads a whole text; a byte order mark may come first.
pub(crate) fn parse(text: &str) -> Result<Node<'_>, Malformed> {
    let body = text.trim_start_matches('\u{feff}');
    let skipped = text.len() - body.len();
    // What else than JSON a text may be is taken by the parser that knows places; and this one bounds the depth.
    serde_json::from_str::<IgnoredAny>(body).map_err(|error| Malformed {
        offset: skipped + offset_of(body, error.line(), error.column()),
        message: without_place(&error.to_string()),
    })?;
    let options = ParseOptions {
        allow_comments: false,
        allow_trailing_commas: false,
        ..ParseOptions::default()
    };
    let parsed =
        parse_to_ast(body, &CollectOptions::default(), &options).map_err(|error| Malformed {
            offset: skipped + error.range().start,
            message: error.kind().to_string(),
        })?;
    parsed
        .value
        .map(|value| node(value, skipped))
        .ok_or_else(|| Malformed {
            offset: text.len(),
            message: "there is no value".to_owned(),
        })
}

/// The value with places that count from `skipped` bytes before the text it was read from.
fn node(value: ast::Value<'_>, skipped: usize) -> Node<'_> {
    let place = |range: common::Range| skipped + range.start..skipped + range.end;
    let span = place(value.range());
    let value = match value {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(flag) => Value::Bool(flag.value),
        ast::Value::NumberLit(number) => Value::Number(number.value),
        ast::Value::StringLit(text) => Value::Text(text.value),
        ast::Value::Array(array) => Value::Array(
            array
                .elements
                .into_iter()
                .map(|value| node(value, skipped))
                .collect(),
        ),
        ast::Value::Object(object) => Value::Object(
            object
                .properties
                .into_iter()
                .map(|property| Member {
                    key_span: place(property.name.range()),
                    key: match property.name {
                        ast::ObjectPropName::String(text) => text.value,
                        ast::ObjectPropName::Word(word) => word.value.into(),
                    },
                    node: node(property.value, skipped),
                })
                .collect(),
        ),
    };
    Node { span, value }
}

/// The byte of a line and column that `serde_json` tells: both count from 1, the column in bytes.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    (start + column).saturating_sub(1)
}

/// What `serde_json` says, without the place, which is told in another way.
fn without_place(message: &str) -> String {
    let words = message.split(" at line ").next().unwrap_or(message);
    words.replace("EOF while parsing", "the file ends within")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn spans_hold(text: &str, node: &Node<'_>) {
        let again = parse(&text[node.span.clone()]).expect("a span is a value by itself");
        assert_eq!(again.to_json(), node.to_json());
        for child in node.elements().unwrap_or_default() {
            spans_hold(text, child);
        }
        for member in node.members() {
            assert!(text[member.key_span.clone()].starts_with('"'));
            spans_hold(text, &member.node);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn reads_what_serde_json_writes(value in json()) {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                let node = parse(&text).unwrap();
                prop_assert_eq!(node.to_json(), value.clone());
                spans_hold(&text, &node);
            }
        }

        #[test]
        fn agrees_with_serde_json_on_what_is_json(
            text in prop_oneof![r#"[\[\]{}:,"\\ntrue0-9.eE+u \n-]{0,24}"#, any::<String>()],
        ) {
            let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(parse(&text).is_ok(), theirs, "{:?}", text);
        }
    }

    #[test]
    fn malformed_text_is_placed() {
        for (text, place, says) in [
            ("", (1, 1), "ends within a value"),
            ("{\n  \"a\": 1,\n}", (3, 1), "key must be a string"),
            ("{\"a\" 1}", (1, 6), "expected `:`"),
            ("[1 2]", (1, 4), "expected `,` or `]`"),
            ("\u{feff}[1,,2]", (1, 4), "expected value"),
            ("\"a\nb\"", (1, 2), "control character"),
            ("\"abc", (1, 4), "ends within a string"),
            ("\"\\ud800\"", (1, 2), "surrogate"),
            ("\"\\q\"", (1, 3), "escape"),
            ("01", (1, 2), "invalid number"),
            ("1 x", (1, 3), "trailing characters"),
            ("[1,\0]", (1, 4), "expected value"),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(line_and_column(text, error.offset), place, "{text:?}");
            assert!(error.message.contains(says), "{text:?}: {}", error.message);
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse(&deep(500)).is_ok() && parse(&"[".repeat(1_000_000)).is_err());
        let error = parse(&deep(1_000)).unwrap_err().message;
        assert!(error.contains("nesting depth"), "{error}");
    }

    #[test]
    fn the_last_of_two_keys_counts() {
        let node = parse(r#"{"a": 1, "a": 2}"#).unwrap();
        assert_eq!(node.get("a").unwrap().span, 14..15);
    }
}
