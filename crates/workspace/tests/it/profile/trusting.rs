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

fn with_command() -> Scene {
    let responses = "responses: { planning: { command: [sh, a.sh] } }";
    Scene::new(&format!("{LEAST}{responses}\n"))
}

#[test]
fn trust_is_for_a_folder_as_it_is() {
    let scene = with_command();
    let store = scene.store();
    let is_trusted = || {
        let trusted = scene.load().unwrap().is_trusted(&store).unwrap();
        let listed = list(&scene.root(), Some(&store));
        let own = listed.iter().find(|one| one.name == "own").unwrap();
        assert_eq!(own.trusted, Some(trusted));
        trusted
    };
    assert!(!is_trusted());
    let folder = scene.profile_folder().canonicalize().unwrap();
    let hash = scene.load().unwrap().hash;
    assert!(trust(&store, &folder, &hash) && trust(&store, &folder, &hash));
    assert!(is_trusted());
    assert_eq!(store.all().unwrap().len(), 1);
    let elsewhere = Path::new("/elsewhere");
    assert!(
        !store
            .is_trusted(Subject::Profile, elsewhere, &hash)
            .unwrap()
    );

    fs::write(scene.path("a.sh"), "rm -rf /").unwrap();
    assert!(!is_trusted());
    assert!(store.last(Subject::Profile, &folder).unwrap().is_some());
    fs::remove_file(scene.path("a.sh")).unwrap();
    assert!(is_trusted());

    assert!(store.revoke(Subject::Profile, &folder).unwrap());
    assert!(!store.revoke(Subject::Profile, &folder).unwrap());
    assert!(!is_trusted());
}

#[test]
fn writers_at_once_lose_nothing() {
    let scene = Scene::empty();
    let store = &scene.store();
    thread::scope(|scope| {
        for writer in 0..8 {
            scope.spawn(move || {
                for number in 0..5 {
                    let folder = format!("/profiles/{writer}-{number}");
                    assert!(trust(store, Path::new(&folder), "00"));
                }
            });
        }
    });
    assert_eq!(store.all().unwrap().len(), 40);
}

#[test]
fn the_list_is_the_users_alone() {
    let scene = Scene::empty();
    let store = scene.store();
    assert!(trust(&store, Path::new("/a"), "00"));
    let home = scene.folder.path().join("home/.taskmaster");
    let file = home.join("trusted.json");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&home)), (0o600, 0o700));
    // Nothing is left beside it but the lock.
    assert_eq!(fs::read_dir(&home).unwrap().count(), 2);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let asked = store.is_trusted(Subject::Profile, Path::new("/a"), "00");
    assert_eq!(asked.unwrap_err().code(), "trust_store");
}

#[test]
fn a_damaged_list_trusts_nothing_and_is_not_written_over() {
    let scene = Scene::empty();
    let store = scene.store();
    assert!(trust(&store, Path::new("/a"), "00"));
    let file = scene.folder.path().join("home/.taskmaster/trusted.json");
    for text in ["", "{", "[]", "{\"version\": 2, \"trusted\": []}"] {
        fs::write(&file, text).unwrap();
        let asked = store.is_trusted(Subject::Profile, Path::new("/a"), "00");
        assert_eq!(asked.unwrap_err().code(), "trust_store", "{text}");
        assert!(!trust(&store, Path::new("/b"), "00"));
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}
