//! What a definition may name: readers, effects, policies, settings and templates.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use crate::definition::FieldType;
use crate::role::Role;

/// The world that a definition is proved against. Whoever runs definitions says what there is.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Evidence readers by name, with the facts that each gives.
    pub readers: BTreeMap<String, Reader>,
    /// Effects by name.
    pub effects: BTreeMap<String, Effect>,
    /// What a run can work with.
    pub resources: BTreeMap<&'static str, Resource>,
    /// The views that a workflow may name.
    pub views: BTreeMap<&'static str, View>,
    /// What a gate may be over, each with the resource that it is of.
    pub subjects: BTreeMap<&'static str, &'static str>,
    /// What a prompt may ask for, each with the resource that knows it.
    pub asks: BTreeMap<&'static str, &'static str>,
    /// The resource that edits are held against.
    pub edits_need: Option<&'static str>,
    /// Policies that a `check` may name, each with what can find it.
    pub policies: BTreeMap<String, Vec<Finder>>,
    /// Codes that are told in words of the engine's own; where there are none, nobody has to have words.
    pub codes: BTreeSet<&'static str>,
    /// The events that somebody has fields for, each with the resource that these are of.
    pub events: BTreeMap<&'static str, Option<&'static str>>,
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
    /// The keys of a role that it goes by, each with the policy by which reports are held to it, where there is one.
    pub role: BTreeMap<&'static str, Option<&'static str>>,
    /// The resources that it reads from.
    pub needs: &'static [&'static str],
    /// The resources that a report is held against, where anything is said of its role.
    pub role_needs: &'static [&'static str],
    /// The item set that it is about, by a resource and the parameter that names it.
    pub within: Option<(&'static str, &'static str)>,
    /// What of the run it looks at that an effect has to have made.
    pub takes: &'static [&'static str],
    /// Whether it reads an answer by what was asked for: the state that it was given in has to say that with `ask`.
    pub is_asked: bool,
    /// Where runs work with this resource it reads what a call says of it, which no file could.
    pub by_call_over: Option<&'static str>,
    /// Whether it reads what somebody reports, so that it has nothing to read in a state where nobody does.
    pub is_reported: bool,
    /// The entry of a resource that its role names.
    pub entry: Option<NamedEntry>,
}

/// An entry of a resource that somebody names whom it is for.
#[derive(Debug, Clone, Copy)]
pub struct NamedEntry {
    /// The resource.
    pub of: &'static str,
    /// The key under which it is named: of a role, or of what an effect is told.
    pub key: &'static str,
    /// Fields of which the entry has one at least; any entry will do where there is none.
    pub with: &'static [&'static str],
}

/// Something that a run works with.
#[derive(Debug, Clone, Default)]
pub struct Resource {
    /// What the file says of it.
    pub parameters: Vec<Parameter>,
    /// The entries that it has instead, under names of the file's own.
    pub entries: Option<Entries>,
    /// Other resources that it rests on.
    pub needs: &'static [&'static str],
    /// Whether what it keeps belongs to an iteration.
    pub counts: bool,
}

/// Entries of a resource, each under a name of the file's own.
#[derive(Debug, Clone, Copy)]
pub struct Entries {
    /// What one is, in a word.
    pub noun: &'static str,
    /// The field that a text alone gives, and that each of them has.
    pub short: &'static str,
    /// All fields, with their types; numbers count from 1.
    pub fields: &'static [(&'static str, FieldType)],
}

/// Words and shapes in which runs are shown and driven.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The resources that it speaks of.
    pub needs: &'static [&'static str],
    /// Whether it tells by its own calls all that is asked for, and nothing in files.
    pub tells_all: bool,
    /// The phases that it knows by name, each with what reports in it have to be.
    pub phases: BTreeMap<&'static str, Finder>,
}

/// What the file says of a resource.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it has to be.
    pub kind: ParameterKind,
    /// What it may look like.
    pub example: &'static str,
}

/// What a parameter has to be.
#[derive(Debug, Clone)]
pub enum ParameterKind {
    /// `=inputs.NAME`: an input of this type, passed on.
    Input(FieldType),
    /// The name of an item set that has these fields, each of this type as it is told; empty where any will do.
    Items(&'static [(&'static str, &'static str)]),
    /// The same, cut into waves, with a status for each of its items and a var that points at the wave in hand.
    Waves(&'static [(&'static str, &'static str)]),
    /// The name of a var of this type.
    Var(FieldType),
    /// The name of a var that points into the item set that the parameter of this name gives.
    Cursor(&'static str),
}

/// What can find out that a policy is broken: a reader, in reports of a certain role.
#[derive(Debug, Clone, Default)]
pub struct Finder {
    /// The reader; where it is empty, whatever a report is read by.
    pub reader: String,
    /// The resource that the run has to have.
    pub needs: Option<&'static str>,
    /// A key that the role has to have.
    pub with: Option<&'static str>,
    /// Keys that it must not have.
    pub without: Vec<&'static str>,
}

impl Finder {
    /// Whether it can be found in reports of that role.
    pub fn finds_in(&self, role: &Role) -> bool {
        let has = |key: &str| role.keys().any(|said| said == key);
        let reads = match self.reader.as_str() {
            "" => !role.reader.is_empty(),
            reader => role.reader == reader,
        };
        reads && self.with.is_none_or(has) && !self.without.iter().any(|key| has(key))
    }
}

impl fmt::Display for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reader.as_str() {
            "" => write!(f, "any reader")?,
            reader => write!(f, "`{reader}`")?,
        }
        if let Some(key) = self.with {
            write!(f, " with `{key}`")?;
        }
        if !self.without.is_empty() {
            write!(f, " without `{}`", self.without.join("` and `"))?;
        }
        Ok(())
    }
}

/// What an effect is like.
#[derive(Debug, Clone, Default)]
pub struct Effect {
    /// Whether it changes the world outside the run in a way that a later refusal could not take
    /// back.
    pub lasting: bool,
    /// What its result holds.
    pub result: BTreeMap<String, FieldType>,
    /// The item set that it is about, by a resource and the parameter that names it.
    pub within: Option<(&'static str, &'static str)>,
    /// The reader whose facts it takes.
    pub takes_in: Option<&'static str>,
    /// What it makes that others look at or work on.
    pub makes: &'static [&'static str],
    /// What it works on that another one has to have made.
    pub takes: &'static [&'static str],
    /// The resources that it works on.
    pub needs: &'static [&'static str],
    /// The entry of a resource that it is told of.
    pub entry: Option<NamedEntry>,
    /// What a caller has to ask for before it is carried out, as guards name it: it takes work away, and refuses where that is
    /// nowhere else.
    pub asked_by: Option<[&'static str; 2]>,
}
