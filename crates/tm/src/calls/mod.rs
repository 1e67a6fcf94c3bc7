//! The calls of the four families: every command of `tm autopilot`, `run`, `session` and `collab`, and every tool.
//!
//! A call is declared once, in a YAML file of this folder: what a person reads of it as a command, what a model reads of it as a
//! tool, and the arguments that it takes. The command line ([`command`]) and the schemas of tools ([`schema`]) are made of that,
//! and both hand on the same [`Arguments`].

mod arguments;
pub mod command;
pub mod schema;
pub mod steps;

use std::collections::BTreeMap;
use std::fmt::Formatter;
use std::sync::LazyLock;

use engine::report::Meaning;
use engine::{Fault, fault};
use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value, json};

pub use arguments::{Arguments, read};
pub use command::FamilyCall;

use crate::steps::Form;

/// A family of calls: runs that are driven in the words of one view.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Family {
    /// The name of its view, and of its commands.
    pub name: String,
    /// The help of its commands.
    help: String,
    /// What its tools are called together.
    pub group: String,
    /// Whether its runs belong to a tag.
    #[serde(default)]
    of_tags: bool,
    /// The turns that it takes: the build puts them among its calls.
    #[serde(default, rename = "turns")]
    _turns: IgnoredAny,
    /// What a model is told before it calls one of its tools.
    pub instructions: String,
    /// Its tools in their order, and the calls that they make.
    pub tools: IndexMap<String, String>,
    /// What every tool takes besides.
    place: Vec<Taken>,
    /// What every command takes besides.
    #[serde(default)]
    everywhere: Vec<Taken>,
    /// Calls that are commands of `tm` itself, too, with their help.
    #[serde(default)]
    top: IndexMap<String, String>,
    /// What a person can have a model do with its tools.
    #[serde(default)]
    pub prompts: Vec<Prompt>,
    calls: Vec<Call>,
}

/// A prompt: what a person has a model do, from start to end or in one phase.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What the model does then.
    pub says: String,
    /// What it takes, all of it optional, with what each is.
    pub takes: IndexMap<String, String>,
    /// What the model reads, with `{begin}` for how it begins.
    pub text: Option<String>,
    /// The phase whose instructions the model reads instead.
    pub phase: Option<String>,
}

/// What somebody asks for: a command, a tool, or both.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Call {
    /// Its name in its family.
    pub name: String,
    /// The turn of a run that it is, where it is one.
    pub turn: Option<String>,
    /// The steps of runs that it takes, by their verbs: what it is for comes first.
    #[serde(default)]
    steps: Vec<String>,
    /// The phases of a task that it reports; where none is named, whatever is due.
    #[serde(default)]
    pub phases: Vec<String>,
    /// The form of runs that it belongs to, where its family has another one besides.
    pub form: Option<String>,
    /// What it reports; nothing where it reports nothing.
    reports: Option<Reported>,
    /// The help of the command, its first line alone where there is little room; none where it is no command.
    help: Option<String>,
    /// Examples behind the help.
    examples: Option<String>,
    /// Other names of the command.
    #[serde(default)]
    aliases: Vec<String>,
    /// Whether the first word may be left out before the second.
    #[serde(default)]
    first_may_miss: bool,
    /// What a model reads of it.
    pub tool: Option<ToolText>,
    /// Whether the tool takes arguments that are not declared.
    #[serde(default)]
    open: bool,
    #[serde(default)]
    takes: Vec<Taken>,
}

/// What is reported by a call.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Reported {
    Anything,
    Tests,
    Suite,
    Commit,
}

/// What a model reads of a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolText {
    /// Its name for people.
    pub title: String,
    /// When to call it.
    pub says: String,
    /// What calling it may do.
    pub hints: mcp::Hints,
    /// What every answer has, with its JSON types; `?` where it may be null.
    pub answers: IndexMap<String, String>,
}

/// An argument, or the name of some that several calls take.
#[derive(Debug, Clone)]
enum Taken {
    Shared(String),
    Own(Box<Argument>),
}

/// Without a look ahead, as serde's own untagged enums have: every command waits for this.
impl<'de> Deserialize<'de> for Taken {
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Self, D::Error> {
        struct OneOf;
        impl<'de> Visitor<'de> for OneOf {
            type Value = Taken;

            fn expecting(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
                to.write_str("an argument, or the name of shared ones")
            }

            fn visit_str<E>(self, name: &str) -> Result<Taken, E> {
                Ok(Taken::Shared(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Taken, A::Error> {
                Argument::deserialize(MapAccessDeserializer::new(fields))
                    .map(|own| Taken::Own(own.into()))
            }
        }
        given.deserialize_any(OneOf)
    }
}

/// An argument of a command, which has a help, of a tool, which has a brief description, or of both.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Argument {
    /// By this name it is handed on.
    pub name: String,
    /// What its value is.
    #[serde(default)]
    pub kind: Kind,
    #[serde(default)]
    required: bool,

    // As an argument of a command.
    help: Option<String>,
    /// The word that stands for it, where it has no option.
    word: Option<String>,
    /// Its option, where that is not its name.
    option: Option<String>,
    short: Option<char>,
    alias: Option<String>,
    /// What stands for the value of the option.
    value: Option<String>,
    default: Option<String>,
    /// It may be left out only if one of these is there.
    #[serde(default)]
    unless: Vec<String>,
    requires: Option<String>,
    #[serde(default)]
    excludes: Vec<String>,
    /// The values that it takes, each with its help.
    #[serde(default)]
    values: IndexMap<String, String>,

    // As an argument of a tool.
    brief: Option<String>,
    /// Its name, where that is another one.
    tool: Option<String>,
    /// Other names under which it is taken: answers spell it so, and agents repeat what they read.
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    one_of: Vec<String>,
    /// It is a text to Rust, as on a command line; JSON may have it in its own form, which is of this type.
    form: Option<String>,
    /// An empty text is not the same as none.
    #[serde(default)]
    empty: bool,
    /// It is taken as it comes, `null` too: somebody else says what it may be.
    #[serde(default)]
    as_is: bool,
    /// The fields of an object.
    #[serde(default)]
    takes: Vec<Taken>,
}

/// What an argument is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    #[default]
    Text,
    /// A switch of a command, which is there or not.
    Switch,
    Bool,
    /// A switch of a command that can be turned off by a value.
    OptionalBool,
    Number,
    /// A number from 1 on.
    Count,
    Path,
    Paths,
    /// Texts, each with an option of its own.
    Texts,
    /// Texts by commas.
    List,
    /// Names with their values; an object to tools.
    Pairs,
    Object,
    /// A list of objects.
    Items,
    /// A format of test reports.
    Format,
}

/// What the files declare.
#[derive(Debug, Deserialize)]
struct Declared {
    /// The arguments that several calls take, by the names that stand for them.
    shared: BTreeMap<String, Vec<Taken>>,
    families: Vec<Family>,
}

/// The files of this folder as one, in JSON: every command waits for it, and YAML takes ten times as long to read.
static DECLARED: LazyLock<Declared> = LazyLock::new(|| {
    let declared = include_str!(concat!(env!("OUT_DIR"), "/calls.json"));
    serde_json::from_str(declared).expect("the build script puts the files of calls together")
});

/// The families in their order.
pub fn families() -> &'static [Family] {
    &DECLARED.families
}

/// The family whose tools are called so together.
pub fn group(name: &str) -> Result<&'static Family, String> {
    let found = families().iter().find(|family| family.group == name);
    found.ok_or_else(|| {
        let known: Vec<&str> = families().iter().map(|family| &*family.group).collect();
        format!(
            "there is no group `{name}`; the groups are {}",
            known.join(", ")
        )
    })
}

impl Family {
    /// The commands and tools in whose words steps are named.
    pub fn form(&self) -> Form {
        Form::of_view(&self.name)
    }

    /// The tool that makes a call.
    pub fn tool(&self, call: &Call) -> Option<&str> {
        let mut tools = self.tools.iter();
        let (tool, _) = tools.find(|(_, of)| **of == call.name)?;
        Some(tool)
    }

    /// A call by its name.
    pub fn call(&self, name: &str) -> Option<&Call> {
        self.calls.iter().find(|call| call.name == name)
    }
}

/// The phases in which results of tests are reported.
pub fn test_phases() -> &'static [String] {
    let call = family("autopilot").and_then(|family| family.call("complete"));
    call.map_or(&[], |call| &call.phases)
}

/// The family of a view.
pub fn family(view: &str) -> Option<&'static Family> {
    families().iter().find(|family| family.name == view)
}

impl Call {
    /// The arguments that name files.
    pub fn files(&'static self) -> impl Iterator<Item = &'static str> {
        let files = each(&self.takes).into_iter();
        let files = files.filter(|argument| matches!(argument.kind, Kind::Path | Kind::Paths));
        files.map(|argument| argument.name.as_str())
    }

    /// What a report that it makes is for; none where it reports nothing.
    pub fn meaning(&self) -> Option<Meaning> {
        Some(match self.reports? {
            Reported::Anything => Meaning::Anything,
            Reported::Tests => Meaning::Tests,
            Reported::Suite => Meaning::Suite,
            Reported::Commit => Meaning::Commit,
        })
    }
}

/// Arguments one by one, those that shared names stand for among them.
fn each(takes: &'static [Taken]) -> Vec<&'static Argument> {
    let all = takes.iter().flat_map(|taken| match taken {
        Taken::Shared(name) => each(&DECLARED.shared[name]),
        Taken::Own(argument) => vec![&**argument],
    });
    all.collect()
}

/// The arguments of a tool under the names that all callers have for them. Those that do not go together are refused, as clap does
/// on a command line.
pub fn canonical(
    family: &'static Family,
    call: &'static Call,
    mut given: Map<String, Value>,
) -> Result<Arguments, Fault> {
    let mut arguments = Map::new();
    let taken = schema::taken(family, call);
    for argument in &taken {
        if let Some(value) = given.shift_remove(argument.tool_name()) {
            arguments.insert(argument.name.clone(), value);
        }
    }
    let says = |argument: &&&Argument| {
        let value = arguments.get(&argument.name);
        value.is_some_and(|value| ![json!(false), json!([])].contains(value))
    };
    let said: Vec<_> = taken.iter().filter(says).collect();
    for one in &said {
        if let Some(other) = said.iter().find(|other| one.excludes.contains(&other.name)) {
            let (one, other) = (one.tool_name(), other.tool_name());
            return Err(fault!("usage.not_together", one, other));
        }
    }
    arguments.append(&mut given);
    Ok(Arguments::from(arguments))
}

impl Argument {
    /// Its name as an argument of a tool.
    pub fn tool_name(&self) -> &str {
        self.tool.as_ref().unwrap_or(&self.name)
    }

    /// Its option of a command.
    pub fn option(&self) -> &str {
        self.option.as_ref().unwrap_or(&self.name)
    }

    /// Whether it stands behind the command without an option.
    pub fn is_word(&self) -> bool {
        self.word.is_some()
    }

    /// What stands for a value that the reader is to put there; nothing where it has none.
    pub fn stands_for(&self) -> &str {
        match self.value.as_deref().or(self.word.as_deref()) {
            _ if self.kind == Kind::Switch => "",
            None | Some("TEXT") => "…",
            Some(value) => value.split('|').next().unwrap_or_default(),
        }
    }
}
