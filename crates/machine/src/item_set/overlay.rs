//! What changed in a set since its items were put together.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::base::Base;
use super::{Item, ItemStatus};
use crate::apply::merge;
use crate::definition::{STATUS, WAVE};

/// What changed in a set since its items were put together: those below stay as they are, and are shared.
#[derive(Debug, Clone, Default)]
pub(super) struct Overlay {
    /// Items below that are changed, by their place.
    pub(super) changed: BTreeMap<usize, Changed>,
    /// Items that came after those below.
    pub(super) added: IndexMap<String, Item>,
}

/// A changed item.
#[derive(Debug, Clone)]
pub(super) struct Changed {
    pub(super) change: Arc<Change>,
    pub(super) was: BaseCount,
    /// Put together when somebody looks at it.
    item: OnceLock<Item>,
}

/// What is other than below.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) status: ItemStatus,
    /// Fields as they are now; null where a field is gone.
    pub(super) fields: Map<String, Value>,
}

/// How an item is counted below: its status, and the numbers that the text of its status and its wave have there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BaseCount {
    pub(super) status: ItemStatus,
    pub(super) named: usize,
    pub(super) wave: usize,
}

impl Changed {
    pub(super) fn new(change: Arc<Change>, was: BaseCount) -> Self {
        Self {
            change,
            was,
            item: OnceLock::new(),
        }
    }

    /// The item as it is now, where `below` is what it was.
    pub(super) fn item(&self, below: &Item) -> &Item {
        self.item.get_or_init(|| {
            let mut item = below.clone();
            item.take(&self.change.fields, self.change.status);
            item
        })
    }

    /// The text of its status now, where it changed.
    fn named(&self) -> Option<&str> {
        let status = self.change.fields.get(STATUS)?;
        Some(status.as_str().unwrap_or_default())
    }

    /// Its wave now, where it changed.
    fn wave(&self) -> Option<&str> {
        let wave = self.change.fields.get(WAVE)?;
        Some(wave.as_str().unwrap_or_default())
    }
}

impl Overlay {
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn len(&self) -> usize {
        self.changed.len() + self.added.len()
    }

    /// Changes an item of those below.
    pub(super) fn change(
        &mut self,
        base: &Base,
        at: usize,
        fields: &Map<String, Value>,
        status: Option<ItemStatus>,
    ) {
        let (was, before) = match self.changed.get(&at) {
            Some(changed) => (Some(changed.was), Change::clone(&changed.change)),
            None => (
                base.was(at),
                Change {
                    status: base.status(at).unwrap_or_default(),
                    fields: Map::new(),
                },
            ),
        };
        let Some(was) = was else {
            return;
        };
        let mut change = before;
        for (name, value) in fields {
            // Null stays: it says that the field below is gone.
            change.fields.insert(name.clone(), value.clone());
        }
        change.status = status.unwrap_or(change.status);
        self.changed.insert(at, Changed::new(Arc::new(change), was));
    }

    /// By how much there are more items of that status than below.
    pub(super) fn more(&self, status: ItemStatus) -> isize {
        let is = |found: ItemStatus| isize::from(found == status);
        let changed = self.changed.values();
        let changed: isize = changed
            .map(|changed| is(changed.change.status) - is(changed.was.status))
            .sum();
        changed
            + self
                .added
                .values()
                .map(|item| is(item.status))
                .sum::<isize>()
    }

    /// Makes counts of those below those of now: of all items, or of those of one wave.
    pub(super) fn count(
        &self,
        base: &Base,
        wave: Option<&str>,
        counts: &mut IndexMap<String, isize>,
    ) {
        let names: Vec<&str> = base.named().map(|(name, _)| name).collect();
        let number = wave.map(|wave| base.wave(wave));
        let mut add = |name: &str, more: isize| match counts.get_mut(name) {
            Some(count) => *count += more,
            None => {
                counts.insert(name.to_owned(), more);
            }
        };
        for changed in self.changed.values() {
            let was = names.get(changed.was.named).copied().unwrap_or_default();
            let was_in = number.is_none_or(|number| number == Some(changed.was.wave));
            let is_in = match (wave, changed.wave()) {
                (Some(wave), Some(now)) => wave == now,
                _ => was_in,
            };
            if was_in {
                add(was, -1);
            }
            if is_in {
                add(changed.named().unwrap_or(was), 1);
            }
        }
        for item in self.added.values() {
            if wave.is_none_or(|wave| wave == item.text(WAVE)) {
                add(item.text(STATUS), 1);
            }
        }
    }

    /// Whether the field was changed anywhere.
    pub(super) fn touches(&self, field: &str) -> bool {
        let mut changed = self.changed.values();
        changed.any(|changed| changed.change.fields.contains_key(field))
    }
}

/// An overlay in a snapshot: items that changed alike are told of once.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Written {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changed: Vec<Alike>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    added: IndexMap<String, Item>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Alike {
    to: ItemStatus,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    fields: Map<String, Value>,
    was: ItemStatus,
    named: usize,
    at: Vec<usize>,
    wave: Vec<usize>,
}

impl Written {
    pub(super) fn of(overlay: &Overlay) -> Self {
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut all: Vec<Alike> = Vec::new();
        for (at, changed) in &overlay.changed {
            let Changed { change, was, .. } = changed;
            let key =
                serde_json::to_string(&(change.status, &change.fields, was.status, was.named));
            // What cannot be written is told of alone, and then fails as a whole.
            let key = key.unwrap_or_else(|_| at.to_string());
            let number = *known.entry(key).or_insert_with(|| {
                all.push(Alike {
                    to: change.status,
                    fields: change.fields.clone(),
                    was: was.status,
                    named: was.named,
                    at: Vec::new(),
                    wave: Vec::new(),
                });
                all.len() - 1
            });
            all[number].at.push(*at);
            all[number].wave.push(was.wave);
        }
        Self {
            changed: all,
            added: overlay.added.clone(),
        }
    }

    /// The overlay, if it is one over `base`.
    pub(super) fn read(self, base: &Base) -> Option<Overlay> {
        let mut changed = BTreeMap::new();
        let statuses = base.named().count();
        for alike in self.changed {
            let change = Arc::new(Change {
                status: alike.to,
                fields: alike.fields,
            });
            if alike.at.len() != alike.wave.len() || alike.named >= statuses {
                return None;
            }
            for (at, wave) in alike.at.into_iter().zip(alike.wave) {
                if at >= base.len() || wave >= base.wave_count() {
                    return None;
                }
                let was = BaseCount {
                    status: alike.was,
                    named: alike.named,
                    wave,
                };
                changed.insert(at, Changed::new(Arc::clone(&change), was));
            }
        }
        Some(Overlay {
            changed,
            added: self.added,
        })
    }
}

impl Item {
    /// Takes in fields that changed, and the status.
    pub(super) fn take(&mut self, fields: &Map<String, Value>, status: ItemStatus) {
        if !fields.is_empty() {
            merge(Arc::make_mut(&mut self.fields), fields);
        }
        self.status = status;
    }
}
