//! An approval is for one gate, one iteration and one content, whoever else is at work.

use std::sync::Barrier;

use machine::command::Choice;

use super::stage::{CODE, FAIL, Stage};

/// How many approvals of each gate were recorded.
fn approvals(stage: &Stage, gate: &str) -> usize {
    stage
        .journal()
        .iter()
        .filter(|record| {
            record.event == "decision:made"
                && record.fields.get("gate").and_then(|gate| gate.as_str()) == Some(gate)
        })
        .count()
}

#[test]
fn two_approvals_at_once_open_one_gate_once() {
    for with_steps in [false, true] {
        let stage = Stage::planned();
        // All that comes next could be taken at once, but for the gate of the code.
        stage.write("iteration-1/generation-response.md", CODE);
        stage.write("iteration-1/review-response.md", FAIL);
        let gate = stage.gate();
        let begin = Barrier::new(if with_steps { 4 } else { 3 });
        let recorded: Vec<bool> = std::thread::scope(|scope| {
            let people: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        begin.wait();
                        stage.decide(&gate, Choice::Approve)
                    })
                })
                .collect();
            if with_steps {
                begin.wait();
                for _ in 0..8 {
                    stage.step();
                }
            }
            people
                .into_iter()
                .filter_map(|person| match person.join().unwrap() {
                    Ok(recorded) => Some(recorded),
                    Err(fault) => {
                        assert_eq!(fault.code, "gate_moved", "{fault:?}");
                        None
                    }
                })
                .collect()
        });
        assert_eq!(recorded.iter().filter(|recorded| **recorded).count(), 1);
        for _ in 0..8 {
            stage.step();
        }
        assert_eq!(approvals(&stage, "plan"), 1);
        assert_eq!(approvals(&stage, "code"), 0);
        let state = stage.state();
        assert_eq!(state.phase, "REVIEWING");
        let waits = state.waiting_for.unwrap();
        assert_eq!(waits.gate.as_deref(), Some("code"));
        // The one that was taken before says nothing of this gate, whenever it comes.
        let fault = stage.decide(&gate, Choice::Approve).unwrap_err();
        assert_eq!(fault.code, "gate_moved");
    }
}

#[test]
fn approving_and_rejecting_at_once_is_one_decision() {
    let stage = Stage::generated();
    let gate = stage.gate();
    let begin = Barrier::new(2);
    std::thread::scope(|scope| {
        for choice in [Choice::Approve, Choice::Reject] {
            let (stage, gate, begin) = (&stage, &gate, &begin);
            scope.spawn(move || {
                begin.wait();
                if let Err(fault) = stage.decide(gate, choice) {
                    let known = ["gate_moved", "already_approved"].contains(&fault.code.as_str());
                    assert!(known, "{fault:?}");
                }
            });
        }
    });
    assert_eq!(approvals(&stage, "code"), 1);
}

#[test]
fn what_was_changed_since_is_not_approved() {
    let stage = Stage::planned();
    let gate = stage.gate();
    stage.write("plan.md", "Something else.\n");
    let fault = stage.decide(&gate, Choice::Approve).unwrap_err();
    assert_eq!(fault.code, "changed_since");

    let stage = Stage::generated();
    let gate = stage.gate();
    stage.write("iteration-1/code/count.sh", "rm -rf /\n");
    let fault = stage.decide(&gate, Choice::Approve).unwrap_err();
    assert_eq!(fault.code, "changed_since");
    stage.engine().session_restore(Some(&stage.id)).unwrap();
    assert!(stage.decide(&gate, Choice::Approve).unwrap());
}

#[test]
fn a_gate_of_before_is_another_gate() {
    let stage = Stage::generated();
    let first = stage.gate();
    assert!(stage.decide(&first, Choice::Reject).unwrap());
    let fault = stage.decide(&first, Choice::Approve).unwrap_err();
    assert_eq!(fault.code, "gate_moved");
    stage.write(
        "iteration-1/generation-response.md",
        "<<<FILE: count.sh>>>\nwc --words\n",
    );
    stage.step();
    stage.step();
    // The same gate in the same iteration, before other code.
    let fault = stage.decide(&first, Choice::Approve).unwrap_err();
    assert_eq!(fault.code, "changed_since");
    let second = stage.gate();
    stage.approve();
    stage.step();
    stage.write("iteration-1/review-response.md", FAIL);
    stage.step();
    stage.approve();
    stage.step();
    stage.write(
        "iteration-2/revision-response.md",
        "<<<FILE: count.sh>>>\nwc --words\n",
    );
    stage.step();
    stage.step();
    // The very same code, in another iteration.
    let third = stage.gate();
    assert_eq!((third.iteration, &third.hash), (2, &second.hash));
    let fault = stage.decide(&second, Choice::Approve).unwrap_err();
    assert_eq!(fault.code, "gate_moved");
    assert!(stage.decide(&third, Choice::Approve).unwrap());
}
