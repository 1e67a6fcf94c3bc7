//! What a document's tasks come to when all of them were read: which ids their dependencies name, and what was passed over.

use std::collections::HashSet;

use text::{counted, nearest};

use super::super::keys::KEYS;
use super::super::{Note, Problem, Task};
use super::{Draft, Reader, Written};
use crate::documents::quoting::{Bounded, quoted};

impl Reader {
    /// What was read, with everything judged that needs no other graph.
    pub(in crate::documents::task_graph) fn finish(
        mut self,
    ) -> (Vec<Task>, Bounded<Problem>, Bounded<Note>) {
        let mut tasks = Vec::with_capacity(self.tasks.len());
        for Draft {
            mut task,
            depends_on,
            ..
        } in std::mem::take(&mut self.tasks)
        {
            let mut seen = HashSet::new();
            for written in depends_on {
                for id in self.meant(&written) {
                    if id == task.id {
                        self.problem_of(
                            "self_dependency",
                            written.line,
                            format!("{} depends on itself", quoted(&id)),
                            "take it out of its own dependencies",
                            vec![id],
                        );
                    } else if seen.insert(id.clone()) {
                        task.depends_on.push(id);
                    }
                }
            }
            tasks.push(task);
        }
        for ((of_task, name), (line, times)) in std::mem::take(&mut self.unknown) {
            let known = if of_task { &KEYS[..] } else { &["tasks"] };
            let near = nearest(&name, known.iter().copied())
                .map(|near| format!("; `{near}` is one"))
                .unwrap_or_default();
            let often = if times > 1 {
                format!(" ({times} times, here for the first time)")
            } else {
                String::new()
            };
            let of = if of_task { "a task" } else { "a graph" };
            self.note(
                line,
                &format!(
                    "{} is no key of {of}{near}: it is passed over{often}",
                    quoted(&name)
                ),
            );
        }
        if let Some((line, id)) = self.template.take()
            && tasks.is_empty()
            && self.problems.times() == 0
        {
            self.problem(
                "tasks_missing",
                line,
                format!(
                    "there is no task but a template: {} is a place for an id",
                    quoted(&id)
                ),
                "write the tasks in its place, each with an id of its own",
            );
        }
        if let Some(line) = self.empty {
            if tasks.is_empty() && self.problems.times() == 0 {
                self.problem(
                    "tasks_missing",
                    line,
                    "the list of tasks is empty".to_owned(),
                    "write the tasks into it, each beginning with `- id:`",
                );
            } else {
                self.note(line, "the list of tasks is empty: it is passed over");
            }
        }
        (tasks, self.problems, self.notes)
    }

    /// The ids that a dependency names: most often it is one.
    fn meant(&mut self, written: &Written) -> Vec<String> {
        const NONE: [&str; 6] = ["none", "n/a", "nothing", "-", "—", "–"];
        if self.taken.contains_key(&written.id) {
            return vec![written.id.clone()];
        }
        if NONE
            .iter()
            .any(|none| written.id.eq_ignore_ascii_case(none))
        {
            self.note(
                written.line,
                &format!("{} is read as no dependency", quoted(&written.id)),
            );
            return Vec::new();
        }
        if written.is_alone && written.id.contains(',') {
            let ids: Vec<String> = written
                .id
                .split(',')
                .map(|id| id.trim().to_owned())
                .filter(|id| !id.is_empty())
                .collect();
            self.note(
                written.line,
                &format!(
                    "{} is read as {}",
                    quoted(&written.id),
                    counted(ids.len(), "id")
                ),
            );
            return ids;
        }
        vec![written.id.clone()]
    }
}
