//! JSON text read together with the place of every value in it.
//!
//! An ordinary parser forgets where a value stood, and a serializer writes a file in its own style. To change the bytes of
//! one value and no other, and to say in which line a setting is wrong, the places have to be kept. Strict RFC 8259, one
//! pass, linear time, bounded depth. Where a key stands twice in an object the last one counts, as for most parsers.

use std::borrow::Cow;
use std::ops::Range;

/// Objects and arrays may be nested this deep.
const MAX_DEPTH: usize = 128;

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
    let start = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let mut reader = Reader {
        text,
        at: start,
        depth: 0,
    };
    reader.blanks();
    let node = reader.value()?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.malformed("something follows the end of the value"));
    }
    Ok(node)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn malformed(&self, message: impl Into<String>) -> Malformed {
        Malformed {
            offset: self.at,
            message: message.into(),
        }
    }

    fn expected(&self, what: &str) -> Malformed {
        match self
            .text
            .get(self.at..)
            .and_then(|rest| rest.chars().next())
        {
            None => self.malformed(format!("the file ends where {what} is expected")),
            Some(found) => self.malformed(format!("{what} is expected, not {found:?}")),
        }
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Node<'a>, Malformed> {
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number()?),
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            _ => return Err(self.expected("a value")),
        };
        Ok(Node {
            span: start..self.at,
            value,
        })
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<Value<'a>, Malformed>,
    ) -> Result<Value<'a>, Malformed> {
        if self.depth == MAX_DEPTH {
            return Err(self.malformed(format!("nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Value<'a>, Malformed> {
        let mut members = Vec::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(members));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key in quotes"));
            }
            let key_start = self.at;
            let key = self.string()?;
            let key_span = key_start..self.at;
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.expected("a colon"));
            }
            self.at += 1;
            self.blanks();
            let node = self.value()?;
            members.push(Member {
                key,
                key_span,
                node,
            });
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Object(members));
                }
                _ => return Err(self.expected("a comma or a closing brace")),
            }
        }
    }

    fn array(&mut self) -> Result<Value<'a>, Malformed> {
        let mut elements = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(elements));
        }
        loop {
            self.blanks();
            elements.push(self.value()?);
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::Array(elements));
                }
                _ => return Err(self.expected("a comma or a closing bracket")),
            }
        }
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, Malformed> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.expected("a value"))
        }
    }

    fn digits(&mut self) -> Result<(), Malformed> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.expected("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<&'a str, Malformed> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.malformed("a number does not begin with 0"));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Malformed> {
        let opening = self.at;
        self.at += 1;
        let mut plain_from = self.at;
        let mut unescaped: Option<String> = None;
        loop {
            match self.peek() {
                None => {
                    self.at = opening;
                    return Err(self.malformed("this string is never closed"));
                }
                Some(b'"') => {
                    let plain = &self.text[plain_from..self.at];
                    self.at += 1;
                    return Ok(match unescaped {
                        None => Cow::Borrowed(plain),
                        Some(text) => Cow::Owned(text + plain),
                    });
                }
                Some(b'\\') => {
                    let so_far = unescaped.get_or_insert_default();
                    so_far.push_str(&self.text[plain_from..self.at]);
                    let character = self.escape()?;
                    unescaped.get_or_insert_default().push(character);
                    plain_from = self.at;
                }
                Some(byte) if byte < 0x20 => {
                    return Err(self.malformed(format!(
                        "a control character (U+{byte:04X}) stands unescaped in a string"
                    )));
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<char, Malformed> {
        self.at += 1;
        let character = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(),
            _ => return Err(self.malformed("unknown escape in a string")),
        };
        self.at += 1;
        Ok(character)
    }

    /// `\uXXXX`, or two of them that make up one character; stands at the `u`.
    fn code_point(&mut self) -> Result<char, Malformed> {
        let escape_at = self.at - 1;
        let lone = |reader: &mut Self| {
            reader.at = escape_at;
            reader.malformed("half of a surrogate pair")
        };
        let first = self.code_unit()?;
        if !(0xD800..0xE000).contains(&first) {
            return char::from_u32(first).ok_or_else(|| lone(self));
        }
        if first >= 0xDC00 || !self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            return Err(lone(self));
        }
        self.at += 1;
        let second = self.code_unit()?;
        if !(0xDC00..0xE000).contains(&second) {
            return Err(lone(self));
        }
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
            .ok_or_else(|| lone(self))
    }

    /// Four hexadecimal digits after a `u`.
    fn code_unit(&mut self) -> Result<u32, Malformed> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self
                .peek()
                .and_then(|byte| char::from(byte).to_digit(16))
                .ok_or_else(|| self.malformed("four hexadecimal digits are expected"))?;
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }
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
        fn agrees_with_serde_json_on_what_is_json(text in r#"[\[\]{}:,"\\ntrue0-9.eE+u \n-]{0,24}"#) {
            let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(parse(&text).is_ok(), theirs, "{:?}", text);
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = parse(&text);
        }
    }

    #[test]
    fn malformed_text_is_placed() {
        for (text, place, says) in [
            ("", (1, 1), "ends"),
            ("{\n  \"a\": 1,\n}", (3, 1), "key"),
            ("{\"a\" 1}", (1, 6), "colon"),
            ("[1 2]", (1, 4), "comma"),
            ("\u{feff}[1,,2]", (1, 4), "value"),
            ("\"a\nb\"", (1, 3), "control"),
            ("\"abc", (1, 1), "never closed"),
            ("\"\\ud800\"", (1, 2), "surrogate"),
            ("\"\\q\"", (1, 3), "escape"),
            ("01", (1, 2), "0"),
            ("1 x", (1, 3), "follows"),
            ("[1,\0]", (1, 4), "value"),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(
                line_and_column(text, error.offset),
                place,
                "{text:?}: {}",
                error.message
            );
            assert!(error.message.contains(says), "{text:?}: {}", error.message);
        }
    }

    #[test]
    fn depth_is_bounded() {
        assert!(parse(&("[".repeat(128) + &"]".repeat(128))).is_ok());
        assert!(
            parse(&"[".repeat(1_000_000))
                .unwrap_err()
                .message
                .contains("nested")
        );
    }

    #[test]
    fn the_last_of_two_keys_counts() {
        let node = parse(r#"{"a": 1, "a": 2}"#).unwrap();
        assert_eq!(node.get("a").unwrap().span, 14..15);
    }
}
