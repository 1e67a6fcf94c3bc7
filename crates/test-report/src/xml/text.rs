//! The text of elements, of which only the beginning is kept.

use std::borrow::Cow;
use std::io::BufRead;

use super::input::{self, Input};
use crate::unreadable::{Kind, Unreadable};

/// How much of one text is kept, in bytes. Whatever a reader makes of it is shorter.
const LONGEST_TEXT: usize = 64 * 1024;

/// A piece of text, or a CDATA section.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    raw: &'a [u8],
    cdata: bool,
}

impl<'a> Text<'a> {
    pub(super) fn new(raw: &'a [u8], cdata: bool) -> Self {
        Self { raw, cdata }
    }

    /// What it says, with what was escaped put back.
    pub(crate) fn decode(self) -> Cow<'a, str> {
        match String::from_utf8_lossy(self.raw) {
            text if self.cdata => text,
            Cow::Borrowed(text) => unescape(text),
            Cow::Owned(text) => Cow::Owned(unescape(&text).into_owned()),
        }
    }
}

/// Keeps what fits.
fn keep(kept: &mut Vec<u8>, more: &[u8]) {
    let room = LONGEST_TEXT.saturating_sub(kept.len());
    kept.extend_from_slice(&more[..more.len().min(room)]);
}

/// Takes text up to the next angle bracket, and tells whether it is blank.
pub(super) fn take_text<R: BufRead>(
    input: &mut Input<R>,
    kept: &mut Vec<u8>,
) -> Result<bool, Unreadable> {
    kept.clear();
    let mut blank = true;
    loop {
        let available = input.available()?;
        if available.is_empty() {
            return Ok(blank);
        }
        let found = input::find(available, b'<');
        let amount = found.unwrap_or(available.len());
        let piece = &available[..amount];
        blank = blank && piece.iter().all(u8::is_ascii_whitespace);
        if !blank {
            keep(kept, piece);
        }
        input.take_in(amount);
        if found.is_some() {
            return Ok(blank);
        }
    }
}

/// Takes a CDATA section with its brackets, and tells whether it is blank.
pub(super) fn take_cdata<R: BufRead>(
    input: &mut Input<R>,
    kept: &mut Vec<u8>,
) -> Result<bool, Unreadable> {
    let line = input.line();
    kept.clear();
    input.take_in(b"<![CDATA[".len());
    let mut blank = true;
    loop {
        // Three bytes, so that an end across two buffers is seen; what stays behind may be its beginning.
        if input.ahead(3)?.len() < 3 {
            let message = "it ends within a CDATA section";
            return Err(Unreadable::new(Kind::Truncated, message).at_line(line));
        }
        let available = input.available()?;
        let found = cdata_end(available);
        let amount = found.unwrap_or(available.len() - 2);
        let piece = &available[..amount];
        blank = blank && piece.iter().all(u8::is_ascii_whitespace);
        keep(kept, piece);
        input.take_in(amount);
        if found.is_some() {
            input.take_in(3);
            return Ok(blank);
        }
    }
}

/// Where `]]>` begins.
fn cdata_end(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = input::find(&bytes[from..], b'>') {
        let end = from + at;
        if end >= 2 && bytes[end - 2..end] == *b"]]" {
            return Some(end - 2);
        }
        from = end + 1;
    }
    None
}

/// The longest reference: `&#x0010FFFF;`.
const LONGEST_REFERENCE: usize = 12;

/// Puts back what was escaped. Characters that XML does not know, and runners write nevertheless, are put back as well; what is
/// no reference is left as it stands.
pub(super) fn unescape(raw: &str) -> Cow<'_, str> {
    let Some(first) = input::find(raw.as_bytes(), b'&') else {
        return Cow::Borrowed(raw);
    };
    let mut plain = String::with_capacity(raw.len());
    plain.push_str(&raw[..first]);
    let mut rest = &raw[first..];
    while let Some(begins) = input::find(rest.as_bytes(), b'&') {
        plain.push_str(&rest[..begins]);
        rest = &rest[begins..];
        let near = rest.as_bytes().iter().take(LONGEST_REFERENCE);
        let referred = near.clone().position(|byte| *byte == b';').and_then(|end| {
            let character = character(rest.get(1..end)?)?;
            Some((character, end + 1))
        });
        let (character, length) = referred.unwrap_or(('&', 1));
        plain.push(character);
        rest = &rest[length..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The character that a reference stands for.
fn character(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
    })
}
