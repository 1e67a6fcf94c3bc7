//! Many processes at one session, and many sessions at once.

use std::collections::BTreeSet;
use std::process::Child;

use engine::Channel;
use engine::gate::{ClosedGate, Decide};
use engine::view::SESSION;
use engine::view::session::request::Response;
use engine::{Turn, Verb};
use serde_json::json;

use super::stage::Stage;
use super::story::{ANSWERED, Act, STORY};
use testkit::Outcome;

/// Which phases follow which.
const MAY_FOLLOW: [&str; 12] = [
    "INITIALIZED: PLANNING",
    "PLANNING: PLANNED ERROR",
    "PLANNED: GENERATING PLANNING",
    "GENERATING: GENERATED ERROR",
    "GENERATED: REVIEWING",
    "REVIEWING: REVIEWED GENERATING REVISING",
    "REVIEWED: COMPLETE REVISING REVIEWING ERROR",
    "REVISING: REVISED",
    "REVISED: REVIEWING ERROR",
    "ERROR: PLANNING GENERATING REVIEWING REVISING",
    "COMPLETE:",
    "CANCELLED:",
];

fn begun(stage: &Stage, count: usize, words: &[&str]) -> Vec<Child> {
    let words = [&["session"], words, &["--json"]].concat();
    let begin = |_| stage.program(&words).spawn().unwrap();
    (0..count).map(begin).collect()
}

/// Waits for steps. Nobody may be told more than that the session waits, or was moved by another. How many took one.
fn ended(children: Vec<Child>) -> u64 {
    let mut advanced = 0;
    for ran in children.into_iter().map(Outcome::waited) {
        assert!(matches!(ran.status, 0 | 7 | 8), "{ran:?}");
        advanced += u64::from(ran.json()["advanced"] == true);
    }
    advanced
}

/// Takes these acts of a story, in which everything goes well.
fn play(stage: &Stage, acts: &[Act], gates: &str) {
    for act in acts {
        let ran = act.on(stage, gates, None);
        assert!(matches!(ran.status, 0 | 8), "{act:?}: {ran:?}");
    }
}

/// Each transition is one that may be.
fn is_lawful(stage: &Stage) {
    let state = stage.state();
    for pair in state.phase_history.windows(2) {
        let (from, to) = (&*pair[0].phase, &*pair[1].phase);
        let mut rows = MAY_FOLLOW.iter().filter_map(|row| row.split_once(':'));
        let (_, may) = rows.find(|(phase, _)| *phase == from).unwrap();
        let ends = to == "CANCELLED" && !may.is_empty();
        let follows = may.split(' ').any(|phase| phase == to);
        assert!(ends || follows, "{from} to {to}");
        assert!(pair[1].iteration - pair[0].iteration <= 1, "{pair:?}");
    }
    assert_eq!(state.phase_history.len() as u64, state.phase_history_total);
}

/// From one phase to the next, until the session is over.
#[test]
fn many_steps_at_once_take_each_transition_once() {
    let stage = Stage::new();
    play(&stage, &ANSWERED[..6], "auto");
    stage.save(0);
    play(&stage, &ANSWERED[6..], "auto");
    let wanted = stage.history();
    stage.restore(0);
    while stage.state().status == "IN_PROGRESS" {
        let before = stage.state().phase_history_total;
        let advanced = ended(begun(&stage, 6, &["step"]));
        let after = stage.state().phase_history_total;
        assert_eq!(after - before, advanced);
        assert!(advanced > 0);
    }
    assert_eq!(stage.history(), wanted);
    is_lawful(&stage);
}

#[test]
fn eight_sessions_begin_at_once() {
    let stage = Stage::new();
    let children = begun(&stage, 8, &["init", "-i", "request=x"]);
    let ids = children.into_iter().map(|child| {
        let begun = Outcome::waited(child).ok();
        begun["session_id"].as_str().unwrap().to_owned()
    });
    let ids: BTreeSet<String> = ids.collect();
    let listed = stage.engine().session_list().unwrap();
    assert_eq!([ids.len(), listed.len(), stage.runs().len()], [8; 3]);
    for id in ids {
        assert_eq!(ended(begun(&stage, 1, &["step", &id])), 1);
    }
}

fn decision(gate: &ClosedGate, choice: &str) -> Decide {
    let feedback = if choice == "reject" { "Otherwise." } else { "" };
    Decide {
        gate: gate.clone(),
        choice: serde_json::from_value(json!(choice)).unwrap(),
        feedback: feedback.to_owned(),
    }
}

/// Steps against somebody who responds, decides, calls off and takes up again, from wherever the story is.
#[test]
fn steps_against_everything_else() {
    let response = Response {
        bytes: b"An answer.\n",
        ..Response::default()
    };
    let stage = Stage::new();
    // Before a response; at the three gates; in ERROR; at the cap.
    let places = [2, 5, 12, 16, 24, 30];
    for (number, acts) in places.into_iter().enumerate() {
        let begin = number.checked_sub(1).map_or(0, |before| places[before]);
        if number > 0 {
            stage.restore(number - 1);
        }
        play(&stage, &STORY[begin..acts], "human");
        stage.save(number);
        for other in ["respond", "approve", "reject", "cancel", "reopen"] {
            stage.restore(number);
            let before = stage.state();
            let engine = stage.engine().asked(Channel::Terminal);
            let gate = engine.gate(&SESSION, None);
            let children = begun(&stage, 3, &["step"]);
            let done = match other {
                "respond" => engine.session_respond(None, &response).map(drop),
                "cancel" => engine
                    .turn(&SESSION, None, &Turn::abort(false, false))
                    .map(drop),
                "reopen" => {
                    let most = (before.phase == "REVIEWED").then(|| 5.into());
                    let most = most.map(|most| ("maxIterations".to_owned(), most));
                    let reopen = Turn {
                        flags: most.into_iter().collect(),
                        ..Turn::new(Verb::Reopen, "")
                    };
                    engine.turn(&SESSION, None, &reopen).map(drop)
                }
                _ => {
                    gate.and_then(|gate| engine.decide(&SESSION, &decision(&gate, other)).map(drop))
                }
            };
            ended(children);
            if let Err(fault) = done {
                let refused = matches!(fault.kind.exit_status(), 2..=5);
                assert!(refused, "{acts} {other}: {fault:?}");
            }
            is_lawful(&stage);
            stage.history();
            // It goes on, or is over.
            if stage.state().status == "IN_PROGRESS" {
                stage.engine().session_step(None).unwrap();
            }
        }
    }
}
