//! What of a TOML document is the entry, and the text without it.

use std::ops::Range;

use toml_edit::{InlineTable, Item, Key, Table};

use super::super::entry::NAME;
use super::super::text::{Remainder, spliced, without_block};
use super::value_end;

type Parts = Vec<Range<usize>>;

/// The text without an entry that is written in lines of its own.
pub fn without_lines(body: &str, root: &Table, servers: &Table, item: &Item) -> Remainder {
    let mut parts = Vec::new();
    let headers = headers_below(root);
    match item {
        Item::Table(table) if table.is_dotted() => {
            let mut lines = Vec::new();
            gather(table, &headers, &mut lines, &mut parts);
            // Lines of others may stand between these.
            parts.extend(lines);
        }
        Item::Table(table) => stretch_of(table, &headers, &mut parts),
        Item::ArrayOfTables(tables) => {
            for table in tables {
                stretch_of(table, &headers, &mut parts);
            }
        }
        Item::Value(value) => {
            parts.extend(joined(servers.key(NAME).and_then(Key::span), value.span()));
        }
        Item::None => {}
    }
    without_parts(body, parts)
}

/// The text without an entry that is one of several in an inline table.
pub fn without_member(body: &str, servers: &InlineTable) -> Remainder {
    let found = servers.get_key_value(NAME);
    let spans = found.and_then(|(key, value)| Some((key.span()?, value.span()?)));
    let Some((key, value)) = spans else {
        return Remainder::Unchanged;
    };
    let gone = |range: Range<usize>| (range, String::new());
    let is_blank = |range: Range<usize>| body.get(range).is_some_and(|text| text.trim().is_empty());
    let before = servers
        .iter()
        .filter_map(|(_, value)| value_end(value))
        .filter(|end| *end <= key.start)
        .max();
    let close = servers.span().map_or(body.len(), |span| span.end);
    let pieces = if let Some(before) = before {
        match comma_in(body, before..key.start) {
            Some(comma) if is_blank(comma + 1..key.start) => vec![gone(comma..value.end)],
            Some(comma) => vec![gone(comma..comma + 1), gone(key.start..value.end)],
            None => vec![gone(key.start..value.end)],
        }
    } else {
        match comma_in(body, value.end..close) {
            Some(comma) if is_blank(value.end..comma) => {
                let behind = body.get(comma + 1..).unwrap_or_default();
                let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
                vec![gone(key.start..comma + 1 + blanks)]
            }
            Some(comma) => vec![gone(key.start..value.end), gone(comma..comma + 1)],
            None => vec![gone(key.start..value.end)],
        }
    };
    Remainder::Text(spliced(body, pieces))
}

/// The first comma in there that is not in a comment.
fn comma_in(body: &str, range: Range<usize>) -> Option<usize> {
    let mut is_comment = false;
    let between = body.get(range.clone())?;
    let found = between.bytes().position(|byte| {
        is_comment = match byte {
            b'#' => true,
            b'\n' => false,
            _ => is_comment,
        };
        byte == b',' && !is_comment
    });
    found.map(|at| range.start + at)
}

/// Where the headers of all tables below one begin.
fn headers_below(table: &Table) -> Vec<usize> {
    let mut headers = Vec::new();
    for (_, below) in table {
        let tables: Vec<&Table> = match below {
            Item::Table(table) => vec![table],
            Item::ArrayOfTables(tables) => tables.iter().collect(),
            Item::Value(_) | Item::None => Vec::new(),
        };
        for table in tables {
            let has_header = !table.is_dotted() && !table.is_implicit();
            headers.extend(table.span().filter(|_| has_header).map(|span| span.start));
            headers.extend(headers_below(table));
        }
    }
    headers
}

/// The stretches of a table that is not dotted, and of all tables below it: each header with the keys under it.
fn stretch_of(table: &Table, headers: &[usize], parts: &mut Parts) {
    let mut lines = Vec::new();
    gather(table, headers, &mut lines, parts);
    // One that only its own tables imply is written nowhere.
    let own = table.span().filter(|_| !table.is_implicit());
    let from = own.as_ref().map_or(0, |own| own.start);
    // The parser lets dotted keys under another header add to a table of a list.
    let next = headers.iter().copied().filter(|at| *at > from).min();
    let (under, elsewhere): (Parts, Parts) = lines
        .into_iter()
        .partition(|line| own.is_some() && next.is_none_or(|next| line.start < next));
    parts.extend(elsewhere);
    parts.extend(
        under
            .into_iter()
            .fold(own, |stretch, line| joined(stretch, Some(line))),
    );
}

/// The keys that stand under the header of a table, or under that of a table above, if it is dotted; and the stretches of
/// the tables below that have headers of their own.
fn gather(table: &Table, headers: &[usize], lines: &mut Parts, parts: &mut Parts) {
    for (name, below) in table {
        match below {
            Item::Value(value) => {
                lines.extend(joined(table.key(name).and_then(Key::span), value.span()));
            }
            Item::Table(below) if below.is_dotted() => gather(below, headers, lines, parts),
            Item::Table(below) => stretch_of(below, headers, parts),
            Item::ArrayOfTables(tables) => {
                for table in tables {
                    stretch_of(table, headers, parts);
                }
            }
            Item::None => {}
        }
    }
}

fn joined(one: Option<Range<usize>>, other: Option<Range<usize>>) -> Option<Range<usize>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.start.min(other.start)..one.end.max(other.end)),
        (one, other) => one.or(other),
    }
}

/// Takes out the lines that these stretches are on.
fn without_parts(body: &str, parts: Parts) -> Remainder {
    let mut parts: Parts = parts
        .into_iter()
        .map(|part| whole_lines(body, &part))
        .collect();
    parts.sort_by_key(|part| part.start);
    let mut blocks: Parts = Vec::new();
    for part in parts {
        match blocks.last_mut() {
            Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
            _ => blocks.push(part),
        }
    }
    let mut left = Remainder::Unchanged;
    // From the last on, so that the places of those before it hold.
    for block in blocks.into_iter().rev() {
        let text = match &left {
            Remainder::Unchanged => body,
            Remainder::Text(text) => text,
            Remainder::Nothing => break,
        };
        // The line before tells how the one was ended that came with the block.
        let above = text.get(..block.start).unwrap_or_default();
        let newline = if above.ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        left = without_block(text, block, newline, newline);
    }
    left
}

/// From the beginning of the first line of a stretch to the end of its last one, but for what ends that line.
fn whole_lines(body: &str, part: &Range<usize>) -> Range<usize> {
    let above = body.get(..part.start).unwrap_or_default();
    let below = body.get(part.end..).unwrap_or_default();
    let rest = below.split('\n').next().unwrap_or_default();
    let rest = if rest.len() < below.len() {
        rest.strip_suffix('\r').unwrap_or(rest)
    } else {
        rest
    };
    above.rfind('\n').map_or(0, |at| at + 1)..part.end + rest.len()
}
