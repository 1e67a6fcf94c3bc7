//! Coverage of the lines that an item has changed.

use ::test_report::{FileCoverage, Metric};
use workspace::convention::paths::Language;
use workspace::git::{Oid, Repository};

use crate::capability::tests::difference::Difference;
use crate::fault::Fault;

/// How much of what was changed tests reach.
#[derive(Debug, Default)]
pub struct Reached {
    /// The lines that were added or changed.
    pub lines: Metric,
    /// The changed files of code that are not in the report: tests reach nothing of them.
    pub unreported: Vec<String>,
}

/// How many of the lines that were added or changed from one tree to another can be reached, and how many of them were; none where the report
/// tells of no line one by one. Files that it does not name, and that are no code or have no function, have nothing to reach.
pub fn reached<'c>(
    repository: &Repository,
    trees: (&Oid, &Oid),
    changes: impl Iterator<Item = &'c Difference>,
    covered: &[FileCoverage],
) -> Result<Option<Reached>, Fault> {
    if covered.iter().all(|file| file.hits.is_empty()) {
        return Ok(None);
    }
    let mut all = Reached::default();
    for change in changes.filter(|change| change.after.is_some()) {
        let name = change.path.to_string();
        let stretches = if change.before.is_none() {
            vec![(1, u32::MAX)]
        } else {
            repository.added_lines(trees, &change.path)?
        };
        let files = files_of(&name, covered);
        let text = repository
            .file_at(trees.1, &change.path)?
            .unwrap_or_default();
        let lines: Vec<bool> = if files.is_empty() && is_measured(&name, &text, covered) {
            let lines = (1..).zip(text.lines());
            let added = lines.filter(|(at, line)| {
                let mut stretches = stretches.iter();
                let is_added = stretches.any(|(first, last)| (first..=last).contains(&at));
                is_added && !line.trim().is_empty()
            });
            added.map(|_| false).collect()
        } else {
            let file = the_one(&files).into_iter();
            file.flat_map(|file| file.hits.within(&stretches)).collect()
        };
        if files.is_empty() && !lines.is_empty() {
            all.unreported.push(name);
        }
        all.lines.total += lines.len() as u64;
        all.lines.covered += lines.iter().filter(|is_reached| **is_reached).count() as u64;
    }
    Ok(Some(all))
}

/// Whether a file would be in the report if tests reached it: it is code, and has functions where files of its language may consist
/// of types alone.
fn is_measured(name: &str, text: &str, covered: &[FileCoverage]) -> bool {
    let ending = |name: &str| name.rsplit_once('.').map(|(_, ending)| ending.to_owned());
    match Language::of(name) {
        Some(Language::Go | Language::JavaScript | Language::Jvm | Language::Rust) => {
            syntax::outline(name, text).is_some_and(|outline| !outline.functions.is_empty())
        }
        Some(_) => true,
        None => covered
            .iter()
            .any(|file| ending(&file.path) == ending(name)),
    }
}

/// The files of the report that may be a file of the repository, each with how much of its path is the same. Tools write paths from
/// their own folder on, in full, or by package.
fn files_of<'c>(name: &str, covered: &'c [FileCoverage]) -> Vec<(usize, &'c FileCoverage)> {
    let name: Vec<&str> = name.rsplit('/').collect();
    let common = |file: &FileCoverage| {
        let path: Vec<&str> = file.path.rsplit(['/', '\\']).collect();
        let shortest = path.len().min(name.len());
        (path[..shortest] == name[..shortest]).then_some(shortest)
    };
    let mut fitting: Vec<(usize, &FileCoverage)> = covered
        .iter()
        .filter_map(|file| Some((common(file)?, file)))
        .collect();
    fitting.sort_by_key(|(common, _)| std::cmp::Reverse(*common));
    fitting
}

/// The one of them that has most in common; none where several do.
fn the_one<'c>(files: &[(usize, &'c FileCoverage)]) -> Option<&'c FileCoverage> {
    let mut files = files.iter().filter(|(_, file)| !file.hits.is_empty());
    let (best, file) = files.next()?;
    files
        .next()
        .is_none_or(|(next, _)| next < best)
        .then_some(*file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lcov: &str) -> Vec<FileCoverage> {
        let read = ::test_report::read_coverage(lcov.as_bytes(), None);
        read.unwrap().files
    }

    fn file_of<'c>(name: &str, covered: &'c [FileCoverage]) -> Option<&'c FileCoverage> {
        the_one(&files_of(name, covered))
    }

    #[test]
    fn code_is_measured() {
        let covered = read("SF:src/a.sh\nDA:1,1\nend_of_record\n");
        for (name, text) in [
            ("a.py", "VALUE = 1\n"),
            ("a.go", "package a\n\nfunc A() {}\n"),
            ("a.ts", "export const a = () => 1\n"),
            ("src/b.sh", "true\n"),
        ] {
            assert!(is_measured(name, text, &covered), "{name}");
        }
        for (name, text) in [
            ("a.go", "package a\n\ntype A struct{}\n"),
            ("a.ts", "export type A = string\n"),
            ("a.css", "a { color: red }\n"),
            ("Makefile", "all:\n"),
        ] {
            assert!(!is_measured(name, text, &covered), "{name}");
        }
    }

    #[test]
    fn a_file_is_found_as_tools_write_it() {
        let of = |paths: &[&str]| {
            let records = paths
                .iter()
                .map(|path| format!("SF:{path}\nDA:1,1\nend_of_record\n"));
            read(&records.collect::<String>())
        };
        for path in [
            "src/cart.js",
            "/home/a/shop/src/cart.js",
            "example.com/shop/src/cart.js",
        ] {
            let covered = of(&[path, "src/other.js"]);
            assert!(file_of("src/cart.js", &covered).is_some(), "{path}");
            assert!(files_of("lib/cart.js", &covered).is_empty(), "{path}");
        }
        // From the folder of a package on.
        let covered = of(&["src/cart.js"]);
        assert!(file_of("packages/shop/src/cart.js", &covered).is_some());
        // Of two alike nobody knows which is meant.
        let covered = of(&["a/src/cart.js", "b/src/cart.js"]);
        assert!(file_of("src/cart.js", &covered).is_none());
        assert!(file_of("a/src/cart.js", &covered).is_some());
    }
}
