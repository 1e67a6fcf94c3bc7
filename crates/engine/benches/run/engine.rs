//! One durable transition of the engine, without git: open, lock, load, decide, append, sync, write
//! the state file. Beside it a bare append and fdatasync of the same bytes to a file of its own.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use criterion::Criterion;
use engine::clock::SystemClock;
use engine::fault::Fault;
use engine::open_run::{CommandOutcome, LOCK_WAIT, OpenRun};
use engine::support::{EffectRequest, EffectState, HandlerError, Outcome, Support};
use machine::command::{Report, Start};
use machine::decide::PromptRequest;
use machine::event::Domain;
use machine::state::Pending;
use machine::{Command, Definition, Event, Reading, Role, RunState};
use serde_json::{Map, Value};

const PING: &str = "
tramline: 1
id: ping
title: Two in turn
initial: ping
on: { abort: { to: off } }
states:
  ping: { work: {}, on: { report: [ { to: pong } ] } }
  pong: { work: {}, on: { report: [ { when: 'command.cleanup', to: over }, { to: ping } ] } }
  over: { final: completed }
  off: { final: aborted }
";

/// A workflow without readers and effects, with a state file.
struct Plain {
    dir: PathBuf,
}

impl Support for Plain {
    fn read(&self, role: &Role, _: &RunState, _: u32) -> Result<Reading, HandlerError> {
        Err(Fault::bug(format!("no reader {}", role.reader)).into())
    }

    fn prepare(&self, asked: &EffectRequest<'_>, _: &RunState) -> Result<Value, HandlerError> {
        Err(Fault::bug(format!("no effect {}", asked.effect)).into())
    }

    fn perform(&self, _: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
        Err(Fault::bug(format!("no effect {}", pending.name)))
    }

    fn look(&self, _: &RunState, pending: &Pending) -> Result<EffectState, Fault> {
        Err(Fault::bug(format!("no effect {}", pending.name)))
    }

    fn context(
        &self,
        _: &PromptRequest,
        _: &RunState,
        _: Option<&Fault>,
    ) -> Result<Vec<u8>, Fault> {
        Ok(Vec::new())
    }

    fn payload(
        &self,
        _: &Domain,
        _: &RunState,
        _: &RunState,
        _: &[Event],
    ) -> Option<Map<String, Value>> {
        None
    }

    fn derive(&self, run: &RunState, _: &[Event]) {
        let state = serde_json::json!({
            "runId": run.run,
            "status": run.status,
            "next": run.next(),
            "lastUpdated": run.updated_at,
        });
        let _ = journal::derived::replace_if_changed(
            &self.dir.join("state.json"),
            format!("{state:#}\n").as_bytes(),
        );
    }
}

fn report(number: u64) -> Command {
    Command::Report(Report {
        digest: format!("{number:064}"),
        ..Report::default()
    })
}

pub fn transition(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    // A journal lies in the folder of its run.
    let dir = folder.path().join("bench");
    std::fs::create_dir(&dir).expect("a folder");
    journal::FileJournal::create(&dir).expect("a journal");
    let support = Plain { dir: dir.clone() };
    let definition = Arc::new(Definition::parse(PING).expect("a definition"));
    std::fs::write(dir.join("workflow.yaml"), PING).expect("a file");
    let begun = OpenRun::begin(&dir, definition, "bench", &SystemClock)
        .and_then(|mut open| {
            open.command(
                &support,
                &Command::Start(Box::new(Start {
                    run: "bench".to_owned(),
                    definition: PING.to_owned(),
                    definition_hash: journal::sha256_hex(PING.as_bytes()),
                    ..Start::default()
                })),
            )
        })
        .expect("begun");
    assert!(matches!(begun, CommandOutcome::Moved(_)));

    let mut number = 0;
    let mut step = || {
        number += 1;
        let mut open = OpenRun::open(&dir, LOCK_WAIT.into(), "bench", &SystemClock).expect("open");
        let done = open.command(&support, &report(number)).expect("decided");
        assert!(matches!(done, CommandOutcome::Moved(_)));
    };
    let path = dir.join("activity.jsonl");
    step();
    let before = std::fs::metadata(&path).expect("a journal").len();
    step();
    let bytes = std::fs::metadata(&path).expect("a journal").len() - before;
    let line = vec![b'x'; usize::try_from(bytes).expect("small")];
    let mut bare = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.path().join("bare"))
        .expect("a file");

    let mut group = criterion.benchmark_group("engine");
    group.bench_function("bare append + fdatasync", |bencher| {
        bencher.iter(|| {
            bare.write_all(&line).expect("written");
            bare.sync_data().expect("synced");
        });
    });
    group.bench_function("one transition", |bencher| bencher.iter(&mut step));
    group.finish();
}
