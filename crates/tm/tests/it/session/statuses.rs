//! Every status that a profile can answer, wherever a response is processed.

use super::environment::{Env, broke_down, text};

/// Where a status leads: the phase, the session's status, and the outcome in the history.
type Leads = (&'static str, &'static str, &'static str);

const BROKEN: Leads = ("ERROR", "ERROR", "ERROR");
const OFF: Leads = ("CANCELLED", "CANCELLED", "CANCELLED");

/// What the statuses lead to at a phase that goes on to `next` only by SUCCESS.
fn only_success(next: &'static str) -> [(&'static str, Leads); 5] {
    [
        ("SUCCESS", (next, "IN_PROGRESS", "SUCCESS")),
        ("FAILED", BROKEN),
        ("ERROR", BROKEN),
        ("CANCELLED", OFF),
        ("IN_PROGRESS", BROKEN),
    ]
}

fn check(phase: &str, statuses: &[(&str, Leads)], files: &str) {
    let env = Env::with_stub();
    for said in ["because of the moon", ""] {
        // A reason that is missing is missing wherever it is: once is enough.
        if said.is_empty() && phase != "generation" {
            continue;
        }
        for (status, (to, of_session, outcome)) in statuses {
            let session = env.begin_stub();
            session.stub_to(phase);
            let before = session.status();
            env.answers(
                phase,
                &format!(
                    r#"{{"status": "{status}", "error_message": "{said}", "messages": ["looked at it"], "files": {files}, "metadata": {{"n": 1}}}}"#
                ),
            );
            let calls = env.calls();
            let answer = session.stepped();
            assert_eq!(env.calls(), calls + 1, "{phase} {status}");
            assert_eq!(text(&answer, "phase"), *to, "{phase} {status}: {answer:#}");
            assert_eq!(text(&answer, "status"), *of_session, "{phase} {status}");
            assert_eq!(answer["messages"][0], "looked at it", "{phase} {status}");
            let after = session.status();
            let history = after["phase_history"].as_array().unwrap();
            let old = before["phase_history"].as_array().unwrap();
            assert_eq!(history.len(), old.len() + 1, "{phase} {status}");
            let entry = history.last().unwrap();
            assert_eq!(text(entry, "outcome"), *outcome, "{phase} {status}");
            assert_eq!(text(entry, "phase"), *to);
            assert_eq!(text(entry, "status"), *of_session);
            assert_eq!(entry["timestamp"], after["updated_at"]);
            let error = text(&after, "last_error");
            if *of_session == "IN_PROGRESS" || *of_session == "SUCCESS" {
                assert_eq!(error, "", "{phase} {status}");
            } else {
                assert!(!error.trim().is_empty(), "{phase} {status}: never silence");
                assert!(error.contains(said), "{phase} {status}: {error}");
                // Nothing was written of what did not succeed.
                let number = after["current_iteration"].as_u64().unwrap();
                let code = session.code(u32::try_from(number).unwrap());
                assert!(!code.contains_key("new.txt"), "{phase} {status}: {code:?}");
                // An end is an end: a step says so, and does nothing.
                let again = session.stepped();
                assert_eq!(again["advanced"], false);
                assert_eq!(env.calls(), calls + 1);
            }
        }
        let good = match phase {
            "review" => r#"{"status": "FAILED"}"#,
            "planning" => r#"{"status": "SUCCESS"}"#,
            _ => r#"{"status": "SUCCESS", "files": [{"path": "a.txt", "content": "one\n"}]}"#,
        };
        env.answers(phase, good);
    }
}

const FILES: &str = r#"[{"path": "new.txt", "content": "new\n"}]"#;

#[test]
fn of_a_plan() {
    check("planning", &only_success("PLANNED"), "[]");
}

#[test]
fn of_the_first_code() {
    check("generation", &only_success("GENERATED"), FILES);
}

#[test]
fn of_a_review() {
    check(
        "review",
        &[
            ("SUCCESS", ("COMPLETE", "SUCCESS", "SUCCESS")),
            ("FAILED", ("REVISING", "IN_PROGRESS", "FAILED")),
            ("ERROR", BROKEN),
            ("CANCELLED", OFF),
            ("IN_PROGRESS", BROKEN),
        ],
        "[]",
    );
}

#[test]
fn of_a_revision() {
    check("revision", &only_success("REVIEWING"), FILES);
}

#[test]
fn a_processor_is_told_what_it_needs() {
    let env = Env::with_stub();
    let session = env.begin_stub();
    session.stub_to("revision");
    session.step_to("REVIEWING");
    let told = env.request("revision");
    assert_eq!(text(&told, "session_id"), session.id);
    assert_eq!(text(&told, "phase"), "revision");
    assert_eq!(text(&told, "profile"), "stub");
    assert_eq!(text(&told, "response"), "revised\n");
    assert_eq!(text(&told, "plan"), "planned\n");
    assert_eq!(told["iteration"], 2);
    // The bytes that were taken in, whatever stands in their place by now.
    let kept = std::fs::read_to_string(text(&told, "response_path")).unwrap();
    assert_eq!(kept, "revised\n");
    assert_eq!(text(&told, "project_root"), env.project().to_str().unwrap());
}

#[test]
fn a_plan_that_says_that_it_cannot_be_made_calls_the_session_off() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    session.put(
        "planning-response.md",
        "VALIDATION FAILED: the request names no text\n",
    );
    let answer = session.step_to("CANCELLED");
    assert_eq!(text(&answer, "last_error"), "the request names no text");
    assert!(!session.has("plan.md"));
    let (status, shown) = session.person(&["reopen"]);
    assert_eq!(status, 3, "{shown}");
}

#[test]
fn a_review_that_contradicts_itself_is_no_verdict() {
    let env = Env::new();
    let session = env.begin();
    session.to_reviewing();
    let block = |verdict: &str, total: &str, critical: &str| {
        format!(
            "@@@REVIEW_META\nverdict: {verdict}\nissues_total: {total}\nissues_critical: {critical}\nmissing_inputs: 0\n@@@\n"
        )
    };
    for (review, reason) in [
        ("Looks good to me.\n".to_owned(), "REVIEW_META"),
        (block("PASS", "2", "1"), "critical"),
        (block("PERHAPS", "0", "0"), "PERHAPS"),
        (block("PASS", "-1", "0"), "-1"),
        (block("PASS", "0", "1"), "critical"),
        (
            format!("{}{}", block("PASS", "0", "0"), block("FAIL", "1", "0")),
            "second",
        ),
        (
            block("PASS", "0", "0").replace("missing_inputs: 0\n", ""),
            "missing_inputs",
        ),
        (block("PASS", "0", "0").replace("0\n@@@\n", "0\n"), "end"),
    ] {
        session.review(1, &review);
        broke_down(&session.step(), reason);
        session.reopen();
    }
    session.review(1, &block("pass", "3", "0"));
    session.step_to("COMPLETE");
}
