//! What a cloned repository may put into a profile's folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use workspace::profile::Phase;

use super::{LEAST, Scene, load, view};

#[test]
fn a_link_that_leads_out_is_refused() {
    let scene = Scene::new(LEAST);
    let secret = scene.folder.path().join("secret");
    fs::write(&secret, "root:x").unwrap();
    symlink(&secret, scene.path("extra.md")).unwrap();
    let (code, text) = scene.fault();
    assert_eq!(code, "profile_unsafe");
    assert!(
        text.contains("extra.md") && text.contains("leads out"),
        "{text}"
    );
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
fn links_to_folders_and_to_nowhere_are_refused() {
    for target in [".", "..", "nowhere", "loop"] {
        let scene = Scene::new(LEAST);
        symlink(target, scene.path("loop")).unwrap();
        let (code, text) = scene.fault();
        assert_eq!(code, "profile_unsafe", "{target}");
        assert!(text.contains("loop"), "{text}");
    }
}

#[test]
fn the_folder_itself_must_not_lie_elsewhere() {
    let scene = Scene::new(LEAST);
    let elsewhere = scene.folder.path().join("elsewhere");
    fs::rename(scene.profile_folder(), &elsewhere).unwrap();
    symlink(&elsewhere, scene.profile_folder()).unwrap();
    let (code, text) = scene.fault();
    assert_eq!(code, "profile_unsafe");
    assert!(text.contains("out of the project"), "{text}");

    let scene = Scene::new(LEAST);
    let elsewhere = scene.folder.path().join("elsewhere");
    fs::rename(scene.root().join(".taskmaster"), &elsewhere).unwrap();
    symlink(&elsewhere, scene.root().join(".taskmaster")).unwrap();
    assert_eq!(scene.fault().0, "profile_unsafe");

    let scene = Scene::new(LEAST);
    fs::remove_dir_all(scene.profile_folder()).unwrap();
    fs::write(scene.profile_folder(), "no folder").unwrap();
    assert_eq!(scene.fault().0, "profile_unsafe");
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let scene = Scene::new(LEAST);
    pipe(&scene.path("pipe"));
    let (code, text) = scene.fault();
    assert_eq!(code, "profile_unsafe");
    assert!(
        text.contains("pipe") && text.contains("regular file"),
        "{text}"
    );

    let scene = Scene::new(LEAST);
    fs::remove_file(scene.path("planning.md")).unwrap();
    pipe(&scene.path("planning.md"));
    assert_eq!(scene.fault().0, "profile_unsafe");

    let scene = Scene::new(LEAST);
    let _socket = UnixListener::bind(scene.path("socket")).unwrap();
    assert_eq!(scene.fault().0, "profile_unsafe");

    let scene = Scene::new(LEAST);
    pipe(&scene.path("pipe"));
    symlink("pipe", scene.path("link")).unwrap();
    assert_eq!(scene.fault().0, "profile_unsafe");
}

#[test]
fn what_is_too_large_is_named() {
    let scene = Scene::new(&format!("{LEAST}# {}\n", "x".repeat(64 * 1024)));
    let (code, text) = scene.fault();
    assert_eq!(code, "profile_unsafe");
    assert!(
        text.contains("profile.yaml") && text.contains("65536"),
        "{text}"
    );

    let scene = Scene::new(LEAST).file("review.md", "x".repeat(256 * 1024 + 1));
    let (code, text) = scene.fault();
    assert_eq!(code, "profile_invalid");
    assert!(
        text.contains("review.md") && text.contains("262144"),
        "{text}"
    );

    // A file with a hole takes no room on the disk, and as much as it says when it is read.
    let scene = Scene::new(LEAST);
    let huge = fs::File::create(scene.path("huge")).unwrap();
    huge.set_len(1 << 40).unwrap();
    let (code, text) = scene.fault();
    assert_eq!(code, "profile_unsafe");
    assert!(text.contains("huge"), "{text}");
}

#[test]
fn too_many_files_and_folders_are_refused() {
    let scene = Scene::new(LEAST);
    for number in 0..500 {
        fs::write(scene.path(&format!("{number}.md")), "").unwrap();
    }
    let (code, text) = scene.fault();
    assert_eq!(code, "profile_unsafe");
    assert!(text.contains("500 files"), "{text}");

    let scene = Scene::new(LEAST);
    for number in 0..501 {
        fs::create_dir(scene.path(&format!("{number}"))).unwrap();
    }
    assert_eq!(scene.fault().0, "profile_unsafe");

    let scene = Scene::new(LEAST).file(&format!("{}x", "d/".repeat(20)), "");
    let (code, text) = scene.fault();
    assert_eq!(code, "profile_unsafe");
    assert!(text.contains("deeper"), "{text}");
}

#[test]
fn a_name_that_would_forge_a_line_is_refused() {
    let scene = Scene::new(LEAST).file("a\nb", "");
    let (code, text) = scene.fault();
    assert_eq!(code, "profile_unsafe");
    assert!(text.contains("no plain text"), "{text}");
}

#[test]
fn what_cannot_be_read_is_named() {
    let scene = Scene::new(LEAST);
    fs::set_permissions(scene.path("review.md"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(scene.path("review.md")).is_ok() {
        // Nothing is closed to the superuser.
        return;
    }
    let (code, text) = scene.fault();
    assert_eq!(code, "profile_io");
    assert!(text.contains("review.md"), "{text}");
}

#[test]
fn a_missing_file_is_told() {
    let scene = Scene::new(LEAST);
    fs::remove_file(scene.path("profile.yaml")).unwrap();
    let (code, text) = scene.fault();
    assert_eq!(code, "profile_invalid");
    assert!(text.contains("profile.yaml: the file is missing"), "{text}");

    let scene = Scene::new(LEAST);
    fs::remove_file(scene.path("revision.md")).unwrap();
    let (code, text) = scene.fault();
    assert_eq!(code, "profile_invalid");
    assert!(text.contains("revision.md for revision"), "{text}");
}

#[test]
fn a_project_without_the_folder_has_the_built_in_profiles() {
    let folder = tempfile::TempDir::new().unwrap();
    assert!(load(folder.path(), "generic").is_ok());
    fs::write(folder.path().join(".taskmaster"), "a file").unwrap();
    assert!(load(folder.path(), "generic").is_ok());
}
