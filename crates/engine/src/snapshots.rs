//! Snapshots of runs: what is written of one, and what becomes of it at the next load.
//!
//! The items of large sets lie beside the snapshot, and are read once: a process that serves many calls finds
//! them in its memory, by a name that says what is in them.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use journal::{Position, SnapshotFile};
use machine::item_set::Pack;
use machine::{Definition, RunState};
use serde_json::value::RawValue;

/// At most so many packs are remembered,
const MOST_PACKS: usize = 8;
/// and at most so many bytes of them. The last one is, however long it is.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The run of which `text` is the snapshot in the folder `dir`; `None` where it is another program's, or misses a part.
pub(crate) fn thaw(dir: &Path, text: &str) -> Option<RunState> {
    let file = SnapshotFile::new(dir);
    RunState::thaw(text, |name| {
        if let Some(known) = recall(name) {
            return Some(known);
        }
        let pack = Arc::new(Pack::open(name, file.part(name)?)?);
        remember(name, &pack);
        Some(pack)
    })
}

/// Writes the snapshot of a run as it is at `position`, and returns its length in bytes.
///
/// A snapshot is a cache: one that cannot be written costs time at the next load, nothing else.
pub(crate) fn write(
    dir: &Path,
    run: &mut RunState,
    definition: &Definition,
    position: &Position,
) -> Option<u64> {
    let file = SnapshotFile::new(dir);
    let mut parts = Vec::new();
    let text = run.freeze(definition, |pack| {
        let name = file.keep_part(pack.bytes(), pack.name()).ok()?;
        remember(&name, pack);
        parts.push(name.clone());
        Some(name)
    })?;
    let raw = RawValue::from_string(text).ok()?;
    let bytes = file.write(position, &raw).ok()?;
    // Parts that are left over take room, and are removed with the next snapshot.
    let _ = file.keep_only(&parts);
    Some(bytes)
}

/// Packs by their names.
type Packs = Vec<(String, Arc<Pack>)>;

/// The packs that were used last, the last one at the end.
fn known() -> &'static Mutex<Packs> {
    static KNOWN: OnceLock<Mutex<Packs>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default)
}

fn recall(name: &str) -> Option<Arc<Pack>> {
    let mut known = known().lock().ok()?;
    let at = known.iter().position(|(known, _)| known == name)?;
    let found = known.remove(at);
    let pack = Arc::clone(&found.1);
    known.push(found);
    Some(pack)
}

fn remember(name: &str, pack: &Arc<Pack>) {
    let Ok(mut known) = known().lock() else {
        return;
    };
    known.retain(|(known, _)| known != name);
    known.push((name.to_owned(), Arc::clone(pack)));
    let bytes = |known: &[(String, Arc<Pack>)]| -> usize {
        known.iter().map(|(_, pack)| pack.bytes().len()).sum()
    };
    while known.len() > 1 && (known.len() > MOST_PACKS || bytes(&known) > MOST_BYTES) {
        known.remove(0);
    }
}

#[cfg(test)]
mod tests {
    use machine::event::NewItem;
    use std::fs;
    use std::time::Duration;

    use journal::{FileJournal, Journal as _, NewEvent};
    use machine::item_set::ItemStatus;
    use machine::{Catalog, Event};
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::open_run;

    const NOW: &str = "2026-01-01T00:00:00.000Z";

    fn definition() -> Definition {
        let text = "
tramline: 1
id: many
title: Many items
items: { tasks: { key: id, fields: { id: string } } }
initial: begin
states: { begin: { work: {}, to: end }, end: { final: completed } }
";
        Definition::load(text, &Catalog::default()).unwrap()
    }

    fn append(dir: &Path, event: &Event) {
        let mut journal = FileJournal::lock(dir, Duration::from_mins(1), "test").unwrap();
        let head = journal.head().unwrap();
        let (name, fields) = event.to_fields();
        let event = NewEvent::new(name, fields);
        journal.append(&head, NOW, &[event]).unwrap();
    }

    fn loaded(items: impl Iterator<Item = Value>) -> Event {
        let item = |item: Value| NewItem {
            key: item["id"].as_str().unwrap().to_owned(),
            fields: item.as_object().unwrap().clone(),
            status: ItemStatus::Open,
        };
        Event::ItemsLoaded {
            set: "tasks".to_owned(),
            items: items.map(item).collect(),
        }
    }

    fn changed(at: usize, status: ItemStatus) -> Event {
        Event::ItemChanged {
            set: "tasks".to_owned(),
            key: format!("{at}"),
            fields: Map::new(),
            status: Some(status),
            reason: None,
        }
    }

    fn run(dir: &Path) -> RunState {
        open_run::load(dir).unwrap().run.into_inner()
    }

    /// A run of many items with a snapshot, and what came after it.
    fn run_of_many(dir: &Path) -> RunState {
        FileJournal::create(dir).unwrap();
        let title = dir.display().to_string();
        let items = (0..300).map(|at| json!({ "id": format!("{at}"), "title": title }));
        append(dir, &loaded(items));
        snapshot(dir);
        append(dir, &changed(7, ItemStatus::Done));
        let run = run(dir);
        assert_eq!(run.sets["tasks"].count(ItemStatus::Done), 1);
        run
    }

    fn snapshot(dir: &Path) {
        let loaded = open_run::load(dir).unwrap();
        let mut run = loaded.run.into_inner();
        write(dir, &mut run, &definition(), &loaded.head.position()).unwrap();
    }

    fn parts(dir: &Path) -> Vec<std::path::PathBuf> {
        let entries = fs::read_dir(dir.join(journal::snapshot::PARTS_NAME)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// As a process does that has read nothing yet.
    fn forget() {
        known().lock().unwrap().clear();
    }

    #[test]
    fn a_part_that_is_gone_torn_or_spoilt_is_made_anew_from_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        let before = run_of_many(dir);
        let part = parts(dir).remove(0);
        let whole = fs::read(&part).unwrap();
        let half = whole.len() / 2;
        let (mut spoilt, mut zeros) = (whole.clone(), whole.clone());
        spoilt[half] ^= 1;
        zeros[half..].fill(0);
        for damaged in [None, Some(&whole[..half]), Some(&spoilt), Some(&zeros)] {
            match damaged {
                None => fs::remove_file(&part).unwrap(),
                Some(bytes) => fs::write(&part, bytes).unwrap(),
            }
            forget();
            assert_eq!(run(dir), before);
            // The next snapshot heals it.
            snapshot(dir);
            for part in parts(dir) {
                fs::remove_file(part).unwrap();
            }
            snapshot(dir);
            forget();
            let text = SnapshotFile::new(dir).read().unwrap().state;
            assert_eq!(thaw(dir, text.get()).unwrap(), before);
        }
    }

    #[test]
    fn a_snapshot_of_before_does_not_count_however_whole_its_parts_are() {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [dir, other] = [folders[0].path(), folders[1].path()];
        run_of_many(dir);
        let name = "snapshot.json";
        let old = fs::read(dir.join(name)).unwrap();
        append(dir, &changed(8, ItemStatus::Failed));
        snapshot(dir);
        let now = run(dir);
        // One that is older is a place to go on from; one of another run is none.
        fs::write(dir.join(name), old).unwrap();
        assert_eq!(run(dir), now);
        run_of_many(other);
        for file in parts(other).into_iter().chain([other.join(name)]) {
            fs::copy(&file, dir.join(file.strip_prefix(other).unwrap())).unwrap();
        }
        assert_eq!(run(dir), now);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut run = RunState::default();
        let text = "x".repeat(9_000);
        for at in 0..MOST_PACKS + 5 {
            let item = json!({ "id": "a", "text": text, "at": at });
            run.apply(NOW, &loaded([item].into_iter()));
            run.freeze(&definition(), |pack| {
                remember(&format!("bounded-{at}"), pack);
                Some(format!("bounded-{at}"))
            });
        }
        assert!(known().lock().unwrap().len() <= MOST_PACKS);
    }
}
