//! What an item says it depends on.

use std::collections::{HashMap, HashSet};

use crate::documents::quoting::{Bounded, quoted};
use text::{counted, listed};

use super::heading::{is_number_char, number, without_zeros};
use super::{MAX_DEPENDENCIES, MAX_TITLE_BYTES, Note, Problem, passed_over, problem};

/// What an item depends on, as it is written.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) line: u32,
    pub(super) text: String,
    /// Whether it is an entry of a list below the field's name.
    pub(super) is_entry: bool,
}

/// How the dependencies of one item are read.
pub(super) struct Dependencies<'a> {
    pub(super) item: &'a str,
    /// The numbers of items by their titles.
    pub(super) titles: &'a HashMap<String, String>,
    pub(super) problems: &'a mut Bounded<Problem>,
    pub(super) notes: &'a mut Bounded<Note>,
}

impl Dependencies<'_> {
    pub(super) fn read(
        &mut self,
        written: &[Written],
        taken: &HashMap<String, u32>,
    ) -> Vec<String> {
        let mut read = Read::new(taken);
        // How many numbers the field itself names, which stands first.
        let mut of_field = None;
        for Written {
            line,
            text,
            is_entry,
        } in written
        {
            if !is_entry && let Some(first) = of_field {
                self.again(&read.numbers[..first], written[0].line, *line, text, taken);
                continue;
            }
            let before = read.numbers.len();
            let mut others = Vec::new();
            read.add(text, |other| others.push(other.to_owned()));
            let is_beside_numbers = read.numbers.len() > before;
            for other in others {
                if let Some(number) = self.named(&other, *line, is_beside_numbers) {
                    read.take(number);
                }
            }
            if !read.ranges.is_empty() {
                let ranges = std::mem::take(&mut read.ranges);
                self.notes.tell(*line, || Note {
                    line: *line,
                    message: format!(
                        "{} is read as all items from the first to the last",
                        listed(ranges.iter())
                    ),
                });
            }
            if read.is_full {
                let of = self.item;
                self.problems.tell(*line, || {
                    problem(
                        *line,
                        format!(
                            "item {of} depends on more than {}",
                            counted(MAX_DEPENDENCIES, "other")
                        ),
                        "name only those that come right before it",
                    )
                });
                break;
            }
            of_field.get_or_insert(read.numbers.len());
        }
        read.numbers
    }

    /// The number of the item that a dependency names by its title.
    fn named(&mut self, text: &str, line: u32, is_beside_numbers: bool) -> Option<String> {
        let of = self.item;
        if text.len() <= MAX_TITLE_BYTES
            && let Some(number) = self.titles.get(&text.to_lowercase())
        {
            self.notes.tell(line, || Note {
                line,
                message: format!("{} is read as item {number}", quoted(text)),
            });
            return Some(number.clone());
        }
        if is_beside_numbers {
            self.notes.tell(line, || Note {
                line,
                message: format!(
                    "{} is no number of an item: it is passed over among what item {of} depends on",
                    quoted(text)
                ),
            });
        } else {
            self.problems.tell(line, || {
                problem(
                    line,
                    format!("item {of} depends on {}, which is no item", quoted(text)),
                    "name items by their numbers, `1, 2a`, or write `none`",
                )
            });
        }
        None
    }

    /// The field is there once more.
    fn again(
        &mut self,
        numbers: &[String],
        first: u32,
        line: u32,
        text: &str,
        taken: &HashMap<String, u32>,
    ) {
        let mut same = Read::new(taken);
        same.add(text, |_| ());
        if same.numbers != numbers {
            let of = self.item;
            self.notes
                .tell(line, || passed_over(of, "dependencies", first, line, text));
        }
    }
}

/// What was read of the dependencies of one item.
#[derive(Debug)]
struct Read<'a> {
    /// The numbers that items have, each with its line: what is written like one of them is that one.
    known: &'a HashMap<String, u32>,
    /// The numbers that are named, each once.
    numbers: Vec<String>,
    seen: HashSet<String>,
    /// The ranges of which each number was taken, each once.
    ranges: Vec<String>,
    seen_ranges: HashSet<(u32, u32)>,
    /// Whether there are more than are read.
    is_full: bool,
}

/// The most items that a range may span.
const MOST_IN_RANGE: u32 = 100;

impl<'a> Read<'a> {
    fn new(known: &'a HashMap<String, u32>) -> Self {
        Self {
            known,
            numbers: Vec::new(),
            seen: HashSet::new(),
            ranges: Vec::new(),
            seen_ranges: HashSet::new(),
            is_full: false,
        }
    }

    /// Reads `1, 2a`, `Item 1 and Item 2`, `#3`, `Items 1-3`, `none`; gives `other` the parts that name no number.
    fn add(&mut self, text: &str, mut other: impl FnMut(&str)) {
        let text = without_asides(text);
        let text = text
            .replace(" and ", ",")
            .replace(" And ", ",")
            .replace(" AND ", ",");
        for part in text.split([',', ';', '&', '+', '/']) {
            if self.is_full {
                return;
            }
            let part = part.trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
            if part.is_empty() || (is_none(part) && self.written_out(part).is_none()) {
                continue;
            }
            if !self.references(part) {
                other(part);
            }
        }
    }

    /// Takes a number.
    fn take(&mut self, number: String) {
        if self.is_full || self.seen.contains(&number) {
            return;
        }
        if self.numbers.len() == MAX_DEPENDENCIES {
            self.is_full = true;
            return;
        }
        self.seen.insert(number.clone());
        self.numbers.push(number);
    }

    /// Reads what a part names; false where it names nothing.
    fn references(&mut self, part: &str) -> bool {
        let mut rest = part;
        let mut found = false;
        while !self.is_full {
            let marked = behind_item(rest);
            if let Some((known, behind)) = self.written_out(marked) {
                found = true;
                rest = behind.trim_start_matches([' ', '*', '_', '`', ']']);
                self.take(known);
            } else if let Some((first, behind)) = number(marked) {
                found = true;
                rest = behind.trim_start_matches([' ', '*', '_', '`', ']']);
                match range(&first, rest) {
                    Some((from, to, behind)) => {
                        self.range(from, to);
                        rest = behind.trim_start();
                    }
                    None => self.take(first),
                }
            } else {
                return found;
            }
            if behind_item(rest).len() == rest.len()
                && !rest.starts_with(|c: char| c.is_ascii_digit())
            {
                return found;
            }
        }
        found
    }

    /// The number that a text begins with as one of the items has it, and the rest. One that begins with a letter might be a
    /// word as well, so nothing else may stand there.
    fn written_out<'t>(&self, text: &'t str) -> Option<(String, &'t str)> {
        let end = text.find(|c| !is_number_char(c)).unwrap_or(text.len());
        let written = text[..end].trim_end_matches(['.', '-', '_']);
        let rest = &text[written.len()..];
        let is_alone = rest.is_empty() || rest.starts_with(':');
        if written.is_empty() || !(is_alone || written.starts_with(|c: char| c.is_ascii_digit())) {
            return None;
        }
        let number = without_zeros(written);
        self.known.contains_key(&number).then_some((number, rest))
    }

    fn range(&mut self, from: u32, to: u32) {
        if !self.seen_ranges.insert((from, to)) {
            return;
        }
        self.ranges.push(format!("{from}–{to}"));
        for number in from..=to {
            self.take(number.to_string());
        }
    }
}

/// The ends of a range whose first one is given, and the rest behind it.
fn range<'a>(first: &str, rest: &'a str) -> Option<(u32, u32, &'a str)> {
    let behind = rest
        .strip_prefix("..")
        .or_else(|| rest.strip_prefix(['-', '–', '—']))
        .or_else(|| rest.strip_prefix("to "))
        .or_else(|| rest.strip_prefix("through "))?;
    let (last, rest) = number(behind_item(behind.trim_start()))?;
    let (from, to): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    (from < to && to - from < MOST_IN_RANGE).then_some((from, to, rest))
}

/// The text behind `Item`, `work item`, `#` and the like, where it begins so.
fn behind_item(text: &str) -> &str {
    let mut rest = text;
    for word in ["work", "items", "item"] {
        let trimmed = rest.trim_start_matches([' ', '-', '*', '_', '[', '`', '#', ':']);
        if trimmed
            .get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
        {
            rest = &trimmed[word.len()..];
        }
    }
    rest.trim_start_matches([' ', '-', '*', '_', '[', '`', '#', ':'])
}

fn is_none(part: &str) -> bool {
    const NONE: [&str; 9] = [
        "none",
        "nothing",
        "n/a",
        "na",
        "no",
        "null",
        "nil",
        "n",
        "independent",
    ];
    let first = part
        .split(|c: char| !(c.is_alphanumeric() || c == '/'))
        .next()
        .unwrap_or_default();
    // `n/a` comes in two halves.
    NONE.iter().any(|none| first.eq_ignore_ascii_case(none)) || part.eq_ignore_ascii_case("a")
}

/// The text without what stands in parentheses; so the target of a link is gone, too.
fn without_asides(text: &str) -> String {
    let mut depth = 0_usize;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::Read;

    /// The numbers that are read, and what else there is.
    fn read(text: &str, known: &str) -> (String, String) {
        let known = known.split(' ').map(|number| (number.to_owned(), 1));
        let known: HashMap<String, u32> = known.collect();
        let mut read = Read::new(&known);
        let mut others = Vec::new();
        read.add(text, |other| others.push(other.to_owned()));
        (read.numbers.join(" "), others.join(" "))
    }

    #[test]
    fn what_is_named_is_found() {
        for (text, numbers, others) in [
            ("1, 2a", "1 2a", ""),
            ("Item 1 and Item 2", "1 2", ""),
            ("Items 1, 2 and 3", "1 2 3", ""),
            ("#3", "3", ""),
            ("[1, 2]", "1 2", ""),
            ("Item 1: Types", "1", ""),
            ("Item #4 (the parser, see 7)", "4", ""),
            ("[Item 2](#item-2), [Item 3](#item-3-9)", "2 3", ""),
            ("Items 1-3", "1 2 3", ""),
            ("1 through 3", "1 2 3", ""),
            ("item 3.1 & 3.2", "3.1 3.2", ""),
            ("1 2 3", "1 2 3", ""),
            ("02A", "2a", ""),
            ("item-2", "2", ""),
            ("Work Item 7", "7", ""),
            ("none", "", ""),
            ("None (can start at once)", "", ""),
            ("None - it is the first one", "", ""),
            ("n/a", "", ""),
            ("N/A", "", ""),
            ("—", "", ""),
            ("", "", ""),
            ("[]", "", ""),
            ("the parser", "", "the parser"),
            ("Item 1, the parser", "1", "the parser"),
        ] {
            let expected = (numbers.to_owned(), others.to_owned());
            assert_eq!(read(text, ""), expected, "{text:?}");
        }
        // What an item is called is that item.
        for (text, numbers, others) in [
            ("2-a", "2-a", ""),
            ("Item 2-A: the parser", "2-a", ""),
            ("items 2-a and 2", "2-a 2", ""),
            ("1-3", "1-3", ""),
            ("1-2", "1 2", ""),
            ("A", "a", ""),
            ("Item A", "a", ""),
            ("IV", "iv", ""),
            ("T-1, 2.", "t-1 2", ""),
            ("a lexer", "", "a lexer"),
        ] {
            let expected = (numbers.to_owned(), others.to_owned());
            let known = "1 2 2-a 1-3 a iv t-1";
            assert_eq!(read(text, known), expected, "{text:?}");
        }
    }
}
