use std::fs;
use std::time::Duration;

use journal::{DamageKind, FileJournal, Head, Journal, load_with_snapshot, verify};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::scene::{Scene, TS, line_ends, refused, unit};

/// Three units of two events, by a writer.
fn written() -> (Scene, Vec<usize>) {
    let scene = Scene::new();
    let mut head = Head::empty();
    for number in 0..3 {
        head = scene.append(&head, &unit(number, 2));
    }
    let ends = line_ends(&scene.bytes());
    (scene, vec![0, ends[1], ends[3], ends[5]])
}

fn cut(scene: &Scene, len: usize) {
    fs::write(scene.path(), &scene.bytes()[..len]).unwrap();
}

#[test]
fn a_journal_that_was_cut_at_the_end_of_a_unit_is_named() {
    for kept in [2, 1, 0] {
        let (scene, ends) = written();
        cut(&scene, ends[kept]);
        let damage = verify(&scene.path()).unwrap().damage.unwrap();
        assert_eq!(damage.line, 2 * kept as u64 + 1);
        assert!(matches!(damage.kind, DamageKind::Cut { known: 6, .. }));
        assert_eq!(refused(load_with_snapshot(scene.dir())), "Damaged");
        assert!(scene.lock().load().is_err());
        let old = scene.bytes();
        let repaired = scene.lock().repair(TS).unwrap().unwrap();
        assert_eq!(repaired.head.seq, 2 * kept as u64);
        assert_eq!(fs::read(&repaired.kept).unwrap(), old);
        assert_eq!(verify(&scene.path()).unwrap().damage, None);
        let head = scene.append(&repaired.head, &unit(9, 1));
        assert_eq!(verify(&scene.path()).unwrap().head, head);
        assert_eq!(fs::read(&repaired.kept).unwrap(), old);
    }
}

#[test]
fn a_unit_that_was_torn_is_cut_off_all_the_same() {
    let (scene, ends) = written();
    cut(&scene, ends[3] - 7);
    assert_eq!(verify(&scene.path()).unwrap().damage, None);
    let loaded = scene.lock().load().unwrap();
    assert!(loaded.torn_bytes > 0);
    scene.append(&loaded.head, &unit(9, 1));
    // But not one that is torn and was not the last.
    let (scene, ends) = written();
    cut(&scene, ends[2] - 7);
    assert!(verify(&scene.path()).unwrap().damage.is_some());
}

#[test]
fn a_newer_format_is_refused_beside_a_snapshot_too() {
    let (scene, _) = written();
    let head = scene.open().head().unwrap();
    let text = String::from_utf8(scene.bytes()).unwrap();
    fs::write(scene.path(), text.replacen("\"v\":2", "\"v\":3", 1)).unwrap();
    let read = scene.open().read(&head.position());
    assert_eq!(refused(read), "NewerFormat");
    assert!(scene.lock().append(&head, TS, &unit(9, 1)).is_err());
}

#[test]
fn a_pipe_in_the_place_of_a_journal_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["activity.jsonl", "snapshot.json", "lock"] {
        let (pipe, mode) = (FileType::Fifo, Mode::from_raw_mode(0o600));
        mknodat(CWD, folder.path().join(name), pipe, mode, 0).unwrap();
    }
    assert!(load_with_snapshot(folder.path()).is_err());
    assert!(verify(&folder.path().join("activity.jsonl")).is_err());
    assert!(FileJournal::lock(folder.path(), Duration::ZERO, "test").is_err());
    fs::remove_file(folder.path().join("lock")).unwrap();
    assert!(FileJournal::lock(folder.path(), Duration::ZERO, "test").is_err());
}
