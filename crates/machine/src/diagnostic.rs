//! What is wrong with a definition, and where: file, line, column, a drawn snippet, what to do.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Deserializer};

/// A position in a definition's text. Both numbers count from 1; 0 means "not known".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A value together with the place where it is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Located<T> {
    /// The value itself.
    pub value: T,
    /// Where it stands.
    pub at: Place,
}

impl<T> std::ops::Deref for Located<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = serde_saphyr::Spanned::<T>::deserialize(deserializer)?;
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Ok(Self {
            at: Place {
                line: number(spanned.referenced.line()),
                column: number(spanned.referenced.column()),
            },
            value: spanned.value,
        })
    }
}

/// One fault of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable name of the rule that was broken, such as `dangling_target`.
    pub rule: &'static str,
    /// Where the fault stands.
    pub at: Place,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Diagnostic {
    /// A fault of `rule` at `at`.
    pub fn new(
        rule: &'static str,
        at: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            rule,
            at,
            message: message.into(),
            help: help.into(),
        }
    }

    /// Draws the fault under the line it stands in. `file` is the name to show, `text` the whole
    /// definition.
    pub fn render(&self, file: &str, text: &str) -> String {
        let mut out = String::new();
        let _ = self.write(&mut out, file, text);
        out
    }

    fn write(&self, out: &mut String, file: &str, text: &str) -> fmt::Result {
        writeln!(out, "error[{}]: {}", self.rule, self.message)?;
        if self.at.line > 0 {
            let number = self.at.line.to_string();
            let pad = " ".repeat(number.len());
            writeln!(out, "{pad}--> {file}:{}:{}", self.at.line, self.at.column)?;
            // The mark that some editors write at the beginning has no width.
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            if let Some(line) = text.lines().nth(self.at.line as usize - 1) {
                const WIDTH: usize = 100;
                let column = (self.at.column.max(1) - 1) as usize;
                let skip = column.saturating_sub(WIDTH / 2);
                let shown: String = line
                    .chars()
                    .skip(skip)
                    .take(WIDTH)
                    .map(|c| if c.is_control() { ' ' } else { c })
                    .collect();
                writeln!(out, "{pad} |")?;
                writeln!(out, "{number} | {shown}")?;
                writeln!(out, "{pad} | {}^", " ".repeat(column - skip))?;
            }
        } else {
            writeln!(out, " --> {file}")?;
        }
        writeln!(out, "  = help: {}", self.help)
    }
}
