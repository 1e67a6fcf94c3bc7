//! Guards: each parses, names only what is there, and gives what its place needs on sample facts.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Catalog;
use crate::approval::GateMode;
use crate::command::command_flags;
use crate::definition::{
    Added, Assign, Definition, Edge, FieldType, Gate, ItemSetDef, Literal, StateDef,
};
use crate::diagnostic::Diagnostic;
use crate::guard::Expression;
use crate::trigger::Trigger;
use text::nearest;

/// What may be named at a place, with the type of each name.
pub(super) type Names = BTreeMap<String, FieldType>;

pub(super) fn check(definition: &Definition, catalog: &Catalog, faults: &mut Vec<Diagnostic>) {
    let start = names(definition, catalog, None, None, None);
    for (_, field) in definition.inputs.iter().chain(definition.vars.iter()) {
        if let Some(expression) = field.default_expression() {
            one(expression, &start, Some(&field.kind), faults);
        }
    }
    for (_, mode) in definition.gates.iter() {
        if let Gate::Expression(expression) = mode {
            one(expression, &start, Some(&FieldType::String), faults);
            is_mode(expression, &start, faults);
        }
    }
    for (_, set) in definition.items.iter() {
        if let Some(alone) = set.waves.as_ref().and_then(|waves| waves.alone.as_ref()) {
            let it = set.fields.iter();
            let it = it.map(|(name, field)| (format!("it.{}", name.value), field.kind.clone()));
            one(alone, &it.collect(), Some(&FieldType::Bool), faults);
        }
    }
    for (_, edges) in definition.on.iter() {
        for edge in &edges.0 {
            one_edge(definition, catalog, None, None, edge, faults);
        }
    }
    for (parent, _, state) in definition.all_states() {
        if let Some(Literal::Expression(expression)) = state
            .work
            .as_ref()
            .and_then(|work| work.attempts.as_ref())
            .map(|attempts| &attempts.value)
        {
            let names = names(definition, catalog, parent, None, None);
            one(expression, &names, Some(&FieldType::Int), faults);
        }
        for edge in definition.otherwise(state) {
            one_edge(definition, catalog, parent, Some(state), edge, faults);
        }
        for (trigger, edges) in state.lists() {
            let reads = matches!(trigger, Trigger::Route | Trigger::Report).then_some(state);
            for edge in &edges.0 {
                one_edge(definition, catalog, parent, reads, edge, faults);
            }
        }
    }
}

/// The mode of a gate is one of a few words, so what it is made of has to be: the settings are, and types that name them.
fn is_mode(expression: &Expression, names: &Names, faults: &mut Vec<Diagnostic>) {
    let is_mode = |word: &String| GateMode::named(word).is_some();
    let alone = |path: &[String]| expression.text.trim() == path.join(".");
    let paths = expression.paths().unwrap_or_default();
    let other = paths.iter().find(|path| {
        let kind = names.get(&path.join("."));
        path[0] != "config"
            && match kind {
                Some(FieldType::String) => true,
                // Compared with something, a word may be any.
                Some(FieldType::Enum(words)) => alone(path) && !words.iter().all(is_mode),
                _ => false,
            }
    });
    if let Some(path) = other {
        let path = path.join(".");
        let modes = GateMode::words().join(", ");
        faults.push(Diagnostic::new(
            "not_a_mode",
            expression.at,
            format!(
                "`{path}` can be something else than the mode of a gate, which is one of {modes}"
            ),
            format!("give it the type `[{modes}]`, or some of these"),
        ));
    }
}

fn one_edge(
    definition: &Definition,
    catalog: &Catalog,
    parent: Option<&str>,
    state: Option<&StateDef>,
    edge: &Edge,
    faults: &mut Vec<Diagnostic>,
) {
    let before = names(definition, catalog, parent, state, None);
    if let Some(guard) = &edge.when {
        one(guard, &before, Some(&FieldType::Bool), faults);
    }
    let after = names(definition, catalog, parent, state, Some(edge));
    for ((target, value), (name, _)) in edge.assigns().zip(edge.set.iter()) {
        let kind = match target {
            Assign::Var(name) => definition.vars.get(name).map(|field| &field.kind),
            Assign::Field { cursor, field } => items_of(definition, parent)
                .filter(|_| cursor == "item")
                .or_else(|| definition.cursor(cursor).map(|(_, set)| set))
                .and_then(|set| set.fields.get(field))
                .map(|field| &field.kind),
        };
        match value {
            Literal::Expression(expression) => one(expression, &after, kind, faults),
            Literal::Value(value) => {
                let whole = matches!(kind, Some(FieldType::Ref(_)))
                    && value.as_str().is_some_and(|key| !key.is_empty());
                if let Some(kind) = kind
                    && (!kind.admits(value) || whole)
                {
                    faults.push(Diagnostic::new(
                        "bad_value",
                        name.at,
                        format!("{value} is not of type {kind}"),
                        "write a value of that type",
                    ));
                }
            }
        }
    }
    for (set, added) in edge.add.iter() {
        // A list may be what an effect of this edge gives.
        if let Added::Listed(Literal::Expression(list)) = added {
            one(list, &after, None, faults);
        }
        for (name, value) in added.fields() {
            if let Literal::Expression(expression) = value {
                let kind = definition
                    .items
                    .get(set)
                    .and_then(|set| set.fields.get(name))
                    .map(|field| &field.kind);
                one(expression, &before, kind, faults);
            }
        }
    }
    for (_, value) in edge.load.iter().chain(edge.with.iter()) {
        if let Literal::Expression(expression) = value {
            one(expression, &before, None, faults);
        }
    }
    if let Some(Literal::Expression(expression)) = &edge.reason {
        one(expression, &before, Some(&FieldType::String), faults);
    }
}

fn items_of<'a>(definition: &'a Definition, parent: Option<&str>) -> Option<&'a ItemSetDef> {
    let each = definition.state(parent?)?.each.as_ref()?;
    definition.items.get(&each.items)
}

/// Everything that an expression may name there.
pub(super) fn names(
    definition: &Definition,
    catalog: &Catalog,
    parent: Option<&str>,
    state: Option<&StateDef>,
    edge: Option<&Edge>,
) -> Names {
    let mut names = Names::new();
    for (name, field) in definition.inputs.iter() {
        names.insert(format!("inputs.{}", name.value), field.kind.clone());
    }
    for (name, field) in definition.vars.iter() {
        names.insert(format!("vars.{}", name.value), field.kind.clone());
    }
    if let Some(values) = definition
        .config
        .as_ref()
        .and_then(|section| catalog.sections.get(&section.value))
    {
        add_values(&mut names, "config", values);
    }
    if let Some(set) = items_of(definition, parent) {
        for (name, field) in set.fields.iter() {
            names.insert(format!("item.{}", name.value), field.kind.clone());
        }
    }
    names.insert("attempt".to_owned(), FieldType::Int);
    for (flag, kind) in command_flags() {
        names.insert(format!("command.{flag}"), kind);
    }
    names.insert("command.reason".to_owned(), FieldType::String);
    names.insert("run.paused".to_owned(), FieldType::String);
    for (name, _) in definition.vars.iter() {
        if let Some((_, declared)) = definition.cursor(name) {
            for (field, kind) in declared.fields.iter() {
                names.insert(format!("{}.{}", name.value, field.value), kind.kind.clone());
            }
            if let Some(source) = &declared.of {
                for count in ["size", "blocked"] {
                    names.insert(format!("{}.{count}", name.value), FieldType::Int);
                }
                counts(&mut names, &name.value, definition.items.get(source));
            }
        }
    }
    for (set, declared) in definition.items.iter() {
        counts(&mut names, &set.value, Some(declared));
        for count in ["size", "remaining", "done", "failed", "blocked"] {
            names.insert(format!("{}.{count}", set.value), FieldType::Int);
        }
        for (name, field) in declared.fields.iter() {
            names.insert(
                format!("{}.next.{}", set.value, name.value),
                field.kind.clone(),
            );
        }
    }
    if let Some(reader) = state.and_then(StateDef::reader)
        && let Some(known) = catalog.readers.get(&reader.value)
    {
        for (name, kind) in &known.facts {
            names.insert(format!("{}.{name}", reader.value), kind.clone());
        }
    }
    if let Some(effect) = edge.and_then(|edge| edge.effects.0.last())
        && let Some(known) = catalog.effects.get(&effect.value)
    {
        for (name, kind) in &known.result {
            names.insert(format!("result.{name}"), kind.clone());
        }
    }
    names
}

/// How many items have each status.
fn counts(names: &mut Names, prefix: &str, set: Option<&ItemSetDef>) {
    let statuses = set.and_then(|set| set.status.as_ref());
    for (status, _) in statuses.iter().flat_map(|statuses| statuses.names()) {
        names.insert(format!("{prefix}.count.{status}"), FieldType::Int);
    }
}

fn add_values(names: &mut Names, prefix: &str, values: &Value) {
    let kind = match values {
        Value::Object(map) => {
            for (name, value) in map {
                add_values(names, &format!("{prefix}.{name}"), value);
            }
            return;
        }
        Value::Bool(_) => FieldType::Bool,
        Value::Number(number) if number.is_f64() => FieldType::Number,
        Value::Number(_) => FieldType::Int,
        Value::Array(_) => FieldType::Strings,
        Value::String(_) | Value::Null => FieldType::String,
    };
    names.insert(prefix.to_owned(), kind);
}

fn one(
    expression: &Expression,
    names: &Names,
    expected: Option<&FieldType>,
    faults: &mut Vec<Diagnostic>,
) {
    let paths = match expression.paths() {
        Ok(paths) => paths,
        Err(fault) => {
            faults.push(Diagnostic::new(
                "bad_expression",
                expression.at,
                format!("`{}` {}", shorten(&expression.text), fault.why),
                "guards are CEL: `tests.failed > 0 && config.enabled`; at most 1024 bytes, at most 16 deep",
            ));
            return;
        }
    };
    let mut unknown = false;
    for path in &paths {
        let dotted = path.join(".");
        let prefix = format!("{dotted}.");
        if names.contains_key(&dotted) || names.keys().any(|name| name.starts_with(&prefix)) {
            continue;
        }
        unknown = true;
        let near = nearest(&dotted, names.keys().map(String::as_str));
        faults.push(Diagnostic::new(
            "unknown_name",
            expression.at,
            format!("`{dotted}` means nothing here"),
            near.map_or_else(
                || "guards see inputs, vars, config, item (inside an each), the item sets, and the facts of the state's reader".to_owned(),
                |near| format!("did you mean `{near}`?"),
            ),
        ));
    }
    if unknown {
        return;
    }
    for level in 0..3 {
        let sample = sample(names, level);
        match expression.evaluate(&sample) {
            Err(fault) => {
                faults.push(Diagnostic::new(
                    "bad_expression",
                    expression.at,
                    format!(
                        "`{}` fails on ordinary facts: {}",
                        shorten(&expression.text),
                        fault.why
                    ),
                    "compare numbers with numbers and text with text",
                ));
                return;
            }
            Ok(value) => {
                if let Some(kind) = expected
                    && !kind.admits(&value)
                    && !matches!(kind, FieldType::Enum(_) if value.is_string())
                {
                    faults.push(Diagnostic::new(
                        "bad_expression",
                        expression.at,
                        format!(
                            "`{}` gives {value}, where a value of type {kind} is needed",
                            shorten(&expression.text)
                        ),
                        "a guard gives true or false; a value fits the field it is given to",
                    ));
                    return;
                }
            }
        }
    }
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    text.chars().take(57).chain("...".chars()).collect()
}

/// Facts in which every name has a value: low, middle or high ones.
fn sample(names: &Names, level: usize) -> Map<String, Value> {
    let mut root = Map::new();
    for (path, kind) in names {
        let value = match kind {
            FieldType::String | FieldType::Ref(_) => Value::from(["", "a", "b"][level]),
            FieldType::Int => Value::from([0, 1, 7][level]),
            FieldType::Number => Value::from([0.0, 1.5, 80.0][level]),
            FieldType::Bool => Value::from(level > 0),
            FieldType::Strings => Value::from(&["a", "b"][..level.min(2)]),
            FieldType::Map => Value::Object(Map::new()),
            FieldType::Enum(words) => Value::from(words[level.min(words.len() - 1)].as_str()),
        };
        put(&mut root, path, value);
    }
    root
}

/// Puts a value at a dotted path.
pub(super) fn put(root: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            root.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = root
                .entry(first.to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// Sample facts at the lowest level, for rules that vary some of them.
pub(super) fn lowest(names: &Names) -> Map<String, Value> {
    sample(names, 0)
}
