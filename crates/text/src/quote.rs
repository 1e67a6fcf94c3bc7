//! Text of others inside a prompt, marked as data.

use crate::plain;

/// The most of a text that a prompt quotes, in bytes.
pub const LONGEST_QUOTE: usize = 16 * 1024;

/// Private-use characters with which a text of our own is marked: before a mark, between its fields, and behind it. None of
/// them stands in what is quoted.
pub const MARKS: [char; 3] = ['\u{10FFF0}', '\u{10FFF1}', '\u{10FFF2}'];

/// How much of a shortened text comes from its end: the end of test output tells what failed.
const TAIL: usize = LONGEST_QUOTE / 4;

/// `text` in a Markdown code fence that it cannot close: the fence has more backticks than any
/// run of them inside. Control, invisible and direction-changing characters and terminal escape
/// sequences are taken out; of a text over [`LONGEST_QUOTE`] bytes, the middle is left out and
/// the place says how much.
///
/// ```
/// use text::quote::quote_untrusted;
/// assert_eq!(quote_untrusted("a ``` b"), "````text\na ``` b\n````");
/// ```
pub fn quote_untrusted(text: &str) -> String {
    let text = unmarked(plain::many_lines(text));
    fenced(&shortened(text.trim_matches('\n')))
}

/// As [`quote_untrusted`], but nothing is left out, however long the text is.
pub fn quote_whole(text: &str) -> String {
    fenced(unmarked(plain::many_lines(text)).trim_matches('\n'))
}

/// `text` as one word of a POSIX shell, in single quotes.
///
/// ```
/// assert_eq!(text::quote::shell_word("it's"), r"'it'\''s'");
/// ```
pub fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The text with nothing in it that could be taken for a mark.
fn unmarked(text: String) -> String {
    if text.contains(MARKS) {
        text.replace(MARKS, "\u{FFFD}")
    } else {
        text
    }
}

fn fenced(text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    if text.is_empty() {
        return format!("{fence}text\n{fence}");
    }
    format!("{fence}text\n{text}\n{fence}")
}

/// `text` on one line as a Markdown code span that it cannot close, at most `most` visible
/// characters of it; for titles and paths within a sentence. Empty text gives an empty string.
pub fn quote_inline(text: &str, most: usize) -> String {
    let line = unmarked(plain::one_line(text));
    let cut = plain::cut_at_word(&line, most);
    if cut.is_empty() {
        return String::new();
    }
    let shortened = if cut.len() < line.len() { "…" } else { "" };
    let fence = "`".repeat(longest_run(cut) + 1);
    // A space keeps a backtick at either end apart from the fence.
    let space = if cut.starts_with('`') || cut.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{space}{cut}{shortened}{space}{fence}")
}

fn shortened(text: &str) -> String {
    if text.len() <= LONGEST_QUOTE {
        return text.to_owned();
    }
    let head = plain::cut_bytes(text, LONGEST_QUOTE - TAIL);
    let tail = &text[text.ceil_char_boundary(text.len() - TAIL)..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[… {left_out} bytes left out …]\n{tail}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
