//! Gates that a person opens, and what is sent back.

use super::environment::{
    BUNDLE, FAIL, PASS, PLAN, REVIEW, Session, gated, history, last, stayed, text,
};

/// The session waits at that gate: a step does nothing at all.
fn closed(session: &Session, gate: &str) {
    assert_eq!(session.blocked()["nextAction"]["gate"], gate);
    assert_eq!(session.status()["nextAction"]["gate"], gate);
}

/// A person opens the gate, which is no transition.
fn approve(session: &Session) {
    let files = session.files();
    let before = session.status();
    session.approve();
    let after = session.status();
    stayed(&before, &after);
    assert_eq!(before["artifacts"], after["artifacts"]);
    assert_eq!(files, session.files());
    assert!(after["nextAction"].get("gate").is_none(), "{after:#}");
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

/// What else holds of decisions is shown in `crates/machine/tests/it/decisions.rs`, and what of a rejection the next prompt tells in
/// `crates/engine/tests/it/session/sent_back.rs`.
#[test]
fn at_each_gate_of_both_iterations_work_is_sent_back_and_passes() {
    testkit::by_chance!(3);
    let session = gated(&["plan", "code", "review"], "PLANNED");
    closed(&session, "plan");
    let mut prompt = session.read("planning-prompt.md");
    // The same plan after a rejection needs a new look.
    for round in 1..=2 {
        let feedback = format!("Tabs count, too, for the {round}. time.");
        reject(&session, &feedback, "PLANNING");
        stands_aside(&session, "planning", round, PLAN, &prompt);
        prompt = session.read("planning-prompt.md");
        assert!(prompt.contains(&feedback), "{prompt}");
        session.to("PLANNED");
        closed(&session, "plan");
    }
    approve(&session);

    session.to("REVIEWING");
    closed(&session, "code");
    assert!(!session.has("iteration-1/review-prompt.md"));
    let prompt = session.read("iteration-1/generation-prompt.md");
    // A review that is there already is not one of the code that comes next.
    session.put(REVIEW, PASS);
    reject(&session, "Shorter, please.", "GENERATING");
    assert!(!session.has("iteration-1/code"), "it is not carried on");
    stands_aside(&session, "iteration-1/generation", 1, BUNDLE, &prompt);
    let review = session.read("iteration-1/review-response.rejected-1.md");
    assert_eq!(review, PASS);
    session.generate("<<<FILE: count>>>\nwc -w\n<<<FILE: README>>>\nCounts.\n");
    assert_eq!(session.code(1).len(), 2, "nothing is left of the first");
    closed(&session, "code");
    approve(&session);

    session.review(1, "A first look.\n");
    closed(&session, "review");
    let asks = "iteration-1/review-prompt.md";
    let prompt = session.read(asks);
    reject(&session, "Look at the tabs.", "REVIEWING");
    let aside = |what: &str| session.read(&format!("iteration-1/review-{what}.md"));
    assert_eq!(aside("response.rejected-2"), "A first look.\n");
    assert_eq!(aside("prompt.rejected-1"), prompt);
    assert!(!session.has(asks), "issued by the next step");
    // The code is the same: its gate stays open.
    assert_eq!(session.step_to("REVIEWING")["issued"], *asks);
    session.review(1, FAIL);
    closed(&session, "review");
    approve(&session);

    session.step_to("REVISING");
    let carried = session.code(2);
    assert_eq!(carried, session.code(1));
    let prompt = session.read("iteration-2/revision-prompt.md");
    assert!(
        !prompt.contains("Look at the tabs."),
        "it was for the review"
    );
    let bundle = "<<<FILE: src/a.sh>>>\ntrue\n<<<FILE: README>>>\nOther.\n";
    session.revise(2, bundle);
    closed(&session, "code");
    reject(&session, "Not so.", "REVISING");
    assert_eq!(session.code(2), carried, "as it was carried forward");
    stands_aside(&session, "iteration-2/revision", 1, bundle, &prompt);
    session.revise(2, "<<<FILE: src/tabs.sh>>>\ntr '\\t' ' '\n");
    let names: Vec<String> = session.code(2).into_keys().collect();
    assert_eq!(names, ["README", "count", "src/tabs.sh"]);
    assert_eq!(session.code(1), carried, "the first iteration is history");
    closed(&session, "code");
    approve(&session);
    session.review(2, PASS);
    closed(&session, "review");
    approve(&session);
    session.step_to("COMPLETE");
    session.whole();
    let report = session.read("report.md");
    assert!(report.contains("terminal"), "{report}");
}

#[test]
fn a_decision_is_a_persons_and_bound_to_the_hash_that_was_looked_at() {
    testkit::by_chance!(3);
    let session = gated(&["plan", "code"], "PLANNED");
    let wrong = "0".repeat(64);
    let before = session.env.everything();
    for decision in [&["approve"][..], &["reject", "--feedback", "No."]] {
        session.tm(decision).fault(3, "needs_person");
        let words = [decision, &["--hash", &wrong]].concat();
        assert_eq!(session.person(&words).0, 5, "{decision:?}");
    }
    session
        .tm(&["reject", "--feedback", " \n"])
        .fault(3, "usage");
    before.assert_same(&session.env.everything(), "a decision about something else");
    // Feedback is heard up to a length that no prompt could hold.
    session
        .env
        .write("long.md", "Say more of the words. ".repeat(22_000));
    let reject = session.person(&["reject", "--feedback-file", "long.md"]);
    assert_eq!(reject.0, 2, "{}", reject.1);
    let plan = journal::sha256_hex(PLAN.as_bytes());
    session.agreed(&["approve", "--hash", &plan]);
    session.to("REVIEWING");
    let line = |(path, content): (String, String)| {
        format!("{}  {path}\n", journal::sha256_hex(content.as_bytes()))
    };
    let lines: String = session.code(1).into_iter().map(line).collect();
    let code = journal::sha256_hex(lines.as_bytes());
    session.agreed(&["approve", "--hash", &code]);
    session.step_to("REVIEWING");
}

#[test]
fn a_plan_that_was_edited_before_its_gate_is_the_one_that_is_decided_on() {
    testkit::by_chance!(3);
    let session = gated(&["plan"], "PLANNED");
    // Sent back, with feedback from a file, it is no plan.
    session.tm(&["reject"]).fault(2, "usage");
    session.put("plan.md", "By hand.\n");
    session.env.write("why.md", "Say more.\nMuch more.\n");
    session.agreed(&["reject", "--feedback-file", "why.md"]);
    let prompt = session.read("planning-prompt.md");
    assert!(prompt.contains("Say more.\nMuch more."), "{prompt}");
    assert_eq!(session.status().get("plan_hash"), None);
    assert!(!session.has("plan.md"));
    assert_eq!(session.read("plan.rejected-1.md"), "By hand.\n");
    session.to("PLANNED");
    let mended = "# Plan\n\nCount by any white space.\n";
    session.put("plan.md", mended);
    session.whole();
    closed(&session, "plan");
    session.approve();
    let state = session.step_to("GENERATING");
    assert_eq!(state["plan_hash"], journal::sha256_hex(mended.as_bytes()));
    let prompt = session.read("iteration-1/generation-prompt.md");
    assert!(prompt.contains("any white space"), "{prompt}");
    session.whole();
}
