//! What a run has that goes by documents: the name of its session, and what was found in the documents during a call.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use machine::{Definition, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::capability::documents::bound::Bound;
use crate::fault::Fault;
use crate::generic::files;
use crate::slot::Slot;
use crate::view::collab::answer::DocumentProblem;

/// The name of a session that is begun without one.
pub const DEFAULT_SESSION: &str = "default";

/// The largest document that is read, in bytes.
pub const LARGEST_DOCUMENT: usize = ::markup::documents::task_graph::MAX_BYTES;

/// What a run remembers of its documents, where it has any.
pub(crate) const SKILLS: Slot<DocumentsMemory> = Slot::new("skills");

/// What a run remembers of its documents.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DocumentsMemory {
    /// What the session is called.
    pub(crate) name: String,
    /// What they are bound to.
    pub(crate) bound: Bound,
}

/// What callers call the work items.
pub(crate) const WORK_ITEMS: &str = "workItems";
/// What they call items that come late.
pub(crate) const ADD_ITEMS: &str = "addItems";
/// What they call the item in hand.
pub(crate) const CURRENT_ITEM: &str = "currentItem";
/// What they call whether they keep a snapshot of their context.
pub(crate) const HAS_SNAPSHOT: &str = "hasSnapshot";
/// The item of the design document to begin with.
pub(crate) const FIRST: Slot<String> = Slot::new("first");

/// What belongs to a session of skills, beside what every run has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skills {
    /// What the session is called.
    pub(crate) name: String,
    /// What is wrong with the documents that were read during the call.
    pub(crate) problems: RefCell<Vec<DocumentProblem>>,
    /// What was read in them with some freedom.
    pub(crate) notes: RefCell<Vec<String>>,
    /// In which line of the design document each item begins.
    pub(crate) lines: RefCell<BTreeMap<String, u32>>,
}

impl Skills {
    /// That of a run that goes on; none where the run is no such session.
    pub(crate) fn of(run: &RunState) -> Result<Option<Self>, Fault> {
        let remembered = SKILLS.read(&run.kept)?;
        Ok(remembered.map(|remembered| Self::called(&remembered.name)))
    }

    /// That of a session that is about to begin.
    pub(crate) fn called(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// The problems of the documents that were read, and notes on how they were read; each is handed out once.
    pub(crate) fn found(&self) -> (Vec<DocumentProblem>, Vec<String>) {
        (self.problems.take(), self.notes.take())
    }

    /// What the session is called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Makes the folder of the documents; what the run is to remember.
    pub(crate) fn begin(
        &self,
        definition: &Definition,
        dir: &Path,
    ) -> Result<Map<String, Value>, Fault> {
        let folder = dir.join(crate::capability::documents::folder::FOLDER);
        journal::durable::ensure_folder(&folder).map_err(files::unwritable(&folder))?;
        SKILLS.entry(&DocumentsMemory {
            name: self.name.clone(),
            bound: Bound::of(definition),
        })
    }
}

/// What a session is called; none where the run is no session of skills.
pub(crate) fn name_of(run: &RunState) -> Option<&str> {
    SKILLS.value(&run.kept)?.get("name")?.as_str()
}

/// The number of an item as the wire has it: a number where it is one.
pub(crate) fn number(key: &str) -> Value {
    match key.parse::<u64>() {
        Ok(number) if number.to_string() == key => number.into(),
        _ => key.into(),
    }
}

/// The longest number of an item, in bytes.
pub(crate) const LONGEST_NUMBER: usize = 40;

/// The number of an item as it is kept, where `value` is one: letters, digits, `.`, `-` and `_`, for it comes to stand in
/// the names of files and in what agents are told.
pub(crate) fn key(value: &Value) -> Option<String> {
    let number = match value {
        Value::Number(number) if number.is_u64() => number.to_string(),
        Value::String(text) => text.trim().trim_start_matches('#').trim().to_lowercase(),
        _ => return None,
    };
    let plain = number.chars().any(char::is_alphanumeric)
        && number
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))
        && !number.contains("..");
    (plain && number.len() <= LONGEST_NUMBER).then_some(number)
}

/// The item of the design document to begin with, where the caller named one before the document was taken in.
pub(crate) fn first(run: &RunState) -> Option<&str> {
    FIRST.text(&run.kept)
}

/// The name under which the work of a state is completed.
pub(crate) fn skill<'a>(definition: &'a Definition, state: &'a str) -> Option<&'a str> {
    definition.state(state)?.work.as_ref()?;
    Some(definition.reported_as(state).unwrap_or(state))
}

/// The skill that a session begins with.
pub(crate) fn first_skill(definition: &Definition) -> Option<&str> {
    skill(definition, &definition.initial.value)
}

/// All skills of a workflow, each once, in the order of the file.
pub(crate) fn skills(definition: &Definition) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for (_, name, _) in definition.all_states() {
        if let Some(skill) = skill(definition, &name.value)
            && !all.contains(&skill)
        {
            all.push(skill);
        }
    }
    all
}

/// Whether the executor forgets its context in a state.
pub(crate) fn is_fresh(definition: &Definition, state: &str) -> bool {
    let work = definition
        .state(state)
        .and_then(|state| state.work.as_ref());
    work.is_some_and(|work| work.fresh)
}

/// What a state is called for people.
pub(crate) fn display_name(definition: &Definition, state: &str) -> String {
    let label = definition
        .state(state)
        .and_then(|state| state.label.clone());
    label.unwrap_or_else(|| state.to_owned())
}
