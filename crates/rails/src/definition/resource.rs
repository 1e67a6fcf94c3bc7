//! What a run works with, and has to have before it begins.

use super::{Field, GENERIC, Literal, Ordered};
use crate::diagnostic::Located;
use crate::guard::Expression;

/// The parameters of a resource: `{ id: =inputs.taskId, into: subtasks }`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(transparent)]
pub struct ResourceDef(pub Ordered<Located<Literal>>);

impl ResourceDef {
    /// The name that a parameter gives, where it gives one.
    pub fn name(&self, parameter: &str) -> Option<&str> {
        match &self.0.get(parameter)?.value {
            Literal::Value(value) => value.as_str(),
            Literal::Expression(_) => None,
        }
    }

    /// The input that a parameter passes on, as `=inputs.NAME` says it.
    pub fn input(&self, parameter: &str) -> Option<&str> {
        match &self.0.get(parameter)?.value {
            Literal::Expression(expression) => expression.under("inputs"),
            Literal::Value(_) => None,
        }
    }

    /// The expressions of the parameters.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.0.iter().filter_map(|(_, value)| match &value.value {
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
