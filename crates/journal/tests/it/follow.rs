use std::fs;

use journal::{FileJournal, Follower, Head, Journal, JournalError, Position};

use crate::scene::{PATIENT, Scene, TS, line_ends, unit, units};

#[test]
fn a_follower_sees_each_unit_once_and_only_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("activity.jsonl");
    let mut follower = Follower::new(&path, Position::start());
    assert_eq!(follower.poll().unwrap(), []);

    let journal = units(&[1, 3, 2]);
    let bytes = journal.bytes();
    let all = journal.read(&Position::start()).unwrap().records;
    let ends = line_ends(bytes);
    let mut seen = Vec::new();
    for cut in 0..=bytes.len() {
        fs::write(&path, &bytes[..cut]).unwrap();
        let new = follower.poll().unwrap();
        let expected = match cut {
            _ if cut == ends[0] => 1,
            _ if cut == ends[3] => 3,
            _ if cut == ends[5] => 2,
            _ => 0,
        };
        assert_eq!(new.len(), expected, "at {cut}");
        seen.extend(new);
    }
    assert_eq!(seen, all);
    assert_eq!(
        follower.position(),
        &Position::from(&journal.head().unwrap())
    );
}

#[test]
fn a_torn_unit_may_be_cut_off_and_replaced() {
    let scene = Scene::new();
    let head = scene
        .lock()
        .append(&Head::empty(), TS, &unit(0, 1))
        .unwrap();
    let mut follower = Follower::new(scene.path(), Position::start());
    assert_eq!(follower.poll().unwrap().len(), 1);

    let mut bytes = scene.bytes();
    bytes.extend(b"{\"ts\":\"torn");
    fs::write(scene.path(), bytes).unwrap();
    assert_eq!(follower.poll().unwrap(), []);
    FileJournal::lock(scene.dir(), PATIENT, "test")
        .unwrap()
        .append(&head, TS, &unit(1, 2))
        .unwrap();
    assert_eq!(follower.poll().unwrap().len(), 2);
}

#[test]
fn a_replaced_journal_is_told() {
    let scene = Scene::with(units(&[2, 2]).bytes());
    let mut follower = Follower::new(scene.path(), Position::start());
    follower.poll().unwrap();
    fs::write(scene.path(), units(&[1]).bytes()).unwrap();
    let lost = follower.poll();
    assert!(
        matches!(lost, Err(JournalError::PositionLost { .. })),
        "{lost:?}"
    );
}

#[test]
fn a_journal_that_vanished_is_no_silence() {
    let scene = Scene::with(units(&[2]).bytes());
    let mut follower = Follower::new(scene.path(), Position::start());
    follower.poll().unwrap();
    fs::remove_file(scene.path()).unwrap();
    assert!(follower.poll().is_err());
}
