//! What builds and test runs leave behind. Only what is sure: a folder or a file that its tool has
//! marked, or whose name nothing else has.

use std::path::Path;

/// Products of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// One of the files.
    pub example: String,
    /// The line for `.gitignore`.
    pub ignore: String,
}

/// The products among `paths`, relative to `top`; one entry for each line of `.gitignore` that is
/// missing.
pub fn among(top: &Path, paths: &[String]) -> Vec<Product> {
    let mut found: Vec<Product> = Vec::new();
    for path in paths {
        if let Some(ignore) = ignore_line(top, path)
            && !found.iter().any(|known| known.ignore == ignore)
        {
            found.push(Product {
                example: path.clone(),
                ignore,
            });
        }
    }
    found
}

fn ignore_line(top: &Path, path: &str) -> Option<String> {
    let mut before = String::new();
    for part in path.split('/') {
        let here = if before.is_empty() {
            part.to_owned()
        } else {
            format!("{before}/{part}")
        };
        match part {
            "__pycache__" | "node_modules" | ".pytest_cache" | ".mypy_cache" | ".ruff_cache"
            | ".tox" | ".gradle" => return Some(format!("{part}/")),
            // Marked by cargo and others: https://bford.info/cachedir/
            "target" if top.join(&here).join("CACHEDIR.TAG").is_file() => {
                return Some("target/".to_owned());
            }
            _ if top.join(&here).join("pyvenv.cfg").is_file() => {
                return Some(format!("{part}/"));
            }
            _ => {}
        }
        before = here;
    }
    if Path::new(path)
        .extension()
        .is_some_and(|ending| ending == "pyc")
    {
        return Some("*.pyc".to_owned());
    }
    (path == ".coverage" || path.ends_with("/.coverage")).then(|| ".coverage".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_sure_is_a_product() {
        let top = tempfile::tempdir().unwrap();
        for folder in ["target/debug", "crates/a/target", "env"] {
            std::fs::create_dir_all(top.path().join(folder)).unwrap();
        }
        std::fs::write(top.path().join("target/CACHEDIR.TAG"), "x").unwrap();
        std::fs::write(top.path().join("env/pyvenv.cfg"), "x").unwrap();
        let paths: Vec<String> = [
            "src/lib.rs",
            "target/debug/a",
            "target/debug/b",
            "crates/a/target/notes.md",
            "a/__pycache__/m.pyc",
            "env/bin/python",
            "docs/target.md",
        ]
        .map(str::to_owned)
        .to_vec();
        let lines: Vec<String> = among(top.path(), &paths)
            .into_iter()
            .map(|found| found.ignore)
            .collect();
        assert_eq!(lines, ["target/", "__pycache__/", "env/"]);
    }
}
