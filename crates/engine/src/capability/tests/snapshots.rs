//! Expectations that a runner writes: snapshots that are new, and those of before that ask for something else now.

use std::collections::BTreeMap;

use serde_json::Value;
use workspace::convention::inline_tests::is_snapshot;
use workspace::git::{Change, RepoPath};

use crate::capability::git::read::{finding, with_files};
use crate::capability::tests::evidence::is_meant;
use crate::capability::tests::former::FormerTests;
use crate::capability::tests::read::{Comparison, few, name_of};
use crate::capability::tests::restoration::in_brackets;
use crate::next_step::{Argument, NextStep};
use crate::support::HandlerError;

/// What a report of passing tests says of snapshots that came with it, or were updated.
pub(crate) const SNAPSHOTS: &str = "snapshots";

/// What a file of snapshots asks for, by the names of its entries. A file without any is one entry without a name.
type Entries = BTreeMap<String, String>;

impl Comparison<'_> {
    /// Holds the files of snapshots against what they were when the tests were frozen.
    pub(super) fn snapshots(&mut self, former: &FormerTests<'_>) -> Result<(), HandlerError> {
        let mut here: BTreeMap<&RepoPath, Entries> = BTreeMap::new();
        let mut before: BTreeMap<&RepoPath, Entries> = BTreeMap::new();
        for path in self.since.files.iter().flat_map(Change::paths) {
            if is_snapshot(&path.to_string()) {
                let now = std::fs::read(self.repository.absolute(path)).unwrap_or_default();
                here.insert(path, entries(&String::from_utf8_lossy(&now)));
                before.insert(path, entries(&former.text(path)?.unwrap_or_default()));
            }
        }
        let mut changed = Vec::new();
        let mut files = Vec::new();
        for (path, before) in &before {
            let now = &here[path];
            // With its test a file moves.
            let is_moved = !before.is_empty()
                && now.is_empty()
                && here.values().any(|entries| entries == before);
            let lost = before
                .iter()
                .filter(|(name, asked)| now.get(*name) != Some(asked));
            let lost: Vec<String> = lost.map(|(name, _)| of(path, name)).collect();
            if !is_moved && !lost.is_empty() {
                if self.is_updated(path) {
                    self.written.extend(lost);
                } else {
                    changed.extend(lost);
                    files.push(*path);
                }
            }
            let is_new = |(name, _): &(&String, &String)| !before.contains_key(*name);
            let new = now.iter().filter(is_new);
            self.written.extend(new.map(|(name, _)| of(path, name)));
        }
        if !changed.is_empty() {
            let mut back = Vec::new();
            for path in &files {
                if self.repository.file_at(self.last, path)?.is_some() {
                    back.push(self.restored(path));
                }
            }
            let back = in_brackets(&back);
            let again = NextStep::report(self.role, self.key, self.taken.level());
            let found = finding(
                "snapshots_changed",
                format!(
                    "snapshots that were there before {} ask for something else now, or are gone: {}",
                    name_of(self.role.against.as_ref()),
                    few(&changed)
                ),
                format!(
                    "put them back{back}, and have the code give what they ask for; where this subtask is to change it, say so for each file with {updated}, and report again: {report}",
                    updated = Argument("updated"),
                    report = files
                        .iter()
                        .map(|path| self.repository.name_in_scope(path))
                        .fold(again, |again, path| again.with("updated", path))
                ),
            );
            self.findings.push(with_files(found, &changed));
        }
        Ok(())
    }

    /// Whether a file of snapshots was said to ask for something else on purpose.
    fn is_updated(&self, path: &RepoPath) -> bool {
        let own = self.repository.name_in_scope(path);
        let whole = path.to_string();
        let mut said = self.taken.updated.iter();
        said.any(|said| {
            let said = said.strip_prefix("./").unwrap_or(said);
            is_meant(said, &own) || is_meant(said, &whole)
        })
    }

    /// Says what a runner has written down as right.
    pub(super) fn tell_of_snapshots(&mut self) {
        if self.written.is_empty() {
            return;
        }
        let told: Vec<Value> = self.written.iter().map(|at| at.as_str().into()).collect();
        self.facts.insert(SNAPSHOTS.to_owned(), told.into());
        self.warnings.push("snapshots_written".to_owned());
    }
}

/// An entry of a file, for people.
fn of(path: &RepoPath, name: &str) -> String {
    if name.is_empty() {
        path.to_string()
    } else {
        format!("{path} ({name})")
    }
}

/// The entries of a file: of Jest and Vitest, where each is an export; of syrupy, where each has a name in a comment; else
/// all that is behind the head of a file of insta. A file that has more than its runner writes is one entry without a name.
pub(super) fn entries(text: &str) -> Entries {
    if text.is_empty() {
        return Entries::new();
    }
    let whole = || Entries::from([(String::new(), text.trim().to_owned())]);
    if text.lines().any(|line| line.starts_with("exports[")) {
        return exports(text).unwrap_or_else(whole);
    }
    if text.lines().any(|line| line.starts_with("# name:")) {
        return named(text).unwrap_or_else(whole);
    }
    let body = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(text, |(_, body)| body);
    Entries::from([(String::new(), body.trim_end().to_owned())])
}

/// The entries of Jest and Vitest; none where something else stands among them, such as code.
fn exports(text: &str) -> Option<Entries> {
    let mut entries = Entries::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(['\n', '\r']);
        if rest.is_empty() {
            return Some(entries);
        }
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        let (name, behind) = template(rest.strip_prefix("exports[")?)?;
        let (asked, behind) = template(behind.strip_prefix("] = ")?)?;
        rest = behind.strip_prefix(';')?;
        if !rest.is_empty() && !rest.starts_with(['\n', '\r']) {
            return None;
        }
        let is_known = entries.insert(name.to_owned(), asked.to_owned()).is_some();
        if is_known {
            return None;
        }
    }
}

/// What stands between backticks, and what is behind them; none where it is computed, or written in a way that runners do not.
fn template(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('`')?;
    let mut letters = inner.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '`' => return Some((&inner[..at], &inner[at + 1..])),
            '\\' if !matches!(letters.next()?.1, '`' | '\\' | '$') => return None,
            '$' if inner[at..].starts_with("${") => return None,
            _ => {}
        }
    }
    None
}

/// The entries of syrupy; none where two have one name.
fn named(text: &str) -> Option<Entries> {
    let mut entries = Entries::new();
    let mut name: Option<String> = None;
    for line in text.lines() {
        if let Some(begun) = line.strip_prefix("# name:") {
            let begun = begun.trim().to_owned();
            if entries.insert(begun.clone(), String::new()).is_some() {
                return None;
            }
            name = Some(begun);
        } else if let Some(entry) = name.as_ref().and_then(|name| entries.get_mut(name)) {
            entry.push_str(line);
            entry.push('\n');
        }
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::entries;

    fn of(text: &str) -> Vec<(String, String)> {
        entries(text).into_iter().collect()
    }

    #[test]
    fn each_entry_has_its_name() {
        let jest = "// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n\nexports[`a renders 1`] = `\n<b>\n  x\n</b>\n`;\n\nexports[`b 1`] = `2`;\n";
        let names: Vec<String> = of(jest).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a renders 1", "b 1"]);
        // What stands behind is of no entry before it.
        let more = format!("{jest}\nexports[`c 1`] = `3`;\n");
        assert_eq!(of(&more)[..2], of(jest)[..]);
        let syrupy =
            "# serializer version: 1\n# name: test_a\n  'x'\n# ---\n# name: test_b\n  2\n# ---\n";
        assert_eq!(of(syrupy).len(), 2);
        let insta = "---\nsource: src/lib.rs\nassertion_line: 7\nexpression: a()\n---\nx\n";
        assert_eq!(of(insta), [(String::new(), "x".to_owned())]);
        assert_eq!(of(insta), of(&insta.replace('7', "9")));
        assert_ne!(of(insta), of(&insta.replace("\nx", "\ny")));
        assert!(of("").is_empty());
    }

    #[test]
    fn what_no_runner_writes_hides_no_entry() {
        let jest = "exports[`a 1`] = `2`;\n";
        for more in [
            "exports[`a 1`]=`3`;\n",
            "exports[`a\\u00201`] = `3`;\n",
            "exports[`a 1`] = `3`;\n",
            "exports[`b 1`] = exports[`a 1`] = `3`;\n",
            "exports[`b 1`] = `x`; exports[`a 1`] = `3`;\n",
            "exports[`b 1`] = `${exports[\"a 1\"]=3}`;\n",
        ] {
            let all = entries(&format!("{jest}{more}"));
            assert!(!all.contains_key("a 1"), "{more}");
        }
        let escaped = "exports[`a \\`b\\` 1`] = `\\${c} \\\\`;\n";
        assert_eq!(of(escaped).len(), 1);
        assert!(!of(escaped)[0].0.is_empty());
        let syrupy = "# name: a\n  1\n# ---\n# name:  a\n  2\n# ---\n";
        assert_eq!(of(syrupy)[0].0, "");
    }
}
