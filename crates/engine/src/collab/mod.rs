//! The `collab` rails: sessions that go from skill to skill.
//!
//! A session is a run whose definition reads documents of work items. What only such a session has is here: its documents, what
//! an executor is told, and the calls of `tm collab`.
//!
//! # One completed skill
//!
//! 1. `find` finds the session: by its name, which is part of the run's id, else the only one under way. The first skill
//!    begins one, under the project's lock.
//! 2. `complete` compares the name with the one under which the work of the present state is reported (`as`, else the state's
//!    id). That of the unit before is answered again, from what was told then; any other is refused, and nothing moves.
//! 3. The machine says that it needs the reader `graph`: `read` reads the task graph of each item as it lies there (`documents`
//!    knows which file is whose), and the crate `documents` reads and merges them. The bytes are kept as evidence.
//! 4. The machine walks the edges: errors refuse; else the tasks are loaded and cut into waves, which are the batches. The `set`
//!    of routers points the cursors at what is in hand.
//! 5. For the next unit `frame` renders what the executor is told. It goes into the journal with the unit, so that one append
//!    and one fdatasync do for all of it, and the same completion is answered the same whenever it comes again.
//! 6. `state` says where the session is, also to somebody who remembers nothing: it leaves out more and more of tasks, files and
//!    instructions, until the answer has less than 1 KB.
//!
//! What a task came to is an edit: a definition says what is open to callers, and where (`open`). Many at once are one command,
//! and so one append; if one of them may not be, none is.

pub mod answer;
mod bound;
mod complete;
mod documents;
mod find;
mod frame;
mod graph;
mod messages;
mod read;
pub mod request;
mod state;
mod tell;
mod update;

use bound::Bound;
pub(crate) use complete::digest_of_skill;
pub(crate) use documents::FOLDER as DOCUMENTS;
pub(crate) use find::free_name;
pub(crate) use frame::{Frame, VARIABLES};
pub(crate) use read::read;
pub(crate) use tell::tell;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use machine::{Definition, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::generic::files;
use crate::slot::Slot;
use answer::DocumentProblem;

/// The name of a session that is begun without one.
pub const DEFAULT_SESSION: &str = "default";

/// The largest document that is read, in bytes.
pub const LARGEST_DOCUMENT: usize = ::markup::documents::task_graph::MAX_BYTES;

/// What a run remembers of its documents, where it has any.
const SKILLS: Slot<CachedRun> = Slot::new("skills");

/// What a run remembers of its documents.
#[derive(Debug, Serialize, Deserialize)]
struct CachedRun {
    /// What the session is called.
    name: String,
    /// What they are bound to.
    bound: Bound,
}

/// What callers call the work items.
const WORK_ITEMS: &str = "workItems";
/// What they call the item in hand.
const CURRENT_ITEM: &str = "currentItem";
/// What they call whether they keep a snapshot of their context.
const HAS_SNAPSHOT: &str = "hasSnapshot";
/// The item of the design document to begin with.
const FIRST: Slot<String> = Slot::new("first");

/// What belongs to a session of skills, beside what every run has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skills {
    /// What the session is called.
    name: String,
    /// What is wrong with the documents that were read during the call.
    problems: RefCell<Vec<DocumentProblem>>,
    /// What was read in them with some freedom.
    notes: RefCell<Vec<String>>,
    /// In which line of the design document each item begins.
    lines: RefCell<BTreeMap<String, u32>>,
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
        let folder = dir.join(documents::FOLDER);
        journal::durable::ensure_folder(&folder)
            .map_err(|error| files::unwritable(&folder, &error))?;
        SKILLS.entry(&CachedRun {
            name: self.name.clone(),
            bound: Bound::of(definition),
        })
    }
}

/// What a session is called; none where the run is no session of skills.
fn name_of(run: &RunState) -> Option<&str> {
    SKILLS.value(&run.kept)?.get("name")?.as_str()
}

/// The number of an item as the wire has it: a number where it is one.
fn number(key: &str) -> Value {
    match key.parse::<u64>() {
        Ok(number) if number.to_string() == key => number.into(),
        _ => key.into(),
    }
}

/// The longest number of an item, in bytes.
const LONGEST_NUMBER: usize = 40;

/// The number of an item as it is kept, where `value` is one: letters, digits, `.`, `-` and `_`, for it comes to stand in
/// the names of files and in what agents are told.
fn key(value: &Value) -> Option<String> {
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
fn first(run: &RunState) -> Option<&str> {
    FIRST.text(&run.kept)
}

/// The name under which the work of a state is completed.
fn skill<'a>(definition: &'a Definition, state: &'a str) -> Option<&'a str> {
    definition.state(state)?.work.as_ref()?;
    Some(definition.reported_as(state).unwrap_or(state))
}

/// All skills of a workflow, each once, in the order of the file.
fn skills(definition: &Definition) -> Vec<&str> {
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
fn is_fresh(definition: &Definition, state: &str) -> bool {
    let work = definition
        .state(state)
        .and_then(|state| state.work.as_ref());
    work.is_some_and(|work| work.fresh)
}

/// What a state is called for people.
fn display_name(definition: &Definition, state: &str) -> String {
    let label = definition
        .state(state)
        .and_then(|state| state.label.clone());
    label.unwrap_or_else(|| state.to_owned())
}
