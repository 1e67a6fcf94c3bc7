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
fn to_a_new_folder() {
    let session = at("COMPLETE");
    let to = session.env.project().join("new/er");
    let export = || session.tm(&["export", to.to_str().unwrap()]).ok();
    let exported = export();
    assert_eq!(exported["written"], json!(["README", "src/count.sh"]));
    assert_eq!(exported["unchanged"], json!([]));
    assert_eq!(
        (&exported["iteration"], &exported["folder"]),
        (&json!(1), &json!(to))
    );
    assert_eq!(session.env.read("new/er/src/count.sh"), "wc -w\n");
    assert_eq!(session.env.read("new/er/README"), "Counts words.\n");
    // Again: all of it is there.
    let before = Everything::below([&*to]);
    let exported = export();
    assert_eq!(exported["written"], json!([]));
    assert_eq!(exported["unchanged"], json!(["README", "src/count.sh"]));
    before.assert_same(&Everything::below([&*to]), "an export that was done before");
}

#[test]
fn into_the_project_and_over_a_changed_file_only_if_somebody_insists() {
    let session = at("COMPLETE");
    session.env.write("src/other.sh", "true\n");
    session.env.write("src/count.sh", "mine\n");
    let said = session.tm(&["export", "."]).fault(5, "file_changed");
    assert!(said.contains("src/count.sh"), "{said}");
    assert!(!session.env.project().join("README").exists());
    assert_eq!(session.env.read("src/count.sh"), "mine\n");
    let exported = session.tm(&["export", ".", "--force"]).ok();
    assert_eq!(exported["written"], json!(["README", "src/count.sh"]));
    assert_eq!(session.env.read("src/count.sh"), "wc -w\n");
    assert_eq!(session.env.read("src/other.sh"), "true\n");
}

#[test]
fn not_through_a_link_even_by_force() {
    let session = at("COMPLETE");
    let outside = session.env.folder().join("outside");
    write(&outside.join("count.sh"), "theirs\n");
    // The same for the file itself, for one that leads nowhere.
    for (place, to) in [
        ("src", outside.clone()),
        ("README", outside.join("count.sh")),
        ("README", "nowhere".into()),
    ] {
        let place = session.env.project().join(place);
        symlink(to, &place).unwrap();
        refused(&session, &session.env.project(), 3, "link_in_the_way");
        fs::remove_file(place).unwrap();
    }
    // A folder where a file would be, and the other way round.
    let readme = session.env.project().join("README");
    fs::create_dir(&readme).unwrap();
    refused(&session, &session.env.project(), 3, "link_in_the_way");
    fs::remove_dir(readme).unwrap();
    session.env.write("src", "mine\n");
    refused(&session, &session.env.project(), 3, "link_in_the_way");
    let theirs = fs::read_to_string(outside.join("count.sh")).unwrap();
    assert_eq!(theirs, "theirs\n");
}

#[test]
fn not_into_the_store_nor_to_a_place_that_is_no_folder() {
    let session = at("COMPLETE");
    symlink(session.env.store(), session.env.project().join("link")).unwrap();
    session.env.write("file", "mine\n");
    for to in [
        session.env.store(),
        session.env.store().join("new"),
        session.folder.clone(),
        session.folder.join("iteration-1/code"),
        session.folder.with_file_name("review__new"),
        session.env.project().join("link"),
        session.env.project().join("link/new"),
        session.env.project().join("../home/store/new/deeper"),
        session.env.project().join("file"),
        session.env.project().join("file/below"),
    ] {
        refused(&session, &to, 2, "bad_path");
    }
}

#[test]
fn not_before_the_end_nor_after_another_one() {
    let session = at("INITIALIZED");
    let to = session.env.folder().join("to");
    refused(&session, &to, 3, "not_complete");
    for phase in ["REVIEWING", "REVISING"] {
        session.to(phase);
        refused(&session, &to, 3, "not_complete");
    }
    session.tm(&["cancel"]).ok();
    refused(&session, &to, 3, "not_complete");
    let failed = session.env.begin();
    failed.to("REVIEWING");
    failed.review(1, "No verdict.\n");
    failed.step_to("ERROR");
    refused(&failed, &to, 3, "not_complete");
}
