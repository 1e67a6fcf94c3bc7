//! The items of a set as they were put together: held one by one, or packed.

use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;

use super::overlay::BaseCount;
use super::pack::Pack;
use super::tally::Tally;
use super::{Item, ItemStatus};
use crate::definition::{STATUS, WAVE};

/// The items of a set as they were put together.
#[derive(Debug, Clone)]
pub(super) enum Base {
    ItemList(Arc<ItemList>),
    Packed(Arc<Pack>),
}

/// Items that are held one by one.
#[derive(Debug, Clone, Default)]
pub(super) struct ItemList {
    items: IndexMap<String, Item>,
    tally: OnceLock<Tally>,
}

impl Default for Base {
    fn default() -> Self {
        Self::ItemList(Arc::default())
    }
}

impl ItemList {
    pub(super) fn new(items: IndexMap<String, Item>) -> Self {
        Self {
            items,
            tally: OnceLock::new(),
        }
    }

    /// The items, to be changed.
    pub(super) fn items_mut(&mut self) -> &mut IndexMap<String, Item> {
        self.tally = OnceLock::new();
        &mut self.items
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    fn tally(&self) -> &Tally {
        self.tally.get_or_init(|| Tally::of(self.items.values()))
    }
}

impl Base {
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::ItemList(one), Self::ItemList(other)) => Arc::ptr_eq(one, other),
            (Self::Packed(one), Self::Packed(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::ItemList(held) => held.items.len(),
            Self::Packed(pack) => pack.len(),
        }
    }

    pub(super) fn nth(&self, at: usize) -> Option<(&str, &Item)> {
        match self {
            Self::ItemList(held) => held
                .items
                .get_index(at)
                .map(|(key, item)| (key.as_str(), item)),
            Self::Packed(pack) => pack.nth(at),
        }
    }

    pub(super) fn position(&self, key: &str) -> Option<usize> {
        match self {
            Self::ItemList(held) => held.items.get_index_of(key),
            Self::Packed(pack) => pack.position(key),
        }
    }

    pub(super) fn status(&self, at: usize) -> Option<ItemStatus> {
        match self {
            Self::ItemList(held) => held.items.get_index(at).map(|(_, item)| item.status),
            Self::Packed(pack) => pack.status(at),
        }
    }

    /// How many items stand where: open, active, done, failed.
    pub(super) fn standing(&self) -> [usize; 4] {
        match self {
            Self::ItemList(held) => held.tally().standing,
            Self::Packed(pack) => pack.standing(),
        }
    }

    /// How many items have which text as their status.
    pub(super) fn named(&self) -> Box<dyn Iterator<Item = (&str, usize)> + '_> {
        match self {
            Self::ItemList(held) => Box::new(
                held.tally()
                    .named
                    .iter()
                    .map(|(name, count)| (name.as_str(), *count)),
            ),
            Self::Packed(pack) => Box::new(pack.named_statuses()),
        }
    }

    /// The number of that wave.
    pub(super) fn wave(&self, name: &str) -> Option<usize> {
        match self {
            Self::ItemList(held) => held.tally().waves.get_index_of(name),
            Self::Packed(pack) => pack.wave(name),
        }
    }

    pub(super) fn wave_count(&self) -> usize {
        match self {
            Self::ItemList(held) => held.tally().waves.len(),
            Self::Packed(pack) => pack.wave_count(),
        }
    }

    /// How many items of that wave have each of the texts of [`Self::named`]; those behind the last one are 0.
    pub(super) fn counts_of_wave(&self, number: usize) -> Vec<usize> {
        match self {
            Self::ItemList(held) => {
                let wave = held.tally().waves.get_index(number);
                wave.map(|(_, counts)| counts.clone()).unwrap_or_default()
            }
            Self::Packed(pack) => pack.counts_of_wave(number),
        }
    }

    /// How the item at that place is counted.
    pub(super) fn was(&self, at: usize) -> Option<BaseCount> {
        let (_, item) = self.nth(at)?;
        let status = item.text(STATUS);
        Some(BaseCount {
            status: item.status,
            named: self.named().position(|(name, _)| name == status)?,
            wave: self.wave(item.text(WAVE))?,
        })
    }

    /// The places of the items that were skipped.
    pub(super) fn failed(&self) -> Vec<usize> {
        match self {
            Self::ItemList(held) => {
                let all = held.items.values().enumerate();
                all.filter(|(_, item)| item.status == ItemStatus::Failed)
                    .map(|(at, _)| at)
                    .collect()
            }
            Self::Packed(pack) => pack.failed().to_vec(),
        }
    }
}
