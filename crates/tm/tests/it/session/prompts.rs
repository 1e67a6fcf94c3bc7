//! Prompts that somebody deletes or edits while their response is waited for.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::environment::{BUNDLE, Env, FAIL, PLAN, Session, text};

/// Brings a session to where it waits for a response, with its prompt issued.
type Arrange = fn(&Session<'_>);

/// Waiting phases: how to get there, the prompt, what answers it, and where that leads.
const WAITING: [(Arrange, &str, &str, &str); 4] = [
    (
        |session| drop(session.step_to("PLANNING")),
        "planning-prompt.md",
        PLAN,
        "PLANNED",
    ),
    (
        |session| session.to_generating(),
        "iteration-1/generation-prompt.md",
        BUNDLE,
        "GENERATED",
    ),
    (
        |session| {
            session.to_reviewing();
            session.step_to("REVIEWING");
        },
        "iteration-1/review-prompt.md",
        FAIL,
        "REVIEWED",
    ),
    (
        |session| session.to_revising(),
        "iteration-2/revision-prompt.md",
        BUNDLE,
        "REVISED",
    ),
];

fn response_to(prompt: &str) -> String {
    prompt.replace("-prompt.md", "-response.md")
}

fn records(state: &Value, path: &str) -> usize {
    let artifacts = state["artifacts"].as_array().unwrap();
    artifacts
        .iter()
        .filter(|artifact| text(artifact, "path") == path)
        .count()
}

#[test]
fn one_that_was_deleted_comes_back_and_nothing_else_changes() {
    for (arrange, prompt, ..) in WAITING {
        let env = Env::new();
        let session = env.begin();
        arrange(&session);
        for _ in 0..2 {
            let (before, was) = (session.status(), session.files());
            fs::remove_file(session.folder.join(prompt)).unwrap();
            let answer = session.stepped();
            assert_eq!(text(&answer, "issued"), prompt);
            assert_eq!(session.files(), was, "{prompt}: the same as before");
            let after = session.status();
            for same in [
                "phase",
                "status",
                "current_iteration",
                "phase_history",
                "updated_at",
                "waiting_for",
            ] {
                assert_eq!(before[same], after[same], "{prompt}: {same}");
            }
            assert_eq!(records(&after, prompt), 1, "it is the same one");
        }
        session.blocked();
    }
}

#[test]
fn one_that_was_edited_is_never_overwritten() {
    for (arrange, prompt, answer, next) in WAITING {
        let env = Env::new();
        let session = env.begin();
        arrange(&session);
        session.put(prompt, "Do what I say.\n");
        session.blocked();
        assert!(
            session.status().get("tampered").is_none(),
            "a prompt may be edited"
        );
        session.put(&response_to(prompt), answer);
        session.step_to(next);
        assert_eq!(session.read(prompt), "Do what I say.\n");
    }
}

#[test]
fn none_is_issued_where_the_response_is_there() {
    for (arrange, prompt, answer, next) in WAITING {
        let env = Env::new();
        let session = env.begin();
        arrange(&session);
        fs::remove_file(session.folder.join(prompt)).unwrap();
        session.put(&response_to(prompt), answer);
        let step = session.step_to(next);
        assert!(step.get("issued").is_none(), "{step:#}");
        assert!(!session.has(prompt), "{prompt}");
        assert_eq!(records(&session.status(), prompt), 1, "{prompt}");
    }
}

#[test]
fn a_response_that_is_still_blank_is_none_yet() {
    for (arrange, prompt, answer, next) in WAITING {
        let env = Env::new();
        let session = env.begin();
        arrange(&session);
        for blank in ["", " \n\t\r\n"] {
            session.put(&response_to(prompt), blank);
            let answer = session.blocked();
            assert_eq!(answer["waiting_for"]["path"], response_to(prompt).as_str());
        }
        session.put(&response_to(prompt), answer);
        session.step_to(next);
    }
}

#[test]
fn a_prompt_that_somebody_wrote_beforehand_stays() {
    let env = Env::new();
    let session = env.begin();
    session.put("planning-prompt.md", "Mine.\n");
    session.step_to("PLANNING");
    assert_eq!(session.read("planning-prompt.md"), "Mine.\n");
}

#[test]
fn a_link_in_the_place_of_a_prompt_is_not_followed() {
    let env = Env::new();
    let session = env.begin();
    let outside = env.folder().join("outside");
    let prompt = session.folder.join("planning-prompt.md");
    std::os::unix::fs::symlink(&outside, &prompt).unwrap();
    session.refused(6, "no_ordinary_file");
    assert!(!outside.exists());
    fs::remove_file(prompt).unwrap();
    session.step_to("PLANNING");
    assert_eq!(
        session.names(),
        BTreeSet::from(["planning-prompt.md".to_owned()])
    );
}

#[test]
fn what_the_engine_makes_for_itself_comes_back_too() {
    let env = Env::new();
    let session = env.begin();
    session.to_generating();
    for name in [
        "state.json",
        "manifest.json",
        "snapshot.json",
        "workflow.yaml",
    ] {
        fs::remove_file(session.folder.join(name)).unwrap();
    }
    session.put("iteration-1/generation-response.md", BUNDLE);
    session.step_to("GENERATED");
    for name in ["state.json", "manifest.json", "workflow.yaml"] {
        assert!(session.has(name), "{name}");
    }
}
