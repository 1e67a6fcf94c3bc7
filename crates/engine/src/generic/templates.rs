//! The variables of a template, as the proof of a definition knows them.

use machine::Definition;

use crate::next_step;

/// Variables that every template of a workflow without rails of its own may name.
const STANDING: [&str; 22] = [
    "workflow.id",
    "workflow.title",
    "run.id",
    "state.id",
    "state.label",
    "state.phase",
    "unit.id",
    "unit.attempt",
    "unit.maxAttempts",
    "reason",
    "last.state",
    "last.outcome",
    "last.note",
    "last.files",
    "last.code",
    "last.message",
    "last.passed",
    "last.failed",
    "last.failing",
    "last.total",
    "last.under",
    "range",
];

/// The variables that templates of `definition` may name: those of every workflow, and what it declares.
pub(crate) fn variables(definition: &Definition) -> Vec<String> {
    let declared = |prefix: &'static str, names: Vec<&str>| {
        names
            .into_iter()
            .map(|name| format!("{prefix}.{name}"))
            .collect::<Vec<_>>()
    };
    let mut all: Vec<String> = STANDING.iter().map(|name| (*name).to_owned()).collect();
    all.extend(next_step::variables());
    all.extend(declared("inputs", definition.inputs.keys().collect()));
    all.extend(declared("vars", definition.vars.keys().collect()));
    for (_, set) in definition.items.iter() {
        all.extend(declared("item", set.fields.keys().collect()));
    }
    all
}
