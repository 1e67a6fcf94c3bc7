//! What a cloned repository may put into a profile's folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use workspace::profile::Phase;

use super::{LEAST, Scene, load, view};

/// The code of the fault, once this was done to a good profile.
fn code_after(change: impl FnOnce(&Scene)) -> &'static str {
    let scene = Scene::new(LEAST);
    change(&scene);
    scene.fault().0
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_link_within_the_folder_is_the_file_it_leads_to() {
    let scene = Scene::new(LEAST).file("texts/one.md", "one for all");
    fs::remove_file(scene.path("review.md")).unwrap();
    symlink("texts/one.md", scene.path("review.md")).unwrap();
    let profile = scene.load().unwrap();
    let prompt = profile.render(Phase::Review, &view(serde_json::json!({})));
    assert_eq!(prompt.unwrap(), "one for all");
}

#[test]
fn links_out_to_folders_and_to_nowhere_are_refused() {
    for target in [".", "..", "nowhere", "loop", "../../../../secret"] {
        let scene = Scene::new(LEAST);
        fs::write(scene.folder.path().join("secret"), "root:x").unwrap();
        symlink(target, scene.path("loop")).unwrap();
        let (code, text) = scene.fault();
        assert_eq!(code, "profile_unsafe", "{target}");
        assert!(text.contains("loop"), "{text}");
    }
}

#[test]
fn the_folder_itself_must_not_lie_elsewhere() {
    for linked in ["project/.taskmaster/profiles/own", "project/.taskmaster"] {
        let code = code_after(|scene| {
            let [linked, elsewhere] =
                [linked, "elsewhere"].map(|name| scene.folder.path().join(name));
            fs::rename(&linked, &elsewhere).unwrap();
            symlink(&elsewhere, &linked).unwrap();
        });
        assert_eq!(code, "profile_unsafe", "{linked}");
    }
    let code = code_after(|scene| {
        fs::remove_dir_all(scene.profile_folder()).unwrap();
        fs::write(scene.profile_folder(), "no folder").unwrap();
    });
    assert_eq!(code, "profile_unsafe");
}

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    type Change = (&'static str, fn(&Scene));
    let changes: [Change; 4] = [
        ("a pipe", |scene| pipe(&scene.path("pipe"))),
        ("in place of a template", |scene| {
            fs::remove_file(scene.path("planning.md")).unwrap();
            pipe(&scene.path("planning.md"));
        }),
        ("a link to one", |scene| {
            pipe(&scene.path("pipe"));
            symlink("pipe", scene.path("link")).unwrap();
        }),
        ("a socket", |scene| {
            std::mem::forget(UnixListener::bind(scene.path("socket")).unwrap());
        }),
    ];
    for (what, change) in changes {
        assert_eq!(code_after(change), "profile_unsafe", "{what}");
    }
}

#[test]
fn what_is_too_large_is_named() {
    let long = format!("{LEAST}# {}\n", "x".repeat(64 * 1024));
    let template = "x".repeat(256 * 1024 + 1);
    for (scene, code, named) in [
        (Scene::new(&long), "profile_unsafe", "profile.yaml"),
        (
            Scene::new(LEAST).file("review.md", template),
            "profile_invalid",
            "review.md",
        ),
        (Scene::new(LEAST).file("huge", ""), "profile_unsafe", "huge"),
    ] {
        if named == "huge" {
            // A file with a hole takes no room on the disk, and as much as it says when it is read.
            let huge = fs::File::create(scene.path("huge")).unwrap();
            huge.set_len(1 << 40).unwrap();
        }
        let (found, text) = scene.fault();
        assert_eq!(found, code, "{named}");
        assert!(text.contains(named), "{text}");
    }
}

#[test]
fn too_many_files_and_folders_are_refused() {
    let files = code_after(|scene| {
        for number in 0..500 {
            fs::write(scene.path(&number.to_string()), "").unwrap();
        }
    });
    let folders = code_after(|scene| {
        for number in 0..501 {
            fs::create_dir(scene.path(&number.to_string())).unwrap();
        }
    });
    let deep = Scene::new(LEAST).file(&format!("{}x", "d/".repeat(20)), "");
    assert_eq!([files, folders, deep.fault().0], ["profile_unsafe"; 3]);
}

#[test]
fn a_name_that_would_forge_a_line_is_refused() {
    let scene = Scene::new(LEAST).file("a\nb", "");
    assert_eq!(scene.fault().0, "profile_unsafe");
}

#[test]
fn what_cannot_be_read_is_named() {
    let scene = Scene::new(LEAST);
    fs::set_permissions(scene.path("review.md"), fs::Permissions::from_mode(0o000)).unwrap();
    // Nothing is closed to the superuser.
    if fs::read(scene.path("review.md")).is_err() {
        let (code, text) = scene.fault();
        assert_eq!(code, "profile_io");
        assert!(text.contains("review.md"), "{text}");
    }
}

#[test]
fn a_missing_file_is_told() {
    for name in ["profile.yaml", "revision.md"] {
        let scene = Scene::new(LEAST);
        fs::remove_file(scene.path(name)).unwrap();
        let (code, text) = scene.fault();
        assert_eq!(code, "profile_invalid");
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn a_project_without_the_folder_has_the_built_in_profiles() {
    let folder = tempfile::TempDir::new().unwrap();
    assert!(load(folder.path(), "generic").is_ok());
    fs::write(folder.path().join(".taskmaster"), "a file").unwrap();
    assert!(load(folder.path(), "generic").is_ok());
}
