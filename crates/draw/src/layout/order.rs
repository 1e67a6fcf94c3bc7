//! The order of the slots in each layer.

use super::layers::Layers;

/// How often all layers are gone through, downwards and upwards in turn.
const SWEEPS: usize = 24;
/// How often neighbours are tried the other way round.
const SWAPS: usize = 8;

/// Orders the slots of each layer so that few arrows cross.
pub(super) fn reduce_crossings(layers: &mut Layers) {
    begin(layers);
    let mut at = vec![0_i64; layers.slots.len()];
    number(&layers.rows, &mut at);
    let mut best = layers.rows.clone();
    let mut fewest = crossings(layers, &at);
    for sweep in 0..SWEEPS {
        if fewest == 0 {
            break;
        }
        let count = layers.rows.len();
        for step in 1..count {
            let downwards = sweep % 2 == 0;
            let row = if downwards { step } else { count - 1 - step };
            sort(layers, row, downwards, &mut at);
        }
        swap(layers, &mut at);
        let crossed = crossings(layers, &at);
        if crossed < fewest {
            fewest = crossed;
            best.clone_from(&layers.rows);
        }
    }
    layers.rows = best;
    number(&layers.rows, &mut at);
    for joined in [&mut layers.below, &mut layers.above] {
        for slots in joined {
            slots.sort_unstable_by_key(|slot| at[*slot]);
        }
    }
}

/// The order in which a walk down from each box comes by.
fn begin(layers: &mut Layers) {
    let mut seen = vec![false; layers.slots.len()];
    for start in 0..layers.slots.len() {
        let mut open = vec![start];
        while let Some(slot) = open.pop() {
            if std::mem::replace(&mut seen[slot], true) {
                continue;
            }
            layers.rows[layers.slots[slot].row].push(slot);
            open.extend(layers.below[slot].iter().rev());
        }
    }
}

fn number(rows: &[Vec<usize>], at: &mut [i64]) {
    for row in rows {
        for (place, slot) in (0..).zip(row) {
            at[*slot] = place;
        }
    }
}

/// By the middle of what each slot is joined to in the layer before; one that is joined to nothing stays.
fn sort(layers: &mut Layers, row: usize, downwards: bool, at: &mut [i64]) {
    const FINE: i64 = 1 << 16;
    let joined = if downwards {
        &layers.above
    } else {
        &layers.below
    };
    let middle = |slot: usize| {
        let others = &joined[slot];
        match i64::try_from(others.len()) {
            Ok(count) if count > 0 => {
                others.iter().map(|other| at[*other]).sum::<i64>() * FINE / count
            }
            _ => at[slot] * FINE,
        }
    };
    let mut keyed: Vec<(i64, i64, usize)> = layers.rows[row]
        .iter()
        .map(|slot| (middle(*slot), at[*slot], *slot))
        .collect();
    keyed.sort_unstable();
    layers.rows[row] = keyed.into_iter().map(|(_, _, slot)| slot).collect();
    for (place, slot) in (0..).zip(&layers.rows[row]) {
        at[*slot] = place;
    }
}

/// Puts neighbours the other way round wherever fewer arrows cross then.
fn swap(layers: &mut Layers, at: &mut [i64]) {
    let (above, below) = (&layers.above, &layers.below);
    for _ in 0..SWAPS {
        let mut better = false;
        for row in &mut layers.rows {
            for place in 1..row.len() {
                let (left, right) = (row[place - 1], row[place]);
                let now = between(&above[left], &above[right], at)
                    + between(&below[left], &below[right], at);
                let then = between(&above[right], &above[left], at)
                    + between(&below[right], &below[left], at);
                if then < now {
                    row.swap(place - 1, place);
                    at.swap(left, right);
                    better = true;
                }
            }
        }
        if !better {
            return;
        }
    }
}

/// How many arrows of a slot cross those of the slot right of it.
fn between(left: &[usize], right: &[usize], at: &[i64]) -> usize {
    // More than this are not compared one by one: both have so many arrows that they cross anyway.
    const MOST: usize = 64;
    left.iter()
        .take(MOST)
        .map(|one| {
            let others = right.iter().take(MOST);
            others.filter(|other| at[**other] < at[*one]).count()
        })
        .sum()
}

/// How many arrows cross in all.
fn crossings(layers: &Layers, at: &[i64]) -> usize {
    let mut sum = 0;
    for pair in layers.rows.windows(2) {
        let [upper, lower] = pair else { continue };
        // For each place of the lower layer, how many arrows end there or left of it: a tree of partial sums.
        let mut ended = vec![0_usize; lower.len() + 1];
        let mut all = 0;
        for slot in upper {
            let mut ends: Vec<usize> = layers.below[*slot]
                .iter()
                .filter_map(|end| usize::try_from(at[*end]).ok())
                .collect();
            ends.sort_unstable();
            for end in &ends {
                let mut place = end + 1;
                let mut left = 0;
                while place > 0 {
                    left += ended[place];
                    place &= place - 1;
                }
                sum += all - left;
            }
            for end in ends {
                let mut place = end + 1;
                while place < ended.len() {
                    ended[place] += 1;
                    place += place & place.wrapping_neg();
                }
                all += 1;
            }
        }
    }
    sum
}
