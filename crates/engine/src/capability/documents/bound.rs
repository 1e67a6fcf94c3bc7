//! What the documents of a run are bound to: its item sets and vars by what they hold, and the words in which it says where an
//! item stands. A run remembers them from its beginning.

use std::sync::LazyLock;

use machine::definition::ItemSetDef;
use machine::state::{Item, ItemSet, ItemStatus};
use machine::{Definition, RunState};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::capability::DOCUMENTS;
use crate::capability::documents::skills::SKILLS;

/// The status of an item that is still to be worked out.
pub(crate) const PENDING: &str = "pending";
/// The status of an item all of which is done: there is nothing to execute.
pub(crate) const COMPLETE: &str = "complete";
/// The status of what was skipped; of a task callers say `failed` with the outcome `failed`.
pub(crate) const SKIPPED: &str = "skipped";
/// What callers call the statuses of items, by what they mean and where they stand among those that mean the same.
const OF_ITEMS: [(ItemStatus, usize, &str); 4] = [
    (ItemStatus::Open, 0, PENDING),
    (ItemStatus::Done, 0, "documented"),
    (ItemStatus::Done, 1, COMPLETE),
    (ItemStatus::Failed, 0, SKIPPED),
];
/// The same of tasks.
const OF_TASKS: [(ItemStatus, usize, &str); 5] = [
    (ItemStatus::Open, 0, PENDING),
    (ItemStatus::Active, 0, "in_progress"),
    (ItemStatus::Active, 1, "failed"),
    (ItemStatus::Done, 0, "completed"),
    (ItemStatus::Failed, 0, SKIPPED),
];

/// What documents are bound to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Bound {
    /// The item set of work items.
    pub(crate) items: String,
    /// The item set of tasks.
    pub(crate) tasks: String,
    /// The item set that tasks are cut into.
    pub(crate) batches: String,
    /// The var that points at the item in hand.
    pub(crate) item: String,
    /// The var that points at the batch in hand.
    pub(crate) batch: String,
    /// The var that says whether the caller keeps a snapshot of its context.
    pub(crate) snapshot: String,
    /// The statuses of items: the workflow's word, and that of callers.
    item_words: Vec<(String, String)>,
    /// Those of tasks.
    task_words: Vec<(String, String)>,
}

impl Bound {
    /// What a definition binds them to.
    pub(crate) fn of(definition: &Definition) -> Self {
        let named = |parameter| {
            definition
                .bound_set(DOCUMENTS, parameter)
                .unwrap_or_default()
        };
        let set = |parameter| definition.items.get(named(parameter));
        let tasks = set("tasks");
        let waves = tasks.and_then(|tasks| tasks.waves.as_ref());
        let batches = waves.map_or("", |waves| waves.into.value.as_str());
        Self {
            items: named("items").to_owned(),
            tasks: named("tasks").to_owned(),
            batches: batches.to_owned(),
            item: named("present").to_owned(),
            batch: definition
                .cursor_into(batches)
                .unwrap_or_default()
                .to_owned(),
            snapshot: named("snapshot").to_owned(),
            item_words: words(set("items"), &OF_ITEMS),
            task_words: words(tasks, &OF_TASKS),
        }
    }

    /// What callers call the status of an item.
    pub(crate) fn of_item<'a>(&'a self, status: &'a str) -> &'a str {
        translated(&self.item_words, status)
    }

    /// What callers call the status of a task.
    pub(crate) fn of_task<'a>(&'a self, status: &'a str) -> &'a str {
        translated(&self.task_words, status)
    }

    /// What the workflow calls the status of an item that callers name so.
    pub(crate) fn item_status<'a>(&'a self, called: &'a str) -> &'a str {
        own(&self.item_words, called)
    }

    /// What the workflow calls the status of a task that callers name so.
    pub(crate) fn task_status<'a>(&'a self, called: &'a str) -> &'a str {
        own(&self.task_words, called)
    }
}

/// The words of a workflow with those of callers.
fn words(set: Option<&ItemSetDef>, known: &[(ItemStatus, usize, &str)]) -> Vec<(String, String)> {
    let word = |(meaning, at, called): &(ItemStatus, usize, &str)| {
        let same = set?
            .status
            .as_ref()?
            .names()
            .filter(|(_, means)| means == meaning);
        let (own, _) = same.into_iter().nth(*at)?;
        Some((own.to_owned(), (*called).to_owned()))
    };
    known.iter().filter_map(word).collect()
}

fn own<'a>(words: &'a [(String, String)], called: &'a str) -> &'a str {
    let found = words.iter().find(|(_, caller)| caller == called);
    found.map_or(called, |(own, _)| own)
}

fn translated<'a>(words: &'a [(String, String)], status: &'a str) -> &'a str {
    let found = words.iter().find(|(own, _)| own == status);
    found.map_or(status, |(_, called)| called)
}

/// What the documents of a run are bound to.
pub(crate) fn bound(run: &RunState) -> Bound {
    let known = SKILLS.read(&run.kept).ok().flatten();
    known.map(|known| known.bound).unwrap_or_default()
}

/// A name under which a run keeps a set or a var.
fn name<'a>(run: &'a RunState, of: &str) -> &'a str {
    let kept = SKILLS
        .value(&run.kept)
        .and_then(|skills| skills.get("bound"));
    kept.and_then(|kept| kept.get(of)?.as_str())
        .unwrap_or_default()
}

/// A set under the name that a run has for it; an empty one before it is filled.
fn set<'a>(run: &'a RunState, of: &str) -> &'a ItemSet {
    static EMPTY: LazyLock<ItemSet> = LazyLock::new(ItemSet::default);
    run.sets.get(name(run, of)).unwrap_or(&EMPTY)
}

/// The work items.
pub(crate) fn items(run: &RunState) -> &ItemSet {
    set(run, "items")
}

/// The name of the set of tasks.
pub(crate) fn tasks_name(run: &RunState) -> &str {
    name(run, "tasks")
}

/// The tasks.
pub(crate) fn tasks(run: &RunState) -> &ItemSet {
    set(run, "tasks")
}

/// The batches.
pub(crate) fn batches(run: &RunState) -> &ItemSet {
    set(run, "batches")
}

/// Whether the tasks are cut into batches, of which there may be none.
pub(crate) fn is_cut(run: &RunState) -> bool {
    run.sets.contains_key(name(run, "batches"))
}

/// The tasks of a batch.
pub(crate) fn tasks_of<'r>(
    run: &'r RunState,
    batch: &'r Item,
) -> impl Iterator<Item = (&'r str, &'r Item)> {
    let ids = batch.texts(tasks_name(run));
    ids.filter_map(|id| Some((id, tasks(run).get(id)?)))
}

/// The tasks of the batch in hand; none where none is.
pub(crate) fn tasks_in_hand(run: &RunState) -> impl Iterator<Item = (&str, &Item)> {
    let batch = batch_in_hand(run).and_then(|id| batches(run).get(id));
    batch.into_iter().flat_map(|batch| tasks_of(run, batch))
}

/// The item in hand.
pub(crate) fn item_in_hand(run: &RunState) -> Option<&str> {
    run.pointed_at(name(run, "item"))
}

/// The batch in hand.
pub(crate) fn batch_in_hand(run: &RunState) -> Option<&str> {
    run.pointed_at(name(run, "batch"))
}

/// Whether the caller keeps a snapshot of its context.
pub(crate) fn has_snapshot(run: &RunState) -> bool {
    run.vars.get(name(run, "snapshot")) == Some(&Value::from(true))
}
