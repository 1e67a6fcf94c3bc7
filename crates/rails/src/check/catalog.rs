//! What a definition may name: readers, effects, policies, settings and templates.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::definition::FieldType;

/// The world that a definition is proved against. Whoever runs definitions says what there is.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Evidence readers by name, with the facts that each gives.
    pub readers: BTreeMap<String, Reader>,
    /// Effects by name.
    pub effects: BTreeMap<String, Effect>,
    /// Policies that a `check` may name.
    pub policies: BTreeSet<String>,
    /// Sections of the settings by name, each with its values as they are by default.
    pub sections: BTreeMap<String, Value>,
    /// Templates by name: what is wrong with each, line and text. An empty list means nothing.
    pub templates: BTreeMap<String, Vec<(u32, String)>>,
}

/// What a reader gives.
#[derive(Debug, Clone, Default)]
pub struct Reader {
    /// Facts by name.
    pub facts: BTreeMap<String, FieldType>,
}

/// What an effect is like.
#[derive(Debug, Clone, Default)]
pub struct Effect {
    /// Whether it changes the world outside the run in a way that a later refusal could not take
    /// back.
    pub lasting: bool,
    /// What its result holds.
    pub result: BTreeMap<String, FieldType>,
}
