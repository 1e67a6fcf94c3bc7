//! Files that somebody changes behind the session's back.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::environment::{BUNDLE, Env, FAIL, PASS, PLAN, Session, text};
use testkit::Everything;
use testkit::Outcome;

type Act = fn(&Session<'_>);
type ActOn = fn(&Session<'_>, &str);

/// Ways to change a plan.
const PLANS: [(&str, Act); 3] = [
    ("changed", |session| session.put("plan.md", "# Another\n")),
    ("gone", |session| {
        fs::remove_file(session.folder.join("plan.md")).unwrap();
    }),
    ("a link", |session| {
        let outside = session.env.folder().join("outside.md");
        fs::write(&outside, "# Another\n").unwrap();
        fs::remove_file(session.folder.join("plan.md")).unwrap();
        symlink(outside, session.folder.join("plan.md")).unwrap();
    }),
];

/// Where the plan is used, and where the next step leads.
const PLACES_OF_PLAN: [(Act, &str); 5] = [
    (|session| session.to_planned(), "GENERATING"),
    (
        |session| {
            session.to_generating();
            session.put("iteration-1/generation-response.md", BUNDLE);
        },
        "GENERATED",
    ),
    (|session| session.to_reviewing(), "REVIEWING"),
    (
        |session| {
            session.to_reviewing();
            session.review(1, FAIL);
        },
        "REVISING",
    ),
    (
        |session| {
            session.to_revising();
            session.put("iteration-2/revision-response.md", BUNDLE);
            session.step_to("REVISED");
        },
        "REVIEWING",
    ),
];

/// The step is refused, says which file it is, and nothing moves; afterwards it can be taken.
fn refused_until_restored(session: &Session<'_>, path: &str, next: &str, what: &str) {
    let before = session.status();
    let tampered = before["tampered"].as_array();
    let named = |list: &Vec<serde_json::Value>| {
        list.iter()
            .any(|one| one.as_str().is_some_and(|one| one.starts_with(path)))
    };
    assert!(
        tampered.is_some_and(named),
        "{what}: status does not tell: {before:#}"
    );
    let answer = session.step();
    let said = answer.fault(
        if answer.status == 6 { 6 } else { 3 },
        if answer.status == 6 {
            "no_ordinary_file"
        } else {
            "tampered"
        },
    );
    assert!(said.contains(path), "{what}: {said}");
    let after = session.status();
    for same in ["phase", "phase_history", "updated_at", "artifacts"] {
        assert_eq!(before[same], after[same], "{what}: {same}");
    }
    session.tm(&["restore"]).ok();
    session.whole();
    session.step_to(next);
}

#[test]
fn a_plan_is_not_used_wherever_it_would_be() {
    for (at, (change, act)) in PLANS.into_iter().enumerate() {
        // Every change at the first place, and the first one at every place.
        let places = if at == 0 { PLACES_OF_PLAN.len() } else { 1 };
        for (place, next) in PLACES_OF_PLAN.into_iter().take(places) {
            let env = Env::new();
            let session = env.begin();
            place(&session);
            act(&session);
            refused_until_restored(
                &session,
                "plan.md",
                next,
                &format!("{change}, before {next}"),
            );
            assert_eq!(session.read("plan.md"), PLAN);
        }
    }
}

/// Ways to change code, with the path that is to be named.
const CODES: [(&str, &str, Act); 7] = [
    ("changed", "iteration-1/code/README", |session| {
        session.put("iteration-1/code/README", "Mine.\n");
    }),
    ("added", "iteration-1/code/more", |session| {
        session.put("iteration-1/code/more", "Mine.\n");
    }),
    ("removed", "iteration-1/code/README", |session| {
        fs::remove_file(session.folder.join("iteration-1/code/README")).unwrap();
    }),
    ("a link", "iteration-1/code/README", |session| {
        let readme = session.folder.join("iteration-1/code/README");
        let copy = session.env.folder().join("README");
        fs::rename(&readme, &copy).unwrap();
        symlink(copy, readme).unwrap();
    }),
    (
        "a folder that is a link",
        "iteration-1/code/src",
        |session| {
            let src = session.folder.join("iteration-1/code/src");
            let moved = session.env.folder().join("src");
            fs::rename(&src, &moved).unwrap();
            symlink(moved, src).unwrap();
        },
    ),
    ("a link as a whole", "iteration-1/code", |session| {
        let code = session.folder.join("iteration-1/code");
        let moved = session.env.folder().join("moved");
        fs::rename(&code, &moved).unwrap();
        symlink(moved, code).unwrap();
    }),
    ("gone", "iteration-1/code", |session| {
        fs::remove_dir_all(session.folder.join("iteration-1/code")).unwrap();
    }),
];

/// Where code is used, and where the next step leads.
const PLACES_OF_CODE: [(Act, &str); 3] = [
    (|session| session.to_reviewing(), "REVIEWING"),
    (
        |session| {
            session.to_reviewing();
            session.review(1, FAIL);
        },
        "REVISING",
    ),
    (
        |session| {
            session.to_reviewing();
            session.review(1, PASS);
        },
        "COMPLETE",
    ),
];

#[test]
fn code_is_not_used_wherever_it_would_be() {
    for (at, (change, path, act)) in CODES.into_iter().enumerate() {
        // Every change at the first place, and the first two at every place.
        let places = if at < 2 { PLACES_OF_CODE.len() } else { 1 };
        for (place, next) in PLACES_OF_CODE.into_iter().take(places) {
            let env = Env::new();
            let session = env.begin();
            place(&session);
            let whole = session.code(1);
            act(&session);
            let what = format!("{change}, before {next}");
            refused_until_restored(&session, path, next, &what);
            assert_eq!(session.code(1), whole, "{what}");
            if !matches!(change, "gone") {
                assert!(
                    session.has("iteration-1/code.changed-1"),
                    "{what}: kept beside"
                );
            }
        }
    }
}

#[test]
fn a_permission_is_no_part_of_the_code() {
    let env = Env::new();
    let session = env.begin();
    session.to_reviewing();
    let file = session.folder.join("iteration-1/code/src/count.sh");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    session.review(1, PASS);
    session.step_to("COMPLETE");
    let to = env.folder().join("exported");
    session.tm(&["export", to.to_str().unwrap()]).ok();
    let mode = fs::metadata(to.join("src/count.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(
        mode & 0o111,
        0,
        "a bundle cannot say that a file is to be run"
    );
}

#[test]
fn code_that_was_carried_forward_and_changed_is_set_aside() {
    let env = Env::new();
    let session = env.begin();
    session.to_revising();
    session.put("iteration-2/code/README", "Mine.\n");
    session.put("iteration-2/code/more", "Mine.\n");
    assert!(session.status()["tampered"].is_array());
    session.put("iteration-2/revision-response.md", "<<<FILE: new>>>\nnew\n");
    session.step_to("REVISED");
    let answer = session.step_to("REVIEWING");
    let warning = answer["warnings"][0].as_str().unwrap_or_default();
    assert!(warning.contains("changed by hand"), "{answer:#}");
    let code = session.code(2);
    assert_eq!(code.len(), 3, "{code:?}");
    assert_eq!(code["README"], "Counts words.\n");
    assert_eq!(session.read("iteration-2/code.changed-1/README"), "Mine.\n");
    assert_eq!(session.read("iteration-2/code.changed-1/more"), "Mine.\n");
}

#[test]
fn a_response_counts_as_it_was_taken_in() {
    let changes: [(&str, ActOn); 3] = [
        ("changed", |session, path| {
            session.put(path, "Something else.\n");
        }),
        ("gone", |session, path| {
            fs::remove_file(session.folder.join(path)).unwrap();
        }),
        ("a link", |session, path| {
            fs::remove_file(session.folder.join(path)).unwrap();
            symlink("/etc/hostname", session.folder.join(path)).unwrap();
        }),
    ];
    for (change, act) in changes {
        let env = Env::new();
        let session = env.begin();
        session.to_reviewing();
        session.review(1, FAIL);
        act(&session, "iteration-1/review-response.md");
        assert_eq!(
            session.status()["tampered"][0],
            "iteration-1/review-response.md",
            "{change}"
        );
        let answer = session.step_to("REVISING");
        let warned = answer["warnings"][0].as_str().unwrap_or_default();
        assert!(
            warned.contains("review-response.md"),
            "{change}: {answer:#}"
        );
        assert!(
            session
                .read("iteration-2/revision-prompt.md")
                .contains("Tabs are forgotten.")
        );

        session.put("iteration-2/revision-response.md", "<<<FILE: new>>>\nnew\n");
        session.step_to("REVISED");
        act(&session, "iteration-2/revision-response.md");
        let answer = session.step_to("REVIEWING");
        let warned = answer["warnings"][0].as_str().unwrap_or_default();
        assert!(
            warned.contains("revision-response.md"),
            "{change}: {answer:#}"
        );
        assert_eq!(session.code(2)["new"], "new\n");
    }
}

#[test]
fn a_response_that_was_used_up_is_reported_when_it_is_changed() {
    let env = Env::new();
    let session = env.begin();
    session.to_planned();
    session.put("planning-response.md", "Something else.\n");
    assert_eq!(session.status()["tampered"][0], "planning-response.md");
    session.step_to("GENERATING");
    assert!(
        session
            .read("iteration-1/generation-prompt.md")
            .contains("Count by spaces.")
    );
}

#[test]
fn an_earlier_iteration_is_never_touched() {
    let env = Env::new();
    let session = env.begin();
    session.to_revising();
    // Whatever somebody does there is neither used nor mended.
    session.put("iteration-1/code/README", "Mine.\n");
    session.put("iteration-1/review-response.md", "Mine.\n");
    fs::remove_file(session.folder.join("iteration-1/generation-prompt.md")).unwrap();
    let first = session.folder.join("iteration-1");
    let before = Everything::below([&*first]);
    let whole = |what: &str| before.assert_same(&Everything::below([&*first]), what);
    session.blocked();
    session.put("iteration-2/revision-response.md", "Sorry.\n");
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
    let to = env.folder().join("exported");
    session.tm(&["export", to.to_str().unwrap()]).ok();
    whole("the end");
}

/// The files that `log verify` names, each with what it says of it.
fn named_by_the_log(session: &Session<'_>) -> Vec<(String, String)> {
    let mut program = session
        .env
        .program(&["log", "verify", &session.id, "--json"]);
    let answer = Outcome::of(&program.output().unwrap()).answered().ok();
    let told = |file: &serde_json::Value| {
        (
            file["path"].as_str().unwrap().to_owned(),
            file["state"].as_str().unwrap().to_owned(),
        )
    };
    let files = answer["files"].as_array();
    files.into_iter().flatten().map(told).collect()
}

#[test]
fn each_recorded_file_that_changed_or_is_gone_is_named() {
    let env = Env::new();
    let session = env.begin();
    session.to_revising();
    assert_eq!(named_by_the_log(&session), []);
    for path in [
        "plan.md",
        "planning-response.md",
        "iteration-1/code/README",
        "iteration-1/generation-response.md",
        "iteration-1/review-response.md",
        "iteration-2/code/README",
    ] {
        let place = session.folder.join(path);
        let content = fs::read(&place).unwrap();
        fs::write(&place, "Mine.\n").unwrap();
        let expected = |state: &str| [(path.to_owned(), state.to_owned())];
        assert_eq!(named_by_the_log(&session), expected("changed"));
        let shown = session.tm(&["show"]).ok();
        let artifacts = shown["artifacts"].as_array().unwrap();
        let changed: Vec<&str> = artifacts
            .iter()
            .filter(|artifact| artifact["problem"] == "changed")
            .filter_map(|artifact| artifact["path"].as_str())
            .collect();
        assert_eq!(changed, [path]);
        fs::remove_file(&place).unwrap();
        assert_eq!(named_by_the_log(&session), expected("missing"));
        fs::write(&place, content).unwrap();
    }
    // A prompt may be edited; one that is gone is told.
    session.put("iteration-1/generation-prompt.md", "Mine.\n");
    assert_eq!(named_by_the_log(&session), []);
    fs::remove_file(session.folder.join("iteration-1/generation-prompt.md")).unwrap();
    assert_eq!(named_by_the_log(&session).len(), 1);
}

#[test]
fn a_response_that_is_gone_is_put_back() {
    let env = Env::new();
    let session = env.begin();
    session.to_planned();
    let path = session.folder.join("planning-response.md");
    let content = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(session.status()["tampered"][0], "planning-response.md");
    session.tm(&["restore"]).ok();
    assert_eq!(fs::read(&path).unwrap(), content);
    assert!(session.status().get("tampered").is_none());
}

#[test]
fn restore_has_nothing_to_do_where_all_is_whole() {
    let env = Env::new();
    for arrange in [
        (|_: &Session<'_>| {}) as Act,
        |session| session.to_planned(),
        |session| session.to_reviewing(),
        |session| session.to_complete(),
    ] {
        let session = env.begin();
        arrange(&session);
        let files = session.files();
        let restored = session.tm(&["restore"]).ok();
        assert_eq!(restored["restored"], serde_json::json!([]));
        assert_eq!(restored["aside"], serde_json::json!([]));
        assert_eq!(files, session.files());
    }
}

#[test]
fn changed_code_is_not_exported() {
    let env = Env::new();
    let session = env.begin();
    session.to_complete();
    session.put("iteration-1/code/README", "Mine.\n");
    let to = env.folder().join("exported");
    let said = session
        .tm(&["export", to.to_str().unwrap()])
        .fault(3, "tampered");
    assert!(said.contains("iteration-1/code/README"), "{said}");
    assert!(!to.exists());
    session.tm(&["restore"]).ok();
    session.tm(&["export", to.to_str().unwrap()]).ok();
    assert_eq!(
        fs::read_to_string(to.join("README")).unwrap(),
        "Counts words.\n"
    );
    assert_eq!(text(&session.status(), "phase"), "COMPLETE");
}
