use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};

use journal::disk::Disk;
use journal::{FileJournal, Head, Journal, JournalError, Position, RunLock, verify};

use crate::scene::{PATIENT, Scene, TS, refused, unit};

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
        let mishap = script.writes.pop_front();
        outcome(mishap)?;
        let taken = match mishap {
            Some(Mishap::Short(taken)) => taken,
            _ => bytes.len(),
        };
        Disk::append(&mut self.file, &bytes[..taken])
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
    let head = scene.append(&Head::empty(), &unit(0, 2));
    let script = Arc::new(Mutex::new(script));
    let lock = RunLock::acquire(scene.dir(), PATIENT, "test").unwrap();
    let on_disk = |file| -> Box<dyn Disk> {
        let script = Arc::clone(&script);
        Box::new(FaultyDisk { file, script })
    };
    let journal = FileJournal::on_disk(lock, scene.dir(), on_disk).unwrap();
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

    /// An append that fails: where, whether it could not be taken back, and why.
    fn fails(&mut self) -> (&'static str, bool, JournalError) {
        let error = self.append().unwrap_err();
        let JournalError::AppendFailed { step, undo, .. } = &error else {
            panic!("{error:?}");
        };
        (*step, undo.is_some(), error)
    }

    fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.script.lock().unwrap().calls)
    }
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
            let (step, is_left, error) = stage.fails();
            assert_eq!((step, is_left), ("the write", false));
            if !matches!(short, Some(Mishap::Short(0))) {
                let JournalError::AppendFailed { source, .. } = &error else {
                    unreachable!()
                };
                assert_eq!(source.kind(), kind);
                assert!(error.suggestion().is_some());
            }
            assert!(error.to_string().contains("nothing was recorded"));
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
    let interrupted = Mishap::Fail(io::ErrorKind::Interrupted);
    let mut stage = stage(Script {
        writes: [Mishap::Short(10), interrupted, Mishap::Short(200)].into(),
        ..Script::default()
    });
    stage.head = stage.append().unwrap();
    let expected = ["write", "write", "write", "write", "sync_data"];
    assert_eq!(stage.calls(), expected);
    assert_eq!(verify(&stage.scene.path()).unwrap().events, 5);
    // Without a mishap it is one write and one flush.
    stage.append().unwrap();
    assert_eq!(stage.calls(), ["write", "sync_data"]);
}

const FAIL: [Mishap; 1] = [Mishap::Fail(io::ErrorKind::Other)];

#[test]
fn a_failed_flush_takes_the_unit_back() {
    let mut stage = stage(Script {
        flushes: FAIL.into(),
        ..Script::default()
    });
    let before = stage.scene.bytes();
    let (step, is_left, _) = stage.fails();
    assert_eq!((step, is_left), ("the flush", false));
    assert_eq!(stage.scene.bytes(), before);
    let expected = ["write", "sync_data", "truncate", "sync_all"];
    assert_eq!(stage.calls(), expected);
    stage.append().unwrap();
}

#[test]
fn when_taking_back_fails_too_it_is_said_and_what_is_complete_counts() {
    let mut stage = stage(Script {
        flushes: FAIL.into(),
        truncates: FAIL.into(),
        ..Script::default()
    });
    let (_, is_left, error) = stage.fails();
    assert!(is_left && error.to_string().contains("the next load decides"));
    // All of the unit reached the file, so it counts, and the writer learns that the journal moved on.
    assert_eq!(stage.scene.records().len(), 5);
    assert_eq!(refused(stage.append()), "Conflict");
}

#[test]
fn a_unit_that_was_half_written_and_not_taken_back_is_cut_off_before_the_next() {
    let mut stage = stage(Script {
        writes: [Mishap::Short(333), Mishap::Fail(io::ErrorKind::StorageFull)].into(),
        truncates: FAIL.into(),
        ..Script::default()
    });
    assert!(stage.fails().1);
    let torn = stage.scene.bytes();
    // Where that fails, nothing is appended.
    stage.script.lock().unwrap().truncates = FAIL.into();
    assert_eq!(refused(stage.append()), "Io");
    assert_eq!(stage.scene.bytes(), torn);
    let tail = stage.journal.read(&Position::start()).unwrap();
    assert_eq!((tail.records.len(), tail.torn_bytes), (2, 333));
    stage.append().unwrap();
    assert_eq!(stage.scene.records().len(), 5);
}
