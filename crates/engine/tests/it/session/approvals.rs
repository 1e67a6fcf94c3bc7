//! An approval is for one gate, one iteration and one content, whoever else is at work.

use engine::view::SESSION;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use machine::command::Choice;

use super::stage::{CODE, FAIL, Stage};

/// How many approvals of each gate were recorded.
fn approvals(stage: &Stage, gate: &str) -> usize {
    let journal = crate::journal(&stage.dir).into_iter();
    let of_gate =
        journal.filter(|record| record.event == "decision:made" && record.fields["gate"] == gate);
    of_gate.count()
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
        let recorded = std::thread::scope(|scope| {
            let approve = || {
                begin.wait();
                stage.decide(&gate, Choice::Approve)
            };
            let people = [(); 3].map(|()| scope.spawn(approve));
            if with_steps {
                begin.wait();
                for _ in 0..8 {
                    stage.step();
                }
            }
            people.map(|person| {
                person.join().unwrap().unwrap_or_else(|fault| {
                    assert_eq!(fault.code, "changed_since", "{fault:?}");
                    false
                })
            })
        });
        assert_eq!(recorded.iter().filter(|recorded| **recorded).count(), 1);
        for _ in 0..8 {
            stage.step();
        }
        let counted = ["plan", "code"].map(|gate| approvals(&stage, gate));
        assert_eq!(counted, [1, 0]);
        let state = stage.state();
        assert_eq!(state.phase, "REVIEWING");
        assert_eq!(state.next_action.gate.unwrap().gate, "code");
        // The one that was taken before says nothing of this gate, whenever it comes.
        stage.not_approved(&gate, "changed_since");
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
                    let known = ["changed_since", "not_possible"].contains(&fault.code.as_str());
                    assert!(known, "{fault:?}");
                }
            });
        }
    });
    assert_eq!(approvals(&stage, "code"), 1);
}

#[test]
fn a_gate_is_approved_as_it_was_seen() {
    let stage = Stage::planned();
    let gate = stage.gate();
    stage.write("plan.md", "Something else.\n");
    stage.not_approved(&gate, "changed_since");

    let stage = Stage::generated();
    let first = stage.gate();
    stage.write("iteration-1/code/count.sh", "rm -rf /\n");
    stage.not_approved(&first, "changed_since");
    stage.engine().restore(&SESSION, Some(&stage.id)).unwrap();
    stage.reject("Otherwise.");
    stage.not_approved(&first, "changed_since");
    let words = "<<<FILE: count.sh>>>\nwc --words\n";
    stage.codes("iteration-1/generation-response.md", words);
    // The same gate in the same iteration, before other code.
    stage.not_approved(&first, "changed_since");
    let second = stage.gate();
    stage.goes_on();
    stage.fails_review(1);
    stage.codes("iteration-2/revision-response.md", words);
    // The very same code, in another iteration.
    let third = stage.gate();
    assert_eq!((third.iteration, &third.hash), (2, &second.hash));
    stage.not_approved(&second, "changed_since");
    assert!(stage.decide(&third, Choice::Approve).unwrap());
}

/// How often the code is sent back and written anew.
const ROUNDS: usize = 8;

/// Whoever looks while somebody is at work sees the session before it or after it.
#[test]
fn half_of_an_effect_is_not_taken_for_somebodys_doing() {
    let stage = Stage::generated();
    let over = AtomicBool::new(false);
    let look = || {
        while !over.load(Ordering::Acquire) {
            let state = stage.state();
            let blocked = state.next_action.blocked_by;
            assert_eq!((state.tampered, blocked), (Vec::new(), None));
            if let Err(fault) = stage.engine().gate(&SESSION, Some(&stage.id)) {
                assert_eq!(fault.code, "not_possible", "{fault:?}");
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(look);
        scope.spawn(look);
        for _ in 0..ROUNDS {
            stage.reject("Otherwise.");
            stage.codes("iteration-1/generation-response.md", CODE);
        }
        over.store(true, Ordering::Release);
    });
    assert_eq!(stage.state().phase, "REVIEWING");
}
