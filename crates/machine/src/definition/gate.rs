//! Who decides at a gate, as a definition says it.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use super::Definition;
use super::ordered::{LongForm, NameOr};
use crate::approval::{GateMode, Strength};
use crate::diagnostic::Located;
use crate::guard::Expression;
use crate::trigger::Trigger;

/// Who decides at a gate: `auto`, `human`, which is short for `{ by: person }`, `{ by: person, strength: signed }`, or a
/// CEL expression that gives the word of a mode.
#[derive(Debug, Clone)]
pub enum Gate {
    /// The same in every run.
    Mode(GateMode),
    /// What the expression gives, one of [`GateMode::words`].
    Expression(Expression),
}

/// The gate in front of a state: `plan`, which is over what was reported last, or `{ name: plan, over: plan }`.
#[derive(Debug, Clone)]
pub struct StateGate {
    /// The gate.
    pub name: Located<String>,
    /// What is looked at there and decided on; what was reported last if absent.
    pub over: Option<Located<String>>,
}

impl std::ops::Deref for StateGate {
    type Target = Located<String>;

    fn deref(&self) -> &Located<String> {
        &self.name
    }
}

/// The long form of a state's gate.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongStateGate {
    name: Located<String>,
    #[serde(default)]
    over: Option<Located<String>>,
}

impl LongForm<'_> for LongStateGate {
    const EXPECTING: &'static str = "the name of a gate, or `{ name: …, over: … }`";
}

impl<'de> Deserialize<'de> for StateGate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match NameOr::deserialize(deserializer)? {
            NameOr::Name(name) => Self { name, over: None },
            NameOr::Map(LongStateGate { name, over }) => Self { name, over },
        })
    }
}

/// Somebody who decides.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    Person,
}

/// The long form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    by: By,
    #[serde(default)]
    strength: Strength,
}

enum Written {
    Word(String),
    Mode(GateMode),
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Written;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    f,
                    "{}, {{ by: person, strength: … }}, or an expression that begins with `=`",
                    GateMode::words().join(", ")
                )
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Written, E> {
                match GateMode::named(text) {
                    Some(mode) => Ok(Written::Mode(mode)),
                    None if text.starts_with('=') => Ok(Written::Word(text.to_owned())),
                    None => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Written, A::Error> {
                let Long {
                    by: By::Person,
                    strength,
                } = Long::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Written::Mode(strength.into()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Definition {
    /// Whether what stands before the gate of a state can be rejected.
    pub fn can_reject(&self, state: &str) -> bool {
        !self.edges(state, Trigger::Reject).is_empty()
    }
}

impl<'de> Deserialize<'de> for Gate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Located::<Written>::deserialize(deserializer)?;
        Ok(match written.value {
            Written::Mode(mode) => Self::Mode(mode),
            Written::Word(text) => Self::Expression(Expression::new(
                text.trim_start_matches('=').trim(),
                written.at,
            )),
        })
    }
}
