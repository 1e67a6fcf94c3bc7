//! Findings of linters stay within their bounds, in whatever format they are read.
use test_report::findings::MOST_FINDINGS;
use test_report::{CheckFormat, read_findings, told_findings};

const ALL: [CheckFormat; 12] = [
    CheckFormat::Names,
    CheckFormat::Lines,
    CheckFormat::Diff,
    CheckFormat::Github,
    CheckFormat::Checkstyle,
    CheckFormat::Sarif,
    CheckFormat::Eslint,
    CheckFormat::Ruff,
    CheckFormat::Cargo,
    CheckFormat::Pyright,
    CheckFormat::Rubocop,
    CheckFormat::Golangci,
];

/// Reads the bytes in every format, and as one that is to be told.
pub fn check(bytes: &[u8]) {
    for format in ALL {
        let Ok(findings) = read_findings(bytes, format) else {
            continue;
        };
        assert!(findings.len() <= MOST_FINDINGS);
        for found in &findings {
            assert!(found.line != Some(0));
            assert!(found.rule.len() <= 400 && found.message.len() <= 400);
            assert!(!found.message.contains('\n'));
        }
    }
    if let Some((format, findings)) = told_findings(bytes) {
        assert!(!findings.is_empty());
        assert_eq!(read_findings(bytes, format).unwrap(), findings);
    }
}
