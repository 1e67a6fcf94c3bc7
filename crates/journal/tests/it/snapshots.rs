use std::fs;
use std::os::unix::fs::MetadataExt;

use journal::{
    Journal, Loaded, Position, SnapshotFile, derived, durable, load_with_snapshot, should_snapshot,
};
use serde_json::value::{RawValue, to_raw_value};

use crate::scene::{Scene, TS, mode, refused, unit, units};

fn state() -> Box<RawValue> {
    to_raw_value(&serde_json::json!({ "state": "green", "counters": { "retries": 2 } })).unwrap()
}

/// A journal of three units with a snapshot after the second.
fn scene() -> (Scene, Position) {
    let scene = Scene::with(units(&[2, 1]).bytes());
    let mut writer = scene.lock();
    let head = writer.head().unwrap();
    SnapshotFile::new(scene.dir())
        .write(&head.position(), &state())
        .unwrap();
    writer.append(&head, TS, &unit(2, 3)).unwrap();
    (scene, head.position())
}

fn assert_loads_without(scene: &Scene) {
    let loaded = load_with_snapshot(scene.dir()).unwrap();
    assert_eq!((loaded.snapshot.is_none(), loaded.tail.len()), (true, 6));
    assert_eq!(loaded.tail_bytes(), loaded.head.len);
}

/// Every way in which a file may be cut, or changed in one place.
fn spoilt(whole: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let cut = (0..whole.len()).map(|at| whole[..at].to_vec());
    let changed = (0..whole.len()).map(|at| {
        let mut changed = whole.to_vec();
        changed[at] ^= 1;
        changed
    });
    cut.chain(changed)
}

#[test]
fn a_run_is_loaded_from_its_snapshot_and_the_tail() {
    let (scene, position) = scene();
    let Loaded {
        snapshot,
        tail,
        head,
        torn_bytes,
    } = load_with_snapshot(scene.dir()).unwrap();
    let snapshot = snapshot.unwrap();
    assert_eq!(snapshot.position, position);
    assert_eq!(snapshot.state.get(), state().get());
    let written = fs::metadata(scene.dir().join("snapshot.json")).unwrap();
    assert_eq!(snapshot.file_len, written.len());
    assert_eq!((tail[0].seq, tail.len()), (4, 3));
    assert_eq!((head.seq, torn_bytes), (6, 0));
    // The journal before the snapshot is not read.
    let mut bytes = scene.bytes();
    bytes[..100].fill(0);
    fs::write(scene.path(), bytes).unwrap();
    assert_eq!(load_with_snapshot(scene.dir()).unwrap().tail.len(), 3);
}

#[test]
fn a_snapshot_missing_torn_or_changed_anywhere_is_not_used() {
    let (scene, _) = scene();
    let path = scene.dir().join("snapshot.json");
    let whole = fs::read(&path).unwrap();
    for bytes in spoilt(&whole) {
        fs::write(&path, bytes).unwrap();
        assert_loads_without(&scene);
    }
    fs::remove_file(&path).unwrap();
    assert_loads_without(&scene);
}

#[test]
fn a_snapshot_of_another_version_or_run_is_not_used() {
    let (scene, position) = scene();
    let file = SnapshotFile::new(scene.dir());
    let text = fs::read_to_string(file.path()).unwrap();
    fs::write(file.path(), text.replacen("\"v\":3", "\"v\":2", 1)).unwrap();
    assert_loads_without(&scene);

    let mut elsewhere = position;
    elsewhere.hash = "e".repeat(64);
    file.write(&elsewhere, &state()).unwrap();
    assert_loads_without(&scene);
    // A snapshot that outlived the end of the journal that it was taken from tells that this was cut.
    elsewhere.offset = 1 << 40;
    file.write(&elsewhere, &state()).unwrap();
    assert_eq!(refused(load_with_snapshot(scene.dir())), "Damaged");
}

#[test]
fn a_part_missing_torn_or_changed_anywhere_is_not_used() {
    let scene = Scene::new();
    let file = SnapshotFile::new(scene.dir());
    let bytes: Vec<u8> = (0..500_u16).map(|at| (at % 251) as u8).collect();
    let name = file.keep_part(&bytes, None).unwrap();
    assert_eq!(file.part(&name).as_deref(), Some(&bytes[..]));
    let path = scene.dir().join("snapshot-parts").join(&name);
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    for bytes in spoilt(&bytes) {
        fs::write(&path, bytes).unwrap();
        assert!(file.part(&name).is_none());
    }
    // Kept anew, it is what it was.
    assert_eq!(file.keep_part(&bytes, None).unwrap(), name);
    assert_eq!(file.part(&name).as_deref(), Some(&bytes[..]));
    fs::remove_file(&path).unwrap();
    assert!(file.part(&name).is_none());
    assert_eq!(file.keep_part(&bytes, Some(&name)).unwrap(), name);
    assert_eq!(file.part(&name).as_deref(), Some(&bytes[..]));
    let upper = name.to_uppercase();
    for foreign in ["", "../snapshot.json", "a-b", &name[1..], &upper] {
        assert!(file.part(foreign).is_none(), "{foreign}");
    }
}

#[test]
fn parts_that_no_snapshot_names_are_removed() {
    let scene = Scene::new();
    let file = SnapshotFile::new(scene.dir());
    file.keep_only(&[]).unwrap();
    let one = file.keep_part(b"one", None).unwrap();
    let two = file.keep_part(b"two", None).unwrap();
    let half = scene.dir().join("snapshot-parts/.tramline-abc.tmp");
    fs::write(half, b"half").unwrap();
    file.keep_only(std::slice::from_ref(&two)).unwrap();
    assert!(file.part(&one).is_none());
    assert_eq!(file.part(&two).as_deref(), Some(&b"two"[..]));
    let folder = scene.dir().join("snapshot-parts");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    file.keep_only(&[]).unwrap();
    assert!(!folder.exists());
}

#[test]
fn damage_in_the_tail_is_an_error_with_or_without_a_snapshot() {
    let (scene, position) = scene();
    let mut bytes = scene.bytes();
    bytes[usize::try_from(position.offset).unwrap()] = b'#';
    fs::write(scene.path(), bytes).unwrap();
    assert!(load_with_snapshot(scene.dir()).is_err());
    fs::remove_file(scene.dir().join("snapshot.json")).unwrap();
    assert!(load_with_snapshot(scene.dir()).is_err());
}

#[test]
fn a_snapshot_is_due_when_the_tail_has_outgrown_it() {
    for (tail, snapshot, due) in [
        (0, 0, false),
        (16 * 1024, 0, false),
        (16 * 1024 + 1, 0, true),
        (16 * 1024 + 1, 20_000, false),
        (20_001, 20_000, true),
    ] {
        assert_eq!(should_snapshot(tail, snapshot), due, "{tail} {snapshot}");
    }
}

#[test]
fn a_derived_file_is_replaced_only_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    let inode = || fs::metadata(&path).unwrap().ino();

    assert!(derived::replace_if_changed(&path, b"one").unwrap());
    let first = inode();
    assert!(!derived::replace_if_changed(&path, b"one").unwrap());
    assert_eq!(inode(), first);
    assert!(derived::replace_if_changed(&path, b"two").unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    // What killed processes left goes with the next that writes there, or finds that it need not.
    let left = folder.path().join(".tramline-abc.tmp");
    for text in [&b"two"[..], b"three"] {
        fs::write(&left, b"half").unwrap();
        derived::replace_if_changed(&path, text).unwrap();
        assert!(!left.exists());
    }
    fs::write(&left, b"half").unwrap();
    durable::replace_durably(&path, b"four").unwrap();
    assert!(!left.exists());
    // A folder may be in use, which its lock does not say.
    fs::create_dir(&left).unwrap();
    derived::replace_if_changed(&path, b"five").unwrap();
    assert!(left.exists());
    assert_eq!(derived::remove_leftovers(folder.path()).unwrap(), 1);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_replaces_one_of_a_repository_lies_in_git_folder_until_then() {
    let project = tempfile::tempdir().unwrap();
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(project.path().join(folder)).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    fs::create_dir_all(project.path().join("main/.git/worktrees/linked")).unwrap();
    fs::create_dir_all(project.path().join("linked/docs")).unwrap();
    let pointer = "gitdir: ../main/.git/worktrees/linked\n";
    fs::write(project.path().join("linked/.git"), pointer).unwrap();
    for (file, git) in [
        ("main/a", "main/.git"),
        ("linked/docs/a", "main/.git/worktrees/linked"),
        ("elsewhere", "."),
    ] {
        let path = project.path().join(file);
        let before = names(git);
        // One that a killed process left, and one that is being written.
        fs::write(project.path().join(git).join(".tramline-dead.tmp"), "half").unwrap();
        let other = durable::aside_of(&path, 0o666).unwrap();
        let aside = durable::aside_of(&path, 0o666).unwrap();
        assert_eq!(names(git).len(), before.len() + 2, "{file}");
        assert!(other.path().exists() && !path.exists());
        durable::put_in_place(aside, &path, false).unwrap();
        let taken = durable::put_in_place(other, &path, false).unwrap_err();
        assert_eq!(taken.kind(), std::io::ErrorKind::AlreadyExists);
        fs::remove_file(path).unwrap();
        assert_eq!(names(git), before, "{file}");
    }
}
