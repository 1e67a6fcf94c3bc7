//! Why a verdict is refused.

use std::fmt;

use crate::response::text::{Line, NotText, shown};

/// Why a verdict is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictError {
    pub(super) fault: VerdictFault,
    pub(super) line: Option<usize>,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerdictFault {
    /// The response is not UTF-8.
    NotText {
        /// The first byte that is none, counted from 1.
        byte: usize,
    },
    /// There is a NUL in it.
    Nul {
        /// Where, counted from 1.
        byte: usize,
    },
    /// There is nothing but white space.
    Blank,
    /// There is no block.
    NoBlock,
    /// A line that is meant to open a block, but does not.
    BadOpening {
        /// The line.
        text: String,
    },
    /// A second block.
    Second {
        /// The line of the first.
        first: usize,
    },
    /// The block does not end.
    Unterminated,
    /// The only block stands in a fenced block among other text.
    Quoted,
    /// A line of the block that is no entry.
    NotAnEntry {
        /// The line.
        text: String,
    },
    /// A key that is there twice.
    KeyTwice {
        /// The key.
        key: &'static str,
        /// The line of the first.
        first: usize,
    },
    /// Keys that are not there.
    Missing {
        /// Which.
        keys: Vec<&'static str>,
    },
    /// Neither PASS nor FAIL.
    BadVerdict {
        /// What stands there.
        value: String,
    },
    /// No integer from 0 on.
    BadNumber {
        /// The key.
        key: &'static str,
        /// What stands there.
        value: String,
    },
    /// More critical issues than issues.
    MoreCriticalThanTotal {
        /// The critical ones.
        critical: u64,
        /// All of them.
        total: u64,
    },
    /// The code passes and has critical issues.
    PassWithCritical {
        /// How many.
        critical: u64,
    },
}

impl From<NotText> for VerdictFault {
    fn from(fault: NotText) -> Self {
        let byte = fault.byte;
        if fault.is_nul {
            Self::Nul { byte }
        } else {
            Self::NotText { byte }
        }
    }
}

impl VerdictFault {
    pub(super) fn at(self, line: &Line<'_>) -> VerdictError {
        VerdictError {
            fault: self,
            line: Some(line.number),
        }
    }
}

impl VerdictError {
    /// What is wrong.
    pub fn fault(&self) -> &VerdictFault {
        &self.fault
    }

    /// The line of the response, counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// What to do now.
    pub fn suggestion(&self) -> String {
        match &self.fault {
            VerdictFault::NotText { .. } | VerdictFault::Nul { .. } => {
                "Write the response as UTF-8, not as UTF-16 or in an older encoding."
            },
            VerdictFault::Blank | VerdictFault::NoBlock => {
                "End the review with a block of six lines: `@@@REVIEW_META`, `verdict: PASS` or `verdict: \
                 FAIL`, `issues_total: 0`, `issues_critical: 0`, `missing_inputs: 0`, `@@@`."
            }
            VerdictFault::BadOpening { .. } => "Write `@@@REVIEW_META` and nothing else on that line.",
            VerdictFault::Unterminated => {
                "End the block with a line `@@@`. If the response was cut off, ask for it again."
            }
            VerdictFault::NotAnEntry { .. } => "Write each line of the block as `key: value`.",
            VerdictFault::Second { .. } => {
                "Keep the one block that is the verdict. Where a review quotes another one, begin its \
                 lines with `> `."
            }
            VerdictFault::Quoted => "Write the block outside of code, at the end of the review.",
            VerdictFault::KeyTwice { .. } => "Keep one of them.",
            VerdictFault::Missing { .. } => {
                "The block needs `verdict`, `issues_total`, `issues_critical` and `missing_inputs`."
            }
            VerdictFault::BadVerdict { .. } => "Write `verdict: PASS` or `verdict: FAIL`.",
            VerdictFault::BadNumber { .. } => "Write a whole number from 0 on, in digits alone.",
            VerdictFault::MoreCriticalThanTotal { .. } => "Count the critical issues into the total.",
            VerdictFault::PassWithCritical { .. } => {
                "Code with critical issues does not pass: write `verdict: FAIL`, or rate the issues anew."
            }
        }
        .to_owned()
    }
}

impl fmt::Display for VerdictError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(out, "line {line}: ")?;
        }
        match &self.fault {
            VerdictFault::NotText { byte } => {
                write!(out, "the response is not UTF-8 from byte {byte} on")
            }
            VerdictFault::Nul { byte } => {
                write!(out, "the response is not text: byte {byte} is a NUL")
            }
            VerdictFault::Blank => out.write_str("the response is empty"),
            VerdictFault::NoBlock => out.write_str("the response has no `@@@REVIEW_META` block"),
            VerdictFault::BadOpening { text } => {
                write!(
                    out,
                    "`{}` is nearly the start of a verdict, but not one",
                    shown(text)
                )
            }
            VerdictFault::Second { first } => {
                write!(
                    out,
                    "a second verdict begins here; the first one is in line {first}"
                )
            }
            VerdictFault::Unterminated => {
                out.write_str("the verdict that begins here does not end")
            }
            VerdictFault::Quoted => out.write_str(
                "the only verdict stands in a fenced block among other text: it may be a quotation",
            ),
            VerdictFault::NotAnEntry { text } => {
                write!(out, "`{}` is not `key: value`", shown(text))
            }
            VerdictFault::KeyTwice { key, first } => {
                write!(out, "the verdict has `{key}` twice, first in line {first}")
            }
            VerdictFault::Missing { keys } => {
                write!(out, "the verdict has no `{}`", keys.join("`, no `"))
            }
            VerdictFault::BadVerdict { value } if value.is_empty() => {
                out.write_str("`verdict` has no value")
            }
            VerdictFault::BadNumber { key, value } if value.is_empty() => {
                write!(out, "`{key}` has no value")
            }
            VerdictFault::BadVerdict { value } => {
                write!(
                    out,
                    "`verdict` is `{}`, neither PASS nor FAIL",
                    shown(value)
                )
            }
            VerdictFault::BadNumber { key, value } => {
                write!(
                    out,
                    "`{key}` is `{}`, not a whole number from 0 on",
                    shown(value)
                )
            }
            VerdictFault::MoreCriticalThanTotal { critical, total } => {
                write!(
                    out,
                    "`issues_critical` is {critical}, more than `issues_total`, which is {total}"
                )
            }
            VerdictFault::PassWithCritical { critical } => {
                write!(
                    out,
                    "the verdict is PASS, but `issues_critical` is {critical}"
                )
            }
        }
    }
}

impl std::error::Error for VerdictError {}
