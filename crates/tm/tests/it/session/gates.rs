//! Gates that a person opens, and what is sent back.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::environment::{BUNDLE, Env, FAIL, PASS, PLAN, Session, text};

const REVISED: &str = "<<<FILE: src/tabs.sh>>>\ntr '\\t' ' '\n";

fn gated<'a>(env: &'a Env, gates: &[&str]) -> Session<'a> {
    let gates: Vec<String> = gates.iter().map(|gate| format!("{gate}=human")).collect();
    let mut arguments = vec!["-i", "request=Count words"];
    for gate in &gates {
        arguments.extend(["--gate", gate]);
    }
    env.begin_with(&arguments)
}

/// The session waits at that gate: a step does nothing at all.
fn closed(session: &Session<'_>, gate: &str) {
    let answer = session.blocked();
    assert_eq!(answer["waiting_for"]["gate"], gate, "{answer:#}");
    assert_eq!(session.status()["waiting_for"]["gate"], gate);
}

/// A person opens the gate, which is no transition.
fn approve(session: &Session<'_>) {
    let files = session.files();
    let mut before = session.status();
    session.approve();
    let mut after = session.status();
    // What was changed since it was recorded, and is approved as it is now, is recorded anew.
    let changed = |artifact: &Value| artifact.get("problem").is_some();
    let artifacts = before["artifacts"].as_array_mut().unwrap();
    if let Some(at) = artifacts.iter().position(changed) {
        artifacts[at].as_object_mut().unwrap().remove("problem");
        let anew = after["artifacts"].as_array_mut().unwrap().pop().unwrap();
        assert_eq!(anew["path"], artifacts[at]["path"]);
        assert_ne!(anew["sha256"], artifacts[at]["sha256"]);
    }
    for same in [
        "phase",
        "status",
        "current_iteration",
        "phase_history",
        "updated_at",
        "artifacts",
    ] {
        assert_eq!(before[same], after[same], "{same}");
    }
    assert_eq!(files, session.files());
    assert!(after["waiting_for"].get("gate").is_none(), "{after:#}");
}

/// A person sends back what stands before the gate: one transition to that phase, in the same iteration.
fn reject(session: &Session<'_>, feedback: &str, to: &str) -> Value {
    let before = session.status();
    session.reject(feedback);
    let after = session.status();
    assert_eq!(text(&after, "phase"), to);
    assert_eq!(before["current_iteration"], after["current_iteration"]);
    let (old, new) = (history(&before), history(&after));
    assert_eq!(new.len(), old.len() + 1);
    assert_eq!(&new[..old.len()], old);
    let entry = new.last().unwrap();
    assert_eq!(entry["decision"], "reject");
    assert_eq!(text(entry, "phase"), to);
    assert_eq!(entry["timestamp"], after["updated_at"]);
    assert_eq!(entry["iteration"], after["current_iteration"]);
    assert!(after.get("tampered").is_none(), "{after:#}");
    after
}

fn history(state: &Value) -> &[Value] {
    state["phase_history"].as_array().unwrap()
}

#[test]
fn the_plan_gate() {
    let env = Env::new();
    let session = gated(&env, &["plan"]);
    session.to_planned();
    closed(&session, "plan");
    let mut prompt = session.read("planning-prompt.md");
    for round in 1..=3 {
        let feedback = format!("Tabs count, too, for the {round}. time.");
        reject(&session, &feedback, "PLANNING");
        let aside = |name: &str| session.read(&format!("planning-{name}.rejected-{round}.md"));
        assert_eq!(
            aside("response"),
            format!("{PLAN}{}", "!".repeat(round - 1))
        );
        assert_eq!(aside("prompt"), prompt);
        assert!(!session.has("planning-response.md"));
        prompt = session.read("planning-prompt.md");
        assert!(prompt.contains(&feedback), "{prompt}");
        session.blocked();
        session.put(
            "planning-response.md",
            format!("{PLAN}{}", "!".repeat(round)),
        );
        session.step_to("PLANNED");
        closed(&session, "plan");
    }
    approve(&session);
    session.step_to("GENERATING");
    assert_eq!(session.read("plan.md"), format!("{PLAN}!!!"));
    let prompt = session.read("iteration-1/generation-prompt.md");
    assert!(
        !prompt.contains("Tabs count"),
        "the feedback was for the plan: {prompt}"
    );
}

#[test]
fn the_code_gate_at_the_first_iteration() {
    let env = Env::new();
    let session = gated(&env, &["code"]);
    session.to_reviewing();
    closed(&session, "code");
    assert!(!session.has("iteration-1/review-prompt.md"));
    let prompt = session.read("iteration-1/generation-prompt.md");
    let written = session.code(1);
    reject(&session, "Shorter, please.", "GENERATING");
    assert!(
        !session.has("iteration-1/code"),
        "what was rejected is not carried on"
    );
    let aside = |name: &str| session.read(&format!("iteration-1/generation-{name}.rejected-1.md"));
    assert_eq!(aside("response"), BUNDLE);
    assert_eq!(aside("prompt"), prompt);
    assert!(
        session
            .read("iteration-1/generation-prompt.md")
            .contains("Shorter, please.")
    );
    assert!(!session.has("iteration-1/generation-response.md"));
    assert_eq!(written.len(), 2);

    session.generate("<<<FILE: count>>>\nwc -w\n");
    let only = BTreeMap::from([("count".to_owned(), "wc -w\n".to_owned())]);
    assert_eq!(session.code(1), only);
    closed(&session, "code");
    approve(&session);
    session.review(1, PASS);
    let end = session.step_to("COMPLETE");
    assert!(end.get("tampered").is_none(), "{end:#}");
}

#[test]
fn the_code_gate_at_the_second_iteration() {
    let env = Env::new();
    let session = gated(&env, &["code"]);
    session.to_reviewing();
    approve(&session);
    session.review(1, FAIL);
    session.step_to("REVISING");
    let carried = session.code(2);
    assert_eq!(carried, session.code(1));
    for round in 1..=2 {
        let prompt = session.read("iteration-2/revision-prompt.md");
        let bundle = format!("<<<FILE: src/{round}.sh>>>\ntrue\n<<<FILE: README>>>\nOther.\n");
        session.revise(2, &bundle);
        closed(&session, "code");
        assert_eq!(session.code(2).len(), 3);
        reject(&session, &format!("Not so, {round}."), "REVISING");
        assert_eq!(session.code(2), carried, "as it was carried forward");
        let aside =
            |name: &str| session.read(&format!("iteration-2/revision-{name}.rejected-{round}.md"));
        assert_eq!(aside("response"), bundle);
        assert_eq!(aside("prompt"), prompt);
        let prompt = session.read("iteration-2/revision-prompt.md");
        assert!(prompt.contains(&format!("Not so, {round}.")), "{prompt}");
        assert!(
            prompt.contains("Tabs are forgotten."),
            "the review still stands: {prompt}"
        );
        session.blocked();
    }
    session.revise(2, REVISED);
    let code = session.code(2);
    assert_eq!(
        code.keys().collect::<Vec<_>>(),
        ["README", "src/count.sh", "src/tabs.sh"]
    );
    assert_eq!(code["README"], carried["README"]);
    assert_eq!(session.code(1), carried, "the first iteration is history");
    approve(&session);
    session.review(2, PASS);
    session.step_to("COMPLETE");
}

#[test]
fn the_review_gate_at_both_iterations() {
    let env = Env::new();
    let session = gated(&env, &["review"]);
    session.to_reviewing();
    for (iteration, review) in [(1, FAIL), (2, PASS)] {
        session.review(iteration, "A first look.\n");
        closed(&session, "review");
        let name = |what: &str| format!("iteration-{iteration}/review-{what}.md");
        let prompt = session.read(&name("prompt"));
        reject(&session, "Look at the tabs.", "REVIEWING");
        assert_eq!(
            session.read(&name("response.rejected-1")),
            "A first look.\n"
        );
        assert_eq!(session.read(&name("prompt.rejected-1")), prompt);
        assert!(!session.has(&name("response")));
        assert!(!session.has(&name("prompt")), "issued by the next step");
        let issued = session.step_to("REVIEWING");
        assert_eq!(text(&issued, "issued"), name("prompt"));
        assert!(session.read(&name("prompt")).contains("Look at the tabs."));
        session.blocked();
        session.review(iteration, review);
        closed(&session, "review");
        approve(&session);
        if iteration == 1 {
            session.step_to("REVISING");
            let prompt = session.read("iteration-2/revision-prompt.md");
            assert!(
                !prompt.contains("Look at the tabs."),
                "that was for the review: {prompt}"
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
    session.stub_to("review");
    let calls = env.calls();
    closed(&session, "review");
    approve(&session);
    assert_eq!(env.calls(), calls);
    session.step_to("REVISING");
    assert_eq!(env.calls(), calls + 1);
}

#[test]
fn an_approval_holds_when_its_phase_is_entered_again() {
    let env = Env::new();
    let session = gated(&env, &["code", "review"]);
    session.to_reviewing();
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
fn the_same_plan_after_a_rejection_needs_a_new_look() {
    let env = Env::new();
    let session = gated(&env, &["plan"]);
    session.to_planned();
    reject(&session, "Think again.", "PLANNING");
    session.put("planning-response.md", PLAN);
    session.step_to("PLANNED");
    closed(&session, "plan");
}

#[test]
fn a_decision_opens_no_other_gate() {
    let env = Env::new();
    let session = gated(&env, &["plan", "code", "review"]);
    session.to_planned();
    closed(&session, "plan");
    approve(&session);
    let before = env.everything();
    let (status, shown) = session.person(&["approve"]);
    assert_eq!(status, 3, "nothing waits for a decision now: {shown}");
    before.assert_same(&env.everything(), "a decision that nobody asked for");
    session.step_to("GENERATING");
    session.generate(BUNDLE);
    closed(&session, "code");
    approve(&session);
    session.review(1, PASS);
    closed(&session, "review");
    approve(&session);
    session.step_to("COMPLETE");
}

#[test]
fn a_decision_is_bound_to_the_hash_that_was_looked_at() {
    let env = Env::new();
    let session = gated(&env, &["plan", "code"]);
    session.to_planned();
    let wrong = "0".repeat(64);
    let plan = journal::sha256_hex(PLAN.as_bytes());
    for decision in [&["approve"][..], &["reject", "--feedback", "No."]] {
        let mut arguments = decision.to_vec();
        arguments.extend(["--hash", &wrong]);
        let before = env.everything();
        let (status, shown) = session.person(&arguments);
        assert_eq!(status, 5, "{shown}");
        before.assert_same(&env.everything(), "a decision about something else");
    }
    session.agreed(&["approve", "--hash", &plan]);
    session.step_to("GENERATING");
    session.generate(BUNDLE);
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
    let env = Env::new();
    let session = gated(&env, &["plan"]);
    session.to_planned();
    let broken = env.begin();
    broken.step_to("PLANNING");
    broken.put("planning-response.md", "no\0text\n");
    broken.step_to("ERROR");
    let before = env.everything();
    for arguments in [&["approve"][..], &["reject", "--feedback", "No."]] {
        session.tm(arguments).fault(3, "needs_terminal");
    }
    broken.tm(&["reopen"]).fault(3, "needs_terminal");
    session
        .tm(&["reject", "--feedback", " \n"])
        .fault(3, "no_feedback");
    before.assert_same(&env.everything(), "a decision without a person");
}

#[test]
fn a_plan_that_was_edited_before_it_was_approved_is_the_one_that_counts() {
    let env = Env::new();
    let session = gated(&env, &["plan"]);
    session.to_planned();
    let mended = "# Plan\n\nCount by any white space.\n";
    session.put("plan.md", mended);
    session.whole();
    closed(&session, "plan");
    approve(&session);
    let state = session.step_to("GENERATING");
    assert_eq!(
        text(&state, "plan_hash"),
        journal::sha256_hex(mended.as_bytes())
    );
    assert!(state.get("tampered").is_none(), "{state:#}");
    assert!(
        session
            .read("iteration-1/generation-prompt.md")
            .contains("any white space")
    );
    session.generate(BUNDLE);
    session.review(1, PASS);
    let end = session.step_to("COMPLETE");
    assert!(end.get("tampered").is_none(), "{end:#}");
    assert_eq!(session.read("plan.md"), mended);
    session.whole();
}

#[test]
fn a_plan_that_was_edited_after_it_was_approved_closes_its_gate_again() {
    let env = Env::new();
    let session = gated(&env, &["plan"]);
    session.to_planned();
    approve(&session);
    session.put("plan.md", "# Another\n");
    closed(&session, "plan");
    session.put("plan.md", PLAN);
    session.step_to("GENERATING");
}

#[test]
fn without_a_gate_an_edited_plan_is_tampered() {
    let env = Env::new();
    let session = env.begin();
    session.to_planned();
    session.put("plan.md", "# Another\n");
    assert_eq!(session.status()["tampered"][0], "plan.md");
    let said = session.refused(3, "tampered");
    assert!(said.contains("plan.md"), "{said}");
    session.tm(&["restore"]).ok();
    assert_eq!(session.read("plan.changed-1.md"), "# Another\n");
    session.step_to("GENERATING");
}

#[test]
fn code_that_a_person_mends_at_its_gate_is_approved_as_it_is() {
    let env = Env::new();
    let session = gated(&env, &["code"]);
    session.to_reviewing();
    session.put("iteration-1/code/README", "Mine.\n");
    assert!(session.status().get("tampered").is_none());
    let (_, shown) = session.person(&["approve"]);
    assert!(
        shown.contains("it was changed since it was taken in"),
        "{shown}"
    );
    assert!(shown.contains("tm session diff"), "{shown}");
    session.step_to("REVIEWING");
    assert!(
        session
            .read("iteration-1/review-prompt.md")
            .contains("Mine.")
    );
    // What was looked at is what was approved.
    session.put("iteration-1/code/README", "Another.\n");
    session.refused(3, "tampered");
    session.tm(&["restore"]).ok();
    assert_eq!(session.read("iteration-1/code/README"), "Mine.\n");
}

#[test]
fn a_review_that_was_written_for_rejected_code_is_not_one_of_the_next() {
    let env = Env::new();
    let session = gated(&env, &["code"]);
    session.to_reviewing();
    session.put("iteration-1/review-response.md", PASS);
    closed(&session, "code");
    reject(&session, "Shorter, please.", "GENERATING");
    assert_eq!(
        session.read("iteration-1/review-response.rejected-1.md"),
        PASS
    );
    session.generate("<<<FILE: count>>>\nwc -w\n");
    approve(&session);
    let state = session.stepped();
    assert_eq!(
        text(&state, "phase"),
        "REVIEWING",
        "nobody has reviewed this code"
    );
    assert!(session.has("iteration-1/review-prompt.md"));
}
