//! The steps that texts of the engine name, in the words of who reads them: commands with options at a command line, tools
//! with arguments over MCP.

mod table;
#[cfg(any(test, debug_assertions))]
pub mod taken;

use std::fmt::Write as _;

use engine::next_step::{self, NextStep, Part, Verb, command_line};
use journal::layout::short_name;
use serde_json::{Map, Value, json};

pub use engine::next_step::typed;
pub use table::Form;

use crate::calls::steps::EVERYWHERE;
use crate::calls::{Argument, Call, Family, Kind};

/// The field of an answer that has the steps which it advises, as data.
const NEXT_STEPS: &str = "nextSteps";

/// Who is told.
#[derive(Debug, Clone)]
pub struct Caller<T = ()> {
    /// The family of commands, or of tools, that the call was of.
    pub form: Form,
    /// The run that the call named: without it a step may mean another one, or none.
    pub named: Option<String>,
    /// The folder of the project that the call named, where others mean another one.
    project: Option<String>,
    /// What it calls.
    means: T,
}

/// The schema of a tool's arguments by its name; none where there is no such tool.
pub type Schemas<'a> = dyn Fn(&str) -> Option<&'a Value> + 'a;

/// A caller that has tools.
pub struct Tools<'a>(&'a Schemas<'a>);

/// What takes a step.
pub enum StepText {
    /// A command, with all of its words.
    Command(String),
    /// A tool or a resource, and its arguments as a call has them; those without a value are to be filled in.
    Tool(String, String),
}

/// What spells a step.
pub trait StepSpelling {
    /// What takes a step.
    fn spelled(&self, step: &NextStep) -> StepText;
    /// The name of an argument.
    fn argument(&self, name: &str) -> String;
    /// A step as data.
    fn data(&self, step: &NextStep) -> Value;

    /// A step in the middle of a sentence.
    fn inline(&self, step: &NextStep) -> String {
        match self.spelled(step) {
            StepText::Command(command) => format!("`{command}`"),
            StepText::Tool(tool, with) if with.is_empty() => format!("`{tool}`"),
            StepText::Tool(tool, with) => format!("`{tool}({with})`"),
        }
    }

    /// A step by itself.
    fn alone(&self, step: &NextStep) -> String {
        match self.spelled(step) {
            StepText::Command(command) => command,
            StepText::Tool(tool, with) if with.is_empty() => tool,
            StepText::Tool(tool, with) => format!("{tool}({with})"),
        }
    }

    /// A step on lines of its own.
    fn block(&self, step: &NextStep) -> String {
        match self.spelled(step) {
            StepText::Command(command) => format!("```sh\n{command}\n```"),
            StepText::Tool(..) => format!("   Call {}", self.inline(step)),
        }
    }

    /// A text with its steps in the caller's words. One that is nothing but a step is that step alone.
    fn text(&self, text: &str) -> String {
        if !next_step::is_marked(text) {
            return text.to_owned();
        }
        let parts = next_step::parts(text);
        if let [Part::Step(step)] = parts.as_slice() {
            return self.alone(step);
        }
        let mut out = String::with_capacity(text.len());
        for (at, part) in parts.iter().enumerate() {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Argument(name) => out.push_str(&self.argument(name)),
                Part::Step(step) => {
                    let ends = parts.get(at + 1).is_none_or(
                        |next| matches!(next, Part::Text(text) if text.starts_with('\n')),
                    );
                    if ends && out.ends_with('\n') {
                        out.push_str(&self.block(step));
                    } else {
                        out.push_str(&self.inline(step));
                    }
                }
            }
        }
        out
    }

    /// The same for each text in a JSON value. What advises steps says them as data, too.
    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) if next_step::is_marked(text) => *text = self.text(text),
            Value::Array(all) => all.iter_mut().for_each(|one| self.value(one)),
            Value::Object(fields) => {
                let steps = self.advised(fields);
                fields.shift_remove(NEXT_STEPS);
                fields.values_mut().for_each(|field| self.value(field));
                if !steps.is_empty() {
                    fields.insert(NEXT_STEPS.to_owned(), steps.into());
                }
            }
            _ => {}
        }
    }

    /// The steps that an answer advises, the first one first.
    fn advised(&self, fields: &Map<String, Value>) -> Vec<Value> {
        let texts = ["recovery", "suggestion"].map(|name| fields.get(name).and_then(Value::as_str));
        let own = fields.get(NEXT_STEPS).and_then(Value::as_array);
        let own = own.into_iter().flatten().filter_map(Value::as_str);
        let mut steps: Vec<NextStep> = Vec::new();
        for step in texts
            .into_iter()
            .flatten()
            .chain(own)
            .flat_map(next_step::steps)
        {
            if !steps.iter().any(|known| says_all_of(known, &step)) {
                steps.push(step);
            }
        }
        steps.iter().map(|step| self.data(step)).collect()
    }
}

impl Caller {
    /// Somebody at a command line.
    pub const fn at_a_shell(form: Form, named: Option<String>) -> Self {
        Self {
            form,
            named,
            project: None,
            means: (),
        }
    }
}

impl<'a> Caller<Tools<'a>> {
    /// Somebody who has tools of these schemas, and called this one.
    pub fn of_tools(tool: &str, named: Option<String>, schemas: &'a Schemas<'a>) -> Self {
        Self {
            form: Form::of_tool(tool),
            named,
            project: None,
            means: Tools(schemas),
        }
    }

    /// The same caller, who has to name this project at each step.
    #[must_use]
    pub fn in_project(self, project: Option<String>) -> Self {
        Self { project, ..self }
    }
}

impl<T> Caller<T> {
    /// The run that a step is about, if it is said at all.
    fn run<'s>(&'s self, step: &'s NextStep) -> Option<&'s str> {
        let is_about_one = !matches!(step.verb, Verb::List | Verb::Start);
        let named = self.named.as_deref().filter(|_| is_about_one);
        step.run.as_deref().or(named)
    }

    fn form(&self, step: &NextStep) -> Form {
        match &step.view {
            Some(view) => Form::of_view(view),
            None => self.form,
        }
    }

    /// The words of the command that takes a step.
    fn command(&self, step: &NextStep) -> String {
        if let Some(words) = step.words() {
            return command_line(words);
        }
        let run = self.run(step).map(|run| typed(&short_name(run)));
        let out = match table::command_of(self.form(step), step) {
            Some((family, call)) => of_call(family, call, step, run),
            None => plain(step, run),
        };
        #[cfg(any(test, debug_assertions))]
        if taken::is_asked() {
            taken::by_command(&out);
        }
        out
    }
}

/// The command of a call, with what a step says.
fn of_call(
    family: &'static Family,
    call: &'static Call,
    step: &NextStep,
    run: Option<String>,
) -> String {
    let mut out = format!("tm {} {}", family.name, call.name);
    let all = arguments_of(call, step);
    let placed = call.placed().filter_map(|argument| {
        let mut of_it = all.iter();
        of_it.find(|(own, ..)| own.is_some_and(|own| own.name == argument.name))
    });
    let of_words = all.iter().filter(|(own, ..)| own.is_none());
    for (own, name, value) in placed.chain(of_words) {
        let stands_for =
            || own.map_or_else(|| name.to_uppercase(), |own| own.stands_for().to_owned());
        let _ = write!(out, " {}", value.as_deref().map_or_else(stands_for, typed));
    }
    for (own, _, value) in &all {
        if let Some(own) = own.filter(|own| !own.is_word()) {
            let stands_for = || own.stands_for().to_owned();
            out += &option(
                own.option(),
                &value.as_deref().map_or_else(stands_for, typed),
            );
        }
    }
    for (name, value) in &step.with {
        if EVERYWHERE.contains(&name.as_ref()) && name != "session" {
            let value = value.as_deref().map_or_else(|| "DIR".to_owned(), typed);
            out += &option(next_step::option_of(name).trim_start_matches('-'), &value);
        }
    }
    let named = step.with.iter().any(|(name, _)| name == "session");
    if let Some(run) = run.or_else(|| named.then(|| "NAME".to_owned())) {
        let own = call.command_argument("run");
        let own = own.or_else(|| family.command_argument("run"));
        out += &option(own.map_or("run-id", Argument::option), &run);
    }
    out
}

/// A command that is none of a family, likewise.
fn plain(step: &NextStep, run: Option<String>) -> String {
    let mut out = table::plain_command(step.verb).to_owned();
    out.extend(run.map(|run| format!(" {run}")));
    for (name, value) in &step.with {
        let value = value.as_deref().map_or_else(String::new, typed);
        out += &option(
            table::option(Form::RUN, name).trim_start_matches('-'),
            &value,
        );
    }
    out
}

/// An option of a command, and its value where it has one.
fn option(name: &str, value: &str) -> String {
    match value {
        "" => format!(" --{name}"),
        // It would be an option itself.
        value if value.starts_with('-') || value.starts_with("'-") => format!(" --{name}={value}"),
        value => format!(" --{name} {value}"),
    }
}

/// An argument as it is spelled: as it is declared, or as one word of several; its name in steps; and its value where it is known.
type Spelled<'s> = (Option<&'static Argument>, &'s str, &'s Option<String>);

/// The arguments of a step that the command of a call takes, and those without which it is none: the reader has to fill them in.
fn arguments_of<'s>(call: &'static Call, step: &'s NextStep) -> Vec<Spelled<'s>> {
    // What is said by the phase, and by the unit, is not said again.
    let is_report = step.verb == Verb::Report;
    let has = |name: &str| step.with.iter().any(|(known, _)| known == name);
    let by_unit = is_report && call.phases.is_empty() && has("unit");
    let said_again = |name: &str, own: Option<&Argument>| match name {
        "unit" => is_report && !call.phases.is_empty(),
        "phase" | "item" => by_unit || is_report && own.is_none_or(|own| !own.is_word()),
        _ => false,
    };
    let mut all = Vec::new();
    for (name, value) in &step.with {
        let own = call.command_argument(name);
        let is_word = own.is_none() && call.words().is_some();
        if (own.is_some() || is_word) && !said_again(name, own) {
            all.push((own, name.as_ref(), value));
        }
    }
    let is_there = |name: &str| {
        all.iter()
            .any(|(own, ..)| own.is_some_and(|own| own.name == name))
    };
    let needed: Vec<_> = call
        .needed(is_there)
        .into_iter()
        .filter(|own| !is_there(&own.name))
        .collect();
    for own in needed {
        if own.kind != Kind::Texts || all.is_empty() {
            all.push((Some(own), own.name.as_str(), &None));
        }
    }
    all
}

impl StepSpelling for Caller {
    fn spelled(&self, step: &NextStep) -> StepText {
        StepText::Command(self.command(step))
    }

    fn argument(&self, name: &str) -> String {
        table::option(self.form, name)
    }

    fn data(&self, step: &NextStep) -> Value {
        json!({ "step": step.verb.name(), "command": self.command(step) })
    }
}

impl Caller<Tools<'_>> {
    /// The tool that takes a step, with its call; none where only a person does, at a terminal.
    fn tool(&self, step: &NextStep) -> Option<(&'static str, &'static Call)> {
        let mut tools = table::tools_of(self.form(step), step).into_iter();
        tools.find(|(tool, _)| (self.means.0)(tool).is_some())
    }

    /// The arguments that a tool takes for a step: the name, and the value where it is known.
    fn arguments(
        &self,
        (tool, call): (&str, &'static Call),
        step: &NextStep,
    ) -> Vec<(String, Option<Value>)> {
        let run = self.run(step).map(|run| {
            (
                table::argument(Form::of_tool(tool), "run"),
                Some(run.into()),
            )
        });
        let mut all: Vec<(String, Option<Value>)> = run.into_iter().collect();
        for (name, value) in &step.with {
            if EVERYWHERE.contains(&name.as_ref())
                && !(name == "session" && self.run(step).is_some())
            {
                let value = value.as_deref().map(Value::from);
                all.push((table::argument(Form::of_tool(tool), name), value));
            }
            let Some((path, own)) = call.tool_argument(name) else {
                continue;
            };
            // The unit says both.
            if step.verb == Verb::Report && matches!(name.as_ref(), "phase" | "item") {
                continue;
            }
            let value = match (name.as_ref(), value) {
                ("results", _) if own.kind == Kind::Object => Some(done(step)),
                ("results", _) => Some(json!({ "failed": "N", "passed": "N" })),
                ("input", Some(pair)) => pair
                    .split_once('=')
                    .map(|(name, value)| json!({ name: value })),
                (_, Some(value)) if own.kind == Kind::Texts => Some(json!([value])),
                (_, Some(value)) => Some(value.as_str().into()),
                (_, None) => (own.kind == Kind::Switch).then_some(Value::Bool(true)),
            };
            all.push((path, value));
        }
        let schema = (self.means.0)(tool).unwrap_or(&Value::Null);
        if let Some(project) = &self.project
            && let Some(name) = ["projectRoot", "project"]
                .into_iter()
                .find(|name| schema["properties"].get(name).is_some())
            && !all.iter().any(|(known, _)| known == name)
        {
            all.push((name.to_owned(), Some(project.as_str().into())));
        }
        for argument in call.needed_by_tool() {
            let name = argument.tool_name();
            if !all.iter().any(|(known, _)| known == name) {
                let value = (argument.kind == Kind::Object).then(|| done(step));
                all.push((name.to_owned(), value));
            }
        }
        #[cfg(any(test, debug_assertions))]
        if taken::is_asked() {
            taken::by_tool(tool, schema, &all);
        }
        all
    }

    /// The resource that is read for a step instead of calling a tool.
    fn resource(&self, step: &NextStep) -> Option<String> {
        let id = self.run(step).unwrap_or("{id}");
        table::resource(step.verb).map(|resource| resource.replace("{id}", id))
    }

    /// The command for a person, where there is no tool.
    fn by_hand(&self, step: &NextStep) -> String {
        Caller::at_a_shell(self.form, self.named.clone()).command(step)
    }
}

impl StepSpelling for Caller<Tools<'_>> {
    fn spelled(&self, step: &NextStep) -> StepText {
        if let Some(resource) = self.resource(step) {
            return StepText::Tool(resource, String::new());
        }
        let Some(tool) = self.tool(step) else {
            return StepText::Command(self.by_hand(step));
        };
        let arguments: Vec<String> = self
            .arguments(tool, step)
            .into_iter()
            .map(|(name, value)| match value {
                None => name,
                Some(Value::String(text)) => format!("{name}: {text}"),
                Some(value) => format!("{name}: {}", value.to_string().replace("\"N\"", "N")),
            })
            .collect();
        StepText::Tool(tool.0.to_owned(), arguments.join(", "))
    }

    fn argument(&self, name: &str) -> String {
        table::argument(self.form, name)
    }

    fn data(&self, step: &NextStep) -> Value {
        if let Some(resource) = self.resource(step) {
            return json!({ "step": step.verb.name(), "resource": resource });
        }
        let Some(tool) = self.tool(step) else {
            return json!({ "step": step.verb.name(), "command": self.by_hand(step) });
        };
        let (mut arguments, mut fill) = (Map::new(), Vec::new());
        for (name, value) in self.arguments(tool, step) {
            match value {
                Some(value) if name != "results" && name != "result" => {
                    arguments.insert(name, value);
                }
                _ => fill.push(name),
            }
        }
        let mut data = json!({ "step": step.verb.name(), "tool": tool.0, "arguments": arguments });
        if !fill.is_empty() {
            data["fill"] = fill.into();
        }
        data
    }
}

/// The tools that take the steps in a text, each once; those of the view that a step is in.
pub fn tools_of(text: &str) -> Vec<&'static str> {
    let mut tools = Vec::new();
    for step in next_step::steps(text) {
        let form = step.view.as_deref().map_or(Form::RUN, Form::of_view);
        if let Some((tool, _)) = table::tools_of(form, &step).first()
            && !tools.contains(tool)
        {
            tools.push(tool);
        }
    }
    tools
}

/// What is said of a work unit that is done, with what its phase is reported by.
fn done(step: &NextStep) -> Value {
    let phase = step.value("phase").unwrap_or_default();
    let mut result = json!({ "success": true, "phase": phase.to_uppercase() });
    if step.value("results").is_some() {
        result["testsFailed"] = "N".into();
        result["testsPassed"] = "N".into();
    }
    result
}

/// Whether a step says all that another does, and perhaps more.
fn says_all_of(step: &NextStep, other: &NextStep) -> bool {
    step.verb == other.verb
        && step.view == other.view
        && (other.run.is_none() || step.run == other.run)
        && other
            .with
            .iter()
            .all(|argument| step.with.contains(argument))
}

#[cfg(test)]
mod tests;
