//! The headings of a plan.

use super::error::{PlanError, PlanFault};
use crate::markdown::{Fence, list_sign};
use crate::response::text::{BLANKS, lines};

/// The longest paragraph that is kept as a possible heading, in lines.
const MOST_LINES: usize = 16;
/// From this indentation on, a line is code.
const CODE_INDENT: usize = 4;

/// Says which of these headings the text does not have.
pub(super) fn check(text: &str, wanted: &[String]) -> Result<(), PlanError> {
    let mut missing: Vec<(&str, String)> = wanted
        .iter()
        .map(|heading| (heading.as_str(), plain(heading)))
        .collect();
    let mut in_code: Vec<String> = Vec::new();
    let mut walk = Walk::default();
    for line in lines(text) {
        if missing.is_empty() {
            return Ok(());
        }
        if walk.is_code(line.text) {
            // Remembered for the message: a plan that is wrapped in a fence as a whole.
            if let Some(heading) = atx(line.text) {
                let heading = plain(heading);
                if missing.iter().any(|(_, wanted)| *wanted == heading)
                    && !in_code.contains(&heading)
                {
                    in_code.push(heading);
                }
            }
        } else if let Some(heading) = walk.heading(line.text) {
            let heading = plain(&heading);
            missing.retain(|(_, wanted)| *wanted != heading);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let wrapped = missing.iter().all(|(_, heading)| in_code.contains(heading));
    Err(PlanError {
        fault: PlanFault::MissingHeadings {
            headings: missing
                .into_iter()
                .map(|(written, _)| written.trim().to_owned())
                .collect(),
            in_code: wrapped,
        },
        line: None,
    })
}

/// What the lines so far mean for the next one.
#[derive(Default)]
struct Walk<'a> {
    fence: Option<Fence<'a>>,
    in_comment: bool,
    /// The paragraph that an underline would make a heading.
    paragraph: Vec<&'a str>,
    /// Whether the lines go on from a list entry or a quotation.
    in_other: bool,
}

impl<'a> Walk<'a> {
    /// Whether the line is in a fenced block, or a fence.
    fn is_code(&mut self, line: &'a str) -> bool {
        if let Some(fence) = &self.fence {
            if fence.closes(line) {
                self.fence = None;
            }
            return true;
        }
        if self.in_comment {
            return false;
        }
        self.fence = Fence::open(line);
        if self.fence.is_some() {
            self.paragraph.clear();
        }
        self.fence.is_some()
    }

    /// The heading that a line outside of code is, or makes of the lines before it.
    fn heading(&mut self, line: &'a str) -> Option<String> {
        if self.in_comment {
            self.in_comment = !line.contains("-->");
            return None;
        }
        let text = line.trim_start_matches(' ');
        let is_indented = line.len() - text.len() >= CODE_INDENT || text.starts_with('\t');
        if !is_indented && let Some(rest) = text.strip_prefix("<!--") {
            self.in_comment = !rest.contains("-->");
            self.paragraph.clear();
            return None;
        }
        if let Some(heading) = atx(line) {
            self.paragraph.clear();
            self.in_other = false;
            return Some(heading.to_owned());
        }
        let bare = text.trim_end_matches(BLANKS);
        if bare.is_empty() {
            self.paragraph.clear();
            self.in_other = false;
            return None;
        }
        let is_underline =
            bare.bytes().all(|byte| byte == b'=') || bare.bytes().all(|byte| byte == b'-');
        if is_underline && !is_indented {
            let above = std::mem::take(&mut self.paragraph);
            self.in_other = false;
            return (!above.is_empty()).then(|| above.join(" "));
        }
        if text.starts_with('>') || list_sign(text).is_some() {
            self.paragraph.clear();
            self.in_other = true;
        } else if !self.in_other
            && self.paragraph.len() < MOST_LINES
            && (!self.paragraph.is_empty() || !is_indented)
        {
            self.paragraph.push(bare);
        }
        None
    }
}

/// The text of a line `## Heading ##`.
fn atx(line: &str) -> Option<&str> {
    const MOST: usize = 6;
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() >= CODE_INDENT {
        return None;
    }
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &text[level..];
    if !(1..=MOST).contains(&level) || !(rest.is_empty() || rest.starts_with(BLANKS)) {
        return None;
    }
    let rest = rest.trim_matches(BLANKS);
    let open = rest.trim_end_matches('#');
    // Closing signs are set apart by a blank: the name `C#` keeps its own.
    Some(if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim_end()
    } else {
        rest
    })
}

/// A heading as it is compared.
fn plain(heading: &str) -> String {
    let mut text = heading.trim();
    if let Some(level) = text.strip_prefix('#') {
        // Whoever asks for `## Files` means the heading.
        text = level.trim_start_matches('#').trim();
    }
    let unmarked: String = text.chars().filter(|c| !"*`".contains(*c)).collect();
    let unmarked = unmarked.trim().trim_matches('_');
    let words = without_number(unmarked).trim_end_matches([':', ' ']);
    words
        .split_whitespace()
        .map(str::to_lowercase)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Without `2.`, `2)`, `2.1` or `2.1.` at the start, unless nothing else is there.
fn without_number(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ')'))
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit()) && number.contains(['.', ')']);
    if is_number && rest.starts_with(char::is_whitespace) && !rest.trim().is_empty() {
        rest.trim_start()
    } else {
        text
    }
}
