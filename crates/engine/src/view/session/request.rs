//! What the calls on sessions ask for.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A session to begin.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Init {
    /// The workflow; `review` if absent.
    pub workflow: Option<String>,
    /// The profile; `generic` if absent.
    pub profile: Option<String>,
    /// The profile's inputs; texts are read by the input's type.
    pub inputs: Map<String, Value>,
    /// Modes of gates, by name: `auto`, `human`, `terminal` or `signed`. The others are as the settings say.
    pub gates: Vec<(String, String)>,
    /// After how many iterations it pauses; as the settings say if absent.
    pub max_iterations: Option<u32>,
    /// A name for its id; the profile's if absent.
    pub name: Option<String>,
}

/// A response to what a session asks for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Response<'a> {
    /// The response as it was written.
    pub bytes: &'a [u8],
    /// Whether another one may be there that was not taken in yet: it is kept beside.
    pub replace: bool,
    /// The phase that the session has to stand in: a response that comes late must not answer another prompt.
    pub phase: Option<&'a str>,
    /// The work unit that it answers, which has to be the present one.
    pub unit: Option<&'a str>,
}
