//! Journals to test with.

use std::fmt::Debug;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use journal::error::Damage;
use journal::{FileJournal, Head, Journal, MemoryJournal, NewEvent, Position, Record, verify};
use serde_json::{Value, json};
use tempfile::TempDir;

pub const TS: &str = "2025-10-07T14:30:00.123Z";
pub const PATIENT: Duration = Duration::from_mins(1);

/// An event with the fields of `fields`, which is an object.
pub fn event(name: &str, fields: &Value) -> NewEvent {
    NewEvent::new(name, fields.as_object().expect("an object").clone())
}

/// A unit of `size` events that tell their unit and place.
pub fn unit(number: usize, size: usize) -> Vec<NewEvent> {
    let title = "ein „Titel“\nmit Umbruch";
    let fields = |place| json!({ "unit": number, "place": place, "title": title });
    (0..size)
        .map(|place| event("subtask:start", &fields(place)))
        .collect()
}

/// A journal in memory whose units have these sizes.
pub fn units(sizes: &[usize]) -> MemoryJournal {
    let mut journal = MemoryJournal::new();
    let mut head = Head::empty();
    for (number, &size) in sizes.iter().enumerate() {
        let next = journal.append(&head, TS, &unit(number, size));
        head = next.expect("appends");
    }
    journal
}

/// A folder with a journal file in it.
pub struct Scene {
    pub folder: TempDir,
}

impl Scene {
    /// With an empty journal.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        FileJournal::create(folder.path()).expect("creates");
        Self { folder }
    }

    /// With `bytes` as the journal.
    pub fn with(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("activity.jsonl"), bytes).expect("writes");
        Self { folder }
    }

    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self) -> PathBuf {
        self.dir().join("activity.jsonl")
    }

    pub fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).expect("reads")
    }

    pub fn open(&self) -> FileJournal {
        FileJournal::open(self.dir()).expect("opens")
    }

    pub fn lock(&self) -> FileJournal {
        FileJournal::lock(self.dir(), PATIENT, "test").expect("locks")
    }

    /// Appends a unit, by a writer of its own.
    pub fn append(&self, head: &Head, events: &[NewEvent]) -> Head {
        self.lock().append(head, TS, events).expect("appends")
    }

    pub fn records(&self) -> Vec<Record> {
        self.open().read(&Position::start()).expect("reads").records
    }
}

/// Where each line of `bytes` ends, newline included.
pub fn line_ends(bytes: &[u8]) -> Vec<usize> {
    let ends = (1..=bytes.len()).filter(|&end| bytes[end - 1] == b'\n');
    ends.collect()
}

/// The damage of a journal with these bytes.
pub fn damage_of(bytes: &[u8]) -> Damage {
    let report = verify(&Scene::with(bytes).path()).expect("is looked at");
    report.damage.expect("damage")
}

/// Which error it is.
pub fn refused<T: Debug, E: Debug>(result: Result<T, E>) -> String {
    let told = format!("{:?}", result.expect_err("an error"));
    let name = told.chars().take_while(|c| c.is_alphanumeric());
    name.collect()
}

/// The permissions of a file or folder.
pub fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("is there").permissions().mode() & 0o777
}
