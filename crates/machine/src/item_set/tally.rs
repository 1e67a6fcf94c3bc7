//! How many items of a set stand where.

use indexmap::IndexMap;

use super::{Item, ItemStatus};
use crate::definition::{STATUS, WAVE};

/// How many items stand where: as a whole, by the text of their status, and the same of each wave.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// Open, active, done, failed.
    pub(super) standing: [usize; 4],
    /// By the text of the status.
    pub(super) named: IndexMap<String, usize>,
    /// By wave: the counts of the same texts, in the same order; those behind the last one are 0.
    pub(super) waves: IndexMap<String, Vec<usize>>,
}

/// The place of a status among the counts.
pub(super) fn place(status: ItemStatus) -> usize {
    match status {
        ItemStatus::Open => 0,
        ItemStatus::Active => 1,
        ItemStatus::Done => 2,
        ItemStatus::Failed => 3,
    }
}

impl Tally {
    pub(super) fn of<'a>(items: impl Iterator<Item = &'a Item>) -> Self {
        let mut tally = Self::default();
        for item in items {
            tally.standing[place(item.status)] += 1;
            let named = counted(&mut tally.named, item.text(STATUS), 1);
            let counts = match tally.waves.get_mut(item.text(WAVE)) {
                Some(counts) => counts,
                None => tally.waves.entry(item.text(WAVE).to_owned()).or_default(),
            };
            if counts.len() <= named {
                counts.resize(named + 1, 0);
            }
            counts[named] += 1;
        }
        tally
    }
}

/// Adds `more` to the count of `name`, and says where it stands.
fn counted(counts: &mut IndexMap<String, usize>, name: &str, more: usize) -> usize {
    if let Some((at, _, count)) = counts.get_full_mut(name) {
        *count += more;
        return at;
    }
    counts.insert_full(name.to_owned(), more).0
}
