//! Gates that a person opens, and what is sent back.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::environment::{
    BUNDLE, Env, FAIL, PASS, PLAN, PLANNING, REVIEW, Session, gated, history, last, stayed, text,
};

const REVISED: &str = "<<<FILE: src/tabs.sh>>>\ntr '\\t' ' '\n";

/// The session waits at that gate: a step does nothing at all.
fn closed(session: &Session, gate: &str) {
    assert_eq!(session.blocked()["waiting_for"]["gate"], gate);
    assert_eq!(session.status()["waiting_for"]["gate"], gate);
}

/// A person opens the gate, which is no transition.
fn approve(session: &Session) {
    let files = session.files();
    let mut before = session.status();
    session.approve();
    let mut after = session.status();
    stayed(&before, &after);
    // What was changed since it was recorded, and is approved as it is now, is recorded anew.
    let artifacts = before["artifacts"].as_array_mut().unwrap();
    let changed = |artifact: &&mut Value| artifact.get("problem").is_some();
    if let Some(artifact) = artifacts.iter_mut().find(changed) {
        artifact.as_object_mut().unwrap().remove("problem");
        let anew = after["artifacts"].as_array_mut().unwrap().pop().unwrap();
        assert_eq!(anew["path"], artifact["path"]);
        assert_ne!(anew["sha256"], artifact["sha256"]);
    }
    assert_eq!(before["artifacts"], after["artifacts"]);
    assert_eq!(files, session.files());
    assert!(after["waiting_for"].get("gate").is_none(), "{after:#}");
}

/// A person sends back what stands before the gate: one transition to that phase, in the same iteration.
fn reject(session: &Session, feedback: &str, to: &str) {
    let before = session.status();
    session.reject(feedback);
    let after = session.whole();
    let (old, new) = (history(&before), history(&after));
    assert!(new.starts_with(old) && new.len() == old.len() + 1);
    let entry = last(&after);
    assert_eq!([text(&after, "phase"), text(entry, "phase")], [to, to]);
    assert_eq!(entry["decision"], "reject");
    assert_eq!(entry["timestamp"], after["updated_at"]);
    for state in [&before["current_iteration"], &entry["iteration"]] {
        assert_eq!(*state, after["current_iteration"]);
    }
}

/// What was answered and asked stands aside, and the new prompt tells what was said.
fn stands_aside(session: &Session, name: &str, round: usize, response: &str, prompt: &str) {
    let aside = |what: &str| session.read(&format!("{name}-{what}.rejected-{round}.md"));
    assert_eq!(aside("response"), response);
    assert_eq!(aside("prompt"), prompt);
    assert!(!session.has(&format!("{name}-response.md")));
}

/// What a prompt tells, and what it does not.
fn tells(session: &Session, path: &str, said: &str, tells: bool) {
    let prompt = session.read(path);
    assert_eq!(prompt.contains(said), tells, "{said}: {prompt}");
}

#[test]
fn the_plan_gate() {
    let session = gated(&["plan"], "PLANNED");
    closed(&session, "plan");
    let mut prompt = session.read("planning-prompt.md");
    let mut plan = PLAN;
    // The same plan after a rejection needs a new look.
    for (round, next) in [(1, PLAN), (2, "# Better\n")] {
        let feedback = format!("Tabs count, too, for the {round}. time.");
        reject(&session, &feedback, "PLANNING");
        stands_aside(&session, "planning", round, plan, &prompt);
        tells(&session, "planning-prompt.md", &feedback, true);
        prompt = session.read("planning-prompt.md");
        session.blocked();
        plan = next;
        session.put(PLANNING, plan);
        session.step_to("PLANNED");
        closed(&session, "plan");
    }
    approve(&session);
    session.step_to("GENERATING");
    assert_eq!(session.read("plan.md"), plan);
    // The feedback was for the plan.
    tells(
        &session,
        "iteration-1/generation-prompt.md",
        "Tabs count",
        false,
    );
}

#[test]
fn the_code_gate_at_the_first_iteration() {
    let session = gated(&["code"], "REVIEWING");
    closed(&session, "code");
    assert!(!session.has("iteration-1/review-prompt.md"));
    assert_eq!(session.code(1).len(), 2);
    let prompt = session.read("iteration-1/generation-prompt.md");
    // A review that is there already is not one of the code that comes next.
    session.put(REVIEW, PASS);
    reject(&session, "Shorter, please.", "GENERATING");
    assert!(!session.has("iteration-1/code"), "it is not carried on");
    stands_aside(&session, "iteration-1/generation", 1, BUNDLE, &prompt);
    tells(
        &session,
        "iteration-1/generation-prompt.md",
        "Shorter, please.",
        true,
    );
    assert_eq!(
        session.read("iteration-1/review-response.rejected-1.md"),
        PASS
    );

    session.generate("<<<FILE: count>>>\nwc -w\n");
    let only = BTreeMap::from([("count".to_owned(), "wc -w\n".to_owned())]);
    assert_eq!(session.code(1), only);
    closed(&session, "code");
    approve(&session);
    session.review(1, PASS);
    session.step_to("COMPLETE");
    session.whole();
}

#[test]
fn the_code_gate_at_the_second_iteration() {
    let session = gated(&["code"], "REVIEWING");
    approve(&session);
    session.to("REVISING");
    let carried = session.code(2);
    assert_eq!(carried, session.code(1));
    for round in 1..=2 {
        let prompt = session.read("iteration-2/revision-prompt.md");
        let bundle = format!("<<<FILE: src/{round}.sh>>>\ntrue\n<<<FILE: README>>>\nOther.\n");
        session.revise(2, &bundle);
        closed(&session, "code");
        assert_eq!(session.code(2).len(), 3);
        let feedback = format!("Not so, {round}.");
        reject(&session, &feedback, "REVISING");
        assert_eq!(session.code(2), carried, "as it was carried forward");
        stands_aside(&session, "iteration-2/revision", round, &bundle, &prompt);
        // The review still stands.
        for said in [&*feedback, "Tabs are forgotten."] {
            tells(&session, "iteration-2/revision-prompt.md", said, true);
        }
        session.blocked();
    }
    session.revise(2, REVISED);
    let code = session.code(2);
    let names: Vec<&String> = code.keys().collect();
    assert_eq!(names, ["README", "src/count.sh", "src/tabs.sh"]);
    assert_eq!(code["README"], carried["README"]);
    assert_eq!(session.code(1), carried, "the first iteration is history");
    approve(&session);
    session.review(2, PASS);
    session.step_to("COMPLETE");
}

#[test]
fn the_review_gate_at_both_iterations() {
    let session = gated(&["review"], "REVIEWING");
    for (iteration, review) in [(1, FAIL), (2, PASS)] {
        session.review(iteration, "A first look.\n");
        closed(&session, "review");
        let name = format!("iteration-{iteration}/review");
        let asks = format!("{name}-prompt.md");
        let prompt = session.read(&asks);
        reject(&session, "Look at the tabs.", "REVIEWING");
        stands_aside(&session, &name, 1, "A first look.\n", &prompt);
        assert!(!session.has(&asks), "issued by the next step");
        assert_eq!(session.step_to("REVIEWING")["issued"], *asks);
        tells(&session, &asks, "Look at the tabs.", true);
        session.blocked();
        session.review(iteration, review);
        closed(&session, "review");
        approve(&session);
        if iteration == 1 {
            session.step_to("REVISING");
            // That was for the review.
            tells(
                &session,
                "iteration-2/revision-prompt.md",
                "Look at the tabs.",
                false,
            );
            session.revise(2, REVISED);
        }
    }
    session.step_to("COMPLETE");
}

#[test]
fn the_processor_is_not_called_before_the_review_gate_is_open() {
    let env = Env::with_stub();
    let session = env.begin_with(&["--profile", "stub", "--gate", "review=human"]);
    session.to("REVIEWED");
    let calls = env.calls();
    closed(&session, "review");
    approve(&session);
    assert_eq!(env.calls(), calls);
    session.step_to("REVISING");
    assert_eq!(env.calls(), calls + 1);
}

#[test]
fn an_approval_holds_when_its_phase_is_entered_again() {
    let session = gated(&["code", "review"], "REVIEWING");
    approve(&session);
    session.review(1, "No verdict.\n");
    reject(&session, "Give one.", "REVIEWING");
    session.review(1, "No verdict again.\n");
    approve(&session);
    session.step_to("ERROR");
    session.reopen();
    // The code is the same: its gate stays open. The review is another one: its gate is closed.
    session.review(1, FAIL);
    closed(&session, "review");
    approve(&session);
    session.step_to("REVISING");
    // The same code in another iteration was not looked at.
    session.revise(2, BUNDLE);
    assert_eq!(session.code(1), session.code(2));
    closed(&session, "code");
}

#[test]
fn a_decision_is_bound_to_the_hash_that_was_looked_at() {
    let session = gated(&["plan", "code"], "PLANNED");
    let wrong = "0".repeat(64);
    let before = session.env.everything();
    for decision in [&["approve"][..], &["reject", "--feedback", "No."]] {
        let words = [decision, &["--hash", &wrong]].concat();
        assert_eq!(session.person(&words).0, 5, "{decision:?}");
    }
    before.assert_same(&session.env.everything(), "a decision about something else");
    let plan = journal::sha256_hex(PLAN.as_bytes());
    session.agreed(&["approve", "--hash", &plan]);
    session.to("REVIEWING");
    let mut lines = String::new();
    for (path, content) in session.code(1) {
        let _ = writeln!(lines, "{}  {path}", journal::sha256_hex(content.as_bytes()));
    }
    let code = journal::sha256_hex(lines.as_bytes());
    session.agreed(&["approve", "--hash", &code]);
    session.step_to("REVIEWING");
}

#[test]
fn only_a_person_decides() {
    let session = gated(&["plan"], "PLANNED");
    let broken = session.env.begin();
    broken.before("PLANNED");
    broken.put(PLANNING, "no\0text\n");
    broken.step_to("ERROR");
    let before = session.env.everything();
    let reject = ["reject", "--feedback", "No."];
    for (session, words, code) in [
        (&session, &["approve"][..], "needs_terminal"),
        (&session, &reject, "needs_terminal"),
        (&broken, &["reopen"], "needs_terminal"),
        (&session, &["reject", "--feedback", " \n"], "no_feedback"),
    ] {
        session.tm(words).fault(3, code);
    }
    before.assert_same(&session.env.everything(), "a decision without a person");
}

#[test]
fn a_plan_that_was_edited_before_its_gate_is_the_one_that_is_decided_on() {
    let session = gated(&["plan"], "PLANNED");
    // Sent back, with feedback from a file, it is no plan.
    session.tm(&["reject"]).fault(2, "usage");
    session.put("plan.md", "By hand.\n");
    session.env.write("why.md", "Say more.\nMuch more.\n");
    session.agreed(&["reject", "--feedback-file", "why.md"]);
    tells(
        &session,
        "planning-prompt.md",
        "Say more.\nMuch more.",
        true,
    );
    assert_eq!(session.status().get("plan_hash"), None);
    assert!(!session.has("plan.md"));
    assert_eq!(session.read("plan.rejected-1.md"), "By hand.\n");
    session.to("PLANNED");
    let mended = "# Plan\n\nCount by any white space.\n";
    session.put("plan.md", mended);
    session.whole();
    closed(&session, "plan");
    approve(&session);
    // Edited after that, it closes its gate again.
    session.put("plan.md", "# Another\n");
    closed(&session, "plan");
    session.put("plan.md", mended);
    let state = session.step_to("GENERATING");
    assert_eq!(state["plan_hash"], journal::sha256_hex(mended.as_bytes()));
    let prompt = "iteration-1/generation-prompt.md";
    tells(&session, prompt, "any white space", true);
    session.to_complete();
    assert_eq!(session.read("plan.md"), mended);
    session.whole();
}

/// What becomes of it is shown in `crates/engine/tests/it/session/mended.rs`.
#[test]
fn who_approves_mended_code_is_told_that_it_was_changed() {
    let session = gated(&["code"], "REVIEWING");
    session.put("iteration-1/code/README", "Mine.\n");
    let (_, shown) = session.person(&["approve"]);
    assert!(shown.contains("tm session diff"), "{shown}");
    session.step_to("REVIEWING");
    tells(&session, "iteration-1/review-prompt.md", "Mine.", true);
}
