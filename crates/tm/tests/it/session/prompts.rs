//! Prompts that somebody deletes or edits while their response is waited for.

use std::collections::BTreeSet;

use super::environment::{at, stayed, text};

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

/// One that is gone comes back, one that was edited is never overwritten, and a response that is still blank is none yet.
#[test]
fn in_each_phase_a_prompt_is_put_back_but_never_overwritten() {
    let session = at("INITIALIZED");
    for (phase, next, prompt) in WAITING {
        session.to(phase);
        if phase == "REVIEWING" {
            session.step_to("REVIEWING");
        }
        let (before, was) = (session.status(), session.files());
        session.remove(prompt);
        assert_eq!(session.stepped()["issued"], prompt);
        assert_eq!(session.files(), was, "{prompt}: the same as before");
        let after = session.status();
        stayed(&before, &after);
        assert_eq!(before["nextAction"], after["nextAction"], "{prompt}");
        session.put(prompt, "Do what I say.\n");
        session.put(&prompt.replace("-prompt", "-response"), " \n\t\r\n");
        session.blocked();
        // A prompt may be edited; where the response is there, one that is gone is not issued.
        session.whole();
        session.before(next);
        assert_eq!(session.read(prompt), "Do what I say.\n");
        session.remove(prompt);
        assert!(session.step_to(next).get("issued").is_none());
        assert!(!session.has(prompt), "{prompt}");
        let state = session.status();
        let artifacts = state["artifacts"].as_array().unwrap().iter();
        let records = artifacts.filter(|one| text(one, "path") == prompt).count();
        assert_eq!(records, 1, "{prompt}: it is the same one");
    }
}

#[test]
fn a_prompt_that_somebody_wrote_beforehand_stays_and_a_link_is_not_followed() {
    let session = at("INITIALIZED");
    let outside = session.env.folder().join("outside");
    session.link("planning-prompt.md", &outside);
    session.refused(6, "unsafe_path");
    assert!(!outside.exists());
    session.remove("planning-prompt.md");
    session.put("planning-prompt.md", "Mine.\n");
    session.step_to("PLANNING");
    assert_eq!(session.read("planning-prompt.md"), "Mine.\n");
    let only = BTreeSet::from(["planning-prompt.md".to_owned()]);
    assert_eq!(session.names(), only);
}
