//! Formats of a line for each finding.

use super::{CheckFinding, Severity};

/// A path in each line.
pub(super) fn names(text: &str) -> Vec<CheckFinding> {
    let names = text.lines().map(str::trim_end);
    names
        .filter(|name| !name.is_empty())
        .map(|name| CheckFinding::new(without_dot(name), None, Severity::Error))
        .collect()
}

/// The files of a unified diff.
pub(super) fn diff(text: &str) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("--- ") else {
            continue;
        };
        // What a diff takes out may look like its head.
        if lines.peek().is_none_or(|next| !next.starts_with("+++ ")) {
            continue;
        }
        let name = name.split('\t').next().unwrap_or(name).trim_end();
        findings.push(CheckFinding::new(without_dot(name), None, Severity::Error));
    }
    findings
}

/// `path:line:column: severity: message [rule]`, with or without column, severity and rule; `path(line,column): error TS1: message`;
/// and `path:line:column error MD001/name message`.
pub(super) fn lines(text: &str) -> Vec<CheckFinding> {
    text.lines()
        .filter_map(|line| {
            let found = in_brackets(line).or_else(|| by_blanks(line));
            found.or_else(|| by_colons(line))
        })
        .collect()
}

fn without_dot(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// `path(line,column): error TS1: message`.
fn in_brackets(line: &str) -> Option<CheckFinding> {
    let (head, rest) = line.split_once("): ")?;
    let (path, place) = head.rsplit_once('(')?;
    let number = place.split(',').next()?.parse().ok()?;
    let (severity, rest) = severity_of(rest)?;
    let (rule, message) = match rest.split_once(": ") {
        Some((rule, message)) if is_code(rule) => (rule, message),
        _ => ("", rest),
    };
    (!path.is_empty() && !path.starts_with(char::is_whitespace)).then(|| {
        CheckFinding::new(without_dot(path), Some(number), severity).of_rule(rule, message)
    })
}

/// `path:line error MD001/name message`, with or without column and severity.
fn by_blanks(line: &str) -> Option<CheckFinding> {
    let (place, rest) = line.split_once(' ')?;
    let number = |text: &str| text.parse::<u64>().ok();
    let (path, last) = place.rsplit_once(':')?;
    let (path, line) = match path.rsplit_once(':') {
        Some((path, line)) if number(line).is_some() && number(last).is_some() => (path, line),
        _ => (path, last),
    };
    let (severity, rest) = severity_of(rest).unwrap_or((Severity::Error, rest));
    let (rule, message) = rest.split_once(' ')?;
    let is_rule = is_code(rule.split('/').next().unwrap_or_default());
    let found = || CheckFinding::new(without_dot(path), number(line), severity);
    (is_rule && !path.is_empty() && number(line).is_some()).then(|| found().of_rule(rule, message))
}

fn by_colons(line: &str) -> Option<CheckFinding> {
    // What is indented belongs to the line before.
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let (path, number, rest) = placed(line)?;
    let (severity, rest) = severity_of(rest).unwrap_or((Severity::Error, rest));
    let rest = rest.trim();
    let behind = rest.rsplit_once('[').and_then(|(message, rule)| {
        let rule = rule.strip_suffix(']')?;
        let is_rule = !rule.is_empty() && !rule.contains(char::is_whitespace);
        is_rule.then_some((rule, message.trim_end()))
    });
    let before = || {
        let (rule, message) = rest.split_once(' ')?;
        let rule = rule.trim_end_matches(':');
        is_code(rule).then_some((rule, message))
    };
    let (rule, message) = behind.or_else(before).unwrap_or(("", rest));
    if message.is_empty() {
        return None;
    }
    Some(CheckFinding::new(without_dot(path), Some(number), severity).of_rule(rule, message))
}

/// A line cut behind `path:line:` or `path:line:column:`, with the line's number.
fn placed(line: &str) -> Option<(&str, u64, &str)> {
    let mut from = 0;
    loop {
        let colon = from + line[from..].find(':')?;
        let rest = &line[colon + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && rest[digits..].starts_with(':') && colon > 0 {
            let number = rest[..digits].parse().ok()?;
            let mut behind = &rest[digits + 1..];
            let column = behind.bytes().take_while(u8::is_ascii_digit).count();
            if column > 0 && behind[column..].starts_with(':') {
                behind = &behind[column + 1..];
            }
            return Some((&line[..colon], number, behind));
        }
        from = colon + 1;
    }
}

/// What a text says first of how much is made of it, and what stands behind.
fn severity_of(text: &str) -> Option<(Severity, &str)> {
    const WORDS: [(&str, Severity); 12] = [
        ("fatal error", Severity::Error),
        ("fatal", Severity::Error),
        ("error", Severity::Error),
        ("warning", Severity::Warning),
        ("note", Severity::Note),
        ("info", Severity::Note),
        ("help", Severity::Note),
        ("E", Severity::Error),
        ("F", Severity::Error),
        ("W", Severity::Warning),
        ("C", Severity::Warning),
        ("R", Severity::Warning),
    ];
    let text = text.trim_start();
    WORDS.iter().find_map(|(word, severity)| {
        let head = text.get(..word.len())?;
        let is_it = if word.len() > 1 {
            head.eq_ignore_ascii_case(word)
        } else {
            head == *word
        };
        let rest = &text[word.len()..];
        // `error TS1:` and `error:` alike.
        let rest = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(' '));
        rest.filter(|_| is_it).map(|rest| (*severity, rest))
    })
}

/// Whether a word is a rule such as `E501`, `TS2322` or `SC2086`.
fn is_code(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = word.bytes().skip(letters);
    letters > 0 && word.len() > letters && digits.clone().all(|byte| byte.is_ascii_digit())
}
