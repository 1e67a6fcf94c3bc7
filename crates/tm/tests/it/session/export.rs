//! Approved code, on its way out of a session.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use super::environment::{Env, FAIL, Session, text};
use testkit::Everything;
use testkit::files::write;

fn complete(env: &Env) -> Session<'_> {
    let session = env.begin();
    session.to_complete();
    session
}

fn export(session: &Session<'_>, to: &Path) -> testkit::Outcome {
    session.tm(&["export", to.to_str().unwrap()])
}

/// An export that must fail so, and writes nothing at all.
fn refused(
    session: &Session<'_>,
    to: &Path,
    arguments: &[&str],
    status: i32,
    code: &str,
) -> String {
    let before = session.env.everything();
    let mut all = vec!["export", to.to_str().unwrap()];
    all.extend(arguments);
    let said = session.tm(&all).fault(status, code);
    before.assert_same(&session.env.everything(), "an export that is refused");
    said
}

#[test]
fn to_a_new_folder() {
    let env = Env::new();
    let session = complete(&env);
    let to = env.project().join("new/er");
    let exported = export(&session, &to).ok();
    assert_eq!(exported["written"], json!(["README", "src/count.sh"]));
    assert_eq!(exported["unchanged"], json!([]));
    assert_eq!(exported["iteration"], 1);
    assert_eq!(text(&exported, "folder"), to.to_str().unwrap());
    assert_eq!(
        fs::read_to_string(to.join("src/count.sh")).unwrap(),
        "wc -w\n"
    );
    assert_eq!(
        fs::read_to_string(to.join("README")).unwrap(),
        "Counts words.\n"
    );
    // Again: all of it is there.
    let before = Everything::below([&*to]);
    let exported = export(&session, &to).ok();
    assert_eq!(exported["written"], json!([]));
    assert_eq!(exported["unchanged"], json!(["README", "src/count.sh"]));
    before.assert_same(&Everything::below([&*to]), "an export that was done before");
}

#[test]
fn into_the_project_by_a_relative_path() {
    let env = Env::new();
    let session = complete(&env);
    env.write("src/other.sh", "true\n");
    session.tm(&["export", "."]).ok();
    let read = |path: &str| fs::read_to_string(env.project().join(path)).unwrap();
    assert_eq!(read("src/count.sh"), "wc -w\n");
    assert_eq!(read("src/other.sh"), "true\n");
}

#[test]
fn never_over_a_changed_file_unless_somebody_insists() {
    let env = Env::new();
    let session = complete(&env);
    env.write("src/count.sh", "mine\n");
    let said = refused(&session, &env.project(), &[], 5, "file_changed");
    assert!(said.contains("src/count.sh"), "{said}");
    assert!(!env.project().join("README").exists());
    let exported = session.tm(&["export", ".", "--force"]).ok();
    assert_eq!(exported["written"], json!(["README", "src/count.sh"]));
    assert_eq!(
        fs::read_to_string(env.project().join("src/count.sh")).unwrap(),
        "wc -w\n"
    );
}

#[test]
fn not_through_a_link_even_by_force() {
    let env = Env::new();
    let session = complete(&env);
    let outside = env.folder().join("outside");
    fs::create_dir(&outside).unwrap();
    write(&outside.join("count.sh"), "theirs\n");
    symlink(&outside, env.project().join("src")).unwrap();
    for arguments in [&[][..], &["--force"]] {
        let said = refused(&session, &env.project(), arguments, 3, "link_in_the_way");
        assert!(said.contains("src"), "{said}");
    }
    fs::remove_file(env.project().join("src")).unwrap();
    // The same for the file itself, for one that leads nowhere, and for a folder in its place.
    symlink(outside.join("count.sh"), env.project().join("README")).unwrap();
    refused(&session, &env.project(), &["--force"], 3, "link_in_the_way");
    fs::remove_file(env.project().join("README")).unwrap();
    symlink("nowhere", env.project().join("README")).unwrap();
    refused(&session, &env.project(), &["--force"], 3, "link_in_the_way");
    fs::remove_file(env.project().join("README")).unwrap();
    fs::create_dir(env.project().join("README")).unwrap();
    refused(&session, &env.project(), &["--force"], 3, "link_in_the_way");
    fs::remove_dir(env.project().join("README")).unwrap();
    // A file where a folder would be.
    env.write("src", "mine\n");
    refused(&session, &env.project(), &["--force"], 3, "link_in_the_way");
    assert_eq!(
        fs::read_to_string(outside.join("count.sh")).unwrap(),
        "theirs\n"
    );
}

#[test]
fn not_into_the_store() {
    let env = Env::new();
    let session = complete(&env);
    let store = env.home().join("store");
    symlink(&store, env.project().join("link")).unwrap();
    for to in [
        store.clone(),
        store.join("new"),
        session.folder.clone(),
        session.folder.join("iteration-1/code"),
        session.folder.parent().unwrap().join("review__new"),
        env.project().join("link"),
        env.project().join("link/new"),
        env.project().join("../home/store/new/deeper"),
    ] {
        refused(&session, &to, &["--force"], 2, "bad_path");
    }
}

#[test]
fn not_to_a_place_that_is_no_folder() {
    let env = Env::new();
    let session = complete(&env);
    env.write("file", "mine\n");
    refused(&session, &env.project().join("file"), &[], 2, "bad_path");
    refused(
        &session,
        &env.project().join("file/below"),
        &["--force"],
        2,
        "bad_path",
    );
}

#[test]
fn not_before_the_end() {
    let env = Env::new();
    let to = env.folder().join("to");
    let session = env.begin();
    refused(&session, &to, &[], 3, "not_complete");
    session.to_reviewing();
    refused(&session, &to, &["--force"], 3, "not_complete");
    session.review(1, FAIL);
    session.step_to("REVISING");
    refused(&session, &to, &[], 3, "not_complete");
    session.tm(&["cancel"]).ok();
    refused(&session, &to, &[], 3, "not_complete");
}

#[test]
fn a_session_that_failed_hands_nothing_out() {
    let env = Env::new();
    let session = env.begin();
    session.to_reviewing();
    session.review(1, "No verdict.\n");
    session.step_to("ERROR");
    refused(
        &session,
        &env.folder().join("to"),
        &["--force"],
        3,
        "not_complete",
    );
}
