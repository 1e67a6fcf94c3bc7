use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;

use journal::layout::{Home, LayoutError};
use journal::sha256_hex;

use crate::scene::{mode, refused};

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn the_folder_is_named_after_the_path() {
    let base = tempfile::tempdir().unwrap();
    let home = Home::new(base.path().join("not/yet"));
    let deep = format!("/{}/é", "d".repeat(148));
    let long = format!("/{}", "l".repeat(4000));
    for (path, name) in [
        ("/home/ada/engine", "home-ada-engine".to_owned()),
        ("/", "root".to_owned()),
        ("/with\nline", "with-line".to_owned()),
        (deep.as_str(), format!("{}-", "d".repeat(148))),
        (long.as_str(), "l".repeat(150)),
    ] {
        let path = Path::new(path);
        assert_eq!(home.find_project(path).unwrap(), None);
        let project = home.project(path).unwrap();
        assert_eq!(name_of(project.path()), name);
        assert_eq!(home.find_project(path).unwrap().as_ref(), Some(&project));
        assert_eq!(home.project(path).unwrap(), project);
        assert_eq!(mode(project.path()), 0o700);
    }
}

#[test]
fn projects_made_at_once_are_kept_apart() {
    let base = tempfile::tempdir().unwrap();
    let home = Home::new(base.path());
    let paths = ["/a/b/c", "/a-b/c", "/a/b-c", "/a-b-c"];
    let made: Vec<_> = thread::scope(|scope| {
        let make = |number: usize| {
            let home = &home;
            scope.spawn(move || home.project(Path::new(paths[number % 4])).unwrap())
        };
        let threads: Vec<_> = (0..16).map(make).collect();
        let made = threads.into_iter().map(|thread| thread.join().unwrap());
        made.collect()
    });
    let folders: BTreeSet<_> = made.iter().map(|project| name_of(project.path())).collect();
    assert_eq!(folders.len(), 4);
    let hashed = paths.map(|path| format!("a-b-c-{}", &sha256_hex(path.as_bytes())[..8]));
    let is_named = |name: &String| name == "a-b-c" || hashed.contains(name);
    assert!(folders.iter().all(is_named), "{folders:?}");
    for project in &made {
        let found = home.find_project(project.real_path()).unwrap();
        assert_eq!(found.as_ref(), Some(project));
    }
}

#[test]
fn a_path_that_cannot_be_recorded_is_refused() {
    let home = Home::new("/nowhere");
    for path in [&b"relative"[..], b"", b"/a/../b", b"/a/\xff"] {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        assert_eq!(refused(home.project(path)), "ProjectPath");
    }
}

#[test]
fn a_folder_that_does_not_say_whose_it_is_is_named() {
    let base = tempfile::tempdir().unwrap();
    let home = Home::new(base.path());
    let project = home.project(Path::new("/p")).unwrap();
    let file = project.path().join("project.json");
    fs::write(&file, "{").unwrap();
    let found = home.find_project(Path::new("/p"));
    let Err(LayoutError::Unreadable { path, .. }) = found else {
        panic!("{found:?}");
    };
    assert_eq!(path, file);
    fs::remove_file(&file).unwrap();
    assert_eq!(home.project(Path::new("/p")).unwrap(), project);
}

#[test]
fn tags_that_differ_only_in_case_have_their_own_folders() {
    let base = tempfile::tempdir().unwrap();
    let project = Home::new(base.path()).project(Path::new("/p")).unwrap();
    assert_eq!(project.find_tag("Main").unwrap(), None);
    let upper = project.tag("Main").unwrap();
    let lower = project.tag("main").unwrap();
    assert_eq!(name_of(upper.path()), "Main");
    let hashed = format!("main-{}", &sha256_hex(b"main")[..8]);
    assert_eq!(name_of(lower.path()), hashed);
    assert_eq!(project.tag("Main").unwrap(), upper);
    assert_eq!(project.tag("main").unwrap(), lower);
    assert_eq!(project.find_tag("main").unwrap(), Some(lower.clone()));
    let current = lower.path().join("current-run.json");
    assert_eq!(lower.current_run_path(), current);

    let longest = "T".repeat(200);
    project.tag(&longest).unwrap();
    project.tag(&longest.to_lowercase()).unwrap();
    for name in ["feature/login", "..", ""] {
        assert_eq!(refused(project.tag(name)), "Name");
        assert_eq!(refused(project.find_tag(name)), "Name");
    }
}
