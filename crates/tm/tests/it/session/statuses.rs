//! Every status that a profile can answer. Where each of them leads in the other phases that process a response is shown in
//! `crates/machine/tests/it/review.rs`.

use serde_json::json;

use super::environment::{BUNDLE, Env, PLAN, PLANNING, at, last, text};

#[test]
fn each_status_leads_where_it_should_and_never_in_silence() {
    let env = Env::with_stub();
    for (status, said, to, outcome) in [
        ("SUCCESS", "", "GENERATED", "SUCCESS"),
        ("FAILED", "because of the moon", "ERROR", "ERROR"),
        ("ERROR", "", "ERROR", "ERROR"),
        ("CANCELLED", "nobody wants it", "CANCELLED", "CANCELLED"),
        ("IN_PROGRESS", "later", "ERROR", "ERROR"),
    ] {
        let session = env.begin_stub();
        session.before("GENERATED");
        env.answers(
            "generation",
            &format!(
                r#"{{"status": "{status}", "error_message": "{said}", "messages": ["looked at it"], "files": [{{"path": "new.txt", "content": "new\n"}}], "metadata": {{"n": 1}}}}"#
            ),
        );
        let answer = session.step_to(to);
        assert_eq!(answer["messages"][0], "looked at it", "{status}");
        let after = session.status();
        let good = to == "GENERATED";
        let stands = if good { "IN_PROGRESS" } else { to };
        let entry = last(&after);
        for state in [&after, entry] {
            assert_eq!((text(state, "phase"), text(state, "status")), (to, stands));
        }
        assert_eq!(text(entry, "outcome"), outcome, "{status}");
        assert_eq!(entry["messages"], json!(["looked at it"]), "{status}");
        assert_eq!(entry["metadata"], json!({ "n": 1 }), "{status}");
        let error = text(&after, "last_error");
        assert_eq!(error.trim().is_empty(), good, "{status}: {error}");
        assert!(error.contains(said), "{status}: {error}");
        // Nothing is written of what did not succeed.
        assert_eq!(session.code(1).contains_key("new.txt"), good, "{status}");
    }
}

#[test]
fn a_processor_is_told_what_it_needs() {
    let env = Env::with_stub();
    let session = env.begin_stub();
    session.to("REVISED");
    session.step_to("REVIEWING");
    let told = env.request("revision");
    let fields = ["session_id", "phase", "profile", "response", "plan"];
    let expected = [&*session.id, "revision", "stub", BUNDLE, PLAN];
    assert_eq!(fields.map(|field| text(&told, field)), expected);
    let root = env.project();
    assert_eq!(text(&told, "project_root"), root.to_str().unwrap());
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
    assert_eq!(session.person(&["reopen"]).0, 4);
}
