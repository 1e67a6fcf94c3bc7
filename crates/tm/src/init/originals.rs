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

/// Keeps what these files held, each under the hash of its place and of what it is going to hold.
pub fn keep(store: &Path, changes: &[Change]) -> io::Result<()> {
    for change in changes {
        if let (Some(before), Some(after)) = (&change.before, &change.after) {
            fs::create_dir_all(folder(store))?;
            derived::replace_if_changed(&place(store, &change.real, after), before.as_bytes())?;
        }
    }
    Ok(())
}

/// The original of the file at `real` that holds `now`, where it says the same as what is `left` of it without our entries.
pub fn find(store: &Path, real: &Path, now: &str, left: &str) -> Option<String> {
    let mut steps = back(store, real, now);
    steps
        .find(|(_, before)| says_the_same(before, left))
        .map(|(_, before)| before)
}

/// Removes what is kept of files that were given back.
pub fn forget(store: &Path, changes: &[Change]) {
    for change in changes {
        let before = change.before.as_deref().unwrap_or_default();
        let kept: Vec<_> = back(store, &change.real, before).collect();
        for (copy, _) in kept {
            // One that stays is of use to nobody, and does no harm.
            let _ = fs::remove_file(copy);
        }
    }
}

/// The copies that are kept of a file, back from what it holds `now`: where each lies, and what it says.
fn back(store: &Path, real: &Path, now: &str) -> impl Iterator<Item = (PathBuf, String)> {
    let step = |text: &str| {
        let copy = place(store, real, text);
        let before = fs::read_to_string(&copy).ok()?;
        Some((copy, before))
    };
    std::iter::successors(step(now), move |(_, text)| step(text)).take(MOST_STEPS)
}

fn folder(store: &Path) -> PathBuf {
    store.join("init")
}

fn place(store: &Path, real: &Path, text: &str) -> PathBuf {
    let whole = [real.as_os_str().as_encoded_bytes(), b"\0", text.as_bytes()].concat();
    folder(store).join(journal::sha256_hex(&whole))
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
        let file = Path::new("a");
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
                    let found = find(store.path(), file, now, &left);
                    assert_eq!(found.as_deref(), Some(before), "{left}");
                    // What its user wrote since is not lost.
                    let more = now.replacen('{', "{\"more\": 1,", 1);
                    assert_eq!(find(store.path(), file, &more, &left), None);
                    assert_eq!(find(store.path(), file, now, "{\"more\": 1}"), None);
                    // Nor does a file come back in the place of another.
                    assert_eq!(find(store.path(), Path::new("b"), now, &left), None);
                }
                forget(store.path(), &[change(&later, before)]);
                assert_eq!(fs::read_dir(folder(store.path())).unwrap().count(), 0);
            }
        }
    }
}
