//! Why a plan is refused.

use std::fmt;

use crate::response::text::{NotText, shown};

/// Why a plan is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError {
    pub(super) fault: PlanFault,
    pub(super) line: Option<usize>,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanFault {
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
    Empty,
    /// Headings that are not there.
    MissingHeadings {
        /// Which, as they were asked for.
        headings: Vec<String>,
        /// Whether all of them are there in code.
        in_code: bool,
    },
    /// The first line is nearly the one that says why there is no plan.
    NearlyRefusal {
        /// The line.
        text: String,
    },
}

impl From<NotText> for PlanFault {
    fn from(fault: NotText) -> Self {
        let byte = fault.byte;
        if fault.is_nul {
            Self::Nul { byte }
        } else {
            Self::NotText { byte }
        }
    }
}

impl PlanError {
    /// What is wrong.
    pub fn fault(&self) -> &PlanFault {
        &self.fault
    }

    /// The line of the response, counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// What to do now.
    pub fn suggestion(&self) -> String {
        match &self.fault {
            PlanFault::NotText { .. } | PlanFault::Nul { .. } => {
                "Write the response as UTF-8, not as UTF-16 or in an older encoding."
            },
            PlanFault::Empty => "Write the plan.",
            PlanFault::MissingHeadings { in_code: true, .. } => {
                "They are there in a fenced block: write the plan itself, without a fence around it."
            }
            PlanFault::MissingHeadings { .. } => "Add them as Markdown headings: `## Heading`.",
            PlanFault::NearlyRefusal { .. } => {
                "Begin with `VALIDATION FAILED:` and the reason if there can be no plan; else begin with \
                 other words."
            }
        }
        .to_owned()
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(out, "line {line}: ")?;
        }
        match &self.fault {
            PlanFault::NotText { byte } => {
                write!(out, "the response is not UTF-8 from byte {byte} on")
            }
            PlanFault::Nul { byte } => {
                write!(out, "the response is not text: byte {byte} is a NUL")
            }
            PlanFault::Empty => out.write_str("the plan is empty"),
            PlanFault::MissingHeadings { headings, .. } => {
                let names: Vec<String> = headings
                    .iter()
                    .map(|heading| format!("`{}`", shown(heading)))
                    .collect();
                write!(
                    out,
                    "the plan lacks the heading{} ",
                    if names.len() == 1 { "" } else { "s" }
                )?;
                out.write_str(&names.join(", "))
            }
            PlanFault::NearlyRefusal { text } => write!(
                out,
                "`{}` is nearly the line that says why there is no plan, but not quite",
                shown(text)
            ),
        }
    }
}

impl std::error::Error for PlanError {}
