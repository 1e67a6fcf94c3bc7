//! Approved code, on its way out of a session.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use super::environment::{Session, at};
use testkit::Everything;
use testkit::files::write;

/// An export, also by force, must fail so, and writes nothing at all.
fn refused(session: &Session, to: &Path, status: i32, code: &str) {
    let before = session.env.everything();
    let words = ["export", to.to_str().unwrap(), "--force"];
    for words in [&words[..2], &words] {
        session.tm(words).fault(status, code);
    }
    before.assert_same(&session.env.everything(), "an export that is refused");
}

#[test]
fn to_a_new_folder_and_over_a_changed_file_only_if_somebody_insists() {
    let session = at("COMPLETE");
    let to = session.env.project().join("new/er");
    let to = to.to_str().unwrap();
    let (both, none) = (json!(["README", "src/count.sh"]), json!([]));
    let export = |more: &[&str]| session.tm(&[&["export", to], more].concat());
    let exported = export(&[]).ok();
    let told = ["written", "unchanged", "iteration", "folder"].map(|what| &exported[what]);
    assert_eq!(told, [&both, &none, &json!(1), &json!(to)]);
    assert_eq!(session.env.read("new/er/README"), "Counts words.\n");
    // Again: all of it is there.
    let before = Everything::below([Path::new(to)]);
    let exported = export(&[]).ok();
    assert_eq!(
        (&exported["written"], &exported["unchanged"]),
        (&none, &both)
    );
    before.assert_same(&Everything::below([Path::new(to)]), "an export done before");
    session.env.write("new/er/src/other.sh", "true\n");
    session.env.write("new/er/src/count.sh", "mine\n");
    let said = export(&[]).fault(5, "already_there");
    assert!(said.contains("src/count.sh"), "{said}");
    assert_eq!(session.env.read("new/er/src/count.sh"), "mine\n");
    export(&["--force"]).ok();
    assert_eq!(session.env.read("new/er/src/count.sh"), "wc -w\n");
    assert_eq!(session.env.read("new/er/src/other.sh"), "true\n");
}

#[test]
fn not_through_a_link_nor_into_the_store_even_by_force() {
    let session = at("COMPLETE");
    let (project, store) = (session.env.project(), session.env.store());
    let outside = session.env.folder().join("outside");
    write(&outside.join("count.sh"), "theirs\n");
    // The same for the file itself, for one that leads nowhere.
    for (place, to) in [
        ("src", outside.clone()),
        ("README", outside.join("count.sh")),
        ("README", "nowhere".into()),
    ] {
        let place = project.join(place);
        symlink(to, &place).unwrap();
        refused(&session, &project, 3, "unsafe_path");
        fs::remove_file(place).unwrap();
    }
    // A folder where a file would be, and the other way round.
    let readme = project.join("README");
    fs::create_dir(&readme).unwrap();
    refused(&session, &project, 3, "unsafe_path");
    fs::remove_dir(readme).unwrap();
    session.env.write("src", "mine\n");
    refused(&session, &project, 3, "unsafe_path");

    symlink(&store, project.join("link")).unwrap();
    for to in [
        store.join("new"),
        session.folder.join("iteration-1/code"),
        session.folder.with_file_name("review__new"),
        project.join("link"),
        project.join("link/new"),
        project.join("../home/store/new/deeper"),
        project.join("src/below"),
    ] {
        refused(&session, &to, 2, "bad_name");
    }
}

#[test]
fn not_before_the_end_nor_after_another_one() {
    let session = at("REVISING");
    let to = session.env.folder().join("to");
    refused(&session, &to, 3, "not_possible");
    session.tm(&["cancel"]).ok();
    refused(&session, &to, 3, "not_possible");
}
