//! Files as they were before `tm init` changed them, kept in the user's store: a file that nobody has touched since comes
//! back to the byte, with the line breaks and the empty lists that it had.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use journal::derived;
use serde_json::Value;

use super::change::Change;
use super::hook;

/// At most so many changes of one file are followed back.
const MOST_STEPS: usize = 16;

/// Keeps what these files held, each under the hash of what it is going to hold.
pub fn keep(store: &Path, changes: &[Change]) -> io::Result<()> {
    for change in changes {
        if let (Some(before), Some(after)) = (&change.before, &change.after) {
            fs::create_dir_all(folder(store))?;
            derived::replace_if_changed(&place(store, after), before.as_bytes())?;
        }
    }
    Ok(())
}

/// The original of a file that holds `now`, where it says the same as what is `left` of it without our entries.
pub fn find(store: &Path, now: &str, left: &str) -> Option<String> {
    let mut text = now.to_owned();
    for _ in 0..MOST_STEPS {
        text = fs::read_to_string(place(store, &text)).ok()?;
        if says_the_same(&text, left) {
            return Some(text);
        }
    }
    None
}

fn folder(store: &Path) -> PathBuf {
    store.join("init")
}

fn place(store: &Path, text: &str) -> PathBuf {
    folder(store).join(journal::sha256_hex(text.as_bytes()))
}

/// Whether two texts differ in white space alone; of JSON, in lists and objects that hold nothing as well.
fn says_the_same(one: &str, other: &str) -> bool {
    let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
    let is_json = |text: &str| text.trim().is_empty() || hook::read(text).is_some();
    let value = |text: &str| hook::read(text).and_then(without_empty);
    without_blanks(one) == without_blanks(other)
        || is_json(one) && is_json(other) && value(one) == value(other)
}

fn without_empty(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) => {
            let left = map.into_iter();
            let left = left.filter_map(|(key, value)| Some((key, without_empty(value)?)));
            let left: serde_json::Map<_, _> = left.collect();
            (!left.is_empty()).then_some(Value::Object(left))
        }
        Value::Array(list) => {
            let left: Vec<Value> = list.into_iter().filter_map(without_empty).collect();
            (!left.is_empty()).then_some(Value::Array(left))
        }
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::Remainder;
    use super::*;
    use crate::hook::Client;

    #[test]
    fn a_file_comes_back_to_the_byte() {
        let store = tempfile::tempdir().unwrap();
        for before in [
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]},"a":[ ]}"#,
            "{\"hooks\": {}}",
            "{ }\n",
            "{\"hooks\": {\"PreToolUse\": [], // mine\n}}\n",
        ] {
            for client in [Client::ClaudeCode, Client::Codex, Client::Gemini] {
                let after = hook::with_hook(Some(before), client).unwrap();
                let change = |before: &str, after: &str| {
                    let owned = |text: &str| Some(text.to_owned());
                    Change::between("a", "a".into(), owned(before), owned(after)).unwrap()
                };
                // A second change of it, which is taken back alone.
                let later = after.replacen('{', "{ ", 1);
                let changes = [change(before, &after), change(&after, &later)];
                keep(store.path(), &changes).unwrap();
                for now in [&after, &later] {
                    let left = match hook::without_hook(now, client).unwrap() {
                        Remainder::Text(left) => left,
                        Remainder::Nothing => String::new(),
                        Remainder::Unchanged => panic!("{now}"),
                    };
                    let found = find(store.path(), now, &left);
                    assert_eq!(found.as_deref(), Some(before), "{left}");
                    // What its user wrote since is not lost.
                    let more = now.replacen('{', "{\"more\": 1,", 1);
                    assert_eq!(find(store.path(), &more, &left), None);
                    assert_eq!(find(store.path(), now, "{\"more\": 1}"), None);
                }
            }
        }
    }
}
