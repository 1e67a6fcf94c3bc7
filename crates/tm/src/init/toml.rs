//! An entry in a TOML document, as a table at its end; or within the inline table of servers, where there is one. The rest
//! stays to the byte.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Table, TableLike, Value};

use super::entry::{Entry, Field, NAME};
use super::text::{
    Left, Unusable, alone, newline_of, spliced, with_block, without_block, without_mark,
};

/// The text with the entry in the table called `section`. `None` where there is no file.
pub fn with_entry(text: Option<&str>, section: &str, entry: &Entry) -> Result<String, Unusable> {
    let Some(text) = text else {
        return Ok(alone(&entry.toml_table(section, "\n"), "\n"));
    };
    let (mark, mut body) = without_mark(text);
    let document = parse(body)?;
    let kept;
    match found(body, &document, section)? {
        Some((_, present)) if says(present, entry) => return Ok(text.to_owned()),
        Some(_) => {
            kept = match without_entry(body, section)? {
                Left::Text(text) => text,
                Left::Unchanged => body.to_owned(),
                Left::Nothing => return Ok(format!("{mark}{}", with_entry(None, section, entry)?)),
            };
            body = &kept;
        }
        None => {}
    }
    let newline = newline_of(body);
    let document = parse(body)?;
    let new = match document.get(section) {
        Some(Item::Value(Value::InlineTable(servers))) => {
            let at = inline_end(servers).unwrap_or_default();
            let lead = if servers.is_empty() { "" } else { ", " };
            let put = format!("{lead}{NAME} = {}", entry.toml_inline());
            spliced(body, vec![(at..at, put)])
        }
        _ => with_block(body, &entry.toml_table(section, newline), newline, newline),
    };
    // Tables can be written in ways that forbid another one to follow.
    parse(&new).map_err(|_| {
        let at = document.key_start(section);
        let problem = format!("no table can be added to `{section}` as it is written here");
        Unusable::at(body, at, problem)
    })?;
    Ok(format!("{mark}{new}"))
}

/// The text without the entry in the table called `section`.
pub fn without_entry(text: &str, section: &str) -> Result<Left, Unusable> {
    let (mark, body) = without_mark(text);
    let document = parse(body)?;
    let Some((servers, item)) = found(body, &document, section)? else {
        return Ok(Left::Unchanged);
    };
    let left = match servers {
        Servers::Inline(servers) => {
            if item.as_inline_table().is_some_and(InlineTable::is_dotted) {
                let at = document.key_start(section);
                let problem = format!(
                    "`{NAME}` is spread over dotted keys in an inline table: take it out by hand"
                );
                return Err(Unusable::at(body, at, problem));
            }
            Left::Text(spliced(body, cut(body, servers)))
        }
        Servers::Table(table) => {
            let key = table.key(NAME).and_then(toml_edit::Key::span);
            let mut parts = Vec::new();
            parts_of(item, key, &mut parts);
            without_parts(body, parts)
        }
    };
    Ok(match left {
        Left::Text(left) => Left::Text(format!("{mark}{left}")),
        other => other,
    })
}

/// Whether the entry, in whatever form, is in the table called `section`.
pub fn has_entry(text: &str, section: &str) -> Result<bool, Unusable> {
    let (_, body) = without_mark(text);
    Ok(found(body, &parse(body)?, section)?.is_some())
}

fn parse(body: &str) -> Result<Document<&str>, Unusable> {
    Document::parse(body).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Unusable::at(body, at, error.message().replace('\n', ", "))
    })
}

/// Finds where a key of the document is written.
trait KeyStart {
    fn key_start(&self, name: &str) -> usize;
}

impl KeyStart for Document<&str> {
    fn key_start(&self, name: &str) -> usize {
        let key = self.as_table().key(name).and_then(toml_edit::Key::span);
        key.map_or(0, |span| span.start)
    }
}

/// The table that holds the servers.
enum Servers<'d> {
    Table(&'d Table),
    Inline(&'d InlineTable),
}

type Found<'d> = (Servers<'d>, &'d Item);

fn found<'d>(
    body: &str,
    document: &'d Document<&str>,
    section: &str,
) -> Result<Option<Found<'d>>, Unusable> {
    let servers = match document.get(section) {
        None => return Ok(None),
        Some(Item::Table(table)) => Servers::Table(table),
        Some(Item::Value(Value::InlineTable(table))) => Servers::Inline(table),
        Some(_) => {
            let at = document.key_start(section);
            return Err(Unusable::at(
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

/// Whether an item says what the entry says, in whatever form.
fn says(item: &Item, entry: &Entry) -> bool {
    let Some(table) = item.as_table_like() else {
        return false;
    };
    table.len() == entry.0.len()
        && entry.0.iter().all(|(key, field)| {
            table.get(key).is_some_and(|found| match field {
                Field::Text(text) => found.as_str() == Some(text),
                Field::Flag(flag) => found.as_bool() == Some(*flag),
                Field::List(texts) => found.as_array().is_some_and(|found| {
                    found.len() == texts.len()
                        && found
                            .iter()
                            .zip(*texts)
                            .all(|(found, text)| found.as_str() == Some(text))
                }),
            })
        })
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

/// What has to go so that the entry is no longer in the inline table.
fn cut(body: &str, servers: &InlineTable) -> Vec<(Range<usize>, String)> {
    let Some((key, value)) = servers.get_key_value(NAME) else {
        return Vec::new();
    };
    let (Some(key), Some(value)) = (key.span(), value.span()) else {
        return Vec::new();
    };
    let before = servers
        .iter()
        .filter_map(|(_, value)| value_end(value))
        .filter(|end| *end <= key.start)
        .max();
    let mut range = key.start..value.end;
    if let Some(before) = before {
        // Nothing but white space, and comments, can stand around the comma.
        if let Some(comma) = body[before..key.start].rfind(',') {
            range.start = before + comma;
        }
    } else if let Some(comma) = body[value.end..]
        .find(',')
        .filter(|comma| body[value.end..value.end + comma].trim().is_empty())
    {
        let behind = &body[value.end + comma + 1..];
        let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        range.end = value.end + comma + 1 + blanks;
    }
    vec![(range, String::new())]
}

/// The stretches of text that an item is written in: a table with its header and its keys, and each table below it.
fn parts_of(item: &Item, key: Option<Range<usize>>, parts: &mut Vec<Range<usize>>) {
    match item {
        Item::Table(table) => {
            let own = if table.is_dotted() || table.is_implicit() {
                key
            } else {
                table.span()
            };
            let mut stretch = own;
            for (name, below) in table {
                let below_key = table.key(name).and_then(toml_edit::Key::span);
                match below {
                    Item::Value(value) => {
                        stretch = joined(joined(stretch, below_key), value.span());
                    }
                    other => parts_of(other, below_key, parts),
                }
            }
            parts.extend(stretch);
        }
        Item::ArrayOfTables(tables) => {
            for table in tables {
                parts_of(&Item::Table(table.clone()), None, parts);
            }
        }
        Item::Value(value) => parts.extend(joined(key, value.span())),
        Item::None => {}
    }
}

fn joined(one: Option<Range<usize>>, other: Option<Range<usize>>) -> Option<Range<usize>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.start.min(other.start)..one.end.max(other.end)),
        (one, other) => one.or(other),
    }
}

/// Takes out the lines that these stretches are on.
fn without_parts(body: &str, mut parts: Vec<Range<usize>>) -> Left {
    parts.sort_by_key(|part| part.start);
    let mut left = Left::Unchanged;
    // From the last on, so that the places of those before it hold.
    for part in parts.iter().rev() {
        let text = match &left {
            Left::Unchanged => body,
            Left::Text(text) => text,
            Left::Nothing => return left,
        };
        let start = text[..part.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[part.end..].find('\n').map_or(text.len(), |at| {
            let at = part.end + at;
            if text[..at].ends_with('\r') {
                at - 1
            } else {
                at
            }
        });
        let newline = newline_of(&text[start..]);
        left = without_block(text, start..end, newline, newline);
    }
    left
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SERVER: Entry = Entry(&[
        ("command", Field::Text("tm")),
        ("args", Field::List(&["mcp", "--tools", "autopilot"])),
    ]);
    const TABLE: &str =
        "[mcp_servers.tramline]\ncommand = \"tm\"\nargs = [\"mcp\", \"--tools\", \"autopilot\"]";

    fn with(text: &str) -> String {
        with_entry(Some(text), "mcp_servers", &SERVER)
            .unwrap_or_else(|error| panic!("{error:?}: {text:?}"))
    }

    #[test]
    fn a_new_document_is_a_table_alone() {
        let new = with_entry(None, "mcp_servers", &SERVER).unwrap();
        assert_eq!(new, format!("{TABLE}\n"));
        assert_eq!(without_entry(&new, "mcp_servers").unwrap(), Left::Nothing);
    }

    #[test]
    fn awkward_documents_come_back_to_the_byte() {
        for text in [
            "",
            "\u{feff}",
            "\n",
            "# nothing yet",
            "# nothing yet\n\n",
            "model = \"x\"\n",
            "model = \"x\"",
            "model = \"x\"\r\n# end\r\n",
            "\u{feff}model = \"x\"\r\n",
            "[a]\nb = { c = 1, d = [1,\n2] } # why\n\n\n[mcp_servers]\n",
            "[mcp_servers.other] # theirs\ncommand = 'x'\n\t[mcp_servers.other.env]\n\tA = \"b\"",
            "mcp_servers.other.command = \"x\"\n",
            "[[list]]\na = 1\n[[list]]\na = 2\n",
            "mcp_servers = {}\n",
            "mcp_servers = { }\n",
            "mcp_servers = { a = { command = \"x\" } } # inline\nb = 1\n",
            "mcp_servers = {a={command=\"x\"},b.command=\"y\"}",
            "mcp_servers = {b.command=\"y\", b.c.d = 1, a=1 }",
            "mcp_servers = {\n  a = 1, # one\n}\n",
        ] {
            let new = with(text);
            assert!(has_entry(&new, "mcp_servers").unwrap(), "{new:?}");
            assert_eq!(with(&new), new, "a second time changes nothing");
            let left = without_entry(&new, "mcp_servers").unwrap();
            assert_eq!(left, Left::Text(text.to_owned()), "{new:?}");
        }
    }

    /// Lines that can follow each other in any order, if `N` is another number in each.
    const LINES: [&str; 10] = [
        "",
        "  # note, = { [ \"",
        "keyN = 1",
        "keyN = { a = 1, b.c = [ # in\n 1,\n] } # behind",
        "keyN = '''\n[mcp_servers.tramline]\n'''",
        "[tableN]",
        "  [mcp_servers.otherN] # theirs",
        "[mcp_servers.otherN.env]",
        "[[listN.deep]]",
        "\"mcp servers\".tramline.keyN = 1",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_document_comes_back_to_the_byte(
            lines in proptest::collection::vec(0..LINES.len(), 0..8),
            crlf: bool,
            marked: bool,
            ended: bool,
        ) {
            let mut text = String::new();
            for (number, line) in lines.iter().enumerate() {
                text.push_str(&LINES[*line].replace('N', &number.to_string()));
                if ended || number + 1 < lines.len() {
                    text.push('\n');
                }
            }
            if crlf {
                text = text.replace('\n', "\r\n");
            }
            if marked {
                text.insert(0, '\u{feff}');
            }
            let new = with(&text);
            prop_assert!(has_entry(&new, "mcp_servers").unwrap());
            prop_assert_eq!(&with(&new), &new);
            prop_assert_eq!(without_entry(&new, "mcp_servers").unwrap(), Left::Text(text));
        }
    }

    #[test]
    fn the_form_is_that_of_the_file() {
        assert_eq!(with("a = 1\n"), format!("a = 1\n\n{TABLE}\n"));
        assert_eq!(
            with("a = 1\r\n"),
            format!("a = 1\n\n{TABLE}\n").replace('\n', "\r\n")
        );
        assert_eq!(
            with("mcp_servers = { a = {} }"),
            "mcp_servers = { a = {}, tramline = { command = \"tm\", args = [\"mcp\", \"--tools\", \"autopilot\"] } }"
        );
    }

    #[test]
    fn a_changed_entry_is_replaced_wherever_it_stands() {
        for (text, expected) in [
            (
                "[mcp_servers.tramline]\ncommand = \"other\"\n\n[mcp_servers.tramline.env]\nA = \"b\"\n\n# theirs\n[z]\n",
                format!("\n# theirs\n[z]\n\n{TABLE}\n"),
            ),
            (
                "[mcp_servers]\ntramline = { command = \"x\" }\nother = 1\n",
                format!("[mcp_servers]\nother = 1\n\n{TABLE}\n"),
            ),
            (
                "[mcp_servers]\ntramline.command = \"x\" # why\ntramline.args = []\n",
                format!("[mcp_servers]\n\n{TABLE}\n"),
            ),
            (
                "[mcp_servers.tramline]\ncommand = \"x\"\n",
                format!("{TABLE}\n"),
            ),
            (
                "mcp_servers = { tramline = { command = \"x\" }, b = {} }",
                "mcp_servers = { b = {}, tramline = { command = \"tm\", args = [\"mcp\", \"--tools\", \"autopilot\"] } }".to_owned(),
            ),
        ] {
            assert_eq!(with(text), expected, "{text}");
        }
        // The same in another form is no change.
        let text = "[mcp_servers]\ntramline = { args = ['mcp', '--tools', 'autopilot'], command = 'tm' }\n";
        assert_eq!(with(text), text);
    }

    #[test]
    fn what_cannot_be_used_is_told_with_its_place() {
        for (text, line, problem) in [
            ("a = 1\nb = \n", 2, ""),
            ("a = 1\na = 2\n", 2, "duplicate key"),
            ("\nmcp_servers = 1\n", 2, "`mcp_servers` is not a table"),
            ("[[mcp_servers]]\n", 1, "`mcp_servers` is not a table"),
            ("mcp_servers = { tramline.command = 1 }\n", 1, "dotted keys"),
        ] {
            let error = with_entry(Some(text), "mcp_servers", &SERVER).unwrap_err();
            assert_eq!(error.line, line, "{text:?}: {error:?}");
            assert!(error.problem.contains(problem), "{error:?}");
            assert!(!error.problem.contains('\n'), "{error:?}");
        }
        let deep = format!("a = {}", "[".repeat(100_000));
        assert!(with_entry(Some(&deep), "mcp_servers", &SERVER).is_err());
    }
}
