//! Inputs of a run that is begun, in pairs and as JSON.

use clap::Args;
use engine::Fault;
use engine::fault;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Inputs by name.
#[derive(Debug, Clone, Default, Args, Deserialize, JsonSchema)]
pub struct Inputs {
    /// An input, as its name and value; may be repeated. A list is written `name=a,b` or as JSON
    #[arg(long = "input", short = 'i', value_name = "NAME=VALUE", value_parser = pair)]
    #[serde(skip)]
    pub pairs: Vec<(String, String)>,
    /// Inputs as one JSON object
    #[arg(long = "inputs", value_name = "JSON", value_parser = json_object)]
    #[serde(default, rename = "inputs")]
    #[schemars(with = "Map<String, Value>")]
    #[schemars(extend("x-brief" = "by name"))]
    pub object: Option<Map<String, Value>>,
}

impl Inputs {
    /// All of them; `read` gives the pairs their types. One that is given in both ways is a fault.
    pub fn all(
        self,
        read: impl FnOnce(Vec<(String, String)>) -> Result<Map<String, Value>, Fault>,
    ) -> Result<Map<String, Value>, Fault> {
        let mut inputs = read(self.pairs)?;
        for (name, value) in self.object.into_iter().flatten() {
            if inputs.contains_key(&name) {
                return Err(twice(&name));
            }
            inputs.insert(name, value);
        }
        Ok(inputs)
    }
}

/// Pairs as they are, for one who reads the texts by their types.
pub fn as_texts(pairs: Vec<(String, String)>) -> Result<Map<String, Value>, Fault> {
    let mut inputs = Map::new();
    for (name, value) in pairs {
        if inputs.contains_key(&name) {
            return Err(twice(&name));
        }
        inputs.insert(name, value.into());
    }
    Ok(inputs)
}

fn twice(name: &str) -> Fault {
    fault!("usage.typed_inputs", name)
}

/// A name and what it is to be.
pub fn pair(given: &str) -> Result<(String, String), String> {
    given
        .split_once('=')
        .map(|(name, value)| (name.trim().to_owned(), value.to_owned()))
        .ok_or_else(|| "it has no `=`".to_owned())
}

/// A JSON object.
fn json_object(given: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(given).map_err(|error| {
        format!("this is no JSON object, such as {{\"name\": \"value\"}}: {error}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_pairs_and_json_together_and_each_is_given_once() {
        let all = |pairs: &[&str], json: Option<&str>| {
            Inputs {
                pairs: pairs.iter().map(|given| pair(given).unwrap()).collect(),
                object: json.map(|given| json_object(given).unwrap()),
            }
            .all(as_texts)
        };
        let given = all(&["a=1", "b = x=y"], Some(r#"{"c": [1]}"#)).unwrap();
        assert_eq!(
            Value::Object(given),
            serde_json::json!({ "a": "1", "b": " x=y", "c": [1] })
        );
        for (pairs, json) in [(&["a=1", "a=2"][..], None), (&["a=1"], Some(r#"{"a": 1}"#))] {
            let fault = all(pairs, json).unwrap_err();
            assert_eq!(fault.code, "usage", "{pairs:?} {json:?}");
        }
        assert!(pair("a").is_err());
        for broken in ["[1]", "{"] {
            assert!(json_object(broken).is_err(), "{broken}");
        }
    }
}
