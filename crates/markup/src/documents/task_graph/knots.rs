//! Cycles among tasks, without recursion: a chain of dependencies may be as long as its document.

use std::collections::VecDeque;

/// Not seen yet.
const NEW: u32 = u32::MAX;

/// One cycle of every knot, that is, of every set of nodes that all need one another. Each begins and ends with the first of
/// its nodes and is as short as it can be; each node needs the next.
pub(super) fn cycles(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let knots = knots(needs);
    let mut knot_of = vec![usize::MAX; needs.len()];
    for (number, knot) in knots.iter().enumerate() {
        for &node in knot {
            knot_of[node] = number;
        }
    }
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut came_from = vec![usize::MAX; needs.len()];
    for knot in &knots {
        if let Some(&start) = knot.iter().min()
            && let Some(cycle) = around(start, needs, &knot_of, &mut came_from)
        {
            found.push(cycle);
        }
    }
    found.sort();
    found
}

/// The shortest way from `start` back to it within its knot.
fn around(
    start: usize,
    needs: &[Vec<usize>],
    knot_of: &[usize],
    came_from: &mut [usize],
) -> Option<Vec<usize>> {
    let mut next = VecDeque::from([start]);
    while let Some(node) = next.pop_front() {
        for &needed in &needs[node] {
            if needed == start {
                let mut path = vec![start, node];
                let mut at = node;
                while at != start {
                    at = came_from[at];
                    path.push(at);
                }
                path.reverse();
                return Some(path);
            }
            if knot_of[needed] == knot_of[start] && came_from[needed] == usize::MAX {
                came_from[needed] = node;
                next.push_back(needed);
            }
        }
    }
    None
}

/// The sets of nodes that all need one another, those of one node left out unless it needs itself. (Tarjan's way.)
fn knots(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut order = vec![NEW; needs.len()];
    let mut low = vec![NEW; needs.len()];
    let mut waits = vec![false; needs.len()];
    let mut waiting = Vec::new();
    let mut knots = Vec::new();
    let mut count = 0;
    // A node, and which of its needs comes next.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..needs.len() {
        if order[root] != NEW {
            continue;
        }
        path.push((root, 0));
        while let Some((node, at)) = path.last_mut() {
            let node = *node;
            if *at == 0 {
                order[node] = count;
                low[node] = count;
                count += 1;
                waiting.push(node);
                waits[node] = true;
            }
            if let Some(&needed) = needs[node].get(*at) {
                *at += 1;
                if order[needed] == NEW {
                    path.push((needed, 0));
                } else if waits[needed] {
                    low[node] = low[node].min(order[needed]);
                }
                continue;
            }
            path.pop();
            if let Some((above, _)) = path.last() {
                low[*above] = low[*above].min(low[node]);
            }
            if low[node] == order[node] {
                let mut knot = Vec::new();
                while let Some(member) = waiting.pop() {
                    waits[member] = false;
                    knot.push(member);
                    if member == node {
                        break;
                    }
                }
                if knot.len() > 1 || needs[node].contains(&node) {
                    knots.push(knot);
                }
            }
        }
    }
    knots
}
