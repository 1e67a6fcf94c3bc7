//! Filling item sets: all that it takes to be run is there and in order, and waves are cut.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::values::{complete, disorder, key_of, needs_of};
use super::{Planner, Stop};
use crate::command::Facts;
use crate::definition::{Definition, ItemSetDef, LEVEL, SPLIT, STATUS, WAVE, Waves};
use crate::event::{Event, NewItem};
use crate::item_set::{Item, ItemStatus};
use crate::items::{self, Cut, Node, Split};
use crate::state::{ItemSet, RunState};

/// The new content of a set.
pub(super) struct SetContent {
    pub(super) set: String,
    pub(super) items: Vec<Map<String, Value>>,
}

impl Planner<'_> {
    /// What becomes of a set that is filled with `items`, and of the waves it is cut into. An item that was there before
    /// stays where it stands; and waves that were begun stay as they are.
    pub(super) fn filling(
        &self,
        set: &str,
        declared: &ItemSetDef,
        mut items: Vec<Map<String, Value>>,
    ) -> Result<Vec<SetContent>, Stop> {
        let filled = |items| SetContent {
            set: set.to_owned(),
            items,
        };
        let Some(waves) = &declared.waves else {
            in_order(declared, &items)?;
            return Ok(vec![filled(items)]);
        };
        let into = &waves.into.value;
        let known = self.run.sets.get(set);
        if let Some(known) = known {
            for item in &mut items {
                let before = known.get(key_of(declared, item));
                if let Some(status) = before.and_then(|before| before.fields.get(STATUS)) {
                    item.insert(STATUS.to_owned(), status.clone());
                }
            }
        }
        let begun = self.begun(set, into, declared, &items);
        let mut kept: Vec<Map<String, Value>> = begun
            .iter()
            .flat_map(|(_, wave)| wave.texts(set))
            .filter_map(|key| Some(Map::clone(&known?.get(key)?.fields)))
            .collect();
        let stays: HashSet<String> = kept
            .iter()
            .map(|item| key_of(declared, item).to_owned())
            .collect();
        items.retain(|item| !stays.contains(key_of(declared, item)));
        self.rejoin(set, declared, &kept, &mut items);
        let cuts = cut(declared, waves, &items, &stays)?;
        let mut number = begun.iter().map(|(id, _)| number_of(id)).max().unwrap_or(0);
        let level = begun
            .iter()
            .map(|(_, wave)| level_of(wave))
            .max()
            .unwrap_or(0);
        let mut cut: Vec<Map<String, Value>> = begun
            .iter()
            .map(|(_, wave)| Map::clone(&wave.fields))
            .collect();
        let stem = waves.named.as_ref().unwrap_or(&waves.into);
        for one in cuts {
            number += 1;
            let id = format!("{}-{number}", stem.value);
            let keys: Vec<Value> = one
                .items
                .iter()
                .map(|at| Value::from(key_of(declared, &items[*at])))
                .collect();
            let why = one
                .split
                .as_ref()
                .map(|split| spoken(split, declared, &items))
                .unwrap_or_default();
            for at in one.items {
                items[at].insert(WAVE.to_owned(), id.as_str().into());
            }
            let mut wave = Map::new();
            wave.insert("id".to_owned(), id.into());
            wave.insert(set.to_owned(), keys.into());
            wave.insert(LEVEL.to_owned(), (level + one.level as u64).into());
            wave.insert(SPLIT.to_owned(), why.into());
            let status = self
                .definition
                .items
                .get(into)
                .and_then(|waves| waves.fields.get(STATUS));
            let status = status.map_or_else(|| Value::from(""), crate::definition::Field::empty);
            wave.insert(STATUS.to_owned(), status);
            cut.push(wave);
        }
        kept.extend(items);
        Ok(vec![
            filled(kept),
            SetContent {
                set: into.clone(),
                items: cut,
            },
        ])
    }

    /// The waves that stay as they are: those that were begun, and those that were passed over in between, so that the others
    /// keep their places. One of these stays as long as all of its items rest on what a finished wave has skipped.
    fn begun(
        &self,
        set: &str,
        into: &str,
        declared: &ItemSetDef,
        items: &[Map<String, Value>],
    ) -> Vec<(&str, &Item)> {
        let Some(waves) = self.run.sets.get(into) else {
            return Vec::new();
        };
        let last = waves
            .iter()
            .filter(|(_, wave)| wave.status != ItemStatus::Open)
            .count();
        let mut seen = 0;
        let mut lost = None;
        waves
            .iter()
            .filter(|(_, wave)| {
                if wave.status != ItemStatus::Open {
                    seen += 1;
                    return true;
                }
                seen < last && {
                    let lost =
                        lost.get_or_insert_with(|| self.lost_for_good(set, waves, declared, items));
                    wave.texts(set).all(|key| lost.contains(key))
                }
            })
            .collect()
    }

    /// The keys of `items` that rest on what a finished wave has skipped, as they are now.
    fn lost_for_good(
        &self,
        set: &str,
        waves: &ItemSet,
        declared: &ItemSetDef,
        items: &[Map<String, Value>],
    ) -> HashSet<String> {
        let known = self.run.sets.get(set);
        let skipped: HashSet<&str> = waves
            .iter()
            .filter(|(_, wave)| wave.status == ItemStatus::Done)
            .flat_map(|(_, wave)| wave.texts(set))
            .filter(|key| {
                let item = known.and_then(|known| known.get(key));
                item.is_some_and(|item| item.status == ItemStatus::Failed)
            })
            .collect();
        let needs: Vec<Vec<String>> = items.iter().map(|item| needs_of(declared, item)).collect();
        let nodes = nodes(declared, items.iter(), &needs);
        let roots: Vec<usize> = (0..nodes.len())
            .filter(|at| skipped.contains(nodes[*at].key))
            .collect();
        let lost = items::dependents_of(&nodes, &roots);
        nodes
            .iter()
            .zip(lost)
            .filter(|(_, lost)| *lost)
            .map(|(node, _)| node.key.to_owned())
            .collect()
    }

    /// What stays may need what was passed over, and is blocked as long as that is known: it stays too.
    fn rejoin(
        &self,
        set: &str,
        declared: &ItemSetDef,
        kept: &[Map<String, Value>],
        items: &mut Vec<Map<String, Value>>,
    ) {
        let Some(known) = self.run.sets.get(set) else {
            return;
        };
        let all = kept.iter().chain(items.iter());
        let mut there: HashSet<String> =
            all.map(|item| key_of(declared, item).to_owned()).collect();
        let mut needed: Vec<String> = kept
            .iter()
            .flat_map(|item| needs_of(declared, item))
            .collect();
        while let Some(need) = needed.pop() {
            if there.contains(&need) {
                continue;
            }
            if let Some(item) = known.get(&need) {
                needed.extend(needs_of(declared, &item.fields));
                items.push(Map::clone(&item.fields));
            }
            there.insert(need);
        }
    }

    /// An item with every declared field. It stands where it is said to stand, else where it stood.
    pub(super) fn completed(
        &self,
        set: &str,
        declared: &ItemSetDef,
        given: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Stop> {
        let mut item = complete(declared, given)?;
        if declared.status.is_some()
            && !given.contains_key(STATUS)
            && let Some(known) = self.run.sets.get(set)
            && let Some(before) = known.get(key_of(declared, &item))
            && let Some(status) = before.fields.get(STATUS)
        {
            item.insert(STATUS.to_owned(), status.clone());
        }
        Ok(item)
    }

    /// Journals the new content of sets, as far as it is new.
    pub(super) fn fill(&mut self, filled: Vec<SetContent>) {
        for SetContent { set, items } in filled {
            let definition = self.definition;
            let Some(declared) = definition.items.get(&set) else {
                continue;
            };
            let as_it_is = self.run.sets.get(&set).is_some_and(|known| {
                known.len() == items.len()
                    && known
                        .iter()
                        .zip(&items)
                        .all(|((_, item), new)| *item.fields == *new)
            });
            if as_it_is {
                continue;
            }
            let items = items.into_iter().map(|item| new_item(declared, item));
            self.push(Event::ItemsLoaded {
                set,
                items: items.collect(),
            });
        }
        self.loosen();
    }

    /// Cursors that point at an item that is gone point at none.
    fn loosen(&mut self) {
        let mut lost = self.run.vars.clone();
        lost.retain(|name, key| self.is_lost(name, key));
        for key in lost.values_mut() {
            *key = Value::from("");
        }
        if !lost.is_empty() {
            self.push(Event::VarsChanged {
                values: lost,
                keep: Map::new(),
            });
        }
    }

    /// Whether `key` is the key of no item, where the var of that name is a cursor.
    pub(super) fn is_lost(&self, name: &str, key: &Value) -> bool {
        let Some((set, _)) = self.definition.cursor(name) else {
            return false;
        };
        let items = self.run.sets.get(set);
        key.as_str().is_some_and(|key| {
            !key.is_empty() && items.is_none_or(|items| items.get(key).is_none())
        })
    }

    /// The fields of all items of a set.
    pub(super) fn all_of(&self, set: &str) -> Vec<Map<String, Value>> {
        let items = self.run.sets.get(set).into_iter().flat_map(ItemSet::iter);
        items.map(|(_, item)| Map::clone(&item.fields)).collect()
    }

    /// Adds an item to those of a set, which stay in order, and are cut anew where they are cut at all.
    pub(super) fn filled_up(
        &mut self,
        set: &str,
        declared: &ItemSetDef,
        item: Map<String, Value>,
    ) -> Result<(), Stop> {
        let mut all = self.all_of(set);
        all.push(item.clone());
        if declared.waves.is_some() {
            let filled = self.filling(set, declared, all)?;
            self.fill(filled);
        } else {
            in_order(declared, &all)?;
            self.add_item(set.to_owned(), item);
        }
        Ok(())
    }

    /// Journals a new item, with where it stands.
    pub(super) fn add_item(&mut self, set: String, item: Map<String, Value>) {
        let Some(declared) = self.definition.items.get(&set) else {
            return;
        };
        let item = new_item(declared, item);
        self.push(Event::ItemAdded { set, item });
    }

    /// Journals a change of an item, with what it means for where it stands.
    pub(super) fn change_item(&mut self, set: String, key: String, fields: Map<String, Value>) {
        let status = fields
            .get(STATUS)
            .and_then(Value::as_str)
            .and_then(|status| {
                let declared = self.definition.items.get(&set)?;
                declared.status.as_ref()?.meaning(status)
            });
        self.push(Event::ItemChanged {
            set,
            key,
            fields,
            status,
            reason: None,
        });
    }
}

/// The run as it would be if a set that is cut into waves were filled with these items; none where it is not cut, or could not be.
pub fn foresee_filled(
    definition: &Definition,
    run: &RunState,
    set: &str,
    items: &[Map<String, Value>],
) -> Option<RunState> {
    let declared = definition.items.get(set)?;
    declared.waves.as_ref()?;
    let facts = Facts::default();
    let mut planner = Planner::new(definition, run, &facts);
    let items: Result<Vec<_>, Stop> = items.iter().map(|item| complete(declared, item)).collect();
    let filled = planner.filling(set, declared, items.ok()?).ok()?;
    planner.fill(filled);
    Some(planner.run)
}

fn cut(
    declared: &ItemSetDef,
    waves: &Waves,
    items: &[Map<String, Value>],
    stays: &HashSet<String>,
) -> Result<Vec<Cut>, Stop> {
    let needs: Vec<Vec<String>> = items
        .iter()
        .map(|item| {
            let mut needs = needs_of(declared, item);
            needs.retain(|need| !stays.contains(need));
            needs
        })
        .collect();
    let touches: Vec<Vec<&str>> = items
        .iter()
        .map(|item| {
            let fields = waves.apart.0.iter();
            let listed = fields.filter_map(|field| item.get(&field.value)?.as_array());
            listed.flatten().filter_map(Value::as_str).collect()
        })
        .collect();
    let alone = alone(waves, items)?;
    items::cut(&nodes(declared, items.iter(), &needs), &touches, &alone)
        .map_err(|fault| disorder(&fault))
}

/// Which items must have a wave of their own. Items that look alike to the expression are asked once.
fn alone(waves: &Waves, items: &[Map<String, Value>]) -> Result<Vec<bool>, Stop> {
    let Some(guard) = &waves.alone else {
        return Ok(vec![false; items.len()]);
    };
    let paths = guard.paths()?;
    let fields: Vec<&str> = paths
        .iter()
        .filter(|path| path[0] == "it")
        .filter_map(|path| path.get(1).map(String::as_str))
        .collect();
    let whole = paths.iter().any(|path| path.len() < 2);
    let mut known: HashMap<String, bool> = HashMap::new();
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        let seen: Vec<Option<&Value>> = fields.iter().map(|field| item.get(*field)).collect();
        let seen = serde_json::to_string(&seen).unwrap_or_default();
        if let Some(is) = known.get(&seen).filter(|_| !whole) {
            all.push(*is);
            continue;
        }
        let mut scope = Map::new();
        scope.insert("it".to_owned(), Value::Object(item.clone()));
        let is = guard.holds(&scope)?;
        known.insert(seen, is);
        all.push(is);
    }
    Ok(all)
}

/// Items that could never all be run are refused before the first of them is begun.
fn in_order(declared: &ItemSetDef, items: &[Map<String, Value>]) -> Result<(), Stop> {
    let needs: Vec<Vec<String>> = items.iter().map(|item| needs_of(declared, item)).collect();
    items::waves(&nodes(declared, items.iter(), &needs))
        .map(|_| ())
        .map_err(|fault| disorder(&fault))
}

fn nodes<'a>(
    declared: &ItemSetDef,
    items: impl Iterator<Item = &'a Map<String, Value>>,
    needs: &'a [Vec<String>],
) -> Vec<Node<'a>> {
    items
        .zip(needs)
        .map(|(item, needs)| Node {
            key: key_of(declared, item),
            needs,
        })
        .collect()
}

/// The number at the end of a wave's key.
fn number_of(id: &str) -> usize {
    let number = id.rsplit('-').next().unwrap_or_default();
    number.parse().unwrap_or(0)
}

fn level_of(wave: &Item) -> u64 {
    wave.fields.get(LEVEL).and_then(Value::as_u64).unwrap_or(0)
}

/// Why a wave is not all of its level, for people.
fn spoken(split: &Split, declared: &ItemSetDef, items: &[Map<String, Value>]) -> String {
    match split {
        Split::Alone(at) => format!("{} must be alone", key_of(declared, &items[*at])),
        Split::Apart(at, what) => {
            let key = key_of(declared, &items[*at]);
            format!("{key} has {what} in common with one before")
        }
    }
}

/// An item as it comes into a set, with where it stands by its own status.
fn new_item(declared: &ItemSetDef, fields: Map<String, Value>) -> NewItem {
    let status = fields.get(STATUS).and_then(Value::as_str);
    NewItem {
        key: key_of(declared, &fields).to_owned(),
        status: status.map_or(ItemStatus::Open, |status| declared.meaning(status)),
        fields,
    }
}
