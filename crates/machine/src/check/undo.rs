//! What cannot be taken back comes last: behind a lasting effect, nothing may refuse before the run
//! waits again.

use std::collections::BTreeSet;

use super::Catalog;
use crate::definition::{Definition, Edge, Edges, Kind};
use crate::diagnostic::{Diagnostic, Located};
use crate::guard::Expression;
use crate::trigger::Trigger;

pub(super) fn check(definition: &Definition, catalog: &Catalog, faults: &mut Vec<Diagnostic>) {
    unasked(definition, catalog, faults);
    let lasting = |name: &str| {
        catalog
            .effects
            .get(name)
            .is_some_and(|effect| effect.lasting)
    };
    let of_edges = |edges: &'_ Edges| -> Vec<(String, String)> {
        let with_effect = edges.0.iter().filter_map(|edge| {
            let effect = edge.effects.0.iter().find(|effect| lasting(effect))?;
            Some((effect.value.clone(), edge.to.as_ref()?.value.clone()))
        });
        with_effect.collect()
    };
    for (name, state) in definition
        .all_states()
        .map(|(_, name, state)| (name, state))
    {
        let mut ways = Vec::new();
        if let (Some(effects), Some(to)) = (&state.effects, &state.to)
            && let Some(effect) = effects.0.iter().find(|effect| lasting(effect))
        {
            ways.push((effect.value.clone(), to.value.clone()));
        }
        let lists = state.lists().map(|(_, edges)| edges);
        ways.extend(lists.flat_map(of_edges));
        let from = format!("from `{}`", name.value);
        refused_behind(definition, &from, &ways, faults);
    }
    let anywhere: Vec<_> = definition
        .on
        .iter()
        .flat_map(|(_, edges)| of_edges(edges))
        .collect();
    refused_behind(definition, "from anywhere", &anywhere, faults);
}

/// Ways, each with its effect and where it leads, behind which something may refuse.
fn refused_behind(
    definition: &Definition,
    from: &str,
    ways: &[(String, String)],
    faults: &mut Vec<Diagnostic>,
) {
    for (effect, to) in ways {
        let mut seen = BTreeSet::new();
        if let Some((at, place)) = refuses(definition, to, &mut seen) {
            faults.push(Diagnostic::new(
                "refusal_after_effect",
                place,
                format!(
                    "`{at}` can refuse after `{effect}` was carried out on the way {from}, which could not be taken back"
                ),
                "let the route decide before the effect, or put a `work` state between them",
            ));
        }
    }
}

/// What takes work away refuses where that is nowhere else: a run that nobody can end, unless it is only done where it is asked for.
fn unasked(definition: &Definition, catalog: &Catalog, faults: &mut Vec<Diagnostic>) {
    let mut one = |effect: &Located<String>, guard: Option<&Expression>| {
        let known = catalog.effects.get(effect.value.as_str());
        let Some(asked) = known.and_then(|effect| effect.asked_by) else {
            return;
        };
        let names = |guard: &Expression| {
            guard
                .paths()
                .is_ok_and(|paths| paths.contains(asked.map(str::to_owned).as_slice()))
        };
        if guard.is_some_and(names) {
            return;
        }
        let asked = asked.join(".");
        faults.push(Diagnostic::new(
            "effect_not_asked_for",
            effect.at,
            format!(
                "`{}` takes work away, and refuses where that is nowhere else: then the run could not go on from here",
                effect.value
            ),
            format!("do it only where somebody asks for it, in an edge with `when: {asked}`, and have one without behind it"),
        ));
    };
    let lists = definition
        .all_states()
        .flat_map(|(_, _, state)| state.lists());
    let edges = lists.flat_map(|(_, edges)| &edges.0);
    let anywhere = definition.on.iter().flat_map(|(_, edges)| &edges.0);
    for edge in edges.chain(anywhere).chain(&definition.otherwise.0) {
        for effect in &edge.effects.0 {
            one(effect, edge.when.as_ref());
        }
    }
    for (_, _, state) in definition.all_states() {
        for effect in state.effects.iter().flat_map(|effects| &effects.0) {
            one(effect, None);
        }
    }
}

/// The first state on the way from `name` to the next waiting one that can refuse.
fn refuses<'a>(
    definition: &'a Definition,
    name: &'a str,
    seen: &mut BTreeSet<&'a str>,
) -> Option<(&'a str, crate::diagnostic::Place)> {
    if !seen.insert(name) {
        return None;
    }
    let state = definition.state(name)?;
    match state.kind() {
        Kind::Work => None,
        Kind::Final => {
            // The end of an item: the next item begins, or the `each` is over.
            let parent = definition.parent(name)?;
            refuses_each(definition, parent, seen)
        }
        Kind::Each => refuses_each(definition, name, seen),
        Kind::Do => refuses(definition, state.to.as_ref()?, seen),
        Kind::Route => {
            if let Some(expects) = state.reader() {
                return Some((name, expects.at));
            }
            follow(
                definition,
                name,
                state.route.as_ref().map_or(&[], |edges| &edges.value.0),
                seen,
            )
        }
    }
}

fn refuses_each<'a>(
    definition: &'a Definition,
    name: &'a str,
    seen: &mut BTreeSet<&'a str>,
) -> Option<(&'a str, crate::diagnostic::Place)> {
    let each = definition.state(name)?.each.as_ref()?;
    if let Some(found) = refuses(definition, &each.initial.value, seen) {
        return Some(found);
    }
    follow(
        definition,
        name,
        definition.edges(name, Trigger::Done),
        seen,
    )
}

fn follow<'a>(
    definition: &'a Definition,
    name: &'a str,
    edges: &'a [Located<Edge>],
    seen: &mut BTreeSet<&'a str>,
) -> Option<(&'a str, crate::diagnostic::Place)> {
    for edge in edges {
        if let Some(refuse) = &edge.refuse {
            return Some((name, refuse.at));
        }
        if let Some(to) = &edge.to
            && let Some(found) = refuses(definition, &to.value, seen)
        {
            return Some(found);
        }
    }
    None
}
