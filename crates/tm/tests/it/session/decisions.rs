//! Decisions on what was looked at, as any caller may give them: never on something else. What becomes of two at once, and of
//! one that comes late, is shown in `crates/engine/tests/it/session`.

use engine::view::session::answer::ClosedGate;
use engine::view::session::request::Decide;
use engine::{Channel, Engine, Fault, OpenOptions};
use serde_json::json;
use workspace::config::Environment;

use super::environment::{Env, PASS, PLAN, Session, gated};

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
fn one_that_is_about_something_else_is_refused() {
    let session = gated(&["plan", "review"], "PLANNED");
    let gate = look(&session);
    let looked = (&*gate.gate, &*gate.phase, gate.edited);
    assert_eq!(looked, ("plan", "PLANNED", false));
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
    let changes: [fn(&mut ClosedGate); 4] = [
        |gate| gate.gate = "code".to_owned(),
        |gate| gate.gate = "none".to_owned(),
        |gate| gate.phase = "REVIEWING".to_owned(),
        |gate| gate.round = Some(1),
    ];
    for change in changes {
        let mut wrong = gate.clone();
        change(&mut wrong);
        refused(&session, &wrong, "gate_moved");
    }
    let code = |feedback: &str| {
        let decided = decide(&session, &gate, "reject", feedback);
        decided.unwrap_err().code
    };
    assert_eq!(code(" \n"), "no_feedback");
    // Feedback is heard up to a length that no prompt could hold.
    assert_eq!(
        code(&"Say more about the words. ".repeat(20_000)),
        "bad_input"
    );
    let once = |again: bool| decide(&session, &gate, "approve", "").unwrap() != again;
    assert!(once(false) && once(true), "said before");
    assert_eq!(code("No."), "already_approved");
    session.to("REVIEWING");
    session.review(1, PASS);
    let review = look(&session);
    session.approve();
    session.step_to("COMPLETE");
    refused(&session, &review, "run_over");
    session.tm(&["cancel"]).fault(3, "run_over");
    let report = session.read("report.md");
    let ways = ["elicitation", "terminal"].map(|way| report.contains(way));
    assert_eq!(ways, [true; 2], "{report}");
}
