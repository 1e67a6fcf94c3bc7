//! Reads a plan.
//!
//! A plan is Markdown with something in it, and with the headings that are asked for: `# Heading`
//! of any level, or underlined with `=` or `-`; outside of code, comments and quotations. They are
//! compared without regard to case, numbering (`2.1`), emphasis, a colon or closing `#` at the end.
//!
//! A response whose first line with text begins `VALIDATION FAILED:` is no plan but the reason why
//! there is none.

mod error;
mod headings;

pub use error::{PlanError, PlanFault};

use crate::response::text::{self, is_invisible, lines};

/// What a response to the request for a plan is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// A plan.
    Accepted {
        /// Its text, exactly, but without byte order marks at its start.
        text: String,
    },
    /// There can be no plan.
    Invalid {
        /// Why: at most [`MAX_REASON_CHARS`] characters, without control characters.
        reason: String,
    },
}

/// The longest reason that is handed on.
pub const MAX_REASON_CHARS: usize = 2000;

const REFUSAL: &str = "VALIDATION FAILED:";

/// Reads a plan that must have these headings.
pub fn read(bytes: &[u8], headings: &[String]) -> Result<Plan, PlanError> {
    let text = text::decode(bytes).map_err(|fault| PlanError {
        fault: PlanFault::from(fault),
        line: Some(fault.line),
    })?;
    let Some(first) = lines(text).find(|line| !line.is_blank()) else {
        return Err(PlanError {
            fault: PlanFault::Empty,
            line: None,
        });
    };
    let body = text[first.start..].trim_start();
    if let Some(reason) = body.strip_prefix(REFUSAL) {
        return Ok(Plan::Invalid {
            reason: bounded(reason),
        });
    }
    if is_nearly_refusal(first.text) {
        return Err(PlanError {
            fault: PlanFault::NearlyRefusal {
                text: first.text.trim().to_owned(),
            },
            line: Some(first.number),
        });
    }
    headings::check(text, headings)?;
    Ok(Plan::Accepted {
        text: text.to_owned(),
    })
}

/// `**Validation failed:** …` and the like: taking it for a plan would be as wrong as not to.
fn is_nearly_refusal(line: &str) -> bool {
    let plain: String = line
        .chars()
        .filter(|c| !("#*_`~>[]!".contains(*c) || is_invisible(*c)))
        .take(REFUSAL.len() * 4)
        .collect();
    let words = plain.trim().to_ascii_uppercase();
    words
        .strip_prefix("VALIDATION")
        .map(|rest| rest.trim_start_matches([' ', '\t', '-']))
        .and_then(|rest| rest.strip_prefix("FAILED"))
        .is_some_and(|rest| rest.trim_start().starts_with([':', '：']))
}

fn bounded(reason: &str) -> String {
    let mut out = String::new();
    for (count, c) in reason
        .trim()
        .chars()
        .filter(|c| *c == '\n' || *c == '\t' || !c.is_control())
        .enumerate()
    {
        if count == MAX_REASON_CHARS - 1 {
            out.push('…');
            break;
        }
        out.push(c);
    }
    if out.trim().is_empty() {
        "no reason was given".clone_into(&mut out);
    }
    out
}
