//! A run in a snapshot: short however many items it has, with the items of large sets beside it.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::definition::Definition;
use crate::item_set::{FrozenSet, ItemSet, Pack};
use crate::state::RunState;

#[derive(Serialize)]
struct Written<'a> {
    run: &'a RunState,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sets: Vec<FrozenSet>,
}

#[derive(Deserialize)]
struct Read {
    run: RunState,
    #[serde(default)]
    sets: Vec<FrozenSet>,
}

impl RunState {
    /// The text of a snapshot. The items of large sets are handed to `keep`, which says under which name they can
    /// be had again; `None` where it cannot keep them. The run stays the same, and may come to share what was kept.
    pub fn freeze(
        &mut self,
        definition: &Definition,
        mut keep: impl FnMut(&Arc<Pack>) -> Option<String>,
    ) -> Option<String> {
        let mut large = Vec::new();
        for (at, (name, set)) in self.sets.iter_mut().enumerate() {
            let declared = definition.items.get(name.as_str());
            let needs = declared.and_then(|declared| declared.needs.as_ref());
            let needs = needs.map(|needs| needs.value.as_str());
            large.extend(set.freeze(name, at, needs, &mut keep).ok()?);
        }
        let small = |name: &str| large.iter().all(|frozen| frozen.name != name);
        let few: IndexMap<String, ItemSet> = self
            .sets
            .iter()
            .filter(|(name, _)| small(name))
            .map(|(name, set)| (name.clone(), set.clone()))
            .collect();
        let all = std::mem::replace(&mut self.sets, few);
        let text = serde_json::to_string(&Written {
            run: self,
            sets: large,
        });
        self.sets = all;
        text.ok()
    }

    /// The run that [`Self::freeze`] made the text of; `take` brings items by the name that they are kept under.
    /// `None` where the text is none, or anything is missing.
    pub fn thaw(text: &str, mut take: impl FnMut(&str) -> Option<Arc<Pack>>) -> Option<Self> {
        let Read { mut run, sets } = serde_json::from_str(text).ok()?;
        for frozen in sets {
            let (name, at) = (frozen.name.clone(), frozen.at);
            let set = ItemSet::thaw(frozen, &mut take)?;
            if at > run.sets.len() {
                return None;
            }
            run.sets.shift_insert(at, name, set);
        }
        // One of a version that did not count them yet: the journal tells.
        let is_counted = run.transitions == 0 || !run.moves.is_empty();
        is_counted.then_some(run)
    }
}
