//! What a server offers, and the trait it implements.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::client::Client;
use crate::content::{Content, Contents};
use crate::stop::Stop;

/// A server. Every call comes on a thread of its own, may block, and may come while others are under way.
pub trait Server: Send + Sync + 'static {
    /// Who it is.
    fn about(&self) -> About;

    /// Its tools, always in the same order. Asked once.
    fn tools(&self) -> Vec<Tool>;

    /// Calls a tool.
    fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        client: &Client,
    ) -> Result<ToolAnswer, Stop>;

    /// How long a client that knows of tasks waits for a call before it gets a task instead of the answer.
    fn task_after(&self) -> Duration {
        Duration::from_secs(5)
    }

    /// The resources that are there now.
    fn resources(&self, client: &Client) -> Result<Vec<Resource>, Stop>;

    /// Patterns of resources. Asked once.
    fn templates(&self) -> Vec<Template>;

    /// Reads a resource.
    fn read(&self, uri: &str, client: &Client) -> Result<Vec<Contents>, Stop>;

    /// Something that changes whenever the resource does, cheap to get: it is asked for often. `None` where there
    /// is no such resource.
    fn mark(&self, uri: &str, client: &Client) -> Option<u64>;

    /// Its prompts. Asked once.
    fn prompts(&self) -> Vec<Prompt>;

    /// Fills a prompt in.
    fn prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        client: &Client,
    ) -> Result<PromptText, Stop>;

    /// How what was typed so far could go on, the best first.
    fn complete(&self, what: &Completing, client: &Client) -> Result<Vec<String>, Stop>;
}

/// Who a server is.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// Name for programs.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Its version.
    pub version: String,
    /// What it is for, in a sentence.
    pub description: String,
    /// What a model should know before it uses the server. Some clients cut it at 2 KB.
    pub instructions: String,
    /// Whether it has resources.
    pub resources: bool,
    /// Whether it has prompts.
    pub prompts: bool,
}

/// A tool.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Name for programs.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// When to call it. Some clients cut it at 2 KB.
    pub description: &'static str,
    /// What calling it may do.
    pub hints: Hints,
    /// JSON Schema of its arguments; the root is an object.
    pub input: Value,
    /// JSON Schema of its structured answer; the root is an object.
    pub output: Option<Value>,
    /// Further facts for clients that know them.
    pub meta: Option<Value>,
}

/// What calling a tool may do. Hints, not promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Hints {
    /// It changes nothing.
    ReadOnly,
    /// It adds; calling it again with the same arguments changes nothing more.
    Idempotent,
    /// It adds something each time.
    Adds,
    /// It may take something away.
    Destructive,
}

/// The answer of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolAnswer {
    /// What the model reads.
    pub content: Vec<Content>,
    /// The same for programs.
    pub structured: Option<Value>,
    /// Whether the tool failed.
    pub failed: bool,
}

impl ToolAnswer {
    /// An answer of structured data. The text is the same data.
    pub fn structured(value: Value) -> Self {
        Self {
            content: vec![Content::Text(value.to_string())],
            structured: Some(value),
            failed: false,
        }
    }

    /// The failure of a tool, as prose for the model. It is no structured answer, and no text that is JSON, which some clients
    /// take for one: clients check those against the tool's output schema, and that describes success alone.
    pub fn error(prose: String) -> Self {
        Self {
            content: vec![Content::Text(prose)],
            structured: None,
            failed: true,
        }
    }
}

/// A resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Where it is.
    pub uri: String,
    /// Name for programs.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// What it is.
    pub description: String,
    /// Its media type.
    pub mime: String,
}

/// A pattern of resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// URI template as in RFC 6570.
    pub uri: &'static str,
    /// Name for programs.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What it is.
    pub description: &'static str,
    /// Its media type.
    pub mime: &'static str,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Name for programs.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Its arguments.
    pub arguments: Vec<Argument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
    /// Whether it may not be left out.
    pub required: bool,
}

/// A prompt that was filled in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptText {
    /// What it is for.
    pub description: String,
    /// Who says what.
    pub messages: Vec<(Speaker, Content)>,
}

/// Who speaks in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// What is to be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completing {
    /// The prompt, or the template of a resource, that has the argument.
    pub of: String,
    /// The argument.
    pub argument: String,
    /// What was typed so far.
    pub so_far: String,
}
