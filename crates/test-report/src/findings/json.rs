//! Formats in JSON, each as its tool writes it.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{CheckFinding, Severity, malformed};
use crate::unreadable::Unreadable;

/// The first value of a report: some tools write text behind it.
fn first<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, Unreadable> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    match values.next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(malformed(what, error)),
        None => Err(malformed(what, "it is empty")),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EslintFile {
    file_path: String,
    messages: Vec<EslintMessage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EslintMessage {
    rule_id: Option<String>,
    severity: u8,
    message: String,
    line: Option<u64>,
}

pub(super) fn eslint(text: &str) -> Result<Vec<CheckFinding>, Unreadable> {
    let files: Vec<EslintFile> = first(text, "report of ESLint")?;
    let all = files.iter().flat_map(|file| {
        // A warning without rule and place says that the file is not looked at.
        let messages = file.messages.iter();
        messages
            .filter(|message| message.rule_id.is_some() || message.line.is_some())
            .map(|message| {
                let severity = match message.severity {
                    1 => Severity::Warning,
                    _ => Severity::Error,
                };
                CheckFinding::new(&file.file_path, message.line, severity).of_rule(
                    message.rule_id.as_deref().unwrap_or_default(),
                    &message.message,
                )
            })
    });
    Ok(all.collect())
}

#[derive(Deserialize)]
struct RuffFinding {
    filename: String,
    code: Option<String>,
    message: String,
    location: Option<RuffPlace>,
}

#[derive(Deserialize)]
struct RuffPlace {
    row: u64,
}

pub(super) fn ruff(text: &str) -> Result<Vec<CheckFinding>, Unreadable> {
    let all: Vec<RuffFinding> = first(text, "report of ruff")?;
    let all = all.iter().map(|found| {
        let line = found.location.as_ref().map(|place| place.row);
        let finding = CheckFinding::new(&found.filename, line, Severity::Error);
        finding.of_rule(found.code.as_deref().unwrap_or_default(), &found.message)
    });
    Ok(all.collect())
}

#[derive(Deserialize)]
struct CargoLine {
    reason: String,
    message: Option<CargoMessage>,
}

#[derive(Deserialize)]
struct CargoMessage {
    message: String,
    level: String,
    code: Option<CargoCode>,
    #[serde(default)]
    spans: Vec<CargoSpan>,
}

#[derive(Deserialize)]
struct CargoCode {
    code: String,
}

#[derive(Deserialize)]
struct CargoSpan {
    file_name: String,
    line_start: u64,
    is_primary: bool,
}

pub(super) fn cargo(text: &str) -> Result<Vec<CheckFinding>, Unreadable> {
    const WHAT: &str = "list of messages of Cargo";
    let mut findings: Vec<CheckFinding> = Vec::new();
    let mut is_it = false;
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let line: CargoLine = serde_json::from_str(line).map_err(|error| malformed(WHAT, error))?;
        is_it |= line.reason == "build-finished";
        let Some(message) = line.message.filter(|_| line.reason == "compiler-message") else {
            continue;
        };
        let severity = match message.level.as_str() {
            "error" | "error: internal compiler error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => continue,
        };
        let primary = message.spans.iter().find(|span| span.is_primary);
        let Some(span) = primary.or(message.spans.first()) else {
            continue;
        };
        let rule = message.code.as_ref().map_or("", |code| &code.code);
        let found = CheckFinding::new(&span.file_name, Some(span.line_start), severity)
            .of_rule(rule, &message.message);
        // A file that is built for two targets is looked at twice.
        if !findings.contains(&found) {
            findings.push(found);
        }
    }
    if is_it {
        Ok(findings)
    } else {
        Err(malformed(WHAT, "it does not say how the build ended"))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pyright {
    general_diagnostics: Vec<PyrightFinding>,
}

#[derive(Deserialize)]
struct PyrightFinding {
    file: Option<String>,
    severity: String,
    message: String,
    rule: Option<String>,
    range: Option<PyrightRange>,
}

#[derive(Deserialize)]
struct PyrightRange {
    start: PyrightPlace,
}

#[derive(Deserialize)]
struct PyrightPlace {
    /// From 0.
    line: u64,
}

pub(super) fn pyright(text: &str) -> Result<Vec<CheckFinding>, Unreadable> {
    let report: Pyright = first(text, "report of pyright")?;
    let all = report.general_diagnostics.iter().filter_map(|found| {
        let severity = match found.severity.as_str() {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => return None,
        };
        let line = found.range.as_ref().map(|range| range.start.line + 1);
        let finding = CheckFinding::new(found.file.as_deref()?, line, severity);
        Some(finding.of_rule(found.rule.as_deref().unwrap_or_default(), &found.message))
    });
    Ok(all.collect())
}

#[derive(Deserialize)]
struct Rubocop {
    files: Vec<RubocopFile>,
}

#[derive(Deserialize)]
struct RubocopFile {
    path: String,
    offenses: Vec<RubocopOffense>,
}

#[derive(Deserialize)]
struct RubocopOffense {
    message: String,
    cop_name: String,
    location: RubocopPlace,
}

#[derive(Deserialize)]
struct RubocopPlace {
    line: Option<u64>,
}

pub(super) fn rubocop(text: &str) -> Result<Vec<CheckFinding>, Unreadable> {
    let report: Rubocop = first(text, "report of RuboCop")?;
    let all = report.files.iter().flat_map(|file| {
        file.offenses.iter().map(|found| {
            // Its own words for how much it makes of it are about style: whoever turned a cop on means it.
            CheckFinding::new(&file.path, found.location.line, Severity::Error)
                .of_rule(&found.cop_name, &found.message)
        })
    });
    Ok(all.collect())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Golangci {
    issues: Option<Vec<GolangciIssue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GolangciIssue {
    from_linter: String,
    text: String,
    pos: GolangciPlace,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GolangciPlace {
    filename: String,
    line: u64,
}

pub(super) fn golangci(text: &str) -> Result<Vec<CheckFinding>, Unreadable> {
    // Any object would do, since it names no issues where there are none.
    const WHAT: &str = "report of golangci-lint";
    let value: Value = first(text, WHAT)?;
    if value.get("Issues").is_none() {
        return Err(malformed(WHAT, "it has no issues"));
    }
    let report: Golangci = serde_json::from_value(value).map_err(|error| malformed(WHAT, error))?;
    let all = report.issues.unwrap_or_default();
    let all = all.iter().map(|issue| {
        CheckFinding::new(&issue.pos.filename, Some(issue.pos.line), Severity::Error)
            .of_rule(&issue.from_linter, &issue.text)
    });
    Ok(all.collect())
}

/// SARIF 2.1: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.
pub(super) fn sarif(text: &str) -> Result<Vec<CheckFinding>, Unreadable> {
    const WHAT: &str = "SARIF";
    let value: Value = first(text, WHAT)?;
    let runs = value.get("runs").and_then(Value::as_array);
    let Some(runs) = runs.filter(|_| value.get("version").is_some()) else {
        return Err(malformed(WHAT, "it has no runs"));
    };
    let results = runs.iter().filter_map(|run| run.get("results")?.as_array());
    Ok(results.flatten().filter_map(result).collect())
}

fn result(found: &Value) -> Option<CheckFinding> {
    let severity = match found.get("level").and_then(Value::as_str) {
        Some("note" | "none") => Severity::Note,
        Some("error") => Severity::Error,
        _ => Severity::Warning,
    };
    let place = found.pointer("/locations/0/physicalLocation")?;
    let path = place.pointer("/artifactLocation/uri")?.as_str()?;
    let path = path.strip_prefix("file://").unwrap_or(path);
    let line = place.pointer("/region/startLine").and_then(Value::as_u64);
    let text = |pointer: &str| found.pointer(pointer).and_then(Value::as_str);
    let rule = text("/ruleId").or_else(|| text("/rule/id"));
    let finding = CheckFinding::new(&unescaped(path), line, severity);
    Some(finding.of_rule(
        rule.unwrap_or_default(),
        text("/message/text").unwrap_or_default(),
    ))
}

/// The path of a URI: what stands there as `%C3%A9` as the bytes that it means.
fn unescaped(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|two| str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        if let Some(byte) = byte.filter(|_| *first == b'%') {
            bytes.push(byte);
            rest = &behind[2..];
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| uri.to_owned())
}
