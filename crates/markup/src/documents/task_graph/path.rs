//! Paths of files, so that one file is always written alike.

/// The path without steps that lead nowhere. Nothing is looked up: `a/../b` is `b`.
pub(super) fn normal(written: &str) -> String {
    let written = written.trim().trim_matches('`').trim();
    let turned;
    let written = if written.contains('/') || !written.contains('\\') {
        written
    } else {
        turned = written.replace('\\', "/");
        &turned
    };
    let mut steps: Vec<&str> = Vec::new();
    for step in written.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => {
                steps.pop();
            }
            ".." if written.starts_with('/') => {}
            step => steps.push(step),
        }
    }
    let path = steps.join("/");
    match (written.starts_with('/'), path.is_empty()) {
        (true, _) => format!("/{path}"),
        (false, true) if written.is_empty() => path,
        (false, true) => ".".to_owned(),
        (false, false) => path,
    }
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn one_file_has_one_path() {
        for (written, path) in [
            ("src/a.rs", "src/a.rs"),
            ("./src//a.rs", "src/a.rs"),
            ("a/../b", "b"),
            ("a/./b/", "a/b"),
            ("  src/a.rs ", "src/a.rs"),
            ("`src/a.rs`", "src/a.rs"),
            ("../shared/a.rs", "../shared/a.rs"),
            ("a/../../b", "../b"),
            ("../../b", "../../b"),
            ("/etc/../a", "/a"),
            ("/..", "/"),
            ("src\\windows\\a.rs", "src/windows/a.rs"),
            ("src/odd\\name.rs", "src/odd\\name.rs"),
            ("src/**/*.rs", "src/**/*.rs"),
            (".", "."),
            ("a/..", "."),
            ("", ""),
            (" ", ""),
            (".github/x.yml", ".github/x.yml"),
            ("...", "..."),
        ] {
            assert_eq!(normal(written), path, "{written:?}");
            assert_eq!(normal(path), path, "{path:?}");
        }
    }
}
