//! Whatever goes wrong, somebody gets on: nothing that is within the limits walks a session into a wall, and nothing that was not
//! seen is decided on.

use std::fs;

use super::environment::{BUNDLE, FAIL, PASS, PLANNING, REVIEW, at, gated};

#[test]
fn what_is_longer_than_a_prompt_is_shown_in_part() {
    let session = at("INITIALIZED");
    session.before("PLANNED");
    session.put(PLANNING, "# A plan\nword ".repeat(80_000));
    session.step_to("PLANNED");
    session.step_to("GENERATING");
    let prompt = session.read("iteration-1/generation-prompt.md");
    assert!(prompt.len() < 200_000, "{}", prompt.len());
    assert!(prompt.contains("[cut here; the whole of it: "));
    session.generate(BUNDLE);
    session.put(REVIEW, format!("{}{FAIL}", "Wrong again. ".repeat(80_000)));
    session.step_to("REVIEWED");
    session.step_to("REVISING");
    assert!(session.has("iteration-2/revision-prompt.md"));
}

#[test]
fn a_reviewer_sees_what_cannot_be_seen() {
    let session = at("GENERATING");
    session.generate(
        "<<<FILE: a.sh>>>\nif user\u{202e} # admin\u{2069}; then\u{1b}[2K\u{8}\n\tok\r\n",
    );
    session.stepped();
    let prompt = session.read("iteration-1/review-prompt.md");
    let seen = "if user\\u{202e} # admin\\u{2069}; then\\u{1b}[2K\\u{8}\n\tok\n";
    assert!(prompt.contains(seen), "{prompt}");
}

#[test]
fn a_review_that_was_changed_is_not_decided_on() {
    let session = gated(&["review"], "REVIEWING");
    session.review(1, PASS);
    session.put(REVIEW, FAIL);
    let (status, said) = session.person(&["approve"]);
    assert_eq!(status, 3, "{said}");
    assert!(said.contains("review-response.md"), "{said}");
    session.tm(&["restore"]).ok();
    assert_eq!(session.read(REVIEW), PASS);
    session.approve();
    session.step_to("COMPLETE");
}

#[test]
fn a_link_in_place_of_a_lock_leads_nowhere() {
    let session = at("INITIALIZED");
    let victim = session.env.folder().join("victim");
    fs::write(&victim, "precious").unwrap();
    for lock in ["lock", "steps.lock"] {
        if session.has(lock) {
            session.remove(lock);
        }
        session.link(lock, &victim);
        session.step().json_with(6);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{lock}");
        session.remove(lock);
    }
    session.step_to("PLANNING");
    // None comes to be where nothing is done.
    session.remove("steps.lock");
    session.blocked();
    assert!(!session.has("steps.lock"));
}
