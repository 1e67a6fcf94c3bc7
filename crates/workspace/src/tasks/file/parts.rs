//! Subtasks that have subtasks themselves: what is run of them is what has no parts of its own.

use indexmap::IndexMap;

use super::{Document, Node, Splice, Status, TaskError};

/// Deeper than this nobody nests.
const DEEPEST: usize = 8;

/// A subtask, at whatever depth.
pub(super) struct Part<'t> {
    /// Its dotted id, such as `1.2` or `1.2.3`.
    pub(super) id: String,
    /// The id of what it is a part of.
    pub(super) above: String,
    pub(super) node: &'t Node<'t>,
    /// Whether parts of its own are run in its place.
    pub(super) is_group: bool,
    /// Whether it is run, as far as its own status lets it.
    pub(super) is_run: bool,
}

impl<'t> Document<'t> {
    /// All subtasks of a task, those below others behind these. One that is over, or left out, is that as a whole.
    pub(super) fn parts(&self, task: &'t Node<'t>, id: &str) -> Result<Vec<Part<'t>>, TaskError> {
        let mut all = Vec::new();
        self.add_parts(task, id, (DEEPEST, true), &mut all)?;
        Ok(all)
    }

    fn add_parts(
        &self,
        of: &'t Node<'t>,
        above: &str,
        (deeper, is_run): (usize, bool),
        into: &mut Vec<Part<'t>>,
    ) -> Result<(), TaskError> {
        for node in self.subtasks(of, above)? {
            let id = self.subtask_id(node, above)?;
            let status = self.status(node, &format!("subtask {id}"))?;
            let is_open = !status.is_finished() && !status.is_left_out();
            let has_parts = !self.subtasks(node, &id)?.is_empty();
            let is_group = has_parts && is_open && deeper > 0;
            into.push(Part {
                id: id.clone(),
                above: above.to_owned(),
                node,
                is_group: is_group && is_run,
                is_run: is_run && !is_group,
            });
            if has_parts && deeper > 0 {
                self.add_parts(node, &id, (deeper - 1, is_group && is_run), into)?;
            }
        }
        Ok(())
    }

    /// What a subtask waits for: what it says itself, and what those say that it is a part of. One with parts is done with the last of them.
    pub(super) fn needed(
        &self,
        part: &Part<'t>,
        all: &[Part<'t>],
        statuses: &IndexMap<String, Status>,
    ) -> Result<Vec<String>, TaskError> {
        let is_own = |id: &str| {
            part.id
                .strip_prefix(id)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        let mut needed: Vec<String> = Vec::new();
        let mut at = Some(part);
        while let Some(present) = at {
            let of = format!("subtask {}", present.id);
            for dependency in self.list(present.node, "dependencies", &of)? {
                let written = self.written_id(dependency, &format!("{of}, `dependencies`"))?;
                let sibling = format!("{}.{written}", present.above);
                let is_there = all.iter().any(|one| one.id == sibling);
                // A number that no sibling has is that of a task.
                let is_task = statuses.contains_key(&written) && !is_own(&written);
                let dotted = if is_there || !written.contains('.') && !is_task {
                    sibling
                } else {
                    written
                };
                let is_group = all.iter().any(|one| one.id == dotted && one.is_group);
                let below = format!("{dotted}.");
                let leaves = all
                    .iter()
                    .filter(|one| is_group && one.is_run && one.id.starts_with(&below));
                let leaves = leaves.map(|one| one.id.clone());
                needed.extend(leaves.filter(|id| *id != part.id));
                if !is_group {
                    needed.push(dotted);
                }
            }
            at = all.iter().find(|one| one.id == present.above);
        }
        Ok(needed)
    }

    /// The changes of those that have parts, where the last of these gets its status with this.
    pub(super) fn splices_above(
        &self,
        wanted: &IndexMap<&str, &str>,
    ) -> Result<Vec<Splice>, TaskError> {
        let mut splices = Vec::new();
        for task in self.tasks {
            let id = self.id(task, "a task")?;
            let parts = self.parts(task, &id)?;
            for group in parts.iter().filter(|part| part.is_group) {
                let below = format!("{}.", group.id);
                let leaves = || {
                    let leaves = parts.iter().filter(|part| part.is_run);
                    leaves.filter(|part| part.id.starts_with(&below))
                };
                let new = leaves()
                    .filter_map(|leaf| wanted.get(&*leaf.id))
                    .next_back();
                let Some(status) = new.filter(|_| !wanted.contains_key(&*group.id)) else {
                    continue;
                };
                let mut is_over = true;
                for leaf in leaves() {
                    let status = match wanted.get(&*leaf.id) {
                        Some(status) => Status::from_text(status),
                        None => self.status(leaf.node, &format!("subtask {}", leaf.id))?,
                    };
                    is_over &= status.is_finished();
                }
                if is_over {
                    splices.extend(self.splice(group.node, status));
                }
            }
        }
        Ok(splices)
    }
}
