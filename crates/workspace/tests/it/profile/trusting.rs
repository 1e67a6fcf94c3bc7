//! Which commands may run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;

use workspace::trust::{Subject, TrustStore};

use super::{LEAST, Scene, list};

/// Trusts the folder at this place, in the state of this hash.
pub(super) fn trust(store: &TrustStore, folder: &Path, hash: &str) -> bool {
    let trusted = store.trust(Subject::Profile, folder, "own", hash, &[]);
    trusted.is_ok()
}

#[test]
fn trust_is_for_a_folder_as_it_is() {
    let responses = "responses: { planning: { command: [sh, a.sh] } }";
    let scene = Scene::new(&format!("{LEAST}{responses}\n"));
    let store = scene.store();
    let is_trusted = || {
        let trusted = scene.load().unwrap().is_trusted(&store).unwrap();
        let mut listed = list(&scene.root(), Some(&store)).into_iter();
        let own = listed.find(|one| one.name == "own").unwrap();
        assert_eq!(own.trusted, Some(trusted));
        trusted
    };
    assert!(!is_trusted());
    let folder = scene.profile_folder().canonicalize().unwrap();
    let hash = scene.load().unwrap().hash;
    assert!(trust(&store, &folder, &hash) && trust(&store, &folder, &hash));
    assert!(is_trusted());
    assert_eq!(store.all().unwrap().len(), 1);
    let elsewhere = store.is_trusted(Subject::Profile, Path::new("/elsewhere"), &hash);
    assert!(!elsewhere.unwrap());

    fs::write(scene.path("a.sh"), "rm -rf /").unwrap();
    assert!(!is_trusted());
    assert!(store.last(Subject::Profile, &folder).unwrap().is_some());
    fs::remove_file(scene.path("a.sh")).unwrap();
    assert!(is_trusted());
    for was_there in [true, false] {
        assert_eq!(store.revoke(Subject::Profile, &folder).unwrap(), was_there);
        assert!(!is_trusted());
    }
}

#[test]
fn writers_at_once_lose_nothing() {
    let scene = Scene::empty();
    let store = &scene.store();
    let write = |writer: u32| {
        let mut folders = (0..5).map(|number| format!("/profiles/{writer}-{number}"));
        assert!(folders.all(|folder| trust(store, Path::new(&folder), "00")));
    };
    thread::scope(|scope| {
        (0..8).for_each(|writer| drop(scope.spawn(move || write(writer))));
    });
    assert_eq!(store.all().unwrap().len(), 40);
}

#[test]
fn a_damaged_list_trusts_nothing_and_is_not_written_over() {
    let scene = Scene::empty();
    let store = scene.store();
    let asked = || store.is_trusted(Subject::Profile, Path::new("/a"), "00");
    assert!(trust(&store, Path::new("/a"), "00"));
    // The list is the user's alone; nothing is left beside it but the lock.
    let home = scene.folder.path().join("home/.taskmaster");
    let file = home.join("trusted.json");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&home)), (0o600, 0o700));
    assert_eq!(fs::read_dir(&home).unwrap().count(), 2);
    for text in ["", "{", "[]", "{\"version\": 2, \"trusted\": []}"] {
        fs::write(&file, text).unwrap();
        assert_eq!(asked().unwrap_err().code(), "io_failed", "{text}");
        assert!(!trust(&store, Path::new("/b"), "00"));
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    fs::write(&file, "{\"version\": 1, \"trusted\": []}").unwrap();
    assert!(!asked().unwrap());
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    set(&file, 0o666);
    assert_eq!(asked().unwrap_err().code(), "io_failed");
    // Whoever may write the folder can put another list in its place.
    set(&file, 0o600);
    set(&home, 0o770);
    assert_eq!(asked().unwrap_err().code(), "io_failed");
    set(&home, 0o1777);
    assert!(!asked().unwrap());
}
