use std::fs;

use journal::{Head, Journal, Position, verify};

use crate::scene::{Scene, TS, line_ends, refused, unit, units};

const KEPT: &str = "activity.jsonl.damaged-2025-10-07T14-30-00-123Z";

#[test]
fn repair_keeps_the_whole_units_before_the_damage_and_the_old_file() {
    let honest = units(&[2, 3, 1]);
    let ends = line_ends(honest.bytes());
    let mut bytes = honest.bytes().to_vec();
    bytes[ends[2] + 200] ^= 1; // the second line of the second unit
    bytes.extend(b"torn");
    let scene = Scene::with(&bytes);
    assert_eq!(refused(scene.lock().read(&Position::start())), "Damaged");

    let mut writer = scene.lock();
    let repaired = writer.repair(TS).unwrap().unwrap();
    assert_eq!(repaired.kept, scene.dir().join(KEPT));
    assert_eq!(fs::read(&repaired.kept).unwrap(), bytes);
    assert_eq!(scene.bytes(), &bytes[..ends[1]]);
    assert_eq!(repaired.lost_events, 5);
    assert_eq!(repaired.lost_bytes, (bytes.len() - ends[1]) as u64);

    let head = writer.append(&repaired.head, TS, &unit(9, 1)).unwrap();
    assert_eq!(head.seq, 3);
    assert_eq!(verify(&scene.path()).unwrap().head, head);
    assert_eq!(fs::read(&repaired.kept).unwrap(), bytes);
}

#[test]
fn what_is_whole_or_merely_torn_is_left_alone() {
    for tail in ["", "torn"] {
        let bytes = [units(&[2, 3]).bytes(), tail.as_bytes()].concat();
        let scene = Scene::with(&bytes);
        assert_eq!(scene.lock().repair(TS).unwrap(), None);
        assert_eq!(scene.bytes(), bytes);
    }
}

#[test]
fn a_second_repair_in_the_same_millisecond_keeps_both_files() {
    let scene = Scene::with(b"not a journal\n");
    let mut writer = scene.lock();
    let first = writer.repair(TS).unwrap().unwrap();
    assert_eq!((first.head, first.lost_events), (Head::empty(), 1));
    fs::write(scene.path(), b"spoilt\nagain").unwrap();
    let second = writer.repair(TS).unwrap().unwrap();
    assert_eq!(second.kept, scene.dir().join(format!("{KEPT}-2")));
    assert_eq!(second.lost_events, 2);
    assert_eq!(fs::read(first.kept).unwrap(), b"not a journal\n");
}

#[test]
fn repair_needs_the_lock_and_a_time() {
    let scene = Scene::with(b"not a journal\n");
    assert_eq!(refused(scene.open().repair(TS)), "NotLocked");
    assert_eq!(refused(scene.lock().repair("now")), "InvalidEvent");
    assert_eq!(scene.bytes(), b"not a journal\n");
}
