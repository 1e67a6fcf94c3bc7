//! Reading the arguments of a tool: by name and type, with a fault that says what was expected.

use conductor::{Fault, Kind};
use project::convention::plain::one_line;
use serde_json::{Map, Value};

/// How much of what was given a fault repeats, in characters.
const LONGEST: usize = 60;

/// The arguments of one call. Each is taken out once; what is left at the end is unknown.
#[derive(Debug)]
pub struct Arguments {
    given: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Arguments {
    /// The arguments as they came. `null` counts as left out, except for a tool that asks for the rest.
    pub fn new(given: Map<String, Value>) -> Self {
        Self {
            given,
            known: Vec::new(),
        }
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.given
            .shift_remove(name)
            .filter(|value| !value.is_null())
    }

    /// A text. A number is taken for one, since ids often look like numbers. An empty one counts as left out.
    pub fn text(&mut self, name: &'static str) -> Result<Option<String>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(wrong(name, &other, "a string")),
        }
    }

    /// A text whose being empty means something.
    pub fn whole_text(&mut self, name: &'static str) -> Result<Option<String>, Fault> {
        match self.take(name) {
            Some(Value::String(text)) => Ok(Some(text)),
            None => Ok(None),
            Some(other) => Err(wrong(name, &other, "a string")),
        }
    }

    /// A text that may not be left out.
    pub fn needed_text(&mut self, name: &'static str) -> Result<String, Fault> {
        self.text(name)?.ok_or_else(|| missing(name))
    }

    /// Yes or no; no if left out.
    pub fn flag(&mut self, name: &'static str) -> Result<bool, Fault> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(wrong(name, &other, "true or false")),
        }
    }

    /// Yes or no that may not be left out.
    pub fn needed_flag(&mut self, name: &'static str) -> Result<bool, Fault> {
        if self.given.get(name).is_none_or(Value::is_null) {
            return Err(missing(name));
        }
        self.flag(name)
    }

    /// A whole number.
    pub fn count(&mut self, name: &'static str) -> Result<Option<u64>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => value
                .as_u64()
                .map(Some)
                .ok_or_else(|| wrong(name, &value, "a whole number from 0 on")),
        }
    }

    /// A list of texts; empty if left out.
    pub fn texts(&mut self, name: &'static str) -> Result<Vec<String>, Fault> {
        let Some(value) = self.take(name) else {
            return Ok(Vec::new());
        };
        value
            .as_array()
            .and_then(|all| {
                all.iter()
                    .map(|one| one.as_str().map(str::to_owned))
                    .collect::<Option<Vec<String>>>()
            })
            .map(|all| all.into_iter().filter(|text| !text.is_empty()).collect())
            .ok_or_else(|| wrong(name, &value, "a list of strings"))
    }

    /// A list of texts, or only one; also as the JSON text that some clients make of a list.
    pub fn one_or_more(&mut self, name: &'static str) -> Result<Vec<String>, Fault> {
        if let Some(given) = self.given.get_mut(name) {
            unpack(given);
            if given.is_string() {
                return Ok(self.text(name)?.into_iter().collect());
            }
        }
        self.texts(name)
    }

    /// Something that the command line takes as text and JSON has forms of its own for: an object, a number, or the text.
    pub fn form(&mut self, name: &'static str) -> Result<Option<String>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(value @ (Value::Object(_) | Value::Number(_))) => Ok(Some(value.to_string())),
            Some(other) => Err(wrong(name, &other, "an object")),
        }
    }

    /// An object, whose own arguments are read in the same way; an empty one if left out.
    pub fn object(&mut self, name: &'static str) -> Result<Self, Fault> {
        match self.take(name) {
            None => Ok(Self::new(Map::new())),
            Some(Value::Object(object)) => Ok(Self::new(object)),
            Some(other) => Err(wrong(name, &other, "an object")),
        }
    }

    /// A list as it came.
    pub fn list(&mut self, name: &'static str) -> Result<Option<Vec<Value>>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Array(all)) => Ok(Some(all)),
            Some(other) => Err(wrong(name, &other, "a list")),
        }
    }

    /// The same; also as the JSON text that some clients make of it.
    pub fn packed_list(&mut self, name: &'static str) -> Result<Option<Vec<Value>>, Fault> {
        if let Some(packed) = self.given.get_mut(name) {
            unpack(packed);
        }
        self.list(name)
    }

    /// All that was not taken out yet, `null` too, for a tool that takes any argument.
    pub fn rest(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.given)
    }

    /// An object as it came; empty if left out.
    pub fn map(&mut self, name: &'static str) -> Result<Map<String, Value>, Fault> {
        match self.take(name) {
            None => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object),
            Some(other) => Err(wrong(name, &other, "an object")),
        }
    }

    /// Refuses what nobody asked for: a misspelt name would be an argument that silently does nothing.
    pub fn end(self) -> Result<(), Fault> {
        let mut left = self.given.iter().filter(|(_, value)| !value.is_null());
        let Some((unknown, _)) = left.next() else {
            return Ok(());
        };
        Err(Fault::new(
            Kind::Usage,
            "bad_arguments",
            format!("there is no argument `{}`", shown(unknown)),
        )
        .suggest(format!("the arguments here are {}", self.known.join(", "))))
    }
}

/// Makes a list of a text that holds one as JSON. Anything else stays as it is.
pub fn unpack(value: &mut Value) {
    if let Value::String(text) = value
        && let Ok(list @ Value::Array(_)) = serde_json::from_str(text)
    {
        *value = list;
    }
}

/// What somebody gave, plain and short.
fn shown(given: &str) -> String {
    let plain = one_line(given);
    if plain.chars().count() > LONGEST {
        plain.chars().take(LONGEST).chain(['…']).collect()
    } else {
        plain
    }
}

fn missing(name: &str) -> Fault {
    Fault::new(
        Kind::Usage,
        "bad_arguments",
        format!("the argument `{name}` is missing"),
    )
    .suggest(format!("call again with `{name}`"))
}

fn wrong(name: &str, value: &Value, expected: &str) -> Fault {
    let shown = shown(&value.to_string());
    Fault::new(
        Kind::Usage,
        "bad_arguments",
        format!("`{name}` is {shown}, where {expected} is expected"),
    )
    .suggest(format!("give {expected} for `{name}`"))
    .expected(expected)
}
