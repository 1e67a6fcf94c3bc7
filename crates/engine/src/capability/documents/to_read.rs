//! What somebody who remembers nothing is to read: the documents of the item in hand, or of those of the batch.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use machine::RunState;

use crate::call::Call;
use crate::capability::documents::bound;
use crate::capability::documents::drafts::{self, Whose};
use crate::capability::documents::folder::{DESIGN, FOLDER, Graphs, MOST_FILES};

/// Of how many tasks of a batch the documents are named.
const MOST_LOOKED_AT: usize = 50;

/// The names of the documents that are there: the design, the task graphs, then what else is about these items.
pub(crate) fn to_read(call: &Call<'_>, run: &RunState) -> Vec<String> {
    let folder = call.dir.join(FOLDER);
    // Whoever takes one in is told where what is remembered of them cannot be read.
    let graphs = Graphs::of(run).unwrap_or_default();
    let items = items(run);
    let mut names = vec![DESIGN.to_owned()];
    for name in items.iter().filter_map(|item| graphs.name(item)) {
        // One file may have been written for one item after the other.
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    let drafts = about_items(call, &folder, run);
    for item in items {
        let own = drafts.iter().filter(|(of, _)| of == item);
        names.extend(own.map(|(_, name)| name.clone()));
    }
    names.retain(|name| folder.join(name).is_file());
    names
}

/// The numbers of the items that are worked on, each once.
fn items(run: &RunState) -> Vec<&str> {
    let tasks = bound::tasks_in_hand(run).take(MOST_LOOKED_AT);
    let of_tasks = tasks.map(|(_, task)| task.text("item"));
    let mut items: Vec<&str> = Vec::new();
    for item in bound::item_in_hand(run).into_iter().chain(of_tasks) {
        if !items.contains(&item) {
            items.push(item);
        }
    }
    items
}

/// The documents that lie there and name an item: its number, and their name.
fn about_items(call: &Call<'_>, folder: &Path, run: &RunState) -> Vec<(String, String)> {
    let items = bound::items(run);
    let labels = drafts::labels(&call.definition);
    let of = |name: &str| {
        // The number of an item may have hyphens itself: the longest that fits is meant.
        let rest = name.strip_prefix("item-").unwrap_or_default();
        let mut ends = rest.rmatch_indices('-').map(|(end, _)| &rest[..end]);
        if let Some(number) = ends.find(|number| items.get(number).is_some()) {
            return Some(number.to_owned());
        }
        let is_draft_of = |item: &&str| {
            let mut labels = labels.iter();
            labels.any(|label| Whose::of(name, label, item) == Whose::Item)
        };
        items.keys().find(is_draft_of).map(str::to_owned)
    };
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = listed.filter_map(|entry| entry.file_name().into_string().ok());
    let found: BTreeSet<_> = names
        .filter_map(|name| Some((of(&name)?, name)))
        .take(MOST_FILES)
        .collect();
    found.into_iter().collect()
}
