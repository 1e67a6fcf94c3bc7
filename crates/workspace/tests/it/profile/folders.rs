//! What a cloned repository may put into a profile's folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use workspace::profile::Phase;

use super::{LEAST, Scene, load, view};

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
    let cases = "link .,link ..,link nowhere,link link,link ../../../../secret,link pipe,\
                 moved project/.taskmaster/profiles/own,moved project/.taskmaster,replaced folder,\
                 pipe own,pipe planning.md,socket own,long profile.yaml,huge file,many files,many folders,file a\nb";
    let deep = format!("file {}x", "d/".repeat(20));
    for case in cases.split(',').chain([&*deep]) {
        let scene = Scene::new(LEAST);
        fs::write(scene.folder.path().join("secret"), "root:x").unwrap();
        let (what, name) = case.split_once(' ').unwrap();
        let path = scene.path(name);
        if what == "pipe" {
            let _ = fs::remove_file(&path);
        }
        match what {
            "link" => symlink(name, scene.path("link")).unwrap(),
            "moved" => {
                let [from, to] = [name, "elsewhere"].map(|name| scene.folder.path().join(name));
                fs::rename(&from, &to).unwrap();
                symlink(&to, &from).unwrap();
            }
            "replaced" => {
                fs::remove_dir_all(scene.profile_folder()).unwrap();
                fs::write(scene.profile_folder(), "no folder").unwrap();
            }
            "socket" => std::mem::forget(UnixListener::bind(path).unwrap()),
            "long" => fs::write(path, format!("{LEAST}# {}\n", "x".repeat(64 * 1024))).unwrap(),
            // A file with a hole takes no room on the disk, and as much as it says when it is read.
            "huge" => fs::File::create(path).unwrap().set_len(1 << 40).unwrap(),
            "file" => testkit::files::write(&path, ""),
            _ => {}
        }
        if name.starts_with("pipe") || what == "pipe" {
            pipe(&scene.path(name));
        }
        for number in (0..501).filter(|_| what == "many") {
            let path = scene.path(&number.to_string());
            match name {
                "files" => fs::write(path, "").unwrap(),
                _ => fs::create_dir(path).unwrap(),
            }
        }
        assert_eq!(scene.fault().0, "unsafe_path", "{case}");
    }
}

#[test]
fn what_is_missing_too_large_or_unreadable_is_named() {
    for (name, code) in [
        ("profile.yaml", "profile_invalid"),
        ("revision.md", "profile_invalid"),
        ("review.md", "profile_invalid"),
        ("planning.md", "io_failed"),
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
