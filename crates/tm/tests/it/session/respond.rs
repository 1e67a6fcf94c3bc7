//! Responses that are sent instead of written into their place.

use std::fs;
use std::os::unix::fs::symlink;

use super::environment::{BUNDLE, Env, FAIL, PASS, PLAN, Session, text};
use testkit::Everything;

fn respond(session: &Session<'_>, response: &[u8], more: &[&str]) -> testkit::Outcome {
    let mut all = vec!["respond", "-", "--session", &session.id];
    all.extend(more);
    session.env.tm_with_input(&all, response)
}

/// A response that must be refused so, with nothing written.
fn refused(
    session: &Session<'_>,
    response: &[u8],
    more: &[&str],
    status: i32,
    code: &str,
) -> String {
    let before = session.files();
    let was = session.status();
    let said = respond(session, response, more).fault(status, code);
    assert_eq!(before, session.files(), "{code}");
    assert_eq!(was, session.status(), "{code}");
    said
}

#[test]
fn from_the_beginning_to_the_end() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    let before = session.status();
    let answer = respond(&session, PLAN.as_bytes(), &[]).ok();
    assert_eq!(text(&answer, "path"), "planning-response.md");
    assert_eq!(answer["bytes"], PLAN.len());
    assert_eq!(
        text(&answer, "sha256"),
        journal::sha256_hex(PLAN.as_bytes())
    );
    assert!(answer.get("replaced").is_none());
    let after = session.status();
    for same in ["phase", "phase_history", "updated_at", "artifacts"] {
        assert_eq!(
            before[same], after[same],
            "{same}: it was only put into its place"
        );
    }
    session.step_to("PLANNED");
    session.step_to("GENERATING");
    // From a file, too.
    env.write("answer.md", BUNDLE);
    session.tm(&["respond", "answer.md"]).ok();
    session.step_to("GENERATED");
    session.step_to("REVIEWING");
    respond(&session, PASS.as_bytes(), &[]).ok();
    session.step_to("REVIEWED");
    session.step_to("COMPLETE");
    session.whole();
}

#[test]
fn one_that_says_nothing() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    for nothing in [&b""[..], b" \n\t\r\n"] {
        refused(&session, nothing, &[], 2, "response_empty");
    }
    session.blocked();
}

#[test]
fn twice_the_same_and_another() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    respond(&session, b"one\n", &[]).ok();
    let again = respond(&session, b"one\n", &[]).ok();
    assert!(again.get("replaced").is_none(), "{again:#}");
    let said = refused(&session, b"two\n", &[], 5, "response_there");
    assert!(said.contains("planning-response.md"), "{said}");
    for (round, response) in [(1, "two\n"), (2, "three\n")] {
        let answer = respond(&session, response.as_bytes(), &["--replace"]).ok();
        let aside = format!("planning-response.replaced-{round}.md");
        assert_eq!(text(&answer, "replaced"), aside);
        assert_eq!(session.read("planning-response.md"), response);
    }
    assert_eq!(session.read("planning-response.replaced-1.md"), "one\n");
    assert_eq!(session.read("planning-response.replaced-2.md"), "two\n");
    let answer = respond(&session, b"three\n", &["--replace"]).ok();
    assert!(answer.get("replaced").is_none(), "{answer:#}");
    session.step_to("PLANNED");
    assert_eq!(session.read("plan.md"), "three\n");
}

#[test]
fn where_none_is_waited_for() {
    let env = Env::new();
    let session = env.begin();
    refused(&session, b"x\n", &[], 3, "not_waiting");
    session.to_planned();
    refused(&session, b"x\n", &["--replace"], 3, "not_waiting");
    session.step_to("GENERATING");
    session.put("iteration-1/generation-response.md", BUNDLE);
    session.step_to("GENERATED");
    refused(&session, b"x\n", &[], 3, "not_waiting");
    session.step_to("REVIEWING");
    session.review(1, PASS);
    refused(&session, b"x\n", &["--replace"], 3, "not_waiting");
    session.step_to("COMPLETE");
    refused(&session, b"x\n", &[], 3, "not_waiting");
}

#[test]
fn a_review_from_before_the_gate_does_not_count() {
    let env = Env::new();
    let session = env.begin_with(&["-i", "request=x", "--gate", "code=human"]);
    session.to_generating();
    session.generate(BUNDLE);
    session.blocked();
    refused(&session, PASS.as_bytes(), &[], 3, "gate_closed");
    assert!(!session.has("iteration-1/review-response.md"));
    session.blocked();
}

#[test]
fn after_an_error_or_the_end() {
    let env = Env::new();
    let session = env.begin();
    session.to_generating();
    session.put("iteration-1/generation-response.md", "no file\n");
    session.step_to("ERROR");
    refused(
        &session,
        BUNDLE.as_bytes(),
        &["--replace"],
        3,
        "not_waiting",
    );
    session.reopen();
    respond(&session, BUNDLE.as_bytes(), &[]).ok();
    session.step_to("GENERATED");
    session.tm(&["cancel"]).ok();
    refused(&session, b"x\n", &[], 3, "not_waiting");
}

#[test]
fn a_large_one() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    let most = 64 * 1024 * 1024;
    refused(
        &session,
        &vec![b'x'; most + 1],
        &[],
        2,
        "response_too_large",
    );
    let answer = respond(&session, &vec![b'x'; most], &[]).ok();
    assert_eq!(answer["bytes"], most);
    let len = fs::metadata(session.folder.join("planning-response.md"))
        .unwrap()
        .len();
    assert_eq!(len, most as u64);
}

#[test]
fn its_bytes_are_put_there_as_they_are() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    let bytes = "\u{feff}one\r\n\ttwo \r".as_bytes();
    respond(&session, bytes, &[]).ok();
    let there = fs::read(session.folder.join("planning-response.md")).unwrap();
    assert_eq!(there, bytes);
    session.step_to("PLANNED");
}

#[test]
fn one_that_could_not_be_read_is_not_taken() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    refused(&session, b"one\xff\n", &[], 3, "response_unreadable");
    refused(&session, b"one\0\n", &[], 3, "response_unreadable");
    respond(&session, PLAN.as_bytes(), &[]).ok();
    let said = refused(
        &session,
        b"\xff\n",
        &["--replace"],
        3,
        "response_unreadable",
    );
    assert!(said.contains("UTF-8"), "{said}");
    session.step_to("PLANNED");
    session.step_to("GENERATING");
    for hostile in ["no file\n", "<<<FILE: ../a>>>\n1\n", "<<<FILE: a>>>\n"] {
        refused(&session, hostile.as_bytes(), &[], 3, "response_unreadable");
    }
    session.generate(BUNDLE);
    session.step_to("REVIEWING");
    refused(&session, b"Fine.\n", &[], 3, "response_unreadable");
    respond(&session, PASS.as_bytes(), &[]).ok();
    session.step_to("REVIEWED");
}

#[test]
fn a_file_that_cannot_be_read() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    let before = Everything::below([&*session.folder]);
    session
        .tm(&["respond", "nowhere.md"])
        .fault(4, "unknown_file");
    session.tm(&["respond", "."]).fault(6, "input");
    before.assert_same(
        &Everything::below([&*session.folder]),
        "a file that is none",
    );
}

#[test]
fn a_link_in_its_place_is_not_written_through() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    let theirs = env.folder().join("theirs");
    fs::write(&theirs, "theirs\n").unwrap();
    symlink(&theirs, session.folder.join("planning-response.md")).unwrap();
    refused(&session, b"mine\n", &[], 5, "response_there");
    respond(&session, b"mine\n", &["--replace"]).ok();
    assert_eq!(fs::read_to_string(theirs).unwrap(), "theirs\n");
    assert!(
        session
            .folder
            .join("planning-response.replaced-1.md")
            .is_symlink()
    );
    session.step_to("PLANNED");
    assert_eq!(session.read("plan.md"), "mine\n");
}

#[test]
fn the_session_that_is_meant_is_found_or_named() {
    let env = Env::new();
    env.tm(&["step"]).fault(4, "no_session");
    let first = env.begin();
    env.tm(&["step"]).ok();
    env.tm(&["respond", "-"]).fault(2, "response_empty");
    let second = env.begin();
    let said = env.tm(&["step"]).fault(2, "several_runs");
    assert!(
        said.contains(&first.id) && said.contains(&second.id),
        "{said}"
    );
    first.tm(&["cancel"]).ok();
    assert_eq!(text(&env.tm(&["status"]).ok(), "session_id"), second.id);
    let listed = env.tm(&["list"]).ok();
    let ids: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| text(one, "session_id"))
        .collect();
    assert_eq!(
        ids,
        [second.id.as_str(), first.id.as_str()],
        "the newest first"
    );
    second.tm(&["cancel", "--reason", "no need"]).ok();
    let state = env.tm(&["status"]).ok();
    assert_eq!(
        text(&state, "session_id"),
        second.id,
        "the newest of those that are over"
    );
    assert_eq!(text(&state, "last_error"), "no need");
}

/// What was a plan can hardly be read as code: that is not what is wrong with it.
#[test]
fn a_repeat_that_cannot_be_read_is_a_repeat_all_the_same() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    respond(&session, PLAN.as_bytes(), &[]).ok();
    session.step_to("PLANNED");
    session.step_to("GENERATING");
    refused(&session, PLAN.as_bytes(), &[], 5, "response_repeated");
    respond(&session, BUNDLE.as_bytes(), &[]).ok();
    session.step_to("GENERATED");
    session.step_to("REVIEWING");
    refused(&session, BUNDLE.as_bytes(), &[], 5, "response_repeated");
}

/// Whoever did not hear the answer sends again: that is no answer to what is asked for by then.
#[test]
fn a_response_that_was_taken_in_counts_for_nothing_else() {
    // The plan has code in it, which could be read as the code that is asked for next.
    let plan = format!("# Plan\n\n{BUNDLE}");
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    let planning = text(&session.blocked()["waiting_for"], "unit_id").to_owned();
    respond(&session, plan.as_bytes(), &["--unit-id", &planning]).ok();
    session.step_to("PLANNED");
    session.step_to("GENERATING");
    let generating = text(&session.blocked()["waiting_for"], "unit_id").to_owned();
    refused(&session, plan.as_bytes(), &[], 5, "response_repeated");
    let answer = respond(&session, plan.as_bytes(), &[]).json_with(5);
    let suggestion = text(&answer["error"], "suggestion");
    assert!(suggestion.contains(&generating), "{suggestion}");
    for unit in [&planning, "nowhere"] {
        let named = ["--unit-id", unit];
        refused(&session, plan.as_bytes(), &named, 5, "stale_unit");
    }
    // Who names what is asked for means it.
    respond(&session, plan.as_bytes(), &["--unit-id", &generating]).ok();
    session.step_to("GENERATED");
    session.step_to("REVIEWING");

    // The same of a review that comes again in the next iteration.
    respond(&session, FAIL.as_bytes(), &[]).ok();
    session.step_to("REVIEWED");
    session.step_to("REVISING");
    session.revise(2, BUNDLE);
    refused(&session, FAIL.as_bytes(), &[], 5, "response_repeated");
    respond(&session, PASS.as_bytes(), &[]).ok();
    session.step_to("REVIEWED");
    session.step_to("COMPLETE");
}
