use std::thread;

use journal::error::EventFlaw;
use journal::{
    FileJournal, Head, Journal, JournalError, MemoryJournal, NewEvent, Position, sha256_hex,
};
use serde_json::{Value, json};

use crate::scene::{PATIENT, Scene, TS, event, refused, unit};

#[test]
fn a_line_has_its_keys_in_order_and_names_the_hash_of_the_one_before() {
    let mut journal = MemoryJournal::new();
    let events = [
        event("phase:start", &json!({ "zeta": 1, "alpha": [true, null] })),
        event("error", &json!({})),
    ];
    let head = journal.append(&Head::empty(), TS, &events).unwrap();

    let text = String::from_utf8(journal.bytes().to_vec()).unwrap();
    let zeros = "0".repeat(64);
    let first = format!(
        r#"{{"ts":"{TS}","seq":1,"prev":"{zeros}","k":1,"n":2,"v":2,"event":"phase:start","zeta":1,"alpha":[true,null]}}"#
    );
    let prev = sha256_hex(first.as_bytes());
    let body = format!(r#"{{"ts":"{TS}","seq":2,"prev":"{prev}","k":2,"n":2,"event":"error""#);
    let last = format!(r#"{body},"u":"{}"}}"#, sha256_hex(body.as_bytes()));
    assert_eq!(text, format!("{first}\n{last}\n"));
    assert_eq!((head.seq, head.hash), (2, sha256_hex(last.as_bytes())));
    let lengths = (text.len() as u64, last.len() as u64);
    assert_eq!((head.len, head.line_len), lengths);
}

#[test]
fn a_stale_head_is_a_conflict_and_changes_nothing() {
    let scene = Scene::new();
    let mut journal = scene.lock();
    let first = journal.append(&Head::empty(), TS, &unit(0, 1)).unwrap();
    let second = journal.append(&first, TS, &unit(1, 40)).unwrap();
    let before = scene.bytes();
    for stale in [Head::empty(), first.clone()] {
        match journal.append(&stale, TS, &unit(9, 1)) {
            Err(JournalError::Conflict { expected, found }) => {
                assert_eq!((*expected, *found), (stale, second.clone()));
            }
            other => panic!("{other:?}"),
        }
    }
    let (mut hashed, mut longer) = (second.clone(), second);
    hashed.hash = "f".repeat(64);
    longer.len += 10;
    for wrong in [hashed, longer] {
        let outcome = journal.append(&wrong, TS, &unit(9, 1));
        assert_eq!(refused(outcome), "Conflict");
    }
    assert_eq!(scene.bytes(), before);
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    fn flaw(ts: &str, events: &[NewEvent]) -> EventFlaw {
        match MemoryJournal::new().append(&Head::empty(), ts, events) {
            Err(JournalError::InvalidEvent { flaw, .. }) => flaw,
            other => panic!("{other:?}"),
        }
    }
    let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    let error = |fields: Value| flaw(TS, &[event("error", &fields)]);
    assert_eq!(flaw(TS, &[]), EventFlaw::EmptyUnit);
    assert_eq!(flaw(TS, &[event("", &json!({}))]), EventFlaw::NoName);
    for key in journal::record::RESERVED_KEYS {
        let reserved = EventFlaw::ReservedField(key.to_owned());
        assert_eq!(error(json!({ key: null })), reserved);
    }
    assert_eq!(error(json!({ "deep": nested(101) })), EventFlaw::TooDeep);
    let huge = "x".repeat(journal::record::MAX_LINE_BYTES);
    assert_eq!(error(json!({ "huge": huge })), EventFlaw::TooLong);
    for ts in [
        "",
        "2025-10-07T14:30:00Z",
        "2025-10-07T14:30:00.123+00:00",
        "2025-13-07T14:30:00.123Z",
    ] {
        assert_eq!(flaw(ts, &unit(0, 1)), EventFlaw::Time(ts.to_owned()));
    }

    let mut journal = MemoryJournal::new();
    let deepest = event("error", &json!({ "deep": nested(100) }));
    journal.append(&Head::empty(), TS, &[deepest]).unwrap();
    assert_eq!(journal.read(&Position::start()).unwrap().records.len(), 1);
}

#[test]
fn writers_in_many_threads_take_turns() {
    const THREADS: usize = 20;
    const APPENDS: usize = 20;
    let scene = Scene::new();
    thread::scope(|scope| {
        for number in 0..THREADS {
            let scene = &scene;
            scope.spawn(move || {
                for turn in 0..APPENDS {
                    let mut journal = scene.lock();
                    let head = journal.head().unwrap();
                    let events = unit(number * APPENDS + turn, 1 + turn % 3);
                    journal.append(&head, TS, &events).unwrap();
                }
            });
        }
    });
    let report = journal::verify(&scene.path()).unwrap();
    assert_eq!((report.damage, report.torn_bytes), (None, 0));
    let records = scene.records();
    let first = records.iter().filter(|record| record.k == 1);
    let seen = first.map(|record| record.fields["unit"].as_u64().unwrap());
    let mut seen: Vec<u64> = seen.collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..(THREADS * APPENDS) as u64).collect::<Vec<_>>());
}

#[test]
fn without_the_lock_nothing_is_appended() {
    let scene = Scene::new();
    let outcome = scene.open().append(&Head::empty(), TS, &unit(0, 1));
    assert_eq!(refused(outcome), "NotLocked");
    assert!(scene.bytes().is_empty());
}

#[test]
fn a_journal_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("activity.jsonl");
    for missing in [
        FileJournal::open(folder.path()).err(),
        FileJournal::lock(folder.path(), PATIENT, "test").err(),
        journal::verify(&path).err(),
    ] {
        let Some(JournalError::Missing { path: named }) = missing else {
            panic!("{missing:?}");
        };
        assert_eq!(named, path);
    }
}
