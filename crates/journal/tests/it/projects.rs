use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;

use journal::layout::{Home, LayoutError};
use journal::sha256_hex;

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
        assert_eq!(home.find_project(Path::new(path)).unwrap(), None);
        let project = home.project(Path::new(path)).unwrap();
        assert_eq!(name_of(project.path()), name);
        assert_eq!(
            home.find_project(Path::new(path)).unwrap().as_ref(),
            Some(&project)
        );
        assert_eq!(home.project(Path::new(path)).unwrap(), project);
        let mode = fs::metadata(project.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}

#[test]
fn two_paths_never_share_a_folder() {
    let base = tempfile::tempdir().unwrap();
    let home = Home::new(base.path());
    let first = home.project(Path::new("/a/b-c")).unwrap();
    let second = home.project(Path::new("/a/b/c")).unwrap();
    assert_eq!(name_of(first.path()), "a-b-c");
    assert_eq!(
        name_of(second.path()),
        format!("a-b-c-{}", &sha256_hex(b"/a/b/c")[..8])
    );
    assert_eq!(home.find_project(Path::new("/a/b-c")).unwrap(), Some(first));
    assert_eq!(
        home.find_project(Path::new("/a/b/c")).unwrap(),
        Some(second)
    );
    assert_eq!(home.find_project(Path::new("/a-b/c")).unwrap(), None);
}

#[test]
fn projects_made_at_once_are_kept_apart() {
    let base = tempfile::tempdir().unwrap();
    let home = Home::new(base.path());
    let paths = ["/a/b/c", "/a-b/c", "/a/b-c", "/a-b-c"];
    let made: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|number| {
                let home = &home;
                scope.spawn(move || home.project(Path::new(paths[number % 4])).unwrap())
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let mut folders: Vec<_> = made
        .iter()
        .map(|project| project.path().to_owned())
        .collect();
    folders.sort();
    folders.dedup();
    assert_eq!(folders.len(), 4);
    for project in &made {
        assert_eq!(
            home.find_project(project.real_path()).unwrap().as_ref(),
            Some(project)
        );
    }
}

#[test]
fn a_path_that_cannot_be_recorded_is_refused() {
    let home = Home::new("/nowhere");
    let not_text = Path::new(std::ffi::OsStr::from_bytes(b"/a/\xff"));
    for path in [
        Path::new("relative"),
        Path::new(""),
        Path::new("/a/../b"),
        not_text,
    ] {
        let refused = home.project(path);
        assert!(
            matches!(refused, Err(LayoutError::ProjectPath { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn a_folder_that_does_not_say_whose_it_is_is_named() {
    let base = tempfile::tempdir().unwrap();
    let home = Home::new(base.path());
    let project = home.project(Path::new("/p")).unwrap();
    let file = project.path().join("project.json");
    fs::write(&file, "{").unwrap();
    match home.find_project(Path::new("/p")) {
        Err(LayoutError::Unreadable { path, .. }) => assert_eq!(path, file),
        other => panic!("{other:?}"),
    }
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
    assert_eq!(
        name_of(lower.path()),
        format!("main-{}", &sha256_hex(b"main")[..8])
    );
    assert_eq!(project.tag("Main").unwrap(), upper);
    assert_eq!(project.tag("main").unwrap(), lower);
    assert_eq!(project.find_tag("main").unwrap(), Some(lower.clone()));
    assert_eq!(
        lower.current_run_path(),
        lower.path().join("current-run.json")
    );

    let longest = "T".repeat(200);
    project.tag(&longest).unwrap();
    project.tag(&longest.to_lowercase()).unwrap();
    for refused in ["feature/login", "..", ""] {
        assert!(matches!(project.tag(refused), Err(LayoutError::Name(_))));
        assert!(matches!(
            project.find_tag(refused),
            Err(LayoutError::Name(_))
        ));
    }
}
