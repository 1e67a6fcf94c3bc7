//! Many processes at one session, and many sessions at once.

use std::process::Child;
use std::sync::Barrier;

use engine::Channel;
use engine::view::session::answer::ClosedGate;
use engine::view::session::request::{Decide, Reopen, Response};
use serde_json::json;

use super::stage::{Stage, agree_when};
use super::story::{ANSWERED, Act, STORY};
use super::whole::Whole;
use testkit::Outcome;

/// How many are at it at once.
const CROWD: usize = 8;

/// Which phases follow which.
const MAY_FOLLOW: [(&str, &[&str]); 12] = [
    ("INITIALIZED", &["PLANNING"]),
    ("PLANNING", &["PLANNED", "ERROR"]),
    ("PLANNED", &["GENERATING", "PLANNING"]),
    ("GENERATING", &["GENERATED", "ERROR"]),
    ("GENERATED", &["REVIEWING"]),
    ("REVIEWING", &["REVIEWED", "GENERATING", "REVISING"]),
    ("REVIEWED", &["COMPLETE", "REVISING", "REVIEWING", "ERROR"]),
    ("REVISING", &["REVISED"]),
    ("REVISED", &["REVIEWING", "ERROR"]),
    (
        "ERROR",
        &["PLANNING", "GENERATING", "REVIEWING", "REVISING"],
    ),
    ("COMPLETE", &[]),
    ("CANCELLED", &[]),
];

fn steps(stage: &Stage, count: usize) -> Vec<Child> {
    (0..count)
        .map(|_| {
            stage
                .program(&["session", "step", "--json"])
                .spawn()
                .unwrap()
        })
        .collect()
}

/// Waits for them. Nobody may be told more than that the session waits, or was moved by another. How many took a step.
fn ended(children: Vec<Child>) -> u64 {
    let mut advanced = 0;
    for child in children {
        let ran = Outcome::waited(child);
        assert!(matches!(ran.status, 0 | 7 | 8), "{ran:?}");
        if ran.json()["advanced"] == true {
            advanced += 1;
        }
    }
    advanced
}

/// A session at an act of a story, with a copy of everything.
fn at(story: &[Act], gates: &str, acts: usize) -> Stage {
    let stage = Stage::new();
    for act in &story[..acts] {
        let ran = act.on(&stage, gates, None);
        assert!(matches!(ran.status, 0 | 8), "{act:?}: {ran:?}");
    }
    stage.save(0);
    stage
}

/// Each transition is one that may be.
fn is_lawful(stage: &Stage) {
    let state = stage.state();
    for pair in state.phase_history.windows(2) {
        let (from, to) = (&pair[0].phase, &pair[1].phase);
        let may = MAY_FOLLOW
            .iter()
            .find(|(phase, _)| phase == from)
            .unwrap()
            .1;
        let ends = to == "CANCELLED" && !matches!(from.as_str(), "COMPLETE" | "CANCELLED");
        assert!(ends || may.contains(&to.as_str()), "{from} to {to}");
        assert!(pair[1].iteration - pair[0].iteration <= 1, "{pair:?}");
    }
    assert_eq!(state.phase_history.len() as u64, state.phase_history_total);
    Whole::of(stage);
}

#[test]
fn eight_steps_at_once_take_each_transition_once() {
    let whole = at(ANSWERED, "auto", ANSWERED.len());
    let wanted = Whole::of(&whole).history;
    // From every phase on.
    for acts in 6..ANSWERED.len() {
        let stage = at(ANSWERED, "auto", acts);
        while stage.state().status == "IN_PROGRESS" {
            let before = stage.state().phase_history_total;
            let advanced = ended(steps(&stage, CROWD));
            let after = stage.state().phase_history_total;
            assert_eq!(after - before, advanced, "from act {acts}");
            assert!(advanced > 0);
        }
        assert_eq!(Whole::of(&stage).history, wanted, "from act {acts}");
        is_lawful(&stage);
    }
}

#[test]
fn sixteen_sessions_begin_at_once() {
    let stage = Stage::new();
    let children: Vec<Child> = (0..16)
        .map(|_| {
            stage
                .program(&["session", "init", "-i", "request=x", "--json"])
                .spawn()
                .unwrap()
        })
        .collect();
    let mut ids: Vec<String> = children
        .into_iter()
        .map(|child| {
            let ran = Outcome::waited(child);
            assert_eq!(ran.status, 0, "{ran:?}");
            ran.json()["session_id"].as_str().unwrap().to_owned()
        })
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 16);
    assert_eq!(stage.engine().session_list().unwrap().len(), 16);
    assert_eq!(stage.runs().len(), 16);
    for id in ids {
        stage.tm_with(&["step", &id], 0);
    }
}

fn decision(gate: &ClosedGate, choice: &str) -> Decide {
    Decide {
        gate: gate.clone(),
        choice: serde_json::from_value(json!(choice)).unwrap(),
        feedback: if choice == "reject" { "Otherwise." } else { "" }.to_owned(),
    }
}

/// Steps against somebody who responds, decides, calls off and takes up again, from wherever the story is.
#[test]
fn steps_against_everything_else() {
    // Before a response; at the three gates; in ERROR; at the cap.
    for acts in [2, 5, 12, 16, 24, 30] {
        let stage = at(STORY, "human", acts);
        for other in ["respond", "approve", "reject", "cancel", "reopen"] {
            stage.restore(0);
            let before = stage.state();
            let engine = stage.engine().asked(Channel::Terminal);
            let gate = engine.session_gate(None);
            let answer = stage.temporary().join("answer");
            std::fs::write(&answer, "An answer.\n").unwrap();
            let children = steps(&stage, 4);
            let done = match other {
                "respond" => engine
                    .session_respond(
                        None,
                        &Response {
                            bytes: b"An answer.\n",
                            ..Response::default()
                        },
                    )
                    .map(drop),
                "approve" | "reject" => {
                    gate.and_then(|gate| engine.session_decide(&decision(&gate, other)).map(drop))
                }
                "cancel" => engine.session_cancel(None, "").map(drop),
                _ => engine
                    .session_reopen(
                        None,
                        &Reopen {
                            max_iterations: (before.phase == "REVIEWED").then_some(5),
                            ..Reopen::default()
                        },
                    )
                    .map(drop),
            };
            ended(children);
            if let Err(fault) = done {
                assert!(
                    matches!(fault.kind.exit_status(), 2 | 3 | 5),
                    "{acts} {other}: {fault:?}"
                );
            }
            is_lawful(&stage);
            // It goes on, or is over.
            let state = stage.state();
            if state.status == "IN_PROGRESS" {
                stage.engine().session_step(None).unwrap();
            }
        }
    }
}

/// Two people type the code back at the same time.
#[test]
fn two_approvals_open_one_gate() {
    let stage = at(STORY, "human", 8);
    for text in [
        "iteration-1/generation-response.md",
        "iteration-1/review-response.md",
    ] {
        stage.write(text, super::story::CODE);
    }
    // Both have read the plan before one of them agrees: who comes after the steps is rightly asked for the code.
    let asked = Barrier::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let ran = agree_when(stage.program(&["session", "approve"]), || {
                    asked.wait();
                });
                // Who comes second agrees to what is agreed already, or is told that there is no such gate any more.
                assert!(matches!(ran.status, 0 | 3 | 5), "{ran:?}");
            });
        }
        scope.spawn(|| {
            for _ in 0..4 {
                ended(steps(&stage, 2));
            }
        });
    });
    ended(steps(&stage, 6));
    let state = stage.state();
    assert_eq!(state.phase, "REVIEWING");
    let gate = state.waiting_for.and_then(|waits| waits.gate);
    assert_eq!(gate.as_deref(), Some("code"));
    is_lawful(&stage);
}
