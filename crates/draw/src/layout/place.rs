//! How far from the left each slot lies.
//!
//! Slots that an arrow joins are stacked into columns, so that the arrow runs straight, and the columns are pushed
//! together. That is done four times, for it prefers one side and one direction; the place of a slot is the middle of
//! the four. The method is known by the names of Brandes and Köpf.

use std::collections::HashSet;

use super::BESIDE;
use super::layers::Layers;

/// The anchor of each slot. Slots of a layer keep their order and their distance.
pub(super) fn across(layers: &Layers) -> Vec<i64> {
    let bent = bent(layers);
    let mut four: Vec<Vec<i64>> = Vec::with_capacity(4);
    for upwards in [false, true] {
        for from_right in [false, true] {
            let view = View::of(layers, upwards, from_right);
            let columns = columns(&view, &bent);
            let mut x = pushed_together(&view, &columns);
            if from_right {
                for one in &mut x {
                    *one = -*one;
                }
            }
            four.push(x);
        }
    }
    in_line(layers, &mut four);
    (0..layers.slots.len())
        .map(|slot| {
            let mut values: Vec<i64> = four.iter().map(|x| x[slot]).collect();
            values.sort_unstable();
            i64::midpoint(values[1], values[2])
        })
        .collect()
}

/// Joined slots that do not get to stand in one column, since they cross an arrow that passes both layers: that one
/// is to be the straight one.
fn bent(layers: &Layers) -> HashSet<(usize, usize)> {
    let mut bent = HashSet::new();
    let mut place = vec![0_usize; layers.slots.len()];
    for row in &layers.rows {
        for (at, slot) in row.iter().enumerate() {
            place[*slot] = at;
        }
    }
    let passes = |slot: usize| layers.slots[slot].node.is_none();
    let passing = |slot: usize| {
        let first = layers.above[slot].first().copied();
        first.filter(|above| passes(slot) && passes(*above))
    };
    for pair in layers.rows.windows(2) {
        let [upper, lower] = pair else { continue };
        let (mut left, mut done) = (0, 0);
        for (at, slot) in lower.iter().enumerate() {
            let through = passing(*slot);
            if through.is_none() && at + 1 < lower.len() {
                continue;
            }
            let right = through.map_or(upper.len(), |above| place[above]);
            for one in &lower[done..=at] {
                for above in &layers.above[*one] {
                    let crosses = place[*above] < left || place[*above] > right;
                    if crosses && !(passes(*one) && passes(*above)) {
                        bent.insert((*above, *one));
                    }
                }
            }
            done = at + 1;
            left = right;
        }
    }
    bent
}

/// The layers as they look from one of four sides.
struct View {
    rows: Vec<Vec<usize>>,
    /// What each slot is joined to in the row before, from left to right.
    before: Vec<Vec<usize>>,
    /// How far each slot reaches to either side.
    reach: Vec<(i64, i64)>,
    upwards: bool,
}

impl View {
    fn of(layers: &Layers, upwards: bool, from_right: bool) -> Self {
        let mut rows = layers.rows.clone();
        let mut before = if upwards {
            layers.below.clone()
        } else {
            layers.above.clone()
        };
        if upwards {
            rows.reverse();
        }
        if from_right {
            for row in rows.iter_mut().chain(&mut before) {
                row.reverse();
            }
        }
        let reach = layers
            .slots
            .iter()
            .map(|slot| {
                let (left, right) = (slot.extent.left, slot.extent.right);
                if from_right {
                    (right, left)
                } else {
                    (left, right)
                }
            })
            .collect();
        Self {
            rows,
            before,
            reach,
            upwards,
        }
    }
}

/// For each slot the first one of its column.
fn columns(view: &View, bent: &HashSet<(usize, usize)>) -> Vec<usize> {
    let count = view.before.len();
    let mut column: Vec<usize> = (0..count).collect();
    let mut place = vec![0_usize; count];
    for row in &view.rows {
        for (at, slot) in row.iter().enumerate() {
            place[*slot] = at;
        }
        // Columns must not cross, so each begins right of the one before.
        let mut free = 0;
        for slot in row {
            let others = &view.before[*slot];
            let Some(last) = others.len().checked_sub(1) else {
                continue;
            };
            for other in &others[last / 2..=last.div_ceil(2)] {
                let pair = if view.upwards {
                    (*slot, *other)
                } else {
                    (*other, *slot)
                };
                if place[*other] >= free && !bent.contains(&pair) {
                    column[*slot] = column[*other];
                    free = place[*other] + 1;
                    break;
                }
            }
        }
    }
    column
}

/// Every column as far to the left as those left of it let it, then as far to the right as those right of it do.
fn pushed_together(view: &View, column: &[usize]) -> Vec<i64> {
    let count = column.len();
    let mut right_of: Vec<Vec<(usize, i64)>> = vec![Vec::new(); count];
    let mut waits_for = vec![0_usize; count];
    for row in &view.rows {
        for pair in row.windows(2) {
            let [left, right] = pair else { continue };
            let apart = view.reach[*left].1 + BESIDE + view.reach[*right].0;
            right_of[column[*left]].push((column[*right], apart));
            waits_for[column[*right]] += 1;
        }
    }
    let mut x = vec![0_i64; count];
    let mut sorted: Vec<usize> = (0..count)
        .filter(|one| column[*one] == *one && waits_for[*one] == 0)
        .collect();
    let mut done = 0;
    while let Some(left) = sorted.get(done).copied() {
        done += 1;
        for (right, apart) in &right_of[left] {
            x[*right] = x[*right].max(x[left] + apart);
            waits_for[*right] -= 1;
            if waits_for[*right] == 0 {
                sorted.push(*right);
            }
        }
    }
    for left in sorted.into_iter().rev() {
        let nearest = right_of[left]
            .iter()
            .map(|(right, apart)| x[*right] - apart)
            .min();
        if let Some(nearest) = nearest {
            x[left] = x[left].max(nearest);
        }
    }
    (0..count).map(|slot| x[column[slot]]).collect()
}

/// Moves the four so that they share a border with the narrowest of them: the left one where all was pushed to the left,
/// the right one where all was pushed to the right.
fn in_line(layers: &Layers, four: &mut [Vec<i64>]) {
    let borders = |x: &[i64]| {
        let mut borders = (i64::MAX, i64::MIN);
        for (x, slot) in x.iter().zip(&layers.slots) {
            borders.0 = borders.0.min(x - slot.extent.left);
            borders.1 = borders.1.max(x + slot.extent.right);
        }
        borders
    };
    let all: Vec<(i64, i64)> = four.iter().map(|x| borders(x)).collect();
    let Some(narrowest) = all
        .iter()
        .min_by_key(|(left, right)| right.saturating_sub(*left))
        .copied()
    else {
        return;
    };
    for (number, x) in four.iter_mut().enumerate() {
        let shift = if number % 2 == 0 {
            narrowest.0.saturating_sub(all[number].0)
        } else {
            narrowest.1.saturating_sub(all[number].1)
        };
        for one in x {
            *one = one.saturating_add(shift);
        }
    }
}
