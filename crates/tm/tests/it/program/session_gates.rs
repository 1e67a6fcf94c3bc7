//! What a person decides about a session, at a terminal: each decision is shown, and a code typed back.

use std::fs;

use super::session::{FAIL, OneSession, PLAN};

/// A session whose plan waits at a closed gate.
fn at_plan_gate() -> OneSession {
    let session = OneSession::with(&["--gate", "plan=human"]);
    session.run(7);
    assert_eq!(session.goes_on(PLAN, 7), "PLANNED");
    session
}

/// How many decisions of a session came by a way that is written so.
fn decisions(session: &OneSession, way: &str) -> usize {
    let journal = String::from_utf8(session.environment.journal()).unwrap();
    journal.matches(&format!("\"how\":{way}")).count()
}

#[test]
fn a_gate_opens_for_who_types_the_code_and_for_nobody_else() {
    let session = at_plan_gate();
    let waits = "waits for a person, at the gate plan";
    session.tells("step", 7, &[waits, "tm session approve\n"]);
    for wrong in ["", "y", "approve", "2222"] {
        let mut person = session.environment.person(&["session", "approve"]);
        person.code();
        person.say(wrong);
        assert_eq!(person.end().0, 3, "{wrong}");
    }
    assert_eq!(session.step(7)["waiting_for"]["gate"], "plan");
    assert_eq!(decisions(&session, ""), 0);

    let [shown, _] = session.environment.agreed("session approve");
    let plan = session.folder().join("plan.md").display().to_string();
    let hash = journal::sha256_hex(PLAN.as_bytes());
    for told in [&session.id, "plan (PLANNED)", &hash, &plan] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    assert_eq!(decisions(&session, "\"terminal\""), 1);
    assert_eq!(session.run(7), "GENERATING");
}

#[test]
fn a_decision_holds_for_what_was_looked_at() {
    let session = at_plan_gate();
    let hash = journal::sha256_hex(PLAN.as_bytes());
    // Somebody changes the plan while the person reads.
    let words = ["session", "approve", "--hash", &hash];
    let mut approving = session.environment.person(&words);
    let (_, code) = approving.code();
    fs::write(session.folder().join("plan.md"), "# Plan\n\nAnother.\n").unwrap();
    approving.say(&code);
    assert_eq!(approving.end().0, 5);
    assert_eq!(session.step(7)["waiting_for"]["gate"], "plan");

    // Who mends a plan may approve just that, and sees that it is another one.
    let told = "plan.md was changed since it was taken in";
    session.tells("status", 0, &[told]);
    let [shown, _] = session.environment.agreed("session approve");
    assert!(shown.contains(told), "{shown}");
}

#[test]
fn a_session_that_failed_too_often_gets_more_iterations_from_a_person() {
    let session = OneSession::with(&["--max-iterations", "1"]);
    session.to_review();
    session.respond(FAIL);
    session.tells("run", 7, &["tm session reopen --max-iterations 6\n"]);
    let reopen = "session reopen --max-iterations 6";
    let [shown, _] = session.environment.agreed(reopen);
    assert!(shown.contains("may have 6 from now on"), "{shown}");
    assert_eq!(session.run(7), "REVISING");
}

#[test]
fn a_profiles_own_program_runs_after_a_person_trusted_it() {
    let session = OneSession::with(&["--name", "other"]);
    session.tells("cancel", 0, &[]);
    let folder = ".taskmaster/profiles/mine";
    for (name, text) in [
        (
            "profile.yaml",
            "tramline-profile: 1\ntitle: Mine\nresponses:\n  planning: { command: [sh, plan.sh] }\n  generation: { read: bundle }\n  review: { read: verdict }\n  revision: { read: bundle }\n",
        ),
        (
            "plan.sh",
            "cat > /dev/null\necho '{\"status\": \"SUCCESS\", \"messages\": [\"looked at\"]}'\n",
        ),
    ] {
        session.environment.write(&format!("{folder}/{name}"), text);
    }
    for phase in ["planning", "generation", "review", "revision"] {
        let prompt = format!("{folder}/{phase}.md");
        session.environment.write(&prompt, "Do it.\n");
    }
    session.tells("init --profile mine", 0, &[]);
    session.run(7);
    session.respond(PLAN);
    session.typed_json("trust mine").fault(3, "needs_terminal");
    // What was shown is what is trusted, and nothing that came after it.
    let mut fooled = session.environment.person(&["session", "trust", "mine"]);
    let (_, code) = fooled.code();
    let more = format!("{folder}/more.md");
    session.environment.write(&more, "More.\n");
    fooled.say(&code);
    assert_eq!(fooled.end().0, 5);
    fs::remove_file(session.environment.project().join(more)).unwrap();
    session.typed_json("step").fault(3, "profile_untrusted");

    let [shown, rest] = session.environment.agreed("session trust mine");
    for told in [
        "planning: sh plan.sh",
        "- plan.sh",
        "sha256",
        "profiles/mine",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    // A session waits for it.
    assert!(rest.ends_with(" tm session step\n"), "{rest}");
    session.tells("step", 0, &["- looked at"]);
    assert_eq!(session.typed_json("trust mine").ok()["trusted"], true);
    session.tells("cancel", 0, &[]);
    session.tells("trust mine", 0, &["-> tm session init --profile mine\n"]);
    let revoked = session.typed_json("trust mine --revoke").ok();
    assert_eq!(revoked["revoked"], true);
    session.tells("profiles", 0, &["nobody has trusted"]);
}
