//! Broken definitions in which `§` marks the place that the fault must be shown at.

use machine::{Definition, Diagnostic};

use crate::support::catalog;

/// The definition without its mark, and line and column of the mark.
fn marked(text: &str) -> (String, (u32, u32)) {
    let (before, _) = text
        .split_once('§')
        .unwrap_or_else(|| panic!("no mark in:\n{text}"));
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let place = (u32::try_from(line).unwrap(), u32::try_from(column).unwrap());
    (text.replacen('§', "", 1), place)
}

pub fn faults(text: &str) -> Vec<Diagnostic> {
    Definition::load(text, &catalog()).err().unwrap_or_default()
}

/// All faults as they are shown, one behind the other.
pub fn drawn(text: &str) -> String {
    let found = faults(text);
    let drawn = found.iter().map(|fault| fault.render("x.yaml", text));
    drawn.collect::<Vec<_>>().join("\n")
}

/// Exactly this one fault, at the mark.
pub fn refuses(rule: &str, text: &str) -> Diagnostic {
    let (text, place) = marked(text);
    let mut found = faults(&text);
    let told: Vec<_> = found
        .iter()
        .map(|fault| (fault.rule, (fault.at.line, fault.at.column)))
        .collect();
    assert_eq!(told, [(rule, place)], "{text}\n{}", drawn(&text));
    found.remove(0)
}

pub fn accepts(text: &str) {
    let drawn = drawn(text);
    assert!(drawn.is_empty(), "{text}\n{drawn}");
}

/// A row is a part of a definition and, behind ` # `, the rule that refuses it at the mark; without a rule it is accepted.
pub fn proves(row: &str, framed: impl Fn(&str) -> String) {
    if let Some((part, rule)) = row.rsplit_once(" # ") {
        refuses(rule, &framed(part));
    } else {
        accepts(&framed(row).replace('§', ""));
    }
}

/// The states as they are, and this one where they do not say what it is.
fn ending(states: &str, end: &str) -> String {
    let name = end.split(':').next().unwrap();
    let is_there = |line: &str| {
        let line = line.trim_start_matches('§').strip_prefix(name);
        line.is_some_and(|rest| rest.starts_with(':'))
    };
    if states.lines().any(is_there) {
        states.to_owned()
    } else {
        format!("{states}\n{end}")
    }
}

/// Keys that stand at the top of a definition.
const TOP: [&str; 13] = [
    "advance",
    "config",
    "counter",
    "gates",
    "inputs",
    "items",
    "messages",
    "on",
    "otherwise",
    "unit",
    "uses",
    "vars",
    "view",
];

/// A workflow of these lines: keys of the top, and states. It begins in `a`, which is plain work where it does not say
/// otherwise, and ends in `z`.
pub fn states(lines: &str) -> String {
    let mut at_top = false;
    let (top, states): (Vec<&str>, Vec<&str>) = lines.lines().partition(|line| {
        let name = line.split(':').next().unwrap().trim_start_matches('§');
        if !line.starts_with(' ') {
            at_top = TOP.contains(&name);
        }
        at_top
    });
    let top = top
        .iter()
        .fold(String::new(), |all, line| all + line + "\n");
    let states = ending(&states.join("\n"), "a: { work: {}, to: z }");
    format!(
        "tramline: 1\nid: x\ntitle: X\ninitial: a\n{top}states:\n{}",
        indented(&ending(states.trim_start(), "z: { final: completed }"))
    )
}

pub fn indented(text: &str) -> String {
    text.lines()
        .fold(String::new(), |all, line| all + "  " + line + "\n")
}

/// The same of two parts.
pub fn with(top: &str, body: &str) -> String {
    states(&format!("{top}\n{body}"))
}

/// One `work` state that reads tests, with these edges.
pub fn edges(list: &str) -> String {
    states(&format!(
        "a: {{ expects: tests, work: {{}}, on: {{ report: [ {list} ] }} }}"
    ))
}

/// A workflow around an `each`: these nested states over the set `parts`; they end in `d`.
pub fn each(nested: &str) -> String {
    let nested = ending(nested, "d: { final: completed }");
    with(
        "items: { parts: { key: id, needs: needs, fields: { id: string, needs: [string], kind: [plan, fix], n: int, ok: bool } } }\nvars: { count: int, name: string }",
        &format!(
            "a: {{ expects: survey, route: [ {{ load: {{ parts: =survey.subtasks }}, to: b }} ] }}\nb:\n  each: {{ items: parts, initial: c }}\n  on: {{ done: {{ to: z }} }}\n  states:\n{}",
            indented(&indented(&nested)).trim_end()
        ),
    )
}
