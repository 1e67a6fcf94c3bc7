//! An entry in a TOML document, as a table at its end; or within the inline table of servers, where there is one. The rest
//! stays to the byte. An entry that is there is its user's: only those values are set that make it ours.

mod removal;

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Key, Table, TableLike, Value};

use super::entry::{ADDRESSES, COMMAND, Entry, ExistingEntry, Field, NAME};
use super::text::{
    EditError, Remainder, alone, indent_at, newline_of, spliced, with_block, without_mark,
};

/// The text with the entry in the table called `section`. `None` where there is no file.
pub fn with_entry(text: Option<&str>, section: &str, entry: &Entry) -> Result<String, EditError> {
    let Some(text) = text else {
        return Ok(alone(&entry.toml_table(section, "\n"), "\n"));
    };
    let (mark, body) = without_mark(text);
    let document = parse(body)?;
    let new = match found(body, &document, section)? {
        None => added(body, &document, section, entry),
        Some((_, present)) => match present.as_table_like() {
            Some(table) if has_address(table) => return Ok(text.to_owned()),
            Some(table) => {
                for (key, field) in entry.0 {
                    refuse_table(body, &document, section, table, (key, *field))?;
                }
                completed(body, section, entry)?
            }
            // Nothing in it can be anybody's.
            None => match without_entry(body, section)? {
                Remainder::Text(left) => added(&left, &parse(&left)?, section, entry),
                Remainder::Unchanged => body.to_owned(),
                Remainder::Nothing => with_entry(None, section, entry)?,
            },
        },
    };
    readable(body, &document, section, &new)?;
    Ok(format!("{mark}{new}"))
}

/// The text without the entry in the table called `section`.
pub fn without_entry(text: &str, section: &str) -> Result<Remainder, EditError> {
    let (mark, body) = without_mark(text);
    let document = parse(body)?;
    let Some((servers, item)) = found(body, &document, section)? else {
        return Ok(Remainder::Unchanged);
    };
    let left = match servers {
        Servers::Inline(servers) => {
            if item.as_inline_table().is_some_and(InlineTable::is_dotted) {
                return Err(spread(body, &document, section));
            }
            removal::without_member(body, servers)
        }
        Servers::Table(table) => removal::without_lines(body, document.as_table(), table, item),
    };
    Ok(match left {
        Remainder::Text(left) => {
            readable(body, &document, section, &left)?;
            Remainder::Text(format!("{mark}{left}"))
        }
        other => other,
    })
}

/// Whether the entry, in whatever form, is in the table called `section`.
pub fn has_entry(text: &str, section: &str) -> Result<bool, EditError> {
    let (_, body) = without_mark(text);
    Ok(found(body, &parse(body)?, section)?.is_some())
}

/// Whether the entry in the table called `section` calls a server that runs elsewhere.
pub fn calls_address(text: &str, section: &str) -> Result<bool, EditError> {
    let (_, body) = without_mark(text);
    let document = parse(body)?;
    let present = found(body, &document, section)?;
    let table = present.and_then(|(_, item)| item.as_table_like());
    Ok(table.is_some_and(has_address))
}

/// The program that the entry in the table called `section` starts, as it is written.
pub fn program(text: &str, section: &str) -> Option<String> {
    let (_, body) = without_mark(text);
    let document = parse(body).ok()?;
    let (_, item) = found(body, &document, section).ok()??;
    let command = item.as_table_like()?.get(COMMAND)?;
    command.as_str().map(str::to_owned)
}

fn has_address(entry: &dyn TableLike) -> bool {
    let names = |key: &&str| entry.get(key).is_some_and(Item::is_str);
    entry.get(COMMAND).is_none() && ADDRESSES.iter().any(names)
}

fn parse(body: &str) -> Result<Document<&str>, EditError> {
    Document::parse(body).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        EditError::at(body, at, error.message().replace('\n', ", "))
    })
}

/// Finds where a key of the document is written.
trait KeyStart {
    fn key_start(&self, name: &str) -> usize;
}

impl KeyStart for Document<&str> {
    fn key_start(&self, name: &str) -> usize {
        let key = self.as_table().key(name).and_then(Key::span);
        key.map_or(0, |span| span.start)
    }
}

/// The table that holds the servers.
enum Servers<'d> {
    Table(&'d Table),
    Inline(&'d InlineTable),
}

type Place<'d> = (Servers<'d>, &'d Item);

fn found<'d>(
    body: &str,
    document: &'d Document<&str>,
    section: &str,
) -> Result<Option<Place<'d>>, EditError> {
    let servers = match document.get(section) {
        None => return Ok(None),
        Some(Item::Table(table)) => Servers::Table(table),
        Some(Item::Value(Value::InlineTable(table))) => Servers::Inline(table),
        Some(_) => {
            let at = document.key_start(section);
            return Err(EditError::at(
                body,
                at,
                format!("`{section}` is not a table"),
            ));
        }
    };
    let item = match &servers {
        Servers::Table(table) => table.get(NAME),
        Servers::Inline(table) => TableLike::get(*table, NAME),
    };
    Ok(item.map(|item| (servers, item)))
}

/// What is going to be written has to be a document still: tables can be written in ways that forbid another one to
/// follow.
fn readable(
    body: &str,
    document: &Document<&str>,
    section: &str,
    new: &str,
) -> Result<(), EditError> {
    parse(new).map(|_| ()).map_err(|_| {
        let at = document.key_start(section);
        let problem = format!(
            "`{NAME}` cannot be changed in `{section}` as it is written here: do it by hand"
        );
        EditError::at(body, at, problem)
    })
}

fn spread(body: &str, document: &Document<&str>, section: &str) -> EditError {
    let at = document.key_start(section);
    let problem =
        format!("`{NAME}` is spread over dotted keys in an inline table: take it out by hand");
    EditError::at(body, at, problem)
}

/// The text with the entry, which is not there yet.
fn added(body: &str, document: &Document<&str>, section: &str, entry: &Entry) -> String {
    match document.get(section) {
        Some(Item::Value(Value::InlineTable(servers))) => {
            let put = format!("{NAME} = {}", entry.toml_inline());
            spliced(body, member(servers, put))
        }
        _ => with_table(body, section, entry),
    }
}

fn with_table(body: &str, section: &str, entry: &Entry) -> String {
    let newline = newline_of(body);
    with_block(body, &entry.toml_table(section, newline), newline, newline)
}

/// Something put behind the last value of an inline table.
fn member(table: &InlineTable, put: String) -> Vec<(Range<usize>, String)> {
    let Some(at) = inline_end(table) else {
        return Vec::new();
    };
    let put = if table.is_empty() {
        put
    } else {
        format!(", {put}")
    };
    vec![(at..at, put)]
}

/// The text with everything in the entry that makes it ours, and all else in it as it was.
fn completed(body: &str, section: &str, entry: &Entry) -> Result<String, EditError> {
    let mut body = body.to_owned();
    // The document is read again for each, since a field that is set moves what is behind it.
    for (key, field) in entry.0 {
        let document = parse(&body)?;
        let Some((_, item)) = found(&body, &document, section)? else {
            break;
        };
        let Some(present) = item.as_table_like().and_then(|table| table.get(key)) else {
            if let Item::Table(table) = item
                && table.is_implicit()
                && !table.is_dotted()
            {
                // Nothing but tables below it is there, so its own can follow, with all its fields.
                body = with_table(&body, section, entry);
                break;
            }
            let put = format!("{key} = {}", field.text());
            body = match missing(&body, item, &put) {
                Some(pieces) => spliced(&body, pieces),
                None => return Err(spread(&body, &document, section)),
            };
            continue;
        };
        let span = present.as_value().and_then(Value::span);
        if let (Some(value), Some(span)) = (field.instead_of(Some(&value_found(present))), span) {
            body = spliced(&body, vec![(span, value)]);
        }
    }
    Ok(body)
}

/// A field that cannot be set because a table stands in its place.
fn refuse_table(
    body: &str,
    document: &Document<&str>,
    section: &str,
    entry: &dyn TableLike,
    (key, field): (&str, Field),
) -> Result<(), EditError> {
    let Some(present) = entry.get(key) else {
        return Ok(());
    };
    if present
        .as_value()
        .is_some_and(|value| value.span().is_some())
        || field.instead_of(Some(&value_found(present))).is_none()
    {
        return Ok(());
    }
    let at = entry
        .key(key)
        .and_then(Key::span)
        .map_or_else(|| document.key_start(section), |span| span.start);
    let problem = format!("`{key}` of `{NAME}` is a table: take it out by hand");
    Err(EditError::at(body, at, problem))
}

fn value_found(item: &Item) -> ExistingEntry<'_> {
    if let Some(text) = item.as_str() {
        return ExistingEntry::Text(text);
    }
    item.as_array()
        .and_then(|list| list.iter().map(Value::as_str).collect())
        .map_or(ExistingEntry::Other, ExistingEntry::List)
}

/// What puts a field into an entry that has others; `None` where it is written in a way that has no place for it.
fn missing(body: &str, item: &Item, put: &str) -> Option<Vec<(Range<usize>, String)>> {
    let table = match item {
        Item::Value(Value::InlineTable(table)) if !table.is_dotted() => {
            return Some(member(table, put.to_owned()));
        }
        Item::Table(table) => table,
        _ => return None,
    };
    let last = table
        .iter()
        .filter_map(|(name, item)| Some((table.key(name)?.span()?, item.as_value()?.span()?)))
        .max_by_key(|(_, value)| value.end);
    let line_start = |at: usize| {
        body.get(..at)
            .and_then(|text| text.rfind('\n'))
            .map_or(0, |end| end + 1)
    };
    let (lead, end) = match last {
        // What stands before a key are blanks, and the names before its dot.
        Some((key, value)) => (body.get(line_start(key.start)..key.start)?, value.end),
        None if table.is_dotted() => {
            // Only deeper keys are there: a line above the first of them, which may have several lines.
            let key = table
                .iter()
                .filter_map(|(name, _)| table.key(name)?.span())
                .min_by_key(|key| key.start)?;
            let start = line_start(key.start);
            let lead = body.get(start..key.start)?;
            let newline = newline_of(body.get(start..)?);
            return Some(vec![(start..start, format!("{lead}{put}{newline}"))]);
        }
        None => {
            let header = table.span()?;
            (indent_at(body, header.start), header.end)
        }
    };
    let rest = body.get(end..)?;
    let line = rest.split('\n').next().unwrap_or_default();
    let (line, newline) = match line.strip_suffix('\r') {
        Some(line) if line.len() + 1 < rest.len() => (line, "\r\n"),
        _ if line.len() < rest.len() => (line, "\n"),
        _ => (line, newline_of(body)),
    };
    let at = end + line.len();
    Some(vec![(at..at, format!("{newline}{lead}{put}"))])
}

/// Where another entry can follow in an inline table: behind its last value, or its brace.
fn inline_end(servers: &InlineTable) -> Option<usize> {
    servers
        .iter()
        .filter_map(|(_, value)| value_end(value))
        .max()
        .or_else(|| servers.span().map(|span| span.start + 1))
}

/// Where a value ends. One that is put together from dotted keys ends where the last of them does.
fn value_end(value: &Value) -> Option<usize> {
    match value {
        Value::InlineTable(table) if table.is_dotted() => {
            table.iter().filter_map(|(_, value)| value_end(value)).max()
        }
        value => value.span().map(|span| span.end),
    }
}

#[cfg(test)]
mod tests;
