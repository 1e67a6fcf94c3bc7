//! The tools, by group. A tool is a name, a text for the model, two schemas, and one call of the engine.

#![expect(
    clippy::needless_pass_by_value,
    reason = "every tool is called in the same way, with what is then its own"
)]

mod autopilot;
mod collab;
mod decision;
mod evidence;
mod run;
mod session;
mod turn;
mod work_unit;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use engine::fault;
use engine::{Engine, Fault, SuiteHost};
use mcp::{Client, Hints, Problem, Stop, Tool, ToolAnswer};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::confirm::Interruption;
use super::place::{Places, RunPlace, RunSelector, SessionPlace, SkillsPlace, TurnPlace};
use super::{arguments, schema};
use crate::steps::{Caller, Form, StepSpelling as _};

/// The tools that a task cannot do without. Claude Code defers others behind a search, and loads these at once.
const CORE: [&str; 5] = [
    "autopilot_start",
    "autopilot_next",
    "autopilot_complete_phase",
    "autopilot_commit",
    "autopilot_status",
];

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
            Self::Autopilot => {
                let turns = turn::entries(Form::Autopilot).into_iter();
                let own = autopilot::entries().into_iter().chain(turns);
                own.chain(work_unit::entries()).collect()
            }
            Self::Run => run::entries()
                .into_iter()
                .chain(turn::entries(Form::Run))
                .collect(),
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
#[derive(Debug, Clone)]
struct Call<'a> {
    places: &'a Places,
    tool: &'static str,
    client: &'a Client,
    host: Arc<dyn SuiteHost>,
}

impl Call<'_> {
    /// Opens the project that is meant.
    fn open(&self, meant: &RunSelector) -> Result<Engine, Fault> {
        let engine = self.places.open(meant, self.tool, self.client)?;
        Ok(engine.hosted(Arc::clone(&self.host)))
    }

    /// Opens the project that something is to begin in.
    fn open_to_begin(&self, meant: &RunSelector) -> Result<Engine, Fault> {
        let engine = self.places.open_to_begin(meant, self.tool, self.client)?;
        Ok(engine.hosted(Arc::clone(&self.host)))
    }
}

/// What a tool answers.
type Answer = Result<Value, Interruption>;

/// What a tool does with its arguments.
type Handle = dyn Fn(Call<'_>, Map<String, Value>) -> Answer + Send + Sync;

/// What a tool takes, and what it does with it.
struct Handler {
    /// The schema of all of its arguments.
    schema: Value,
    call: Box<Handle>,
}

impl Handler {
    /// A handler of arguments: those of `R`, and those of `P`, which say where.
    fn new<P, R>(
        handle: impl Fn(Call<'_>, RunSelector, R) -> Answer + Send + Sync + 'static,
    ) -> Self
    where
        P: DeserializeOwned + JsonSchema + Into<RunSelector>,
        R: DeserializeOwned + JsonSchema + 'static,
    {
        let place = schema::of::<P>();
        let schema = schema::joined(&schema::of::<R>(), &place);
        let all = schema.clone();
        let call = Box::new(move |call: Call<'_>, given: Map<String, Value>| {
            let mut given = arguments::read(&all, given)?;
            let meant = schema::properties(&place)
                .filter_map(|(name, _)| given.shift_remove_entry(name))
                .collect();
            let meant = arguments::typed::<P>(meant)?.into();
            handle(call, meant, arguments::typed(given)?)
        });
        Self { schema, call }
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").finish_non_exhaustive()
    }
}

/// A handler of a tool that is about a run.
fn on_run<R>(handle: impl Fn(Call<'_>, RunSelector, R) -> Answer + Send + Sync + 'static) -> Handler
where
    R: DeserializeOwned + JsonSchema + 'static,
{
    Handler::new::<RunPlace, R>(handle)
}

/// A handler of a tool that turns a run.
fn on_turn<R>(
    handle: impl Fn(Call<'_>, RunSelector, R) -> Answer + Send + Sync + 'static,
) -> Handler
where
    R: DeserializeOwned + JsonSchema + 'static,
{
    Handler::new::<TurnPlace<RunPlace>, R>(handle)
}

/// A handler of a tool that is about a session.
fn on_session<R>(handle: fn(Call<'_>, RunSelector, R) -> Answer) -> Handler
where
    R: DeserializeOwned + JsonSchema + 'static,
{
    Handler::new::<SessionPlace, R>(handle)
}

/// A handler of a tool that is about a session of skills.
fn on_skills<R>(handle: fn(Call<'_>, RunSelector, R) -> Answer) -> Handler
where
    R: DeserializeOwned + JsonSchema + 'static,
{
    Handler::new::<SkillsPlace, R>(handle)
}

/// A property of an answer: its name and its JSON type, with `?` where it may be null.
type Property = (&'static str, &'static str);

/// A tool and what it does.
#[derive(Debug)]
struct Entry {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    hints: Hints,
    /// What every answer has; many have more.
    output: &'static [Property],
    handler: Handler,
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

    /// The schema of what the tool of this name takes; none where there is no such tool.
    pub fn schema(&self, name: &str) -> Option<&Value> {
        let entry = self.entries.iter().find(|entry| entry.name == name)?;
        Some(&entry.handler.schema)
    }

    /// Calls a tool, whose suites are run where the host says. What goes wrong is an answer too, so that the model reads it.
    pub fn call(
        &self,
        places: &Places,
        tool: &str,
        arguments: Map<String, Value>,
        (client, host): (&Client, Arc<dyn SuiteHost>),
    ) -> Result<ToolAnswer, Stop> {
        let entry = self
            .entries
            .iter()
            .find(|entry| entry.name == tool)
            .ok_or_else(|| Problem::Invalid(format!("Unknown tool: {tool}")))?;
        let named = ["runId", "sessionId", "session"]
            .into_iter()
            .find_map(|name| arguments.get(name)?.as_str());
        let schemas = |name: &str| self.schema(name);
        let project = ["projectRoot", "project"]
            .into_iter()
            .find_map(|name| arguments.get(name)?.as_str())
            .and_then(|named| places.named_elsewhere(named, client));
        let caller = Caller::of_tools(tool, named.map(str::to_owned), &schemas)
            .in_project(project.map(str::to_owned));
        let call = Call {
            places,
            tool: entry.name,
            client,
            host,
        };
        match (entry.handler.call)(call, arguments) {
            Ok(mut value) => {
                caller.value(&mut value);
                tell_for_whom(&mut value);
                Ok(ToolAnswer::structured(value))
            }
            Err(Interruption::Fault(fault)) => {
                let mut value = json!({ "error": fault });
                caller.value(&mut value);
                Ok(ToolAnswer::error(prose(&value["error"])))
            }
            Err(Interruption::Stop(stop)) => Err(stop),
        }
    }
}

impl Entry {
    fn tool(&self) -> Tool {
        Tool {
            name: self.name,
            title: self.title,
            description: self.description,
            hints: self.hints,
            input: schema::shown(&self.handler.schema),
            output: Some(schema::of_answer(self.output)),
            meta: if CORE.contains(&self.name) {
                Some(json!({ "anthropic/alwaysLoad": true }))
            } else if decision::NAMES.contains(&self.name) {
                Some(json!({ "anthropic/requiresUserInteraction": true }))
            } else {
                None
            },
        }
    }
}

/// A fault as prose, one field a line: texts as they are, with further lines indented, everything else as JSON.
fn prose(fault: &Value) -> String {
    let text = |key: &str| {
        let text = fault[key].as_str().unwrap_or_default();
        text.replace('\n', "\n  ")
    };
    let mut lines = vec![format!("error[{}]: {}", text("code"), text("message"))];
    for (key, value) in fault.as_object().into_iter().flatten() {
        lines.push(match key.as_str() {
            "code" | "message" => continue,
            "suggestion" => format!("help: {}", text(key)),
            "recovery" => format!("recovery: {}", text(key)),
            _ => format!("{key}: {value}"),
        });
    }
    lines.join("\n")
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

/// An answer of the engine as JSON.
fn answer<T: Serialize>(value: &T) -> Answer {
    serde_json::to_value(value).map_err(|error| fault!("internal.answer_json", error).into())
}
