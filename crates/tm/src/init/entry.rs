//! The entry of our server in a client's settings: its fields, and how they are written.

use std::fmt::Write as _;

/// The name of the entry.
pub const NAME: &str = "tramline";

/// The program that is the server.
const PROGRAM: &str = "tm";

/// The fields by which clients call a server that runs elsewhere. Such an entry is no command, and cannot be made one
/// without throwing away what its user wants.
pub const ADDRESSES: [&str; 3] = ["url", "httpUrl", "serverUrl"];

/// The field that holds the command.
pub const COMMAND: &str = "command";

/// A value in an entry, and what of it makes the entry ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The program. By which path is up to the user.
    Program,
    /// The program, of which the same holds, and its arguments, in one list.
    CommandLine(&'static [&'static str]),
    /// This string.
    Text(&'static str),
    /// The arguments of our program, of which those are the user's that are more.
    Arguments(&'static [&'static str]),
    /// These strings, and whatever else the user wants.
    Holds(&'static [&'static str]),
    /// A value that begins as this JSON, and is up to the user.
    Default(&'static str),
}

/// A value as it is found in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExistingEntry<'t> {
    /// A string.
    Text(&'t str),
    /// A list of nothing but strings.
    List(Vec<&'t str>),
    /// Anything else.
    Other,
}

/// What stands in a client's settings under [`NAME`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry(pub &'static [(&'static str, Field)]);

impl Field {
    /// As JSON, and as TOML: what an entry is made of is written alike in both.
    pub fn text(self) -> String {
        match self {
            Self::Program => quoted(PROGRAM),
            Self::Text(text) => quoted(text),
            Self::CommandLine(arguments) => command_line(PROGRAM, arguments.iter().copied()),
            Self::Arguments(texts) | Self::Holds(texts) => list(texts.iter().copied()),
            Self::Default(json) => json.to_owned(),
        }
    }

    /// The value to put in the place of one that is there or missing; `None` if that one can stay.
    pub fn instead_of(self, found: Option<&ExistingEntry<'_>>) -> Option<String> {
        let stays = match (self, found) {
            (_, None) => false,
            // What is no list of words is more than we would write, and the user's.
            (Self::Default(_), _) | (Self::Holds(_), Some(ExistingEntry::Other)) => true,
            (Self::Program, Some(ExistingEntry::Text(found))) => is_program(found),
            (Self::Text(text), Some(ExistingEntry::Text(found))) => *found == text,
            (Self::Arguments(wanted), Some(ExistingEntry::List(found))) => {
                return instead_of_arguments(wanted, found)
                    .map(|words| list(words.iter().map(String::as_str)));
            }
            (Self::Holds(wanted), Some(ExistingEntry::List(found))) => {
                let missing: Vec<&str> = wanted
                    .iter()
                    .copied()
                    .filter(|word| !found.contains(word))
                    .collect();
                return (!missing.is_empty()).then(|| list(found.iter().copied().chain(missing)));
            }
            (Self::CommandLine(arguments), Some(ExistingEntry::List(found))) => {
                match found.split_first() {
                    Some((program, _)) if !is_program(program) => false,
                    Some((program, rest)) => {
                        return instead_of_arguments(arguments, rest)
                            .map(|words| command_line(program, words.iter().map(String::as_str)));
                    }
                    None => false,
                }
            }
            _ => false,
        };
        (!stays).then(|| self.text())
    }
}

/// Whether a command is our program, by name or by path. A path from where the client works is a file of the project,
/// which whoever changes the project changes.
fn is_program(command: &str) -> bool {
    let is_of_project = command.contains('/') && !command.starts_with(['/', '~', '$']);
    command.rsplit('/').next() == Some(PROGRAM) && !is_of_project
}

fn command_line<'t>(program: &'t str, arguments: impl Iterator<Item = &'t str>) -> String {
    list([program].into_iter().chain(arguments))
}

/// The option that names groups of tools.
const TOOLS: &str = "--tools";

/// The arguments to put in the place of those that are there: groups of tools that the instructions speak of and that are
/// missing are added, and everything else stays. `None` if they can stay.
fn instead_of_arguments(wanted: &[&str], found: &[&str]) -> Option<Vec<String>> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    if found.first() != wanted.first() {
        return Some(owned(wanted));
    }
    let groups = |words: &[&str]| -> Vec<String> {
        let mut groups = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let given = match word.strip_prefix(TOOLS) {
                Some("") => words.get(at + 1).copied(),
                Some(rest) => rest.strip_prefix('='),
                None => None,
            };
            groups.extend(given.into_iter().flat_map(|given| given.split(',')));
        }
        groups.into_iter().map(str::to_owned).collect()
    };
    let there = groups(found);
    let missing: Vec<String> = groups(wanted)
        .into_iter()
        .filter(|group| !there.contains(group))
        .collect();
    // Without the option all groups are served.
    if there.is_empty() || missing.is_empty() {
        return None;
    }
    let mut words: Vec<String> = owned(found);
    let more = format!(",{}", missing.join(","));
    let first = words.iter().position(|word| word.starts_with(TOOLS))?;
    let at = if words[first] == TOOLS {
        first + 1
    } else {
        first
    };
    words.get_mut(at)?.push_str(&more);
    Some(words)
}

fn list<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let quoted: Vec<String> = texts.map(quoted).collect();
    format!("[{}]", quoted.join(", "))
}

/// A string of JSON, which is one of TOML as well.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Entry {
    /// As a JSON object on one line.
    pub fn json_line(&self) -> String {
        let fields: Vec<String> = self
            .0
            .iter()
            .map(|(key, field)| format!("\"{key}\": {}", field.text()))
            .collect();
        format!("{{{}}}", fields.join(", "))
    }

    /// As a JSON object on several lines, the last of which is indented by `indent`.
    pub fn json_block(&self, indent: &str, unit: &str, newline: &str) -> String {
        let fields: Vec<String> = self
            .0
            .iter()
            .map(|(key, field)| format!("{indent}{unit}\"{key}\": {}", field.text()))
            .collect();
        let between = format!(",{newline}");
        format!("{{{newline}{}{newline}{indent}}}", fields.join(&between))
    }

    /// As a TOML inline table.
    pub fn toml_inline(&self) -> String {
        let fields: Vec<String> = self
            .0
            .iter()
            .map(|(key, field)| format!("{key} = {}", field.text()))
            .collect();
        format!("{{ {} }}", fields.join(", "))
    }

    /// As a TOML table in `section`, without the end of its last line.
    pub fn toml_table(&self, section: &str, newline: &str) -> String {
        let mut text = format!("[{section}.{NAME}]");
        for (key, field) in self.0 {
            // Writing to a string cannot fail.
            let _ = write!(text, "{newline}{key} = {}", field.text());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_may_choose_stays() {
        use ExistingEntry::{List, Other, Text};
        let check = |field: Field, rows: &[(ExistingEntry<'_>, Option<&str>)]| {
            for (found, expected) in rows {
                let instead = field.instead_of(Some(found));
                assert_eq!(instead.as_deref(), *expected, "{field:?} {found:?}");
            }
        };
        let ours = Some("\"tm\"");
        check(
            Field::Program,
            &[
                (Text("tm"), None),
                (Text("/opt/x y/tm"), None),
                (Text("${HOME}/bin/tm"), None),
                (Text("/opt/atm"), ours),
                (Text("tm/"), ours),
                (List(vec!["tm"]), ours),
                // A program of the project is whoever changes it.
                (Text("bin/tm"), ours),
            ],
        );
        let ours = Some(r#"["tm", "mcp"]"#);
        check(
            Field::CommandLine(&["mcp"]),
            &[
                (List(vec!["/opt/tm", "mcp"]), None),
                (List(vec!["./tm", "mcp"]), ours),
                (List(vec!["/\"/tm", "x"]), Some(r#"["/\"/tm", "mcp"]"#)),
                (List(vec!["x", "mcp"]), ours),
                (List(vec![]), ours),
                (Other, ours),
            ],
        );
        let (same, other) = ((Text("a"), None), (Text("b"), Some("\"a\"")));
        check(Field::Text("a"), &[same, other]);
        check(
            Field::Default("[]"),
            &[(List(vec!["a"]), None), (Other, None)],
        );
        let ours = Some(r#"["mcp", "--tools", "a,b"]"#);
        let with_more = r#"["mcp", "--tools", "a,b", "--project-root", "x"]"#;
        check(
            Field::Arguments(&["mcp", "--tools", "a,b"]),
            &[
                (List(vec!["mcp"]), None),
                (List(vec!["mcp", "--tools", "a,b,run"]), None),
                (
                    List(vec!["mcp", "--tools", "a", "--project-root", "x"]),
                    Some(with_more),
                ),
                (
                    List(vec!["mcp", "--tools=c"]),
                    Some(r#"["mcp", "--tools=c,a,b"]"#),
                ),
                (List(vec!["serve"]), ours),
                (Other, ours),
            ],
        );
        check(
            Field::Holds(&["A"]),
            &[
                (Other, None),
                (List(vec!["B", "A"]), None),
                (List(vec!["B"]), Some(r#"["B", "A"]"#)),
            ],
        );
        let missing = Field::Default("true").instead_of(None);
        assert_eq!(missing.as_deref(), Some("true"));
    }
}
