//! What changes from one iteration to the next: files that go, move and come empty, and how all of it is shown.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::environment::{BUNDLE, Env, FAIL, at};
use testkit::Sandbox;

#[test]
fn files_go_move_and_come_empty_and_the_difference_is_shown() {
    let session = at("GENERATING");
    session.tm(&["diff"]).fault(4, "not_found");
    session.generate(&format!("{BUNDLE}<<<FILE: run>>>\n#!/bin/sh\nexit 1\n"));
    session.review(1, FAIL);
    session.step_to("REVISING");
    // What would go and is not there is refused before it costs anything.
    let refused = session.respond("<<<DELETE: src/other.sh>>>\n", &[]);
    refused.fault(3, "response_unreadable");
    session.revise(
        2,
        "<<<DELETE: README>>>\n<<<MOVE: src/count.sh -> count.sh>>>\n<<<EMPTY: src/none>>>\n<<<FILE: run>>>\nexit 0\n",
    );
    let names: Vec<String> = session.code(2).into_keys().collect();
    assert_eq!(names, ["count.sh", "run", "src/none"]);
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let run = session.folder.join("iteration-2/code/run");
    assert_eq!(mode(run), 0o700, "as it was before");
    let told = session.tm(&["diff"]).ok();
    assert_eq!((&told["from"], &told["to"]), (&json!(1), &json!(2)));
    let of = |words: &[&str]| {
        let all = [&["session", "diff", "--session", &session.id][..], words].concat();
        Sandbox::tm(&session.env, &all).text().to_owned()
    };
    insta::assert_snapshot!(of(&[]));
    insta::assert_snapshot!(of(&["--stat", "--from", "0", "--to", "1"]));
    session.tm(&["diff", "--to", "3"]).fault(2, "not_found");
}

#[test]
fn sessions_are_listed_by_status_and_profile() {
    let env = Env::new();
    let first = env.begin();
    let second = env.begin();
    second.tm(&["cancel"]).ok();
    let both = [&*second.id, &*first.id];
    for (words, ids) in [
        (&[][..], &both[..]),
        (&["--status", "in-progress"], &both[1..]),
        (&["--status", "cancelled"], &both[..1]),
        (&["--profile", "generic", "--limit", "1"], &both[..1]),
        (&["--profile", "other"], &[]),
    ] {
        let sessions = env.tm(&[&["list"], words].concat()).ok();
        let listed = sessions.as_array().unwrap().iter();
        let listed: Vec<&str> = listed
            .map(|one| one["session_id"].as_str().unwrap())
            .collect();
        assert_eq!(listed, ids, "{words:?}");
    }
}
