//! The only place that prints: one JSON value, or text for people; faults, warnings and hints.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use engine::next_step::is_marked;
use engine::{Fault, Verb};
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter};

use crate::progress;
use crate::render::{self, Look};
use crate::steps::{Caller, StepSpelling as _};

/// Standard output and standard error of this process.
#[derive(Debug)]
pub struct Output {
    json: bool,
    out: Look,
    err: Look,
    caller: &'static Caller,
    closed: bool,
    /// The answer, where it is not printed.
    taken: Option<Value>,
    takes: bool,
}

impl Output {
    /// Output to a caller, in JSON or for people; colour and symbols where a terminal can show them, unless `plain`.
    pub fn new(json: bool, plain: bool, caller: Caller) -> Self {
        // There is one caller as long as the process runs.
        let caller: &'static Caller = Box::leak(Box::new(caller));
        if plain {
            ColorChoice::Never.write_global();
        }
        let columns = terminal_columns();
        let look = |choice| Look {
            rich: choice != ColorChoice::Never,
            width: columns.unwrap_or(USUAL_WIDTH).min(WIDEST),
            line: columns.unwrap_or(LONGEST_LINE),
            caller,
        };
        Self {
            json,
            out: look(AutoStream::choice(&io::stdout())),
            err: look(AutoStream::choice(&io::stderr())),
            caller,
            closed: false,
            taken: None,
            takes: false,
        }
    }

    /// Output that prints nothing: the answer is taken from it.
    pub fn taking() -> Self {
        Self {
            json: true,
            out: Look::PLAIN,
            err: Look::PLAIN,
            caller: Look::PLAIN.caller,
            closed: false,
            taken: None,
            takes: true,
        }
    }

    /// The answer.
    pub fn taken(self) -> Value {
        self.taken.unwrap_or_default()
    }

    /// Whether answers are JSON.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// How text for people is to look.
    pub fn look(&self) -> Look {
        self.out
    }

    /// Whether nobody reads standard output any more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether a person sits there who sees what is printed and can answer.
    pub fn has_person(&self) -> bool {
        !self.json && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// The answer of a command: `value` as JSON, or what `human` makes of it.
    pub fn answer<T: Serialize>(
        &mut self,
        value: &T,
        human: impl FnOnce(&T, &Look) -> String,
    ) -> Result<(), Fault> {
        if self.json {
            self.json(value)
        } else {
            let text = human(value, &self.out);
            self.text(&text)
        }
    }

    /// The answer of a command: `value` as JSON, or the page of that name.
    pub fn page<T: Serialize>(&mut self, value: &T, page: &str) -> Result<(), Fault> {
        self.page_with(value, page, &())
    }

    /// The same; the page sees the fields of `beside` as well.
    pub fn page_with<T: Serialize>(
        &mut self,
        value: &T,
        page: &str,
        beside: &impl Serialize,
    ) -> Result<(), Fault> {
        self.answer(value, |value, look| {
            render::page_with(page, value, beside, look)
        })
    }

    /// One JSON value on a line of its own.
    pub fn json<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        let unwritten =
            |error| Fault::bug(format!("the answer could not be written as JSON: {error}"));
        if self.takes {
            self.taken = Some(serde_json::to_value(value).map_err(unwritten)?);
            return Ok(());
        }
        let mut text = written(value).map_err(unwritten)?;
        if is_marked(&text) {
            let mut spelled = serde_json::to_value(value).map_err(unwritten)?;
            self.caller.value(&mut spelled);
            text = written(&spelled).map_err(unwritten)?;
        }
        text.push('\n');
        self.bytes(text.as_bytes())
    }

    /// Text for people on standard output, with the steps that it names in the caller's words.
    pub fn text(&mut self, text: &str) -> Result<(), Fault> {
        self.bytes(self.caller.text(text).as_bytes())
    }

    /// A text that is kept as it is where a program reads it, but for the steps that it names, and made plain on a terminal.
    pub fn document(&mut self, text: &str) -> Result<(), Fault> {
        if io::stdout().is_terminal() {
            self.text(&render::plain(text))
        } else {
            self.bytes(self.caller.text(text).as_bytes())
        }
    }

    /// Bytes on standard output. When nobody reads any more, they go nowhere, quietly.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.closed {
            return Ok(());
        }
        progress::clear();
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => {
                Err(
                    Fault::environment("io_failed", "standard output could not be written", &error)
                        .suggest(format!("what the command did stands; see {}", Verb::Status)),
                )
            }
        }
    }

    /// Something that somebody should be told beside the answer.
    pub fn warning(&self, text: &str) {
        if self.takes {
            return;
        }
        Self::aside(&render::warning(text, &self.err));
    }

    /// What may help next, for people alone.
    pub fn hint(&self, text: &str) {
        if !self.json {
            Self::aside(&render::hint(text, &self.err));
        }
    }

    /// Why the command failed: `{"error": …}` on standard output, or words on standard error.
    pub fn fault(&mut self, fault: &Fault) {
        if self.json {
            // A fault that cannot be printed has nowhere left to go; the exit status still tells.
            let _ = self.json(&serde_json::json!({ "error": fault }));
        } else {
            Self::aside(&render::fault(fault, &self.err));
        }
    }

    /// What clap has to say: help and version on standard output, mistakes on standard error.
    pub fn clap(&mut self, error: &clap::Error) {
        let rendered = error.render();
        let rich = if error.use_stderr() {
            self.err
        } else {
            self.out
        };
        let text = if rich.rich {
            rendered.ansi().to_string()
        } else {
            rendered.to_string()
        };
        if error.use_stderr() {
            Self::aside(&text);
        } else {
            // As with any text: a reader who is gone is no fault.
            let _ = self.text(&text);
        }
    }

    /// A line on standard error, as it is.
    pub fn line_aside(line: &str) {
        Self::aside(&format!("{line}\n"));
    }

    /// Writes to standard error. Where that fails, there is nobody left to tell.
    fn aside(text: &str) {
        progress::clear();
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

/// Columns of text where no terminal says otherwise.
const USUAL_WIDTH: usize = 80;
/// Columns of text that are still comfortable to read.
const WIDEST: usize = 100;
/// What is left of a line that no terminal bounds.
const LONGEST_LINE: usize = 2000;

/// Columns of the terminal that standard output is; `None` where it is none, or one too narrow to care.
fn terminal_columns() -> Option<usize> {
    rustix::termios::tcgetwinsize(io::stdout())
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|&columns| columns >= 20)
}

/// A value as JSON.
fn written<T: Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::with_capacity(1024);
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Harmless);
    value.serialize(&mut serializer)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// JSON in one line whose text cannot reach into the terminal: the control characters that JSON lets stand are escaped.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, control)) = rest
            .char_indices()
            .find(|(_, c)| matches!(c, '\u{7f}'..='\u{9f}'))
        {
            CompactFormatter.write_string_fragment(writer, &rest[..at])?;
            write!(writer, "\\u{:04x}", u32::from(control))?;
            rest = &rest[at + control.len_utf8()..];
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_no_control_character_and_still_says_the_same() {
        for text in [
            "",
            "plain",
            "\u{1b}[2J",
            "a\u{9b}2Jb\u{7f}\u{85}",
            "\u{9f}",
            "é\u{80}é\n\"\\",
            "\u{a0}→",
        ] {
            let json = written(text).unwrap();
            assert!(!json.chars().any(char::is_control), "{json:?}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
        assert_eq!(written("a\u{9b}").unwrap(), "\"a\\u009b\"");
    }
}
