//! Responses as they come, each with what is read from it: `NAME.in` and `NAME.out`.
//!
//! With `UPDATE_CORPUS=1` the tests write what they read instead of comparing it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use markup::response::bundle::Move;
use markup::response::plan::Plan;
use markup::response::{bundle, plan, verdict};

fn cases(reader: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/corpus")
        .join(reader);
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "in"))
        .collect();
    found.sort();
    found
}

/// Lines as they can be read in a file: each behind a bar, with its ending where it is not a line feed.
fn blocked(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let plain = line.strip_suffix('\n').unwrap_or(line);
        let end = if plain.len() < line.len() {
            ""
        } else {
            " (no line feed)"
        };
        let shown = plain.replace('\t', "\\t").replace('\r', "\\r");
        writeln!(out, "| {shown}{end}").expect("memory");
    }
    out
}

fn compare(reader: &str, at_least: usize, read: impl Fn(&[u8]) -> String) {
    let cases = cases(reader);
    assert!(cases.len() >= at_least, "only {} cases", cases.len());
    let mut wrong = String::new();
    for case in cases {
        let got = read(&fs::read(&case).expect("a case"));
        let expected = case.with_extension("out");
        if std::env::var_os("UPDATE_CORPUS").is_some() {
            fs::write(&expected, got).expect("written");
            continue;
        }
        let expected = fs::read_to_string(&expected).unwrap_or_default();
        if got != expected {
            let name = case.file_stem().unwrap_or_default().display();
            write!(wrong, "\n== {name}\n-- expected\n{expected}-- got\n{got}").expect("memory");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn refused(code: &str, error: &dyn std::error::Error, suggestion: &str) -> String {
    format!("{code}\n{error}\n{suggestion}\n")
}

#[test]
fn bundles() {
    let rules = bundle::Rules::default();
    compare("bundle", 120, |bytes| match bundle::read(bytes, &rules) {
        Ok(read) => {
            let mut out = String::new();
            for file in &read.files {
                write!(out, "{}\n{}", file.path, blocked(&file.content)).expect("memory");
            }
            for gone in &read.deleted {
                writeln!(out, "{gone} is deleted").expect("memory");
            }
            for Move { from, to } in &read.moved {
                writeln!(out, "{from} becomes {to}").expect("memory");
            }
            out
        }
        Err(error) => refused(error.code(), &error, &error.suggestion()),
    });
}

#[test]
fn verdicts() {
    compare("verdict", 40, |bytes| match verdict::read(bytes) {
        Ok(read) => format!("{read:#?}\n"),
        Err(error) => refused(error.code(), &error, &error.suggestion()),
    });
}

#[test]
fn plans() {
    let headings = ["Approach".to_owned(), "## Files".to_owned()];
    compare("plan", 20, |bytes| match plan::read(bytes, &headings) {
        Ok(Plan::Accepted { text }) => format!("accepted\n{}", blocked(&text)),
        Ok(Plan::Invalid { reason }) => format!("invalid\n{}", blocked(&reason)),
        Err(error) => refused(error.code(), &error, &error.suggestion()),
    });
}
