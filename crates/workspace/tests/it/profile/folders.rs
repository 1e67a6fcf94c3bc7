//! What a cloned repository may put into a profile's folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use workspace::profile::Phase;

use super::{LEAST, Scene, load, view};

/// A good profile to which something is done that a cloned repository may come with.
type Change<'a> = (&'a str, &'a dyn Fn(&Scene));

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
fn what_is_unsafe_is_refused_and_not_waited_for() {
    let link = |scene: &Scene, target: &str| symlink(target, scene.path("link")).unwrap();
    let linked = |scene: &Scene, linked: &str| {
        let [linked, elsewhere] = [linked, "elsewhere"].map(|name| scene.folder.path().join(name));
        fs::rename(&linked, &elsewhere).unwrap();
        symlink(&elsewhere, &linked).unwrap();
    };
    let many = |scene: &Scene, make: &dyn Fn(PathBuf)| {
        (0..501).for_each(|number| make(scene.path(&number.to_string())));
    };
    let long = format!("{LEAST}# {}\n", "x".repeat(64 * 1024));
    let write = |scene: &Scene, name: &str, text: &str| {
        testkit::files::write(&scene.path(name), text);
    };
    let changes: [Change<'_>; 18] = [
        ("a link to the folder", &|scene| link(scene, ".")),
        ("a link above it", &|scene| link(scene, "..")),
        ("a link to nowhere", &|scene| link(scene, "nowhere")),
        ("a link to itself", &|scene| link(scene, "link")),
        ("a link out", &|scene| {
            fs::write(scene.folder.path().join("secret"), "root:x").unwrap();
            link(scene, "../../../../secret");
        }),
        ("a folder elsewhere", &|scene| {
            linked(scene, "project/.taskmaster/profiles/own")
        }),
        ("all elsewhere", &|scene| {
            linked(scene, "project/.taskmaster")
        }),
        ("a file in place of the folder", &|scene| {
            fs::remove_dir_all(scene.profile_folder()).unwrap();
            fs::write(scene.profile_folder(), "no folder").unwrap();
        }),
        ("a pipe", &|scene| pipe(&scene.path("pipe"))),
        ("a pipe in place of a template", &|scene| {
            fs::remove_file(scene.path("planning.md")).unwrap();
            pipe(&scene.path("planning.md"));
        }),
        ("a link to a pipe", &|scene| {
            pipe(&scene.path("pipe"));
            link(scene, "pipe");
        }),
        ("a socket", &|scene| {
            std::mem::forget(UnixListener::bind(scene.path("socket")).unwrap());
        }),
        ("a long profile", &|scene| {
            write(scene, "profile.yaml", &long)
        }),
        // A file with a hole takes no room on the disk, and as much as it says when it is read.
        ("a huge file", &|scene| {
            let huge = fs::File::create(scene.path("huge")).unwrap();
            huge.set_len(1 << 40).unwrap();
        }),
        ("many files", &|scene| {
            many(scene, &|path| fs::write(path, "").unwrap())
        }),
        ("many folders", &|scene| {
            many(scene, &|path| fs::create_dir(path).unwrap())
        }),
        ("deep folders", &|scene| {
            write(scene, &format!("{}x", "d/".repeat(20)), "")
        }),
        ("a name that would forge a line", &|scene| {
            write(scene, "a\nb", "")
        }),
    ];
    for (what, change) in changes {
        let scene = Scene::new(LEAST);
        change(&scene);
        assert_eq!(scene.fault().0, "profile_unsafe", "{what}");
    }
}

#[test]
fn what_is_missing_too_large_or_unreadable_is_named() {
    for (name, code) in [
        ("profile.yaml", "profile_invalid"),
        ("revision.md", "profile_invalid"),
        ("review.md", "profile_invalid"),
        ("planning.md", "profile_io"),
    ] {
        let scene = Scene::new(LEAST);
        let path = scene.path(name);
        match name {
            "review.md" => fs::write(path, "x".repeat(256 * 1024 + 1)).unwrap(),
            "planning.md" => {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
                // Nothing is closed to the superuser.
                if fs::read(path).is_ok() {
                    continue;
                }
            }
            _ => fs::remove_file(path).unwrap(),
        }
        let (found, text) = scene.fault();
        assert_eq!(found, code, "{name}");
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
