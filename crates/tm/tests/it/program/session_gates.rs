//! What a person decides about a session, at a terminal: each decision is shown, and a code typed back.

use std::fs;

use super::session::{CODE, CODE_AGAIN, FAIL, OneSession, PASS, PLAN};
use testkit::Person;

/// A person at a command of `tm session`.
fn person(session: &OneSession, words: &[&str]) -> Person {
    Person::at(session.environment.program(&[&["session"], words].concat()))
}

/// A session whose plan waits at a closed gate.
fn at_plan_gate() -> OneSession {
    let session = OneSession::with(&["--gate", "plan=human"]);
    session.run(7);
    assert_eq!(session.goes_on(PLAN, 7), "PLANNED");
    session
}

/// By which ways the decisions of a session came, in order.
fn ways(session: &OneSession) -> Vec<String> {
    let journal = fs::read_to_string(session.folder().join("activity.jsonl")).unwrap();
    journal
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter_map(|event| event["approval"]["how"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn a_gate_opens_for_who_types_the_code_and_for_nobody_else() {
    let session = at_plan_gate();
    let ran = session.tm(&["step"]);
    assert_eq!(ran.status, 7, "{ran:?}");
    assert!(
        ran.out.contains("waits for a person, at the gate plan"),
        "{ran:?}"
    );
    assert!(ran.out.contains("tm session approve\n"), "{ran:?}");

    for wrong in ["", "y", "approve", "2222"] {
        let mut person = person(&session, &["approve"]);
        person.code();
        person.say(wrong);
        let (status, rest) = person.end();
        assert_eq!(status, 3, "{rest}");
        assert!(
            rest.contains("not confirmed, nothing was changed"),
            "{rest}"
        );
    }
    assert_eq!(session.step(7)["waiting_for"]["gate"], "plan");
    assert_eq!(ways(&session), Vec::<String>::new());

    let (shown, status, rest) = person(&session, &["approve"]).agrees();
    assert_eq!(status, 0, "{rest}");
    let hash = session.status()["plan_hash"].as_str().unwrap().to_owned();
    let plan = session.folder().join("plan.md").display().to_string();
    for told in [
        "Approve the plan?",
        &session.id,
        "plan (PLANNED)",
        &hash,
        &plan,
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    assert!(rest.contains("ok the plan is approved"), "{rest}");
    assert_eq!(ways(&session), ["terminal"]);
    assert_eq!(session.run(7), "GENERATING");
}

#[test]
fn a_decision_holds_for_what_was_looked_at() {
    let session = at_plan_gate();
    let hash = session.status()["plan_hash"].as_str().unwrap().to_owned();
    let wrong = "0".repeat(64);
    for (given, status) in [(wrong.as_str(), 5), ("nothex!!", 2), (&hash[..63], 2)] {
        let (ended, shown) = person(&session, &["approve", "--hash", given]).end();
        assert_eq!(ended, status, "{given}: {shown}");
        assert!(!shown.contains("Type "), "nobody is asked: {shown}");
    }
    // Somebody changes the plan while the person reads.
    let mut approving = person(&session, &["approve", "--hash", &hash]);
    let (_, code) = approving.code();
    fs::write(session.folder().join("plan.md"), "# Plan\n\nAnother.\n").unwrap();
    approving.say(&code);
    let (status, shown) = approving.end();
    assert_eq!(status, 5, "{shown}");
    assert_eq!(session.step(7)["waiting_for"]["gate"], "plan");

    // Who mends a plan may approve just that, and sees that it is another one.
    let ran = session.tm(&["status"]);
    let told = "plan.md was changed since it was taken in";
    assert!(ran.text().contains(told), "{ran:?}");
    let (shown, status, rest) = person(&session, &["approve"]).agrees();
    assert_eq!(status, 0, "{rest}");
    assert!(shown.contains(told), "{shown}");
}

#[test]
fn what_is_sent_back_is_asked_for_again_with_the_feedback() {
    let session = OneSession::with(&["--gate", "code=human"]);
    session.run(7);
    session.goes_on(PLAN, 7);
    assert_eq!(session.goes_on(CODE, 7), "REVIEWING");

    let (status, shown) = person(&session, &["reject", "--feedback", "  "]).end();
    assert_eq!(status, 3, "{shown}");
    let arguments = ["reject", "--feedback", "Greet by name\u{1b}[2J"];
    let (shown, status, rest) = person(&session, &arguments).agrees();
    assert_eq!(status, 0, "{rest}");
    for told in [
        "Send back the code?",
        "greet.sh",
        "lib/name.sh",
        "  Greet by name",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown}");
    assert!(rest.contains("ok the code is sent back"), "{rest}");
    let state = session.status();
    assert_eq!(state["phase"], "GENERATING");
    assert_eq!(state["current_iteration"], 1);
    let prompt = session.tm(&["show", "prompt"]);
    assert!(prompt.text().contains("Greet by name"), "{prompt:?}");

    // An approval never opens the next gate, and there is none now.
    let (status, shown) = person(&session, &["approve"]).end();
    assert_eq!(status, 3, "{shown}");
    assert!(!shown.contains("Type "), "{shown}");
}

#[test]
fn a_session_that_broke_down_waits_for_another_response() {
    let session = OneSession::with(&[]);
    session.run(7);
    let (status, shown) = person(&session, &["reopen"]).end();
    assert_eq!(status, 3, "it goes on: {shown}");

    session.goes_on(PLAN, 7);
    let place = session.folder().join("iteration-1/generation-response.md");
    fs::write(place, "no file\n").unwrap();
    assert_eq!(session.run(8), "ERROR");
    let (status, shown) = person(&session, &["reopen", "--max-iterations", "9"]).end();
    assert_eq!(status, 2, "{shown}");
    let (shown, status, rest) = person(&session, &["reopen", "--reason", "a typo"]).agrees();
    assert_eq!(status, 0, "{rest}");
    assert!(
        shown.contains("why        the response holds no file"),
        "{shown}"
    );
    assert!(
        rest.contains("ok the session goes on in GENERATING"),
        "{rest}"
    );
    assert_eq!(session.goes_on(CODE, 7), "REVIEWING");
}

#[test]
fn a_session_that_failed_too_often_gets_more_iterations_from_a_person() {
    let session = OneSession::with(&["--max-iterations", "1"]);
    session.to_review();
    session.respond(FAIL);
    let ran = session.tm(&["run"]);
    assert_eq!(ran.status, 7, "{ran:?}");
    assert!(
        ran.out.contains("paused: the review failed in 1 iteration"),
        "{ran:?}"
    );
    assert!(
        ran.out.contains("tm session reopen --max-iterations 6\n"),
        "{ran:?}"
    );
    assert_eq!(session.step(7)["waiting_for"]["reason"], "max_iterations");

    let (status, shown) = person(&session, &["reopen", "--max-iterations", "1"]).end();
    assert_eq!(status, 2, "{shown}");
    let (shown, status, rest) = person(&session, &["reopen", "--max-iterations", "2"]).agrees();
    assert_eq!(status, 0, "{rest}");
    assert!(shown.contains("may have 2 from now on"), "{shown}");
    assert_eq!(session.run(7), "REVISING");
    session.goes_on(CODE_AGAIN, 7);
    assert_eq!(session.goes_on(PASS, 0), "COMPLETE");
    let (status, shown) = person(&session, &["reopen"]).end();
    assert_eq!(status, 3, "{shown}");
    assert!(shown.contains("is over for good"), "{shown}");
}

#[test]
fn a_profiles_own_program_runs_after_a_person_trusted_it() {
    let session = OneSession::with(&["--name", "other"]);
    session.tm(&["cancel"]).text();
    let write = |name: &str, text: &str| {
        let path = format!(".taskmaster/profiles/mine/{name}");
        session.environment.write(&path, text);
    };
    write(
        "profile.yaml",
        "tramline-profile: 1\ntitle: Mine\nresponses:\n  planning: { command: [sh, plan.sh] }\n  generation: { read: bundle }\n  review: { read: verdict }\n  revision: { read: bundle }\n",
    );
    for phase in ["planning", "generation", "review", "revision"] {
        write(&format!("{phase}.md"), "Do it.\n");
    }
    write(
        "plan.sh",
        "cat > /dev/null\necho '{\"status\": \"SUCCESS\", \"messages\": [\"looked at\"]}'\n",
    );
    session.tm(&["init", "--profile", "mine"]).text();
    session.run(7);
    session.respond(PLAN);
    let refused = session.tm(&["step", "--json"]).json_with(3);
    assert_eq!(refused["error"]["code"], "profile_untrusted");
    let refused = session.tm(&["trust", "mine", "--json"]).json_with(3);
    assert_eq!(refused["error"]["code"], "needs_terminal");

    let mut hesitant = person(&session, &["trust", "mine"]);
    hesitant.code();
    hesitant.say("yes");
    assert_eq!(hesitant.end().0, 3);
    // What was shown is what is trusted, and nothing that came after it.
    let mut fooled = person(&session, &["trust", "mine"]);
    let (_, code) = fooled.code();
    write("more.md", "More.\n");
    fooled.say(&code);
    let (status, shown) = fooled.end();
    assert_eq!(status, 5, "{shown}");
    fs::remove_file(
        session
            .environment
            .project()
            .join(".taskmaster/profiles/mine/more.md"),
    )
    .unwrap();
    session.tm(&["step", "--json"]).json_with(3);

    let (shown, status, rest) = person(&session, &["trust", "mine"]).agrees();
    assert_eq!(status, 0, "{rest}");
    for told in [
        "planning: sh plan.sh",
        "- plan.sh",
        "sha256",
        "profiles/mine",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    assert!(
        rest.ends_with("-> tm session step\n") || rest.ends_with("→ tm session step\n"),
        "a session waits for it: {rest}"
    );
    let ran = session.tm(&["step"]);
    assert!(ran.text().contains("- looked at"), "{ran:?}");
    let trusted = session.tm(&["trust", "mine", "--json"]).json_with(0);
    assert_eq!(trusted["trusted"], true);
    session.tm(&["cancel"]).text();
    let ran = session.tm(&["trust", "mine"]);
    assert!(
        ran.text().ends_with("-> tm session init --profile mine\n"),
        "{ran:?}"
    );
    let revoked = session
        .tm(&["trust", "mine", "--revoke", "--json"])
        .json_with(0);
    assert_eq!(revoked["revoked"], true);
    let ran = session.tm(&["profiles"]);
    assert!(ran.text().contains("nobody has trusted"), "{ran:?}");
}
