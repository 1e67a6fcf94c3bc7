//! What an edge sets, adds and fills, evaluated before anything is journalled.

use serde_json::{Map, Value};

use super::edge::Way;
use super::{Planner, Stop};
use crate::definition::{Assign, Edge, Field, FieldType, ItemSetDef, Literal};
use crate::items::{self, Node, OrderFault};
use crate::refusal::Refusal;
use crate::scope::RunScope;

/// What an edge sets, adds and fills.
#[derive(Default)]
pub(super) struct Values {
    pub(super) vars: Map<String, Value>,
    /// Fields of the present item.
    pub(super) item: Map<String, Value>,
    /// Items to add, with the set of each.
    pub(super) added: Vec<(String, Map<String, Value>)>,
    /// Sets to fill.
    pub(super) loaded: Vec<(String, Vec<Map<String, Value>>)>,
    /// Why the edge leads where it does.
    pub(super) reason: Option<String>,
}

/// What a state read, as expressions see it.
fn facts(way: &Way) -> Option<(&str, &Map<String, Value>)> {
    match (&way.report, &way.read) {
        (Some(report), _) => Some((report.reader.as_str(), &report.facts)),
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
        way: &Way,
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
                vars.insert(name.to_owned(), value(literal, &scope)?);
            }
        }
        Ok(vars)
    }

    /// What an edge tells its effects.
    pub(super) fn with(
        &self,
        edge: &Edge,
        token: u32,
        way: &Way,
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
        way: &Way,
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
                    let field = self.definition.vars.get(name);
                    admitted(name, field.map(|field| &field.kind), &given)?;
                    values.vars.insert(name.to_owned(), given);
                }
                Assign::ItemField(name) => {
                    let set = scope.token.item.as_ref().map(|(set, _)| set.as_str());
                    let field = set
                        .and_then(|set| self.definition.items.get(set))
                        .and_then(|set| set.fields.get(name));
                    admitted(name, field.map(|field| &field.kind), &given)?;
                    values.item.insert(name.to_owned(), given);
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
            let Value::Array(given) = value(literal, &scope)? else {
                return Err(fault(format!("what fills `{}` is no list", set.value)));
            };
            let mut items = Vec::with_capacity(given.len());
            for one in &given {
                let Value::Object(fields) = one else {
                    return Err(fault(format!(
                        "what fills `{}` holds {one}, which is no item",
                        set.value
                    )));
                };
                items.push(complete(declared, fields)?);
            }
            in_order(declared, &items)?;
            values.loaded.push((set.value.clone(), items));
        }
        for (set, fields) in edge.add.iter() {
            let Some(declared) = self.definition.items.get(set) else {
                continue;
            };
            let mut given = Map::new();
            for (name, literal) in fields.iter() {
                given.insert(name.value.clone(), value(literal, &scope)?);
            }
            let item = complete(declared, &given)?;
            self.fits_in(&set.value, declared, &item, &values)?;
            values.added.push((set.value.clone(), item));
        }
        Ok(values)
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
        let loaded = values.loaded.iter().rev().find(|(name, _)| name == set);
        let is_there = |key: &str| {
            let before = match loaded {
                Some((_, items)) => items.iter().any(|item| key_of(declared, item) == key),
                None => self
                    .run
                    .sets
                    .get(set)
                    .is_some_and(|set| set.items.contains_key(key)),
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

fn value(literal: &Literal, scope: &RunScope<'_>) -> Result<Value, Stop> {
    Ok(match literal {
        Literal::Value(value) => value.clone(),
        Literal::Expression(expression) => expression.evaluate(scope)?,
    })
}

fn fault(message: String) -> Stop {
    Stop::refused(Refusal::new("definition_fault").message(message))
}

/// Every declared name is always present and of its type: the guards that come later count on it.
fn admitted(name: &str, kind: Option<&FieldType>, value: &Value) -> Result<(), Stop> {
    match kind {
        Some(kind) if kind.admits(value) => Ok(()),
        Some(kind) => Err(fault(format!(
            "`{name}` was to become {value}, but must be of type {kind}"
        ))),
        None => Err(fault(format!("there is no `{name}` to set"))),
    }
}

/// Items that could never all be run are refused before the first of them is begun.
fn in_order(declared: &ItemSetDef, items: &[Map<String, Value>]) -> Result<(), Stop> {
    let needs: Vec<Vec<String>> = items.iter().map(|item| needs_of(declared, item)).collect();
    let nodes: Vec<Node<'_>> = items
        .iter()
        .zip(&needs)
        .map(|(item, needs)| Node {
            key: key_of(declared, item),
            needs,
        })
        .collect();
    match items::waves(&nodes) {
        Ok(_) => Ok(()),
        Err(fault) => Err(disorder(&fault)),
    }
}

fn disorder(fault: &OrderFault) -> Stop {
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

fn key_of<'a>(declared: &ItemSetDef, item: &'a Map<String, Value>) -> &'a str {
    item.get(&declared.key.value)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn needs_of(declared: &ItemSetDef, item: &Map<String, Value>) -> Vec<String> {
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
fn complete(declared: &ItemSetDef, given: &Map<String, Value>) -> Result<Map<String, Value>, Stop> {
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
