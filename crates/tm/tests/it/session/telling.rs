//! What people are told: text of others is shown, and does nothing to a terminal or a prompt.

use super::environment::{Env, GENERATION, Session, at, text};
use testkit::Sandbox;

/// It would be another text, too, if it were taken for a template.
const HOSTILE: &str = "{{ 7 * 7 }} {% for x in y %}\u{1b}[2J\u{1b}]0;title\u{7}red\u{202e}der";

/// What a command shows on both of its outputs, which does nothing to a terminal.
fn clean(session: &Session, words: &[&str]) -> String {
    let words = [&["session"], words, &["--session", &session.id]].concat();
    let ran = Sandbox::tm(&session.env, &words);
    let shown = ran.out + &ran.err;
    is_clean(&shown);
    shown
}

fn is_clean(text: &str) {
    let bad = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(bad), "{text:?}");
}

#[test]
fn text_of_processors_and_people_and_names_of_files() {
    let env = Env::with_stub();
    let session = env.begin_stub();
    session.before("PLANNED");
    let hostile = serde_json::to_string(HOSTILE).unwrap();
    env.answers(
        "planning",
        &format!(r#"{{"status": "ERROR", "error_message": {hostile}, "messages": [{hostile}]}}"#),
    );
    let step = clean(&session, &["step"]);
    assert!(step.contains("red"), "{step}");
    for command in ["status", "show", "list"] {
        clean(&session, &[command]);
    }

    let session = env.begin_with(&["-i", &format!("request={HOSTILE}"), "--gate", "plan=human"]);
    session.to("PLANNED");
    session.reject(HOSTILE);
    let prompt = session.read("planning-prompt.md");
    is_clean(&prompt);
    let said = prompt.matches("{{ 7 * 7 }} {% for x in y %}").count();
    assert!(said > 1, "{prompt}");
    session.to("PLANNED");
    session.approve();
    session.before("GENERATED");
    is_clean(&session.read("iteration-1/generation-prompt.md"));
    session.put(GENERATION, format!("<<<FILE: {HOSTILE}>>>\n1\n"));
    for command in ["step", "status", "show"] {
        clean(&session, &[command]);
    }
    session.agreed(&["reopen", "--reason", HOSTILE]);
    clean(&session, &["cancel", "--reason", HOSTILE]);
    clean(&session, &["show"]);
}

#[test]
fn the_generic_verbs_know_sessions() {
    let env = Env::new();
    let run = |words: &[&str]| env.json(&[&["run"], words].concat());
    let started = run(&["start", "review", "--input", r#"values={"request": "x"}"#]).ok();
    let phase = || env.tm(&["status", text(&started, "runId")]).ok()["phase"].take();
    assert_eq!(phase(), "INITIALIZED");
    run(&["step"]).ok();
    assert_eq!(phase(), "PLANNING");
}

#[test]
fn the_run_report_tells_what_a_review_found() {
    let session = at("REVISING");
    let report = Sandbox::tm(&session.env, &["runs", "report", &session.id]);
    let found = "the review found 2 issues, 1 of them critical; issues_total 2";
    assert!(report.text().contains(found), "{report:?}");
}
