//! Gates: who decides what, and for how long it holds.

use machine::command::{Choice, Command, GateDecision};
use machine::{Approval, Strength};
use serde_json::json;

use crate::driver::ann;
use crate::session::{GATES, at, before, go_on, respond, with_gates};
use crate::tdd::code;

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
                assert_eq!(code(driver.rule(ruling)), "changed_since", "{gate} {at}");
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
fn a_gate_that_closes_again_takes_no_report() {
    let mut driver = before("code", 1);
    let told = driver.after("approve:review approve:code approve:code reject:code step");
    let opened = "(REVIEWING) (REVIEWING) !not_possible REVIEWING";
    assert_eq!(told, format!("!changed_since {opened}"));
    assert_eq!(at("PLANNED").after("reject:plan"), "!not_possible");
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
fn a_rejection_leads_back_and_asks_again_in_the_same_iteration() {
    for (gate, iteration, to, effects) in [
        ("plan", 0, "PLANNING", "response.aside plan.reset"),
        ("code", 1, "GENERATING", "response.aside code.reset"),
        ("code", 2, "REVISING", "response.aside code.reset"),
        ("review", 2, "REVIEWING", "response.aside"),
    ] {
        let mut driver = before(gate, iteration);
        // It says what to do otherwise.
        for blank in ["", "\n\t\u{a0}"] {
            assert_eq!(code(driver.reject(gate, blank)), "usage");
        }
        let from = driver.state().to_owned();
        let (begin, done) = (driver.events.len(), driver.carried_out.len());
        driver.reject(gate, "shorter, please").unwrap();
        assert_eq!(driver.carried_out[done..].join(" "), effects);
        let expected = json!({
            "token": 0, "from": from, "to": to, "cause": "reject", "reason": "shorter, please",
            "iteration": iteration, "decision": "reject",
        });
        assert_eq!(driver.moved(begin), expected);
        // The response stands aside, and a new prompt is asked for: in REVIEWING by the next step.
        let there = [driver.prompt(), driver.response()].map(|file| driver.files.contains(&file));
        assert_eq!(there, [to != "REVIEWING", false], "{gate}");
        // What it was rejected for is told to whoever is asked now.
        let told = driver.run.tokens[0].reason.as_deref();
        assert_eq!(told, Some("shorter, please"), "{gate}");
        // The gate is closed before what comes next, though it has the same hash.
        while driver.state() != from {
            go_on(&mut driver);
        }
        assert_eq!(driver.step().unwrap_err().details["gate"], gate);
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
