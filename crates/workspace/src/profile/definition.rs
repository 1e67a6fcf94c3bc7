//! What `profile.yaml` says, key by key.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_saphyr::Spanned;

/// The version of the format that this program reads.
pub const FORMAT: u32 = 1;

/// A profile as its file says it. It says what the prompts are and how responses are read, and decides nothing else.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a profile, which begins with `tramline-profile: 1`"
)]
#[schemars(title = "A profile of `tm session`: .taskmaster/profiles/NAME/profile.yaml")]
pub(super) struct Definition {
    /// Version of the format: 1.
    #[serde(rename = "tramline-profile")]
    #[schemars(with = "u32", range(min = 1, max = 1))]
    pub(super) version: Spanned<u32>,
    /// One line for people.
    #[schemars(with = "String")]
    pub(super) title: Spanned<String>,
    /// Whether it means to take the place of a built-in profile of the same name.
    #[serde(default)]
    pub(super) shadows: bool,
    /// What a session is given at its start, in order: a name each, which templates see as `inputs.NAME`.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, InputDefinition>")]
    pub(super) inputs: IndexMap<String, Spanned<InputDefinition>>,
    /// The files of the templates that prompts are made of.
    #[serde(default)]
    pub(super) prompts: Prompts,
    /// How responses are read.
    #[serde(default)]
    pub(super) responses: Responses,
}

/// What is to be given under a name.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an input, such as `{ type: text, required: true }`"
)]
pub(super) struct InputDefinition {
    /// What it holds: `string` one line, `text` any number of them, `int`, `number`, `bool`, or `list` (of strings).
    #[serde(rename = "type")]
    pub(super) kind: Kind,
    /// Whether a session cannot begin without it.
    #[serde(default)]
    pub(super) required: bool,
    /// The value where none is given.
    #[serde(default)]
    pub(super) default: Option<Value>,
    /// The only values that are possible; of a list, those that its entries can have.
    #[serde(default)]
    pub(super) choices: Option<Vec<Value>>,
    /// One line for people.
    #[serde(default)]
    pub(super) description: Option<String>,
}

/// The type of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One line.
    String,
    /// Any number of lines.
    Text,
    /// A whole number.
    Int,
    /// A number.
    Number,
    /// True or false.
    Bool,
    /// Any number of lines, one text each.
    List,
}

/// The files of the templates, by what they ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a map from `planning`, `generation`, `review` and `revision` to file names"
)]
pub(super) struct Prompts {
    /// Asks for the plan.
    #[schemars(with = "String")]
    pub(super) planning: Spanned<String>,
    /// Asks for the first code.
    #[schemars(with = "String")]
    pub(super) generation: Spanned<String>,
    /// Asks for a review of the code.
    #[schemars(with = "String")]
    pub(super) review: Spanned<String>,
    /// Asks for code that answers a review.
    #[schemars(with = "String")]
    pub(super) revision: Spanned<String>,
}

impl Default for Prompts {
    fn default() -> Self {
        let named = |name: &str| {
            let nowhere = serde_saphyr::Location::UNKNOWN;
            Spanned::new(name.to_owned(), nowhere, nowhere)
        };
        Self {
            planning: named("planning.md"),
            generation: named("generation.md"),
            review: named("review.md"),
            revision: named("revision.md"),
        }
    }
}

/// How the four responses are read. What is not said is read as usual.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a map from `planning`, `generation`, `review` and `revision` to how their responses are read"
)]
pub(super) struct Responses {
    /// The plan.
    #[schemars(with = "Option<ResponseDefinition>")]
    pub(super) planning: Option<Spanned<ResponseDefinition>>,
    /// The first code.
    #[schemars(with = "Option<ResponseDefinition>")]
    pub(super) generation: Option<Spanned<ResponseDefinition>>,
    /// The review.
    #[schemars(with = "Option<ResponseDefinition>")]
    pub(super) review: Option<Spanned<ResponseDefinition>>,
    /// The code that answers a review; read as that of generation where nothing is said.
    #[schemars(with = "Option<ResponseDefinition>")]
    pub(super) revision: Option<Spanned<ResponseDefinition>>,
}

/// How one response is read: by a reader of the program, or by a command of the profile's own.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "how a response is read, such as `{ read: bundle }` or `{ command: [python3, process.py] }`"
)]
pub(super) struct ResponseDefinition {
    /// The reader: `plan` for planning, `bundle` for generation and revision, `verdict` for review.
    #[serde(default)]
    pub(super) read: Option<ReaderName>,
    /// Headings that a plan must have.
    #[serde(default)]
    pub(super) headings: Option<Vec<String>>,
    /// Patterns of the names that files of a bundle may have; all where nothing is said.
    #[serde(default)]
    pub(super) allow: Option<Vec<String>>,
    /// A program and its arguments, run in a copy of the profile's folder once a person trusted it.
    #[serde(default)]
    pub(super) command: Option<Vec<String>>,
    /// Seconds that the command may take, 60 where nothing is said.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3600))]
    pub(super) timeout: Option<u64>,
}

/// A reader of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ReaderName {
    /// Reads a plan.
    Plan,
    /// Reads files.
    Bundle,
    /// Reads a verdict.
    Verdict,
}
