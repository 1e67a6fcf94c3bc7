//! Finding the project's root.

use std::fs;

use workspace::config::{RootMarker, find_root, first_in_project, prepared_first, session_folders};

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

#[test]
fn the_project_of_a_session_is_the_first_that_its_client_names() {
    let mut place = Place::new();
    for project in ["a", "b", "plugin"] {
        fs::create_dir_all(place.path(project).join(".git")).unwrap();
    }
    fs::create_dir_all(place.path("none")).unwrap();
    fs::create_dir_all(place.path("b/.taskmaster")).unwrap();
    let path = |place: &Place, name: &str| place.path(name);
    for (named, own, expected) in [
        (&["a", "b"][..], "b", Some("a")),
        (&["none", "b"], "a", Some("b")),
        (&["none"], "a", None),
        (&[], "a", Some("a")),
        (&[], "none", None),
        // A client that names the folder of a plugin works on it.
        (&["plugin"], "a", Some("plugin")),
        (&[], "plugin", None),
    ] {
        place = place.file("plugin/.claude-plugin/plugin.json", "{}");
        let named = named.iter().map(|name| path(&place, name)).collect();
        let folders = session_folders(named, &path(&place, own));
        let found = first_in_project(&folders, &place.environment());
        let expected = expected.map(|name| path(&place, name));
        assert_eq!(found, expected.as_deref(), "{folders:?}");
    }

    let mut roots = ["a", "b", "none"].map(|name| path(&place, name));
    prepared_first(&mut roots);
    assert_eq!(roots, ["b", "a", "none"].map(|name| path(&place, name)));
}

#[test]
fn a_plugin_is_known_by_its_manifest() {
    let servers = r#"{"name": "x", "mcpServers": "servers.json"}"#;
    for (manifest, text, is_plugin) in [
        ("plugin.json", servers, true),
        ("plugin.json", r#"{"type": "panel"}"#, false),
        (".claude-plugin/plugin.json", "{}", true),
        (".codex-plugin/plugin.json", "{}", true),
        ("gemini-extension.json", "{}", true),
        ("package.json", servers, false),
    ] {
        let place = Place::new().file(&format!("p/{manifest}"), text);
        let own = place.path("p");
        let folders = session_folders(Vec::new(), &own);
        assert_eq!(folders.is_empty(), is_plugin, "{manifest}: {text}");
        fs::create_dir(own.join(".taskmaster")).unwrap();
        assert_eq!(session_folders(Vec::new(), &own), [own]);
    }
}
