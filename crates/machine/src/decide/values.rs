//! What an edge sets, adds and fills, evaluated before anything is journalled.

use serde_json::{Map, Value};

use super::edge::Transition;
use super::{Planner, Stop};
use crate::definition::{Added, Assign, Edge, Field, FieldType, ItemSetDef, Literal};
use crate::items::OrderFault;
use crate::refusal::Refusal;
use crate::scope::RunScope;
use crate::state::Token;

use super::fill::SetContent;

/// What an edge sets, adds and fills.
#[derive(Default)]
pub(super) struct Values {
    pub(super) vars: Map<String, Value>,
    /// Fields of items: set, key and fields.
    pub(super) changed: Vec<(String, String, Map<String, Value>)>,
    /// Items to add, with the set of each.
    pub(super) added: Vec<(String, Map<String, Value>)>,
    /// Sets to fill.
    pub(super) loaded: Vec<SetContent>,
    /// Why the edge leads where it does.
    pub(super) reason: Option<String>,
}

/// The items that an expression lists for a set.
fn listed(
    set: &str,
    list: &Literal,
    scope: &RunScope<'_>,
) -> Result<Vec<Map<String, Value>>, Stop> {
    let Value::Array(given) = evaluated(list, scope)? else {
        return Err(fault(format!("what fills `{set}` is no list")));
    };
    let mut items = Vec::with_capacity(given.len());
    for one in given {
        bounded(&one)?;
        let Value::Object(fields) = one else {
            return Err(fault(format!(
                "what fills `{set}` holds {one}, which is no item"
            )));
        };
        items.push(fields);
    }
    Ok(items)
}

/// What a state read, as expressions see it.
fn facts(way: &Transition) -> Option<(&str, &Map<String, Value>)> {
    match (&way.report, &way.read) {
        (Some(report), _) => Some((report.reader(), &report.facts)),
        (None, Some(read)) => Some((read.reader.as_str(), &read.facts)),
        (None, None) => None,
    }
}

impl Planner<'_> {
    /// The vars as an edge sets them before its effects: those that wait for no result.
    pub(super) fn vars_before_effects(
        &self,
        edge: &Edge,
        token: u32,
        way: &Transition,
    ) -> Result<Map<String, Value>, Stop> {
        let scope = self.scope(token, facts(way), way);
        let mut vars = self.run.vars.clone();
        for (target, literal) in edge.assigns() {
            let Assign::Var(name) = target else {
                continue;
            };
            let waits = match literal {
                Literal::Value(_) => false,
                Literal::Expression(expression) => expression
                    .paths()
                    .is_ok_and(|paths| paths.iter().any(|path| path[0] == "result")),
            };
            if !waits {
                let given = self.var(name, value(literal, &scope)?)?;
                vars.insert(name.to_owned(), given);
            }
        }
        Ok(vars)
    }

    /// What an edge tells its effects.
    pub(super) fn with(
        &self,
        edge: &Edge,
        token: u32,
        way: &Transition,
    ) -> Result<Map<String, Value>, Stop> {
        let scope = self.scope(token, facts(way), way);
        edge.with
            .iter()
            .map(|(name, literal)| Ok((name.value.clone(), value(literal, &scope)?)))
            .collect()
    }

    pub(super) fn values(
        &self,
        edge: &Edge,
        token: u32,
        way: &Transition,
        result: Option<&Value>,
    ) -> Result<Values, Stop> {
        let mut scope = self.scope(token, facts(way), way);
        scope.result = result;
        let mut values = Values::default();
        if let Some(reason) = &edge.reason {
            values.reason = value(reason, &scope)?
                .as_str()
                .filter(|reason| !reason.is_empty())
                .map(str::to_owned);
        }
        for (target, literal) in edge.assigns() {
            let given = value(literal, &scope)?;
            match target {
                Assign::Var(name) => {
                    let given = self.var(name, given)?;
                    values.vars.insert(name.to_owned(), given);
                }
                Assign::Field { cursor, field } => {
                    let (set, key) = self.pointed_at(cursor, scope.token, &values.vars)?;
                    let declared = self.definition.items.get(&set);
                    let kind = declared.and_then(|set| set.fields.get(field));
                    admitted(field, kind.map(|field| &field.kind), &given)?;
                    let known = values.changed.last_mut();
                    if let Some((_, _, fields)) =
                        known.filter(|(of, item, _)| *of == set && *item == key)
                    {
                        fields.insert(field.to_owned(), given);
                    } else {
                        let fields = std::iter::once((field.to_owned(), given)).collect();
                        values.changed.push((set, key, fields));
                    }
                }
            }
        }
        let mut vars = self.run.vars.clone();
        for (name, value) in &values.vars {
            vars.insert(name.clone(), value.clone());
        }
        scope.vars = Some(&vars);
        for (set, literal) in edge.load.iter() {
            let Some(declared) = self.definition.items.get(set) else {
                continue;
            };
            let given = listed(&set.value, literal, &scope)?;
            let items = given
                .iter()
                .map(|fields| self.completed(&set.value, declared, fields))
                .collect::<Result<Vec<_>, _>>()?;
            values
                .loaded
                .extend(self.filling(&set.value, declared, items)?);
        }
        for (set, added) in edge.add.iter() {
            let Some(declared) = self.definition.items.get(set) else {
                continue;
            };
            let all = match added {
                Added::Item(fields) => {
                    let fields = fields
                        .iter()
                        .map(|(name, literal)| Ok((name.value.clone(), value(literal, &scope)?)));
                    vec![fields.collect::<Result<Map<_, _>, Stop>>()?]
                }
                Added::Listed(list) => listed(&set.value, list, &scope)?,
            };
            for given in all {
                let item = complete(declared, &given)?;
                self.fits_in(&set.value, declared, &item, &values)?;
                values.added.push((set.value.clone(), item));
            }
        }
        Ok(values)
    }

    /// What a var becomes: of a cursor the key of the item that it is given.
    pub(super) fn var(&self, name: &str, given: Value) -> Result<Value, Stop> {
        let field = self.definition.vars.get(name);
        admitted(name, field.map(|field| &field.kind), &given)?;
        let Some((set, declared)) = self.definition.cursor(name) else {
            return Ok(given);
        };
        let key = match &given {
            Value::Object(item) => key_of(declared, item),
            Value::String(key) => key,
            _ => "",
        };
        let there = self
            .run
            .sets
            .get(set)
            .is_some_and(|set| set.get(key).is_some());
        if key.is_empty() || there {
            return Ok(Value::from(key));
        }
        Err(fault(format!(
            "`{name}` was to point at {key}, and there is no such item in `{set}`"
        )))
    }

    /// The item that a cursor points at: its set and its key. `vars` were set on the way.
    fn pointed_at(
        &self,
        cursor: &str,
        token: &Token,
        vars: &Map<String, Value>,
    ) -> Result<(String, String), Stop> {
        if let Some(item) = token.item.as_ref().filter(|_| cursor == "item") {
            return Ok(item.clone());
        }
        let set = self
            .definition
            .cursor(cursor)
            .map(|(set, _)| set.to_owned());
        let key = match vars.get(cursor) {
            Some(key) => key.as_str().filter(|key| !key.is_empty()),
            None => self.run.pointed_at(cursor),
        };
        match (set, key) {
            (Some(set), Some(key)) => Ok((set, key.to_owned())),
            _ => Err(fault(format!("`{cursor}` points at no item"))),
        }
    }

    /// Whether `item` may join its set: its key is new, and what it needs is there. Nothing can
    /// need it yet, so no circle can come of it.
    fn fits_in(
        &self,
        set: &str,
        declared: &ItemSetDef,
        item: &Map<String, Value>,
        values: &Values,
    ) -> Result<(), Stop> {
        let loaded = values.loaded.iter().rev().find(|filled| filled.set == set);
        let is_there = |key: &str| {
            let before = match loaded {
                Some(filled) => filled
                    .items
                    .iter()
                    .any(|item| key_of(declared, item) == key),
                None => self
                    .run
                    .sets
                    .get(set)
                    .is_some_and(|set| set.get(key).is_some()),
            };
            let beside = values
                .added
                .iter()
                .any(|(name, item)| name == set && key_of(declared, item) == key);
            before || beside
        };
        let key = key_of(declared, item);
        if is_there(key) {
            return Err(disorder(&OrderFault::Duplicate(key.to_owned())));
        }
        for need in needs_of(declared, item) {
            if need == key {
                return Err(disorder(&OrderFault::Itself(need)));
            }
            if !is_there(&need) {
                return Err(disorder(&OrderFault::Unknown {
                    item: key.to_owned(),
                    needs: need,
                }));
            }
        }
        Ok(())
    }
}

/// The most text that a value may hold. One that is made of itself would grow with every step. What fills a set cannot be made
/// of it, and a plan is as long as it is: there each item is held to this.
const MOST_TEXT: usize = 1024 * 1024;

pub(super) fn value(literal: &Literal, scope: &RunScope<'_>) -> Result<Value, Stop> {
    let value = evaluated(literal, scope)?;
    bounded(&value)?;
    Ok(value)
}

fn evaluated(literal: &Literal, scope: &RunScope<'_>) -> Result<Value, Stop> {
    match literal {
        Literal::Value(value) => Ok(value.clone()),
        Literal::Expression(expression) => Ok(expression.evaluate(scope)?),
    }
}

fn bounded(value: &Value) -> Result<(), Stop> {
    if text_in(value) > MOST_TEXT {
        return Err(fault(format!(
            "a value was to hold more than {MOST_TEXT} bytes of text"
        )));
    }
    Ok(())
}

fn text_in(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(all) => all.iter().map(text_in).sum(),
        Value::Object(map) => map.values().map(text_in).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

pub(super) fn fault(message: String) -> Stop {
    Stop::refused(Refusal::new("definition_fault").message(message))
}

/// Every declared name is always present and of its type: the guards that come later count on it.
pub(super) fn admitted(name: &str, kind: Option<&FieldType>, value: &Value) -> Result<(), Stop> {
    match kind {
        Some(kind) if kind.admits(value) => Ok(()),
        Some(kind) => Err(fault(format!(
            "`{name}` was to become {value}, but must be of type {kind}"
        ))),
        None => Err(fault(format!("there is no `{name}` to set"))),
    }
}

pub(super) fn disorder(fault: &OrderFault) -> Stop {
    let refusal = Refusal::new("bad_dependencies")
        .message(fault.to_string())
        .suggestion(
            "give every item an id of its own, and let it depend only on others that are there",
        );
    Stop::refused(match fault {
        OrderFault::Duplicate(id) | OrderFault::Itself(id) => {
            refusal.detail("items", vec![id.clone()])
        }
        OrderFault::Unknown { item, needs } => refusal
            .detail("items", vec![item.clone()])
            .detail("needs", needs.clone()),
        OrderFault::Cycle(path) => refusal.detail("items", path.clone()),
    })
}

pub(super) fn key_of<'a>(declared: &ItemSetDef, item: &'a Map<String, Value>) -> &'a str {
    item.get(&declared.key.value)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

pub(super) fn needs_of(declared: &ItemSetDef, item: &Map<String, Value>) -> Vec<String> {
    declared
        .needs
        .as_ref()
        .and_then(|needs| item.get(&needs.value))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// An item with every declared field, the key first.
pub(super) fn complete(
    declared: &ItemSetDef,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, Stop> {
    let key = declared.key.value.as_str();
    let mut fields = Map::new();
    let id = given
        .get(key)
        .and_then(Value::as_str)
        .filter(|id| !id.is_empty())
        .ok_or_else(|| fault(format!("an item has no `{key}`")))?;
    fields.insert(key.to_owned(), Value::from(id));
    for (name, field) in declared.fields.iter() {
        if name.value == key {
            continue;
        }
        let value = given
            .get(&name.value)
            .cloned()
            .unwrap_or_else(|| field.empty());
        check_field(id, &name.value, field, &value)?;
        fields.insert(name.value.clone(), value);
    }
    Ok(fields)
}

fn check_field(id: &str, name: &str, field: &Field, value: &Value) -> Result<(), Stop> {
    if field.kind.admits(value) {
        return Ok(());
    }
    Err(fault(format!(
        "`{name}` of item {id} is {value}, but must be of type {}",
        field.kind
    )))
}
