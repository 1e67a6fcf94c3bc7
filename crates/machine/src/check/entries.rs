//! Entries of a resource, under names of the file's own: each is what it takes, and each that is named is there.

use serde_json::Value;

use super::catalog::{Catalog, Entries, NamedEntry};
use crate::definition::{Definition, Literal, ResourceDef, ResourceValue};
use crate::diagnostic::{Diagnostic, Located, Place};
use text::nearest;

pub(super) fn check(
    name: &Located<String>,
    resource: &ResourceDef,
    known: &Entries,
    faults: &mut Vec<Diagnostic>,
) {
    for (entry, value) in resource.0.iter() {
        let fields = match &value.value {
            ResourceValue::Literal(literal) => {
                let is_text = matches!(literal, Literal::Value(value) if value.is_string() && says_something(value));
                if !is_text {
                    faults.push(bad(entry, value.at, known, "is no text"));
                }
                let named = placeholder(literal);
                faults.extend(named.map(|what| bad(entry, value.at, known, &what)));
                continue;
            }
            ResourceValue::Fields(fields) => fields,
        };
        if fields.get(known.short).is_none() {
            let lacks = format!("has no `{}`", known.short);
            faults.push(bad(entry, entry.at, known, &lacks));
        }
        for (field, value) in fields.iter() {
            let named = placeholder(&value.value);
            faults.extend(named.map(|what| bad(entry, value.at, known, &what)));
            let kind = known.fields.iter().find(|(name, _)| *name == field.value);
            let Some((_, kind)) = kind else {
                let unknown = format!("has no field `{}`", field.value);
                faults.push(bad(entry, field.at, known, &unknown));
                continue;
            };
            let fits = match &value.value {
                Literal::Value(value) => kind.admits(value) && says_something(value),
                Literal::Expression(_) => false,
            };
            if !fits {
                let other = format!("has a `{}` that is no {kind}", field.value);
                faults.push(bad(entry, value.at, known, &other));
            }
        }
    }
    if resource.0.is_empty() {
        faults.push(Diagnostic::new(
            "bad_parameter",
            name.at,
            format!("`{}` declares no {}", name.value, known.noun),
            format!("write `{}: {{ NAME: TEXT }}`, or take it away", name.value),
        ));
    }
}

/// What is wrong with a text that names a value of the run in braces: it is taken as it stands.
fn placeholder(value: &Literal) -> Option<String> {
    let Literal::Value(Value::String(text)) = value else {
        return None;
    };
    let braces = text.split('{').skip(1);
    let mut names = braces.filter_map(|behind| Some(behind.split_once('}')?.0.trim()));
    let of_run = ["item.", "inputs.", "vars."];
    let name = names.find(|name| of_run.iter().any(|of| name.starts_with(of)))?;
    Some(format!("names `{name}`, and nothing is put in its place"))
}

/// Whether it is no empty text, and no number below 1.
fn says_something(value: &Value) -> bool {
    let is_blank = value.as_str().is_some_and(|text| text.trim().is_empty());
    !is_blank && value.as_i64().is_none_or(|number| number > 0)
}

fn bad(entry: &Located<String>, at: Place, known: &Entries, what: &str) -> Diagnostic {
    let fields: Vec<String> = known
        .fields
        .iter()
        .map(|(name, kind)| format!("{name} ({kind})"))
        .collect();
    Diagnostic::new(
        "bad_parameter",
        at,
        format!("the {} `{}` {what}", known.noun, entry.value),
        format!(
            "write `{}: TEXT`, or a map of {}; nothing in it is an expression",
            entry.value,
            fields.join(", ")
        ),
    )
}

/// Whoever works with an entry of a resource names one that is there, and has what it takes.
pub(super) fn named(
    definition: &Definition,
    catalog: &Catalog,
    by: &Located<String>,
    entry: NamedEntry,
    named: Option<(&str, Place)>,
    faults: &mut Vec<Diagnostic>,
) {
    let known = catalog.resources.get(entry.of);
    let (Some(Entries { noun, short, .. }), Some(declared)) = (
        known.and_then(|resource| resource.entries),
        definition.uses.get(entry.of),
    ) else {
        // That the resource is missing is told with what needs it.
        return;
    };
    let Some((name, at)) = named else {
        faults.push(Diagnostic::new(
            "unknown_entry",
            by.at,
            format!("`{}` does not say which {noun} it is about", by.value),
            format!(
                "name one of `uses: {{ {}: … }}` with `{}: NAME`",
                entry.of, entry.key
            ),
        ));
        return;
    };
    let Some(value) = declared.0.get(name) else {
        let near = nearest(name, declared.0.keys());
        faults.push(Diagnostic::new(
            "unknown_entry",
            at,
            format!("`{}` declares no {noun} `{name}`", entry.of),
            match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it: `uses: {{ {}: {{ {name}: TEXT }} }}`", entry.of),
            },
        ));
        return;
    };
    let has = |field: &&str| match &value.value {
        ResourceValue::Literal(_) => false,
        ResourceValue::Fields(fields) => fields
            .get(field)
            .is_some_and(|value| !matches!(&value.value, Literal::Value(value) if *value == false)),
    };
    if !entry.with.is_empty() && !entry.with.iter().any(has) {
        faults.push(Diagnostic::new(
            "needs_field",
            at,
            format!(
                "after a crash in `{}` nobody could say what is to become of `{name}`: it has no `{}`",
                by.value,
                entry.with.join("` and no `")
            ),
            format!(
                "write `{name}: {{ {short}: TEXT, {}: … }}`",
                entry.with.join(": …` or `")
            ),
        ));
    }
}
