//! Gates: who decides what, and for how long it holds.

use machine::command::{Choice, Command};
use machine::{Event, RunStatus};
use serde_json::json;

use crate::driver::{Driver, ann};
use crate::session::{GATES, at, before, go_on, lead, respond, with_gates};
use crate::support::REVIEW;
use crate::tdd::code;

#[test]
fn a_gate_that_nobody_asked_for_is_open() {
    for (gate, phase) in GATES {
        let mut driver = at(phase);
        assert_eq!(code(driver.approve(gate)), "gate_open", "{gate}");
        assert_eq!(code(driver.reject(gate, "no")), "gate_open", "{gate}");
        go_on(&mut driver);
        assert_ne!(driver.state(), phase);
    }
}

#[test]
fn an_approval_opens_its_gate_and_does_nothing_else() {
    for (gate, phase) in GATES {
        let mut driver = before(gate, 1);
        assert_eq!(code(driver.step()), "blocked", "{gate}");
        let (begin, moves) = (driver.events.len(), driver.run.transitions);
        let iteration = driver.round();
        driver.approve(gate).unwrap();
        let made: Vec<&Event> = driver.events[begin..]
            .iter()
            .map(|(_, event)| event)
            .collect();
        let [
            Event::DecisionMade {
                gate: of,
                state,
                iteration: round,
                hash,
                choice: Choice::Approve,
                feedback,
                approval,
                keep: _,
            },
        ] = made.as_slice()
        else {
            panic!("{gate}: {made:?}");
        };
        assert_eq!(
            (of.as_str(), state.as_str(), *round),
            (gate, phase, iteration)
        );
        assert_eq!((hash.as_str(), feedback.as_str()), ("h", ""));
        assert_eq!(*approval, ann());
        assert_eq!(
            (driver.state(), driver.run.transitions),
            (phase, moves),
            "{gate}"
        );
        // Said twice is said once.
        driver.approve(gate).unwrap();
        assert_eq!(driver.events.len(), begin + 1, "{gate}");
        assert_eq!(
            code(driver.reject(gate, "after all")),
            "already_approved",
            "{gate}"
        );
        go_on(&mut driver);
        assert_ne!(driver.state(), phase, "{gate}");
    }
}

#[test]
fn every_gate_is_opened_by_itself() {
    let all = json!({ "planGate": "human", "codeGate": "human", "reviewGate": "human" });
    let mut driver = with_gates(all, "PLANNED");
    for (index, (gate, phase)) in GATES.into_iter().enumerate() {
        assert_eq!(driver.state(), phase);
        // What was approved before, under any hash, opens nothing here.
        assert_eq!(driver.step().unwrap_err().details["gate"], gate);
        for (other, _) in GATES.into_iter().filter(|(other, _)| *other != gate) {
            assert_eq!(
                code(driver.approve(other)),
                "gate_moved",
                "{other} at {phase}"
            );
        }
        driver.approve(gate).unwrap();
        assert_eq!(driver.run.approvals.last().unwrap().gate, gate);
        if let Some((_, next)) = GATES.get(index + 1) {
            while driver.state() != *next {
                go_on(&mut driver);
            }
        }
    }
    respond(&mut driver, "SUCCESS");
    driver.step().unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn a_decision_holds_for_what_was_looked_at() {
    for (gate, _) in GATES {
        for choice in [Choice::Approve, Choice::Reject] {
            let mut driver = before(gate, 1);
            let looked_at = driver.ruling(gate, choice, "not like this");

            let mut elsewhere = looked_at.clone();
            elsewhere.state = "GENERATED".to_owned();
            assert_eq!(code(driver.rule(elsewhere)), "gate_moved", "{gate}");
            let mut later = looked_at.clone();
            later.round = Some(looked_at.round.unwrap() + 1);
            assert_eq!(code(driver.rule(later)), "gate_moved", "{gate}");
            let mut uncounted = looked_at.clone();
            uncounted.round = None;
            assert_eq!(code(driver.rule(uncounted)), "gate_moved", "{gate}");
            let mut unknown = looked_at.clone();
            unknown.gate = "door".to_owned();
            assert_eq!(code(driver.rule(unknown)), "gate_moved", "{gate}");

            driver.subjects.insert(gate.to_owned(), "h2".to_owned());
            let refusal = driver.rule(looked_at.clone()).unwrap_err();
            assert_eq!(refusal.code, "changed_since", "{gate}");
            assert_eq!(refusal.details["lookedAt"], "h");
            assert_eq!(refusal.details["found"], "h2");
            assert!(driver.run.approvals.is_empty());

            driver.subjects.clear();
            driver.rule(looked_at).unwrap();
        }
    }
}

#[test]
fn what_changes_behind_an_open_gate_closes_it() {
    for (gate, phase) in GATES {
        let mut driver = before(gate, 1);
        driver.approve(gate).unwrap();
        driver.subjects.insert(gate.to_owned(), "h2".to_owned());
        assert_eq!(driver.step().unwrap_err().details["gate"], gate);
        driver.approve(gate).unwrap();
        // The newer decision stands; what was said of other bytes before counts no more.
        driver.subjects.clear();
        assert_eq!(code(driver.step()), "blocked", "{gate}");
        driver.approve(gate).unwrap();
        go_on(&mut driver);
        assert_ne!(driver.state(), phase);
    }
}

#[test]
fn a_gate_that_closes_again_takes_no_report() {
    let mut driver = before("code", 1);
    driver.approve("code").unwrap();
    driver.step().unwrap();
    assert_eq!(driver.unit(), "REVIEWING");
    driver.subjects.insert("code".to_owned(), "h2".to_owned());
    assert_eq!(code(driver.report(json!({}))), "gate_closed");
    respond(&mut driver, "SUCCESS");
    let asked = driver.asked.len();
    assert_eq!(code(driver.step()), "blocked");
    assert_eq!(driver.asked.len(), asked);
}

#[test]
fn what_somebody_is_to_judge_is_not_taken_away_before() {
    let mut driver = before("review", 1);
    let state = driver.state().to_owned();
    assert_eq!(code(driver.reopen()), "gate_closed");
    assert_eq!(driver.state(), state);
    driver.approve("review").unwrap();
    driver.reopen().unwrap();
    assert_eq!(driver.state(), "REVIEWING");
}

#[test]
fn an_approval_holds_where_the_phase_is_entered_again() {
    let mut driver = with_gates(
        json!({ "codeGate": "human", "reviewGate": "human" }),
        "REVIEWED",
    );
    driver.reject("review", "look at the errors too").unwrap();
    assert_eq!(driver.state(), "REVIEWING");
    // The same code in the same iteration: the prompt is issued at once.
    driver.step().unwrap();
    assert_eq!(driver.unit(), "REVIEWING-2");
    // Another code is not what was approved.
    driver.subjects.insert("code".to_owned(), "h2".to_owned());
    assert_eq!(code(driver.step()), "blocked");
}

#[test]
fn an_approval_does_not_hold_in_the_next_iteration() {
    for gate in ["code", "review"] {
        let mut driver = before(gate, 1);
        driver.approve(gate).unwrap();
        let phase = driver.state().to_owned();
        go_on(&mut driver);
        lead(&mut driver, &phase);
        assert_eq!(driver.round(), Some(2), "{gate}");
        // Nothing has changed but the iteration.
        assert_eq!(driver.step().unwrap_err().details["gate"], gate);
        driver.approve(gate).unwrap();
        assert_eq!(driver.run.approvals.len(), 1, "{gate}");
        go_on(&mut driver);
        assert_ne!(driver.state(), phase);
    }
}

/// A rejection: the gate, the iteration, where it leads, and what is done on the way.
const REJECTIONS: [(&str, i64, &str, &[&str]); 5] = [
    ("plan", 0, "PLANNING", &["response.aside", "plan.reset"]),
    ("code", 1, "GENERATING", &["response.aside", "code.reset"]),
    ("code", 2, "REVISING", &["response.aside", "code.reset"]),
    ("review", 1, "REVIEWING", &["response.aside"]),
    ("review", 2, "REVIEWING", &["response.aside"]),
];

#[test]
fn a_rejection_leads_back_and_asks_again_in_the_same_iteration() {
    for (gate, iteration, to, effects) in REJECTIONS {
        let name = format!("{gate} in iteration {iteration}");
        let mut driver = before(gate, iteration);
        let from = driver.state().to_owned();
        let (begin, done) = (driver.events.len(), driver.carried_out.len());
        driver.reject(gate, "shorter, please").unwrap();
        assert_eq!(driver.carried_out[done..], *effects, "{name}");
        assert_eq!(driver.names(begin)[0], "decision:made", "{name}");
        let moves = driver.moves(begin);
        let [
            Event::StateEntered {
                from: left,
                to: entered,
                cause,
                reason,
                iteration: round,
                outcome,
                decision,
                ..
            },
        ] = moves.as_slice()
        else {
            panic!("{name}: {moves:?}");
        };
        assert_eq!(
            (left, entered.as_str(), cause.name()),
            (&from, to, "reject"),
            "{name}"
        );
        assert_eq!(
            (*round, *decision),
            (Some(iteration), Some(Choice::Reject)),
            "{name}"
        );
        assert_eq!(
            (reason.as_deref(), outcome),
            (Some("shorter, please"), &None),
            "{name}"
        );
        // The response stands aside, and a new prompt is asked for: in REVIEWING by the next step.
        assert!(!driver.files.contains(&driver.response()), "{name}");
        assert_eq!(
            driver.files.contains(&driver.prompt()),
            to != "REVIEWING",
            "{name}"
        );
        let issued = driver.names(begin).iter().any(|name| name == "unit:issued");
        assert_eq!(issued, to != "REVIEWING", "{name}");
        // What it was rejected for is told to whoever is asked now.
        let told = driver.run.tokens[0].reason.as_deref();
        assert_eq!(told, Some("shorter, please"), "{name}");
        // The gate is closed before what comes next, though it has the same hash.
        lead_to_gate(&mut driver, &from);
        assert_eq!(driver.step().unwrap_err().details["gate"], gate, "{name}");
    }
}

/// Goes on to a phase behind a gate without opening it.
fn lead_to_gate(driver: &mut Driver, phase: &str) {
    for _ in 0..6 {
        if driver.state() == phase {
            return;
        }
        go_on(driver);
    }
    panic!("{phase} is never reached");
}

#[test]
fn a_rejection_says_what_to_do_otherwise() {
    for (gate, iteration, to, _) in REJECTIONS {
        let mut driver = before(gate, iteration);
        for blank in ["", "  ", "\n\t\u{a0}"] {
            assert_eq!(code(driver.reject(gate, blank)), "no_feedback", "{gate}");
        }
        driver.reject(gate, "x").unwrap();
        assert_eq!(driver.state(), to);
    }
}

#[test]
fn the_same_thing_can_be_rejected_again_and_again() {
    let mut driver = before("plan", 0);
    for time in 1..4 {
        driver.reject("plan", "still not").unwrap();
        assert_eq!(driver.unit(), format!("PLANNING-{}", time + 1));
        go_on(&mut driver);
        assert_eq!(driver.state(), "PLANNED");
    }
    driver.approve("plan").unwrap();
    driver.step().unwrap();
    assert_eq!(driver.state(), "GENERATING");
}

#[test]
fn a_paused_session_takes_no_decision() {
    let mut driver = before("plan", 0);
    driver.pause().unwrap();
    assert_eq!(code(driver.approve("plan")), "paused");
    driver.resume().unwrap();
    assert_eq!(code(driver.step()), "blocked");
    driver.approve("plan").unwrap();
}

#[test]
fn a_rejection_whose_effect_fails_leaves_the_session_where_it_was() {
    let mut driver = before("code", 2);
    driver
        .effects
        .insert("code.reset".to_owned(), Err("disk_full"));
    driver.reject("code", "no").unwrap();
    assert_eq!(
        (driver.state(), driver.paused_for()),
        ("REVIEWING", "disk_full")
    );
    driver.effects.clear();
    driver.resume().unwrap();
    assert_eq!(code(driver.step()), "blocked");
    driver.reject("code", "no").unwrap();
    assert_eq!((driver.state(), driver.round()), ("REVISING", Some(2)));
}

#[test]
fn what_a_rejection_began_is_finished_with_its_decision() {
    let mut driver = before("plan", 0);
    driver.hold = true;
    driver.reject("plan", "no").unwrap();
    assert_eq!(
        driver.run.pending.as_ref().unwrap().decision,
        Some(Choice::Reject)
    );
    // The process dies here; the next one has nothing but the journal.
    driver.run = driver.replayed();
    driver.hold = false;
    let begin = driver.events.len();
    driver.settle();
    let moves = driver.moves(begin);
    assert!(
        matches!(
            moves.as_slice(),
            [Event::StateEntered {
                decision: Some(Choice::Reject),
                reason: Some(_),
                ..
            }]
        ),
        "{moves:?}"
    );
}

#[test]
fn a_gate_of_no_known_mode_is_a_fault_of_the_definition() {
    let text = REVIEW.replace(
        "gates: { plan: =inputs.planGate,",
        "gates: { plan: \"=inputs.planGate == 'signed' ? 'closed' : 'shut'\",",
    );
    let mut driver = Driver::new(&text);
    let gates = json!({ "plan": "signed", "code": "auto", "review": "auto" });
    driver
        .start(json!({}), json!({ "maxIterations": 10, "gates": gates }))
        .unwrap();
    lead(&mut driver, "PLANNED");
    assert_eq!(code(driver.send(&Command::Step)), "definition_fault");
    driver.abort(json!({})).unwrap();
    assert_eq!(driver.status(), RunStatus::Cancelled);
}

#[test]
fn a_decision_is_held_against_what_the_gate_and_the_run_ask_for() {
    use machine::Strength::{Client, Signed, Terminal};
    for (mode, least) in [
        ("human", Client),
        ("terminal", Terminal),
        ("signed", Signed),
    ] {
        for strength in [None, Some(Client), Some(Terminal), Some(Signed)] {
            for run in [Client, Signed] {
                let mut driver = with_gates(json!({ "planGate": mode }), "PLANNED");
                driver.run.least_approval = run;
                let mut ruling = driver.ruling("plan", Choice::Approve, "");
                ruling.approval =
                    strength.map(|strength| Box::new(machine::Approval { strength, ..ann() }));
                let done = driver.send(&Command::Decide(Box::new(ruling)));
                let least = least.max(run);
                match strength {
                    None => assert_eq!(code(done), "needs_person"),
                    Some(strength) if strength < least => {
                        assert_eq!(code(done), "approval_too_weak", "{mode} {strength:?}");
                    }
                    Some(strength) => {
                        done.unwrap();
                        assert_eq!(driver.run.approvals[0].strength, strength);
                    }
                }
            }
        }
    }
}
