//! Coverage reports that were cut, or that somebody made to do harm.

use std::fmt::Write;
use std::fs;
use std::sync::LazyLock;

use proptest::prelude::*;
use test_report::{CoverageFormat, Kind, Metric, read_coverage};

static FIXTURES: LazyLock<Vec<(CoverageFormat, Vec<u8>)>> = LazyLock::new(fixtures);

fn fixtures() -> Vec<(CoverageFormat, Vec<u8>)> {
    let all = crate::corpus::fixtures().into_iter();
    all.filter_map(|(format, path)| Some((format.parse().ok()?, fs::read(path).ok()?)))
        .collect()
}

fn lines(bytes: &[u8]) -> Result<Metric, Kind> {
    match read_coverage(bytes, None) {
        Ok(coverage) => Ok(coverage.lines.expect("a report without lines is none")),
        Err(fault) => Err(fault.kind),
    }
}

/// A tracefile and a Go profile have no end mark: they may end after a record or a line, and nowhere else.
fn may_end_here(format: CoverageFormat, begun: &[u8], rest: &[u8]) -> bool {
    rest.iter().all(u8::is_ascii_whitespace)
        || match format {
            CoverageFormat::Lcov => begun.trim_ascii_end().ends_with(b"end_of_record"),
            CoverageFormat::GoCover => {
                // What is left of a number is one, and as much above zero as the whole.
                let last = begun.split(|byte| *byte == b'\n').next_back();
                last.is_some_and(|line| {
                    line.is_empty() || line.split(|byte| *byte == b' ').count() == 3
                })
            }
            _ => false,
        }
}

#[test]
fn a_cut_report_is_refused_or_has_only_a_part() {
    for (format, bytes) in &*FIXTURES {
        let Ok(whole) = lines(bytes) else { continue };
        let step = (bytes.len() / 150).max(1);
        let line_ends = (0..bytes.len()).filter(|at| bytes[*at] == b'\n');
        for end in (0..bytes.len()).step_by(step).chain(line_ends) {
            let (begun, rest) = bytes.split_at(end);
            if let Ok(part) = lines(begun) {
                assert!(
                    may_end_here(*format, begun, rest)
                        && part.covered <= whole.covered
                        && part.total <= whole.total,
                    "{format} cut at {end} of {}: {part:?} of {whole:?}",
                    bytes.len()
                );
            }
        }
    }
}

#[test]
fn every_file_has_its_part_of_the_lines() {
    for (format, bytes) in &*FIXTURES {
        let Ok(coverage) = read_coverage(&bytes[..], None) else {
            continue;
        };
        let sum = |of: fn(&Metric) -> u64| -> u64 {
            coverage.files.iter().map(|file| of(&file.lines)).sum()
        };
        let all = coverage.lines.expect("a report without lines is none");
        // Without line numbers JaCoCo has no files; and Cobertura may count a line once in each class.
        if !coverage.files.is_empty() && coverage.notes.is_empty() {
            assert_eq!(
                (sum(|lines| lines.covered), sum(|lines| lines.total)),
                (all.covered, all.total),
                "{format}"
            );
        }
    }
}

#[test]
fn lines_in_any_order_and_again_are_counted_once() {
    let mut report = String::new();
    for record in 0..50 {
        report.push_str("SF:/shop/cart.c\n");
        for line in (0..4000).rev() {
            let line = (line * 37) % 4001 + record;
            writeln!(report, "DA:{line},{}", u32::from(line % 2 == 0)).expect("text");
        }
        report.push_str("end_of_record\n");
    }
    let coverage = read_coverage(report.as_bytes(), None).expect("a tracefile");
    let wanted: std::collections::BTreeSet<u32> = (0..50)
        .flat_map(|record| (0..4000).map(move |line| (line * 37) % 4001 + record))
        .collect();
    let covered = wanted.iter().filter(|line| *line % 2 == 0).count();
    let lines = coverage.lines.expect("lines");
    let counted = (lines.covered, lines.total, coverage.files.len());
    assert_eq!(counted, (covered as u64, wanted.len() as u64, 1));
    assert!(coverage.notes[0].contains("several records"));
}

#[test]
fn what_is_nested_too_deep_or_never_ends_is_refused() {
    let summary = r#"{"total":{"lines":{"total":1,"covered":1,"more":"#;
    for (begin, rest, kind) in [
        (summary, "[".repeat(1_000_000), Kind::Truncated),
        ("<coverage>", "<a>".repeat(100_000), Kind::TooLarge),
        ("SF:", "x".repeat(5_000_000), Kind::TooLarge),
        ("mode: set\n", "x".repeat(5_000_000), Kind::TooLarge),
    ] {
        assert_eq!(lines((begin.to_owned() + &rest).as_bytes()), Err(kind));
    }
}

#[test]
fn numbers_beyond_all_bounds_are_refused_or_counted() {
    let most = u64::MAX;
    for report in [
        format!("SF:a\nDA:1,{most}\nLF:{most}\nLH:{most}\nend_of_record\n"),
        format!("mode: set\na.go:1.1,2.2 {most} 1\n"),
        format!("mode: set\na.go:1.1,2.2 4294967295 1\na.go:{most}.1,2.2 1 1\n"),
        format!(
            r#"{{"total":{{"lines":{{"total":{most},"covered":{most}}}}},"a":{{"lines":{{"total":{most},"covered":1}}}},"b":{{"lines":{{"total":{most},"covered":1}}}}}}"#
        ),
        format!(
            r#"<report name="a"><package name="b"><sourcefile name="c"><line nr="1" mi="{most}" ci="{most}" mb="{most}" cb="{most}"/></sourcefile></package></report>"#
        ),
        format!(
            r#"<coverage><class filename="a"><line number="1" hits="1" condition-coverage="1% ({most}/{most})"/><line number="2" hits="1" condition-coverage="1% ({most}/{most})"/><line number="{most}" hits="1"/></class></coverage>"#
        ),
    ] {
        let kind = lines(report.as_bytes()).expect_err("a refusal");
        assert!(matches!(kind, Kind::Contradiction | Kind::Malformed));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A few bytes changed: whatever comes of it, it is an answer.
    #[test]
    fn changed_bytes_are_answered(
        which in 0usize..1000,
        changes in prop::collection::vec((0usize..30_000, any::<u8>()), 1..8),
    ) {
        let (format, mut bytes) = FIXTURES[which % FIXTURES.len()].clone();
        for (at, byte) in changes {
            let length = bytes.len();
            bytes[at % length] = byte;
        }
        let _ = read_coverage(&bytes[..], None);
        let _ = read_coverage(&bytes[..], Some(format));
        for other in CoverageFormat::ALL {
            let _ = read_coverage(&bytes[..bytes.len().min(2000)], Some(other));
        }
    }
}
