//! Finding the project's root.

use std::fs;

use workspace::config::{RootMarker, find_root};

use super::Place;

#[test]
fn the_nearest_taskmaster_folder_then_git() {
    for (folders, start, expected, found_by) in [
        (
            &["p/.taskmaster", "p/.git", "p/a/b"][..],
            "p/a/b",
            "p",
            RootMarker::Taskmaster,
        ),
        (
            &["p/.git", "p/a/.taskmaster", "p/a/b"],
            "p/a/b",
            "p/a",
            RootMarker::Taskmaster,
        ),
        (
            &["p/.taskmaster", "p/a/.git", "p/a/b"],
            "p/a/b",
            "p",
            RootMarker::Taskmaster,
        ),
        (&["p/.git", "p/a/b"], "p/a/b", "p", RootMarker::Git),
        (
            &["p/.git", "p/a/.git", "p/a/b"],
            "p/a/b",
            "p/a",
            RootMarker::Git,
        ),
        (&["p/.git"], "p", "p", RootMarker::Git),
        // The folder of the runs makes the home no project.
        (
            &["home/.taskmaster", "home/p/.git", "home/p/a"],
            "home/p/a",
            "home/p",
            RootMarker::Git,
        ),
        (
            &["home/.taskmaster", "home/.git", "home/p"],
            "home/p",
            "home",
            RootMarker::Git,
        ),
        (
            &["home/p/.taskmaster", "home/.taskmaster"],
            "home/p",
            "home/p",
            RootMarker::Taskmaster,
        ),
    ] {
        let place = Place::new();
        for folder in folders {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        let root = find_root(&place.path(start), &place.environment());
        assert_eq!(
            root.path,
            fs::canonicalize(place.path(expected)).unwrap(),
            "{folders:?}"
        );
        assert_eq!(root.found_by, found_by, "{folders:?}");
    }
}

#[test]
fn a_worktree_has_a_file_called_git_and_a_marker_must_be_a_folder() {
    let place = Place::new()
        .file("w/.git", "gitdir: elsewhere")
        .file("w/a/.taskmaster", "");
    let root = find_root(&place.path("w/a"), &place.environment());
    assert_eq!(root.path, fs::canonicalize(place.path("w")).unwrap());
    assert_eq!(root.found_by, RootMarker::Git);
}

#[test]
fn a_store_elsewhere_is_no_project_either() {
    let place = Place::new();
    fs::create_dir_all(place.path("s/.taskmaster")).unwrap();
    fs::create_dir_all(place.path("s/p/.git")).unwrap();
    let store = place.path("s/.taskmaster").to_string_lossy().into_owned();
    let place = place.variable("TRAMLINE_HOME", &store);
    let root = find_root(&place.path("s/p"), &place.environment());
    assert_eq!(root.found_by, RootMarker::Git);
}
