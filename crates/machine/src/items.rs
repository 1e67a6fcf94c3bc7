//! Items and what they need: order, waves and cycles, in time linear in items and dependencies.

use std::collections::HashMap;

use crate::overlap::{Entries, Touched};

/// An item for the purpose of ordering: its key and the keys it needs.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// The item's key.
    pub key: &'a str,
    /// The keys of the items that must be done before it.
    pub needs: &'a [String],
}

/// Why items cannot be put in order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderFault {
    /// Two items have one key.
    #[error("the id {0} is used twice")]
    Duplicate(String),
    /// A dependency names no item.
    #[error("{item} depends on {needs}, which does not exist")]
    Unknown {
        /// The item.
        item: String,
        /// What it names.
        needs: String,
    },
    /// An item needs itself.
    #[error("{0} depends on itself")]
    Itself(String),
    /// Items need each other in a circle.
    #[error("dependencies go round in a circle: {}", .0.join(" → "))]
    Cycle(Vec<String>),
}

/// The items in waves: every item stands in the first wave in which all it needs is done. Within a
/// wave the given order is kept.
///
/// # Errors
/// The first fault found, with the ids it concerns; a cycle with its path.
pub fn waves(nodes: &[Node<'_>]) -> Result<Vec<Vec<usize>>, OrderFault> {
    let mut index: HashMap<&str, usize> = HashMap::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        if index.insert(node.key, at).is_some() {
            return Err(OrderFault::Duplicate(node.key.to_owned()));
        }
    }
    let mut waiting = vec![0_usize; nodes.len()];
    let mut resolved = Vec::with_capacity(nodes.iter().map(|node| node.needs.len()).sum());
    for (at, node) in nodes.iter().enumerate() {
        for need in node.needs {
            let Some(&needed) = index.get(need.as_str()) else {
                return Err(OrderFault::Unknown {
                    item: node.key.to_owned(),
                    needs: need.clone(),
                });
            };
            if needed == at {
                return Err(OrderFault::Itself(node.key.to_owned()));
            }
            waiting[at] += 1;
            resolved.push((needed, at));
        }
    }
    let dependents = Dependents::new(nodes.len(), &resolved);

    let mut all = Vec::new();
    let mut wave: Vec<usize> = (0..nodes.len()).filter(|at| waiting[*at] == 0).collect();
    let mut placed = 0;
    while !wave.is_empty() {
        placed += wave.len();
        let mut next = Vec::new();
        for &at in &wave {
            for &dependent in dependents.of(at) {
                waiting[dependent] -= 1;
                if waiting[dependent] == 0 {
                    next.push(dependent);
                }
            }
        }
        next.sort_unstable();
        all.push(std::mem::replace(&mut wave, next));
    }
    if placed == nodes.len() {
        return Ok(all);
    }
    Err(OrderFault::Cycle(cycle(nodes, &index, &waiting)))
}

/// A wave in the making: items that can be run side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The level it belongs to, from 1: how many waves would have to come before it at least.
    pub level: usize,
    /// Its items, in the given order.
    pub items: Vec<usize>,
    /// Why it is not all of its level.
    pub split: Option<Split>,
}

/// Why two items of one level stand in different waves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// This item has a wave of its own.
    Alone(usize),
    /// This item has this in common with one of the wave before.
    Apart(usize, String),
}

/// The items in waves, where items of one level that have something in common, or must be alone, stand
/// in different ones. `touches` lists what each of them touches.
///
/// Each item takes the first wave of its level that is behind all items with which it has something in
/// common; those that must be alone come after the others. So the time is linear, whatever they have in
/// common, and the order within a level is kept as far as possible.
///
/// # Errors
/// As [`waves`].
pub fn cut(
    nodes: &[Node<'_>],
    touches: &[Vec<&str>],
    alone: &[bool],
) -> Result<Vec<Cut>, OrderFault> {
    let entries = Entries::new(touches.iter().flatten().copied());
    let mut all = Vec::new();
    for (level, items) in waves(nodes)?.into_iter().enumerate() {
        let level = level + 1;
        let begin = all.len();
        let mut touched = Touched::default();
        let (together, apart): (Vec<usize>, Vec<usize>) = items
            .into_iter()
            .partition(|at| !alone.get(*at).copied().unwrap_or(false));
        for at in together {
            let own = touches.get(at).map_or(&[][..], Vec::as_slice);
            let behind = entries.behind(&touched, own);
            let wave = behind.map_or(0, |(wave, _)| wave + 1);
            if begin + wave == all.len() {
                all.push(Cut {
                    level,
                    items: Vec::new(),
                    split: behind.map(|(_, what)| Split::Apart(at, what.to_owned())),
                });
            }
            all[begin + wave].items.push(at);
            entries.touch(&mut touched, own, wave);
        }
        for at in apart {
            let split = (all.len() > begin).then_some(Split::Alone(at));
            all.push(Cut {
                level,
                items: vec![at],
                split,
            });
        }
    }
    Ok(all)
}

/// A circle among the items that no wave could take: from any of them, going on to a need that is
/// itself stuck must come back to where it was.
fn cycle(nodes: &[Node<'_>], index: &HashMap<&str, usize>, waiting: &[usize]) -> Vec<String> {
    let Some(start) = waiting.iter().position(|open| *open > 0) else {
        return Vec::new();
    };
    let mut seen_at: HashMap<usize, usize> = HashMap::new();
    let mut path = Vec::new();
    let mut at = start;
    loop {
        if let Some(first) = seen_at.get(&at) {
            let mut names: Vec<String> = path[*first..]
                .iter()
                .map(|&at: &usize| nodes[at].key.to_owned())
                .collect();
            names.push(nodes[at].key.to_owned());
            return names;
        }
        seen_at.insert(at, path.len());
        path.push(at);
        let stuck = nodes[at]
            .needs
            .iter()
            .filter_map(|need| index.get(need.as_str()).copied())
            .find(|need| waiting[*need] > 0);
        match stuck {
            Some(next) => at = next,
            None => return path.iter().map(|&at| nodes[at].key.to_owned()).collect(),
        }
    }
}

/// Everything that depends, directly or not, on one of `roots`.
pub fn dependents_of(nodes: &[Node<'_>], roots: &[usize]) -> Vec<bool> {
    let index: HashMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (node.key, at))
        .collect();
    let mut needs = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let needed = node
            .needs
            .iter()
            .filter_map(|need| index.get(need.as_str()));
        needs.extend(needed.map(|needed| (*needed, at)));
    }
    reached(nodes.len(), &needs, roots)
}

/// Everything that depends, directly or not, on one of `roots`, where `needs` are pairs of what is
/// needed and what needs it.
pub(crate) fn reached(count: usize, needs: &[(usize, usize)], roots: &[usize]) -> Vec<bool> {
    let dependents = Dependents::new(count, needs);
    reached_by(count, roots, |at| dependents.of(at).iter().copied())
}

/// The same, where `dependents` says what needs an item.
pub(crate) fn reached_by<I: IntoIterator<Item = usize>>(
    count: usize,
    roots: &[usize],
    dependents: impl Fn(usize) -> I,
) -> Vec<bool> {
    let mut reached = vec![false; count];
    let mut open = roots.to_vec();
    while let Some(at) = open.pop() {
        for dependent in dependents(at) {
            if let Some(reached) = reached.get_mut(dependent).filter(|reached| !**reached) {
                *reached = true;
                open.push(dependent);
            }
        }
    }
    reached
}

/// Who needs whom, in one flat list with offsets: fifty thousand small vectors cost more than the
/// work.
struct Dependents {
    starts: Vec<usize>,
    all: Vec<usize>,
}

impl Dependents {
    fn new(count: usize, needs: &[(usize, usize)]) -> Self {
        let mut starts = vec![0_usize; count + 1];
        for (needed, _) in needs {
            starts[needed + 1] += 1;
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut fill = starts.clone();
        let mut all = vec![0_usize; needs.len()];
        for (needed, at) in needs {
            all[fill[*needed]] = *at;
            fill[*needed] += 1;
        }
        Self { starts, all }
    }

    fn of(&self, at: usize) -> &[usize] {
        &self.all[self.starts[at]..self.starts[at + 1]]
    }
}
