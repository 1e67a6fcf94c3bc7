//! Loading a run, and `next`, must cost the same whether the journal has ten events or a million.

use engine::view::AUTOPILOT;
use engine::{Turn, Verb};
use std::path::Path;

use criterion::{BenchmarkId, Criterion};
use journal::{FileJournal, Journal as _, NewEvent};
use serde_json::{Map, Value};

use crate::stage;

/// Brings the journal in `dir` to about `events` events with pairs of pause and resume.
fn lengthen(dir: &Path, events: u64) {
    let mut journal =
        FileJournal::lock(dir, std::time::Duration::from_secs(10), "bench").expect("the lock");
    let mut head = journal.head().expect("a head");
    let paused = || {
        let mut fields = Map::new();
        fields.insert("reason".to_owned(), Value::from("bench"));
        NewEvent::new("run:paused", fields)
    };
    while head.seq + 2 <= events {
        let pairs = ((events - head.seq) / 2).min(50_000);
        let unit: Vec<NewEvent> = (0..pairs)
            .flat_map(|_| [paused(), NewEvent::new("run:resumed", Map::new())])
            .collect();
        head = journal
            .append(&head, "2026-01-01T00:00:00.000Z", &unit)
            .expect("appended");
    }
}

pub fn next(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("length");
    for events in [10_u64, 10_000, 1_000_000] {
        let stage = stage::stage(3);
        lengthen(&stage.dir, events);
        // One ordinary command: it writes the snapshot that a run of that length would have.
        stage
            .engine
            .turn(&AUTOPILOT, None, &Turn::new(Verb::Pause, "bench"))
            .expect("paused");
        stage
            .engine
            .turn(&AUTOPILOT, None, &Turn::new(Verb::Resume, ""))
            .expect("resumed");
        let run = stage.engine.status(&AUTOPILOT, None).expect("a run").run_id;
        group.bench_with_input(BenchmarkId::new("next", events), &events, |bencher, _| {
            bencher.iter(|| {
                stage
                    .engine
                    .next(&AUTOPILOT, Some(&run), false)
                    .expect("an action")
            });
        });
        group.bench_with_input(
            BenchmarkId::new("pause and resume", events),
            &events,
            |bencher, _| {
                bencher.iter(|| {
                    stage
                        .engine
                        .turn(&AUTOPILOT, Some(&run), &Turn::new(Verb::Pause, "bench"))
                        .expect("paused");
                    stage
                        .engine
                        .turn(&AUTOPILOT, Some(&run), &Turn::new(Verb::Resume, ""))
                        .expect("resumed");
                });
            },
        );
    }
    group.finish();
}
