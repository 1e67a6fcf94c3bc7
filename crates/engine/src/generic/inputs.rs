//! The arguments of a start, held against what the definition declares.

use journal::layout::Name;
use machine::Definition;
use machine::definition::{Field, FieldType};
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::library;

/// The most that all inputs of a run take, in bytes: they stand in its first event, and in its snapshot.
const MOST_BYTES: usize = 256 * 1024;

impl Engine {
    /// Inputs given as text, such as `version=1.2` on a command line, as values of the types that the
    /// workflow declares.
    pub fn typed_inputs(
        &self,
        workflow: &str,
        given: &[(String, String)],
    ) -> Result<Map<String, Value>, Fault> {
        let (definition, _) = library::load(&self.root, workflow)?;
        let mut inputs = Map::new();
        for (name, text) in given {
            let Some(field) = definition.inputs.get(name) else {
                return Err(unknown(&definition, name));
            };
            let Some(value) = value_of(&field.kind, text) else {
                return Err(bad(&definition, name, field, &format!("`{text}`")));
            };
            if inputs.insert(name.clone(), value).is_some() {
                return Err(fault!("usage.typed_inputs", name));
            }
        }
        Ok(inputs)
    }
}

/// A text as a value of a type; none if it is not of that type.
fn value_of(kind: &FieldType, text: &str) -> Option<Value> {
    let text = match kind {
        FieldType::String | FieldType::Enum(_) => text,
        _ => text.trim(),
    };
    let value = match kind {
        FieldType::String | FieldType::Enum(_) => text.into(),
        FieldType::Number => text.parse::<f64>().ok()?.into(),
        // A run begins without items, so no input points at one.
        FieldType::Ref(_) => return None,
        FieldType::Strings if !text.starts_with('[') => {
            let parts = text.split(',').map(str::trim);
            parts.filter(|part| !part.is_empty()).collect()
        }
        _ => serde_json::from_str(text).ok()?,
    };
    kind.admits(&value).then_some(value)
}

/// Refuses inputs that the definition does not have, or that are of another type.
pub(super) fn check(definition: &Definition, given: &Map<String, Value>) -> Result<(), Fault> {
    for (name, value) in given {
        let Some(field) = definition.inputs.get(name) else {
            return Err(unknown(definition, name));
        };
        if !field.kind.admits(value) {
            return Err(bad(definition, name, field, &value.to_string()));
        }
    }
    let bytes: usize = given
        .iter()
        .map(|(name, value)| name.len() + value.to_string().len())
        .sum();
    if bytes > MOST_BYTES {
        return Err(fault!("too_large.inputs", bytes, most = MOST_BYTES));
    }
    Ok(())
}

/// What stands in the ids of work units must be a name: they are typed on command lines.
pub(super) fn check_unit_ids(
    definition: &Definition,
    given: &Map<String, Value>,
) -> Result<(), Fault> {
    for (name, field) in definition.inputs.iter() {
        let placeholder = format!("{{inputs.{}}}", name.value);
        let stands = [&definition.unit.item, &definition.unit.run]
            .iter()
            .any(|pattern| pattern.value.contains(&placeholder));
        if !stands || field.default_expression().is_some() {
            continue;
        }
        let value = given
            .get(&name.value)
            .cloned()
            .unwrap_or_else(|| field.empty());
        let text = value.as_str().unwrap_or_default();
        if let Err(flaw) = Name::check("input", text) {
            return Err(fault!(
                "usage.check_unit_ids",
                name = name.value,
                value = format!("{text:?}"),
                flaw = flaw.flaw,
                suggestion = flaw.suggestion()
            ));
        }
    }
    Ok(())
}

fn unknown(definition: &Definition, name: &str) -> Fault {
    let (workflow, declared) = (&definition.id.value, declared(definition));
    let known: Vec<&str> = definition.inputs.keys().collect();
    if known.is_empty() {
        return fault!("usage.no_inputs", workflow, name);
    }
    fault!("usage.unknown", workflow, name, declared).expected(known)
}

fn bad(definition: &Definition, name: &str, field: &Field, given: &str) -> Fault {
    let (workflow, kind) = (&definition.id.value, &field.kind);
    let declared = declared(definition);
    match kind {
        FieldType::Enum(words) => {
            let known = words.join(", ");
            fault!("usage.input_word", name, workflow, given, kind, known).expected(words.clone())
        }
        FieldType::Map => fault!("usage.input_map", name, workflow, given, kind, declared),
        FieldType::Strings => fault!("usage.input_list", name, workflow, given, kind, declared),
        _ => fault!("usage.input_type", name, workflow, given, kind, declared),
    }
}

fn declared(definition: &Definition) -> String {
    let all: Vec<String> = definition
        .inputs
        .iter()
        .map(|(name, field)| format!("{} ({})", name.value, field.kind))
        .collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_become_values_of_the_declared_type() {
        let words = FieldType::Enum(vec!["minor".to_owned(), "major".to_owned()]);
        for (kind, text, expected) in [
            (FieldType::String, "3", json!("3")),
            (FieldType::Int, " 3 ", json!(3)),
            (FieldType::Number, "2.5", json!(2.5)),
            (FieldType::Bool, "true", json!(true)),
            (FieldType::Strings, "a, b,", json!(["a", "b"])),
            (FieldType::Strings, "[\"a,b\"]", json!(["a,b"])),
            (FieldType::Strings, "", json!([])),
            (words.clone(), "major", json!("major")),
        ] {
            assert_eq!(value_of(&kind, text), Some(expected), "{kind} {text:?}");
        }
        for (kind, text) in [
            (FieldType::Int, "3.5"),
            (FieldType::Int, ""),
            (FieldType::Int, "99999999999999999999"),
            (FieldType::Number, "NaN"),
            (FieldType::Bool, "yes"),
            (FieldType::Strings, "[1]"),
            (words, "huge"),
        ] {
            assert_eq!(value_of(&kind, text), None, "{kind} {text:?}");
        }
    }
}
