//! Which commands may run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;

use workspace::trust::Subject;

use super::{LEAST, Scene, list};

#[test]
fn trust_is_for_a_folder_as_it_is() {
    let scene = Scene::new(&format!(
        "{LEAST}responses: {{ planning: {{ command: [sh, a.sh] }} }}\n"
    ));
    let store = scene.store();
    let profile = scene.load().unwrap();
    assert!(!profile.is_trusted(&store).unwrap());
    let folder = scene.profile_folder().canonicalize().unwrap();
    store
        .trust(Subject::Profile, &folder, "own", &profile.hash, &[])
        .unwrap();
    store
        .trust(Subject::Profile, &folder, "own", &profile.hash, &[])
        .unwrap();
    assert!(profile.is_trusted(&store).unwrap());
    assert_eq!(store.all().unwrap().len(), 1);
    assert!(
        !store
            .is_trusted(Subject::Profile, Path::new("/elsewhere"), &profile.hash)
            .unwrap()
    );

    let scene = scene.file("a.sh", "rm -rf /");
    let changed = scene.load().unwrap();
    assert!(
        !changed.is_trusted(&store).unwrap()
            && store.last(Subject::Profile, &folder).unwrap().is_some()
    );
    fs::remove_file(scene.path("a.sh")).unwrap();
    assert!(scene.load().unwrap().is_trusted(&store).unwrap());

    assert!(store.revoke(Subject::Profile, &folder).unwrap());
    assert!(!store.revoke(Subject::Profile, &folder).unwrap());
    assert!(!scene.load().unwrap().is_trusted(&store).unwrap());
}

#[test]
fn a_list_of_profiles_says_what_is_trusted() {
    let scene = Scene::new(&format!(
        "{LEAST}responses: {{ planning: {{ command: [sh] }} }}\n"
    ));
    let store = scene.store();
    let trusted = || {
        let listed = list(&scene.root(), Some(&store));
        listed.iter().find(|one| one.name == "own").unwrap().trusted
    };
    assert_eq!(trusted(), Some(false));
    let folder = scene.profile_folder().canonicalize().unwrap();
    store
        .trust(
            Subject::Profile,
            &folder,
            "own",
            &scene.load().unwrap().hash,
            &[],
        )
        .unwrap();
    assert_eq!(trusted(), Some(true));
}

#[test]
fn writers_at_once_lose_nothing() {
    let scene = Scene::empty();
    let store = scene.store();
    thread::scope(|scope| {
        for writer in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..5 {
                    let folder = format!("/profiles/{writer}-{number}");
                    store
                        .trust(Subject::Profile, Path::new(&folder), "own", "00", &[])
                        .unwrap();
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
    store
        .trust(Subject::Profile, Path::new("/a"), "own", "00", &[])
        .unwrap();
    let home = scene.folder.path().join("home/.taskmaster");
    let file = home.join("trusted.json");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(&home), 0o700);
    // Nothing is left beside it but the lock.
    assert_eq!(fs::read_dir(&home).unwrap().count(), 2);

    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let error = store
        .is_trusted(Subject::Profile, Path::new("/a"), "00")
        .unwrap_err();
    assert_eq!(error.code(), "trust_store");
    assert!(error.to_string().contains("written by others"), "{error}");
}

#[test]
fn a_damaged_list_trusts_nothing_and_is_not_written_over() {
    let scene = Scene::empty();
    let store = scene.store();
    store
        .trust(Subject::Profile, Path::new("/a"), "own", "00", &[])
        .unwrap();
    let file = scene.folder.path().join("home/.taskmaster/trusted.json");
    for text in ["", "{", "[]", "{\"version\": 2, \"trusted\": []}"] {
        fs::write(&file, text).unwrap();
        let error = store
            .is_trusted(Subject::Profile, Path::new("/a"), "00")
            .unwrap_err();
        assert_eq!(error.code(), "trust_store", "{text}");
        assert!(error.suggestion().contains("trusted.json"));
        assert!(
            store
                .trust(Subject::Profile, Path::new("/b"), "own", "00", &[])
                .is_err()
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}
