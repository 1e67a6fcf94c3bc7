//! The pinned table, row for row.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use super::environment::{
    BUNDLE, FAIL, GENERATION, PASS, PLAN, PLANNING, REVIEW, REVISION, Session, at, history, last,
    stayed, text,
};

/// What is answered to each prompt; the first review fails.
const RESPONSES: [(&str, &str); 5] = [
    (PLANNING, PLAN),
    (GENERATION, BUNDLE),
    (REVIEW, FAIL),
    (REVISION, "<<<FILE: src/tabs.sh>>>\ntr '\\t' ' '\n"),
    ("iteration-2/review-response.md", PASS),
];

fn artifacts(state: &Value) -> &[Value] {
    state["artifacts"].as_array().unwrap()
}

/// Takes a step, and tells what came of it: phase, iteration and outcome; the files that came to be, and those recorded.
fn taken(session: &Session) -> String {
    let (before, files) = (session.status(), session.files());
    let answer = session.stepped();
    assert_eq!(answer["advanced"], true, "{answer:#}");
    let after = session.whole();
    for same in ["phase", "status", "current_iteration", "updated_at"] {
        assert_eq!(answer[same], after[same], "{same}");
    }
    let entry = last(&after);
    let mut told = format!("{} to {}", text(&before, "phase"), text(&after, "phase"));
    if answer["phase"] == before["phase"] {
        stayed(&before, &after);
        write!(told, ", issued {}", text(&answer, "issued")).unwrap();
    } else {
        let (old, new) = (history(&before), history(&after));
        assert!(new.starts_with(old) && new.len() == old.len() + 1);
        for (of, state) in [
            ("phase", "phase"),
            ("status", "status"),
            ("iteration", "current_iteration"),
            ("timestamp", "updated_at"),
        ] {
            assert_eq!(entry[of], after[state], "{of}");
        }
        let (iteration, status) = (&entry["iteration"], text(entry, "status"));
        let outcome = entry["outcome"].as_str().unwrap_or("none");
        write!(told, ", {iteration} {status} {outcome}").unwrap();
    }

    let now = session.files();
    for (path, bytes) in &files {
        assert_eq!(now.get(path), Some(bytes), "{path} is another, or gone");
    }
    let made = now.keys().filter(|path| !files.contains_key(*path));
    let made: BTreeSet<&str> = made.map(String::as_str).collect();
    let (old, new) = (artifacts(&before), artifacts(&after));
    assert!(new.starts_with(old));
    let mut recorded = BTreeSet::new();
    for artifact in &new[old.len()..] {
        let path = text(artifact, "path");
        assert!(recorded.insert(path), "{path} twice");
    }
    for (what, paths) in [("made", made), ("recorded", recorded)] {
        if !paths.is_empty() {
            let paths: Vec<&str> = paths.into_iter().collect();
            write!(told, "\n  {what} {}", paths.join(", ")).unwrap();
        }
    }
    told
}

#[test]
fn every_row_does_what_it_says_and_nothing_else() {
    let session = at("INITIALIZED");
    let mut told = String::new();
    let mut responses = RESPONSES.iter();
    while session.status()["status"] == "IN_PROGRESS" {
        let waits = session.status()["nextAction"]["response"].take();
        if waits.is_string() {
            let answer = session.blocked();
            let prompt = waits.as_str().unwrap().replace("response", "prompt");
            assert_eq!(answer["nextAction"]["prompt"], *prompt);
            let (path, response) = responses.next().unwrap();
            assert_eq!(waits, *path);
            session.put(path, response);
        }
        writeln!(told, "{}", taken(&session)).unwrap();
    }
    insta::assert_snapshot!(told, @r"
    INITIALIZED to PLANNING, 0 IN_PROGRESS none
      made planning-prompt.md
      recorded planning-prompt.md
    PLANNING to PLANNED, 0 IN_PROGRESS SUCCESS
      made plan.md
      recorded plan.md, planning-response.md
    PLANNED to GENERATING, 1 IN_PROGRESS none
      made iteration-1/, iteration-1/generation-prompt.md
      recorded iteration-1/generation-prompt.md
    GENERATING to GENERATED, 1 IN_PROGRESS SUCCESS
      made iteration-1/code/, iteration-1/code/README, iteration-1/code/src/, iteration-1/code/src/count.sh
      recorded iteration-1/code/README, iteration-1/code/src/count.sh, iteration-1/generation-response.md
    GENERATED to REVIEWING, 1 IN_PROGRESS none
    REVIEWING to REVIEWING, issued iteration-1/review-prompt.md
      made iteration-1/review-prompt.md
      recorded iteration-1/review-prompt.md
    REVIEWING to REVIEWED, 1 IN_PROGRESS none
      recorded iteration-1/review-response.md
    REVIEWED to REVISING, 2 IN_PROGRESS FAILED
      made iteration-2/, iteration-2/code/, iteration-2/code/README, iteration-2/code/src/, iteration-2/code/src/count.sh, iteration-2/revision-prompt.md
      recorded iteration-2/code/README, iteration-2/code/src/count.sh, iteration-2/revision-prompt.md
    REVISING to REVISED, 2 IN_PROGRESS none
      recorded iteration-2/revision-response.md
    REVISED to REVIEWING, 2 IN_PROGRESS SUCCESS
      made iteration-2/code/src/tabs.sh
      recorded iteration-2/code/README, iteration-2/code/src/count.sh, iteration-2/code/src/tabs.sh
    REVIEWING to REVIEWING, issued iteration-2/review-prompt.md
      made iteration-2/review-prompt.md
      recorded iteration-2/review-prompt.md
    REVIEWING to REVIEWED, 2 IN_PROGRESS none
      recorded iteration-2/review-response.md
    REVIEWED to COMPLETE, 2 SUCCESS SUCCESS
    ");

    let hash = text(&session.status(), "plan_hash").to_owned();
    assert_eq!(hash, journal::sha256_hex(PLAN.as_bytes()));
    assert_eq!(session.read("plan.md"), PLAN);
    let before = session.env.everything();
    let answer = session.stepped();
    assert_eq!(answer["advanced"], false);
    assert_eq!(answer["nextAction"]["action"], "complete", "{answer:#}");
    before.assert_same(&session.env.everything(), "a step behind the end");
}
