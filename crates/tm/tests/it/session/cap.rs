//! Sessions whose reviews keep failing.

use serde_json::Value;

use super::environment::{BUNDLE, Env, FAIL, PASS, Session, text};

/// A session that may have so many iterations, at the end of the last of them.
fn at_cap(env: &Env, most: u32) -> Session<'_> {
    let session = env.begin_with(&["-i", "request=x", "--max-iterations", &most.to_string()]);
    session.to_reviewing();
    for iteration in 1..=most {
        session.review(iteration, FAIL);
        if iteration < most {
            session.step_to("REVISING");
            session.revise(iteration + 1, BUNDLE);
        }
    }
    session
}

/// Where a pause changes nothing.
fn same(before: &Value, after: &Value) {
    for same in [
        "phase",
        "status",
        "current_iteration",
        "phase_history",
        "updated_at",
        "artifacts",
    ] {
        assert_eq!(before[same], after[same], "{same}");
    }
}

#[test]
fn pause_after_the_last_iteration_and_go_on_with_the_same_review() {
    for most in 1..=3 {
        let env = Env::new();
        let session = at_cap(&env, most);
        let (before, files) = (session.status(), session.files());
        assert_eq!(before["max_iterations"], most);
        session.stepped();
        let paused = session.status();
        same(&before, &paused);
        assert_eq!(text(&paused, "status"), "IN_PROGRESS");
        assert_eq!(
            paused["waiting_for"],
            serde_json::json!({ "needs_reopen": true, "reason": "max_iterations" })
        );
        assert_eq!(files, session.files(), "nothing is begun");
        let blocked = session.blocked();
        assert_eq!(blocked["waiting_for"]["reason"], "max_iterations");

        let before = env.everything();
        for too_few in 1..=most {
            let (status, shown) =
                session.person(&["reopen", "--max-iterations", &too_few.to_string()]);
            assert_eq!(status, 2, "{shown}");
        }
        before.assert_same(&env.everything(), "a cap that changes nothing");

        let more = (most + 1).to_string();
        session.agreed(&["reopen", "--max-iterations", &more]);
        let reopened = session.status();
        same(&paused, &reopened);
        assert_eq!(reopened["max_iterations"], most + 1);
        assert!(reopened.get("waiting_for").is_none(), "{reopened:#}");
        assert_eq!(files, session.files(), "nothing is set aside");
        let state = session.step_to("REVISING");
        assert_eq!(state["current_iteration"], most + 1);
        session.revise(most + 1, BUNDLE);
        session.review(most + 1, PASS);
        session.step_to("COMPLETE");
    }
}

#[test]
fn who_pauses_it_for_the_same_reason_has_it_go_on() {
    let env = Env::new();
    let session = at_cap(&env, 1);
    let run = |words: &[&str]| env.json(&[&["run"], words].concat()).json_with(0);
    run(&["pause", "--reason", "max_iterations"]);
    let waits = &session.status()["waiting_for"];
    assert_eq!(
        *waits,
        serde_json::json!({ "paused": true, "reason": "max_iterations" })
    );
    run(&["resume"]);
    session.stepped();
    assert_eq!(session.status()["waiting_for"]["needs_reopen"], true);
}

#[test]
fn without_more_iterations_the_review_is_asked_for_again() {
    let env = Env::new();
    let session = at_cap(&env, 1);
    session.stepped();
    let before = session.status();
    session.reopen();
    let state = session.status();
    assert_eq!(text(&state, "phase"), "REVIEWING");
    assert_eq!(
        state["phase_history"].as_array().unwrap().len(),
        before["phase_history"].as_array().unwrap().len() + 1
    );
    assert_eq!(
        session.read("iteration-1/review-response.reopened-1.md"),
        FAIL
    );
    assert!(!session.has("iteration-1/review-response.md"));
    session.blocked();
    // It fails again: the cap is still the same one.
    session.review(1, FAIL);
    session.stepped();
    assert_eq!(session.blocked()["waiting_for"]["reason"], "max_iterations");
    session.reopen();
    assert!(session.has("iteration-1/review-response.reopened-2.md"));
    session.review(1, PASS);
    session.step_to("COMPLETE");
}

#[test]
fn the_settings_name_the_cap_and_the_gates() {
    let env = Env::new();
    env.write(
        ".taskmaster/config.json",
        r#"{"review": {"maxIterations": 2, "gates": {"plan": "human"}}}"#,
    );
    let session = env.begin();
    assert_eq!(session.status()["max_iterations"], 2);
    session.to_planned();
    assert_eq!(session.blocked()["waiting_for"]["gate"], "plan");
    // A caller can close what the settings leave open, and not open what they close.
    let init = |gate| env.tm(&["init", "-i", "request=x", "--gate", gate]);
    init("plan=auto").fault(3, "beyond_settings");
    for closes in ["plan=human", "code=human", "code=auto"] {
        init(closes).ok();
    }
    // Nor does it give itself more tries than they have.
    let more = ["init", "-i", "request=x", "--max-iterations", "5"];
    env.tm(&more).fault(3, "beyond_settings");
    let named = env.begin_with(&["-i", "request=x", "--max-iterations", "1"]);
    assert_eq!(named.status()["max_iterations"], 1);
    // What a session began with holds, whatever becomes of the settings.
    env.write(".taskmaster/config.json", "{}");
    assert_eq!(session.status()["max_iterations"], 2);
    assert_eq!(session.blocked()["waiting_for"]["gate"], "plan");
    assert_eq!(env.begin().status()["max_iterations"], 10);
}

#[test]
fn more_iterations_help_only_at_the_cap() {
    let env = Env::new();
    let session = env.begin();
    session.to_generating();
    for arguments in [&["reopen"][..], &["reopen", "--max-iterations", "20"]] {
        let (status, shown) = session.person(arguments);
        assert_eq!(status, 3, "{shown}");
        assert!(shown.contains("nothing to take up again"), "{shown}");
    }
    session.put("iteration-1/generation-response.md", "no file at all\n");
    session.step_to("ERROR");
    let (status, shown) = session.person(&["reopen", "--max-iterations", "20"]);
    assert_eq!(status, 2, "{shown}");
    assert_eq!(text(&session.status(), "phase"), "ERROR");
    session.reopen();
    assert_eq!(text(&session.status(), "phase"), "GENERATING");
}

#[test]
fn each_phase_that_broke_down_is_taken_up_where_it_waited() {
    type Break = fn(&Session<'_>);
    let cases: [(Break, &str, &str); 4] = [
        (
            |session| {
                session.step_to("PLANNING");
                session.put("planning-response.md", "no\0text\n");
            },
            "PLANNING",
            "planning-response",
        ),
        (
            |session| {
                session.to_generating();
                session.put("iteration-1/generation-response.md", "Sorry.\n");
            },
            "GENERATING",
            "iteration-1/generation-response",
        ),
        (
            |session| {
                session.to_reviewing();
                session.review(1, "Fine by me.\n");
            },
            "REVIEWING",
            "iteration-1/review-response",
        ),
        (
            |session| {
                session.to_revising();
                session.put("iteration-2/revision-response.md", "Sorry.\n");
                session.step_to("REVISED");
            },
            "REVISING",
            "iteration-2/revision-response",
        ),
    ];
    for (break_it, to, response) in cases {
        let env = Env::new();
        let session = env.begin();
        break_it(&session);
        let files = session.names();
        let broken = session.step_to("ERROR");
        assert_eq!(files, session.names(), "{to}: nothing is written");
        assert_eq!(session.stepped()["advanced"], false);
        session.reopen();
        let state = session.status();
        assert_eq!(text(&state, "phase"), to);
        assert_eq!(text(&state, "status"), "IN_PROGRESS");
        assert_eq!(
            state["last_error"], broken["last_error"],
            "who answers anew is told why"
        );
        assert_eq!(state["current_iteration"], broken["current_iteration"]);
        assert!(
            session.has(&format!("{response}.reopened-1.md")),
            "{:?}",
            session.names()
        );
        assert!(!session.has(&format!("{response}.md")));
        if to == "REVIEWING" {
            // Its prompt is written by a step of its own, as ever.
            assert!(session.stepped()["issued"].is_string());
        }
        session.blocked();
    }
}
