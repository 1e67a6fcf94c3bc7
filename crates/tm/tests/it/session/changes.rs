//! What changes from one iteration to the next: files that go, move and come empty, and how all of it is shown.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::environment::{BUNDLE, Env, FAIL, PASS, PLAN};
use super::stub::NAME;
use testkit::Outcome;

#[test]
fn files_go_move_and_come_empty_and_the_difference_is_shown() {
    let env = Env::new();
    let session = env.begin();
    session.to_generating();
    session.tm(&["diff"]).fault(4, "no_code");
    session.generate(&format!("{BUNDLE}<<<FILE: run>>>\n#!/bin/sh\nexit 1\n"));
    session.review(1, FAIL);
    session.step_to("REVISING");
    session.revise(
        2,
        "<<<DELETE: README>>>\n<<<MOVE: src/count.sh -> count.sh>>>\n<<<EMPTY: src/none>>>\n<<<FILE: run>>>\nexit 0\n",
    );
    let names: Vec<String> = session.code(2).into_keys().collect();
    assert_eq!(names, ["count.sh", "run", "src/none"]);
    let mode = fs::metadata(session.folder.join("iteration-2/code/run")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o700, "as it was before");
    let told = session.tm(&["diff"]).ok();
    assert_eq!((&told["from"], &told["to"]), (&json!(1), &json!(2)));
    let of = |words: &[&str]| {
        let all = [&["session", "diff", "--session", &session.id][..], words].concat();
        let shown = Outcome::of(&env.program(&all).output().unwrap());
        shown.text().to_owned()
    };
    insta::assert_snapshot!(of(&[]));
    insta::assert_snapshot!(of(&["--stat", "--from", "0", "--to", "1"]));
    session.tm(&["diff", "--to", "3"]).fault(2, "bad_input");
    session.review(2, PASS);
    session.step_to("COMPLETE");
    let out = env.folder().join("out");
    session.tm(&["export", &out.display().to_string()]).ok();
    let mode = fs::metadata(out.join("run")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
}

#[test]
fn what_would_go_and_is_not_there_is_refused_before_it_costs_anything() {
    let env = Env::new();
    let session = env.begin();
    session.to_reviewing();
    session.review(1, FAIL);
    session.step_to("REVISING");
    let refused = env.tm_with_input(&["respond", "-"], b"<<<DELETE: src/other.sh>>>\n");
    refused.fault(3, "response_unreadable");
    let said = refused.message();
    assert!(said.contains("there are README, src/count.sh"), "{said}");
    assert!(!session.has("iteration-2/revision-response.md"));
}

#[test]
fn a_response_is_sent_and_the_steps_taken_in_one_command() {
    let env = Env::new();
    let session = env.begin();
    let waits = env.tm_with_input(&["respond", "--run", "-"], PLAN.as_bytes());
    waits.fault(3, "not_waiting");
    session.step_to("PLANNING");
    let went = env
        .tm_with_input(&["respond", "--run", "-"], PLAN.as_bytes())
        .json_with(7);
    assert_eq!(went["phase"], "GENERATING");
    let went = env
        .tm_with_input(&["respond", "--run", "-"], BUNDLE.as_bytes())
        .json_with(7);
    assert_eq!(went["phase"], "REVIEWING");
    let went = env
        .tm_with_input(&["respond", "--run", "-"], PASS.as_bytes())
        .json_with(0);
    assert_eq!(went["phase"], "COMPLETE");
}

#[test]
fn what_a_profile_says_of_a_response_is_kept() {
    let env = Env::new();
    env.install(
        "tramline-profile: 1\ntitle: Scores\nresponses:\n  planning: { command: [sh, process.sh] }\n",
        r#"cat > /dev/null; echo '{"status": "SUCCESS", "messages": ["well done"], "metadata": {"score": 7}}'"#,
    );
    env.trust(NAME);
    let session = env.begin_stub();
    session.step_to("PLANNING");
    session.put("planning-response.md", "planned\n");
    session.step_to("PLANNED");
    let history = session.status()["phase_history"].clone();
    let last = history.as_array().unwrap().last().unwrap();
    assert_eq!(last["messages"], json!(["well done"]), "{last}");
    assert_eq!(last["metadata"], json!({ "score": 7 }), "{last}");
}

#[test]
fn sessions_are_listed_by_status_and_profile() {
    let env = Env::new();
    let first = env.begin();
    let second = env.begin();
    second.tm(&["cancel"]).ok();
    let listed = |words: &[&str]| {
        let all = [&["list"][..], words].concat();
        let sessions = env.tm(&all).ok();
        let ids = sessions.as_array().unwrap().iter();
        ids.map(|one| one["session_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(&["--status", "in-progress"]), [&*first.id]);
    assert_eq!(listed(&["--status", "cancelled"]), [&*second.id]);
    assert_eq!(listed(&["--profile", "generic", "--limit", "1"]).len(), 1);
    assert_eq!(listed(&["--profile", "other"]).len(), 0);
}

#[test]
fn feedback_comes_from_a_file() {
    let env = Env::new();
    let session = env.begin_with(&["-i", "request=x", "--gate", "plan=human"]);
    session.to_planned();
    fs::write(env.project().join("why.md"), "Say more.\nMuch more.\n").unwrap();
    session.agreed(&["reject", "--feedback-file", "why.md"]);
    assert!(
        session
            .read("planning-prompt.md")
            .contains("Say more.\nMuch more.")
    );
    session.tm(&["reject"]).fault(2, "usage");
}
