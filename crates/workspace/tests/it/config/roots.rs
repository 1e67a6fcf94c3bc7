//! Finding the project's root.

use std::fs;

use workspace::config::{find_root, first_in_project, prepared_first, session_folders};

use super::Place;

#[test]
fn the_nearest_taskmaster_folder_then_git() {
    for case in [
        "p/.taskmaster p/.git p/a/b | p/a/b ⇒ p Taskmaster",
        "p/.git p/a/.taskmaster p/a/b | p/a/b ⇒ p/a Taskmaster",
        "p/.taskmaster p/a/.git p/a/b | p/a/b ⇒ p Taskmaster",
        "p/.git p/a/b | p/a/b ⇒ p Git",
        "p/.git p/a/.git p/a/b | p/a/b ⇒ p/a Git",
        "p/.git | p ⇒ p Git",
        // The folder of the runs makes the home no project, nor a store elsewhere.
        "home/.taskmaster home/p/.git home/p/a | home/p/a ⇒ home/p Git",
        "home/.taskmaster home/.git home/p | home/p ⇒ home Git",
        "home/p/.taskmaster home/.taskmaster | home/p ⇒ home/p Taskmaster",
        "s/.taskmaster s/p/.git | s/p ⇒ s/p Git",
        // A worktree has a file called `.git`, and a marker must be a folder.
        "w/.git=gitdir: w/a/.taskmaster= | w/a ⇒ w Git",
    ] {
        let (folders, expected) = case.split_once(" ⇒ ").unwrap();
        let (folders, start) = folders.split_once(" | ").unwrap();
        let (expected, found_by) = expected.split_once(' ').unwrap();
        let mut place = Place::new();
        for folder in folders.split(' ') {
            match folder.split_once('=') {
                Some((file, text)) => place = place.file(file, text),
                None => fs::create_dir_all(place.path(folder)).unwrap(),
            }
        }
        if folders.starts_with("s/") {
            let store = place.path("s/.taskmaster").to_string_lossy().into_owned();
            place = place.variable("TRAMLINE_HOME", &store);
        }
        let root = find_root(&place.path(start), &place.environment());
        let expected = fs::canonicalize(place.path(expected)).unwrap();
        assert_eq!(root.path, expected, "{case}");
        assert_eq!(format!("{:?}", root.found_by), found_by, "{case}");
    }
}

#[test]
fn the_project_of_a_session_is_the_first_that_its_client_names() {
    let mut place = Place::new();
    for project in ["a", "b", "plugin"] {
        fs::create_dir_all(place.path(project).join(".git")).unwrap();
    }
    fs::create_dir_all(place.path("none")).unwrap();
    fs::create_dir_all(place.path("b/.taskmaster")).unwrap();
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
        let named = named.iter().map(|name| place.path(name)).collect();
        let folders = session_folders(named, &place.path(own));
        let found = first_in_project(&folders, &place.environment());
        let expected = expected.map(|name| place.path(name));
        assert_eq!(found, expected.as_deref(), "{folders:?}");
    }

    let mut roots = ["a", "b", "none"].map(|name| place.path(name));
    prepared_first(&mut roots);
    assert_eq!(roots, ["b", "a", "none"].map(|name| place.path(name)));
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
