//! What guards see, and nothing else.

use serde_json::{Map, Value, json};

use crate::command::command_flags;
use crate::definition::Definition;
use crate::guard::Scope;
use crate::state::{RunState, Token};

/// The names that every expression may use, beside item sets and the reader of its state.
pub const STANDING: [&str; 8] = [
    "inputs", "vars", "config", "item", "attempt", "command", "run", "result",
];

/// The view of one token on its run.
pub struct RunScope<'a> {
    /// The definition.
    pub definition: &'a Definition,
    /// The run.
    pub run: &'a RunState,
    /// The token.
    pub token: &'a Token,
    /// The reader of the present state, and what it found.
    pub facts: Option<(&'a str, &'a Map<String, Value>)>,
    /// Flags of the command.
    pub flags: &'a Map<String, Value>,
    /// Why, where somebody said so.
    pub reason: &'a str,
    /// Vars as they will be, where an edge sets some.
    pub vars: Option<&'a Map<String, Value>>,
    /// What the last effect gave.
    pub result: Option<&'a Value>,
}

impl Scope for RunScope<'_> {
    fn variable(&self, name: &str, fields: &[String]) -> Option<Value> {
        if let Some((reader, facts)) = self.facts
            && reader == name
        {
            return Some(named(facts, fields));
        }
        Some(match name {
            "inputs" => named(&self.run.inputs, fields),
            "vars" => named(self.vars.unwrap_or(&self.run.vars), fields),
            "config" => match &*self.run.config {
                Value::Object(config) => named(config, fields),
                other => other.clone(),
            },
            "item" if self.token.item.is_some() => {
                named(&self.run.item(self.token)?.fields, fields)
            }
            "attempt" => {
                let used = self.token.attempts.get(&self.token.state).copied();
                Value::from(used.unwrap_or(0) + 1)
            }
            "command" => {
                let mut command = Map::new();
                for (flag, kind) in command_flags() {
                    command.insert(flag.to_owned(), kind.empty());
                }
                for (flag, value) in self.flags {
                    command.insert(flag.clone(), value.clone());
                }
                command.insert("reason".to_owned(), Value::from(self.reason));
                Value::Object(command)
            }
            "run" => json!({
                "paused": self.run.pause.as_ref().map_or("", |pause| pause.reason.as_str()),
            }),
            "result" => self.result.cloned().unwrap_or(Value::Null),
            name => {
                let vars = self.vars.unwrap_or(&self.run.vars);
                return self
                    .run
                    .cursor_facts(self.definition, name, vars)
                    .or_else(|| self.run.set_facts(self.definition, name, fields));
            }
        })
    }
}

/// The fields of a map that are asked for.
fn named(map: &Map<String, Value>, fields: &[String]) -> Value {
    if fields.is_empty() {
        return Value::Object(map.clone());
    }
    let asked = map.iter().filter(|(name, _)| fields.contains(name));
    Value::Object(
        asked
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}
