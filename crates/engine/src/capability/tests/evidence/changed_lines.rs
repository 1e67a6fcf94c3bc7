//! Coverage of the lines that an item has changed.

use ::test_report::{FileCoverage, Metric};
use workspace::git::{Change, Oid, Repository, StatusCode};

use crate::fault::Fault;

/// How many of the lines that were added or changed since a commit can be reached, and how many of them were; none where the report
/// tells of no line one by one. Files that it does not name have nothing to reach.
pub fn reached<'c>(
    repository: &Repository,
    last: &Oid,
    changes: impl Iterator<Item = &'c Change>,
    covered: &[FileCoverage],
) -> Result<Option<Metric>, Fault> {
    if covered.iter().all(|file| file.hits.is_empty()) {
        return Ok(None);
    }
    let mut sum = Metric::default();
    for change in changes.filter(|change| !change.deleted) {
        let name = change.path.to_string();
        let Some(file) = file_of(&name, covered) else {
            continue;
        };
        let is_new = change.untracked || matches!(change.staged, StatusCode::Added);
        let stretches = if is_new {
            vec![(1, u32::MAX)]
        } else {
            repository.added_lines(last, &change.path)?
        };
        for reached in file.hits.within(&stretches) {
            sum.total += 1;
            sum.covered += u64::from(reached);
        }
    }
    Ok(Some(sum))
}

/// What the report has of a file of the repository. Tools write paths from their own folder on, in full, or by package; the one that
/// has most in common is meant.
fn file_of<'c>(name: &str, covered: &'c [FileCoverage]) -> Option<&'c FileCoverage> {
    let common = |file: &FileCoverage| {
        let path = file.path.replace('\\', "/");
        let mut parts = path.rsplit('/').zip(name.rsplit('/'));
        let common = parts.by_ref().take_while(|(a, b)| a == b).count();
        let shortest = path.split('/').count().min(name.split('/').count());
        (common == shortest || is_of_package(&path, name, common)).then_some(common)
    };
    let mut fitting: Vec<(usize, &FileCoverage)> = covered
        .iter()
        .filter(|file| !file.hits.is_empty())
        .filter_map(|file| Some((common(file)?, file)))
        .collect();
    fitting.sort_by_key(|(common, _)| std::cmp::Reverse(*common));
    match fitting[..] {
        [(best, file), ref rest @ ..] if rest.first().is_none_or(|(next, _)| *next < best) => {
            Some(file)
        }
        _ => None,
    }
}

/// Whether a path begins with the name of a module, as Go writes it: `example.com/shop/cart/cart.go` is `cart/cart.go`.
fn is_of_package(path: &str, name: &str, common: usize) -> bool {
    common > 0 && common == name.split('/').count() && path.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lcov: &str) -> Vec<FileCoverage> {
        let read = ::test_report::read_coverage(lcov.as_bytes(), None);
        read.unwrap().files
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
            assert!(file_of("lib/cart.js", &covered).is_none(), "{path}");
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
