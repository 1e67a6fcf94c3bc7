//! Headings, and the numbers of items.

use super::MAX_NUMBER_BYTES;

/// A heading.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heading<'a> {
    /// From 1 to 6.
    pub(super) level: usize,
    /// What it says.
    pub(super) text: &'a str,
}

/// Reads a heading that begins with `#`.
pub(super) fn heading(line: &str) -> Option<Heading<'_>> {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() > 3 {
        return None;
    }
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &text[level..];
    // Without a blank it is no heading to Markdown, but to who wrote `###Item 1`.
    let is_apart = rest.is_empty() || rest.starts_with([' ', '\t']) || (level > 1 && is_item(rest));
    if !(1..=6).contains(&level) || !is_apart {
        return None;
    }
    let rest = rest.trim();
    let open = rest.trim_end_matches('#');
    let text = if open.len() < rest.len() && (open.is_empty() || open.ends_with([' ', '\t'])) {
        open.trim_end()
    } else {
        rest
    };
    let unnumbered = behind_ordinal(text);
    let text = if unnumbered.len() < text.len() && called(unnumbered).is_some() {
        unnumbered
    } else {
        text
    };
    Some(Heading { level, text })
}

/// What stands behind the heading's own number: `1. Item 2`, `3.1 Item 2`. All of it, if it has none.
fn behind_ordinal(text: &str) -> &str {
    let Some(start) = text.find(is_begun) else {
        return text;
    };
    let whole = &text[start..];
    let rest = whole.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let rest = rest.strip_prefix(')').unwrap_or(rest);
    if rest.len() < whole.len() && rest.starts_with([' ', '\t', '\u{a0}']) {
        rest
    } else {
        text
    }
}

/// Whether a text begins with the character, or what is struck out of it.
fn is_begun(c: char) -> bool {
    "~<".contains(c) || c.is_alphanumeric()
}

/// The level that a line below a text gives it as a heading.
pub(super) fn underline(line: &str) -> Option<usize> {
    let marks = line.trim();
    if line.starts_with("    ") || marks.is_empty() {
        None
    } else if marks.trim_matches('=').is_empty() {
        Some(1)
    } else if marks.trim_matches('-').is_empty() {
        Some(2)
    } else {
        None
    }
}

/// What a heading that begins with `Item` is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ItemHeading {
    /// One of an item.
    Item { number: String, title: String },
    /// One of an item whose number is none.
    Unreadable(String),
    /// One of an item that is struck out; with it goes what is struck.
    Struck(String),
    /// Perhaps one of an item, and perhaps no more than a heading: what stands below it tells.
    Candidate(Similarity, String),
}

/// How much a heading without a number is like that of an item, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Similarity {
    /// Only that it stands where items do: `Task 2: Search`. With it goes what it says.
    Place,
    /// It begins with the word: `Item overview`. With it goes what it says.
    Word,
    /// A word stands where the number would: `Item parser: Title`. With it goes that word.
    Named,
    /// A number is all that it wants, or one alone: `Item: Title`, `Item 2, 3: Title`. With it goes what it says.
    Shape,
}

/// Reads `Item 2a: Title` as its number and its title. What is struck out at the start does not count.
pub(super) fn called(text: &str) -> Option<ItemHeading> {
    let mut rest = text;
    let mut dropped = None;
    while let Some((inside, behind)) = struck(rest) {
        if dropped.is_none() && is_of_item(unstruck(behind_ordinal(inside)).as_ref()) {
            dropped = Some(ItemHeading::Struck(plain(inside)));
        }
        rest = behind;
    }
    match unstruck(rest) {
        kept if is_of_item(kept.as_ref()) => kept,
        kept => dropped.or(kept).or_else(|| unstruck(text)),
    }
}

/// Whether a heading is that of an item.
pub(super) fn is_item(text: &str) -> bool {
    is_of_item(called(text).as_ref())
}

fn is_of_item(called: Option<&ItemHeading>) -> bool {
    match called {
        None
        | Some(ItemHeading::Candidate(
            Similarity::Place | Similarity::Word | Similarity::Named,
            _,
        )) => false,
        Some(
            ItemHeading::Item { .. }
            | ItemHeading::Unreadable(_)
            | ItemHeading::Struck(_)
            | ItemHeading::Candidate(Similarity::Shape, _),
        ) => true,
    }
}

/// What is struck out at the start of a text, and what stands behind that.
fn struck(text: &str) -> Option<(&str, &str)> {
    const TAGS: [(&str, &str); 3] = [
        ("<s>", "</s>"),
        ("<del>", "</del>"),
        ("<strike>", "</strike>"),
    ];
    let start = text.find(is_begun)?;
    let text = &text[start..];
    let tildes = text.bytes().take_while(|byte| *byte == b'~').count();
    let (open, close) = match tildes {
        0 => TAGS
            .into_iter()
            .find(|(open, _)| strip_word(text, open).is_some())?,
        1 => ("~", "~"),
        2 => ("~~", "~~"),
        _ => return None,
    };
    let inside = &text[open.len()..];
    let end = inside
        .as_bytes()
        .windows(close.len())
        .position(|bytes| bytes.eq_ignore_ascii_case(close.as_bytes()))?;
    Some((&inside[..end], &inside[end + close.len()..]))
}

/// Reads a heading in which nothing is struck out.
fn unstruck(text: &str) -> Option<ItemHeading> {
    let whole = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let rest = strip_word(whole, "work")
        .map_or(whole, |rest| rest.trim_start_matches([' ', '\t', '-', '_']));
    let rest = strip_word(rest, "item")?;
    let marked = rest.trim_start_matches([' ', '\t', '#', '-', '_', '*', '`', ':', '\u{a0}']);
    let perhaps = |likeness| Some(ItemHeading::Candidate(likeness, plain(whole)));
    if marked.len() == rest.len() && !rest.starts_with(|c: char| c.is_ascii_digit()) {
        return if is_sign(rest) {
            perhaps(Similarity::Shape)
        } else if rest.is_empty() || is_of_several(rest) {
            perhaps(Similarity::Word)
        } else {
            None
        };
    }
    if let Some((number, rest)) = joined(marked) {
        if number.len() > MAX_NUMBER_BYTES {
            return Some(ItemHeading::Unreadable(number));
        }
        return Some(ItemHeading::Item {
            number,
            title: plain(behind_sign(rest).0),
        });
    }
    let is_signed = is_sign(&rest[..rest.len() - marked.len()]) || is_sign(marked);
    if let Some((number, rest)) =
        number(marked).or_else(|| if is_signed { None } else { letter(marked) })
    {
        let (title, has_sign) = behind_sign(rest);
        let is_sentence =
            !has_sign && title.starts_with(|c: char| c.is_lowercase() || ",&/+".contains(c));
        if !is_sentence {
            return Some(ItemHeading::Item {
                number,
                title: plain(title),
            });
        }
        if let Some(called) = no_number(marked) {
            return Some(called);
        }
        return perhaps(if has_more_numbers(rest) {
            Similarity::Shape
        } else {
            Similarity::Word
        });
    }
    if is_signed {
        return perhaps(Similarity::Shape);
    }
    no_number(marked).or_else(|| {
        let is_apart = rest.starts_with([' ', '\t', '\u{a0}', '*', '_', '`', '#']);
        is_apart.then(|| ItemHeading::Candidate(Similarity::Word, plain(whole)))
    })
}

/// Whether the sign that parts a number from a title stands here, and the number would stand before it.
fn is_sign(text: &str) -> bool {
    let sign = text.trim_matches(['*', '_', '`', ' ', '\t', '#', '\u{a0}']);
    // Between letters, a dash joins words.
    sign.starts_with([':', '—', '–']) || (sign == "-" && text != sign)
}

/// Whether several items are named behind the word: `Items 2, 3: Title`.
fn is_of_several(rest: &str) -> bool {
    let numbers =
        strip_word(rest, "s").map(|rest| rest.trim_start_matches([' ', '\t', '#', '\u{a0}']));
    numbers.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether more numbers follow behind a number, and then the sign that parts them from a title.
fn has_more_numbers(rest: &str) -> bool {
    const BETWEEN: [char; 9] = [' ', '\t', ',', '&', '/', '+', '#', '*', '\u{a0}'];
    let mut rest = rest;
    loop {
        rest = rest.trim_start_matches(BETWEEN);
        for word in ["and", "or", "item"] {
            if let Some(behind) = strip_word(rest, word) {
                rest = behind.trim_start_matches(BETWEEN);
            }
        }
        let Some((_, behind)) = number(rest) else {
            return false;
        };
        if parts_title(behind) {
            return true;
        }
        rest = behind;
    }
}

/// The title behind a number, and whether a sign stands between the two.
fn behind_sign(rest: &str) -> (&str, bool) {
    let behind = rest.trim_start_matches(['*', '_', '`', ']', ' ', '\t', '\u{a0}']);
    let title = behind.trim_start_matches([
        ':', '-', '—', '–', '.', ')', '|', '*', '_', ' ', '\t', '\u{a0}',
    ]);
    (title, behind.len() > title.len())
}

/// Whether a sign stands here that parts a number from a title.
fn parts_title(rest: &str) -> bool {
    let behind = rest.trim_start_matches(['*', '_', '`', ']']);
    let trimmed = behind.trim_start_matches([' ', '\t', '\u{a0}']);
    trimmed.starts_with([':', '—', '–', ')'])
        || (trimmed.len() < behind.len() && trimmed.starts_with("- "))
}

/// Whether the number of an item may have the character in it.
pub(super) fn is_number_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || ".-_".contains(c)
}

/// Reads a number of several parts, `2-a`, `T-1`, `IV`, with the sign behind it that makes sure of it.
fn joined(text: &str) -> Option<(String, &str)> {
    /// How many letters may stand before the digits.
    const MOST_LETTERS: usize = 2;
    let end = text.find(|c| !is_number_char(c)).unwrap_or(text.len());
    let written = text[..end].trim_end_matches(['.', '-', '_']);
    let rest = &text[written.len()..];
    let letters = written.bytes().take_while(u8::is_ascii_alphabetic).count();
    let digits = written[letters..].trim_start_matches(['.', '-', '_']);
    let is_roman = written.len() > 1 && written.bytes().all(|byte| b"IVXLC".contains(&byte));
    let is_number =
        letters <= MOST_LETTERS && digits.starts_with(|c: char| c.is_ascii_digit()) || is_roman;
    let is_one = number(text).is_some_and(|(_, behind)| behind.len() <= rest.len());
    (is_number && !is_one && parts_title(rest)).then(|| (without_zeros(written), rest))
}

/// What a heading is where nothing in it can be the number of an item.
fn no_number(text: &str) -> Option<ItemHeading> {
    let end = text
        .find(|c: char| c.is_whitespace() || ":—–".contains(c))
        .unwrap_or(text.len());
    let (written, rest) = text.split_at(end);
    let sense = written.trim_start_matches(|c: char| !c.is_alphanumeric());
    let first = sense.chars().next()?;
    if !(rest.is_empty() || parts_title(rest)) {
        return None;
    }
    let is_letter = !first.is_ascii() && sense.chars().count() == 1;
    if first.is_numeric() || is_letter {
        Some(ItemHeading::Unreadable(written.to_owned()))
    } else if rest.is_empty() {
        None
    } else {
        Some(ItemHeading::Candidate(
            Similarity::Named,
            written.to_owned(),
        ))
    }
}

/// A number in small letters, without zeros before it.
pub(super) fn without_zeros(written: &str) -> String {
    if !written.starts_with('0') {
        return written.to_ascii_lowercase();
    }
    let rest = written.trim_start_matches('0').to_ascii_lowercase();
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        rest
    } else {
        format!("0{rest}")
    }
}

/// Reads the letter of `Item A: Title`.
fn letter(text: &str) -> Option<(String, &str)> {
    let letter = text.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = &text[1..];
    let is_apart = rest.is_empty()
        || rest
            .trim_start_matches(['*', ' '])
            .starts_with([':', '—', '–', ')']);
    is_apart.then(|| (letter.to_lowercase().to_string(), rest))
}

/// The rest behind a word, whatever the case of its letters.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.get(..word.len())
        .filter(|start| start.eq_ignore_ascii_case(word))
        .map(|_| &text[word.len()..])
}

/// Reads the number of an item at the start of a text: `2`, `2a`, `3.1`, `3.1b`; and gives the rest.
pub(super) fn number(text: &str) -> Option<(String, &str)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut end = digits(0);
    if end == 0 {
        return None;
    }
    while let Some(next) = bytes.get(end) {
        if *next == b'.' && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        } else if next.is_ascii_alphabetic() && !text[end + 1..].starts_with(char::is_alphanumeric)
        {
            // One letter belongs to the number, and two begin a word.
            end += 1;
        } else {
            break;
        }
    }
    let rest = &text[end..];
    if end > MAX_NUMBER_BYTES || rest.starts_with(char::is_alphanumeric) {
        return None;
    }
    Some((without_zeros(&text[..end]), rest))
}

/// A title without the signs that make it bold or slanted, without a link around it, and without what turns text around.
fn plain(title: &str) -> String {
    let mut text = title.replace("**", "").replace("__", "");
    if let Some(at) = text.find("](") {
        let end = text[at..]
            .find(')')
            .map_or(text.len(), |length| at + length + 1);
        text.replace_range(at..end, "");
    }
    text.retain(|c| {
        !c.is_control() && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    });
    text.trim_matches(|c: char| c.is_whitespace() || c == '*' || c == '_')
        .to_owned()
}
