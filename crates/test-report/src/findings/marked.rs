//! Formats in marks: commands of GitHub's workflows, and XML of Checkstyle.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{CheckFinding, Severity, malformed};
use crate::unreadable::Unreadable;

/// `::error file=a.js,line=3,title=rule::message`.
pub(super) fn github(text: &str) -> Vec<CheckFinding> {
    text.lines().filter_map(command).collect()
}

fn command(line: &str) -> Option<CheckFinding> {
    let (head, message) = line.strip_prefix("::")?.split_once("::")?;
    let (severity, values) = head.split_once(' ')?;
    let severity = match severity {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        "notice" => Severity::Note,
        _ => return None,
    };
    let value = |name: &str| {
        let mut all = values.split(',').filter_map(|value| value.split_once('='));
        all.find(|(known, _)| *known == name)
            .map(|(_, value)| unescaped(value))
    };
    let line = value("line").and_then(|line| line.parse().ok());
    let rule = value("title").unwrap_or_default();
    let finding = CheckFinding::new(&value("file")?, line, severity);
    Some(finding.of_rule(&rule, &unescaped(message)))
}

/// As <https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts> writes it.
fn unescaped(text: &str) -> String {
    let signs = [
        ("%0D", "\r"),
        ("%0A", "\n"),
        ("%3A", ":"),
        ("%2C", ","),
        ("%25", "%"),
    ];
    signs.iter().fold(text.to_owned(), |text, (escaped, sign)| {
        text.replace(escaped, sign)
    })
}

/// `<checkstyle><file name="a.php"><error line="3" severity="error" message="…" source="rule"/></file></checkstyle>`.
pub(super) fn checkstyle(text: &str) -> Result<Vec<CheckFinding>, Unreadable> {
    const WHAT: &str = "report of Checkstyle";
    let mut reader = Reader::from_str(text);
    reader.config_mut().trim_text(true);
    let (mut findings, mut file, mut is_it, mut is_whole) = (Vec::new(), None, false, false);
    loop {
        let event = reader
            .read_event()
            .map_err(|error| malformed(WHAT, error))?;
        match event {
            Event::Start(tag) | Event::Empty(tag) => match tag.name().as_ref() {
                "checkstyle" => is_it = true,
                "file" => file = attribute(&tag, "name"),
                "error" => findings.extend(file.as_deref().map(|file| error(file, &tag))),
                _ => {}
            },
            Event::End(tag) if tag.name().as_ref() == "checkstyle" => is_whole = true,
            Event::Eof => break,
            _ => {}
        }
    }
    // One without files has no end of its own.
    if !is_it || (!is_whole && !findings.is_empty()) {
        return Err(malformed(WHAT, "its element is not there, or not whole"));
    }
    Ok(findings)
}

fn error(file: &str, tag: &BytesStart<'_>) -> CheckFinding {
    let text = |name| attribute(tag, name).unwrap_or_default();
    let severity = match text("severity").as_str() {
        "warning" => Severity::Warning,
        "info" | "ignore" => Severity::Note,
        _ => Severity::Error,
    };
    let finding = CheckFinding::new(file, text("line").parse().ok(), severity);
    finding.of_rule(&text("source"), &text("message"))
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).ok().flatten()?;
    let value = &*found.value;
    Some(quick_xml::escape::unescape(value).map_or_else(|_| value.to_owned(), Into::into))
}
