//! Gates: who decides what, and for how long it holds.

use machine::command::{Choice, Command, GateDecision};
use machine::{Approval, RunStatus, Strength};
use serde_json::{Value, json};

use crate::driver::{Driver, ann};
use crate::session::{GATES, at, before, go_on, lead, respond, with_gates};
use crate::support::REVIEW;
use crate::tdd::code;

#[test]
fn a_gate_that_nobody_asked_for_is_open() {
    for (gate, phase) in GATES {
        let mut driver = at(phase);
        let decided = driver.after(&format!("approve:{gate} reject:{gate}"));
        assert_eq!(decided, "!gate_open !gate_open");
        go_on(&mut driver);
        assert_ne!(driver.state(), phase);
    }
}

#[test]
fn an_approval_opens_its_gate_and_does_nothing_else() {
    for (gate, phase) in GATES {
        let mut driver = before(gate, 1);
        assert_eq!(code(driver.step()), "blocked");
        let begin = driver.events.len();
        driver.approve(gate).unwrap();
        // Said twice is said once.
        driver.approve(gate).unwrap();
        let [(_, made)] = &driver.events[begin..] else {
            panic!("{:?}", driver.names(begin));
        };
        let (name, mut made) = made.to_fields();
        made.shift_remove("keep");
        let expected = json!({
            "gate": gate, "state": phase, "iteration": driver.round(), "hash": "h",
            "choice": "approve", "approval": ann(),
        });
        assert_eq!(name.as_str(), "decision:made");
        assert_eq!(Value::Object(made), expected);
        let after_all = driver.reject(gate, "after all");
        assert_eq!(code(after_all), "already_approved");
        go_on(&mut driver);
        assert_ne!(driver.state(), phase);
    }
}

#[test]
fn every_gate_is_opened_by_itself() {
    let all = json!({ "planGate": "human", "codeGate": "human", "reviewGate": "human" });
    let mut driver = with_gates(all, "PLANNED");
    for (gate, phase) in GATES {
        while driver.state() != phase {
            go_on(&mut driver);
        }
        // What was approved before, under any hash, opens nothing here.
        assert_eq!(driver.step().unwrap_err().details["gate"], gate);
        for (other, _) in GATES.into_iter().filter(|(other, _)| *other != gate) {
            assert_eq!(code(driver.approve(other)), "gate_moved", "{other}");
        }
        driver.approve(gate).unwrap();
        assert_eq!(driver.run.approvals.last().unwrap().gate, gate);
    }
    respond(&mut driver, "SUCCESS");
    driver.step().unwrap();
    assert_eq!(driver.status(), RunStatus::Completed);
}

#[test]
fn a_decision_holds_for_what_was_looked_at() {
    let elsewhere: [fn(&mut GateDecision); 4] = [
        |ruling| ruling.state = "GENERATED".to_owned(),
        |ruling| ruling.round = ruling.round.map(|round| round + 1),
        |ruling| ruling.round = None,
        |ruling| ruling.gate = "door".to_owned(),
    ];
    for (gate, _) in GATES {
        for choice in [Choice::Approve, Choice::Reject] {
            let mut driver = before(gate, 1);
            let looked_at = driver.ruling(gate, choice, "not like this");
            for (at, change) in elsewhere.iter().enumerate() {
                let mut ruling = looked_at.clone();
                change(&mut ruling);
                assert_eq!(code(driver.rule(ruling)), "gate_moved", "{gate} {at}");
            }
            driver.subjects.insert(gate.to_owned(), "h2".to_owned());
            let refusal = driver.rule(looked_at.clone()).unwrap_err();
            assert_eq!(refusal.code, "changed_since");
            let told = [&refusal.details["lookedAt"], &refusal.details["found"]];
            assert_eq!(told, ["h", "h2"]);
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
        assert_eq!(code(driver.step()), "blocked");
        driver.approve(gate).unwrap();
        go_on(&mut driver);
        assert_ne!(driver.state(), phase);
    }
}

#[test]
fn a_gate_that_closes_again_takes_no_report() {
    let mut driver = before("code", 1);
    assert_eq!(driver.after("approve:code step"), "(REVIEWING) REVIEWING");
    driver.subjects.insert("code".to_owned(), "h2".to_owned());
    respond(&mut driver, "SUCCESS");
    let asked = driver.asked.len();
    assert_eq!(driver.after("report step"), "!gate_closed !blocked");
    assert_eq!(driver.asked.len(), asked);
    // What somebody is to judge is not taken away before.
    let told = before("review", 1).after("reopen approve:review reopen");
    assert_eq!(told, "!gate_closed (REVIEWED) (REVIEWING)");
}

#[test]
fn an_approval_holds_where_the_phase_is_entered_again() {
    let gates = json!({ "codeGate": "human", "reviewGate": "human" });
    let mut driver = with_gates(gates, "REVIEWED");
    // The same code in the same iteration: the prompt is issued at once.
    let told = driver.after("reject:review step");
    assert_eq!(told, "(REVIEWING) REVIEWING-2");
    // Another code is not what was approved.
    driver.subjects.insert("code".to_owned(), "h2".to_owned());
    assert_eq!(driver.after("step"), "!blocked");
}

#[test]
fn an_approval_does_not_hold_in_the_next_iteration() {
    for gate in ["code", "review"] {
        let mut driver = before(gate, 1);
        driver.approve(gate).unwrap();
        let phase = driver.state().to_owned();
        go_on(&mut driver);
        lead(&mut driver, &phase);
        assert_eq!(driver.round(), Some(2));
        // Nothing has changed but the iteration.
        assert_eq!(driver.step().unwrap_err().details["gate"], gate);
        driver.approve(gate).unwrap();
        assert_eq!(driver.run.approvals.len(), 1);
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
        // It says what to do otherwise.
        for blank in ["", "  ", "\n\t\u{a0}"] {
            assert_eq!(code(driver.reject(gate, blank)), "no_feedback");
        }
        let from = driver.state().to_owned();
        let (begin, done) = (driver.events.len(), driver.carried_out.len());
        driver.reject(gate, "shorter, please").unwrap();
        assert_eq!(driver.carried_out[done..], *effects, "{name}");
        assert_eq!(driver.names(begin)[0], "decision:made", "{name}");
        let expected = json!({
            "token": 0, "from": from, "to": to, "cause": "reject", "reason": "shorter, please",
            "iteration": iteration, "decision": "reject",
        });
        assert_eq!(driver.moved(begin), expected);
        // The response stands aside, and a new prompt is asked for: in REVIEWING by the next step.
        assert!(!driver.files.contains(&driver.response()), "{name}");
        let asked = driver.files.contains(&driver.prompt());
        let issued = driver.names(begin).contains(&"unit:issued".to_owned());
        assert_eq!([asked, issued], [to != "REVIEWING"; 2], "{name}");
        // What it was rejected for is told to whoever is asked now.
        let told = driver.run.tokens[0].reason.as_deref();
        assert_eq!(told, Some("shorter, please"), "{name}");
        // The gate is closed before what comes next, though it has the same hash.
        while driver.state() != from {
            go_on(&mut driver);
        }
        assert_eq!(driver.step().unwrap_err().details["gate"], gate, "{name}");
    }
}

#[test]
fn the_same_thing_can_be_rejected_again_and_again() {
    let mut driver = before("plan", 0);
    for time in 1..4 {
        driver.reject("plan", "still not").unwrap();
        assert_eq!(driver.unit(), format!("PLANNING-{}", time + 1));
        go_on(&mut driver);
    }
    // A paused session takes no decision.
    let told = driver.after("pause approve:plan resume approve:plan step");
    assert_eq!(told, "paused:lunch !paused (PLANNED) (PLANNED) GENERATING");
}

#[test]
fn what_a_rejection_began_is_finished_with_its_decision() {
    let mut driver = before("plan", 0);
    driver.hold = true;
    driver.reject("plan", "no").unwrap();
    // The process dies here; the next one has nothing but the journal.
    driver.run = driver.replayed();
    let begin = driver.events.len();
    driver.settle();
    let moved = driver.moved(begin);
    assert_eq!([&moved["decision"], &moved["reason"]], ["reject", "no"]);
}

#[test]
fn a_gate_of_no_known_mode_is_a_fault_of_the_definition() {
    let text = REVIEW.replace(
        "gates: { plan: =inputs.planGate,",
        "gates: { plan: \"=inputs.planGate == 'signed' ? 'closed' : 'shut'\",",
    );
    let mut driver = Driver::new(&text);
    let gates = json!({ "plan": "signed", "code": "auto", "review": "auto" });
    let config = json!({ "maxIterations": 10, "gates": gates });
    driver.start(json!({}), config).unwrap();
    lead(&mut driver, "PLANNED");
    assert_eq!(driver.after("step abort"), "!definition_fault cancelled");
}

#[test]
fn a_decision_is_held_against_what_the_gate_and_the_run_ask_for() {
    use Strength::{Client, Signed, Terminal};
    for (mode, of_gate) in [
        ("human", Client),
        ("terminal", Terminal),
        ("signed", Signed),
    ] {
        for strength in [None, Some(Client), Some(Terminal), Some(Signed)] {
            for of_run in [Client, Signed] {
                let mut driver = with_gates(json!({ "planGate": mode }), "PLANNED");
                driver.run.least_approval = of_run;
                let mut ruling = driver.ruling("plan", Choice::Approve, "");
                ruling.approval = strength.map(|strength| Box::new(Approval { strength, ..ann() }));
                let done = driver.send(&Command::Decide(Box::new(ruling)));
                let expected = match strength {
                    None => Some("needs_person"),
                    Some(strength) if strength < of_gate.max(of_run) => Some("approval_too_weak"),
                    Some(_) => None,
                };
                let refused = done.err().map(|refusal| refusal.code);
                assert_eq!(refused.as_deref(), expected, "{mode} {strength:?}");
                let kept = driver.run.approvals.first();
                let kept = kept.map(|approval| approval.strength);
                assert_eq!(kept, strength.filter(|_| expected.is_none()));
            }
        }
    }
}
