//! In whose words a step is told, and how it is taken there.

use engine::next_step::{NextStep, Verb, option_of};
use engine::view::{GENERIC, View};

use crate::calls::steps::{As, that_take};
use crate::calls::{self, Call, Family};

/// A family of commands, or of tools, in which runs are driven: a step leads to the family that the call was of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    family: &'static str,
    /// The form of its calls, where it has another one besides.
    form: Option<&'static str>,
}

impl Default for Form {
    fn default() -> Self {
        Self::RUN
    }
}

impl Form {
    /// Any workflow.
    pub const RUN: Self = Self {
        family: GENERIC_FAMILY,
        form: None,
    };

    /// That of a view of the engine; of one that has no family the one for any workflow.
    pub fn of_view(view: &str) -> Self {
        let family = calls::family(view);
        family.map_or(Self::RUN, |family| Self {
            family: &family.name,
            form: None,
        })
    }

    /// The view in which the engine drives runs for it.
    pub fn view(self) -> &'static View {
        if self.family == GENERIC_FAMILY {
            return &GENERIC;
        }
        View::named(self.family)
    }

    /// That of a tool.
    pub fn of_tool(tool: &str) -> Self {
        let mut families = calls::families().iter();
        let found = families.find_map(|family| {
            let call = family.call(family.tools.get(tool)?)?;
            Some(Self {
                family: &family.name,
                form: call.form.as_deref(),
            })
        });
        found.unwrap_or_default()
    }

    fn names(self) -> (&'static str, Option<&'static str>) {
        (self.family, self.form)
    }
}

/// The family for any workflow.
const GENERIC_FAMILY: &str = "run";

/// The call by whose command a step is taken; none where that is none of a family.
pub fn command_of(form: Form, step: &NextStep) -> Option<(&'static Family, &'static Call)> {
    that_take(step, As::Command, form.names())
        .into_iter()
        .next()
}

/// The tools that take a step, the best first, each with its call.
pub fn tools_of(form: Form, step: &NextStep) -> Vec<(&'static str, &'static Call)> {
    let calls = that_take(step, As::Tool, form.names()).into_iter();
    calls
        .filter_map(|(family, call)| Some((family.tool(call)?, call)))
        .collect()
}

/// The command for a step that no family has.
pub fn plain_command(verb: Verb) -> &'static str {
    match verb {
        Verb::Show => "tm runs show",
        Verb::Log => "tm runs log",
        Verb::List => "tm runs list",
        _ => "tm runs report",
    }
}

/// The resource that is read instead of calling a tool.
pub fn resource(verb: Verb) -> Option<&'static str> {
    match verb {
        Verb::Summary => Some("tramline://runs/{id}/report"),
        Verb::Log => Some("tramline://runs/{id}/log"),
        Verb::Show => Some("tramline://runs/{id}/state"),
        Verb::List => Some("tramline://runs"),
        _ => None,
    }
}

/// The option for an argument of a family's commands, whichever command that is.
pub fn option(form: Form, name: &str) -> String {
    let families = [form.family, GENERIC_FAMILY].map(calls::family);
    let mut declared = families.into_iter().flatten();
    let declared = declared.find_map(|family| family.command_argument(name));
    match declared {
        Some(argument) if !argument.is_word() => format!("--{}", argument.option()),
        _ => option_of(name),
    }
}

/// What an argument is called in the tools of a family.
pub fn argument(form: Form, name: &str) -> String {
    let families = [form.family, GENERIC_FAMILY].map(calls::family);
    let mut declared = families.into_iter().flatten();
    let declared = declared.find_map(|family| family.tool_argument(name, form.form));
    declared.unwrap_or_else(|| name.to_owned())
}
