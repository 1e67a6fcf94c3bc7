//! Files that somebody changes behind the session's back.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::environment::{
    BUNDLE, FAIL, GENERATION, PASS, PLAN, PLANNING, REVIEW, REVISION, Session, at, stayed, text,
};
use testkit::Everything;

type Act = fn(&Session, &str);

const CHANGED: Act = |session, path| session.put(path, "Mine.\n");
const GONE: Act = |session, path| session.remove(path);
const A_LINK: Act = |session, path| {
    let place = session.folder.join(path);
    let moved = session.env.folder().join(path.replace('/', "-"));
    fs::rename(&place, &moved).unwrap();
    symlink(moved, place).unwrap();
};

/// Each of these files is changed. The step from there is refused, says which file it is, and nothing moves; then that is put back.
fn refused_until_restored(session: &Session, changes: &[(&str, Act)]) {
    let whole = (session.read("plan.md"), session.code(1));
    let before = session.status();
    for (path, act) in changes {
        act(session, path);
        let at = format!("{path} in {}", before["phase"]);
        let kept = path.starts_with("iteration-1/code") && session.has("iteration-1/code");
        let changed = session.status();
        let tampered = changed["tampered"].as_array().into_iter().flatten();
        let named = tampered.filter_map(|one| one.as_str()?.strip_prefix(path));
        assert!(named.count() > 0, "{at}: {changed:#}");
        let answer = session.step();
        let said = match answer.status {
            6 => answer.fault(6, "unsafe_path"),
            _ => answer.fault(3, "tampered"),
        };
        assert!(said.contains(path), "{at}: {said}");
        session.tm(&["restore"]).ok();
        let after = session.whole();
        stayed(&before, &after);
        assert_eq!(before["artifacts"], after["artifacts"]);
        assert_eq!((session.read("plan.md"), session.code(1)), whole);
        let beside = session.has("iteration-1/code.changed-1");
        assert!(beside || !kept, "{at}");
    }
}

#[test]
fn plan_and_code_are_not_used_wherever_they_would_be() {
    testkit::by_chance!(3);
    let (plan, readme, more) = (
        "plan.md",
        "iteration-1/code/README",
        "iteration-1/code/more",
    );
    let session = at("PLANNED");
    refused_until_restored(&session, &[(plan, CHANGED), (plan, GONE), (plan, A_LINK)]);
    session.step_to("GENERATING");
    session.before("GENERATED");
    refused_until_restored(&session, &[(plan, CHANGED)]);
    session.to("REVIEWING");
    refused_until_restored(
        &session,
        &[
            (plan, CHANGED),
            (readme, CHANGED),
            (more, CHANGED),
            (readme, GONE),
            (readme, A_LINK),
            ("iteration-1/code/src", A_LINK),
            ("iteration-1/code", A_LINK),
            ("iteration-1/code", GONE),
        ],
    );
    session.review(1, FAIL);
    let all = [(plan, CHANGED), (readme, CHANGED), (more, CHANGED)];
    refused_until_restored(&session, &all);
    session.to("REVISED");
    refused_until_restored(&session, &[(plan, CHANGED)]);
    let passed = at("REVIEWING");
    passed.review(1, PASS);
    refused_until_restored(&passed, &[(readme, CHANGED), (more, CHANGED)]);
    passed.step_to("COMPLETE");
    // Nor is it exported.
    passed.put(readme, "Mine.\n");
    let to = passed.env.folder().join("exported");
    let export = || passed.tm(&["export", to.to_str().unwrap()]);
    export().fault(3, "tampered");
    assert!(!to.exists());
    passed.tm(&["restore"]).ok();
    export().ok();
    let readme = fs::read_to_string(to.join("README")).unwrap();
    assert_eq!(readme, "Counts words.\n");
    // A bundle cannot say that a file is to be run.
    let about = fs::metadata(to.join("src/count.sh")).unwrap();
    assert_eq!(about.permissions().mode() & 0o111, 0);
}

#[test]
fn code_that_was_carried_forward_and_changed_is_set_aside() {
    testkit::by_chance!(3);
    let session = at("REVISING");
    for name in ["README", "more"] {
        session.put(&format!("iteration-2/code/{name}"), "Mine.\n");
    }
    assert!(session.status()["tampered"].is_array());
    session.put(REVISION, "<<<FILE: new>>>\nnew\n");
    session.step_to("REVISED");
    let answer = session.step_to("REVIEWING");
    assert!(answer["warnings"][0].is_string(), "{answer:#}");
    let code = session.code(2);
    assert_eq!((code.len(), &*code["README"]), (3, "Counts words.\n"));
    for name in ["README", "more"] {
        let aside = format!("iteration-2/code.changed-1/{name}");
        assert_eq!(session.read(&aside), "Mine.\n");
    }
}

#[test]
fn a_response_counts_as_it_was_taken_in() {
    testkit::by_chance!(3);
    let session = at("PLANNED");
    session.remove(PLANNING);
    assert_eq!(session.status()["tampered"][0], PLANNING);
    let restored = session.tm(&["restore"]).ok();
    assert_eq!(restored["restored"], serde_json::json!([PLANNING]));
    assert_eq!(session.read(PLANNING), PLAN);
    CHANGED(&session, PLANNING);
    session.step_to("GENERATING");
    for (taken, response, act, next) in [
        ("REVIEWED", REVIEW, A_LINK, "REVISING"),
        ("REVISED", REVISION, GONE, "REVIEWING"),
    ] {
        session.to(taken);
        act(&session, response);
        let named = session.status()["tampered"].to_string();
        assert!(named.contains(response), "{named}");
        let warned = session.step_to(next)["warnings"].to_string();
        assert!(warned.contains(response), "{warned}");
    }
    for (prompt, told) in [
        ("iteration-1/generation-prompt.md", "Count by spaces."),
        ("iteration-2/revision-prompt.md", "Tabs are forgotten."),
    ] {
        assert!(session.read(prompt).contains(told), "{prompt}");
    }
    assert_eq!(session.code(2), session.code(1));
}

#[test]
fn an_earlier_iteration_is_never_touched() {
    testkit::by_chance!(3);
    let session = at("REVISING");
    // Whatever somebody does there is neither used nor mended.
    session.put("iteration-1/code/README", "Mine.\n");
    session.put(REVIEW, "Mine.\n");
    session.remove("iteration-1/generation-prompt.md");
    let first = session.folder.join("iteration-1");
    let before = Everything::below([&*first]);
    let whole = |what: &str| before.assert_same(&Everything::below([&*first]), what);
    session.blocked();
    session.put(REVISION, "Sorry.\n");
    session.step_to("REVISED");
    session.step_to("ERROR");
    whole("an error");
    session.reopen();
    whole("reopen");
    session.tm(&["restore"]).ok();
    whole("restore");
    session.revise(2, BUNDLE);
    session.review(2, FAIL);
    session.step_to("REVISING");
    whole("another iteration");
    assert_eq!(session.code(3)["README"], "Counts words.\n");
}

/// The files that `log verify` names, each with what it says of it.
fn named_by_the_log(session: &Session) -> Vec<[String; 2]> {
    let answer = session.env.json(&["log", "verify", &session.id]).ok();
    let files = answer["files"].as_array().into_iter().flatten();
    let told = |file| ["path", "state"].map(|what| text(file, what).to_owned());
    files.map(told).collect()
}

#[test]
fn each_recorded_file_that_changed_or_is_gone_is_named() {
    testkit::by_chance!(3);
    let session = at("REVISING");
    assert!(named_by_the_log(&session).is_empty());
    for path in ["plan.md", GENERATION, "iteration-2/code/README"] {
        let content = session.read(path);
        let expected = |state: &str| [[path.to_owned(), state.to_owned()]];
        session.put(path, "Mine.\n");
        assert_eq!(named_by_the_log(&session), expected("changed"));
        session.remove(path);
        assert_eq!(named_by_the_log(&session), expected("missing"));
        session.put(path, content);
    }
    // A prompt may be edited; one that is gone is told.
    session.put("iteration-1/generation-prompt.md", "Mine.\n");
    assert!(named_by_the_log(&session).is_empty());
    session.remove("iteration-1/generation-prompt.md");
    assert_eq!(named_by_the_log(&session).len(), 1);
}
