//! The attributes of a tag. Of the time that a report takes, most goes here: each is looked at, and few are asked for.

use std::borrow::Cow;

use super::input::find;
use super::text;

/// The attributes of a tag, in their order. That none is there twice is not worth an allocation for each tag.
pub(super) struct Attributes<'a> {
    rest: &'a str,
}

/// One attribute of a tag.
pub(crate) struct Attribute<'a> {
    /// Its name, without a prefix.
    pub(crate) name: &'a str,
    raw: &'a str,
}

impl<'a> Attribute<'a> {
    /// Its value, with what was escaped put back.
    pub(crate) fn value(self) -> Cow<'a, str> {
        text::unescape(self.raw)
    }
}

impl<'a> Attributes<'a> {
    /// Those of a tag, given without its brackets and its name.
    pub(super) fn new(rest: &'a str) -> Self {
        Self { rest }
    }

    /// The first of what is left, and what is then left.
    fn first(rest: &'a str) -> Result<(Attribute<'a>, &'a str), &'static str> {
        let bytes = rest.as_bytes();
        let end = bytes
            .iter()
            .position(|byte| *byte == b'=' || byte.is_ascii_whitespace())
            .ok_or("an attribute has no value")?;
        let name = super::local(&rest[..end]);
        if name.is_empty() {
            return Err("a value belongs to no attribute");
        }
        let behind = rest[end..].trim_ascii_start();
        let behind = behind
            .strip_prefix('=')
            .ok_or("an attribute has no value")?
            .trim_ascii_start();
        let quote = match behind.as_bytes().first() {
            Some(quote @ (b'"' | b'\'')) => *quote,
            _ => return Err("the value of an attribute is not quoted"),
        };
        let behind = &behind[1..];
        let end = find(behind.as_bytes(), quote).ok_or("the value of an attribute does not end")?;
        let raw = &behind[..end];
        Ok((Attribute { name, raw }, &behind[end + 1..]))
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Result<Attribute<'a>, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.trim_ascii_start();
        if rest.is_empty() {
            return None;
        }
        match Self::first(rest) {
            Ok((attribute, rest)) => {
                self.rest = rest;
                Some(Ok(attribute))
            }
            Err(broken) => {
                self.rest = "";
                Some(Err(broken))
            }
        }
    }
}
