//! Reach: every state can be reached, can reach an end, and no circle goes round without waiting.

use std::collections::{BTreeMap, BTreeSet};

use crate::definition::{Definition, Kind};
use crate::diagnostic::Diagnostic;

/// Where a state may lead, by any edge.
pub(super) fn successors<'a>(definition: &'a Definition, name: &str) -> BTreeSet<&'a str> {
    let mut all = BTreeSet::new();
    let Some(state) = definition.state(name) else {
        return all;
    };
    all.extend(state.to.as_ref().map(|to| to.value.as_str()));
    for edges in state
        .route
        .iter()
        .map(|edges| &edges.value)
        .chain(state.on.iter().map(|(_, edges)| edges))
    {
        all.extend(
            edges
                .0
                .iter()
                .filter_map(|edge| edge.to.as_ref())
                .map(|to| to.value.as_str()),
        );
    }
    if definition.parent(name).is_none() && state.kind() != Kind::Final {
        for (_, edges) in definition.on.iter() {
            all.extend(
                edges
                    .0
                    .iter()
                    .filter_map(|edge| edge.to.as_ref())
                    .map(|to| to.value.as_str()),
            );
        }
    }
    all
}

pub(super) fn check(definition: &Definition, faults: &mut Vec<Diagnostic>) {
    level(definition, None, &definition.initial, faults);
    for (name, state) in definition.states.iter() {
        if let Some(each) = &state.each {
            level(definition, Some(&name.value), &each.initial, faults);
        }
    }
    circles(definition, faults);
}

fn level(
    definition: &Definition,
    parent: Option<&str>,
    initial: &str,
    faults: &mut Vec<Diagnostic>,
) {
    let here: Vec<_> = definition
        .all_states()
        .filter(|(of, _, _)| *of == parent)
        .collect();
    let mut reached = BTreeSet::from([initial]);
    let mut open = vec![initial];
    while let Some(at) = open.pop() {
        for next in successors(definition, at) {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    // An end by `abort` does not count as a way out: everything has that one.
    let mut leads_out: BTreeSet<&str> = here
        .iter()
        .filter(|(_, _, state)| state.end.is_some())
        .map(|(_, name, _)| name.value.as_str())
        .collect();
    let own: BTreeMap<&str, BTreeSet<&str>> = here
        .iter()
        .map(|(_, name, state)| {
            let mut to: BTreeSet<&str> = state.to.iter().map(|to| to.value.as_str()).collect();
            for edges in state
                .route
                .iter()
                .map(|edges| &edges.value)
                .chain(state.on.iter().map(|(_, edges)| edges))
            {
                to.extend(
                    edges
                        .0
                        .iter()
                        .filter_map(|edge| edge.to.as_ref())
                        .map(|to| to.value.as_str()),
                );
            }
            (name.value.as_str(), to)
        })
        .collect();
    loop {
        let before = leads_out.len();
        for (name, to) in &own {
            if to.iter().any(|to| leads_out.contains(to)) {
                leads_out.insert(name);
            }
        }
        if leads_out.len() == before {
            break;
        }
    }
    for (_, name, _) in &here {
        if !reached.contains(name.value.as_str()) {
            faults.push(Diagnostic::new(
                "unreachable_state",
                name.at,
                format!("nothing leads to `{}`", name.value),
                "lead an edge to it, or take it away",
            ));
        } else if !leads_out.contains(name.value.as_str()) {
            faults.push(Diagnostic::new(
                "no_way_out",
                name.at,
                format!("from `{}` no end can be reached", name.value),
                "lead an edge towards a `final` state",
            ));
        }
    }
}

/// A circle of states none of which is sure to wait would go round for ever.
fn circles(definition: &Definition, faults: &mut Vec<Diagnostic>) {
    let passes: Vec<_> = definition
        .all_states()
        .filter(|(_, _, state)| matches!(state.kind(), Kind::Route | Kind::Do | Kind::Each))
        .collect();
    for (_, name, _) in &passes {
        let mut open: Vec<(&str, Vec<&str>)> = vec![(&name.value, vec![&name.value])];
        let mut seen = BTreeSet::new();
        while let Some((at, path)) = open.pop() {
            for next in moves_on(definition, at) {
                if next == name.value {
                    let mut path = path.clone();
                    path.push(next);
                    // Each circle is told once, from the first of its states in the file.
                    let first = passes
                        .iter()
                        .find(|(_, other, _)| path.contains(&other.value.as_str()))
                        .map(|(_, other, _)| &other.value);
                    if first == Some(&name.value) {
                        faults.push(Diagnostic::new(
                            "circle",
                            name.at,
                            format!("this goes round without waiting: {}", path.join(" → ")),
                            "put a `work` state on the way, or lead one edge elsewhere",
                        ));
                    }
                    return;
                }
                let passing = definition.state(next).is_some_and(|state| {
                    matches!(state.kind(), Kind::Route | Kind::Do | Kind::Each)
                });
                if passing && seen.insert(next) {
                    let mut path = path.clone();
                    path.push(next);
                    open.push((next, path));
                }
            }
        }
    }
}

/// Where a state leads without anybody acting.
pub(super) fn moves_on<'a>(definition: &'a Definition, name: &str) -> BTreeSet<&'a str> {
    let Some(state) = definition.state(name) else {
        return BTreeSet::new();
    };
    let event = match state.kind() {
        Kind::Route => "route",
        Kind::Each => "done",
        Kind::Do => return state.to.iter().map(|to| to.value.as_str()).collect(),
        Kind::Work | Kind::Final => return BTreeSet::new(),
    };
    definition
        .edges(name, event)
        .iter()
        .filter_map(|edge| edge.to.as_ref())
        .map(|to| to.value.as_str())
        .collect()
}
