//! Kinds of work: which ones a workflow has, and whether one that is named is among them.

use machine::Definition;
use machine::definition::FieldType;
use workspace::tasks::Subtask;

use crate::capability::TASKS;
use crate::fault;
use crate::fault::Fault;

/// The field of subtasks that says it.
const FIELD: &str = "kind";

/// The kinds of work that subtasks of a workflow may be of; none where it makes no difference between them.
pub(crate) fn known(definition: &Definition) -> &[String] {
    let set = definition.bound_set(TASKS, "into").unwrap_or_default();
    let mut sets = definition.items.iter();
    let field = sets
        .find(|(name, _)| name.value == set)
        .and_then(|(_, set)| set.fields.iter().find(|(name, _)| name.value == FIELD));
    match field.map(|(_, field)| &field.kind) {
        Some(FieldType::Enum(words)) => words,
        _ => &[],
    }
}

/// Refuses a kind of work that a workflow does not have. `whose` is who is said to be of it.
pub(crate) fn is_known(definition: &Definition, kind: &str, whose: &str) -> Result<(), Fault> {
    let known = known(definition);
    if known.iter().any(|known| known == kind) {
        return Ok(());
    }
    let id = &definition.id.value;
    if known.is_empty() {
        return Err(fault!("usage.no_kinds", whose, kind, id));
    }
    let kinds = known.join(", ");
    Err(fault!("usage.kind", whose, kind, id, kinds).expected(known.to_vec()))
}

/// Refuses a plan with a subtask of such a kind. Where the workflow has no kinds, nothing that the plan says of them means anything.
pub(crate) fn are_known(definition: &Definition, subtasks: &[Subtask]) -> Result<(), Fault> {
    if known(definition).is_empty() {
        return Ok(());
    }
    for subtask in subtasks.iter().filter(|subtask| !subtask.kind.is_empty()) {
        let whose = format!("subtask {}", subtask.id);
        is_known(definition, &subtask.kind, &whose)?;
    }
    Ok(())
}
