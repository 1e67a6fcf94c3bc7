//! A report of short lines, read without copying them.

use std::io::BufRead;

use crate::unreadable::{Kind, Unreadable};

/// The longest line, in bytes. Names of functions with all their template arguments have a tenth of it.
const LONGEST_LINE: usize = 1024 * 1024;

/// One line, without its end.
pub(super) struct Line<'a> {
    /// Its bytes, without blanks at its ends.
    pub(super) text: &'a [u8],
    /// Its number, from 1.
    pub(super) number: u64,
    /// Whether it was ended by a line break: the last one of a file that was cut is not.
    pub(super) ended: bool,
}

impl Line<'_> {
    /// A fault in this line. In a line that breaks off it is that.
    pub(super) fn fault(&self, message: impl Into<String>) -> Unreadable {
        if self.ended {
            Unreadable::new(Kind::Malformed, message).at_line(self.number)
        } else {
            self.cut()
        }
    }

    /// The report ends in this line.
    pub(super) fn cut(&self) -> Unreadable {
        Unreadable::new(Kind::Truncated, "it ends in the middle of a line").at_line(self.number)
    }
}

/// Goes through all lines that are not blank; gives how many there are.
pub(super) fn each_line(
    mut source: impl BufRead,
    mut read: impl FnMut(&Line<'_>) -> Result<(), Unreadable>,
) -> Result<u64, Unreadable> {
    let mut number = 0;
    let mut begun: Vec<u8> = Vec::new();
    loop {
        let chunk = source.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            rest = after;
            number += 1;
            let whole = if begun.is_empty() {
                line
            } else {
                begun.extend_from_slice(line);
                &begun
            };
            give(whole, number, true, &mut read)?;
            begun.clear();
        }
        if begun.len() + rest.len() > LONGEST_LINE {
            let message = format!("a line is longer than {LONGEST_LINE} bytes");
            return Err(Unreadable::new(Kind::TooLarge, message).at_line(number + 1));
        }
        begun.extend_from_slice(rest);
        let taken = chunk.len();
        source.consume(taken);
    }
    if !begun.is_empty() {
        number += 1;
        give(&begun, number, false, &mut read)?;
    }
    Ok(number)
}

#[inline]
fn give(
    line: &[u8],
    number: u64,
    ended: bool,
    read: &mut impl FnMut(&Line<'_>) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    let text = line.trim_ascii();
    if text.is_empty() {
        return Ok(());
    }
    read(&Line {
        text,
        number,
        ended,
    })
}

/// A number of decimal digits alone.
#[inline]
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    let mut number: u64 = 0;
    for &digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(number)
}

/// Whether a count is above zero. Counters that ran over are written as negative or larger than 64 bits by some tools, large
/// ones as decimals: all of them are numbers. `None` is none.
#[inline]
pub(super) fn is_reached(count: &[u8]) -> Option<bool> {
    if let Some(number) = number(count) {
        return Some(number > 0);
    }
    let number: f64 = std::str::from_utf8(count).ok()?.parse().ok()?;
    (number.is_finite() && !count.is_empty()).then_some(number > 0.0)
}
