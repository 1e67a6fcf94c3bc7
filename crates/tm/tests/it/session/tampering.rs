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
    let moved = session.env.folder().join("moved");
    fs::rename(&place, &moved).unwrap();
    symlink(moved, place).unwrap();
};

/// A file is changed at a place. The step from there is refused, says which file it is, and nothing moves; then that is put back,
/// and it can be taken.
fn refused_until_restored((place, next): (&str, &str), path: &str, act: Act) {
    let session = at("INITIALIZED");
    match place {
        "answered" => session.before(next),
        "passed" => {
            session.to("REVIEWING");
            session.review(1, PASS);
        }
        _ => drop(session.to(place)),
    }
    let whole = (session.read("plan.md"), session.code(1));
    act(&session, path);
    let kept = path.starts_with("iteration-1/code") && session.has("iteration-1/code");
    let before = session.status();
    let tampered = before["tampered"].as_array().into_iter().flatten();
    let named = tampered.filter_map(|one| one.as_str()?.strip_prefix(path));
    assert!(named.count() > 0, "{path}, before {next}: {before:#}");
    let answer = session.step();
    let said = match answer.status {
        6 => answer.fault(6, "no_ordinary_file"),
        _ => answer.fault(3, "tampered"),
    };
    assert!(said.contains(path), "{path}, before {next}: {said}");
    let after = session.status();
    stayed(&before, &after);
    assert_eq!(before["artifacts"], after["artifacts"]);
    session.tm(&["restore"]).ok();
    session.whole();
    assert_eq!((session.read("plan.md"), session.code(1)), whole);
    let beside = session.has("iteration-1/code.changed-1");
    assert!(beside || !kept, "{path}, before {next}");
    session.step_to(next);
}

#[test]
fn a_plan_is_not_used_wherever_it_would_be() {
    for place in [
        ("PLANNED", "GENERATING"),
        ("answered", "GENERATED"),
        ("REVIEWING", "REVIEWING"),
        ("REVIEWED", "REVISING"),
        ("REVISED", "REVIEWING"),
    ] {
        refused_until_restored(place, "plan.md", CHANGED);
    }
    for act in [GONE, A_LINK] {
        refused_until_restored(("PLANNED", "GENERATING"), "plan.md", act);
    }
}

#[test]
fn code_is_not_used_wherever_it_would_be() {
    let readme = "iteration-1/code/README";
    let reviewing = ("REVIEWING", "REVIEWING");
    for place in [reviewing, ("REVIEWED", "REVISING"), ("passed", "COMPLETE")] {
        for path in [readme, "iteration-1/code/more"] {
            refused_until_restored(place, path, CHANGED);
        }
    }
    for (path, act) in [
        (readme, GONE),
        (readme, A_LINK),
        ("iteration-1/code/src", A_LINK),
        ("iteration-1/code", A_LINK),
        ("iteration-1/code", GONE),
    ] {
        refused_until_restored(reviewing, path, act);
    }
}

#[test]
fn a_permission_is_no_part_of_the_code() {
    let session = at("REVIEWING");
    let file = session.folder.join("iteration-1/code/src/count.sh");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    session.review(1, PASS);
    session.step_to("COMPLETE");
    let to = session.env.folder().join("exported");
    session.tm(&["export", to.to_str().unwrap()]).ok();
    let about = fs::metadata(to.join("src/count.sh")).unwrap();
    // A bundle cannot say that a file is to be run.
    assert_eq!(about.permissions().mode() & 0o111, 0);
}

#[test]
fn code_that_was_carried_forward_and_changed_is_set_aside() {
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
    for act in [CHANGED, GONE, A_LINK] {
        let session = at("PLANNED");
        CHANGED(&session, PLANNING);
        assert_eq!(session.status()["tampered"][0], PLANNING);
        session.step_to("GENERATING");
        for (taken, response, next) in [
            ("REVIEWED", REVIEW, "REVISING"),
            ("REVISED", REVISION, "REVIEWING"),
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
}

#[test]
fn an_earlier_iteration_is_never_touched() {
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
    session.revise(3, BUNDLE);
    session.review(3, PASS);
    session.step_to("COMPLETE");
    let to = session.env.folder().join("exported");
    session.tm(&["export", to.to_str().unwrap()]).ok();
    whole("the end");
}

/// The files that `log verify` names, each with what it says of it.
fn named_by_the_log(session: &Session) -> Vec<(String, String)> {
    let answer = session.env.json(&["log", "verify", &session.id]).ok();
    let told = |file| {
        (
            text(file, "path").to_owned(),
            text(file, "state").to_owned(),
        )
    };
    let files = answer["files"].as_array();
    files.into_iter().flatten().map(told).collect()
}

#[test]
fn each_recorded_file_that_changed_or_is_gone_is_named() {
    let session = at("REVISING");
    assert_eq!(named_by_the_log(&session), []);
    for path in [
        "plan.md",
        PLANNING,
        "iteration-1/code/README",
        GENERATION,
        REVIEW,
        "iteration-2/code/README",
    ] {
        let content = session.read(path);
        let expected = |state: &str| [(path.to_owned(), state.to_owned())];
        session.put(path, "Mine.\n");
        assert_eq!(named_by_the_log(&session), expected("changed"));
        let shown = session.tm(&["show"]).ok();
        let artifacts = shown["artifacts"].as_array().unwrap().iter();
        let changed = artifacts.filter(|artifact| artifact["problem"] == "changed");
        let changed: Vec<&str> = changed.map(|artifact| text(artifact, "path")).collect();
        assert_eq!(changed, [path]);
        session.remove(path);
        assert_eq!(named_by_the_log(&session), expected("missing"));
        session.put(path, content);
    }
    // A prompt may be edited; one that is gone is told.
    session.put("iteration-1/generation-prompt.md", "Mine.\n");
    assert_eq!(named_by_the_log(&session), []);
    session.remove("iteration-1/generation-prompt.md");
    assert_eq!(named_by_the_log(&session).len(), 1);
}

#[test]
fn restore_puts_a_response_back_and_has_nothing_to_do_where_all_is_whole() {
    let session = at("INITIALIZED");
    for phase in ["", "PLANNED", "REVIEWING"] {
        if !phase.is_empty() {
            session.to(phase);
        }
        let files = session.files();
        let restored = session.tm(&["restore"]).ok();
        let nothing = serde_json::json!([]);
        assert_eq!(
            (&restored["restored"], &restored["aside"]),
            (&nothing, &nothing)
        );
        assert_eq!(files, session.files());
    }
    session.remove(PLANNING);
    assert_eq!(session.status()["tampered"][0], PLANNING);
    session.tm(&["restore"]).ok();
    assert_eq!(session.read(PLANNING), PLAN);
    session.whole();
}

#[test]
fn changed_code_is_not_exported() {
    let session = at("INITIALIZED");
    session.to_complete();
    session.put("iteration-1/code/README", "Mine.\n");
    let to = session.env.folder().join("exported");
    let export = || session.tm(&["export", to.to_str().unwrap()]);
    let said = export().fault(3, "tampered");
    assert!(said.contains("iteration-1/code/README"), "{said}");
    assert!(!to.exists());
    session.tm(&["restore"]).ok();
    export().ok();
    let readme = fs::read_to_string(to.join("README")).unwrap();
    assert_eq!(readme, "Counts words.\n");
    assert_eq!(session.status()["phase"], "COMPLETE");
}
