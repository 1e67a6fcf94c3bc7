//! Responses that are sent instead of written into their place.

use std::fs;

use super::environment::{BUNDLE, Env, FAIL, PASS, PLANNING, Session, at, gated, stayed, text};

/// A response that must be refused so, with nothing written.
fn refused(session: &Session, response: impl AsRef<[u8]>, more: &[&str], code: &str) -> String {
    let before = (session.files(), session.status());
    let refused = session.respond(response, more);
    assert_eq!(refused.code(), code, "{refused:?}");
    assert_eq!(before, (session.files(), session.status()), "{code}");
    refused.suggestion().to_owned()
}

#[test]
fn twice_the_same_and_another() {
    testkit::by_chance!(3);
    let session = at("PLANNING");
    for nothing in ["", " \n\t\r\n"] {
        refused(&session, nothing, &[], "usage");
    }
    let before = session.status();
    let sent = session.respond("one\n", &[]).ok();
    let told = (&sent["path"], &sent["bytes"], sent.get("replaced"));
    assert_eq!(told, (&PLANNING.into(), &4.into(), None));
    assert_eq!(sent["sha256"], journal::sha256_hex(b"one\n"));
    // It was only put into its place.
    let after = session.status();
    stayed(&before, &after);
    assert_eq!(before["artifacts"], after["artifacts"]);
    let again = |response: &str, more: &[&str]| {
        let answer = session.respond(response, more).ok();
        assert!(answer.get("replaced").is_none(), "{answer:#}");
    };
    again("one\n", &[]);
    refused(&session, "two\n", &[], "already_there");
    for (round, was, response) in [(1, "one\n", "two\n"), (2, "two\n", "three\n")] {
        let answer = session.respond(response, &["--replace"]).ok();
        let aside = format!("planning-response.replaced-{round}.md");
        assert_eq!(answer["replaced"], *aside);
        assert_eq!(
            (session.read(PLANNING), session.read(&aside)),
            (response.into(), was.into())
        );
    }
    again("three\n", &["--replace"]);
    // Its bytes are put there as they are.
    let bytes = "\u{feff}one\r\n\ttwo \r".as_bytes();
    session.respond(bytes, &["--replace"]).ok();
    assert_eq!(fs::read(session.folder.join(PLANNING)).unwrap(), bytes);
    session.step_to("PLANNED");
}

#[test]
fn one_that_is_not_waited_for_or_could_not_be_read_is_not_taken() {
    testkit::by_chance!(3);
    let session = gated(&["code"], "INITIALIZED");
    let most = 64 * 1024 * 1024;
    for (phase, responses, code) in [
        ("INITIALIZED", &[&b"x\n"[..]][..], "not_possible"),
        (
            "PLANNING",
            &[b"one\xff\n", b"one\0\n"],
            "response_unreadable",
        ),
        ("PLANNING", &[&vec![b'x'; most + 1]], "too_large"),
        ("PLANNED", &[b"x\n"], "not_possible"),
        (
            "GENERATING",
            &[b"<<<FILE: ../a>>>\n1\n"],
            "response_unreadable",
        ),
        // A review from before the gate does not count.
        ("REVIEWING", &[PASS.as_bytes()], "gate_closed"),
    ] {
        if session.status()["phase"] != phase {
            session.to(phase);
        }
        for response in responses {
            refused(&session, response, &[], code);
            refused(&session, response, &["--replace"], code);
        }
    }
    session.approve();
    session.step_to("REVIEWING");
    refused(&session, "Fine.\n", &[], "response_unreadable");
    session.tm(&["cancel"]).ok();
    refused(&session, "x\n", &[], "not_possible");
}

#[test]
fn a_file_that_cannot_be_read_and_a_link_in_its_place() {
    testkit::by_chance!(3);
    let session = at("PLANNING");
    let respond = |file: &str| session.tm(&["respond", file]);
    respond("nowhere.md").fault(4, "not_found");
    respond(".").fault(6, "io_failed");
    // A link in the place of the response is not written through.
    let theirs = session.env.folder().join("theirs");
    fs::write(&theirs, "theirs\n").unwrap();
    session.link(PLANNING, &theirs);
    refused(&session, "mine\n", &[], "already_there");
    session.respond("mine\n", &["--replace"]).ok();
    assert_eq!(fs::read_to_string(theirs).unwrap(), "theirs\n");
    let aside = session.folder.join("planning-response.replaced-1.md");
    assert!(aside.is_symlink());
    session.step_to("PLANNED");
    assert_eq!(session.read("plan.md"), "mine\n");
}

#[test]
fn of_several_sessions_the_one_under_way_is_meant_then_the_newest() {
    testkit::by_chance!(3);
    let env = Env::new();
    let first = env.begin();
    let second = env.begin();
    for session in [&first, &second] {
        session.tm(&["cancel"]).ok();
        assert_eq!(env.tm(&["status"]).ok()["session_id"], *second.id);
    }
}

/// Whoever did not hear the answer sends again: that is no answer to what is asked for by then.
#[test]
fn a_response_that_was_taken_in_counts_for_nothing_else() {
    testkit::by_chance!(3);
    // The plan has code in it, which could be read as the code that is asked for next.
    let plan = format!("# Plan\n\n{BUNDLE}");
    let session = at("PLANNING");
    let unit = || text(&session.blocked()["nextAction"], "unitId").to_owned();
    let planning = unit();
    session.respond(&plan, &["--unit-id", &planning]).ok();
    session.step_to("PLANNED");
    session.step_to("GENERATING");
    let generating = unit();
    let suggestion = refused(&session, &plan, &[], "already_there");
    assert!(suggestion.contains(&generating), "{suggestion}");
    for unit in [&planning, "nowhere"] {
        refused(&session, &plan, &["--unit-id", unit], "stale_unit");
    }
    // Who names what is asked for means it.
    session.respond(&plan, &["--unit-id", &generating]).ok();
    session.step_to("GENERATED");
    session.step_to("REVIEWING");
    // What was code can hardly be read as a review: that is not what is wrong with it.
    refused(&session, &plan, &[], "already_there");
    // The same of a review that comes again in the next iteration.
    session.respond(FAIL, &[]).ok();
    session.step_to("REVIEWED");
    session.step_to("REVISING");
    session.revise(2, BUNDLE);
    refused(&session, FAIL, &[], "already_there");
    session.respond(PASS, &[]).ok();
    session.step_to("REVIEWED");
    session.step_to("COMPLETE");
}
