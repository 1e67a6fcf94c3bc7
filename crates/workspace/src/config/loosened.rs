//! Whether settings that changed during a run have made the rails weaker.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::keys::{KEYS, WeakerBy, find};
use super::values::Config;

/// A setting that was changed so that the rails are weaker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loosening {
    /// The dotted name of its key.
    pub key: String,
    /// The value that the run started with.
    pub was: Value,
    /// The value now.
    pub is: Value,
}

impl fmt::Display for Loosening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` was {} and is {}", self.key, self.was, self.is)
    }
}

/// The settings that are weaker now than they were. What became stricter, or only different, is not listed.
pub fn loosened(pinned: &Config, now: &Config) -> Vec<Loosening> {
    let (pinned, now) = (pinned.to_json(), now.to_json());
    KEYS.iter()
        .filter_map(|key| {
            let (was, is) = (at(&pinned, key.name), at(&now, key.name));
            key.weaker.is_weaker(was, is).then(|| Loosening {
                key: key.name.to_owned(),
                was: was.clone(),
                is: is.clone(),
            })
        })
        .collect()
}

/// Whether `is` makes the rails weaker than `was` does, as a value of the setting `key`.
pub fn is_weaker(key: &str, was: &Value, is: &Value) -> bool {
    find(key).is_some_and(|key| key.weaker.is_weaker(was, is))
}

fn at<'v>(config: &'v Value, name: &str) -> &'v Value {
    name.split('.')
        .fold(config, |at, part| at.get(part).unwrap_or(&Value::Null))
}

impl WeakerBy {
    pub(super) fn is_weaker(self, was: &Value, is: &Value) -> bool {
        if was == is {
            return false;
        }
        match self {
            Self::Never => false,
            Self::Disabled => *was == Value::Bool(true),
            Self::Higher => number(is) > number(was),
            Self::Lower => !was.is_null() && (is.is_null() || number(is) < number(was)),
            Self::Ranked(ranks) => rank(ranks, is) < rank(ranks, was),
            Self::Shrunk => !contains_all(is, was),
            Self::Grown => !contains_all(was, is),
            Self::ShrunkOrReplaced => {
                was.as_array().is_none_or(Vec::is_empty) || !contains_all(is, was)
            }
            Self::Replaced => !was.is_null(),
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

fn rank(ranks: &[&[&str]], value: &Value) -> Option<usize> {
    let word = value.as_str()?;
    ranks.iter().position(|rank| rank.contains(&word))
}

fn contains_all(list: &Value, entries: &Value) -> bool {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    entries
        .as_array()
        .is_none_or(|entries| entries.iter().all(|entry| list.contains(entry)))
}
