//! What a subtask asks for, taken from its free text as a list.

use text::plain;

/// The most entries of a list.
pub const MOST_ENTRIES: usize = 20;

/// Longest entry, in visible characters.
const LONGEST_ENTRY: usize = 300;
/// Text beyond this is not looked at, in bytes.
const TEXT_READ: usize = 64 * 1024;

/// When the subtask is done, as far as its text says: what stands under a heading such as
/// "Acceptance criteria" in its details; else the test strategy, item by item; else the items
/// of the details. At most [`MOST_ENTRIES`], each on one line, none twice.
pub fn acceptance_criteria(details: &str, test_strategy: &str) -> Vec<String> {
    let details = entries(details);
    let stated: Vec<&Entry> = details
        .iter()
        .filter(|entry| entry.under_criteria)
        .collect();
    if !stated.is_empty() {
        return collect(stated.into_iter());
    }
    let strategy = entries(test_strategy);
    let listed: Vec<&Entry> = strategy.iter().filter(|entry| entry.is_item).collect();
    if !listed.is_empty() {
        return collect(listed.into_iter());
    }
    if !strategy.is_empty() {
        return collect(strategy.iter());
    }
    collect(details.iter().filter(|entry| entry.is_item))
}

/// What the details say of how to do it: their items, or their lines where they are no list,
/// without what [`acceptance_criteria`] takes from under its heading. At most
/// [`MOST_ENTRIES`], each on one line, none twice.
pub fn implementation_hints(details: &str) -> Vec<String> {
    let entries = entries(details);
    let has_items = entries
        .iter()
        .any(|entry| entry.is_item && !entry.under_criteria);
    collect(
        entries
            .iter()
            .filter(|entry| !entry.under_criteria && (entry.is_item || !has_items)),
    )
}

#[derive(Debug)]
struct Entry {
    text: String,
    is_item: bool,
    under_criteria: bool,
}

/// The text as list items and paragraphs; lines that follow on are joined to what they follow.
/// Headings and code are left out.
fn entries(text: &str) -> Vec<Entry> {
    let text = plain::many_lines(plain::cut_bytes(text, TEXT_READ));
    let mut entries: Vec<Entry> = Vec::new();
    let mut under_criteria = false;
    let mut follows = false;
    let mut in_code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
            follows = false;
        } else if line.is_empty() || in_code {
            follows = false;
        } else if let Some(heading) = heading(line) {
            under_criteria = is_criteria(heading);
            follows = false;
        } else if let Some(item) = item(line) {
            entries.push(Entry {
                text: item.to_owned(),
                is_item: true,
                under_criteria,
            });
            follows = true;
        } else if follows && let Some(last) = entries.last_mut() {
            last.text.push(' ');
            last.text.push_str(line);
        } else {
            entries.push(Entry {
                text: line.to_owned(),
                is_item: false,
                under_criteria,
            });
            follows = true;
        }
    }
    entries
}

fn collect<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for entry in entries {
        let line = text::shortened(&entry.text, LONGEST_ENTRY);
        if !line.is_empty() && !list.contains(&line) {
            list.push(line);
        }
        if list.len() == MOST_ENTRIES {
            break;
        }
    }
    list
}

/// `## Title`, `**Title**`, or a short line that ends with a colon.
fn heading(line: &str) -> Option<&str> {
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
        return Some(line[hashes..].trim());
    }
    if let Some(bold) = line.strip_prefix("**")
        && let Some(bold) = bold.trim_end_matches(':').strip_suffix("**")
        && !bold.contains("**")
    {
        return Some(bold.trim_end_matches(':'));
    }
    let title = line.strip_suffix(':')?;
    (title.split(' ').count() <= 4 && item(line).is_none()).then_some(title)
}

fn is_criteria(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    ["acceptance", "criteria", "definition of done", "done when"]
        .iter()
        .any(|words| heading.contains(words))
}

/// The text of a list item, without its marker and check box.
fn item(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = if (1..=3).contains(&digits) {
        line[digits..]
            .strip_prefix(". ")
            .or_else(|| line[digits..].strip_prefix(") "))
    } else {
        ["- ", "* ", "+ ", "• ", "– "]
            .iter()
            .find_map(|marker| line.strip_prefix(marker))
    }?;
    let rest = rest.trim_start();
    let boxed = ["[ ] ", "[x] ", "[X] "]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark));
    Some(boxed.unwrap_or(rest).trim_start())
}
