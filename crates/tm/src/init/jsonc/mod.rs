//! An entry in a JSON document, put in and taken out by cutting at the right places: comments, commas, order and white
//! space of everything else stay to the byte.
//!
//! Nothing is remembered of what was put in; its form tells. A member goes behind the last one, on a line of its own if
//! the object has several lines. Into an object without members it goes right behind the brace, on one line. An object
//! that had to be made for it begins with white space: so it is told from an empty one that was there, and goes when its
//! last member does.
//!
//! An entry that is there is its user's: only those values are set that make it ours.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};

use super::cst::options;
use super::entry::{ADDRESSES, COMMAND, Entry, ExistingEntry, NAME};
use super::text::{
    EditError, Remainder, alone, indent_at, newline_of, spliced, with_block, without_block,
    without_mark,
};

/// Indentation where a file has none to go by.
const UNIT: &str = "  ";

type Pieces = Vec<(Range<usize>, String)>;

/// The text with the entry in `section`: the keys that lead to the object that holds the servers. `None` where there is
/// no file.
pub fn with_entry(
    text: Option<&str>,
    section: &[&str],
    entry: &Entry,
) -> Result<String, EditError> {
    let Some(text) = text else {
        return Ok(alone(&document(section, entry, "\n"), "\n"));
    };
    let (mark, body) = without_mark(text);
    let new = match parse(body)? {
        None => {
            let newline = newline_of(body);
            with_block(body, &document(section, entry, newline), newline, "")
        }
        Some(Value::Object(root)) => match added(body, &root, section, entry)? {
            Some(pieces) => spliced(body, pieces),
            None => completed(body, section, entry)?,
        },
        Some(other) => return Err(no_object(body, &other, "the document")),
    };
    readable(body, &new)?;
    Ok(format!("{mark}{new}"))
}

/// The text without the entry in `section`.
pub fn without_entry(text: &str, section: &[&str]) -> Result<Remainder, EditError> {
    let (mark, body) = without_mark(text);
    let Some(root) = parse(body)? else {
        return Ok(Remainder::Unchanged);
    };
    let Some(root_object) = root.as_object() else {
        return Ok(Remainder::Unchanged);
    };
    let Some(trail) = trail(body, root_object, section)? else {
        return Ok(Remainder::Unchanged);
    };
    let left = removed(body, root_object, &trail);
    Ok(match left {
        Remainder::Text(left) => {
            readable(body, &left)?;
            Remainder::Text(format!("{mark}{left}"))
        }
        other => other,
    })
}

/// Whether the entry, in whatever form, is in `section`.
pub fn has_entry(text: &str, section: &[&str]) -> Result<bool, EditError> {
    let (_, body) = without_mark(text);
    match parse(body)? {
        Some(Value::Object(root)) => Ok(trail(body, &root, section)?.is_some()),
        _ => Ok(false),
    }
}

/// Whether the entry in `section` calls a server that runs elsewhere.
pub fn calls_address(text: &str, section: &[&str]) -> Result<bool, EditError> {
    let (_, body) = without_mark(text);
    let Some(Value::Object(root)) = parse(body)? else {
        return Ok(false);
    };
    Ok(present(body, &root, section)?.is_some_and(has_address))
}

/// The program that the entry in `section` starts, as it is written.
pub fn program(text: &str, section: &[&str]) -> Option<String> {
    let (_, body) = without_mark(text);
    let Some(Value::Object(root)) = parse(body).ok()? else {
        return None;
    };
    match found(&present(body, &root, section).ok()??.get(COMMAND)?.value) {
        ExistingEntry::Text(program) => Some(program.to_owned()),
        ExistingEntry::List(words) => words.first().map(|word| (*word).to_owned()),
        ExistingEntry::Other => None,
    }
}

/// Whether `section` is an object that holds servers, and not itself one: a server says its `type` in words.
pub fn holds_servers(text: &str, section: &[&str]) -> bool {
    let (_, body) = without_mark(text);
    let Ok(Some(Value::Object(root))) = parse(body) else {
        return false;
    };
    let mut at = &root;
    for key in section {
        match at.get(key).map(|member| &member.value) {
            Some(Value::Object(object)) => at = object,
            _ => return false,
        }
    }
    at.get_string("type").is_none()
}

fn parse(body: &str) -> Result<Option<Value<'_>>, EditError> {
    parse_to_ast(body, &CollectOptions::default(), &options())
        .map(|parsed| parsed.value)
        .map_err(|error| {
            let problem = error.kind().to_string();
            let mut words = problem.chars();
            let problem = words
                .next()
                .map(|first| first.to_lowercase().chain(words).collect::<String>())
                .unwrap_or_default();
            EditError::at(body, error.range().start, problem)
        })
}

/// What is going to be written has to be a document still.
fn readable(body: &str, new: &str) -> Result<(), EditError> {
    parse(new).map(|_| ()).map_err(|_| {
        let at = body.find(NAME).unwrap_or_default();
        EditError::at(body, at, format!("`{NAME}` has to be changed by hand here"))
    })
}

fn no_object(body: &str, value: &Value<'_>, what: &str) -> EditError {
    let problem = format!("{what} is not an object");
    EditError::at(body, value.range().start, problem)
}

/// The member of that name. Two of them are no answer: nobody can tell which one counts.
fn member<'o, 't>(
    body: &str,
    object: &'o Object<'t>,
    name: &str,
) -> Result<Option<&'o ObjectProp<'t>>, EditError> {
    let mut found = object
        .properties
        .iter()
        .filter(|member| member.name.as_str() == name);
    let first = found.next();
    match found.next() {
        Some(second) => {
            let problem = format!("`{name}` stands here a second time");
            Err(EditError::at(body, second.range.start, problem))
        }
        None => Ok(first),
    }
}

/// A member and the object that it is in, from the outermost to the entry itself.
type Trail<'o, 't> = Vec<(&'o Object<'t>, &'o ObjectProp<'t>)>;

fn trail<'o, 't>(
    body: &str,
    root: &'o Object<'t>,
    section: &[&str],
) -> Result<Option<Trail<'o, 't>>, EditError> {
    let mut at = root;
    let mut trail = Vec::new();
    for key in section {
        let Some(found) = member(body, at, key)? else {
            return Ok(None);
        };
        trail.push((at, found));
        match &found.value {
            Value::Object(object) => at = object,
            _ => return Ok(None),
        }
    }
    Ok(member(body, at, NAME)?.map(|found| {
        trail.push((at, found));
        trail
    }))
}

/// The entry that is there, if it is an object.
fn present<'o, 't>(
    body: &str,
    root: &'o Object<'t>,
    section: &[&str],
) -> Result<Option<&'o Object<'t>>, EditError> {
    let trail = trail(body, root, section)?;
    let last = trail.as_ref().and_then(|trail| trail.last());
    Ok(last.and_then(|(_, found)| found.value.as_object()))
}

fn has_address(entry: &Object<'_>) -> bool {
    entry.get(COMMAND).is_none() && ADDRESSES.iter().any(|key| entry.get_string(key).is_some())
}

/// A whole document with nothing but the entry.
fn document(section: &[&str], entry: &Entry, newline: &str) -> String {
    let inner = member_block(section, entry, UNIT, UNIT, newline);
    format!("{{{newline}{UNIT}{inner}{newline}}}")
}

/// The entry, in the objects that have to be made for it, on several lines.
fn member_block(
    missing: &[&str],
    entry: &Entry,
    indent: &str,
    unit: &str,
    newline: &str,
) -> String {
    match missing {
        [] => format!("\"{NAME}\": {}", entry.json_block(indent, unit, newline)),
        [key, rest @ ..] => {
            let deeper = format!("{indent}{unit}");
            let inner = member_block(rest, entry, &deeper, unit, newline);
            format!("\"{key}\": {{{newline}{deeper}{inner}{newline}{indent}}}")
        }
    }
}

/// The same on one line.
fn member_line(missing: &[&str], entry: &Entry) -> String {
    match missing {
        [] => format!("\"{NAME}\": {}", entry.json_line()),
        [key, rest @ ..] => format!("\"{key}\": {{ {} }}", member_line(rest, entry)),
    }
}

/// What is put into an object.
enum New<'n> {
    /// The entry, in the objects that have to be made for it.
    Entry(&'n [&'n str], &'n Entry),
    /// A field of the entry.
    Field(&'n str, String),
}

impl New<'_> {
    fn line(&self) -> String {
        match self {
            Self::Entry(missing, entry) => member_line(missing, entry),
            Self::Field(key, value) => format!("\"{key}\": {value}"),
        }
    }

    fn block(&self, indent: &str, unit: &str, newline: &str) -> String {
        match self {
            Self::Entry(missing, entry) => member_block(missing, entry, indent, unit, newline),
            Self::Field(..) => self.line(),
        }
    }
}

/// What puts the entry into the document; `None` if it is there, and its fields have to be looked at one by one.
fn added(
    body: &str,
    root: &Object<'_>,
    section: &[&str],
    entry: &Entry,
) -> Result<Option<Pieces>, EditError> {
    let mut at = root;
    let mut missing = section;
    while let [key, rest @ ..] = missing {
        let Some(found) = member(body, at, key)? else {
            break;
        };
        match &found.value {
            Value::Object(object) => at = object,
            other => return Err(no_object(body, other, &format!("`{key}`"))),
        }
        missing = rest;
    }
    if missing.is_empty()
        && let Some(present) = member(body, at, NAME)?
    {
        if let Value::Object(object) = &present.value
            && !object.properties.is_empty()
        {
            for (key, _) in entry.0 {
                member(body, object, key)?;
            }
            return Ok(None);
        }
        let range = present.value.range();
        let old = &body[range.start..range.end];
        let new = if old.contains('\n') {
            let indent = indent_at(body, present.range.start);
            entry.json_block(indent, unit(body, root, at, indent), newline_of(old))
        } else {
            entry.json_line()
        };
        return Ok(Some(vec![(range.start..range.end, new)]));
    }
    let new = New::Entry(missing, entry);
    Ok(Some(inserted(body, root, at, &new)))
}

/// The text with everything in the entry that makes it ours, and all else in it as it was.
fn completed(body: &str, section: &[&str], entry: &Entry) -> Result<String, EditError> {
    let mut body = body.to_owned();
    // The document is read again for each, since a field that is set moves what is behind it.
    for (key, field) in entry.0 {
        let Some(Value::Object(root)) = parse(&body)? else {
            break;
        };
        let Some(object) = present(&body, &root, section)?.filter(|found| !has_address(found))
        else {
            break;
        };
        let pieces = match member(&body, object, key)? {
            Some(present) => match field.instead_of(Some(&found(&present.value))) {
                Some(value) => {
                    let range = present.value.range();
                    vec![(range.start..range.end, value)]
                }
                None => continue,
            },
            None => match field.instead_of(None) {
                Some(value) => inserted(&body, &root, object, &New::Field(key, value)),
                None => continue,
            },
        };
        body = spliced(&body, pieces);
    }
    Ok(body)
}

fn found<'v>(value: &'v Value<'_>) -> ExistingEntry<'v> {
    match value {
        Value::StringLit(text) => ExistingEntry::Text(&text.value),
        Value::Array(list) => list
            .elements
            .iter()
            .map(|element| element.as_string_lit().map(|text| &*text.value))
            .collect::<Option<_>>()
            .map_or(ExistingEntry::Other, ExistingEntry::List),
        _ => ExistingEntry::Other,
    }
}

/// Puts a new member into an object, behind what is there.
fn inserted(body: &str, root: &Object<'_>, object: &Object<'_>, new: &New<'_>) -> Pieces {
    let Some(last) = object.properties.last() else {
        let inside = object.range.start + 1;
        return vec![(inside..inside, new.line())];
    };
    let value_end = last.value.range().end;
    let close = object.range.end - 1;
    let comma = comma_in(body, value_end..close);
    let end = comma.map_or(value_end, |at| at + 1);
    let Some((line_end, newline)) = line_end_in(body, end..close) else {
        let line = new.line();
        return match comma {
            Some(_) => vec![(end..end, format!(" {line},"))],
            None => vec![(end..end, format!(", {line}"))],
        };
    };
    let indent = indent_at(body, last.range.start);
    let unit = unit(body, root, object, indent);
    let block = new.block(indent, unit, newline);
    let after = if comma.is_some() { "," } else { "" };
    let line = (
        line_end..line_end,
        format!("{newline}{indent}{block}{after}"),
    );
    match comma {
        Some(_) => vec![line],
        // Both may fall on one place, where the order counts.
        None if line_end == value_end => {
            vec![(value_end..value_end, format!(",{}", line.1))]
        }
        None => vec![(value_end..value_end, ",".to_owned()), line],
    }
}

/// How much deeper the members of an object are indented than the object itself; else those of the document.
fn unit<'t>(body: &'t str, root: &Object<'_>, object: &Object<'_>, indent: &'t str) -> &'t str {
    let outer = indent_at(body, object.range.start);
    let of_root = || {
        root.properties
            .first()
            .map(|first| indent_at(body, first.range.start))
    };
    indent
        .strip_prefix(outer)
        .filter(|unit| !unit.is_empty())
        .or_else(|| of_root().filter(|unit| !unit.is_empty()))
        .unwrap_or(UNIT)
}

/// Pieces of what stands between two tokens.
enum Trivia {
    Comma(usize),
    /// Where a line ends, and how.
    LineEnd(usize, &'static str),
    Comment,
}

/// Goes through white space, commas and comments.
fn between(body: &str, range: Range<usize>) -> impl Iterator<Item = Trivia> + '_ {
    let mut at = range.start;
    std::iter::from_fn(move || {
        while at < range.end {
            let rest = &body[at..range.end];
            let here = at;
            if let Some(comment) = rest.strip_prefix("//") {
                at += 2 + comment.find(['\n', '\r']).unwrap_or(comment.len());
                return Some(Trivia::Comment);
            }
            if let Some(comment) = rest.strip_prefix("/*") {
                at += 2 + comment.find("*/").map_or(comment.len(), |end| end + 2);
                return Some(Trivia::Comment);
            }
            if rest.starts_with("\r\n") {
                at += 2;
                return Some(Trivia::LineEnd(here, "\r\n"));
            }
            at += rest.chars().next().map_or(1, char::len_utf8);
            match rest.as_bytes().first() {
                Some(b'\n') => return Some(Trivia::LineEnd(here, "\n")),
                Some(b',') => return Some(Trivia::Comma(here)),
                _ => {}
            }
        }
        None
    })
}

fn comma_in(body: &str, range: Range<usize>) -> Option<usize> {
    between(body, range).find_map(|piece| match piece {
        Trivia::Comma(at) => Some(at),
        _ => None,
    })
}

/// Where the first line ends in there, and how; ends inside comments do not count.
fn line_end_in(body: &str, range: Range<usize>) -> Option<(usize, &'static str)> {
    between(body, range).find_map(|piece| match piece {
        Trivia::LineEnd(at, newline) => Some((at, newline)),
        _ => None,
    })
}

fn has_comment(body: &str, range: Range<usize>) -> bool {
    between(body, range).any(|piece| matches!(piece, Trivia::Comment))
}

/// Takes the entry out, and every object around it that was made for it.
fn removed(body: &str, root: &Object<'_>, trail: &Trail<'_, '_>) -> Remainder {
    let mut keep = trail.len() - 1;
    loop {
        let (object, target) = trail[keep];
        if !was_made_for(body, object, target) {
            return Remainder::Text(spliced(body, cut(body, object, target)));
        }
        if keep == 0 {
            let text = &body[root.range.start..root.range.end];
            let newline = newline_of(text);
            return without_block(body, root.range.start..root.range.end, newline, "");
        }
        keep -= 1;
    }
}

/// Whether an object holds nothing but this member, and begins as one does that was made for it.
fn was_made_for(body: &str, object: &Object<'_>, only: &ObjectProp<'_>) -> bool {
    let inside = object.range.start + 1;
    let behind = only.range.end..object.range.end - 1;
    object.properties.len() == 1
        && only.range.start > inside
        && !has_comment(body, inside..only.range.start)
        && !has_comment(body, behind)
}

/// What has to go so that the member is gone: the reverse of [`inserted`], and sound wherever it stands now.
fn cut(body: &str, object: &Object<'_>, target: &ObjectProp<'_>) -> Pieces {
    let gone = |range: Range<usize>| (range, String::new());
    let start = target.range.start;
    let end = target.range.end;
    let position = object
        .properties
        .iter()
        .position(|member| member.range == target.range)
        .unwrap_or_default();
    let next = object
        .properties
        .get(position + 1)
        .map_or(object.range.end - 1, |next| next.range.start);
    let previous = position
        .checked_sub(1)
        .map(|at| object.properties[at].value.range().end);
    let own_comma = comma_in(body, end..next);
    let blanks_before = {
        let before = &body[..start];
        before.len() - before.trim_end_matches([' ', '\t']).len()
    };
    let line_start = start - blanks_before;
    let done = own_comma.map_or(end, |comma| comma + 1);
    // A comment before the comma would slip into the line above.
    let ends_line = own_comma.is_none_or(|comma| comma == end)
        && body[done..]
            .trim_start_matches([' ', '\t'])
            .starts_with(['\n', '\r']);
    let newline = ["\r\n", "\n"]
        .into_iter()
        .find(|newline| body[..line_start].ends_with(newline));

    let mut pieces = Vec::new();
    let from = match newline {
        Some(newline) if ends_line => line_start - newline.len(),
        _ if own_comma.is_some() && previous.is_some() && newline.is_none() => line_start,
        _ => start,
    };
    match (own_comma, previous) {
        (Some(comma), _) if comma == end => {
            let mut upto = comma + 1;
            if from == start {
                upto = next.min(upto + blanks(&body[upto..next]));
            }
            pieces.push(gone(from..upto));
        }
        (Some(comma), _) => {
            pieces.push(gone(from..end));
            pieces.push(gone(comma..comma + 1));
        }
        (None, Some(previous)) => match comma_in(body, previous..start) {
            Some(comma) if body[comma + 1..start].trim().is_empty() && newline.is_none() => {
                pieces.push(gone(comma..end));
            }
            Some(comma) if comma + 1 == from => pieces.push(gone(comma..end)),
            Some(comma) => {
                pieces.push(gone(comma..comma + 1));
                pieces.push(gone(from..end));
            }
            None => pieces.push(gone(from..end)),
        },
        (None, None) => pieces.push(gone(from..end)),
    }
    pieces
}

/// How many spaces and tabs a text begins with.
fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

#[cfg(test)]
mod tests;
