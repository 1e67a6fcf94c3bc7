//! The pinned table, row for row.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::environment::{
    BUNDLE, Env, FAIL, GENERATION, PASS, PLAN, PLANNING, REVIEW, REVISION, Session, at, history,
    last, stayed, text,
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

/// Every file that was recorded last under its name is just so on the disk.
fn assert_recorded(session: &Session, state: &Value) {
    let of = |artifact| (text(artifact, "path"), text(artifact, "sha256"));
    let last: BTreeMap<&str, &str> = artifacts(state).iter().map(of).collect();
    for (path, sha256) in last {
        let bytes = std::fs::read(session.folder.join(path)).unwrap();
        assert_eq!(journal::sha256_hex(&bytes), sha256, "{path}");
    }
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
    assert_eq!(after["created_at"], before["created_at"]);
    assert!(after.get("last_error").is_none(), "{after:#}");

    let entry = last(&after);
    let mut told = format!("{} to {}", text(&before, "phase"), text(&after, "phase"));
    if answer["phase"] == before["phase"] {
        stayed(&before, &after);
        write!(told, ", issued {}", text(&answer, "issued")).unwrap();
    } else {
        assert_eq!(history(&after).len(), history(&before).len() + 1);
        assert!(history(&after).starts_with(history(&before)));
        for same in ["phase", "status"] {
            assert_eq!(entry[same], after[same], "{same}");
        }
        assert_eq!(entry["iteration"], after["current_iteration"]);
        assert_eq!(entry["timestamp"], after["updated_at"]);
        assert!(text(&after, "updated_at") > text(&before, "updated_at"));
        assert!(entry.get("decision").is_none(), "{entry}");
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
        let of = path.strip_prefix("iteration-");
        let of = of.and_then(|rest| rest.split('/').next()?.parse::<i64>().ok());
        assert_eq!(artifact["iteration"], of.unwrap_or(0), "{path}");
        for there in ["phase", "created_at"] {
            assert!(!text(artifact, there).is_empty(), "{path}: {there}");
        }
    }
    assert_recorded(session, &after);
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
    let begun = session.status();
    assert_eq!(session.names(), BTreeSet::new());
    assert_eq!(
        (text(&begun, "phase"), text(last(&begun), "phase")),
        ("INITIALIZED", "INITIALIZED")
    );
    assert_eq!((history(&begun).len(), artifacts(&begun).len()), (1, 0));
    assert!(begun.get("plan_hash").is_none());

    let mut told = String::new();
    let mut responses = RESPONSES.iter();
    while session.status()["status"] == "IN_PROGRESS" {
        let waits = session.status()["waiting_for"]["path"].take();
        if waits.is_string() {
            for _ in 0..2 {
                let answer = session.blocked();
                let prompt = waits.as_str().unwrap().replace("response", "prompt");
                assert_eq!(answer["waiting_for"]["prompt"], *prompt);
            }
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
    for _ in 0..2 {
        let answer = session.stepped();
        assert_eq!(answer["advanced"], false);
        assert!(answer.get("waiting_for").is_none(), "{answer:#}");
    }
    before.assert_same(&session.env.everything(), "a step behind the end");
}

#[test]
fn what_somebody_wrote_too_early_is_not_read_by_a_row_that_does_not_read() {
    let session = at("PLANNED");
    session.put(GENERATION, BUNDLE);
    session.put(REVIEW, PASS);
    session.step_to("GENERATING");
    assert!(!session.has("iteration-1/code"), "nothing was read");
    // The response was there before the prompt: it asks for nothing any more, and is processed.
    session.step_to("GENERATED");
    session.step_to("REVIEWING");
    assert_eq!(session.code(1).len(), 2);
    session.step_to("REVIEWED");
    session.step_to("COMPLETE");
}

#[test]
fn the_processor_is_called_where_a_response_is_processed_and_nowhere_else() {
    let env = Env::with_stub();
    let session = env.begin_stub();
    for (phase, calls) in [
        ("PLANNING", 0),
        ("PLANNED", 1),
        ("GENERATING", 1),
        ("GENERATED", 2),
        ("REVIEWING", 2),
        // REVIEWING and REVISING only take it in.
        ("REVIEWED", 2),
        ("REVISING", 3),
        ("REVISED", 3),
    ] {
        session.to(phase);
        if session.status()["waiting_for"].get("path").is_some() {
            session.blocked();
        }
        assert_eq!(env.calls(), calls, "{phase}");
    }
    session.step_to("REVIEWING");
    assert_eq!(env.calls(), 4);
    assert_eq!(session.code(2).len(), 2, "carried forward, and the bundle");
}
