//! Reads the verdict of a review.
//!
//! ```text
//! @@@REVIEW_META
//! verdict: FAIL
//! issues_total: 3
//! issues_critical: 1
//! missing_inputs: 0
//! @@@
//! ```
//!
//! The block may be indented, and stand anywhere in the response. All four keys are required, once
//! each; keys and `PASS` or `FAIL` may be written in any case, other keys are ignored, and so are
//! blank lines. There is one block: a second one, whether quoted or meant, is refused. The only
//! block may be wrapped in a fenced code block of its own; one that stands in a fenced block
//! among other text is a quotation of something and is refused.

mod error;

pub use error::{VerdictError, VerdictFault};

use crate::markdown::Fence;
use crate::response::text::{self, BLANKS, Line, lines, visible};

/// What a review says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the code passes.
    pub pass: bool,
    /// How many issues there are.
    pub issues_total: u64,
    /// How many of them are critical.
    pub issues_critical: u64,
    /// How many things the reviewer needed and did not have.
    pub missing_inputs: u64,
}

/// The keys that a block must have.
pub const KEYS: [&str; 4] = [
    "verdict",
    "issues_total",
    "issues_critical",
    "missing_inputs",
];

const OPENING: &str = "@@@REVIEW_META";
const CLOSING: &str = "@@@";

/// Reads the one verdict of a response.
pub fn read(bytes: &[u8]) -> Result<Verdict, VerdictError> {
    let text = text::decode(bytes).map_err(|fault| VerdictError {
        fault: VerdictFault::from(fault),
        line: Some(fault.line),
    })?;
    if text.trim().is_empty() {
        return Err(VerdictError {
            fault: VerdictFault::Blank,
            line: None,
        });
    }
    let block = find(text)?;
    block.verdict()
}

/// A value of the block, and its line.
type Entry<'a> = (&'a str, usize);

/// A block that is being read.
#[derive(Debug)]
struct Block<'a> {
    line: usize,
    entries: [Option<Entry<'a>>; KEYS.len()],
    /// The fenced block around it began with something else.
    is_quoted: bool,
    /// The first fault in it.
    fault: Option<VerdictError>,
}

/// The fenced block that is open.
struct Fenced<'a> {
    fence: Fence<'a>,
    has_other_text: bool,
    /// Whether the verdict stands in it.
    has_verdict: bool,
}

/// Finds the only block, and refuses what could be another.
fn find(text: &str) -> Result<Block<'_>, VerdictError> {
    let mut found: Option<Block<'_>> = None;
    let mut open: Option<Block<'_>> = None;
    let mut fenced: Option<Fenced<'_>> = None;
    for line in lines(text) {
        let plain = line.text.trim_matches(BLANKS);
        if opens(plain) {
            if let Some(first) = open.as_ref().or(found.as_ref()) {
                let first = first.line;
                return Err(VerdictFault::Second { first }.at(&line));
            }
            if plain != OPENING {
                let text = plain.to_owned();
                return Err(VerdictFault::BadOpening { text }.at(&line));
            }
            if let Some(fenced) = &mut fenced {
                fenced.has_verdict = true;
            }
            open = Some(Block {
                line: line.number,
                entries: [None; KEYS.len()],
                is_quoted: fenced.as_ref().is_some_and(|fenced| fenced.has_other_text),
                fault: None,
            });
        } else if let Some(mut block) = open.take() {
            if plain == CLOSING {
                found = Some(block);
            } else {
                block.take(&line);
                open = Some(block);
            }
        } else {
            outside(&line, &mut fenced, &mut found);
        }
    }
    if let Some(block) = open {
        return Err(VerdictError {
            fault: VerdictFault::Unterminated,
            line: Some(block.line),
        });
    }
    found.ok_or(VerdictError {
        fault: VerdictFault::NoBlock,
        line: None,
    })
}

/// Whether a line is meant to open a block, well written or not.
fn opens(plain: &str) -> bool {
    let Some(rest) = visible(plain).strip_prefix(CLOSING) else {
        return false;
    };
    let name = &OPENING[CLOSING.len()..];
    let rest = rest.trim_start_matches(['@', ' ', '\t']);
    rest.get(..name.len())
        .is_some_and(|word| word.eq_ignore_ascii_case(name))
}

fn outside<'a>(line: &Line<'a>, fenced: &mut Option<Fenced<'a>>, found: &mut Option<Block<'a>>) {
    let Some(open) = fenced else {
        *fenced = Fence::open(line.text).map(|fence| Fenced {
            fence,
            has_other_text: false,
            has_verdict: false,
        });
        return;
    };
    if open.fence.closes(line.text) {
        *fenced = None;
    } else if !line.is_blank() {
        open.has_other_text = true;
        if let Some(block) = found
            && open.has_verdict
        {
            block.is_quoted = true;
        }
    }
}

impl<'a> Block<'a> {
    /// Takes a line of the block.
    fn take(&mut self, line: &Line<'a>) {
        if line.is_blank() || self.fault.is_some() {
            return;
        }
        let Some((key, value)) = line.text.split_once(':') else {
            let text = line.text.trim().to_owned();
            self.fault = Some(VerdictFault::NotAnEntry { text }.at(line));
            return;
        };
        let key = key.trim();
        let Some(place) = KEYS
            .iter()
            .position(|known| known.eq_ignore_ascii_case(key))
        else {
            return;
        };
        match self.entries[place] {
            None => self.entries[place] = Some((value.trim(), line.number)),
            Some((_, first)) => {
                let key = KEYS[place];
                self.fault = Some(VerdictFault::KeyTwice { key, first }.at(line));
            }
        }
    }

    fn verdict(self) -> Result<Verdict, VerdictError> {
        let fails = |fault: VerdictFault| VerdictError {
            fault,
            line: Some(self.line),
        };
        if self.is_quoted {
            return Err(fails(VerdictFault::Quoted));
        }
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let missing: Vec<&'static str> = KEYS
            .iter()
            .zip(&self.entries)
            .filter(|(_, entry)| entry.is_none())
            .map(|(key, _)| *key)
            .collect();
        let [Some(verdict), Some(total), Some(critical), Some(inputs)] = self.entries else {
            return Err(fails(VerdictFault::Missing { keys: missing }));
        };
        let pass = match verdict.0 {
            word if word.eq_ignore_ascii_case("PASS") => true,
            word if word.eq_ignore_ascii_case("FAIL") => false,
            other => {
                return Err(VerdictError {
                    fault: VerdictFault::BadVerdict {
                        value: other.to_owned(),
                    },
                    line: Some(verdict.1),
                });
            }
        };
        let issues_total = number(KEYS[1], total)?;
        let issues_critical = number(KEYS[2], critical)?;
        let missing_inputs = number(KEYS[3], inputs)?;
        if issues_critical > issues_total {
            return Err(fails(VerdictFault::MoreCriticalThanTotal {
                critical: issues_critical,
                total: issues_total,
            }));
        }
        if pass && issues_critical > 0 {
            return Err(fails(VerdictFault::PassWithCritical {
                critical: issues_critical,
            }));
        }
        Ok(Verdict {
            pass,
            issues_total,
            issues_critical,
            missing_inputs,
        })
    }
}

fn number(key: &'static str, (value, line): Entry<'_>) -> Result<u64, VerdictError> {
    // The standard library would take a plus sign.
    let is_plain = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    value
        .parse()
        .ok()
        .filter(|_| is_plain)
        .ok_or_else(|| VerdictError {
            fault: VerdictFault::BadNumber {
                key,
                value: value.to_owned(),
            },
            line: Some(line),
        })
}
