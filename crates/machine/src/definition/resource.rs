//! What a run works with, and has to have before it begins.

use serde::{Deserialize, Deserializer};

use super::field::LiteralOr;
use super::ordered::LongForm;
use super::{Field, GENERIC, Literal, Ordered};
use crate::diagnostic::Located;
use crate::guard::Expression;

/// What a file says of a resource: its parameters, `{ id: =inputs.taskId, into: subtasks }`, or entries under names of the
/// file's own, `{ lint: make lint, publish: { run: make publish, repeat: true } }`.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct ResourceDef(pub Ordered<Located<ResourceValue>>);

/// What stands under one name of a resource.
#[derive(Debug)]
pub enum ResourceValue {
    /// A value alone.
    Literal(Literal),
    /// Several, by name.
    Fields(Ordered<Located<Literal>>),
}

impl LongForm<'_> for Ordered<Located<Literal>> {
    const EXPECTING: &'static str = "a value, an expression that begins with `=`, or a map of them";
}

impl<'de> Deserialize<'de> for ResourceValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match LiteralOr::deserialize(deserializer)? {
            LiteralOr::Literal(literal) => Self::Literal(literal),
            LiteralOr::Map(fields) => Self::Fields(fields),
        })
    }
}

impl ResourceDef {
    /// The value that stands alone under a name.
    fn literal(&self, name: &str) -> Option<&Literal> {
        match &self.0.get(name)?.value {
            ResourceValue::Literal(literal) => Some(literal),
            ResourceValue::Fields(_) => None,
        }
    }

    /// The name that a parameter gives, where it gives one.
    pub fn name(&self, parameter: &str) -> Option<&str> {
        match self.literal(parameter)? {
            Literal::Value(value) => value.as_str(),
            Literal::Expression(_) => None,
        }
    }

    /// The input that a parameter passes on, as `=inputs.NAME` says it.
    pub fn input(&self, parameter: &str) -> Option<&str> {
        match self.literal(parameter)? {
            Literal::Expression(expression) => expression.under("inputs"),
            Literal::Value(_) => None,
        }
    }

    /// The expressions in it.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let literals = self.0.iter().flat_map(|(_, value)| match &value.value {
            ResourceValue::Literal(literal) => vec![literal],
            ResourceValue::Fields(fields) => fields.iter().map(|(_, value)| &value.value).collect(),
        });
        literals.filter_map(|literal| match literal {
            Literal::Expression(expression) => Some(expression),
            Literal::Value(_) => None,
        })
    }
}

impl super::Definition {
    /// The item set that a parameter of a resource names.
    pub fn bound_set(&self, resource: &str, parameter: &str) -> Option<&str> {
        self.uses.get(resource)?.name(parameter)
    }

    /// The input that a parameter of a resource passes on.
    pub fn bound_input(&self, resource: &str, parameter: &str) -> Option<&str> {
        self.uses.get(resource)?.input(parameter)
    }

    /// The view in which its runs are shown and driven.
    pub fn view(&self) -> &str {
        self.view.as_ref().map_or(GENERIC, |view| &view.value)
    }

    /// Whether runs work with a resource.
    pub fn works_with(&self, resource: &str) -> bool {
        self.uses.get(resource).is_some()
    }

    /// The var that points into the item set `set`: the first one, in the order of the file.
    pub fn cursor_into(&self, set: &str) -> Option<&str> {
        let cursors = self.vars.iter().map(|(name, _): (_, &Field)| name);
        let mut found = cursors.filter(|name| self.cursor(name).is_some_and(|(of, _)| of == set));
        found.next().map(|name| name.value.as_str())
    }
}
