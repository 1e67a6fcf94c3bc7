//! The pinned table, row for row.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::environment::{BUNDLE, Env, FAIL, PASS, PLAN, Session, text};

/// What one step does.
struct Row {
    /// Where the session stands before it.
    from: &'static str,
    /// For which file that row waits; the test makes sure that it does.
    waits: Option<&'static str>,
    /// What is put there, so that it goes on.
    response: &'static str,
    /// Where the session stands after it.
    to: &'static str,
    /// In which iteration.
    iteration: i64,
    /// What came of a response that was processed.
    outcome: Option<&'static str>,
    /// The files and folders that come to be.
    made: &'static [&'static str],
    /// The files that are recorded.
    recorded: &'static [&'static str],
}

/// From the beginning to the end of a session whose first review fails.
const ROWS: &[Row] = &[
    Row {
        from: "INITIALIZED",
        waits: None,
        response: "",
        to: "PLANNING",
        iteration: 0,
        outcome: None,
        made: &["planning-prompt.md"],
        recorded: &["planning-prompt.md"],
    },
    Row {
        from: "PLANNING",
        waits: Some("planning-response.md"),
        response: PLAN,
        to: "PLANNED",
        iteration: 0,
        outcome: Some("SUCCESS"),
        made: &["plan.md"],
        recorded: &["planning-response.md", "plan.md"],
    },
    Row {
        from: "PLANNED",
        waits: None,
        response: "",
        to: "GENERATING",
        iteration: 1,
        outcome: None,
        made: &["iteration-1/", "iteration-1/generation-prompt.md"],
        recorded: &["iteration-1/generation-prompt.md"],
    },
    Row {
        from: "GENERATING",
        waits: Some("iteration-1/generation-response.md"),
        response: BUNDLE,
        to: "GENERATED",
        iteration: 1,
        outcome: Some("SUCCESS"),
        made: &[
            "iteration-1/code/",
            "iteration-1/code/README",
            "iteration-1/code/src/",
            "iteration-1/code/src/count.sh",
        ],
        recorded: &[
            "iteration-1/generation-response.md",
            "iteration-1/code/README",
            "iteration-1/code/src/count.sh",
        ],
    },
    Row {
        from: "GENERATED",
        waits: None,
        response: "",
        to: "REVIEWING",
        iteration: 1,
        outcome: None,
        made: &[],
        recorded: &[],
    },
    Row {
        from: "REVIEWING",
        waits: Some("iteration-1/review-response.md"),
        response: FAIL,
        to: "REVIEWED",
        iteration: 1,
        outcome: None,
        made: &[],
        recorded: &["iteration-1/review-response.md"],
    },
    Row {
        from: "REVIEWED",
        waits: None,
        response: "",
        to: "REVISING",
        iteration: 2,
        outcome: Some("FAILED"),
        made: &[
            "iteration-2/",
            "iteration-2/code/",
            "iteration-2/code/README",
            "iteration-2/code/src/",
            "iteration-2/code/src/count.sh",
            "iteration-2/revision-prompt.md",
        ],
        recorded: &[
            "iteration-2/code/README",
            "iteration-2/code/src/count.sh",
            "iteration-2/revision-prompt.md",
        ],
    },
    Row {
        from: "REVISING",
        waits: Some("iteration-2/revision-response.md"),
        response: "<<<FILE: src/tabs.sh>>>\ntr '\\t' ' '\n",
        to: "REVISED",
        iteration: 2,
        outcome: None,
        made: &[],
        recorded: &["iteration-2/revision-response.md"],
    },
    Row {
        from: "REVISED",
        waits: None,
        response: "",
        to: "REVIEWING",
        iteration: 2,
        outcome: Some("SUCCESS"),
        made: &["iteration-2/code/src/tabs.sh"],
        recorded: &[
            "iteration-2/code/README",
            "iteration-2/code/src/count.sh",
            "iteration-2/code/src/tabs.sh",
        ],
    },
    Row {
        from: "REVIEWING",
        waits: Some("iteration-2/review-response.md"),
        response: PASS,
        to: "REVIEWED",
        iteration: 2,
        outcome: None,
        made: &[],
        recorded: &["iteration-2/review-response.md"],
    },
    Row {
        from: "REVIEWED",
        waits: None,
        response: "",
        to: "COMPLETE",
        iteration: 2,
        outcome: Some("SUCCESS"),
        made: &[],
        recorded: &[],
    },
];

fn list<'a>(state: &'a Value, name: &str) -> &'a [Value] {
    state[name]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// What a row left as it was, and what it added.
fn grown(
    before: &BTreeMap<String, Vec<u8>>,
    after: &BTreeMap<String, Vec<u8>>,
) -> BTreeSet<String> {
    for (path, bytes) in before {
        assert_eq!(
            after.get(path),
            Some(bytes),
            "{path} is another one, or gone"
        );
    }
    after
        .keys()
        .filter(|path| !before.contains_key(*path))
        .cloned()
        .collect()
}

/// Every file that was recorded last under its name is just so on the disk.
fn assert_recorded(session: &Session<'_>, state: &Value) {
    let mut last = BTreeMap::new();
    for artifact in list(state, "artifacts") {
        last.insert(text(artifact, "path"), text(artifact, "sha256"));
    }
    for (path, sha256) in last {
        let bytes = std::fs::read(session.folder.join(path)).unwrap();
        assert_eq!(journal::sha256_hex(&bytes), sha256, "{path}");
    }
}

fn check(session: &Session<'_>, row: &Row) {
    let (from, to) = (row.from, row.to);
    if let Some(path) = row.waits {
        if from == "REVIEWING" {
            prompt_of_review(session, path);
        }
        for _ in 0..2 {
            let answer = session.blocked();
            assert_eq!(answer["waiting_for"]["path"], path, "{from}");
            let prompt = path.replace("response", "prompt");
            assert_eq!(answer["waiting_for"]["prompt"], prompt.as_str(), "{from}");
        }
        session.put(path, row.response);
    }
    let (before, files) = (session.status(), session.files());
    assert_eq!(text(&before, "phase"), from);
    let answer = session.step_to(to);
    let after = session.status();

    let status = if to == "COMPLETE" {
        "SUCCESS"
    } else {
        "IN_PROGRESS"
    };
    for state in [&answer, &after] {
        assert_eq!(text(state, "status"), status, "{from}");
        assert_eq!(state["current_iteration"], row.iteration, "{from}");
        assert_eq!(state["phase_history_total"], after["phase_history_total"]);
        assert_eq!(state["updated_at"], after["updated_at"]);
        assert!(state.get("last_error").is_none(), "{state:#}");
        assert!(state.get("tampered").is_none(), "{state:#}");
    }
    let (old, new) = (
        list(&before, "phase_history"),
        list(&after, "phase_history"),
    );
    assert_eq!(
        new.len(),
        old.len() + 1,
        "{from}: one transition, one entry"
    );
    assert_eq!(&new[..old.len()], old, "{from}");
    let entry = new.last().unwrap();
    assert_eq!(text(entry, "phase"), to);
    assert_eq!(text(entry, "status"), status, "{from}");
    assert_eq!(entry["iteration"], row.iteration, "{from}");
    assert_eq!(
        entry.get("outcome").and_then(Value::as_str),
        row.outcome,
        "{from}"
    );
    assert!(entry.get("decision").is_none(), "{entry}");
    assert_eq!(entry["timestamp"], after["updated_at"], "{from}");
    assert!(
        text(&after, "updated_at") > text(&before, "updated_at"),
        "{from}"
    );
    assert_eq!(after["created_at"], before["created_at"]);

    let made: BTreeSet<String> = row.made.iter().map(|&path| path.to_owned()).collect();
    assert_eq!(grown(&files, &session.files()), made, "{from}");
    let (old, new) = (list(&before, "artifacts"), list(&after, "artifacts"));
    assert_eq!(&new[..old.len()], old, "{from}");
    let recorded: BTreeSet<&str> = new[old.len()..]
        .iter()
        .map(|artifact| text(artifact, "path"))
        .collect();
    assert_eq!(recorded, row.recorded.iter().copied().collect(), "{from}");
    assert_eq!(
        new.len() - old.len(),
        row.recorded.len(),
        "{from}: each once"
    );
    for artifact in &new[old.len()..] {
        let path = text(artifact, "path");
        let of = path
            .strip_prefix("iteration-")
            .and_then(|rest| rest.split('/').next()?.parse::<i64>().ok());
        assert_eq!(artifact["iteration"], of.unwrap_or(0), "{path}");
        assert!(!text(artifact, "phase").is_empty(), "{path}");
        assert!(!text(artifact, "created_at").is_empty(), "{path}");
    }
    assert_recorded(session, &after);
}

/// REVIEWING is entered without its prompt: a step issues it, and nothing else happens.
fn prompt_of_review(session: &Session<'_>, response: &str) {
    let prompt = response.replace("response", "prompt");
    assert!(!session.has(&prompt), "{prompt} is there too early");
    let (before, files) = (session.status(), session.files());
    let answer = session.step_to("REVIEWING");
    assert_eq!(text(&answer, "issued"), prompt);
    assert_eq!(grown(&files, &session.files()), BTreeSet::from([prompt]));
    let after = session.status();
    for same in [
        "phase",
        "status",
        "current_iteration",
        "phase_history",
        "updated_at",
    ] {
        assert_eq!(before[same], after[same], "{same}");
    }
    assert_eq!(
        list(&after, "artifacts").len(),
        list(&before, "artifacts").len() + 1
    );
    assert_recorded(session, &after);
}

#[test]
fn every_row_does_what_it_says_and_nothing_else() {
    let env = Env::new();
    let session = env.begin();
    let begun = session.status();
    assert_eq!(
        session.names(),
        BTreeSet::new(),
        "nothing but the session's root"
    );
    assert_eq!(text(&begun, "phase"), "INITIALIZED");
    assert_eq!(text(&begun, "status"), "IN_PROGRESS");
    assert_eq!(begun["current_iteration"], 0);
    let first = &list(&begun, "phase_history")[0];
    assert_eq!(text(first, "phase"), "INITIALIZED");
    assert_eq!(list(&begun, "phase_history").len(), 1);
    assert!(list(&begun, "artifacts").is_empty());
    assert!(begun.get("plan_hash").is_none());

    for row in ROWS {
        check(&session, row);
    }

    let end = session.status();
    assert_eq!(
        text(&end, "plan_hash"),
        journal::sha256_hex(PLAN.as_bytes())
    );
    assert_eq!(session.read("plan.md"), PLAN);
    let before = env.everything();
    for _ in 0..2 {
        let answer = session.stepped();
        assert_eq!(answer["advanced"], false);
        assert!(answer.get("waiting_for").is_none(), "{answer:#}");
    }
    before.assert_same(&env.everything(), "a step behind the end");
}

#[test]
fn what_somebody_wrote_too_early_is_not_read_by_a_row_that_does_not_read() {
    let env = Env::new();
    let session = env.begin();
    session.to_planned();
    session.put("iteration-1/generation-response.md", BUNDLE);
    session.put("iteration-1/review-response.md", PASS);
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
    let calls = |expected: usize, phase: &str| {
        assert_eq!(env.calls(), expected, "at {phase}");
        let state = session.status();
        if state["waiting_for"].get("path").is_some() {
            session.blocked();
        }
        assert_eq!(env.calls(), expected, "blocked at {phase}");
    };
    calls(0, "INITIALIZED");
    session.step_to("PLANNING");
    calls(0, "PLANNING");
    session.put("planning-response.md", "planned\n");
    session.step_to("PLANNED");
    assert_eq!(env.calls(), 1);
    session.step_to("GENERATING");
    calls(1, "GENERATING");
    session.put("iteration-1/generation-response.md", "generated\n");
    session.step_to("GENERATED");
    assert_eq!(env.calls(), 2);
    session.step_to("REVIEWING");
    session.step_to("REVIEWING");
    calls(2, "REVIEWING");
    session.put("iteration-1/review-response.md", "reviewed\n");
    session.step_to("REVIEWED");
    assert_eq!(env.calls(), 2, "REVIEWING only takes it in");
    session.step_to("REVISING");
    assert_eq!(env.calls(), 3);
    calls(3, "REVISING");
    session.put("iteration-2/revision-response.md", "revised\n");
    session.step_to("REVISED");
    assert_eq!(env.calls(), 3, "REVISING only takes it in");
    session.step_to("REVIEWING");
    assert_eq!(env.calls(), 4);
    assert_eq!(session.code(2).len(), 2, "carried forward, and the bundle");
}
