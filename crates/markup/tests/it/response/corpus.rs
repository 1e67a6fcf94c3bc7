//! Responses: `NAME.in` and `NAME.out`.

use std::fmt::Write as _;

use markup::response::bundle::Move;
use markup::response::plan::Plan;
use markup::response::{bundle, plan, verdict};

use super::kind;
use crate::corpus::compare;

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

fn refused(kind: &str, error: &dyn std::error::Error, suggestion: &str) -> String {
    format!("{kind}\n{error}\n{suggestion}\n")
}

#[test]
fn bundles() {
    let rules = bundle::Rules::default();
    compare("bundle", "out", 120, |bytes| {
        match bundle::read(bytes, &rules) {
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
            Err(error) => refused(&kind(error.fault()), &error, &error.suggestion()),
        }
    });
}

#[test]
fn verdicts() {
    compare("verdict", "out", 40, |bytes| match verdict::read(bytes) {
        Ok(read) => format!("{read:#?}\n"),
        Err(error) => refused(&kind(error.fault()), &error, &error.suggestion()),
    });
}

#[test]
fn plans() {
    let headings = ["Approach".to_owned(), "## Files".to_owned()];
    compare("plan", "out", 20, |bytes| {
        match plan::read(bytes, &headings) {
            Ok(Plan::Accepted { text }) => format!("accepted\n{}", blocked(&text)),
            Ok(Plan::Invalid { reason }) => format!("invalid\n{}", blocked(&reason)),
            Err(error) => refused(&kind(error.fault()), &error, &error.suggestion()),
        }
    });
}
