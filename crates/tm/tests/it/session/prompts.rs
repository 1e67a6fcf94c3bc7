//! Prompts that somebody deletes or edits while their response is waited for.

use std::collections::BTreeSet;

use super::environment::{Session, at, stayed, text};

/// Waiting phases, the phase that follows each, and its prompt.
const WAITING: [(&str, &str, &str); 4] = [
    ("PLANNING", "PLANNED", "planning-prompt.md"),
    (
        "GENERATING",
        "GENERATED",
        "iteration-1/generation-prompt.md",
    ),
    ("REVIEWING", "REVIEWED", "iteration-1/review-prompt.md"),
    ("REVISING", "REVISED", "iteration-2/revision-prompt.md"),
];

/// In each phase that waits for a response, with its prompt issued: the session, the prompt, and the phase that follows.
fn at_each(act: impl Fn(&Session, &str, &str)) {
    for (phase, next, prompt) in WAITING {
        let session = at(phase);
        if phase == "REVIEWING" {
            session.step_to("REVIEWING");
        }
        act(&session, prompt, next);
    }
}

fn records(session: &Session, path: &str) -> usize {
    let state = session.status();
    let artifacts = state["artifacts"].as_array().unwrap().iter();
    artifacts.filter(|one| text(one, "path") == path).count()
}

#[test]
fn one_that_was_deleted_comes_back_and_nothing_else_changes() {
    at_each(|session, prompt, next| {
        for _ in 0..2 {
            let (before, was) = (session.status(), session.files());
            session.remove(prompt);
            assert_eq!(session.stepped()["issued"], prompt);
            assert_eq!(session.files(), was, "{prompt}: the same as before");
            let after = session.status();
            stayed(&before, &after);
            assert_eq!(before["waiting_for"], after["waiting_for"], "{prompt}");
        }
        session.blocked();
        // Where the response is there, none is issued.
        session.before(next);
        session.remove(prompt);
        let step = session.step_to(next);
        assert!(step.get("issued").is_none(), "{step:#}");
        assert!(!session.has(prompt), "{prompt}");
        assert_eq!(records(session, prompt), 1, "it is the same one");
    });
}

#[test]
fn one_that_was_edited_is_never_overwritten() {
    at_each(|session, prompt, next| {
        session.put(prompt, "Do what I say.\n");
        session.blocked();
        // A prompt may be edited.
        session.whole();
        session.to(next);
        assert_eq!(session.read(prompt), "Do what I say.\n");
    });
}

#[test]
fn a_response_that_is_still_blank_is_none_yet() {
    at_each(|session, prompt, next| {
        let response = prompt.replace("-prompt.md", "-response.md");
        for blank in ["", " \n\t\r\n"] {
            session.put(&response, blank);
            assert_eq!(session.blocked()["waiting_for"]["path"], *response);
        }
        session.to(next);
    });
}

#[test]
fn a_prompt_that_somebody_wrote_beforehand_stays_and_a_link_is_not_followed() {
    let session = at("INITIALIZED");
    let outside = session.env.folder().join("outside");
    session.link("planning-prompt.md", &outside);
    session.refused(6, "no_ordinary_file");
    assert!(!outside.exists());
    session.remove("planning-prompt.md");
    session.put("planning-prompt.md", "Mine.\n");
    session.step_to("PLANNING");
    assert_eq!(session.read("planning-prompt.md"), "Mine.\n");
    let only = BTreeSet::from(["planning-prompt.md".to_owned()]);
    assert_eq!(session.names(), only);
}
