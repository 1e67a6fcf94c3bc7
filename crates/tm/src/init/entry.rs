//! The entry of our server in a client's settings: its fields, and how they are written.

use std::fmt::Write as _;

/// The name of the entry.
pub const NAME: &str = "tramline";

/// A value in an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// A string.
    Text(&'static str),
    /// A list of strings.
    List(&'static [&'static str]),
    /// Yes or no.
    Flag(bool),
}

/// What stands in a client's settings under [`NAME`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry(pub &'static [(&'static str, Field)]);

impl Field {
    /// As JSON, and as TOML: what an entry is made of is written alike in both.
    fn text(self) -> String {
        match self {
            Self::Text(text) => format!("\"{text}\""),
            Self::List(texts) => {
                let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
                format!("[{}]", quoted.join(", "))
            }
            Self::Flag(flag) => flag.to_string(),
        }
    }
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

    const ENTRY: Entry = Entry(&[
        ("command", Field::Text("tm")),
        ("args", Field::List(&["mcp", "--tools"])),
        ("enabled", Field::Flag(true)),
    ]);

    #[test]
    fn every_form_says_the_same() {
        let expected =
            serde_json::json!({"command": "tm", "args": ["mcp", "--tools"], "enabled": true});
        for text in [ENTRY.json_line(), ENTRY.json_block("  ", "\t", "\r\n")] {
            let read: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(read, expected);
        }
        let table = format!("{}\n", ENTRY.toml_table("a", "\n"));
        let inline = format!("a.tramline = {}\n", ENTRY.toml_inline());
        for text in [table, inline] {
            let read: toml_edit::DocumentMut = text.parse().unwrap();
            let entry = &read["a"]["tramline"];
            assert_eq!(entry["command"].as_str(), Some("tm"));
            assert_eq!(entry["args"][1].as_str(), Some("--tools"));
            assert_eq!(entry["enabled"].as_bool(), Some(true));
        }
    }
}
