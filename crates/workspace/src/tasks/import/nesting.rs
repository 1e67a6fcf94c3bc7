//! Tasks of a flat list, below those that they belong to.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::{Imported, ImportedTask};

/// A task, with the key of the one that it belongs to.
pub(super) type FlatTask = (ImportedTask, Option<String>);

impl Imported {
    /// Takes in tasks of a flat list, each below its parent. What waits for one that is not there does not wait for it. Keys are unique.
    pub(super) fn nest(&mut self, mut all: Vec<FlatTask>) {
        let known: HashSet<String> = all.iter().map(|(task, _)| task.key.clone()).collect();
        for (task, _) in &mut all {
            for needed in task.dependencies.extract_if(.., |id| !known.contains(id)) {
                let message = format!("`{}` waits for `{needed}`, which is not there", task.key);
                self.problem(&task.file, task.line, message);
            }
        }
        self.tasks = below_their_parents(all);
    }
}

/// Each task below its parent, in order. It stands alone where its parent is not there, or where its parents lead round in a circle: none
/// is lost.
fn below_their_parents(all: Vec<FlatTask>) -> Vec<ImportedTask> {
    let keys: HashSet<&String> = all.iter().map(|(task, _)| &task.key).collect();
    let parents = all.iter().filter_map(|(task, parent)| {
        let parent = parent.clone().filter(|parent| keys.contains(parent))?;
        Some((task.key.clone(), parent))
    });
    let parents: HashMap<String, String> = parents.collect();
    let depth = |key: &String| {
        let mut above = vec![key];
        while let Some(parent) = parents.get(above[above.len() - 1]) {
            if above.contains(&parent) {
                return 0;
            }
            above.push(parent);
        }
        above.len() - 1
    };
    let mut tasks: IndexMap<String, ImportedTask> = all
        .into_iter()
        .map(|(task, _)| (task.key.clone(), task))
        .collect();
    let mut order: Vec<(usize, String)> =
        tasks.keys().map(|key| (depth(key), key.clone())).collect();
    // What is put below another one has its own parts already.
    order.sort_by_key(|(depth, _)| Reverse(*depth));
    for (_, key) in order.iter().filter(|(depth, _)| *depth > 0) {
        let task = tasks.get_mut(key).map(std::mem::take);
        if let Some(parent) = tasks.get_mut(&parents[key]) {
            parent.subtasks.extend(task);
        }
    }
    tasks.retain(|key, _| depth(key) == 0);
    tasks.into_values().collect()
}
