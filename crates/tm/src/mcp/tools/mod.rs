//! The tools: what is declared of each in [`crate::calls`], and the call that it makes, which is carried out as a command's is.

mod decision;
mod session;

use std::path::PathBuf;
use std::sync::Arc;

use engine::view::autopilot::request;
use engine::{Engine, Fault, Started, SuiteHost};
use mcp::{Client, Problem, Stop, Tool, ToolAnswer};
use serde_json::{Map, Value, json};

use self::session::{LAST, LISTED};
use super::arguments;
use super::confirm::Interruption;
use super::place::{Places, RunSelector};
use crate::calls::{self, Arguments, Family, FamilyCall, ToolText, schema};
use crate::commands::call::{Driver, carry_out};
use crate::output::Output;
use crate::steps::{Caller, StepSpelling as _};

/// The tools that a task cannot do without. Claude Code defers others behind a search, and loads these at once.
const CORE: [&str; 5] = [
    "autopilot_start",
    "autopilot_next",
    "autopilot_complete_phase",
    "autopilot_commit",
    "autopilot_status",
];

/// The tools that carry a person's decision at a gate. A client asks before each call of one.
const DECIDING: [&str; 2] = ["session_decide", "run_decide"];

/// A family of calls, whose tools belong together.
pub type Group = &'static Family;

/// What a tool answers.
type Answer = Result<Value, Interruption>;

/// A tool, and the call that it makes.
#[derive(Debug)]
struct Entry {
    name: &'static str,
    family: &'static Family,
    call: &'static calls::Call,
    text: &'static ToolText,
    /// The schema of all of its arguments.
    schema: Value,
}

/// One call of a tool.
#[derive(Debug)]
struct Call<'a> {
    entry: &'a Entry,
    meant: RunSelector,
    places: &'a Places,
    client: &'a Client,
    host: Arc<dyn SuiteHost>,
    output: Output,
}

impl Call<'_> {
    /// Makes the call.
    fn carry_out(mut self, arguments: Arguments) -> Answer {
        let Entry { family, call, .. } = self.entry;
        match (family.name.as_str(), call.name.as_str()) {
            ("session", "step") => return self.take_step(&arguments),
            ("session", "init") => session::has_no_name(self.meant.run.as_deref())?,
            _ => {}
        }
        let full = arguments.is("full");
        let asked = FamilyCall {
            family,
            call,
            project_root: None,
            tag: None,
            run: self.meant.run.clone(),
            at: self.meant.unit.clone(),
            sign: None,
            interactive: false,
            arguments,
        };
        carry_out(asked, &mut self)?;
        let answer = self.output.taken();
        Ok(match (family.name.as_str(), call.name.as_str()) {
            ("session", "status") if full => session::told(answer, usize::MAX),
            ("session", "status") => session::told(answer, LISTED),
            ("session", "init") => session::told(answer, LAST),
            _ => answer,
        })
    }
}

impl Driver for Call<'_> {
    fn output(&mut self) -> &mut Output {
        &mut self.output
    }

    fn open(&mut self, begins: bool) -> Result<Engine, Fault> {
        let (meant, name) = (&self.meant, self.entry.name);
        let engine = if begins {
            self.places.open_to_begin(meant, name, self.client)?
        } else {
            self.places.open(meant, name, self.client)?
        };
        Ok(engine.hosted(Arc::clone(&self.host)))
    }

    /// A file, where this server may read it. Relative ones belong to the project.
    fn file(&self, engine: &Engine, named: &str) -> Result<PathBuf, Fault> {
        self.places.file(engine, named)
    }

    fn begin(&mut self, engine: &Engine, asked: &FamilyCall) -> Result<Started, Interruption> {
        let mut request: request::Start = asked.arguments.clone().read()?;
        // A run that is under way is superseded by a person's word alone.
        let force = std::mem::take(&mut request.force);
        let fault = match engine.start(&request) {
            Err(fault) if fault.code == "run_active" && force => fault,
            started => return Ok(started?),
        };
        self.supersede(engine, asked, request, &fault)
    }
}

/// What a model should know before it calls a tool of these groups.
pub fn instructions(groups: &[Group]) -> String {
    let all = chosen(groups).map(|family| family.instructions.as_str());
    all.collect::<Vec<_>>().join("\n")
}

/// These groups in their order; all of them where none is named.
pub fn chosen(groups: &[Group]) -> impl Iterator<Item = Group> {
    let is_chosen = |family: &Group| groups.iter().any(|group| group.name == family.name);
    calls::families()
        .iter()
        .filter(move |family| groups.is_empty() || is_chosen(family))
}

/// The tools that a server has, put together once.
#[derive(Debug)]
pub struct Toolbox {
    entries: Vec<Entry>,
}

impl Toolbox {
    /// The tools of these groups in their order; all of them where none is named.
    pub fn new(groups: &[Group]) -> Self {
        let entry = |family: Group, (name, call): (&'static String, &'static String)| {
            let call = family.call(call)?;
            Some(Entry {
                name,
                family,
                call,
                text: call.tool.as_ref()?,
                schema: schema::of_call(family, call),
            })
        };
        let entries = chosen(groups).flat_map(|family| {
            let tools = family.tools.iter();
            tools.filter_map(move |tool| entry(family, tool))
        });
        Self {
            entries: entries.collect(),
        }
    }

    /// What clients are told of them.
    pub fn list(&self) -> Vec<Tool> {
        self.entries.iter().map(Entry::tool).collect()
    }

    /// The schema of what the tool of this name takes; none where there is no such tool.
    pub fn schema(&self, name: &str) -> Option<&Value> {
        let entry = self.entries.iter().find(|entry| entry.name == name)?;
        Some(&entry.schema)
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
        let made = arguments::read(&entry.schema, arguments).map_err(Interruption::from);
        let made = made.and_then(|given| {
            let mut arguments = calls::canonical(entry.family, entry.call, given)?;
            let meant = RunSelector {
                project_root: arguments.take_text("projectRoot"),
                tag: arguments.take_text("tag"),
                run: arguments.take_text("run"),
                unit: arguments.take_text("at"),
            };
            let call = Call {
                entry,
                meant,
                places,
                client,
                host,
                output: Output::taking(),
            };
            call.carry_out(arguments)
        });
        match made {
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
            title: &self.text.title,
            description: &self.text.says,
            hints: self.text.hints,
            input: schema::shown(&self.schema),
            output: Some(schema::of_answer(&self.text.answers)),
            meta: if CORE.contains(&self.name) {
                Some(json!({ "anthropic/alwaysLoad": true }))
            } else if DECIDING.contains(&self.name) {
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
