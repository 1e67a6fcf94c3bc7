//! What a session is given at its start, held against what its profile declares.

use std::fmt;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value};

use super::definition::Kind;
use super::error::{InputFault, InputProblem};
use text::plain;

/// The most that all inputs take, in bytes: they stand in the first event of a session.
const MOST_BYTES: usize = 256 * 1024;
/// How much of a value a message shows, in visible characters.
const SHOWN: usize = 60;

/// What a profile takes under a name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Input {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Whether it must be given.
    pub required: bool,
    /// One line for people; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its value where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The only values that are possible; empty where any is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Value>,
}

impl Kind {
    /// What a value of it is called.
    pub fn takes(self) -> &'static str {
        match self {
            Self::String => "one line of text",
            Self::Text => "text",
            Self::Int => "a whole number",
            Self::Number => "a number",
            Self::Bool => "true or false",
            Self::List => "a list of texts",
        }
    }

    /// The value of an input that was not given and has no default.
    fn empty(self) -> Value {
        match self {
            Self::String | Self::Text => Value::from(""),
            Self::Int => Value::from(0),
            Self::Number => Value::from(0.0),
            Self::Bool => Value::from(false),
            Self::List => Value::Array(Vec::new()),
        }
    }

    /// Whether a value is of it.
    pub(super) fn admits(self, value: &Value) -> bool {
        match self {
            Self::String => value
                .as_str()
                .is_some_and(|text| !text.contains(['\n', '\r'])),
            Self::Text => value.is_string(),
            Self::Int => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Bool => value.is_boolean(),
            Self::List => value
                .as_array()
                .is_some_and(|all| all.iter().all(Value::is_string)),
        }
    }

    /// What is given as text, such as `strict=true` on a command line, as a value of this type. Values of other types
    /// stay as they are.
    fn read(self, given: &Value) -> Option<Value> {
        let Some(text) = given.as_str() else {
            return Some(given.clone()).filter(|value| self.admits(value));
        };
        let value = match self {
            Self::String | Self::Text => Some(given.clone()),
            Self::Int => text.trim().parse::<i64>().ok().map(Value::from),
            Self::Number => text
                .trim()
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
                .map(Value::from),
            Self::Bool => text.trim().parse::<bool>().ok().map(Value::from),
            Self::List if text.trim_start().starts_with('[') => serde_json::from_str(text).ok(),
            Self::List => Some(
                text.split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .into(),
            ),
        };
        value.filter(|value| self.admits(value))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "string",
            Self::Text => "text",
            Self::Int => "int",
            Self::Number => "number",
            Self::Bool => "bool",
            Self::List => "list",
        })
    }
}

impl Input {
    /// Whether a value is possible, as far as there are choices; of a list, all of its entries.
    pub(super) fn is_choice(&self, value: &Value) -> bool {
        let possible = |value: &Value| {
            self.choices.is_empty()
                || self.choices.iter().any(|choice| {
                    choice == value
                        || choice.as_f64().is_some() && choice.as_f64() == value.as_f64()
                })
        };
        match value {
            Value::Array(all) => all.iter().all(possible),
            one => possible(one),
        }
    }

    /// How a caller would give it.
    fn usage(&self, name: &str) -> String {
        if !self.choices.is_empty() {
            return format!(
                "give {name}= one of {}",
                shown_choices(&self.choices).join(", ")
            );
        }
        match self.kind {
            Kind::List => format!("give {name}=a,b or {name}=[\"a\",\"b\"]"),
            Kind::Bool => format!("give {name}=true or {name}=false"),
            kind if self.description.is_empty() => format!("give {name}=… with {}", kind.takes()),
            kind => format!("give {name}=… with {}: {}", kind.takes(), self.description),
        }
    }
}

/// The values of all declared inputs, in their order, or everything that is wrong.
pub(super) fn check(
    declared: &IndexMap<String, Input>,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<InputFault>> {
    let mut faults: Vec<InputFault> = given
        .keys()
        .filter(|name| !declared.contains_key(*name))
        .map(|name| unknown(declared, name))
        .collect();
    let mut values = Map::new();
    for (name, input) in declared {
        match value_of(input, given.get(name)) {
            Ok(value) => {
                values.insert(name.clone(), value);
            }
            Err(problem) => faults.push(InputFault {
                name: name.clone(),
                problem,
                suggestion: input.usage(name),
            }),
        }
    }
    let length = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string().len(), str::len)
    };
    let bytes: usize = given.values().map(length).sum();
    if bytes > MOST_BYTES {
        let longest = given.iter().max_by_key(|(_, value)| length(value));
        faults.push(InputFault {
            name: longest.map(|(name, _)| shown(name)).unwrap_or_default(),
            problem: InputProblem::TooLong {
                bytes,
                most: MOST_BYTES,
            },
            suggestion: "put long texts into files of the project, and give their paths".to_owned(),
        });
    }
    if faults.is_empty() {
        Ok(values)
    } else {
        Err(faults)
    }
}

fn value_of(input: &Input, given: Option<&Value>) -> Result<Value, InputProblem> {
    let Some(given) = given.filter(|given| !given.is_null()) else {
        if input.required {
            return Err(InputProblem::Missing);
        }
        return Ok(input.default.clone().unwrap_or_else(|| input.kind.empty()));
    };
    let value = input
        .kind
        .read(given)
        .ok_or_else(|| InputProblem::WrongType {
            given: shown_value(given),
            expected: input.kind.takes(),
        })?;
    let blank = match &value {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(all) => all.is_empty(),
        _ => false,
    };
    if blank && input.required {
        return Err(InputProblem::Blank);
    }
    // What may be left out may be given as nothing, too.
    if !blank && !input.is_choice(&value) {
        return Err(InputProblem::NotAChoice {
            given: shown_value(given),
            choices: shown_choices(&input.choices),
        });
    }
    Ok(value)
}

fn unknown(declared: &IndexMap<String, Input>, name: &str) -> InputFault {
    let nearest = text::nearest(name, declared.keys().map(String::as_str));
    let all: Vec<String> = declared
        .iter()
        .map(|(name, input)| format!("{name} ({})", input.kind))
        .collect();
    InputFault {
        name: shown(name),
        problem: InputProblem::Unknown,
        suggestion: match nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None if all.is_empty() => "the profile takes no inputs: leave it out".to_owned(),
            None => format!("the inputs are {}", all.join(", ")),
        },
    }
}

/// Choices as a message shows them.
pub(super) fn shown_choices(choices: &[Value]) -> Vec<String> {
    choices
        .iter()
        .map(|choice| choice.as_str().map_or_else(|| choice.to_string(), shown))
        .collect()
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", shown(text)),
        Value::Array(_) => format!("the list {}", shown(&value.to_string())),
        Value::Object(_) => "an object".to_owned(),
        other => format!("`{other}`"),
    }
}

/// Text of others on one line, shortened.
fn shown(text: &str) -> String {
    text::shortened(plain::cut_bytes(text, 16 * SHOWN), SHOWN)
}
