//! Decisions on what was looked at, as any caller may give them: never on something else. What becomes of two at once, and of
//! one that comes late, is shown in `crates/engine/tests/it/session`.

use engine::view::session::answer::ClosedGate;
use engine::view::session::request::Decide;
use engine::{Channel, Engine, Fault, OpenOptions};
use serde_json::json;
use workspace::config::Environment;

use super::environment::{Env, PASS, PLAN, PLANNING, Session, at, gated, history, last, text};

fn engine(env: &Env) -> Engine {
    let environment: Environment = [("HOME", env.home()), ("TRAMLINE_HOME", env.store())]
        .into_iter()
        .map(|(name, path)| (name.to_owned(), path.display().to_string()))
        .collect();
    Engine::open(OpenOptions {
        cwd: env.project(),
        project_root: None,
        tag: None,
        environment,
        command: "test".to_owned(),
        actor: "tester".to_owned(),
        cancelled: None,
        waits_no_more: None,
    })
    .unwrap()
}

/// A decision; whether it was recorded now.
fn decide(
    session: &Session,
    gate: &ClosedGate,
    choice: &str,
    feedback: &str,
) -> Result<bool, Fault> {
    let decide = Decide {
        gate: gate.clone(),
        choice: serde_json::from_value(json!(choice)).unwrap(),
        feedback: feedback.to_owned(),
    };
    let asked = engine(&session.env).asked(Channel::Elicitation("wire 1".to_owned()));
    let decided = asked.session_decide(&decide)?;
    assert_eq!(decided.how, "elicitation by wire 1");
    Ok(decided.recorded)
}

/// Both decisions are refused with this code, and the session is as it was.
fn refused(session: &Session, gate: &ClosedGate, code: &str) {
    for choice in ["approve", "reject"] {
        let before = (session.files(), session.status());
        let fault = decide(session, gate, choice, "No.").unwrap_err();
        assert_eq!(fault.code, code, "{choice} {gate:?}: {}", fault.message);
        assert!(!fault.suggestion.is_empty(), "{code}");
        assert_eq!(before, (session.files(), session.status()), "{code}");
    }
}

fn look(session: &Session) -> ClosedGate {
    let before = session.env.everything();
    let gate = engine(&session.env)
        .session_gate(Some(&session.id))
        .unwrap();
    before.assert_same(&session.env.everything(), "a look at a gate");
    gate
}

#[test]
fn one_on_a_plan() {
    let session = gated(&["plan"], "INITIALIZED");
    let early = engine(&session.env).session_gate(None).unwrap_err();
    assert_eq!(early.code, "no_gate");
    session.to("PLANNED");
    let gate = look(&session);
    assert_eq!(
        (&*gate.gate, &*gate.phase, gate.edited),
        ("plan", "PLANNED", false)
    );
    assert_eq!(gate.hash, journal::sha256_hex(PLAN.as_bytes()));
    assert_eq!(gate.look_at, [session.folder.join("plan.md")]);
    session.put("plan.md", "# Another\n");
    assert!(look(&session).edited, "whoever looks is told");
    refused(&session, &gate, "changed_since");
    session.put("plan.md", PLAN);
    // Nobody asked for one on the plan of another session.
    let open = session.env.begin();
    open.to("PLANNED");
    let session_id = open.id.clone();
    let of_open = ClosedGate {
        session_id,
        ..gate.clone()
    };
    refused(&open, &of_open, "gate_open");
    let with = |change: fn(&mut ClosedGate)| {
        let mut wrong = gate.clone();
        change(&mut wrong);
        wrong
    };
    for wrong in [
        with(|gate| gate.gate = "code".to_owned()),
        with(|gate| gate.gate = "none".to_owned()),
        with(|gate| gate.phase = "REVIEWING".to_owned()),
        with(|gate| gate.round = Some(1)),
    ] {
        refused(&session, &wrong, "gate_moved");
    }
    let code = |gate: &ClosedGate, feedback: &str| {
        decide(&session, gate, "reject", feedback).unwrap_err().code
    };
    assert_eq!(code(&gate, " \n"), "no_feedback");
    decide(&session, &gate, "reject", "Think again.").unwrap();
    refused(&session, &gate, "gate_moved");
    session.put(PLANNING, "# Another\n");
    session.step_to("PLANNED");
    refused(&session, &gate, "changed_since");
    let gate = look(&session);
    assert!(decide(&session, &gate, "approve", "").unwrap());
    assert!(
        !decide(&session, &gate, "approve", "").unwrap(),
        "said before"
    );
    assert_eq!(code(&gate, "No."), "already_approved");
    session.step_to("GENERATING");
    refused(&session, &gate, "gate_moved");
}

#[test]
fn each_is_told_with_its_way_and_none_is_taken_behind_the_end() {
    let session = gated(&["code", "review"], "REVIEWING");
    let code = look(&session);
    assert_eq!(code.look_at, [session.folder.join("iteration-1/code")]);
    session.approve();
    session.review(1, PASS);
    let review = look(&session);
    assert_eq!(review.hash, journal::sha256_hex(PASS.as_bytes()));
    assert!(decide(&session, &review, "approve", "").unwrap());
    session.step_to("COMPLETE");
    refused(&session, &review, "run_over");
    let report = session.read("report.md");
    assert!(
        report.contains("elicitation") && report.contains("terminal"),
        "{report}"
    );
}

#[test]
fn long_feedback_is_heard_up_to_a_length_that_no_prompt_could_hold() {
    let session = gated(&["plan"], "PLANNED");
    let gate = look(&session);
    let long = |times| "Say more about the words. ".repeat(times);
    let fault = decide(&session, &gate, "reject", &long(20_000)).unwrap_err();
    assert_eq!(fault.code, "bad_input");
    decide(&session, &gate, "reject", &long(10_000)).unwrap();
    // The history is told all the same.
    let answer = session.blocked();
    let told = last(&answer);
    assert_eq!(
        (text(told, "phase"), text(told, "decision")),
        ("PLANNING", "reject")
    );
    let prompt = session.read("planning-prompt.md");
    assert!(prompt.contains(long(10_000).trim()));
    session.to("PLANNED");
}

#[test]
fn a_session_is_called_off_anywhere() {
    for phase in ["INITIALIZED", "GENERATING", "REVIEWING", "REVISING"] {
        let session = at(phase);
        let (before, files) = (session.status(), session.files());
        let answer = session.tm(&["cancel", "--reason", "not needed"]).ok();
        for (field, value) in [
            ("phase", "CANCELLED"),
            ("status", "CANCELLED"),
            ("last_error", "not needed"),
        ] {
            assert_eq!(answer[field], value, "{phase}");
        }
        let after = session.status();
        assert_eq!(history(&after).len(), history(&before).len() + 1);
        assert_eq!(files, session.files(), "its files stay");
        assert_eq!(session.tm(&["cancel"]).ok()["phase"], "CANCELLED");
        assert_eq!(session.person(&["reopen"]).0, 3, "{phase}");
    }
    let session = at("PLANNING");
    session.put(PLANNING, "no\0text\n");
    let before = session.step_to("ERROR");
    session.tm(&["cancel"]).fault(3, "run_over");
    assert_eq!(session.status()["phase_history"], before["phase_history"]);
}
