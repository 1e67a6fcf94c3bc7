//! Every status that a profile can answer. Where each of them leads in the other phases that process a response is shown in
//! `crates/machine/tests/it/review.rs`.

use super::environment::{BUNDLE, Env, PLAN, PLANNING, at, broke_down, history, last, text};

#[test]
fn each_status_leads_where_it_should_and_never_in_silence() {
    let env = Env::with_stub();
    for said in ["because of the moon", ""] {
        for (status, to, outcome) in [
            ("SUCCESS", "GENERATED", "SUCCESS"),
            ("FAILED", "ERROR", "ERROR"),
            ("ERROR", "ERROR", "ERROR"),
            ("CANCELLED", "CANCELLED", "CANCELLED"),
            ("IN_PROGRESS", "ERROR", "ERROR"),
        ] {
            let session = env.begin_stub();
            session.before("GENERATED");
            let before = session.status();
            env.answers(
                "generation",
                &format!(
                    r#"{{"status": "{status}", "error_message": "{said}", "messages": ["looked at it"], "files": [{{"path": "new.txt", "content": "new\n"}}], "metadata": {{"n": 1}}}}"#
                ),
            );
            let calls = env.calls();
            let answer = session.step_to(to);
            assert_eq!(env.calls(), calls + 1, "{status}");
            assert_eq!(answer["messages"][0], "looked at it", "{status}");
            let after = session.status();
            assert_eq!(
                history(&after).len(),
                history(&before).len() + 1,
                "{status}"
            );
            let good = to == "GENERATED";
            let stands = if good { "IN_PROGRESS" } else { to };
            for state in [&after, last(&after)] {
                assert_eq!((text(state, "phase"), text(state, "status")), (to, stands));
            }
            assert_eq!(text(last(&after), "outcome"), outcome, "{status}");
            let error = text(&after, "last_error");
            assert_eq!(error.trim().is_empty(), good, "{status}: {error}");
            assert!(good || error.contains(said), "{status}: {error}");
            // Nothing is written of what did not succeed.
            assert_eq!(session.code(1).contains_key("new.txt"), good, "{status}");
            if !good {
                // An end is an end: a step says so, and does nothing.
                assert_eq!(session.stepped()["advanced"], false, "{status}");
                assert_eq!(env.calls(), calls + 1, "{status}");
            }
        }
    }
}

#[test]
fn a_processor_is_told_what_it_needs() {
    let env = Env::with_stub();
    let session = env.begin_stub();
    session.to("REVISED");
    session.step_to("REVIEWING");
    let told = env.request("revision");
    for (field, value) in [
        ("session_id", &*session.id),
        ("phase", "revision"),
        ("profile", "stub"),
        ("response", BUNDLE),
        ("plan", PLAN),
        ("project_root", env.project().to_str().unwrap()),
    ] {
        assert_eq!(text(&told, field), value, "{field}");
    }
    assert_eq!(told["iteration"], 2);
    // The bytes that were taken in, whatever stands in their place by now.
    let kept = std::fs::read_to_string(text(&told, "response_path")).unwrap();
    assert_eq!(kept, BUNDLE);
}

#[test]
fn a_plan_that_says_that_it_cannot_be_made_calls_the_session_off() {
    let session = at("INITIALIZED");
    session.before("PLANNED");
    session.put(PLANNING, "VALIDATION FAILED: the request names no text\n");
    let answer = session.step_to("CANCELLED");
    assert_eq!(answer["last_error"], "the request names no text");
    assert!(!session.has("plan.md"));
    assert_eq!(session.person(&["reopen"]).0, 3);
}

/// Each way in which a review can be no verdict is shown in the corpus of `crates/markup`.
#[test]
fn a_review_that_contradicts_itself_is_no_verdict() {
    let session = at("REVIEWING");
    let block = |verdict: &str, total: u8, critical: u8| {
        format!(
            "@@@REVIEW_META\nverdict: {verdict}\nissues_total: {total}\nissues_critical: {critical}\nmissing_inputs: 0\n@@@\n"
        )
    };
    for (review, reason) in [
        ("Looks good to me.\n".to_owned(), "REVIEW_META"),
        (block("PASS", 2, 1), "critical"),
        (block("PERHAPS", 0, 0), "PERHAPS"),
    ] {
        session.review(1, &review);
        broke_down(&session.step(), reason);
        session.reopen();
    }
    session.review(1, &block("pass", 3, 0));
    session.step_to("COMPLETE");
}
