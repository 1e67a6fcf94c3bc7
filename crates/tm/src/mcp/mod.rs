//! The MCP server: tools, resources and prompts, each a call of the conductor.
//!
//! | module | what it holds |
//! |---|---|
//! | [`tools`] | the tools, by group |
//! | [`arguments`] | reading a tool's arguments |
//! | [`place`] | which project a call is about |
//! | [`confirm`] | asking the person before something that cannot be undone |
//! | [`wording`] | words for an agent that has tools and no command line |
//! | [`resources`] | runs and workflows as resources |
//! | [`prompts`] | a run from start to end, and each phase |
//!
//! Nothing here decides anything: what is accepted and what is refused is the conductor's to say.

pub mod arguments;
pub mod confirm;
pub mod place;
pub mod prompts;
pub mod resources;
pub mod tools;
pub mod wording;

use mcp::{
    About, Client, Completing, Contents, Prompt, PromptText, Resource, Server, Stop, Template,
    Tool, ToolAnswer,
};
use serde_json::{Map, Value};

pub use place::Places;
pub use tools::{Group, Toolbox};
use wording::Words;

/// The server of this process.
#[derive(Debug)]
pub struct Tramline {
    places: Places,
    tools: Toolbox,
    groups: Vec<Group>,
}

impl Tramline {
    /// A server for these projects, with the tools of these groups.
    pub fn new(places: Places, groups: &[Group]) -> Self {
        Self {
            places,
            tools: Toolbox::new(groups),
            groups: groups.to_vec(),
        }
    }
}

impl Server for Tramline {
    fn about(&self) -> About {
        About {
            name: "tramline".to_owned(),
            title: "Tramline".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
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
        self.tools.call(&self.places, tool, arguments, client)
    }

    fn resources(&self, client: &Client) -> Result<Vec<Resource>, Stop> {
        resources::list(&self.places, client)
    }

    fn templates(&self) -> Vec<Template> {
        resources::templates()
    }

    fn read(&self, uri: &str, client: &Client) -> Result<Vec<Contents>, Stop> {
        resources::read(&self.places, uri, client)
    }

    fn mark(&self, uri: &str, client: &Client) -> Option<u64> {
        resources::mark(&self.places, uri, client)
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
        let has = |tool: &str| self.tools.has(tool);
        let words = Words::after("autopilot_next", &has);
        prompts::fill(&self.places, name, &arguments, client, &words)
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
