//! The MCP server: tools, resources and prompts, each a call of the engine.
//!
//! | module | what it holds |
//! |---|---|
//! | [`tools`] | the tools, by group |
//! | [`arguments`] | reading a tool's arguments by that |
//! | [`calls`] | carrying a call out, also where its client gives it up |
//! | [`place`] | which project a call is about |
//! | [`confirm`] | asking the person before something that cannot be undone |
//! | [`resources`] | runs and workflows as resources |
//! | [`marks`] | which of them moved, by the stream of events |
//! | [`prompts`] | a run from start to end, and each phase |
//!
//! Nothing here decides anything: what is accepted and what is refused is the engine's to say.

pub mod arguments;
pub mod calls;
pub mod confirm;
pub mod marks;
pub mod place;
pub mod prompts;
pub mod resources;
pub mod tools;
use std::sync::Arc;

pub use mcp::{
    About, Client, Completing, Contents, Problem, Prompt, PromptText, Resource, Server, Stop,
    Template, Tool, ToolAnswer,
};
use serde_json::{Map, Value};

use calls::Calls;
use marks::Marks;

use crate::steps::{Caller, StepSpelling as _, Tools};
pub use place::Places;
pub use tools::{Group, Toolbox};

/// The server of this process.
#[derive(Debug)]
pub struct Tramline {
    places: Arc<Places>,
    marks: Marks,
    tools: Arc<Toolbox>,
    calls: Arc<Calls>,
    groups: Vec<Group>,
}

impl Tramline {
    /// A server for these projects, with the tools of these groups.
    pub fn new(places: Places, groups: &[Group]) -> Self {
        Self {
            places: Arc::new(places),
            marks: Marks::default(),
            tools: Arc::new(Toolbox::new(groups)),
            calls: Arc::default(),
            groups: groups.to_vec(),
        }
    }
}

impl Tramline {
    /// What is answered to one who has these tools; what keeps it from being answered is told in their words, too.
    fn told<T>(
        &self,
        named: Option<&str>,
        answer: impl FnOnce(&Caller<Tools<'_>>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let schemas = |tool: &str| self.tools.schema(tool);
        let caller = Caller::of_tools("autopilot_next", named.map(str::to_owned), &schemas);
        answer(&caller).map_err(|stop| match stop {
            Stop::Problem(Problem::Invalid(text)) => Problem::Invalid(caller.text(&text)).into(),
            Stop::Problem(Problem::Internal(text)) => Problem::Internal(caller.text(&text)).into(),
            other => other,
        })
    }
}

impl Server for Tramline {
    fn about(&self) -> About {
        About {
            name: "tramline".to_owned(),
            title: "Tramline".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: env!("CARGO_PKG_DESCRIPTION").to_owned(),
            instructions: tools::instructions(&self.groups),
            resources: true,
            prompts: true,
        }
    }

    fn tools(&self) -> Vec<Tool> {
        self.tools.list()
    }

    fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        client: &Client,
    ) -> Result<ToolAnswer, Stop> {
        let (places, tools) = (Arc::clone(&self.places), Arc::clone(&self.tools));
        let tool = tool.to_owned();
        // A map of JSON can always be written.
        let given = serde_json::to_string(&arguments).unwrap_or_default();
        let name = format!("{} {tool} {given}", client.name());
        self.calls.make(name, client, move |client, host| {
            tools.call(&places, &tool, arguments, (client, host))
        })
    }

    fn resources(&self, client: &Client) -> Result<Vec<Resource>, Stop> {
        self.told(None, |_| resources::list(&self.places, client))
    }

    fn templates(&self) -> Vec<Template> {
        resources::templates()
    }

    fn read(&self, uri: &str, client: &Client) -> Result<Vec<Contents>, Stop> {
        self.told(None, |caller| {
            resources::read(&self.places, uri, client, caller)
        })
    }

    fn mark(&self, uri: &str, client: &Client) -> Option<u64> {
        resources::mark(&self.places, &self.marks, uri, client)
    }

    fn prompts(&self) -> Vec<Prompt> {
        prompts::list(&self.groups)
    }

    fn prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        client: &Client,
    ) -> Result<PromptText, Stop> {
        let named = arguments.get("runId").and_then(Value::as_str);
        self.told(named, |caller| {
            prompts::fill(&self.places, name, &arguments, client, caller)
        })
    }

    fn complete(&self, what: &Completing, client: &Client) -> Result<Vec<String>, Stop> {
        let prefix = what.so_far.as_str();
        let all = match what.argument.as_str() {
            "id" => resources::ids(&what.of, &self.places, client)?,
            "runId" | "sessionId" => resources::run_ids(&self.places, client)?,
            "taskId" => prompts::task_ids(&self.places, client)?,
            _ => Vec::new(),
        };
        Ok(all
            .into_iter()
            .filter(|value| value.starts_with(prefix))
            .collect())
    }
}
