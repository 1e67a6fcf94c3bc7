//! The graphs of several items as one.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::documents::quoting::{Bounded, LeftOut, quoted};
use text::{counted, listed, nearest};

use super::{
    MergeProblem, Merged, MergedTask, Part, Problem, Task, knots, take_over, with_remainder,
};

/// How many dependencies may follow from one item coming after another.
const MOST_FOLLOWING: usize = 1_000_000;
/// How many names are looked through for those that are near to unknown ones.
const MOST_COMPARED: usize = 200_000;
/// How many tasks of a cycle its message names.
const MOST_NAMED: usize = 10;

/// The ids that are fixed already, by item and name.
type Named = BTreeMap<(String, String), String>;

pub(super) fn merge(parts: &[Part<'_>], named: &Named) -> Merged {
    let mut joining = GraphMerge::new(parts, named);
    joining.resolve();
    joining.follow();
    joining.tell_cycles();
    joining.finish()
}

/// A task, and the part that it is in.
#[derive(Clone, Copy)]
struct Member<'a> {
    part: usize,
    task: &'a Task,
}

struct GraphMerge<'a> {
    parts: &'a [Part<'a>],
    members: Vec<Member<'a>>,
    /// The merged id of each.
    ids: Vec<String>,
    /// Those that each needs, by position. The first `own` ones are as its document says; the others follow from the order
    /// of items.
    needs: Vec<Vec<usize>>,
    own: Vec<usize>,
    /// The members of each part by name.
    by_name: Vec<HashMap<&'a str, usize>>,
    /// The members of all parts by name.
    anywhere: HashMap<&'a str, Vec<usize>>,
    /// The first part of each item.
    by_item: HashMap<&'a str, usize>,
    /// What is wrong, part by part.
    problems: Vec<Bounded<Problem>>,
    /// How many names may still be compared with unknown ones.
    to_compare: usize,
}

/// What a dependency leads to.
enum Target<'a> {
    Task(usize),
    /// Several other items have it.
    Several(&'a [usize]),
    Nowhere,
}

impl<'a> GraphMerge<'a> {
    fn new(parts: &'a [Part<'a>], named: &Named) -> Self {
        let mut joining = Self {
            parts,
            members: Vec::new(),
            ids: Vec::new(),
            needs: Vec::new(),
            own: Vec::new(),
            by_name: Vec::new(),
            anywhere: HashMap::new(),
            by_item: HashMap::new(),
            problems: parts.iter().map(|_| Bounded::default()).collect(),
            to_compare: MOST_COMPARED,
        };
        for (number, part) in parts.iter().enumerate() {
            joining.by_item.entry(part.item).or_insert(number);
            take_over(&mut joining.problems[number], part.graph);
            let mut names: HashMap<&str, usize> = HashMap::new();
            for task in &part.graph.tasks {
                let position = joining.members.len();
                if let Some(first) = names.get(task.id.as_str()) {
                    let line = joining.members[*first].task.line;
                    joining.problems[number].tell(task.line, || {
                        let of = format!("two tasks; the first one is in line {line}");
                        duplicate(task, &task.id, &of)
                    });
                    continue;
                }
                names.insert(&task.id, position);
                joining.anywhere.entry(&task.id).or_default().push(position);
                joining.members.push(Member { part: number, task });
            }
            joining.by_name.push(names);
        }
        joining.name(named);
        joining
    }

    /// Gives every task its id.
    fn name(&mut self, named: &Named) {
        let fixed: HashMap<&str, &(String, String)> =
            named.iter().map(|(key, id)| (id.as_str(), key)).collect();
        let mut taken: HashMap<String, usize> = HashMap::with_capacity(self.members.len());
        for (position, member) in self.members.iter().enumerate() {
            let item = self.parts[member.part].item;
            let name = &member.task.id;
            let key = (item.to_owned(), name.clone());
            let id = if let Some(id) = named.get(&key) {
                id.clone()
            } else if self.anywhere[name.as_str()].len() == 1
                && fixed.get(name.as_str()).is_none_or(|of| **of == key)
            {
                name.clone()
            } else {
                format!("item-{item}/{name}")
            };
            if let Some(first) = taken.get(&id) {
                let first = self.members[*first];
                let item = self.parts[first.part].item;
                self.problems[member.part].tell(member.task.line, || {
                    let of = format!(
                        "two tasks: it is also that of {} of item {item} (line {})",
                        quoted(&first.task.id),
                        first.task.line
                    );
                    duplicate(member.task, &id, &of)
                });
            } else {
                taken.insert(id.clone(), position);
            }
            self.ids.push(id);
        }
    }

    /// Finds what the dependencies lead to that the documents name.
    fn resolve(&mut self) {
        // Where a document could not be read in full, nobody knows what would have stood there.
        let is_judged = !self
            .problems
            .iter()
            .flat_map(Bounded::iter)
            .any(|problem| matches!(problem.code, "bad_yaml" | "tasks_missing" | "too_large"))
            && self.parts.iter().all(|part| part.graph.more_problems == 0);
        for position in 0..self.members.len() {
            let Member { part, task } = self.members[position];
            let mut needs = Vec::with_capacity(task.depends_on.len());
            let mut seen = HashSet::new();
            for written in &task.depends_on {
                match self.target(part, written) {
                    Target::Task(needed) if needed == position => {
                        let id = &self.ids[position];
                        self.problems[part].tell(task.line, || Problem {
                            code: "self_dependency",
                            line: task.line,
                            message: format!("{} depends on itself", quoted(&task.id)),
                            suggestion: "take it out of its own dependencies".to_owned(),
                            tasks: vec![id.clone()],
                        });
                    }
                    Target::Task(needed) => {
                        if seen.insert(needed) {
                            needs.push(needed);
                        }
                    }
                    Target::Several(others) => {
                        let problem = self.problems[part]
                            .takes(task.line)
                            .then(|| self.ambiguous(position, written, others));
                        self.tell(part, task.line, problem);
                    }
                    Target::Nowhere if is_judged => {
                        let problem = self.problems[part]
                            .takes(task.line)
                            .then(|| self.unknown(position, written));
                        self.tell(part, task.line, problem);
                    }
                    Target::Nowhere => {}
                }
            }
            self.own.push(needs.len());
            self.needs.push(needs);
        }
    }

    /// Tells a problem that was made where it is kept, and counts it where it is not.
    fn tell(&mut self, part: usize, line: u32, problem: Option<Problem>) {
        match problem {
            Some(problem) => self.problems[part].tell(line, || problem),
            None => self.problems[part].leave_out(LeftOut { count: 1, line }),
        }
    }

    fn target(&self, part: usize, written: &str) -> Target<'_> {
        if let Some(found) = self.by_name[part].get(written) {
            return Target::Task(*found);
        }
        if let Some(found) = self.qualified(written) {
            return Target::Task(found);
        }
        match self.anywhere.get(written).map(Vec::as_slice) {
            None | Some([]) => Target::Nowhere,
            Some([one]) => Target::Task(*one),
            Some(several) => Target::Several(several),
        }
    }

    /// The task that `item-N/ID` names.
    fn qualified(&self, written: &str) -> Option<usize> {
        let (item, name) = written.strip_prefix("item-")?.split_once('/')?;
        let part = self
            .by_item
            .get(item)
            .or_else(|| self.by_item.get(item.to_lowercase().as_str()))?;
        self.by_name[*part].get(name.trim()).copied()
    }

    fn ambiguous(&self, position: usize, written: &str, others: &[usize]) -> Problem {
        let names = others.iter().map(|other| {
            let item = self.parts[self.members[*other].part].item;
            quoted(&format!("item-{item}/{written}"))
        });
        let task = self.members[position].task;
        Problem {
            code: "unknown_dependency",
            line: task.line,
            message: format!(
                "{} depends on {}, and {} have a task of that name",
                quoted(&task.id),
                quoted(written),
                counted(others.len(), "other item")
            ),
            suggestion: format!("say which one is meant: {}", listed(names)),
            tasks: vec![self.ids[position].clone(), written.to_owned()],
        }
    }

    fn unknown(&mut self, position: usize, written: &str) -> Problem {
        let Member { part, task } = self.members[position];
        let own = self.parts[part].graph.tasks.iter();
        let others = self
            .parts
            .iter()
            .enumerate()
            .filter(|(number, _)| *number != part)
            .flat_map(|(_, part)| &part.graph.tasks);
        let mut compared = 0;
        let near = nearest(
            written,
            own.chain(others)
                .map(|task| task.id.as_str())
                .filter(|id| *id != task.id)
                .take(self.to_compare)
                .inspect(|_| compared += 1),
        )
        .map(quoted);
        self.to_compare -= compared;
        let suggestion = match near {
            Some(near) => {
                format!("did you mean {near}? Or add the task, or take the dependency out")
            }
            None => format!(
                "add the task, or take the dependency out; one of another item is called {}, or hand that item's graph over first",
                quoted(&format!("item-N/{written}"))
            ),
        };
        Problem {
            code: "unknown_dependency",
            line: task.line,
            message: format!(
                "{} depends on {}, and there is no such task",
                quoted(&task.id),
                quoted(written)
            ),
            suggestion,
            tasks: vec![self.ids[position].clone(), written.to_owned()],
        }
    }

    /// Lets the first tasks of each item come after the last ones of those that it comes after.
    fn follow(&mut self) {
        let mut firsts = vec![Vec::new(); self.parts.len()];
        let mut lasts = vec![Vec::new(); self.parts.len()];
        let mut is_needed = vec![false; self.members.len()];
        for (position, member) in self.members.iter().enumerate() {
            let mut needs_own = false;
            for &needed in &self.needs[position] {
                if self.members[needed].part == member.part {
                    needs_own = true;
                    is_needed[needed] = true;
                }
            }
            if !needs_own {
                firsts[member.part].push(position);
            }
        }
        for (position, member) in self.members.iter().enumerate() {
            if !is_needed[position] {
                lasts[member.part].push(position);
            }
        }
        let mut left = MOST_FOLLOWING;
        for (part, firsts) in firsts.iter().enumerate() {
            let Some(first) = firsts.first() else {
                continue;
            };
            let before = self.before(part, &lasts, &mut left);
            let edges = before
                .as_ref()
                .map(|b| b.len().saturating_mul(firsts.len()));
            match (before, edges) {
                (Some(before), Some(edges)) if edges <= left => {
                    left -= edges;
                    for &first in firsts {
                        let known: HashSet<usize> = self.needs[first].iter().copied().collect();
                        let more = before.iter().filter(|needed| !known.contains(needed));
                        self.needs[first].extend(more);
                    }
                }
                _ => {
                    let task = self.members[*first].task;
                    let item = self.parts[part].item;
                    let id = &self.ids[*first];
                    self.problems[part].tell(task.line, || Problem {
                        code: "too_large",
                        line: task.line,
                        message: format!(
                            "item {item} begins with {}, and what it comes after ends with so many that more than {MOST_FOLLOWING} dependencies would follow",
                            counted(firsts.len(), "task")
                        ),
                        suggestion: "let the item begin with one task that the others depend on"
                            .to_owned(),
                        tasks: vec![id.clone()],
                    });
                }
            }
        }
    }

    /// The last tasks of the items that a part comes after; for an item without tasks, those of the items before it. Nothing
    /// where there are more than `left`.
    fn before(&self, part: usize, lasts: &[Vec<usize>], left: &mut usize) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        let mut seen = HashSet::from([part]);
        let mut open = vec![part];
        while let Some(at) = open.pop() {
            for item in self.parts[at].after {
                *left = left.checked_sub(1)?;
                let Some(&before) = self.by_item.get(item.as_str()) else {
                    continue;
                };
                if !seen.insert(before) {
                    continue;
                }
                if self.by_name[before].is_empty() {
                    open.push(before);
                } else if found.len() + lasts[before].len() > *left {
                    return None;
                } else {
                    found.extend_from_slice(&lasts[before]);
                }
            }
        }
        found.sort_unstable();
        Some(found)
    }

    fn tell_cycles(&mut self) {
        for cycle in knots::cycles(&self.needs) {
            let Some(&start) = cycle.first() else {
                continue;
            };
            let Member { part, task } = self.members[start];
            if !self.problems[part].takes(task.line) {
                self.tell(part, task.line, None);
                continue;
            }
            let mut steps: Vec<String> = Vec::new();
            let mut orders: Vec<String> = Vec::new();
            for pair in cycle.windows(2) {
                let &[from, to] = pair else { continue };
                if steps.len() < MOST_NAMED {
                    steps.push(quoted(&self.ids[to]));
                }
                let named = &self.needs[from][..self.own[from]];
                if !named.contains(&to) && orders.len() < MOST_NAMED {
                    orders.push(format!(
                        "item {} comes after item {}",
                        self.parts[self.members[from].part].item,
                        self.parts[self.members[to].part].item
                    ));
                }
            }
            let more = cycle.len() - 1 - steps.len();
            let dots = if more > 0 {
                format!(" … ({more} more)")
            } else {
                String::new()
            };
            let message = format!(
                "the tasks wait for one another: {} needs {}{dots}",
                quoted(&self.ids[start]),
                steps.join(", which needs ")
            );
            orders.dedup();
            let (message, suggestion) = if orders.is_empty() {
                (message, "take one of these dependencies out".to_owned())
            } else {
                (
                    format!("{message}; {}", listed(orders.iter())),
                    "take one of these dependencies out, or let the items come in another order"
                        .to_owned(),
                )
            };
            let problem = Problem {
                code: "dependency_cycle",
                line: task.line,
                message,
                suggestion,
                tasks: cycle.iter().map(|at| self.ids[*at].clone()).collect(),
            };
            self.tell(part, task.line, Some(problem));
        }
    }

    fn finish(self) -> Merged {
        let of_parts = self.parts.iter().zip(self.problems);
        let problems = of_parts
            .flat_map(|(part, problems)| {
                with_remainder(problems)
                    .0
                    .into_iter()
                    .map(|problem| MergeProblem {
                        item: part.item.to_owned(),
                        document: part.document.to_owned(),
                        problem,
                    })
            })
            .collect();
        let ids = &self.ids;
        let tasks = self
            .members
            .iter()
            .zip(&self.needs)
            .enumerate()
            .map(|(position, (member, needs))| MergedTask {
                id: ids[position].clone(),
                item: self.parts[member.part].item.to_owned(),
                name: member.task.id.clone(),
                description: member.task.description.clone(),
                files: member.task.files.clone(),
                tests: member.task.tests.clone(),
                depends_on: needs.iter().map(|needed| ids[*needed].clone()).collect(),
                parallel: member.task.parallel,
                line: member.task.line,
            })
            .collect();
        Merged { tasks, problems }
    }
}

fn duplicate(task: &Task, id: &str, of: &str) -> Problem {
    Problem {
        code: "duplicate_id",
        line: task.line,
        message: format!("{} is the id of {of}", quoted(id)),
        suggestion: "give one of them another id, and see who depends on it".to_owned(),
        tasks: vec![id.to_owned()],
    }
}
