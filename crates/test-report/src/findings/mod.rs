//! What linters, formatters and type checkers report: findings, each with its file and its rule.
//!
//! None of these formats says of itself that it is complete, and the exit status of many a tool says nothing of what it found. So a reader
//! takes what is there, and its caller holds that against the status.

mod json;
mod lines;
mod marked;

use serde::{Deserialize, Serialize};

use crate::unreadable::{Kind, Unreadable};

/// As many findings of a report are kept.
pub const MOST_FINDINGS: usize = 20_000;
/// As much of a text of a finding is kept, in bytes.
const LONGEST_TEXT: usize = 400;

/// How much a tool makes of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It explains another one, or is a proposal.
    Note,
    /// It need not be mended.
    Warning,
    /// It has to be mended.
    Error,
}

/// Something that a tool has found in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFinding {
    /// The file, as the tool writes it.
    pub path: Box<str>,
    /// The line, from 1; none where it is about the whole file.
    pub line: Option<u64>,
    /// The rule that is broken, in the tool's words; empty where it names none.
    pub rule: Box<str>,
    /// What it says.
    pub message: Box<str>,
    /// How much it makes of it.
    pub severity: Severity,
}

impl CheckFinding {
    fn new(path: &str, line: Option<u64>, severity: Severity) -> Self {
        Self {
            path: path.into(),
            line: line.filter(|line| *line > 0),
            rule: Box::default(),
            message: Box::default(),
            severity,
        }
    }

    fn of_rule(mut self, rule: &str, message: &str) -> Self {
        let first = message.trim().lines().next().unwrap_or_default();
        self.rule = cut(rule).into();
        self.message = cut(first).into();
        self
    }
}

/// A text up to [`LONGEST_TEXT`].
fn cut(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The formats of such reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckFormat {
    /// A path in each line, as `gofmt -l` and `prettier --list-different` print them.
    Names,
    /// `path:line:column: severity: message [rule]` and what is like it; `path(line,column): error TS1: message`.
    Lines,
    /// A unified diff of what a formatter would do.
    Diff,
    /// Commands of GitHub's workflows: `::error file=…,line=…::message`.
    Github,
    /// XML of Checkstyle.
    Checkstyle,
    /// SARIF 2.1.
    Sarif,
    /// JSON of `ESLint`.
    Eslint,
    /// JSON of ruff.
    Ruff,
    /// The messages of Cargo, a JSON object in each line.
    Cargo,
    /// JSON of pyright.
    Pyright,
    /// JSON of `RuboCop`.
    Rubocop,
    /// JSON of golangci-lint.
    Golangci,
}

/// Reads a report. Text in which there is nothing of the format has no findings, where the format has no frame; else it is an
/// [`Unreadable`].
pub fn read_findings(report: &[u8], format: CheckFormat) -> Result<Vec<CheckFinding>, Unreadable> {
    let text = String::from_utf8_lossy(report);
    let text = text.trim_start_matches('\u{feff}');
    let mut findings = match format {
        CheckFormat::Names => lines::names(text),
        CheckFormat::Lines => lines::lines(text),
        CheckFormat::Diff => lines::diff(text),
        CheckFormat::Github => marked::github(text),
        CheckFormat::Checkstyle => marked::checkstyle(text)?,
        CheckFormat::Sarif => json::sarif(text)?,
        CheckFormat::Eslint => json::eslint(text)?,
        CheckFormat::Ruff => json::ruff(text)?,
        CheckFormat::Cargo => json::cargo(text)?,
        CheckFormat::Pyright => json::pyright(text)?,
        CheckFormat::Rubocop => json::rubocop(text)?,
        CheckFormat::Golangci => json::golangci(text)?,
    };
    findings.truncate(MOST_FINDINGS);
    Ok(findings)
}

/// The format that a report is written in, as far as that can be told by its content: one with a frame of its own, or lines that name
/// files. None where there is no finding in it.
pub fn told_findings(report: &[u8]) -> Option<(CheckFormat, Vec<CheckFinding>)> {
    use CheckFormat::{
        Cargo, Checkstyle, Eslint, Github, Golangci, Lines, Pyright, Rubocop, Ruff, Sarif,
    };
    let all = [
        Sarif, Eslint, Ruff, Pyright, Rubocop, Golangci, Cargo, Checkstyle, Github, Lines,
    ];
    all.into_iter().find_map(|format| {
        let findings = read_findings(report, format).ok()?;
        (!findings.is_empty()).then_some((format, findings))
    })
}

/// That a report is not of its format.
fn malformed(what: &str, why: impl std::fmt::Display) -> Unreadable {
    Unreadable {
        kind: Kind::Malformed,
        format: None,
        line: None,
        message: format!("it is no {what}: {why}"),
        source: None,
    }
}
