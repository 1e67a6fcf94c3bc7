//! The arguments of a call, whichever way it was made.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use engine::fault;
use engine::view::session::request::Init;
use engine::{Fault, Kind, NextStep, Turn, Verb};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use text::plain::one_line;

use super::{Argument, Call, each};

/// The arguments of a call by their names; those that were left out are not there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments(Map<String, Value>);

impl From<Map<String, Value>> for Arguments {
    fn from(arguments: Map<String, Value>) -> Self {
        Self(arguments)
    }
}

impl Arguments {
    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Whether a switch is set.
    pub fn is(&self, name: &str) -> bool {
        self.flag(name) == Some(true)
    }

    /// Yes or no, where one of them is said.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name)?.as_bool()
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<u32> {
        u32::try_from(self.0.get(name)?.as_u64()?).ok()
    }

    /// A path.
    pub fn path(&self, name: &str) -> Option<&Path> {
        self.text(name).map(Path::new)
    }

    /// All texts of a name.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        let all = self.0.get(name).and_then(Value::as_array);
        all.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// An argument, which is no longer there then.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name)
    }

    /// A text, which is no longer there then.
    pub fn take_text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Puts the fields of an object beside the other arguments.
    pub fn unfold(&mut self, name: &str) {
        if let Some(Value::Object(mut fields)) = self.take(name) {
            self.0.append(&mut fields);
        }
    }

    /// All of them by their names.
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// Sets an argument.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Has the files that a call names be where `place` finds them.
    pub fn place_files(
        &mut self,
        call: &'static Call,
        place: impl Fn(&str) -> Result<PathBuf, Fault>,
    ) -> Result<(), Fault> {
        for name in call.files() {
            let named = match self.0.get_mut(name) {
                Some(Value::Array(all)) => all.iter_mut().collect(),
                one => Vec::from_iter(one),
            };
            for value in named {
                if let Some(file) = value.as_str() {
                    let placed = place(file)?.into_os_string().into_string();
                    *value = placed.map_err(|_| no_utf_8(file))?.into();
                }
            }
        }
        Ok(())
    }

    /// The same call as a step that somebody takes by hand.
    pub fn step(&self, call: &'static Call, verb: Verb) -> NextStep {
        let mut step = verb.step();
        for Argument { name, .. } in each(&call.takes) {
            let given = match self.0.get(name) {
                Some(Value::Array(all)) => all.iter().collect(),
                one => Vec::from_iter(one),
            };
            for value in given {
                step = match value {
                    Value::Bool(true) => step.and(name),
                    Value::String(text) => step.with(name, text),
                    Value::Number(number) => step.with(name, number.to_string()),
                    _ => step,
                };
            }
        }
        step
    }

    /// All of them as the engine takes them; it leaves alone what it has no name for.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Fault> {
        read(Value::Object(self.0))
    }

    /// A session that is to begin.
    pub fn session(mut self) -> Result<Init, Fault> {
        let (inputs, gates) = (self.take_inputs(as_texts)?, self.take_pairs("gates")?);
        Ok(Init {
            inputs,
            gates,
            ..self.read()?
        })
    }

    /// The inputs of what is begun, those given as pairs and those given as an object; `typed` gives pairs their types.
    pub fn take_inputs(
        &mut self,
        typed: impl FnOnce(Vec<(String, String)>) -> Result<Map<String, Value>, Fault>,
    ) -> Result<Map<String, Value>, Fault> {
        let mut inputs = typed(self.take_pairs("pairs")?)?;
        if let Some(Value::Object(object)) = self.take("inputs") {
            for (name, value) in object {
                if inputs.contains_key(&name) {
                    return Err(fault!("usage.typed_inputs", name));
                }
                inputs.insert(name, value);
            }
        }
        Ok(inputs)
    }

    /// Names with their values: pairs of texts, or an object of them.
    pub fn take_pairs(&mut self, name: &str) -> Result<Vec<(String, String)>, Fault> {
        let pair = |(name, value): (String, Value)| match value {
            Value::String(value) => Ok((name, value)),
            other => Err(unfit(format!(
                "the gate `{}` is {}, where auto, human, terminal or signed is expected",
                one_line(&name),
                one_line(&other.to_string())
            ))),
        };
        match self.take(name) {
            Some(Value::Object(object)) => object.into_iter().map(pair).collect(),
            Some(pairs) => serde_json::from_value(pairs).map_err(unfit),
            None => Ok(Vec::new()),
        }
    }

    /// The turn that a call is; none where it is none, or does not say yet where a run is taken back to.
    pub fn turn<'a>(&'a self, call: &'a Call) -> Option<Turn<'a>> {
        let verb = Verb::named(call.turn.as_deref()?)?;
        if verb == Verb::Rewind && self.text("to").is_none() {
            return None;
        }
        let mut flags = self.0.clone();
        flags.retain(|name, value| name != "reason" && *value != json!([]));
        if verb == Verb::Abort {
            for flag in ["cleanup", "force"] {
                flags.entry(flag).or_insert_with(|| false.into());
            }
        }
        let reason = self.text("reason").unwrap_or_default();
        Some(Turn {
            verb,
            reason,
            flags,
        })
    }
}

/// Pairs as they are, for one who reads the texts by their types.
fn as_texts(pairs: Vec<(String, String)>) -> Result<Map<String, Value>, Fault> {
    let mut inputs = Map::new();
    for (name, value) in pairs {
        if inputs.contains_key(&name) {
            return Err(fault!("usage.typed_inputs", name));
        }
        inputs.insert(name, value.into());
    }
    Ok(inputs)
}

/// What an argument says, as the engine takes it.
pub fn read<T: DeserializeOwned>(argument: Value) -> Result<T, Fault> {
    T::deserialize(argument).map_err(unfit)
}

/// The fault of a file whose whole path no JSON can hold: a path that is made to fit would be that of another file, or of none.
fn no_utf_8(file: &str) -> Fault {
    let file = one_line(file);
    let message = format!("`{file}` lies below a folder whose name is no UTF-8");
    Fault::new(Kind::Usage, "usage", message).suggest("make the call as a command, in that folder")
}

/// The fault of arguments that are not what the engine takes.
fn unfit(error: impl Display) -> Fault {
    Fault::new(Kind::Usage, "usage", one_line(&error.to_string()))
        .suggest("call again with arguments that fit the schema")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_pairs_and_an_object_together_and_each_is_given_once() {
        let all = |given: Value| {
            let mut arguments = Arguments::from(given.as_object().unwrap().clone());
            arguments.take_inputs(as_texts).map(Value::Object)
        };
        let given = json!({ "pairs": [["a", "1"], ["b", " x=y"]], "inputs": { "c": [1] } });
        let expected = json!({ "a": "1", "b": " x=y", "c": [1] });
        assert_eq!(all(given).unwrap(), expected);
        for twice in [
            json!({ "pairs": [["a", "1"], ["a", "2"]] }),
            json!({ "pairs": [["a", "1"]], "inputs": { "a": 1 } }),
        ] {
            assert_eq!(all(twice).unwrap_err().code, "usage");
        }
    }

    #[test]
    fn a_file_is_where_it_was_placed_or_is_refused() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        let call = crate::calls::families()[0].call("complete").unwrap();
        let given = json!({ "report": ["a.xml"], "coverageReport": "b.xml", "results": "c" });
        let placed = |folder: &[u8]| {
            let mut arguments = Arguments::from(given.as_object().unwrap().clone());
            let folder = Path::new(OsStr::from_bytes(folder));
            let done = arguments.place_files(call, |file| Ok(folder.join(file)));
            done.map(|()| Value::Object(arguments.into_map()))
        };
        let expected =
            json!({ "report": ["/p/a.xml"], "coverageReport": "/p/b.xml", "results": "c" });
        assert_eq!(placed(b"/p").unwrap(), expected);
        assert_eq!(placed(b"/\xff").unwrap_err().code, "usage");
    }

    #[test]
    fn a_turn_has_what_is_decided_with_it() {
        let turn = |name: &str, given: Value| {
            let call = crate::calls::families()[0].call(name).unwrap();
            let arguments = Arguments::from(given.as_object().unwrap().clone());
            let turn = arguments.turn(call);
            turn.map(|turn| (turn.reason.to_owned(), Value::Object(turn.flags)))
        };
        let some = |reason: &str, flags| Some((reason.to_owned(), flags));
        let skipped = json!({ "item": "2", "reason": "no", "labels": [] });
        assert_eq!(turn("skip", skipped), some("no", json!({ "item": "2" })));
        let flags = json!({ "cleanup": true, "force": false });
        assert_eq!(turn("abort", json!({ "cleanup": true })), some("", flags));
        // The steps are listed.
        assert_eq!(turn("rewind", json!({ "reason": "why" })), None);
        assert_eq!(turn("status", json!({})), None);
    }
}
