//! The test binaries of a Rust package, as cargo announces them, and what the tests in them are called.

use std::collections::HashMap;

/// A binary that cargo says it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binary {
    /// `shop`, `bin/shop`, `api`: without the hash, which is another one after each change of the compiler or its flags.
    pub(crate) name: String,
    /// The file of its root, where the tests are in that one file: `tests/api.rs`.
    file: Option<String>,
    /// Whether it is the documentation of a crate.
    documentation: bool,
}

/// The binary in a line such as `Running unittests src/lib.rs (target/debug/deps/shop-0a1b2c3d4e5f6071)` or `Doc-tests shop`.
pub(crate) fn announced(line: &str) -> Option<Binary> {
    // Cargo sets its verbs flush right at the twelfth column: what a test prints is hardly ever so.
    let indent = line.len() - line.trim_start_matches(' ').len();
    let line = line.trim();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return (indent == 3 && !name.contains(' ')).then(|| Binary {
            name: format!("{name} doc"),
            file: None,
            documentation: true,
        });
    }
    let rest = line.strip_prefix("Running ").filter(|_| indent == 5)?;
    let (root, path) = match rest.strip_suffix(')').and_then(|r| r.split_once('(')) {
        Some((root, path)) => (root.trim(), path),
        None => ("", rest.trim_matches('`')),
    };
    let root = root.strip_prefix("unittests").unwrap_or(root).trim();
    let name = path.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let (name, hash) = name.rsplit_once('-')?;
    if name.is_empty() || hash.len() != 16 || !hash.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let slashed = root.replace('\\', "/");
    let name = if slashed.ends_with("src/main.rs") || slashed.contains("src/bin/") {
        format!("bin/{name}")
    } else if slashed.starts_with("examples/") {
        format!("example/{name}")
    } else if slashed.starts_with("benches/") {
        format!("bench/{name}")
    } else {
        name.to_owned()
    };
    let file = slashed.starts_with("tests/").then(|| root.to_owned());
    Some(Binary {
        name,
        file,
        documentation: false,
    })
}

/// The binary of a crate that could not be compiled, as in: could not compile `shop` (test "api") due to 1 previous error.
pub(crate) fn uncompiled(line: &str) -> Option<String> {
    let rest = line
        .trim_start()
        .strip_prefix("error: could not compile `")?;
    let (package, rest) = rest.split_once('`')?;
    let target = rest
        .split_once('(')
        .and_then(|(_, target)| target.split_once(')'))
        .map_or("", |(target, _)| target);
    let quoted = target.split('"').nth(1);
    Some(match (target.split(' ').next(), quoted) {
        (Some("test"), Some(name)) => name.replace('-', "_"),
        (Some(kind @ ("bin" | "example" | "bench")), Some(name)) => {
            format!("{kind}/{}", name.replace('-', "_"))
        }
        _ => package.replace('-', "_"),
    })
}

/// A name such as `src/lib.rs - add (line 5)`, in its parts. Other tests have no such name.
fn documented(name: &str) -> Option<(&str, &str, u64)> {
    let (path, line) = name.strip_suffix(')')?.rsplit_once("(line ")?;
    let line = line.parse().ok()?;
    let (file, _) = path.split_once(" - ")?;
    Some((path.trim_end().trim_end_matches(" -"), file, line))
}

/// Whether a test of the harness of Rust can be called so: by a path of identifiers, or by a place in the documentation.
pub(crate) fn is_name(name: &str) -> bool {
    documented(name).is_some()
        || !name.is_empty()
            && name
                .split("::")
                .all(|part| part.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

/// What the tests of one binary are called in a report, and the files they are in, in the order of `names`.
///
/// The line of a documentation test moves with every edit above it, so it is left out, and tests of one item are numbered by it.
pub(crate) fn ids(binary: Option<&Binary>, names: &[&str]) -> Vec<(String, Option<String>)> {
    let mut lines: HashMap<&str, Vec<u64>> = HashMap::new();
    for (path, _, line) in names.iter().filter_map(|name| documented(name)) {
        lines.entry(path).or_default().push(line);
    }
    for of_one in lines.values_mut() {
        of_one.sort_unstable();
        of_one.dedup();
    }
    let prefix = |name: &str| match binary {
        Some(binary) if binary.documentation => format!("{} {name}", binary.name),
        Some(binary) => format!("{}::{name}", binary.name),
        None => name.to_owned(),
    };
    let file = binary.and_then(|binary| binary.file.clone());
    names
        .iter()
        .map(|name| {
            let Some((path, file, line)) = documented(name) else {
                return (prefix(name), file.clone());
            };
            let before = lines
                .get(path)
                .and_then(|lines| lines.binary_search(&line).ok());
            let id = match before {
                Some(before @ 1..) => prefix(&format!("{path} #{}", before + 1)),
                _ => prefix(path),
            };
            (id, Some(file.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_compiled_is_called_like_the_tests_in_it() {
        for (line, wanted) in [
            (
                r#"error: could not compile `my-shop` (test "api") due to 1 previous error"#,
                "api",
            ),
            (
                "error: could not compile `my-shop` (lib test) due to 2 previous errors",
                "my_shop",
            ),
            (
                r#"error: could not compile `shop` (bin "till" test) due to 2 previous errors"#,
                "bin/till",
            ),
            ("error: could not compile `shop`", "shop"),
        ] {
            assert_eq!(uncompiled(line).as_deref(), Some(wanted), "{line}");
        }
        assert_eq!(uncompiled("error: aborting"), None);
    }
}
