//! Lines such as `**Type:** code`, in the ways that people write them.

use crate::markdown::list_sign;

/// What a line may say of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Type,
    Status,
    DependsOn,
}

/// The longest name of a field, with its decoration, in bytes.
const MOST_NAME: usize = 40;

/// Reads the fields of a line, each with its value.
pub(super) fn fields(line: &str) -> Vec<(Field, String)> {
    let line = without_comments(line);
    let text = behind_signs(&line);
    let Some((field, start)) = named(text) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let (mut field, mut from) = (field, start);
    // More fields may stand on the line, behind a sign that parts them.
    for (at, c) in text.char_indices() {
        if at < from || !matches!(c, '|' | '·' | '•' | ';' | ',' | '*' | '—' | '–') {
            continue;
        }
        let next = at + c.len_utf8();
        let rest = &text[next..];
        let trimmed = rest.trim_start_matches(' ');
        if let Some((other, start)) = named(trimmed) {
            found.push((field, value(&text[from..at])));
            field = other;
            from = next + (rest.len() - trimmed.len()) + start;
        }
    }
    found.push((field, value(&text[from..])));
    found
}

/// The cells of a table's row, without decoration.
pub(super) fn cells(line: &str) -> Option<Vec<String>> {
    let row = line.trim().strip_prefix('|')?;
    let row = row.strip_suffix('|').unwrap_or(row);
    Some(
        row.split('|')
            .map(|cell| value(&without_comments(cell)))
            .collect(),
    )
}

/// The field that a cell or a key names.
pub(super) fn field(name: &str) -> Option<Field> {
    let plain: String = name
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    Some(match plain.as_str() {
        "type" | "itemtype" | "kind" | "worktype" => Field::Type,
        "status" | "state" => Field::Status,
        "dependson" | "depends" | "dependencies" | "dependency" | "deps" | "blockedby"
        | "requires" | "prerequisites" | "prerequisite" => Field::DependsOn,
        _ => return None,
    })
}

/// The field that a text begins with, and where its value begins.
fn named(text: &str) -> Option<(Field, usize)> {
    let colon = text
        .bytes()
        .take(MOST_NAME)
        .position(|byte| byte == b':')
        .or_else(|| {
            // A colon of full width, as some keyboards have it.
            text.char_indices()
                .take_while(|(at, _)| *at < MOST_NAME)
                .find(|(_, c)| *c == '：')
                .map(|(at, _)| at)
        })?;
    let name = text.get(..colon)?;
    let is_name = |c: char| c.is_alphabetic() || " *_`-[]".contains(c);
    if !name.chars().all(is_name) {
        return None;
    }
    let width = text[colon..].chars().next().map_or(1, char::len_utf8);
    Some((field(name)?, colon + width))
}

/// The text behind what may stand before a field: the sign of a list entry, a box, a quote's sign.
pub(super) fn behind_signs(line: &str) -> &str {
    let mut rest = line.trim_start();
    loop {
        let shorter = match list_sign(rest) {
            Some(width) => &rest[width..],
            None => rest
                .strip_prefix("[ ]")
                .or_else(|| rest.strip_prefix("[x]"))
                .or_else(|| rest.strip_prefix('>'))
                .unwrap_or(rest),
        }
        .trim_start();
        if shorter.len() == rest.len() {
            return rest;
        }
        rest = shorter;
    }
}

/// A value without the decoration around it.
fn value(text: &str) -> String {
    text.trim()
        .trim_start_matches(['*', '_'])
        .trim()
        .trim_end_matches(['*', '_', '|', '\\'])
        .trim()
        .trim_matches('`')
        .trim()
        .to_owned()
}

/// The line without what is commented out in it.
pub(super) fn without_comments(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = behind.split_once("-->").map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}
