//! Tasks of a flat list, below those that they belong to.

use std::collections::{BTreeMap, HashMap, HashSet};

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
    let parents: HashMap<String, String> = all
        .iter()
        .filter_map(|(task, parent)| {
            let parent = parent.as_ref().filter(|parent| keys.contains(parent))?;
            Some((task.key.clone(), parent.clone()))
        })
        .collect();
    let mut roots: Vec<String> = Vec::new();
    let mut children: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut tasks: HashMap<String, ImportedTask> = HashMap::new();
    for (task, _) in all {
        let key = task.key.clone();
        match parents
            .get(&key)
            .filter(|_| !leads_into_a_circle(&key, &parents))
        {
            Some(parent) => children.entry(parent).or_default().push(key.clone()),
            None => roots.push(key.clone()),
        }
        tasks.insert(key, task);
    }
    roots
        .iter()
        .filter_map(|key| with_children(key, &mut tasks, &children))
        .collect()
}

fn leads_into_a_circle(key: &str, parents: &HashMap<String, String>) -> bool {
    let mut seen = HashSet::from([key]);
    let mut at = key;
    while let Some(parent) = parents.get(at) {
        if !seen.insert(parent) {
            return true;
        }
        at = parent;
    }
    false
}

fn with_children(
    key: &str,
    tasks: &mut HashMap<String, ImportedTask>,
    children: &BTreeMap<&str, Vec<String>>,
) -> Option<ImportedTask> {
    let mut task = tasks.remove(key)?;
    for child in children.get(key).into_iter().flatten() {
        task.subtasks.extend(with_children(child, tasks, children));
    }
    Some(task)
}
