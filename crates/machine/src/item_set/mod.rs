//! Items of a run: their fields, where each stands, and what can be done next.
//!
//! Every decision is planned on a copy of the run, and every command loads it anew. So that a set of very
//! many items costs what a small one does, its items are shared by all copies, what changed lies over them,
//! and in a snapshot they lie apart, [packed](Pack).

mod base;
mod frozen;
mod overlay;
mod pack;
mod tally;

use std::sync::Arc;

use indexmap::IndexMap;
use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::definition::{ItemSetDef, STATUS};
use crate::event::NewItem;
use crate::items;
use base::{Base, ItemList};
use overlay::Overlay;
use tally::place;

pub(crate) use frozen::FrozenSet;
pub use pack::Pack;

/// A set of fewer items than this is copied as a whole when one of them changes: what lies over them, and the
/// counts that belong to it, would cost more.
const FEW: usize = 64;

/// The items of a set, in their order.
#[derive(Debug, Clone, Default)]
pub struct ItemSet {
    base: Base,
    over: Arc<Overlay>,
}

/// One item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Its fields. Copies of a run share them until one changes.
    #[serde(with = "shared")]
    pub fields: Arc<Map<String, Value>>,
    /// Where it stands.
    pub status: ItemStatus,
}

/// Where an item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum ItemStatus {
    /// Not begun.
    #[default]
    Open,
    /// It is in hand.
    Active,
    /// Done.
    Done,
    /// Skipped.
    Failed,
}

impl ItemStatus {
    /// Whether it is not begun.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde asks with a reference"
    )]
    pub(crate) fn is_open(&self) -> bool {
        *self == Self::Open
    }
}

/// Shared fields are written like any others.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::{Map, Value};

    pub(super) fn serialize<S: Serializer>(
        fields: &Arc<Map<String, Value>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        Map::serialize(fields, serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<Map<String, Value>>, D::Error> {
        Map::deserialize(deserializer).map(Arc::new)
    }
}

impl Item {
    /// The keys that it needs.
    pub fn needs(&self, field: Option<&str>) -> Vec<String> {
        self.needed(field).map(str::to_owned).collect()
    }

    pub(crate) fn needed(&self, field: Option<&str>) -> impl Iterator<Item = &str> {
        field
            .and_then(|field| self.fields.get(field))
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    }

    /// A field that holds text.
    pub fn text(&self, field: &str) -> &str {
        self.fields
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The texts of a field that holds a list of them.
    pub fn texts(&self, field: &str) -> impl Iterator<Item = &str> {
        self.needed(Some(field))
    }
}

/// Sets are the same that have the same items in the same order, wherever those lie.
impl PartialEq for ItemSet {
    fn eq(&self, other: &Self) -> bool {
        let untouched = self.over.is_empty() && other.over.is_empty();
        (untouched && self.base.is_same(&other.base))
            || (self.len() == other.len() && self.iter().eq(other.iter()))
    }
}

impl Serialize for ItemSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Items<'a>(&'a ItemSet);

        impl Serialize for Items<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(Some(self.0.len()))?;
                for (key, item) in self.0.iter() {
                    map.serialize_entry(key, item)?;
                }
                map.end()
            }
        }

        let mut whole = serializer.serialize_struct("ItemSet", 1)?;
        whole.serialize_field("items", &Items(self))?;
        whole.end()
    }
}

impl<'de> Deserialize<'de> for ItemSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Whole {
            items: IndexMap<String, Item>,
        }

        Whole::deserialize(deserializer).map(|whole| Self::holding(whole.items))
    }
}

impl ItemSet {
    fn holding(items: IndexMap<String, Item>) -> Self {
        Self {
            base: Base::ItemList(Arc::new(ItemList::new(items))),
            over: Arc::default(),
        }
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.base.len() + self.over.added.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item with that key.
    pub fn get(&self, key: &str) -> Option<&Item> {
        self.nth(self.position(key)?).map(|(_, item)| item)
    }

    /// The item at that place in the order, from 0, with its key.
    pub fn nth(&self, at: usize) -> Option<(&str, &Item)> {
        if let Some(beyond) = at.checked_sub(self.base.len()) {
            let (key, item) = self.over.added.get_index(beyond)?;
            return Some((key, item));
        }
        let (key, below) = self.base.nth(at)?;
        let changed = self.over.changed.get(&at);
        Some((key, changed.map_or(below, |changed| changed.item(below))))
    }

    /// Where the item with that key stands in the order, from 0.
    pub fn position(&self, key: &str) -> Option<usize> {
        self.base.position(key).or_else(|| {
            let added = self.over.added.get_index_of(key)?;
            Some(self.base.len() + added)
        })
    }

    /// The status of the item with that key. Costs less than a look at all of the item.
    pub fn status(&self, key: &str) -> Option<ItemStatus> {
        self.status_at(self.position(key)?)
    }

    fn status_at(&self, at: usize) -> Option<ItemStatus> {
        if let Some(changed) = self.over.changed.get(&at) {
            return Some(changed.change.status);
        }
        match at.checked_sub(self.base.len()) {
            None => self.base.status(at),
            Some(beyond) => {
                let added = self.over.added.get_index(beyond);
                added.map(|(_, item)| item.status)
            }
        }
    }

    /// The items with their keys, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Item)> {
        (0..self.len()).filter_map(|at| self.nth(at))
    }

    /// The keys, in the order of the items.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(key, _)| key)
    }

    /// Forgets all items.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The items, if they can be changed where they are: nobody shares them, or they are few.
    fn within_reach(&mut self) -> Option<&mut IndexMap<String, Item>> {
        let Base::ItemList(held) = &mut self.base else {
            return None;
        };
        if !self.over.is_empty() {
            return None;
        }
        if held.len() < FEW {
            return Some(Arc::make_mut(held).items_mut());
        }
        Arc::get_mut(held).map(ItemList::items_mut)
    }

    /// Adds an item.
    pub(crate) fn add(&mut self, new: &NewItem) {
        let key = new.key.as_str();
        let item = Item {
            fields: Arc::new(new.fields.clone()),
            status: new.status,
        };
        if let Some(items) = self.within_reach() {
            items.insert(key.to_owned(), item);
        } else if self.base.position(key).is_some() {
            // Nothing that is journalled adds a key twice; the later one counts all the same.
            let mut items: IndexMap<String, Item> = self
                .iter()
                .map(|(key, item)| (key.to_owned(), item.clone()))
                .collect();
            items.insert(key.to_owned(), item);
            *self = Self::holding(items);
        } else {
            let over = Arc::make_mut(&mut self.over);
            over.added.insert(key.to_owned(), item);
        }
    }

    /// Changes the item with that key, if there is one: null in `fields` takes a field away.
    pub(crate) fn change(
        &mut self,
        key: &str,
        fields: &Map<String, Value>,
        status: Option<ItemStatus>,
    ) {
        let Some(at) = self.position(key) else {
            return;
        };
        let beyond = at.checked_sub(self.base.len());
        let item = match (beyond, self.over.is_empty()) {
            (Some(beyond), _) => {
                let added = &mut Arc::make_mut(&mut self.over).added;
                added.get_index_mut(beyond).map(|(_, item)| item)
            }
            (None, true) => self
                .within_reach()
                .and_then(|items| items.get_index_mut(at))
                .map(|(_, item)| item),
            (None, false) => None,
        };
        match item {
            Some(item) => {
                let status = status.unwrap_or(item.status);
                item.take(fields, status);
            }
            None => Arc::make_mut(&mut self.over).change(&self.base, at, fields, status),
        }
    }

    /// How many items have that status.
    pub fn count(&self, status: ItemStatus) -> usize {
        self.base.standing()[place(status)].saturating_add_signed(self.over.more(status))
    }

    /// How many items have which text as their status, as the definition names them: of all items, or of those
    /// of one wave. Costs the same however many there are. Texts that no item has may be left out.
    pub fn count_named(&self, wave: Option<&str>) -> IndexMap<String, usize> {
        let mut counts: IndexMap<String, isize> = IndexMap::new();
        let signed = |count: usize| isize::try_from(count).unwrap_or(isize::MAX);
        match wave {
            None => {
                let named = self.base.named();
                counts.extend(named.map(|(name, count)| (name.to_owned(), signed(count))));
            }
            Some(wave) => {
                if let Some(number) = self.base.wave(wave) {
                    let names = self.base.named().map(|(name, _)| name.to_owned());
                    let of_wave = self.base.counts_of_wave(number);
                    counts.extend(names.zip(of_wave.into_iter().map(signed)));
                }
            }
        }
        self.over.count(&self.base, wave, &mut counts);
        counts
            .into_iter()
            .filter_map(|(name, count)| Some((name, usize::try_from(count).ok()?)))
            .collect()
    }

    fn failed(&self) -> Vec<usize> {
        let changed = &self.over.changed;
        let mut failed = self.base.failed();
        failed.retain(|at| !changed.contains_key(at));
        let over = changed.iter();
        failed.extend(
            over.filter(|(_, changed)| changed.change.status == ItemStatus::Failed)
                .map(|(at, _)| *at),
        );
        let added = self.over.added.values().enumerate();
        failed.extend(
            added
                .filter(|(_, item)| item.status == ItemStatus::Failed)
                .map(|(at, _)| self.base.len() + at),
        );
        failed
    }

    /// Which items cannot be run any more, because something they need was skipped.
    pub fn blocked(&self, definition: &ItemSetDef) -> Vec<bool> {
        if self.count(ItemStatus::Failed) == 0 {
            return vec![false; self.len()];
        }
        let field = definition.needs.as_ref().map(|needs| needs.value.as_str());
        let failed = self.failed();
        let mut reached = match &self.base {
            Base::Packed(pack)
                if pack.knows_needs(field)
                    && self.over.added.is_empty()
                    && !field.is_some_and(|field| self.over.touches(field)) =>
            {
                items::reached_by(self.len(), &failed, |at| pack.dependents(at))
            }
            _ => {
                let mut needs = Vec::with_capacity(self.len());
                for (at, (_, item)) in self.iter().enumerate() {
                    let needed = item.needed(field).filter_map(|need| self.position(need));
                    needs.extend(needed.map(|needed| (needed, at)));
                }
                items::reached(self.len(), &needs, &failed)
            }
        };
        for (at, blocked) in reached.iter_mut().enumerate() {
            *blocked = *blocked && self.status_at(at) == Some(ItemStatus::Open);
        }
        reached
    }

    /// Whether all that an item needs is done.
    pub fn is_ready(&self, item: &Item, definition: &ItemSetDef) -> bool {
        let field = definition.needs.as_ref().map(|needs| needs.value.as_str());
        item.needed(field)
            .all(|need| self.status(need) == Some(ItemStatus::Done))
    }

    /// The first open item whose needs are all done.
    pub fn ready(&self, definition: &ItemSetDef) -> Option<(&str, &Item)> {
        self.ready_but(definition, &[])
    }

    /// The same, without those that are blocked.
    pub(crate) fn ready_but(
        &self,
        definition: &ItemSetDef,
        blocked: &[bool],
    ) -> Option<(&str, &Item)> {
        (0..self.len())
            .filter(|at| {
                self.status_at(*at) == Some(ItemStatus::Open)
                    && !blocked.get(*at).copied().unwrap_or(false)
            })
            .filter_map(|at| self.nth(at))
            .find(|(_, item)| self.is_ready(item, definition))
    }

    /// How many items have each of the statuses that the set declares, without those that are blocked: of all
    /// items, or of those of one wave.
    pub(crate) fn counts<'a>(
        &self,
        definition: &'a ItemSetDef,
        wave: Option<&str>,
        blocked: impl Iterator<Item = usize>,
    ) -> IndexMap<&'a str, usize> {
        let mut named = self.count_named(wave);
        for at in blocked {
            if let Some((_, item)) = self.nth(at)
                && let Some(count) = named.get_mut(item.text(STATUS))
            {
                *count = count.saturating_sub(1);
            }
        }
        let names = definition.status.iter().flat_map(|status| status.names());
        names
            .map(|(name, _)| (name, named.get(name).copied().unwrap_or(0)))
            .collect()
    }
}
