//! Which call takes a step, and what the arguments of a step are called there.

use engine::next_step::{NextStep, Verb};

use super::{Argument, Call, Family, Kind, each, families};

/// What a report says again beside its unit, and what only some callers say of a decision.
const SAID_AGAIN: [&str; 7] = [
    "phase", "item", "skill", "unit", "decision", "gate", "shown",
];
/// What every call takes.
pub const EVERYWHERE: [&str; 3] = ["session", "projectRoot", "tag"];

/// As what a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum As {
    /// As a command.
    Command,
    /// As a tool.
    Tool,
}

/// The calls that take a step: those of the family of that name, then those for any run, then any. Where the family has several
/// forms, those of this one come first. No other family begins or lists runs for it.
pub fn that_take(
    step: &NextStep,
    made: As,
    (name, form): (&str, Option<&str>),
) -> Vec<(&'static Family, &'static Call)> {
    let mut all_families: Vec<&Family> = families().iter().collect();
    all_families.sort_by_key(|family| (family.name != name, family.name != "run"));
    if matches!(step.verb, Verb::Start | Verb::List) {
        all_families.truncate(1);
    }
    let mut all = Vec::new();
    for family in all_families {
        let fits = |call: &&'static Call| {
            let is_of_form = call.form.is_none() || call.form.as_deref() == form;
            is_of_form && call.takes_step(step, made)
        };
        let mut calls: Vec<&Call> = family.calls.iter().filter(fits).collect();
        let verb = step.verb.name();
        let is_for = |call: &Call| call.steps.iter().position(|known| known == verb);
        calls.sort_by_key(|call| (call.form.is_none(), is_for(call)));
        all.extend(calls.into_iter().map(|call| (family, call)));
    }
    all
}

impl Call {
    fn takes_step(&'static self, step: &NextStep, made: As) -> bool {
        let verb = step.verb.name();
        let is_of_verb =
            self.turn.as_deref() == Some(verb) || self.steps.iter().any(|known| known == verb);
        let is_made = match made {
            As::Command => self.help.is_some(),
            As::Tool => self.tool.is_some(),
        };
        let phase = step.value("phase").unwrap_or_default();
        let mut names = step.with.iter().map(|(name, _)| name.as_ref());
        is_of_verb
            && is_made
            && (self.phases.is_empty() || self.phases.iter().any(|known| known == phase))
            && names.all(|name| {
                SAID_AGAIN.contains(&name)
                    || EVERYWHERE.contains(&name)
                    || match made {
                        As::Command => {
                            self.command_argument(name).is_some() || self.words().is_some()
                        }
                        As::Tool => self.tool_argument(name).is_some(),
                    }
            })
    }

    /// The arguments of the command that stand behind it without an option, but for a session, in their order.
    pub fn placed(&'static self) -> impl Iterator<Item = &'static Argument> {
        let all = each(&self.takes).into_iter();
        all.filter(|argument| argument.is_word() && argument.name != "session")
    }

    /// The argument that takes any number of words.
    pub fn words(&'static self) -> Option<&'static Argument> {
        self.placed().find(|argument| argument.kind == Kind::Texts)
    }

    /// The arguments without which the command is none, where some are there.
    pub fn needed(&'static self, has: impl Fn(&str) -> bool) -> Vec<&'static Argument> {
        let is_needed = |argument: &&Argument| {
            let instead = argument.unless.iter().any(|other| has(other));
            argument.help.is_some()
                && (argument.required || (!argument.unless.is_empty() && !instead))
        };
        each(&self.takes).into_iter().filter(is_needed).collect()
    }

    /// The arguments without which the tool is none.
    pub fn needed_by_tool(&'static self) -> impl Iterator<Item = &'static Argument> {
        let all = each(&self.takes).into_iter();
        all.filter(|argument| argument.brief.is_some() && argument.required)
    }

    /// An argument of the command, by its name in steps.
    pub fn command_argument(&'static self, name: &str) -> Option<&'static Argument> {
        let all = each(&self.takes)
            .into_iter()
            .filter(|argument| argument.help.is_some());
        named(&all.collect::<Vec<_>>(), name)
    }

    /// What an argument of a step is called as one of the tool: that of an object behind the name of the object.
    pub fn tool_argument(&'static self, name: &str) -> Option<(String, &'static Argument)> {
        let name = match name {
            "shown" => "hash",
            "input" => "inputs",
            name => name,
        };
        let all = |takes| {
            let mut all = each(takes);
            all.retain(|argument| argument.brief.is_some());
            all
        };
        if let Some(argument) = named(&all(&self.takes), name) {
            return Some((argument.tool_name().to_owned(), argument));
        }
        all(&self.takes).into_iter().find_map(|object| {
            let argument = named(&all(&object.takes), name)?;
            let path = format!("{}.{}", object.tool_name(), argument.tool_name());
            Some((path, argument))
        })
    }
}

impl Family {
    /// An argument of a command of the family, by its name in steps, whichever command that is.
    pub fn command_argument(&'static self, name: &str) -> Option<&'static Argument> {
        let own = named(&each(&self.everywhere), name);
        own.or_else(|| {
            self.calls
                .iter()
                .find_map(|call| call.command_argument(name))
        })
    }

    /// What an argument is called in the tools of the family, those of this form first.
    pub fn tool_argument(&'static self, name: &str, form: Option<&str>) -> Option<String> {
        if let Some(argument) = named(&each(&self.place), name) {
            return Some(argument.tool_name().to_owned());
        }
        let calls = self.calls.iter().filter(|call| call.tool.is_some());
        let mut calls: Vec<&Call> = calls.collect();
        calls.sort_by_key(|call| call.form.as_deref() != form || form.is_none());
        let mut found = calls.iter().filter_map(|call| call.tool_argument(name));
        found.next().map(|(name, _)| name)
    }
}

/// The argument that a name in steps means. A phase is the state of a report, the unit of a turn the one that it was decided at, and
/// results are part of what else there is to say of a work unit.
fn named(all: &[&'static Argument], name: &str) -> Option<&'static Argument> {
    let other = match name {
        "phase" => "state",
        "unit" => "at",
        "input" => "pairs",
        "results" => "result",
        "session" => "run",
        name => name,
    };
    let find = |name: &str| all.iter().copied().find(|argument| argument.name == name);
    find(name).or_else(|| find(other))
}
