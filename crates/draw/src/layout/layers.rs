//! Boxes in layers, and slots for the arrows that pass them.

use super::{Extent, Link, MOST_SLOTS};

/// A place in a layer: a box, or where an arrow passes. The slots of the boxes come first, by their numbers.
#[derive(Debug)]
pub(super) struct Slot {
    /// How much room it takes.
    pub(super) extent: Extent,
    /// Its layer.
    pub(super) row: usize,
    /// The box that stands there; an arrow passes if none does.
    pub(super) node: Option<usize>,
    /// Whether it has the arrow's words.
    pub(super) has_words: bool,
}

/// An arrow's way down through the layers.
#[derive(Debug)]
pub(super) struct Chain {
    /// The box above.
    pub(super) upper: usize,
    /// The box below.
    pub(super) lower: usize,
    /// The slots between, downwards. There is always one.
    pub(super) bends: Vec<usize>,
    /// Whether the arrow leads upwards.
    pub(super) turned: bool,
}

/// Slots in layers.
#[derive(Debug)]
pub(super) struct Layers {
    /// All slots.
    pub(super) slots: Vec<Slot>,
    /// The slots of each layer, from left to right.
    pub(super) rows: Vec<Vec<usize>>,
    /// What each slot is joined to in the layer below it.
    pub(super) below: Vec<Vec<usize>>,
    /// What each slot is joined to in the layer above it.
    pub(super) above: Vec<Vec<usize>>,
    /// The arrows.
    pub(super) chains: Vec<Chain>,
}

/// Gives every box a layer and every arrow its slots. Nothing if there are too many.
pub(super) fn assign(boxes: &[Extent], links: &[Link]) -> Option<Layers> {
    if boxes.len() + links.len() > MOST_SLOTS {
        return None;
    }
    let turned = leading_back(boxes.len(), links);
    let down: Vec<(usize, usize)> = links
        .iter()
        .zip(&turned)
        .map(|(link, turned)| {
            if *turned {
                (link.to, link.from)
            } else {
                (link.from, link.to)
            }
        })
        .collect();
    // Every other layer is for words.
    let rank: Vec<usize> = ranks(boxes.len(), &down)
        .into_iter()
        .map(|rank| 2 * rank)
        .collect();
    let passed = down
        .iter()
        .map(|(upper, lower)| rank[*lower] - rank[*upper] - 1);
    if boxes.len() + passed.sum::<usize>() > MOST_SLOTS {
        return None;
    }
    let mut layers = Layers {
        slots: boxes
            .iter()
            .enumerate()
            .map(|(node, extent)| Slot {
                extent: *extent,
                row: rank[node],
                node: Some(node),
                has_words: false,
            })
            .collect(),
        rows: vec![Vec::new(); rank.iter().max().map_or(0, |last| last + 1)],
        below: Vec::new(),
        above: Vec::new(),
        chains: Vec::with_capacity(links.len()),
    };
    for ((link, turned), (upper, lower)) in links.iter().zip(turned).zip(down) {
        // Words stand where the arrow begins.
        let words = if turned {
            rank[lower] - 1
        } else {
            rank[upper] + 1
        };
        let first = layers.slots.len();
        layers
            .slots
            .extend((rank[upper] + 1..rank[lower]).map(|row| Slot {
                extent: if row == words {
                    link.words
                } else {
                    Extent::default()
                },
                row,
                node: None,
                has_words: row == words,
            }));
        layers.chains.push(Chain {
            upper,
            lower,
            bends: (first..layers.slots.len()).collect(),
            turned,
        });
    }
    layers.below = vec![Vec::new(); layers.slots.len()];
    layers.above = vec![Vec::new(); layers.slots.len()];
    for chain in &layers.chains {
        let mut before = chain.upper;
        for slot in chain.bends.iter().copied().chain([chain.lower]) {
            layers.below[before].push(slot);
            layers.above[slot].push(before);
            before = slot;
        }
    }
    Some(layers)
}

/// Which arrows close a circle, walked from the first box on, the boxes in their order: whoever wrote them down
/// put first what comes first.
fn leading_back(count: usize, links: &[Link]) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        Open,
        Over,
    }
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (number, link) in links.iter().enumerate() {
        out[link.from].push(number);
    }
    for numbers in &mut out {
        numbers.sort_by_key(|number| links[*number].to);
    }
    let mut seen = vec![Seen::Not; count];
    let mut back = vec![false; links.len()];
    for start in 0..count {
        if seen[start] != Seen::Not {
            continue;
        }
        seen[start] = Seen::Open;
        let mut path = vec![(start, 0_usize)];
        while let Some((node, next)) = path.last_mut() {
            let Some(number) = out[*node].get(*next).copied() else {
                seen[*node] = Seen::Over;
                path.pop();
                continue;
            };
            *next += 1;
            let to = links[number].to;
            match seen[to] {
                Seen::Open => back[number] = true,
                Seen::Not => {
                    seen[to] = Seen::Open;
                    path.push((to, 0));
                }
                Seen::Over => {}
            }
        }
    }
    back
}

/// The layer of each box: behind all that lead to it. What nothing leads to stands right before what it leads to.
fn ranks(count: usize, down: &[(usize, usize)]) -> Vec<usize> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waits_for = vec![0_usize; count];
    for (upper, lower) in down {
        out[*upper].push(*lower);
        waits_for[*lower] += 1;
    }
    let sources: Vec<usize> = (0..count).filter(|node| waits_for[*node] == 0).collect();
    let mut rank = vec![0_usize; count];
    let mut ready = sources.clone();
    while let Some(node) = ready.pop() {
        for lower in &out[node] {
            rank[*lower] = rank[*lower].max(rank[node] + 1);
            waits_for[*lower] -= 1;
            if waits_for[*lower] == 0 {
                ready.push(*lower);
            }
        }
    }
    for source in sources.into_iter().skip(1) {
        if let Some(first) = out[source].iter().map(|lower| rank[*lower]).min() {
            rank[source] = first.saturating_sub(1);
        }
    }
    rank
}
