use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};

use journal::disk::Disk;
use journal::{FileJournal, Head, Journal, JournalError, Position, RunLock, verify};

use crate::scene::{PATIENT, Scene, TS, unit};

/// What happens at a step instead of success.
#[derive(Clone, Copy, Debug)]
enum Mishap {
    Fail(io::ErrorKind),
    /// Only so many bytes are taken.
    Short(usize),
}

#[derive(Clone, Debug, Default)]
struct Script {
    writes: VecDeque<Mishap>,
    flushes: VecDeque<Mishap>,
    truncates: VecDeque<Mishap>,
    calls: Vec<&'static str>,
}

#[derive(Debug)]
struct FaultyDisk {
    file: File,
    script: Arc<Mutex<Script>>,
}

fn outcome(mishap: Option<Mishap>) -> io::Result<()> {
    match mishap {
        Some(Mishap::Fail(kind)) => Err(kind.into()),
        _ => Ok(()),
    }
}

impl Disk for FaultyDisk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut script = self.script.lock().unwrap();
        script.calls.push("write");
        match script.writes.pop_front() {
            Some(Mishap::Short(taken)) => Disk::append(&mut self.file, &bytes[..taken]),
            Some(Mishap::Fail(kind)) => Err(kind.into()),
            None => Disk::append(&mut self.file, bytes),
        }
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let mut script = self.script.lock().unwrap();
        script.calls.push("sync_data");
        outcome(script.flushes.pop_front())
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        let mut script = self.script.lock().unwrap();
        script.calls.push("truncate");
        outcome(script.truncates.pop_front())?;
        self.file.set_len(len)
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.script.lock().unwrap().calls.push("sync_all");
        Ok(())
    }
}

struct Stage {
    scene: Scene,
    journal: FileJournal,
    script: Arc<Mutex<Script>>,
    head: Head,
}

/// A journal with one unit on a disk that follows `script` from then on.
fn stage(script: Script) -> Stage {
    let scene = Scene::new();
    let head = scene
        .lock()
        .append(&Head::empty(), TS, &unit(0, 2))
        .unwrap();
    let script = Arc::new(Mutex::new(script));
    let lock = RunLock::acquire(scene.dir(), PATIENT, "test").unwrap();
    let journal = FileJournal::on_disk(lock, scene.dir(), |file| {
        Box::new(FaultyDisk {
            file,
            script: Arc::clone(&script),
        })
    })
    .unwrap();
    Stage {
        scene,
        journal,
        script,
        head,
    }
}

impl Stage {
    fn append(&mut self) -> Result<Head, JournalError> {
        self.journal.append(&self.head, TS, &unit(1, 3))
    }

    fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.script.lock().unwrap().calls)
    }
}

#[test]
fn an_append_is_one_write_and_one_flush() {
    let mut stage = stage(Script::default());
    stage.append().unwrap();
    assert_eq!(stage.calls(), ["write", "sync_data"]);
}

#[test]
fn a_failed_write_leaves_nothing_and_works_when_the_cause_is_gone() {
    for kind in [
        io::ErrorKind::StorageFull,
        io::ErrorKind::ReadOnlyFilesystem,
        io::ErrorKind::PermissionDenied,
    ] {
        for short in [None, Some(Mishap::Short(0)), Some(Mishap::Short(150))] {
            let writes = short.into_iter().chain([Mishap::Fail(kind)]).collect();
            let mut stage = stage(Script {
                writes,
                ..Script::default()
            });
            let before = stage.scene.bytes();

            let error = stage.append().unwrap_err();
            let JournalError::AppendFailed {
                step: "the write",
                undo: None,
                source,
                ..
            } = &error
            else {
                panic!("{error:?}")
            };
            if !matches!(short, Some(Mishap::Short(0))) {
                assert_eq!(source.kind(), kind);
                assert!(error.suggestion().is_some());
            }
            assert!(
                error.to_string().contains("nothing was recorded"),
                "{error}"
            );
            assert_eq!(stage.scene.bytes(), before);
            assert_eq!(stage.calls().last(), Some(&"sync_all"));

            stage.script.lock().unwrap().writes.clear();
            stage.append().unwrap();
            assert_eq!(stage.scene.records().len(), 5);
        }
    }
}

#[test]
fn a_short_write_is_gone_on_with() {
    let mut stage = stage(Script {
        writes: [
            Mishap::Short(10),
            Mishap::Fail(io::ErrorKind::Interrupted),
            Mishap::Short(200),
        ]
        .into(),
        ..Script::default()
    });
    stage.append().unwrap();
    assert_eq!(
        stage.calls(),
        ["write", "write", "write", "write", "sync_data"]
    );
    assert_eq!(verify(&stage.scene.path()).unwrap().events, 5);
}

#[test]
fn a_failed_flush_takes_the_unit_back() {
    let mut stage = stage(Script {
        flushes: [Mishap::Fail(io::ErrorKind::Other)].into(),
        ..Script::default()
    });
    let before = stage.scene.bytes();
    let error = stage.append().unwrap_err();
    assert!(
        matches!(
            error,
            JournalError::AppendFailed {
                step: "the flush",
                undo: None,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(stage.scene.bytes(), before);
    assert_eq!(
        stage.calls(),
        ["write", "sync_data", "truncate", "sync_all"]
    );
    stage.append().unwrap();
}

#[test]
fn when_taking_back_fails_too_it_is_said_and_what_is_complete_counts() {
    let fail = [Mishap::Fail(io::ErrorKind::Other)];
    let mut stage = stage(Script {
        flushes: fail.into(),
        truncates: fail.into(),
        ..Script::default()
    });
    let error = stage.append().unwrap_err();
    assert!(
        error.to_string().contains("the next load decides"),
        "{error}"
    );
    // All of the unit reached the file, so it counts, and the writer learns that the journal moved on.
    assert_eq!(stage.scene.records().len(), 5);
    assert!(matches!(stage.append(), Err(JournalError::Conflict { .. })));

    let mut stage = stage_with_torn_write();
    assert_eq!(stage.scene.records().len(), 2);
    stage.append().unwrap();
    assert_eq!(stage.scene.records().len(), 5);
}

/// A stage on which a unit was half written and could not be taken back.
fn stage_with_torn_write() -> Stage {
    let mut stage = stage(Script {
        writes: [Mishap::Short(333), Mishap::Fail(io::ErrorKind::StorageFull)].into(),
        truncates: [Mishap::Fail(io::ErrorKind::Other)].into(),
        ..Script::default()
    });
    let error = stage.append().unwrap_err();
    assert!(
        matches!(error, JournalError::AppendFailed { undo: Some(_), .. }),
        "{error:?}"
    );
    stage
}

#[test]
fn when_a_torn_unit_cannot_be_cut_off_nothing_is_appended() {
    let mut stage = stage_with_torn_write();
    let torn = stage.scene.bytes();
    stage.script.lock().unwrap().truncates = [Mishap::Fail(io::ErrorKind::Other)].into();
    let error = stage.append().unwrap_err();
    assert!(matches!(error, JournalError::Io { .. }), "{error:?}");
    assert_eq!(stage.scene.bytes(), torn);
    let tail = stage.journal.read(&Position::start()).unwrap();
    assert_eq!((tail.records.len(), tail.torn_bytes), (2, 333));
}
