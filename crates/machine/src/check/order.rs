//! Order: what a reader looks at, or an effect works on, was made by an effect on every way that leads there.

use std::collections::BTreeSet;

use super::catalog::{Catalog, Effect};
use crate::definition::{Definition, Edge, Kind, StateDef};
use crate::diagnostic::{Diagnostic, Located};
use crate::trigger::Trigger;

pub(super) fn check(definition: &Definition, catalog: &Catalog, faults: &mut Vec<Diagnostic>) {
    let made: BTreeSet<&str> = catalog
        .effects
        .values()
        .filter(|effect| effect.needs.iter().all(|need| definition.works_with(need)))
        .flat_map(|effect| effect.makes.iter().copied())
        .collect();
    for what in made {
        Walk {
            definition,
            catalog,
            what,
        }
        .check(faults);
    }
}

/// A walk through all states that a run can come to before `what` was made.
struct Walk<'a> {
    definition: &'a Definition,
    catalog: &'a Catalog,
    what: &'a str,
}

impl<'a> Walk<'a> {
    fn check(&self, faults: &mut Vec<Diagnostic>) {
        let initial = self.definition.initial.value.as_str();
        let mut reached = BTreeSet::from([initial]);
        let mut open = vec![initial];
        while let Some(at) = open.pop() {
            let Some(state) = self.definition.state(at) else {
                continue;
            };
            if let Some(reader) = state.reader()
                && let Some(known) = self.catalog.readers.get(&reader.value)
                && known.takes.contains(&self.what)
            {
                faults.push(self.too_early(reader, at));
            }
            for next in self.onward(state, at, faults) {
                if reached.insert(next) {
                    open.push(next);
                }
            }
        }
    }

    /// Where a state leads without making it.
    fn onward(&self, state: &'a StateDef, at: &str, faults: &mut Vec<Diagnostic>) -> Vec<&'a str> {
        let mut all = Vec::new();
        if let Some(each) = &state.each {
            all.push(each.initial.value.as_str());
        }
        let own = state.effects.iter().flat_map(|effects| &effects.value.0);
        if state.kind() != Kind::Final && !self.is_made(own, at, faults) {
            all.extend(state.to.as_ref().map(|to| to.value.as_str()));
        }
        let aside = [Trigger::Reopen, Trigger::Skip].map(|aside| self.definition.edges(at, aside));
        let events = state
            .on
            .iter()
            .filter(|(event, _)| event.value != Trigger::Abort.name());
        let lists = state.route.iter().map(|edges| &edges.value);
        let edges = lists
            .chain(events.map(|(_, edges)| edges))
            .flat_map(|edges| &edges.0)
            .chain(aside.into_iter().flatten());
        for edge in edges.chain(self.definition.otherwise(state)) {
            let edge: &Edge = edge;
            if !self.is_made(edge.effects.0.iter(), at, faults) {
                all.extend(edge.to.as_ref().map(|to| to.value.as_str()));
            }
        }
        all
    }

    /// Whether one of these effects makes it. What works on it before that is a fault.
    fn is_made(
        &self,
        effects: impl Iterator<Item = &'a Located<String>>,
        at: &str,
        faults: &mut Vec<Diagnostic>,
    ) -> bool {
        for effect in effects {
            let Some(known) = self.catalog.effects.get(&effect.value) else {
                continue;
            };
            if known.makes.contains(&self.what) {
                return true;
            }
            if known.takes.contains(&self.what) {
                faults.push(self.too_early(effect, at));
            }
        }
        false
    }

    fn too_early(&self, by: &Located<String>, at: &str) -> Diagnostic {
        let makes = |effect: &Effect| effect.makes.contains(&self.what);
        let mut makers = self
            .catalog
            .effects
            .iter()
            .filter(|(_, effect)| makes(effect));
        let maker = makers.next().map_or("", |(name, _)| name.as_str());
        Diagnostic::new(
            "not_made_yet",
            by.at,
            format!(
                "`{}` in `{at}` needs the {} of the run, and a run can come here before it is made",
                by.value, self.what
            ),
            format!("let an edge on every way to it have `do: {maker}`"),
        )
    }
}
