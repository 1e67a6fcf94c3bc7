//! The tools, by group. A tool is a name, a text for the model, two schemas, and one call of the conductor.

mod autopilot;
pub(super) mod collab;
mod decision;
mod evidence;
mod run;
mod session;
mod turn;
mod work_unit;

use std::fmt;
use std::str::FromStr;

use conductor::{Fault, Kind};
use mcp::{Client, Hints, Problem, Stop, Tool, ToolAnswer};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::confirm::No;
use super::place::Places;
use crate::steps::{Caller, Spelling as _};

/// Tools that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// `tdd` runs.
    Autopilot,
    /// Runs of any workflow.
    Run,
    /// Sessions: plan, generate, review, revise.
    Review,
    /// Sessions that go from skill to skill.
    Collab,
}

impl Group {
    /// All groups, in the order of `tools/list`.
    pub const ALL: [Self; 4] = [Self::Autopilot, Self::Run, Self::Review, Self::Collab];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Autopilot => "autopilot",
            Self::Run => "run",
            Self::Review => "review",
            Self::Collab => "collab",
        }
    }

    /// What a model should know before it calls one of them.
    fn instructions(self) -> &'static str {
        match self {
            Self::Autopilot => include_str!("autopilot.md"),
            Self::Run => include_str!("run.md"),
            Self::Review => include_str!("review.md"),
            Self::Collab => include_str!("collab.md"),
        }
    }

    fn tools(self) -> Vec<Entry> {
        match self {
            Self::Autopilot => autopilot::entries()
                .into_iter()
                .chain(work_unit::entries())
                .collect(),
            Self::Run => run::entries(),
            Self::Review => session::entries(),
            Self::Collab => collab::entries(),
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Group {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|group| group.name() == name)
            .ok_or_else(|| {
                let known: Vec<&str> = Self::ALL.iter().map(|group| group.name()).collect();
                format!(
                    "there is no group `{name}`; the groups are {}",
                    known.join(", ")
                )
            })
    }
}

/// One call of a tool.
#[derive(Debug)]
pub struct Call<'a> {
    places: &'a Places,
    tool: &'static str,
    arguments: Arguments,
    client: &'a Client,
}

/// What a tool answers.
type Answer = Result<Value, No>;

/// A tool and what it does.
#[derive(Debug)]
struct Entry {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    hints: Hints,
    /// Properties of the arguments, without those that every tool takes, and which of them are needed.
    input: Value,
    needed: &'static [&'static str],
    /// Properties of the answer.
    output: Value,
    call: fn(Call<'_>) -> Answer,
}

/// What a model should know before it calls a tool of these groups.
pub fn instructions(groups: &[Group]) -> String {
    Group::ALL
        .into_iter()
        .filter(|group| groups.contains(group))
        .map(Group::instructions)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The tools that a server has, put together once.
#[derive(Debug)]
pub struct Toolbox {
    entries: Vec<Entry>,
}

impl Toolbox {
    /// The tools of these groups, in the order of [`Group::ALL`].
    pub fn new(groups: &[Group]) -> Self {
        Self {
            entries: Group::ALL
                .into_iter()
                .filter(|group| groups.contains(group))
                .flat_map(Group::tools)
                .collect(),
        }
    }

    /// What clients are told of them.
    pub fn list(&self) -> Vec<Tool> {
        self.entries.iter().map(Entry::tool).collect()
    }

    /// Whether there is a tool of this name.
    pub fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name == name)
    }

    /// Calls a tool. What goes wrong is an answer too, so that the model reads it.
    pub fn call(
        &self,
        places: &Places,
        tool: &str,
        arguments: Map<String, Value>,
        client: &Client,
    ) -> Result<ToolAnswer, Stop> {
        let entry = self
            .entries
            .iter()
            .find(|entry| entry.name == tool)
            .ok_or_else(|| Problem::Invalid(format!("Unknown tool: {tool}")))?;
        let named = ["runId", "sessionId", "session"]
            .into_iter()
            .find_map(|name| arguments.get(name)?.as_str());
        let has = |name: &str| self.has(name);
        let caller = Caller::of_tools(tool, named.map(str::to_owned), &has);
        let call = Call {
            places,
            tool: entry.name,
            arguments: Arguments::new(arguments),
            client,
        };
        match (entry.call)(call) {
            Ok(mut value) => {
                caller.value(&mut value);
                tell_for_whom(&mut value);
                Ok(ToolAnswer::structured(value))
            }
            Err(No::Fault(fault)) => {
                let mut value = json!({ "error": fault });
                caller.value(&mut value);
                Ok(ToolAnswer::error(value))
            }
            Err(No::Stop(stop)) => Err(stop),
        }
    }
}

impl Entry {
    fn tool(&self) -> Tool {
        let mut properties = self.input.as_object().cloned().unwrap_or_default();
        let every: &[&str] = if self.name.starts_with("session_") {
            &["sessionId", "projectRoot"]
        } else if collab::NAMES.contains(&self.name) {
            &["session", "project"]
        } else {
            &["runId", "projectRoot", "tag"]
        };
        for &name in every {
            properties.insert(name.to_owned(), json!({ "type": "string" }));
        }
        let mut input = json!({ "type": "object", "properties": properties });
        if !self.needed.is_empty() {
            input["required"] = json!(self.needed);
        }
        Tool {
            name: self.name,
            title: self.title,
            description: self.description,
            hints: self.hints,
            input,
            output: Some(json!({ "type": "object", "properties": self.output })),
            // Clients that know this ask their person at every call, whatever they were told to let pass.
            meta: decision::NAMES
                .contains(&self.name)
                .then(|| json!({ "anthropic/requiresUserInteraction": true })),
        }
    }
}

/// What stands before the instructions of a unit that is not for an agent.
const FOR_A_PERSON: &str = "This is for a person, not for you. Show them what follows, wait for what they say, and report that and nothing else.\n\n";

/// Says with the units that are for a person that they are.
fn tell_for_whom(answer: &mut Value) {
    let by_person = answer.get("by").and_then(Value::as_str) == Some("person");
    if let Some(Value::String(text)) = answer.get_mut("instructions").filter(|_| by_person) {
        text.insert_str(0, FOR_A_PERSON);
    }
    if let Some(Value::Array(units)) = answer.get_mut("units") {
        units.iter_mut().for_each(tell_for_whom);
    }
}

/// An answer of the conductor as JSON.
fn answer<T: Serialize>(value: &T) -> Answer {
    serde_json::to_value(value).map_err(|error| {
        Fault::new(
            Kind::Bug,
            "internal",
            format!("the answer could not be written as JSON: {error}"),
        )
        .into()
    })
}
