//! Findings of linters, formatters and type checkers, as these wrote them.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde::Deserialize as _;
use serde::de::value::{Error, StrDeserializer};
use test_report::{CheckFormat, read_findings, told_findings};

/// The reports, each with its name and its format, which its name tells.
fn corpus() -> Vec<(String, CheckFormat, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/findings");
    let mut all: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let format = name.split('.').nth(1).unwrap();
            let format: StrDeserializer<'_, Error> =
                serde::de::IntoDeserializer::into_deserializer(format);
            let format = CheckFormat::deserialize(format).unwrap();
            (name, format, fs::read(path).unwrap())
        })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

#[test]
fn what_tools_wrote_is_read() {
    let mut told = String::new();
    for (name, format, report) in corpus() {
        writeln!(told, "== {name}").unwrap();
        for found in read_findings(&report, format).unwrap() {
            let line = found.line.map(|line| format!(":{line}"));
            let place = format!("{}{}", found.path, line.unwrap_or_default());
            let severity = found.severity;
            let (rule, message) = (found.rule, found.message);
            writeln!(told, "{place} {severity:?} [{rule}] {message}").unwrap();
        }
    }
    insta::assert_snapshot!(told);
}

/// The command of a project's own says nothing of its format.
#[test]
fn a_format_is_told_by_its_content() {
    for (name, format, report) in corpus() {
        let found = read_findings(&report, format).unwrap();
        let is_plain = matches!(format, CheckFormat::Names | CheckFormat::Diff);
        if is_plain || found.is_empty() {
            continue;
        }
        let (told, again) = told_findings(&report).unwrap();
        assert_eq!((told, again.len()), (format, found.len()), "{name}");
    }
    assert_eq!(told_findings(b""), None);
    assert_eq!(told_findings(b"All checks passed!\n"), None);
    assert_eq!(told_findings(b"[]"), None);
}

/// What has a frame is cut nowhere without being noticed.
#[test]
fn a_cut_report_is_none() {
    for (name, format, report) in corpus() {
        use CheckFormat::{Diff, Github, Lines, Names};
        if matches!(format, Diff | Github | Lines | Names) {
            continue;
        }
        // Text may stand behind what golangci-lint writes.
        let whole = report.trim_ascii_end();
        let frame = if name.contains("golangci.json") {
            1 + whole.iter().rposition(|byte| *byte == b'}').unwrap()
        } else {
            whole.len()
        };
        for end in (0..frame).step_by(frame / 50 + 1) {
            let read = read_findings(&report[..end], format);
            assert!(read.is_err(), "{name} cut at {end}: {read:?}");
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in r#"([a-z./]{0,8}[:( \[\]"{},=-]{0,3}[0-9]{0,2}){0,12}"#) {
        told_findings(text.as_bytes());
        for (_, format, _) in corpus() {
            let _ = read_findings(text.as_bytes(), format);
        }
    }
}
