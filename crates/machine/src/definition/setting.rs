//! Where a definition leaves something to the project's settings: `maxIterations: { type: int, default: =config.maxIterations }`.

use serde_json::Value;

use super::{Definition, Field, Gate};

impl Field {
    /// The setting that it has as its default, as `config` knows it.
    fn setting(&self) -> Option<&str> {
        self.default_expression()?.under("config")
    }
}

impl Definition {
    /// The setting that an input has as its default, by its whole name, as `review.maxIterations`: what is given for that
    /// input stands in place of it.
    pub fn setting_of_input(&self, input: &str) -> Option<String> {
        let section = &self.config.as_ref()?.value;
        Some(format!("{section}.{}", self.inputs.get(input)?.setting()?))
    }

    /// The input that has this setting as its default, as `config` knows it.
    pub fn input_for(&self, setting: &str) -> Option<&str> {
        let mut inputs = self.inputs.iter();
        let (name, _) = inputs.find(|(_, input)| input.setting() == Some(setting))?;
        Some(&name.value)
    }

    /// The value that a setting has in a run with these vars: that of the var which begins as it, or as the input for it.
    pub fn value_for<'v>(
        &self,
        setting: &str,
        vars: &'v serde_json::Map<String, Value>,
    ) -> Option<&'v Value> {
        let begins_as_it = |var: &Field| {
            var.setting() == Some(setting)
                || var.default_expression().is_some_and(|default| {
                    let input = default.under("inputs");
                    input.is_some_and(|input| self.input_for(setting) == Some(input))
                })
        };
        let (name, _) = self.vars.iter().find(|(_, var)| begins_as_it(var))?;
        vars.get(&name.value)
    }

    /// The input that says who decides at a gate.
    pub fn gate_input(&self, gate: &str) -> Option<&str> {
        match self.gates.get(gate)? {
            Gate::Expression(expression) => expression.under("inputs"),
            Gate::Mode(_) => None,
        }
    }
}
