//! The steps that texts of the engine name, in the words of who reads them: commands with options at a command line, tools
//! with arguments over MCP.

mod table;
#[cfg(any(test, debug_assertions))]
pub mod taken;

use engine::next_step::{self, NextStep, Part, Verb, command_line};
use journal::layout::short_name;
use serde_json::{Map, Value, json};

pub use engine::next_step::typed;
pub use table::{Form, TEST_PHASES};

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
        let row = table::of(self.form(step), step);
        let step = &with_needed(step, &table::needed(&row.command, step));
        let option = row.run_option();
        let without = table::not_taken(&row.command);
        let mut out = row.command.clone().into_owned();
        let mut put = |word: &str| {
            out.push(' ');
            out.push_str(word);
        };
        let run = self.run(step).map(|run| typed(&short_name(run)));
        if let (Some(run), None) = (&run, option) {
            put(run);
        }
        let stated = |name: &str, value: &Option<String>| match value {
            Some(value) => typed(value),
            None => table::stands_for(name).to_owned(),
        };
        for name in &row.words {
            if let Some((_, value)) = step.with.iter().find(|(known, _)| known == name) {
                put(&stated(name, value));
            }
        }
        for (name, value) in &step.with {
            let name = name.as_ref();
            if row.words.contains(&name) || without.contains(&name) {
                continue;
            }
            let option = table::option(option, name);
            match stated(name, value) {
                value if value.is_empty() => put(&option),
                // It would be an option itself.
                value if value.starts_with('-') || value.starts_with("'-") => {
                    put(&format!("{option}={value}"));
                }
                value => put(&format!("{option} {value}")),
            }
        }
        if let (Some(run), Some(option)) = (run, option) {
            put(option);
            put(&run);
        }
        #[cfg(any(test, debug_assertions))]
        if taken::is_asked() {
            taken::by_command(&out);
        }
        out
    }
}

/// The step with the arguments without which nobody takes it: the reader has to fill them in.
fn with_needed(step: &NextStep, needed: &[&'static str]) -> NextStep {
    let given = |name: &str| step.with.iter().any(|(known, _)| known == name);
    needed
        .iter()
        .filter(|name| !given(name))
        .fold(step.clone(), |step, name| step.and(name))
}

impl StepSpelling for Caller {
    fn spelled(&self, step: &NextStep) -> StepText {
        StepText::Command(self.command(step))
    }

    fn argument(&self, name: &str) -> String {
        table::option(Some(table::run_option(self.form)), name)
    }

    fn data(&self, step: &NextStep) -> Value {
        json!({ "step": step.verb.name(), "command": self.command(step) })
    }
}

impl Caller<Tools<'_>> {
    /// The tool that takes a step; none where only a person does, at a terminal.
    fn tool(&self, step: &NextStep) -> Option<&'static str> {
        let row = table::of(self.form(step), step);
        row.tools
            .iter()
            .copied()
            .find(|tool| (self.means.0)(tool).is_some())
    }

    /// The arguments that a tool takes for a step: the name, and the value where it is known.
    fn arguments(&self, tool: &str, step: &NextStep) -> Vec<(String, Option<Value>)> {
        let form = Form::of_tool(tool);
        let without = table::not_taken(tool);
        let run = self
            .run(step)
            .map(|run| (table::argument(form, "run"), Some(run.into())));
        let own = step
            .with
            .iter()
            .filter(|(name, _)| !without.contains(&name.as_ref()));
        let own = own.map(|(name, value)| {
            let value = match (name.as_ref(), value) {
                ("results", _) => Some(json!({ "failed": "N", "passed": "N" })),
                (_, Some(value)) => Some(value.as_str().into()),
                (name, None) => table::is_switch(name).then_some(Value::Bool(true)),
            };
            table::tool_argument(tool, step, name, value)
        });
        let mut all: Vec<_> = run.into_iter().chain(own).collect();
        let schema = (self.means.0)(tool).unwrap_or(&Value::Null);
        if let Some(project) = &self.project
            && let Some(name) = ["projectRoot", "project"]
                .into_iter()
                .find(|name| schema["properties"].get(name).is_some())
            && !all.iter().any(|(known, _)| known == name)
        {
            all.push((name.to_owned(), Some(project.as_str().into())));
        }
        let needed = schema["required"].as_array().into_iter().flatten();
        for name in needed.filter_map(Value::as_str) {
            if !all.iter().any(|(known, _)| known == name) {
                all.push((name.to_owned(), None));
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
        StepText::Tool(tool.to_owned(), arguments.join(", "))
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
        let mut data = json!({ "step": step.verb.name(), "tool": tool, "arguments": arguments });
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
        let form = step.view.as_deref().map_or(Form::Run, Form::of_view);
        if let Some(tool) = table::of(form, &step).tools.first()
            && !tools.contains(tool)
        {
            tools.push(tool);
        }
    }
    tools
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
