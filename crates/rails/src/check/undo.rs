//! What cannot be taken back comes last: behind a lasting effect, nothing may refuse before the run
//! waits again.

use std::collections::BTreeSet;

use super::Catalog;
use crate::definition::{Definition, Edge, Kind};
use crate::diagnostic::Diagnostic;
use crate::trigger::Trigger;

pub(super) fn check(definition: &Definition, catalog: &Catalog, faults: &mut Vec<Diagnostic>) {
    let lasting = |name: &str| {
        catalog
            .effects
            .get(name)
            .is_some_and(|effect| effect.lasting)
    };
    for (_, name, state) in definition.all_states() {
        let mut begins: Vec<(&str, &str)> = Vec::new();
        if let (Some(effects), Some(to)) = (&state.effects, &state.to)
            && let Some(effect) = effects.0.iter().find(|effect| lasting(effect))
        {
            begins.push((&effect.value, &to.value));
        }
        for edges in state
            .route
            .iter()
            .map(|edges| &edges.value)
            .chain(state.on.iter().map(|(_, edges)| edges))
        {
            for edge in &edges.0 {
                if let Some(to) = &edge.to
                    && let Some(effect) = edge.effects.0.iter().find(|effect| lasting(effect))
                {
                    begins.push((&effect.value, &to.value));
                }
            }
        }
        for (effect, to) in begins {
            let mut seen = BTreeSet::new();
            if let Some((at, place)) = refuses(definition, to, &mut seen) {
                faults.push(Diagnostic::new(
                    "refusal_after_effect",
                    place,
                    format!(
                        "`{at}` can refuse after `{effect}` was carried out on the way from `{}`, which could not be taken back",
                        name.value
                    ),
                    "let the route decide before the effect, or put a `work` state between them",
                ));
            }
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
    edges: &'a [crate::diagnostic::Located<Edge>],
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
