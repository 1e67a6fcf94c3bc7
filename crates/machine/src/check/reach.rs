//! Reach: every state can be reached, can reach an end, and no circle goes round without waiting.

use std::collections::{BTreeMap, BTreeSet};

use crate::definition::{Advance, Definition, Kind};
use crate::diagnostic::Diagnostic;
use crate::trigger::Trigger;

/// Where a state may lead, by any edge.
fn successors<'a>(definition: &'a Definition, name: &str) -> BTreeSet<&'a str> {
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
    all.extend(
        definition
            .otherwise(state)
            .iter()
            .filter_map(|edge| edge.to.as_ref())
            .map(|to| to.value.as_str()),
    );
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
    // From the ends backwards. An end by `abort` does not count as a way out: everything has that one.
    let mut before: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, name, state) in &here {
        let events = state
            .on
            .iter()
            .filter(|(event, _)| event.value != Trigger::Abort.name())
            .map(|(_, edges)| edges);
        let edges = state.route.iter().map(|edges| &edges.value).chain(events);
        let targets = edges
            .flat_map(|edges| &edges.0)
            .chain(definition.otherwise(state))
            .filter_map(|edge| edge.to.as_ref())
            .chain(&state.to);
        for to in targets {
            before.entry(&to.value).or_default().push(&name.value);
        }
    }
    let mut open: Vec<&str> = here
        .iter()
        .filter(|(_, _, state)| state.end.is_some())
        .map(|(_, name, _)| name.value.as_str())
        .collect();
    let mut leads_out: BTreeSet<&str> = open.iter().copied().collect();
    while let Some(at) = open.pop() {
        for name in before.get(at).into_iter().flatten() {
            if leads_out.insert(name) {
                open.push(name);
            }
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
    // What is left by a step alone is left when somebody asks for it.
    let passes = |name: &str| {
        let goes_on = definition.advances(name) == Advance::Auto;
        definition.state(name).is_some_and(|state| {
            goes_on && matches!(state.kind(), Kind::Route | Kind::Do | Kind::Each)
        })
    };
    // Depth first, each state entered once: what leads back to a state that is still open is a circle.
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for (_, begin, _) in definition.all_states() {
        if !passes(begin) || done.contains(begin.value.as_str()) {
            continue;
        }
        let mut way: Vec<(&str, Vec<&str>)> = vec![(begin, onward(definition, begin))];
        let mut open = BTreeSet::from([begin.value.as_str()]);
        while let Some((at, next)) = way.last_mut() {
            let at = *at;
            let Some(next) = next.pop() else {
                open.remove(at);
                done.insert(at);
                way.pop();
                continue;
            };
            if open.contains(next) {
                let mut path: Vec<&str> = way
                    .iter()
                    .map(|(name, _)| *name)
                    .skip_while(|name| *name != next)
                    .collect();
                path.push(next);
                let place = definition
                    .all_states()
                    .find(|(_, name, _)| name.value == next)
                    .map_or(begin.at, |(_, name, _)| name.at);
                faults.push(Diagnostic::new(
                    "circle",
                    place,
                    format!("this goes round without waiting: {}", path.join(" → ")),
                    "put a `work` state on the way, or lead one edge elsewhere",
                ));
            } else if passes(next) && !done.contains(next) {
                open.insert(next);
                way.push((next, onward(definition, next)));
            }
        }
    }
}

/// Where a state leads without anybody acting, the last one first.
fn onward<'a>(definition: &'a Definition, name: &str) -> Vec<&'a str> {
    moves_on(definition, name).into_iter().rev().collect()
}

/// Where a state leads without anybody acting.
fn moves_on<'a>(definition: &'a Definition, name: &str) -> BTreeSet<&'a str> {
    let Some(state) = definition.state(name) else {
        return BTreeSet::new();
    };
    let trigger = match state.kind() {
        Kind::Route => Trigger::Route,
        Kind::Each => Trigger::Done,
        Kind::Do => return state.to.iter().map(|to| to.value.as_str()).collect(),
        Kind::Work | Kind::Final => return BTreeSet::new(),
    };
    definition
        .edges(name, trigger)
        .iter()
        .chain(definition.otherwise(state))
        .filter_map(|edge| edge.to.as_ref())
        .map(|to| to.value.as_str())
        .collect()
}
