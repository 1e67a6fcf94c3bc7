use std::fs;

use journal::{Follower, Head, Journal, Position};

use crate::scene::{Scene, line_ends, refused, unit, units};

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
        let units = [(ends[0], 1), (ends[3], 3), (ends[5], 2)];
        let expected = units.iter().find(|(end, _)| cut == *end);
        assert_eq!(new.len(), expected.map_or(0, |(_, size)| *size), "at {cut}");
        seen.extend(new);
    }
    assert_eq!(seen, all);
    let end = Position::from(&journal.head().unwrap());
    assert_eq!(follower.position(), &end);
}

#[test]
fn a_torn_unit_may_be_cut_off_and_replaced() {
    let scene = Scene::new();
    let head = scene.append(&Head::empty(), &unit(0, 1));
    let mut follower = Follower::new(scene.path(), Position::start());
    assert_eq!(follower.poll().unwrap().len(), 1);

    let mut bytes = scene.bytes();
    bytes.extend(b"{\"ts\":\"torn");
    fs::write(scene.path(), bytes).unwrap();
    assert_eq!(follower.poll().unwrap(), []);
    scene.append(&head, &unit(1, 2));
    assert_eq!(follower.poll().unwrap().len(), 2);
}

#[test]
fn a_journal_that_was_replaced_or_vanished_is_told() {
    let scene = Scene::with(units(&[2, 2]).bytes());
    let [mut follower, mut other] =
        [scene.path(), scene.path()].map(|path| Follower::new(path, Position::start()));
    follower.poll().unwrap();
    other.poll().unwrap();
    fs::write(scene.path(), units(&[1]).bytes()).unwrap();
    assert_eq!(refused(follower.poll()), "PositionLost");
    fs::remove_file(scene.path()).unwrap();
    assert!(other.poll().is_err());
}
