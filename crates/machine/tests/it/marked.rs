//! Broken definitions in which `§` marks the place that the fault must be shown at.

use machine::{Definition, Diagnostic};

use crate::support::catalog;

/// The definition without its mark, and line and column of the mark.
pub fn marked(text: &str) -> (String, (u32, u32)) {
    let before = text
        .split_once('§')
        .unwrap_or_else(|| panic!("no mark in:\n{text}"))
        .0;
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    let place = (u32::try_from(line).unwrap(), u32::try_from(column).unwrap());
    (text.replacen('§', "", 1), place)
}

pub fn faults(text: &str) -> Vec<Diagnostic> {
    Definition::load(text, &catalog()).err().unwrap_or_default()
}

/// Exactly this one fault, at the mark.
pub fn refuses(rule: &str, text: &str) -> Diagnostic {
    let (text, place) = marked(text);
    let found = faults(&text);
    let drawn: Vec<String> = found
        .iter()
        .map(|fault| fault.render("x.yaml", &text))
        .collect();
    let drawn = drawn.join("\n");
    assert_eq!(found.len(), 1, "{rule} in:\n{text}\n{drawn}");
    assert_eq!(found[0].rule, rule, "{text}\n{drawn}");
    assert_eq!(
        (found[0].at.line, found[0].at.column),
        place,
        "{rule} in:\n{text}\n{drawn}"
    );
    found[0].clone()
}

pub fn accepts(text: &str) {
    let found = faults(text);
    let drawn: Vec<String> = found
        .iter()
        .map(|fault| fault.render("x.yaml", text))
        .collect();
    assert!(found.is_empty(), "{text}\n{}", drawn.join("\n"));
}

/// A workflow whose states are `states`, each line indented by two.
pub fn states(states: &str) -> String {
    format!(
        "tramline: 1\nid: x\ntitle: X\ninitial: a\nstates:\n{}",
        indented(states)
    )
}

pub fn indented(text: &str) -> String {
    text.lines().fold(String::new(), |all, line| {
        all + "  "
            + line
            + "
"
    })
}

/// The same with more keys at the top.
pub fn with(top: &str, body: &str) -> String {
    states(body).replacen("initial: a\n", &format!("initial: a\n{top}\n"), 1)
}

pub const END: &str = "z: { final: completed }";

/// One `work` state that reads tests, with these edges, and an end.
pub fn edges(list: &str) -> String {
    states(&format!(
        "a: {{ expects: tests, work: {{}}, on: {{ report: [ {list} ] }} }}\n{END}"
    ))
}

/// A workflow around an `each`: these nested states over the set `parts`.
pub fn each(nested: &str) -> String {
    with(
        "items: { parts: { key: id, needs: needs, fields: { id: string, needs: [string], kind: [plan, fix], n: int, ok: bool } } }\nvars: { count: int, name: string }",
        &format!(
            "a: {{ expects: survey, route: [ {{ load: {{ parts: =survey.subtasks }}, to: b }} ] }}\nb:\n  each: {{ items: parts, initial: c }}\n  on: {{ done: {{ to: z }} }}\n  states:\n{}{END}",
            indented(&indented(nested)).as_str()
        ),
    )
}
