//! Routers: whatever the facts are, some edge takes them. Proved by going through the declared
//! words and truth values; any other guard needs an unguarded edge behind it.

use serde_json::{Map, Value};

use super::Catalog;
use super::guards::{self, Names, lowest, put};
use crate::definition::{Definition, Edge, Edges, FieldType};
use crate::diagnostic::{Diagnostic, Located, Place};
use crate::trigger::Trigger;

/// The most combinations that are gone through.
const MOST_COMBINATIONS: usize = 4096;

pub(super) fn check(definition: &Definition, catalog: &Catalog, faults: &mut Vec<Diagnostic>) {
    for (parent, name, state) in definition.all_states() {
        for (trigger, edges) in state.lists() {
            // `reopen`, `skip` and `abort` may say no: then the command is refused by name.
            if !matches!(trigger, Trigger::Route | Trigger::Report | Trigger::Done) {
                continue;
            }
            let reads = (trigger != Trigger::Done).then_some(state);
            let names = guards::names(definition, catalog, parent, reads, None);
            let behind = match trigger {
                Trigger::Done => &[][..],
                _ => definition.otherwise(state),
            };
            let all: Vec<&Located<Edge>> = edges.0.iter().chain(behind).collect();
            if let Some(why) = gap(&all, &names) {
                faults.push(Diagnostic::new(
                    "no_edge_matches",
                    place(edges, name.at),
                    format!("`{}` can match nothing: {why}", name.value),
                    "give it a last edge without `when`, or end it with `refuse: CODE`",
                ));
            }
        }
    }
}

fn place(edges: &Edges, fallback: Place) -> Place {
    edges
        .0
        .iter()
        .rev()
        .filter_map(|edge| edge.when.as_ref())
        .map(|guard| guard.at)
        .next()
        .unwrap_or(fallback)
}

/// Facts that no edge takes, in words.
fn gap(edges: &[&Located<Edge>], names: &Names) -> Option<String> {
    let stopping: Vec<_> = edges.iter().filter(|edge| !edge.is_note()).collect();
    if stopping.iter().any(|edge| edge.when.is_none()) {
        return None;
    }
    let mut varied: Vec<(String, Vec<Value>)> = Vec::new();
    for guard in stopping.iter().filter_map(|edge| edge.when.as_ref()) {
        for path in guard.paths().ok()? {
            let dotted = path.join(".");
            if varied.iter().any(|(name, _)| *name == dotted) {
                continue;
            }
            let values = match names.get(&dotted)? {
                FieldType::Bool => vec![Value::from(true), Value::from(false)],
                FieldType::Enum(words) => words
                    .iter()
                    .map(|word| Value::from(word.as_str()))
                    .collect(),
                _ => {
                    return Some(format!(
                        "`{dotted}` has more values than can be gone through"
                    ));
                }
            };
            varied.push((dotted, values));
        }
    }
    let combinations = varied
        .iter()
        .try_fold(1_usize, |all, (_, values)| all.checked_mul(values.len()))
        .unwrap_or(usize::MAX);
    if combinations > MOST_COMBINATIONS {
        return Some(format!(
            "its guards have more than {MOST_COMBINATIONS} combinations"
        ));
    }
    for number in 0..combinations {
        let mut facts: Map<String, Value> = lowest(names);
        let mut rest = number;
        let mut told = Vec::new();
        for (name, values) in &varied {
            let value = &values[rest % values.len()];
            rest /= values.len();
            put(&mut facts, name, value.clone());
            told.push(format!("{name} is {value}"));
        }
        let taken = stopping
            .iter()
            .filter_map(|edge| edge.when.as_ref())
            .any(|guard| guard.holds(&facts).unwrap_or(false));
        if !taken {
            return Some(format!("no edge takes it when {}", told.join(" and ")));
        }
    }
    None
}
