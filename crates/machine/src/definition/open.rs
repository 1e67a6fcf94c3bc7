//! What a definition leaves open to callers.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use crate::diagnostic::Located;

/// What a set opens as a whole: all its items may be handed over, and every field that is not named may be set.
pub const ALL: &str = "all";
/// That an item may be added.
pub const ADD: &str = "add";
/// That an item may be taken up again.
pub const REOPEN: &str = "reopen";
/// That an item may be given up.
pub const SKIP: &str = "skip";

/// Where a caller may change something.
#[derive(Debug, Clone)]
pub enum Open {
    /// In every state.
    Always,
    /// In these.
    In(Vec<Located<String>>),
}

impl Open {
    /// Whether it may be changed in `state`.
    pub fn is_open(&self, state: &str) -> bool {
        match self {
            Self::Always => true,
            Self::In(states) => states.iter().any(|known| known.value == state),
        }
    }

    /// The states that are named.
    pub fn states(&self) -> &[Located<String>] {
        match self {
            Self::Always => &[],
            Self::In(states) => states,
        }
    }
}

impl<'de> Deserialize<'de> for Open {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Open;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`always`, or a list of states")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Open, E> {
                if word == "always" {
                    Ok(Open::Always)
                } else {
                    Err(de::Error::custom(format!(
                        "`{word}` is neither `always` nor a list of states"
                    )))
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Open, A::Error> {
                let mut states = Vec::new();
                while let Some(state) = seq.next_element::<Located<String>>()? {
                    states.push(state);
                }
                Ok(Open::In(states))
            }
        }
        deserializer.deserialize_any(Either)
    }
}
