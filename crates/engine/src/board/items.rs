//! The items of a run, as a board shows them.

use std::collections::HashMap;

use machine::definition::WAVE;
use machine::state::ItemStatus;
use machine::{Definition, RunState};
use serde::Serialize;

use crate::engine::Engine;
use crate::fault::Fault;
use crate::generic::messages;
use crate::open_run;

/// How many items of a set are listed.
const MOST_ITEMS: usize = 500;

/// A set of items.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardSet {
    /// Its name in the definition.
    pub name: String,
    /// Its items in their order, as far as they are listed.
    pub items: Vec<BoardItem>,
    /// How many there are.
    pub total: usize,
    /// Whether its items are the waves that those of another set are cut into.
    pub is_waves: bool,
}

/// An item.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardItem {
    /// Its key.
    pub key: String,
    /// What it is about; empty where it says nothing.
    pub title: String,
    /// `open`, `blocked`, `active`, `done` or `failed`.
    pub column: &'static str,
    /// What the definition calls that, where it has names of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The keys of what has to be done before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The wave that it belongs to, where its set is cut into some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wave: Option<String>,
    /// Where it stands, while it is in hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Which attempt is under way there, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// How many there are, where there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
}

impl BoardSet {
    /// The columns of a board, in their order.
    pub const COLUMNS: [&'static str; 5] = ["open", "blocked", "active", "done", "failed"];
}

impl Engine {
    /// The items of a run, set by set.
    pub fn run_items(&self, run: Option<&str>) -> Result<Vec<BoardSet>, Fault> {
        let (dir, loaded) = self.load_any(run)?;
        let definition = open_run::pinned(dir.path(), &loaded.run)?;
        Ok(sets(&loaded.run, &definition))
    }
}

impl BoardSet {
    /// Whether its items depend on each other, or are cut into waves.
    pub fn is_graph(&self) -> bool {
        let tied = |item: &BoardItem| !item.needs.is_empty() || item.wave.is_some();
        self.items.iter().any(tied)
    }

    /// Its items in the waves that they are cut into; all in one where they are not.
    fn waves(&self) -> Vec<draw::Wave<'_>> {
        let mut waves: Vec<draw::Wave<'_>> = Vec::new();
        for item in &self.items {
            let id = item.wave.as_deref().unwrap_or_default();
            let task = draw::TaskNode {
                id: &item.key,
                label: &item.title,
                status: match item.column {
                    "active" => draw::TaskStatus::InProgress,
                    "done" => draw::TaskStatus::Completed,
                    "failed" => draw::TaskStatus::Failed,
                    "blocked" => draw::TaskStatus::NotRun,
                    _ => draw::TaskStatus::Pending,
                },
                needs: item.needs.iter().map(String::as_str).collect(),
            };
            match waves.iter_mut().find(|wave| wave.id == id) {
                Some(wave) => wave.tasks.push(task),
                None => waves.push(draw::Wave {
                    id,
                    label: "",
                    tasks: vec![task],
                }),
            }
        }
        waves
    }

    /// It as a picture of what depends on what; none where it is too large for one.
    pub fn picture(&self, look: draw::Look) -> Option<String> {
        draw::tasks_svg(&self.name, &self.waves(), look).ok()
    }

    /// The same as a Mermaid flowchart.
    pub fn mermaid(&self) -> String {
        draw::tasks(&self.waves())
    }
}

/// The items of a run in the sets of its definition.
pub(crate) fn sets(run: &RunState, definition: &Definition) -> Vec<BoardSet> {
    let waves: Vec<&str> = definition
        .items
        .iter()
        .filter_map(|(_, set)| Some(set.waves.as_ref()?.into.value.as_str()))
        .collect();
    let tokens: HashMap<(&str, &str), _> = run
        .tokens
        .iter()
        .filter_map(|token| {
            let (set, key) = token.item.as_ref()?;
            Some(((set.as_str(), key.as_str()), token))
        })
        .collect();
    let of_set = |name: &str| {
        let items = run.sets.get(name)?;
        let declared = definition.items.get(name)?;
        let needs = declared.needs.as_ref().map(|needs| needs.value.as_str());
        let blocked = run.blocked(definition, name);
        // A run that goes through its items without a token for each says by a variable which is in hand.
        let present = declared.prefer.as_ref();
        let present = present.and_then(|cursor| run.pointed_at(&cursor.value));
        let at = run.tokens.last().filter(|_| !run.status.is_over());
        let listed = items.iter().enumerate().take(MOST_ITEMS);
        let listed = listed.map(|(number, (key, item))| {
            let is_present = present == Some(key) && item.status == ItemStatus::Open;
            let token = tokens.get(&(name, key)).copied();
            let token = token.or_else(|| at.filter(|_| is_present));
            let unit = token.and_then(|token| token.unit.as_ref());
            let text = |field: &str| match item.text(field) {
                "" => None,
                text => Some(text.to_owned()),
            };
            BoardItem {
                key: key.to_owned(),
                title: text("title").unwrap_or_default(),
                column: match item.status {
                    ItemStatus::Open if is_present && token.is_some() => "active",
                    ItemStatus::Open if blocked.get(number) == Some(&true) => "blocked",
                    ItemStatus::Open => "open",
                    ItemStatus::Active => "active",
                    ItemStatus::Done => "done",
                    ItemStatus::Failed => "failed",
                },
                status: declared.status.as_ref().and_then(|_| text("status")),
                needs: item.needs(needs),
                wave: declared.waves.as_ref().and_then(|_| text(WAVE)),
                place: token.map(|token| messages::place(definition, &token.state, None)),
                attempt: unit.map(|unit| unit.attempt),
                max_attempts: unit.and_then(|unit| unit.max_attempts),
            }
        });
        Some(BoardSet {
            name: name.to_owned(),
            items: listed.collect(),
            total: items.len(),
            is_waves: waves.contains(&name),
        })
    };
    let names = definition.items.iter();
    names.filter_map(|(name, _)| of_set(&name.value)).collect()
}
