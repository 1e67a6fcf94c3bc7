//! Whoever looks while somebody is at work sees the session before it or after it.

use std::sync::atomic::{AtomicBool, Ordering};

use machine::command::Choice;

use super::stage::{CODE, Stage};

/// How often the code is sent back and written anew.
const ROUNDS: usize = 12;

#[test]
fn half_of_an_effect_is_not_taken_for_somebodys_doing() {
    let stage = Stage::generated();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::Acquire) {
                    let state = stage.state();
                    assert!(state.tampered.is_empty(), "{:?}", state.tampered);
                    let reason = state.waiting_for.and_then(|waits| waits.reason);
                    assert_eq!(reason, None);
                    if let Err(fault) = stage.engine().session_gate(Some(&stage.id)) {
                        assert_eq!(fault.code, "no_gate", "{fault:?}");
                    }
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                assert!(stage.decide(&stage.gate(), Choice::Reject).unwrap());
                stage.write("iteration-1/generation-response.md", CODE);
                stage.step();
                stage.step();
            }
            over.store(true, Ordering::Release);
        });
    });
    assert_eq!(stage.state().phase, "REVIEWING");
}
