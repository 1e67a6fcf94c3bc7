//! Expectations that a runner writes: the entries of files of snapshots.

use std::collections::BTreeMap;

use crate::capability::tests::difference::Protected;

/// What a file of snapshots asks for, by the names of its entries. A file without any is one entry without a name.
type Entries = BTreeMap<String, String>;

/// What became of a file of snapshots, and the names of the entries that came, each with the file's.
pub(super) fn compared(
    path: &str,
    was: Option<&str>,
    is: Option<&str>,
) -> (Protected, Vec<String>) {
    let (before, now) = (
        entries(was.unwrap_or_default()),
        entries(is.unwrap_or_default()),
    );
    let is_lost = |(name, asked): (&String, &String)| now.get(name) != Some(asked);
    let came = now.keys().filter(|name| !before.contains_key(*name));
    let came: Vec<String> = came.map(|name| of(path, name)).collect();
    let protected = match (is, before.iter().any(is_lost)) {
        (None, true) => Protected::Deleted,
        (_, true) => Protected::Changed,
        _ if came.is_empty() => Protected::Form,
        _ => Protected::Added,
    };
    (protected, came)
}

/// An entry of a file, for people.
fn of(path: &str, name: &str) -> String {
    if name.is_empty() {
        path.to_owned()
    } else {
        format!("{path} ({name})")
    }
}

/// The entries of a file: of Jest and Vitest, where each is an export; of syrupy, where each has a name in a comment; else
/// all that is behind the head of a file of insta. A file that has more than its runner writes is one entry without a name.
fn entries(text: &str) -> Entries {
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
