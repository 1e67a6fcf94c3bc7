//! The definition language: what a workflow file may say.
//!
//! The structs here are the file, key by key. Every name that another part of the file, or the
//! program, must know is [`Located`], so that a fault can be shown where it stands.

mod edge;
mod expects;
mod field;
mod gate;
mod items;
mod message;
pub mod open;
mod ordered;
mod resource;
mod setting;
mod text;

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value};

pub use edge::{Added, Assign, Edge, Effects, Names};
pub use expects::{Expects, RoleDef};
pub use field::{Field, FieldType, Literal};
pub use gate::{Gate, StateGate};
pub(crate) use items::is_written;
pub use items::{ItemSetDef, LEVEL, SPLIT, STATUS, Statuses, WAVE, Waves};
pub use message::Message;
pub use ordered::Ordered;
pub use resource::{ResourceDef, ResourceValue};

use crate::check::{self, Catalog};
use crate::diagnostic::{Diagnostic, Located, Place};
use crate::guard::Expression;
use crate::role::{Edits, Role};
use crate::trigger::Trigger;

/// The version of the definition language that this program reads.
pub const LANGUAGE: u32 = 1;

/// The view of a workflow that names none: the words of the definition itself.
pub const GENERIC: &str = "generic";

/// A definition larger than this is refused unread, in bytes.
pub const MAX_BYTES: usize = 256 * 1024;

/// A workflow as its file says it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Definition {
    /// Version of the language.
    pub tramline: Located<u32>,
    /// Name of the workflow.
    pub id: Located<String>,
    /// One line for people.
    pub title: String,
    /// The view in which its runs are shown and driven; [`GENERIC`] if absent.
    #[serde(default)]
    pub view: Option<Located<String>>,
    /// The section of the project's settings that guards see as `config`.
    #[serde(default)]
    pub config: Option<Located<String>>,
    /// Whether it means to take the place of a built-in workflow of the same name.
    #[serde(default)]
    pub shadows: bool,
    /// Whether a run goes on by itself, or one transition for each step that is asked for.
    #[serde(default)]
    pub advance: Advance,
    /// The var that counts the rounds of the run: decisions hold for one round, and history and
    /// artifacts are told by it.
    #[serde(default)]
    pub counter: Option<Located<String>>,
    /// The gates, each with who decides there.
    #[serde(default)]
    pub gates: Ordered<Gate>,
    /// How the ids of work units are made.
    #[serde(default)]
    pub unit: UnitPattern,
    /// Typed arguments of a start.
    #[serde(default)]
    pub inputs: Ordered<Field>,
    /// Typed values of the run.
    #[serde(default)]
    pub vars: Ordered<Field>,
    /// What its runs work with, opened in this order when one begins: any of these may refuse, and then no run comes to be.
    #[serde(default)]
    pub uses: Ordered<ResourceDef>,
    /// Item sets.
    #[serde(default)]
    pub items: Ordered<ItemSetDef>,
    /// The state a run begins in.
    pub initial: Located<String>,
    /// Edges valid in every state.
    #[serde(default)]
    pub on: Ordered<Edges>,
    /// Edges tried where none of a state's own takes what it read.
    #[serde(default)]
    pub otherwise: Edges,
    /// What is told of the codes with which its edges refuse, retry, warn and pause.
    #[serde(default)]
    pub messages: Ordered<Message>,
    /// The states, in the order of the file.
    pub states: Ordered<StateDef>,
    /// Where each state stands, filled in after parsing.
    #[serde(skip)]
    index: HashMap<String, Path>,
}

/// Patterns of the ids of work units, without the number that a second issue adds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map with `item` and `run`")]
pub struct UnitPattern {
    /// For a unit inside an `each`.
    pub item: Located<String>,
    /// For every other unit.
    pub run: Located<String>,
}

impl Default for UnitPattern {
    fn default() -> Self {
        let located = |value: &str| Located {
            value: value.to_owned(),
            at: Place::default(),
        };
        Self {
            item: located("{key}-{state}"),
            run: located("{state}"),
        }
    }
}

/// One state. Exactly one of `work`, `do`, `route`, `each` and `final` says its kind (a `final`
/// state may have a `do` beside it, for clearing up).
#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a state, such as `{ work: {}, to: STATE }`"
)]
pub struct StateDef {
    /// Name for people.
    #[serde(default)]
    pub label: Option<String>,
    /// The phase it belongs to; the state's own name if absent.
    #[serde(default)]
    pub phase: Option<String>,
    /// What it expects of its reports: the evidence reader, and their role.
    #[serde(default)]
    pub expects: Option<Expects>,
    /// What may be edited while it waits for one.
    #[serde(default)]
    pub edits: Option<Located<Edits>>,
    /// The gate in front of it: while that is closed, nothing happens here.
    #[serde(default)]
    pub gate: Option<StateGate>,
    /// Whether the run goes on by itself from here; as the workflow says if absent.
    #[serde(default)]
    pub advance: Option<Located<Advance>>,
    /// Somebody outside acts and reports.
    #[serde(default)]
    pub work: Option<Located<WorkDef>>,
    /// The engine acts.
    #[serde(default, rename = "do")]
    pub effects: Option<Located<Effects>>,
    /// Guards choose.
    #[serde(default)]
    pub route: Option<Located<Edges>>,
    /// A nested machine for every item.
    #[serde(default)]
    pub each: Option<Located<EachDef>>,
    /// The end.
    #[serde(default, rename = "final")]
    pub end: Option<Located<EndStatus>>,
    /// The nested states of an `each`.
    #[serde(default)]
    pub states: Ordered<StateDef>,
    /// Where a `do` goes on, or a `work` whose report has one unguarded edge.
    #[serde(default)]
    pub to: Option<Located<String>>,
    /// Edges by event.
    #[serde(default)]
    pub on: Ordered<Edges>,
}

/// A `work` state's own settings.
#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, expecting = "a map, such as `{ by: agent }`")]
pub struct WorkDef {
    /// Who acts.
    #[serde(default)]
    pub by: Actor,
    /// The name under which it is reported; the state's own if absent.
    #[serde(default, rename = "as")]
    pub name: Option<Located<String>>,
    /// Whether the executor forgets its context here.
    #[serde(default)]
    pub fresh: bool,
    /// The template that tells the executor what to do.
    #[serde(default)]
    pub instructions: Option<Located<String>>,
    /// How many retry verdicts it takes until the run pauses. No limit if absent.
    #[serde(default)]
    pub attempts: Option<Located<Literal>>,
    /// What is asked for, as a profile calls it: its prompt, and how the answer is read.
    #[serde(default)]
    pub ask: Option<Located<String>>,
    /// The file that holds what is asked for, in the run's folder; knows `{VAR}` of every var.
    #[serde(default)]
    pub prompt: Option<Located<String>>,
    /// The file that the answer is waited for in; knows the same.
    #[serde(default)]
    pub response: Option<Located<String>>,
    /// When the unit is issued.
    #[serde(default)]
    pub issue: Issue,
}

/// When a work unit is issued.
#[derive(Debug, Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Issue {
    /// By the transition that enters the state.
    #[default]
    Entry,
    /// By the next step.
    Step,
}

/// How a run gets from one state to the next.
#[derive(Debug, Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Advance {
    /// By itself, until it waits for somebody.
    #[default]
    Auto,
    /// One transition for each step that is asked for.
    Manual,
}

/// Who may act in a `work` state.
#[derive(Debug, Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// An agent.
    Agent,
    /// A person.
    Person,
    /// Either.
    #[default]
    Anyone,
}

/// An `each` state's own settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map with `items` and `initial`")]
pub struct EachDef {
    /// The item set.
    pub items: Located<String>,
    /// The nested state every item begins in.
    pub initial: Located<String>,
    /// How many items may be in flight at once.
    #[serde(default)]
    pub parallel: Option<Located<u32>>,
}

/// How a `final` state ends a run, or an item.
#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum EndStatus {
    /// Reached its goal.
    Completed,
    /// Did not.
    Failed,
    /// Broke down.
    Error,
    /// Was called off by somebody inside.
    Cancelled,
    /// Was called off from outside.
    Aborted,
}

/// A list of edges; a single edge may be written without the list.
#[derive(Debug, Default)]
pub struct Edges(pub Vec<Located<Edge>>);

impl<'de> Deserialize<'de> for Edges {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ordered::placed_one_or_many(deserializer).map(Self)
    }
}

/// Where a state stands: the names from the top down to it.
#[derive(Debug, Clone)]
struct Path {
    parent: Option<String>,
}

/// The kind of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Somebody outside acts and reports.
    Work,
    /// The engine acts.
    Do,
    /// Guards choose.
    Route,
    /// A nested machine per item.
    Each,
    /// The end.
    Final,
}

impl StateDef {
    /// The state's kind; the first that is written, for a file that was not checked.
    pub fn kind(&self) -> Kind {
        if self.work.is_some() {
            Kind::Work
        } else if self.end.is_some() {
            Kind::Final
        } else if self.each.is_some() {
            Kind::Each
        } else if self.route.is_some() {
            Kind::Route
        } else {
            Kind::Do
        }
    }

    /// The evidence reader of its reports.
    pub fn reader(&self) -> Option<&Located<String>> {
        self.expects.as_ref().map(|expects| &expects.reader)
    }

    /// The role of its reports.
    pub fn role(&self) -> Role {
        let text = |label: &Option<Located<String>>| label.as_ref().map(|l| l.value.clone());
        let mut role = Role {
            phase: self.phase.clone(),
            edits: self.edits.as_ref().map(|edits| edits.value),
            ..Role::default()
        };
        if let Some(Expects { reader, role: said }) = &self.expects {
            role.reader.clone_from(&reader.value);
            role.label = text(&said.label);
            role.shows = said.shows.as_ref().map(|shows| shows.value);
            role.freezes = text(&said.freezes);
            role.against = text(&said.against);
            role.frozen = text(&said.frozen);
            role.of = text(&said.of);
            role.suite = said.suite.as_ref().map(|suite| suite.value);
            role.only = said.only.iter().map(|class| class.value).collect();
            role.checks = said.checks.as_ref().map(|checks| checks.value);
            role.run = text(&said.run);
        }
        role
    }

    /// The edges for `trigger`, tried in order.
    pub fn edges(&self, trigger: Trigger) -> &[Located<Edge>] {
        if trigger == Trigger::Route {
            return self.route.as_ref().map_or(&[], |edges| &edges.value.0);
        }
        self.on.get(trigger.name()).map_or(&[], |edges| &edges.0)
    }

    /// All lists of edges of its own, each with what takes it. Of a name that means nothing none.
    pub fn lists(&self) -> impl Iterator<Item = (Trigger, &Edges)> {
        let route = self
            .route
            .iter()
            .map(|edges| (Trigger::Route, &edges.value));
        let on = self.on.iter().filter_map(|(event, edges)| {
            let trigger = Trigger::of_event(&event.value)?;
            Some((trigger, edges))
        });
        route.chain(on)
    }
}

impl Definition {
    /// Reads a definition and proves it against `catalog`.
    ///
    /// # Errors
    /// Every fault found, in the order of the file; never empty.
    pub fn load(text: &str, catalog: &Catalog) -> Result<Self, Vec<Diagnostic>> {
        let definition = Self::parse(text).map_err(|fault| vec![fault])?;
        let mut faults = check::check(&definition, catalog);
        if faults.is_empty() {
            return Ok(definition);
        }
        faults.sort_by_key(|fault| fault.at);
        // Edges that several states have are proved for each of them.
        faults.dedup();
        Err(faults)
    }

    /// Reads a definition that was proved before, such as the one a run is pinned to.
    ///
    /// # Errors
    /// The fault that made it unreadable.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let mut definition: Self = text::parse(text)?;
        let mut index = HashMap::new();
        for (name, state) in definition.states.iter() {
            index.insert(name.value.clone(), Path { parent: None });
            for (nested, _) in state.states.iter() {
                // A repeated name is a fault that the checks report; the first one stands.
                index.entry(nested.value.clone()).or_insert(Path {
                    parent: Some(name.value.clone()),
                });
            }
        }
        definition.index = index;
        definition.complete();
        Ok(definition)
    }

    /// Adds what follows from what is written: the fields of sets with `status` and `waves`, and the
    /// sets of waves.
    fn complete(&mut self) {
        let mut waves = Vec::new();
        for (name, set) in self.items.iter_mut() {
            set.complete();
            if let Some(cut) = &set.waves {
                waves.push((cut.into.clone(), ItemSetDef::of_waves(&name.value, cut)));
            }
        }
        for (name, set) in waves {
            self.items.add(name, set);
        }
    }

    /// The item set that a var of that name points into, where it is a cursor.
    pub fn cursor(&self, name: &str) -> Option<(&str, &ItemSetDef)> {
        match &self.vars.get(name)?.kind {
            FieldType::Ref(set) => Some((set.as_str(), self.items.get(set)?)),
            _ => None,
        }
    }

    /// The name under which the work of a state is reported, where it is not the state's own.
    pub fn reported_as(&self, state: &str) -> Option<&str> {
        let name = self.state(state)?.work.as_ref()?.value.name.as_ref()?;
        Some(&name.value)
    }

    /// The state of that name, nested or not.
    pub fn state(&self, name: &str) -> Option<&StateDef> {
        match &self.index.get(name)?.parent {
            None => self.states.get(name),
            Some(parent) => self.states.get(parent)?.states.get(name),
        }
    }

    /// The `each` state that `name` is nested in.
    pub fn parent(&self, name: &str) -> Option<&str> {
        self.index.get(name)?.parent.as_deref()
    }

    /// All states with their parents, in the order of the file.
    pub fn all_states(&self) -> impl Iterator<Item = (Option<&str>, &Located<String>, &StateDef)> {
        self.states.iter().flat_map(|(name, state)| {
            std::iter::once((None, name, state)).chain(
                state
                    .states
                    .iter()
                    .map(move |(nested, inner)| (Some(name.value.as_str()), nested, inner)),
            )
        })
    }

    /// The role of the reports of a state.
    pub fn role(&self, state: &str) -> Role {
        self.state(state).map(StateDef::role).unwrap_or_default()
    }

    /// Whether a run that stands in this state goes on by itself, or by single steps.
    pub fn advances(&self, state: &str) -> Advance {
        let own = self.state(state).and_then(|state| state.advance.as_ref());
        own.map_or(self.advance, |own| own.value)
    }

    /// Whether an edge that a report takes out of the state, or the state's `route`, checks a policy.
    pub fn checks(&self, state: &str, policy: &str) -> bool {
        self.checking(state, policy).next().is_some()
    }

    /// Whether each report in the state, or whatever its `route` reads, is looked at for what breaks a policy.
    pub fn always_checks(&self, state: &str, policy: &str) -> bool {
        self.checking(state, policy).any(|edge| edge.when.is_none())
    }

    /// Whether some report, or what some `route` reads, may be looked at for what breaks a policy.
    pub fn may_check(&self, policy: &str) -> bool {
        let mut states = self.index.keys();
        states.any(|state| self.checking(state, policy).next().is_some())
    }

    /// The edges of a report, or of a `route`, that check a policy.
    fn checking(&self, state: &str, policy: &str) -> impl Iterator<Item = &Edge> {
        [Trigger::Report, Trigger::Route]
            .into_iter()
            .flat_map(move |trigger| self.edges(state, trigger))
            .map(|edge| &edge.value)
            .filter(move |edge| edge.check.0.iter().any(|name| name.value == policy))
    }

    /// Whether it is the state's own `route` that pauses for this reason: going on pauses again, until something else
    /// has changed.
    pub fn pauses_in_route(&self, state: &str, reason: &str) -> bool {
        let pauses = |edge: &Located<Edge>| {
            let pause = edge.value.pause.as_ref();
            pause.is_some_and(|pause| pause.value == reason)
        };
        self.edges(state, Trigger::Route).iter().any(pauses)
    }

    /// The phase that a state belongs to.
    pub fn phase<'a>(&'a self, name: &'a str) -> &'a str {
        self.state(name)
            .and_then(|state| state.phase.as_deref())
            .unwrap_or(name)
    }

    /// The edges that `trigger` may take out of `state`: its own, then those of the workflow.
    pub fn edges(&self, state: &str, trigger: Trigger) -> &[Located<Edge>] {
        if trigger == Trigger::Otherwise {
            return &self.otherwise.0;
        }
        let own = self.state(state).map_or(&[][..], |def| def.edges(trigger));
        // A step aside of an item is said with its states: those of the workflow lead elsewhere.
        if !own.is_empty() || trigger != Trigger::Abort && self.parent(state).is_some() {
            return own;
        }
        self.on.get(trigger.name()).map_or(&[], |edges| &edges.0)
    }

    /// The edges of `trigger` at `state`; those of [`Trigger::Otherwise`] only where it reads something.
    pub fn own_or_otherwise(&self, state: &str, trigger: Trigger) -> &[Located<Edge>] {
        match self.state(state) {
            Some(def) if trigger == Trigger::Otherwise => self.otherwise(def),
            _ => self.edges(state, trigger),
        }
    }

    /// The edges tried behind the state's own, where it reads something, and those let anything through.
    pub fn otherwise(&self, state: &StateDef) -> &[Located<Edge>] {
        let takes_all = |edge: &Located<Edge>| edge.when.is_none() && !edge.is_note();
        let mut own = [Trigger::Report, Trigger::Route]
            .into_iter()
            .flat_map(|trigger| state.edges(trigger));
        if state.expects.is_none() || own.any(takes_all) {
            return &[];
        }
        &self.otherwise.0
    }

    /// The round that a run with these vars is in, where the definition counts them.
    pub fn round(&self, vars: &Map<String, Value>) -> Option<i64> {
        vars.get(&self.counter.as_ref()?.value)?.as_i64()
    }

    /// The file of a run with these vars that `pattern` names, relative to the run's folder.
    pub fn file(pattern: &str, vars: &Map<String, Value>) -> String {
        let mut path = pattern.to_owned();
        for (name, value) in vars {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            path = path.replace(&format!("{{{name}}}"), &text);
        }
        path
    }

    /// What is decided on at a gate; what was reported last where the file does not say.
    pub fn over(&self, gate: &str) -> Option<&str> {
        let mut gates = self
            .all_states()
            .filter_map(|(_, _, state)| state.gate.as_ref());
        let found = gates.find(|found| found.value == gate)?;
        found.over.as_ref().map(|over| over.value.as_str())
    }

    /// What is asked for in a state, as a profile calls it.
    pub fn asked(&self, state: &str) -> Option<&str> {
        let asked = self.state(state)?.work.as_ref()?.value.ask.as_ref()?;
        Some(&asked.value)
    }

    /// Where a state's prompt stands, if it has one.
    pub fn prompt(&self, state: &str, vars: &Map<String, Value>) -> Option<String> {
        let pattern = self.state(state)?.work.as_ref()?.value.prompt.as_ref()?;
        Some(Self::file(&pattern.value, vars))
    }

    /// Where a state's response is waited for, if it is waited for in a file.
    pub fn response(&self, state: &str, vars: &Map<String, Value>) -> Option<String> {
        let pattern = self.state(state)?.work.as_ref()?.value.response.as_ref()?;
        Some(Self::file(&pattern.value, vars))
    }

    /// Every CEL expression of the file, with the state it stands in.
    pub fn expressions(&self) -> Vec<(Option<&str>, &Expression)> {
        let mut all = Vec::new();
        for (_, field) in self.inputs.iter().chain(self.vars.iter()) {
            all.extend(field.default_expression().map(|e| (None, e)));
        }
        for (_, resource) in self.uses.iter() {
            all.extend(resource.expressions().map(|e| (None, e)));
        }
        for (_, mode) in self.gates.iter() {
            if let Gate::Expression(e) = mode {
                all.push((None, e));
            }
        }
        for (_, set) in self.items.iter() {
            let alone = set.waves.as_ref().and_then(|waves| waves.alone.as_ref());
            all.extend(alone.map(|e| (None, e)));
        }
        let everywhere = self.on.iter().map(|(_, edges)| edges);
        for edges in everywhere.chain([&self.otherwise]) {
            for edge in &edges.0 {
                all.extend(edge.expressions().into_iter().map(|e| (None, e)));
            }
        }
        for (_, name, state) in self.all_states() {
            let at = Some(name.value.as_str());
            if let Some(Literal::Expression(e)) = state
                .work
                .as_ref()
                .and_then(|work| work.attempts.as_ref())
                .map(|attempts| &attempts.value)
            {
                all.push((at, e));
            }
            let lists = state
                .route
                .iter()
                .map(|edges| &edges.value)
                .chain(state.on.iter().map(|(_, edges)| edges));
            for edges in lists {
                for edge in &edges.0 {
                    all.extend(edge.expressions().into_iter().map(|e| (at, e)));
                }
            }
        }
        all
    }
}
