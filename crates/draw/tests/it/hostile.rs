//! Definitions that nobody checked, and those whose names mean something to those who render them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use draw::{TooLarge, dot, mermaid, svg};
use machine::Definition;
use proptest::prelude::*;

use super::well_formed;
use crate::machines::{Choices, catalog, definition};

/// Draws it in every format, nothing and everything marked.
fn drawn(text: &str) -> Result<(), String> {
    let definition = Definition::parse(text).map_err(|fault| fault.render("x.yaml", text))?;
    let all: BTreeSet<&str> = definition
        .all_states()
        .map(|(_, name, _)| name.value.as_str())
        .collect();
    for present in [BTreeSet::new(), all] {
        well_formed::mermaid(&mermaid(&definition, &present))?;
        well_formed::dot(&dot(&definition, &present))?;
        match svg(&definition, &present) {
            Ok(picture) => well_formed::svg(&picture)?,
            Err(TooLarge) => return Err("too large".to_owned()),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_machine_is_drawn(bytes in proptest::collection::vec(any::<u8>(), 0..160)) {
        let text = definition(&mut Choices::new(&bytes));
        prop_assert!(Definition::load(&text, &catalog()).is_ok());
        drawn(&text).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn any_text_stays_a_label(label in any::<String>(), name in any::<String>(), guard in any::<String>()) {
        let quoted = |text: &str| serde_json::to_string(text).expect("a string");
        let text = format!(
            "tramline: 1\nid: {id}\ntitle: {label}\nvars: {{ n: int }}\nitems: {{ s: {{ key: id, fields: {{ id: string }} }} }}\n\
             initial: a\non: {{ abort: {{ to: z }} }}\nstates:\n  \
             a: {{ label: {label}, gate: {name}, work: {{}}, on: {{ report: [ {{ when: {guard}, retry: {name} }}, {{ to: b }} ] }} }}\n  \
             b: {{ label: {label}, each: {{ items: {name}, initial: c }}, on: {{ done: {{ to: z }} }}, states: {{ c: {{ label: {label}, final: completed }} }} }}\n  \
             z: {{ label: {label}, final: aborted }}\n",
            id = quoted(&name),
            label = quoted(&label),
            name = quoted(&name),
            guard = quoted(&format!("vars.n == size({})", quoted(&guard))),
        );
        // What the reader of definitions refuses is nothing to draw.
        if Definition::parse(&text).is_ok() {
            drawn(&text).map_err(TestCaseError::fail)?;
        }
    }
}

#[test]
fn what_was_never_checked_is_drawn_as_far_as_it_goes() {
    let head = "tramline: 1\nid: x\ntitle: X\n";
    for rest in [
        "initial: nowhere\nstates: {}\n",
        "initial: a\nstates: { a: { work: {}, to: nowhere } }\n",
        // Into a frame, out of it, and from one frame into another.
        "initial: c\nstates:\n  a: { work: {}, to: c }\n  b:\n    each: { items: s, initial: c }\n    on: { done: { to: b } }\n    states:\n      c: { work: {}, to: a }\n      d: { work: {}, to: f }\n  e:\n    each: { items: s, initial: a }\n    on: { done: { to: b }, skip: { to: d } }\n    states:\n      f: { work: {}, to: e }\n",
        // Nested twice, the same name twice, states without an `each`.
        "initial: a\nstates:\n  a:\n    each: { items: s, initial: a }\n    states:\n      a: { each: { items: s, initial: b }, states: { b: { final: failed } } }\n  b: { states: { c: { work: {}, to: b } } }\n",
        "initial: a\nstates:\n  a: {}\n  b: { final: error, work: {}, to: b }\n",
    ] {
        drawn(&format!("{head}{rest}")).unwrap_or_else(|fault| panic!("{rest}: {fault}"));
    }
}

#[test]
fn a_picture_has_bounds_and_the_other_formats_have_none() {
    let head = "tramline: 1\nid: x\ntitle: X\ninitial: s0\nstates:\n";
    let mut wide = head.to_owned();
    for number in 0..2000 {
        let _ = writeln!(wide, "  s{number}: {{ work: {{}}, to: s{} }}", number + 1);
    }
    wide.push_str("  s2000: { final: completed }\n");
    // Few states, each with an arrow to every other.
    let mut dense = head.to_owned();
    for number in 0..60 {
        let all: Vec<String> = (0..60).map(|to| format!("{{ to: s{to} }}")).collect();
        let _ = writeln!(dense, "  s{number}: {{ route: [{}] }}", all.join(","));
    }
    for text in [wide, dense] {
        assert!(text.len() < machine::definition::MAX_BYTES);
        let definition = Definition::parse(&text).expect("it can be read");
        assert_eq!(svg(&definition, &BTreeSet::new()), Err(TooLarge));
        well_formed::mermaid(&mermaid(&definition, &BTreeSet::new())).unwrap();
        well_formed::dot(&dot(&definition, &BTreeSet::new())).unwrap();
    }
}
