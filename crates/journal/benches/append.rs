//! What an append costs beside the bare write and flush of the same bytes, and what a load costs
//! beside the length of the run.

use std::fs::{self, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use journal::{
    FileJournal, Head, Journal, MemoryJournal, NewEvent, SnapshotFile, load_with_snapshot, verify,
};
use serde_json::json;
use serde_json::value::to_raw_value;

const TS: &str = "2025-10-07T14:30:00.123Z";

/// What an accepted GREEN leaves behind.
fn typical_unit() -> Vec<NewEvent> {
    [
        (
            "test:run",
            json!({ "unit": "u-12", "passed": 41, "failed": 0, "skipped": 1, "durationMs": 1834,
                "evidence": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }),
        ),
        (
            "code:modified",
            json!({ "unit": "u-12", "files": ["src/session.rs", "src/session/store.rs"], "linesChanged": 87 }),
        ),
        (
            "phase:transition",
            json!({ "unit": "u-12", "subtask": "1.3", "from": "green", "to": "commit", "attempt": 1 }),
        ),
    ]
    .into_iter()
    .map(|(name, fields)| {
        NewEvent::new(name, fields.as_object().cloned().unwrap_or_default())
    })
    .collect()
}

fn appends(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    FileJournal::create(folder.path()).expect("creates");
    let unit = typical_unit();
    let mut probe = MemoryJournal::new();
    probe.append(&Head::empty(), TS, &unit).expect("appends");
    let bytes = probe.bytes().to_vec();

    let mut group = criterion.benchmark_group("append");
    group.bench_function("bare write and fdatasync", |bencher| {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.path().join("bare"))
            .expect("opens");
        bencher.iter(|| {
            file.write_all(&bytes).expect("writes");
            file.sync_data().expect("flushes");
        });
    });
    group.bench_function("unit of 3 events", |bencher| {
        let mut journal = FileJournal::lock(folder.path(), Duration::ZERO, "bench").expect("locks");
        let mut head = journal.head().expect("has a head");
        bencher.iter(|| head = journal.append(&head, TS, &unit).expect("appends"));
    });
    group.bench_function("lock, head, unit of 3 events, unlock", |bencher| {
        bencher.iter(|| {
            let mut journal =
                FileJournal::lock(folder.path(), Duration::ZERO, "bench").expect("locks");
            let head = journal.head().expect("has a head");
            journal.append(&head, TS, &unit).expect("appends")
        });
    });
    group.bench_function("without a disk", |bencher| {
        let mut journal = MemoryJournal::new();
        let mut head = Head::empty();
        bencher.iter(|| head = journal.append(&head, TS, &unit).expect("appends"));
    });
    group.finish();
}

/// Writes a journal of at least `events` events with a snapshot a few units before its end.
fn write_run(dir: &Path, events: usize) {
    const TAIL_UNITS: usize = 3;
    let unit = typical_unit();
    let mut journal = MemoryJournal::new();
    let mut head = Head::empty();
    let units = events.div_ceil(unit.len());
    let state = to_raw_value(&json!({ "items": vec!["done"; 500] })).expect("serializes");
    for number in 0..units {
        if number + TAIL_UNITS == units {
            SnapshotFile::new(dir)
                .write(&head.position(), &state)
                .expect("writes");
        }
        head = journal.append(&head, TS, &unit).expect("appends");
    }
    fs::write(dir.join("activity.jsonl"), journal.bytes()).expect("writes");
}

fn loads(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("load");
    for events in [10, 10_000, 1_000_000] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_run(folder.path(), events);
        group.bench_function(BenchmarkId::new("with snapshot", events), |bencher| {
            bencher.iter(|| black_box(load_with_snapshot(folder.path()).expect("loads")));
        });
        if events == 10_000 {
            group.bench_function(BenchmarkId::new("verify", events), |bencher| {
                let path = folder.path().join("activity.jsonl");
                bencher.iter(|| black_box(verify(&path).expect("verifies")));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, appends, loads);
criterion_main!(benches);
