//! Files as they come, each with what is read from it beside it.
//!
//! With `UPDATE_CORPUS=1` the tests write what they read instead of comparing it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Compares what is read from each case of that folder with the file of that ending beside it.
pub fn compare(folder: &str, ending: &str, at_least: usize, read: impl Fn(&[u8]) -> String) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/corpus");
    let entries = fs::read_dir(corpus.join(folder)).expect("the corpus");
    let cases = entries.map(|entry| entry.expect("an entry").path());
    let is_case = |path: &PathBuf| path.extension().is_some_and(|other| other != ending);
    let mut cases: Vec<PathBuf> = cases.filter(is_case).collect();
    cases.sort();
    assert!(cases.len() >= at_least, "only {} cases", cases.len());
    let mut wrong = String::new();
    for case in cases {
        let got = read(&fs::read(&case).expect("a case"));
        let beside = case.with_extension(ending);
        if std::env::var_os("UPDATE_CORPUS").is_some() {
            fs::write(&beside, &got).expect("written");
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if got != expected {
            let name = case.file_stem().unwrap_or_default().display();
            write!(wrong, "\n== {name}\n-- expected\n{expected}-- got\n{got}").expect("memory");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
