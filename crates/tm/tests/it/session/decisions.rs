//! Decisions on what was looked at, as any caller may give them: never on something else.

use engine::view::session::answer::ClosedGate;
use engine::view::session::request::Decide;
use engine::{Channel, Engine, Fault, OpenOptions};
use serde_json::json;
use workspace::config::Environment;

use super::environment::{BUNDLE, Env, FAIL, PASS, PLAN, Session, text};

fn engine(env: &Env) -> Engine {
    let environment: Environment = [
        ("HOME", env.home()),
        ("TRAMLINE_HOME", env.home().join("store")),
    ]
    .into_iter()
    .map(|(name, path)| (name.to_owned(), path.to_str().unwrap().to_owned()))
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
    session: &Session<'_>,
    gate: &ClosedGate,
    choice: &str,
    feedback: &str,
) -> Result<bool, Fault> {
    let decide = Decide {
        gate: gate.clone(),
        choice: serde_json::from_value(json!(choice)).unwrap(),
        feedback: feedback.to_owned(),
    };
    let asked = engine(session.env).asked(Channel::Elicitation("wire 1".to_owned()));
    let decided = asked.session_decide(&decide)?;
    assert_eq!(decided.how, "elicitation by wire 1");
    Ok(decided.recorded)
}

/// Both decisions are refused with this code, and the session is as it was.
fn refused(session: &Session<'_>, gate: &ClosedGate, code: &str) {
    for choice in ["approve", "reject"] {
        let before = (session.files(), session.status());
        let fault = decide(session, gate, choice, "No.").unwrap_err();
        assert_eq!(fault.code, code, "{choice} {gate:?}: {}", fault.message);
        assert!(!fault.suggestion.is_empty(), "{code}");
        assert_eq!(before, (session.files(), session.status()), "{code}");
    }
}

fn look(session: &Session<'_>) -> ClosedGate {
    let before = session.env.everything();
    let gate = engine(session.env).session_gate(Some(&session.id)).unwrap();
    before.assert_same(&session.env.everything(), "a look at a gate");
    gate
}

fn gated(env: &Env) -> Session<'_> {
    env.begin_with(&[
        "-i",
        "request=x",
        "--gate",
        "plan=human",
        "--gate",
        "code=human",
        "--gate",
        "review=human",
    ])
}

#[test]
fn one_on_a_plan() {
    let env = Env::new();
    let session = gated(&env);
    let early = engine(&env).session_gate(None).unwrap_err();
    assert_eq!(early.code, "no_gate");
    session.to_planned();
    let gate = look(&session);
    assert_eq!(
        (gate.gate.as_str(), gate.phase.as_str()),
        ("plan", "PLANNED")
    );
    assert_eq!(gate.hash, journal::sha256_hex(PLAN.as_bytes()));
    assert_eq!(gate.look_at, [session.folder.join("plan.md")]);
    assert!(!gate.edited);
    session.put("plan.md", "# Another\n");
    assert!(look(&session).edited, "whoever looks is told");
    refused(&session, &gate, "changed_since");
    session.put("plan.md", PLAN);
    for wrong in [
        ClosedGate {
            gate: "code".to_owned(),
            ..gate.clone()
        },
        ClosedGate {
            phase: "REVIEWING".to_owned(),
            ..gate.clone()
        },
        ClosedGate {
            round: Some(1),
            ..gate.clone()
        },
        ClosedGate {
            gate: "none".to_owned(),
            ..gate.clone()
        },
    ] {
        refused(&session, &wrong, "gate_moved");
    }
    assert_eq!(
        decide(&session, &gate, "reject", " \n").unwrap_err().code,
        "no_feedback"
    );
    decide(&session, &gate, "reject", "Think again.").unwrap();
    refused(&session, &gate, "gate_moved");
    session.put("planning-response.md", "# Another\n");
    session.step_to("PLANNED");
    refused(&session, &gate, "changed_since");
    let gate = look(&session);
    assert!(decide(&session, &gate, "approve", "").unwrap());
    assert!(
        !decide(&session, &gate, "approve", "").unwrap(),
        "said before"
    );
    assert_eq!(
        decide(&session, &gate, "reject", "No.").unwrap_err().code,
        "already_approved"
    );
    session.step_to("GENERATING");
    refused(&session, &gate, "gate_moved");
}

#[test]
fn one_on_code_holds_for_its_iteration_alone() {
    let env = Env::new();
    let session = gated(&env);
    session.to_planned();
    session.approve();
    session.step_to("GENERATING");
    session.generate(BUNDLE);
    let first = look(&session);
    assert_eq!(first.look_at, [session.folder.join("iteration-1/code")]);
    assert!(decide(&session, &first, "approve", "").unwrap());
    session.review(1, FAIL);
    refused(&session, &first, "gate_moved");
    session.approve();
    session.step_to("REVISING");
    session.revise(2, BUNDLE);
    let second = look(&session);
    assert_eq!(first.hash, second.hash, "the same code");
    refused(&session, &first, "gate_moved");
    assert!(decide(&session, &second, "approve", "").unwrap());
    session.review(2, PASS);
    let review = look(&session);
    assert_eq!(review.hash, journal::sha256_hex(PASS.as_bytes()));
    assert!(decide(&session, &review, "approve", "").unwrap());
    session.step_to("COMPLETE");
    refused(&session, &review, "run_over");
    let report = session.read("report.md");
    assert!(report.contains("elicitation"), "by which way: {report}");
    assert!(report.contains("terminal"), "by which way: {report}");
}

#[test]
fn one_that_nobody_asked_for() {
    let env = Env::new();
    let session = env.begin();
    session.to_planned();
    let gate = ClosedGate {
        session_id: session.id.clone(),
        gate: "plan".to_owned(),
        phase: "PLANNED".to_owned(),
        iteration: 0,
        round: Some(0),
        hash: journal::sha256_hex(PLAN.as_bytes()),
        ..ClosedGate::default()
    };
    refused(&session, &gate, "gate_open");
    assert_eq!(text(&session.step_to("GENERATING"), "phase"), "GENERATING");
}

#[test]
fn long_feedback_is_heard_up_to_a_length_that_no_prompt_could_hold() {
    let env = Env::new();
    let session = gated(&env);
    session.to_planned();
    let too_long = "Say more about the words. ".repeat(20_000);
    let refused = decide(&session, &look(&session), "reject", &too_long).unwrap_err();
    assert_eq!(refused.code, "bad_input");
    let long = "Say more about the words. ".repeat(10_000);
    decide(&session, &look(&session), "reject", &long).unwrap();
    let answer = session.blocked();
    let history = answer["phase_history"].as_array().unwrap();
    let last = history.last().unwrap_or_else(|| panic!("{answer:#}"));
    assert_eq!(text(last, "decision"), "reject");
    assert!(session.read("planning-prompt.md").contains(long.trim()));
    session.put("planning-response.md", PLAN);
    session.step_to("PLANNED");
}

#[test]
fn a_session_is_called_off_anywhere() {
    type Arrange = fn(&Session<'_>);
    let env = Env::new();
    let places: [Arrange; 5] = [
        |_| {},
        |session| session.to_generating(),
        |session| session.to_reviewing(),
        |session| session.to_revising(),
        |session| {
            session.step_to("PLANNING");
            session.put("planning-response.md", "no\0text\n");
            session.step_to("ERROR");
        },
    ];
    for (at, arrange) in places.into_iter().enumerate() {
        let session = env.begin();
        arrange(&session);
        let (before, files) = (session.status(), session.files());
        let answer = session.tm(&["cancel", "--reason", "not needed"]);
        if at == 4 {
            answer.fault(3, "run_over");
            assert_eq!(before, session.status());
            continue;
        }
        let answer = answer.ok();
        assert_eq!(text(&answer, "phase"), "CANCELLED");
        assert_eq!(text(&answer, "status"), "CANCELLED");
        assert_eq!(text(&answer, "last_error"), "not needed");
        let after = session.status();
        assert_eq!(
            after["phase_history"].as_array().unwrap().len(),
            before["phase_history"].as_array().unwrap().len() + 1
        );
        assert_eq!(files, session.files(), "its files stay");
        assert_eq!(text(&session.tm(&["cancel"]).ok(), "phase"), "CANCELLED");
        let (status, shown) = session.person(&["reopen"]);
        assert_eq!(status, 3, "{shown}");
    }
}
