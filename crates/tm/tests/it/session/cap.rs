//! Sessions whose reviews keep failing.

use serde_json::json;

use super::environment::{
    BUNDLE, Env, FAIL, GENERATION, PASS, PLANNING, REVIEW, REVISION, Session, at, history, stayed,
    text,
};

/// A session that may have so many iterations, at the end of the last of them.
fn at_cap(most: u32) -> Session {
    let session =
        Env::new().begin_with(&["-i", "request=x", "--max-iterations", &most.to_string()]);
    session.to("REVIEWED");
    for iteration in 2..=most {
        session.step_to("REVISING");
        session.revise(iteration, BUNDLE);
        session.review(iteration, FAIL);
    }
    session
}

#[test]
fn pause_after_the_last_iteration_and_go_on_with_the_same_review() {
    for most in [1, 3] {
        let session = at_cap(most);
        let (before, files) = (session.status(), session.files());
        assert_eq!(before["max_iterations"], most);
        session.stepped();
        let paused = session.status();
        stayed(&before, &paused);
        assert_eq!(before["artifacts"], paused["artifacts"]);
        assert_eq!(text(&paused, "status"), "IN_PROGRESS");
        let waits = json!({ "needs_reopen": true, "reason": "max_iterations" });
        assert_eq!(paused["waiting_for"], waits);
        assert_eq!(session.blocked()["waiting_for"], waits);

        let before = session.env.everything();
        for too_few in 1..=most {
            let too_few = too_few.to_string();
            let (status, shown) = session.person(&["reopen", "--max-iterations", &too_few]);
            assert_eq!(status, 2, "{shown}");
        }
        before.assert_same(&session.env.everything(), "a cap that changes nothing");

        session.agreed(&["reopen", "--max-iterations", &(most + 1).to_string()]);
        let reopened = session.status();
        stayed(&paused, &reopened);
        assert_eq!(reopened["max_iterations"], most + 1);
        assert!(reopened.get("waiting_for").is_none(), "{reopened:#}");
        assert_eq!(files, session.files(), "nothing is begun or set aside");
        let state = session.step_to("REVISING");
        assert_eq!(state["current_iteration"], most + 1);
        session.revise(most + 1, BUNDLE);
        session.review(most + 1, PASS);
        session.step_to("COMPLETE");
    }
}

#[test]
fn who_pauses_it_for_the_same_reason_has_it_go_on() {
    let session = at_cap(1);
    let run = |words: &[&str]| session.env.json(&[&["run"], words].concat()).ok();
    run(&["pause", "--reason", "max_iterations"]);
    let waits = &session.status()["waiting_for"];
    assert_eq!(
        *waits,
        json!({ "paused": true, "reason": "max_iterations" })
    );
    run(&["resume"]);
    session.stepped();
    assert_eq!(session.status()["waiting_for"]["needs_reopen"], true);
}

#[test]
fn without_more_iterations_the_review_is_asked_for_again() {
    let session = at_cap(1);
    // It fails again: the cap is still the same one.
    for round in 1..=2 {
        session.stepped();
        let before = session.blocked();
        assert_eq!(before["waiting_for"]["reason"], "max_iterations");
        session.reopen();
        let state = session.status();
        assert_eq!(text(&state, "phase"), "REVIEWING");
        assert_eq!(history(&state).len(), history(&before).len() + 1);
        let aside = format!("iteration-1/review-response.reopened-{round}.md");
        assert_eq!(session.read(&aside), FAIL);
        assert!(!session.has(REVIEW));
        if round == 1 {
            // It was answered before it was asked for.
            session.step_to("REVIEWING");
        }
        session.blocked();
        session.review(1, [FAIL, PASS][round - 1]);
    }
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
    session.to("PLANNED");
    assert_eq!(session.blocked()["waiting_for"]["gate"], "plan");
    // A caller can close what the settings leave open, and not open what they close; nor give itself more tries than they have.
    let init = |more: [&str; 2]| env.tm(&[&["init", "-i", "request=x"], &more[..]].concat());
    for beyond in [["--gate", "plan=auto"], ["--max-iterations", "5"]] {
        init(beyond).fault(3, "beyond_settings");
    }
    for closes in ["plan=human", "code=human", "code=auto"] {
        init(["--gate", closes]).ok();
    }
    assert_eq!(init(["--max-iterations", "1"]).ok()["max_iterations"], 1);
    // What a session began with holds, whatever becomes of the settings.
    env.write(".taskmaster/config.json", "{}");
    assert_eq!(session.status()["max_iterations"], 2);
    assert_eq!(session.blocked()["waiting_for"]["gate"], "plan");
    assert_eq!(env.begin().status()["max_iterations"], 10);
}

#[test]
fn more_iterations_help_only_at_the_cap() {
    let session = at("GENERATING");
    let more = ["reopen", "--max-iterations", "20"];
    for words in [&more[..1], &more] {
        assert_eq!(session.person(words).0, 3, "there is nothing to take up");
    }
    session.put(GENERATION, "no file at all\n");
    session.step_to("ERROR");
    assert_eq!(session.person(&more).0, 2);
    assert_eq!(session.status()["phase"], "ERROR");
}

#[test]
fn each_phase_that_broke_down_is_taken_up_where_it_waited() {
    for (before, answer, to, response) in [
        ("PLANNED", "no\0text\n", "PLANNING", PLANNING),
        ("GENERATED", "Sorry.\n", "GENERATING", GENERATION),
        ("REVIEWED", "Fine by me.\n", "REVIEWING", REVIEW),
        ("REVISED", "Sorry.\n", "REVISING", REVISION),
    ] {
        let session = at("INITIALIZED");
        session.before(before);
        session.put(response, answer);
        // What is only taken in breaks down a step later.
        if matches!(to, "REVIEWING" | "REVISING") {
            session.stepped();
        }
        let files = session.names();
        let broken = session.step_to("ERROR");
        assert_eq!(files, session.names(), "{to}: nothing is written");
        assert_eq!(session.stepped()["advanced"], false);
        session.reopen();
        let state = session.status();
        assert_eq!(
            (text(&state, "phase"), text(&state, "status")),
            (to, "IN_PROGRESS")
        );
        // Who answers anew is told why.
        for same in ["last_error", "current_iteration"] {
            assert_eq!(state[same], broken[same], "{to}");
        }
        assert!(
            session.has(&response.replace(".md", ".reopened-1.md")),
            "{to}"
        );
        assert!(!session.has(response), "{to}");
        if to == "REVIEWING" {
            // Its prompt is written by a step of its own, as ever.
            assert!(session.stepped()["issued"].is_string());
        }
        session.blocked();
    }
}
