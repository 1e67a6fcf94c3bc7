//! One JSON value as the scripts of a JavaScript project print it.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use serde::de::DeserializeOwned;

use crate::limits::LONGEST_WHOLE;
use crate::source::Source;
use crate::tests::{TestFormat, text};
use crate::unreadable::{Kind, Unreadable};

/// How much may stand in front of the value, in bytes.
const LONGEST_PREAMBLE: usize = 1024 * 1024;

/// What may stand in front of the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preamble {
    /// What npm, pnpm and yarn say of the script that they run.
    Script,
    /// Also what the tests themselves print.
    Output,
}

/// Reads the value, which has to be the last thing there.
pub(crate) fn value<T: DeserializeOwned>(
    mut source: Source<'_>,
    preamble: Preamble,
) -> Result<T, Unreadable> {
    let skipped = skip(&mut source, preamble)?;
    let mut limited = source.take(LONGEST_WHOLE as u64);
    let mut reader = serde_json::Deserializer::from_reader(&mut limited);
    let read = T::deserialize(&mut reader).map(|value| (value, reader.end().err()));
    if limited.limit() == 0 {
        let message = format!("a report in JSON is read up to {LONGEST_WHOLE} bytes");
        return Err(Unreadable::new(Kind::TooLarge, message));
    }
    let (error, follows) = match read {
        Ok((value, None)) => return Ok(value),
        Ok((_, Some(error))) => (error, true),
        Err(error) => (error, false),
    };
    let line = skipped.saturating_add(error.line() as u64);
    let (kind, message) = if error.is_io() {
        return Err(std::io::Error::from(error).into());
    } else if follows {
        let message = "something follows the report: give the report of one run";
        (Kind::Mixed, message.to_owned())
    } else if error.is_eof() {
        (Kind::Truncated, "it ends before it is complete".to_owned())
    } else {
        (Kind::Malformed, error.to_string())
    };
    Err(Unreadable::new(kind, message).at_line(line))
}

/// Passes over the lines in front of the value; how many there are.
fn skip(source: &mut Source<'_>, preamble: Preamble) -> Result<u64, Unreadable> {
    let mut lines = 0;
    let mut noise = Vec::new();
    loop {
        let available = source.fill_buf()?;
        match available.first() {
            None => {
                let message = "it ends before the report begins";
                return Err(Unreadable::new(Kind::Truncated, message));
            }
            Some(b'{') if lines == 0 || preamble == Preamble::Script => break,
            // What tests print may be JSON as well: the report is spread over lines.
            Some(b'{') if matches!(available.get(1), None | Some(b'\n' | b'\r')) => break,
            Some(_) => {}
        }
        let from = noise.len();
        let limit = (LONGEST_PREAMBLE - from) as u64;
        source.by_ref().take(limit).read_until(b'\n', &mut noise)?;
        lines += 1;
        let line = String::from_utf8_lossy(&noise[from..]).into_owned();
        if noise.len() == LONGEST_PREAMBLE
            || (preamble == Preamble::Script && !is_of_script(line.trim()))
        {
            let message = "something stands in front of the report";
            return Err(Unreadable::new(Kind::Mixed, message).at_line(lines));
        }
    }
    if let Some(other) = text::printed_by(&plain(&String::from_utf8_lossy(&noise))) {
        let message = format!(
            "what {other} prints stands in front of the report: give the report of one run"
        );
        return Err(Unreadable::new(Kind::Mixed, message));
    }
    Ok(lines)
}

/// `> cart@1.0.0 test`, `$ jest --json`, `yarn run v1.22.22`, `npm warn …`.
fn is_of_script(line: &str) -> bool {
    line.is_empty()
        || [
            "> ",
            "$ ",
            "yarn run ",
            "npm warn ",
            "npm WARN ",
            "npm notice ",
        ]
        .iter()
        .any(|beginning| line.starts_with(beginning))
}

/// Which of the formats of JavaScript begins like this.
pub(crate) fn detect(head: &[u8]) -> Option<TestFormat> {
    let text = String::from_utf8_lossy(head);
    let of_script = text.lines().find(|line| !is_of_script(line.trim()))?;
    if of_script.starts_with('{') && text.contains("\"numTotalTests\"") {
        return Some(TestFormat::JestJson);
    }
    let whole = text.strip_prefix('{').into_iter();
    let values = whole.chain(text.split("\n{\n").skip(1));
    let mut values = values.map(str::trim_start);
    let stats = values.any(|value| value.starts_with("\"stats\""));
    // Other tools for Mocha begin alike, and count percents.
    let mocha = stats && text.contains("\"passes\"") && !text.contains("\"passPercent\"");
    mocha.then_some(TestFormat::MochaJson)
}

/// The text without the sequences that color a terminal.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if text.contains('\u{1b}') {
        Cow::Owned(text::plain(text))
    } else {
        Cow::Borrowed(text)
    }
}
