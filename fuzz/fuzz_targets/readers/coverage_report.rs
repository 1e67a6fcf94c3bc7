//! Every report that is read holds together, whatever it is made from; what is refused is told shortly.

use test_report::{Coverage, CoverageFormat, Kind, Metric, Unreadable, read_coverage};

/// Reads the bytes as this format, and as what they look like.
pub fn check(bytes: &[u8], format: CoverageFormat) {
    let given = read_coverage(bytes, Some(format));
    let told = read_coverage(bytes, None);
    if let (Ok(given), Ok(told)) = (&given, &told)
        && told.format == format
    {
        assert_eq!(given, told);
    }
    for read in [given, told] {
        match read {
            Ok(report) => holds_together(&report),
            Err(fault) => is_told(&fault),
        }
    }
}

fn holds_together(report: &Coverage) {
    let all = [
        report.lines,
        report.branches,
        report.functions,
        report.statements,
    ];
    assert!(all.iter().flatten().any(|metric| metric.total > 0));
    let of_files = report.files.iter().map(|file| file.lines);
    for metric in all.into_iter().flatten().chain(of_files) {
        let Metric { covered, total } = metric;
        assert!(covered <= total, "{metric:?}");
        assert!(
            metric
                .percent()
                .is_none_or(|percent| (0.0..=100.0).contains(&percent))
        );
    }
}

fn is_told(fault: &Unreadable) {
    assert_ne!(fault.kind, Kind::Io, "{fault}");
    let told = fault.to_string();
    assert!(!told.is_empty() && told.len() < 4000, "{told}");
    assert!(!told.contains(char::is_control), "{told:?}");
    assert_ne!(fault.line, Some(0));
}
