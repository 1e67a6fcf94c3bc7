//! Sessions whose reviews keep failing.

use serde_json::{Value, json};

use super::environment::{BUNDLE, Env, FAIL, PASS, stayed};

/// What becomes of it is shown in `crates/machine/tests/it/recovery.rs`.
#[test]
fn at_the_cap_a_person_gives_more_iterations_or_has_the_review_done_again() {
    let session = Env::new().begin_with(&["-i", "request=x", "--max-iterations", "1"]);
    let run = |words: &[&str]| session.env.json(&[&["run"], words].concat()).ok();
    session.to("REVIEWED");
    // More help only at the cap.
    let more = ["reopen", "--max-iterations", "20"];
    assert_eq!(session.person(&more).0, 2);
    let (before, files) = (session.status(), session.files());
    session.stepped();
    let paused = session.status();
    stayed(&before, &paused);
    let next = |state: &Value| {
        let next = &state["nextAction"];
        let step = &next["nextSteps"][0]["step"];
        json!([
            next["action"],
            next["pausedReason"],
            next["needsPerson"],
            step
        ])
    };
    let capped = json!(["paused", "max_iterations", true, "reopen"]);
    assert_eq!(next(&session.blocked()), capped);
    for verb in ["reopen", "resume"] {
        let refused = session.env.json(&["run", verb, "--run-id", &session.id]);
        refused.fault(3, "needs_person");
    }
    let (status, shown) = session.person(&["reopen", "--max-iterations", "1"]);
    assert_eq!(status, 2, "{shown}");
    session.agreed(&["reopen", "--max-iterations", "2"]);
    assert_eq!(session.status()["max_iterations"], 2);
    assert_eq!(files, session.files(), "nothing is begun or set aside");
    session.to("REVISING");
    session.revise(2, BUNDLE);
    session.review(2, FAIL);
    // Who pauses it for the same reason has it go on.
    run(&["pause", "--reason", "max_iterations"]);
    let waits = json!(["paused", "max_iterations", null, "resume"]);
    assert_eq!(next(&session.status()), waits);
    run(&["resume"]);
    session.stepped();
    assert_eq!(next(&session.status()), capped);
    session.reopen();
    assert_eq!(session.status()["phase"], "REVIEWING");
    let aside = "iteration-2/review-response.reopened-1.md";
    assert_eq!(session.read(aside), FAIL);
    assert_eq!(session.stepped()["nextAction"]["action"], "work");
    session.blocked();
    session.review(2, PASS);
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
    assert_eq!(session.blocked()["nextAction"]["gate"], "plan");
    // A caller can close what the settings leave open, and not open what they close; nor give itself more tries than they have.
    let init = |more: [&str; 2]| env.tm(&[&["init", "-i", "request=x"], &more[..]].concat());
    for beyond in [["--gate", "plan=auto"], ["--max-iterations", "5"]] {
        init(beyond).fault(3, "beyond_settings");
    }
    init(["--gate", "code=human"]).ok();
    assert_eq!(init(["--max-iterations", "1"]).ok()["max_iterations"], 1);
    // What a session began with holds, whatever becomes of the settings.
    env.write(".taskmaster/config.json", "{}");
    assert_eq!(session.status()["max_iterations"], 2);
    assert_eq!(session.blocked()["nextAction"]["gate"], "plan");
    assert_eq!(env.begin().status()["max_iterations"], 10);
}
