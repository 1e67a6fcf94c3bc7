//! A skill that is not the one expected moves nothing, wherever the session is.

use std::collections::BTreeSet;

use engine::Kind;

use super::stage::{Stage, wire};
use super::walk::way;

/// Every skill there is.
pub const SKILLS: [&str; 18] = [
    "collab-start",
    "gather-session-goals",
    "collab-clear",
    "brainstorming-exploring",
    "brainstorming-clarifying",
    "brainstorming-designing",
    "brainstorming-validating",
    "rough-draft-interface",
    "rough-draft-pseudocode",
    "rough-draft-skeleton",
    "build-task-graph",
    "rough-draft-handoff",
    "task-planning",
    "systematic-debugging",
    "ready-to-implement",
    "executing-plans",
    "finishing-a-development-branch",
    "collab-cleanup",
];

/// Names that are no skills: those of states and routers among them.
const UNKNOWN: [&str; 9] = [
    "gather-goals",
    "work-item-router",
    "batch-router",
    "log-batch-complete",
    "done",
    "clear-bs2",
    "collab_clear",
    "собрать",
    "../collab-start\u{0}\u{1b}[31m",
];

/// A name as somebody clumsy writes it.
fn odd(name: &str) -> String {
    let mixed: String = name
        .chars()
        .enumerate()
        .map(|(at, c)| {
            if at % 2 == 0 {
                c.to_ascii_uppercase()
            } else {
                c
            }
        })
        .collect();
    format!(" \t{mixed}\n")
}

#[test]
fn in_every_state_every_other_skill_is_refused() {
    let stage = Stage::of(&["code", "task", "bugfix"]);
    let mut accepted = stage.done_again("collab-start");
    let mut visited = BTreeSet::from(["collab-start".to_owned()]);
    for stop in way(&["code", "task", "bugfix"], 2).iter().skip(1) {
        visited.insert(stop.state.to_owned());
        let before = stage.files();
        for named in SKILLS {
            for named in [named.to_owned(), odd(named)] {
                let skill = named.trim().to_lowercase();
                if skill == stop.skill {
                    continue;
                }
                let answer = stage.complete(&named, None).unwrap();
                if skill == accepted.0 {
                    assert_eq!(wire(&answer), accepted.1, "{named} in {}", stop.state);
                    continue;
                }
                assert!(!answer.validated, "{named} in {}", stop.state);
                assert_eq!(answer.code.as_deref(), Some("unexpected_skill"));
                assert_eq!(answer.next_skill.as_deref(), Some(stop.skill));
                assert_eq!(answer.state, stop.state);
                assert_eq!(answer.valid_skills, Vec::<String>::new());
                let message = answer.message.unwrap();
                assert!(
                    message.contains(stop.skill) && message.contains(&skill),
                    "{message}"
                );
            }
        }
        for named in UNKNOWN {
            let answer = stage.complete(named, None).unwrap();
            assert!(!answer.validated, "{named} in {}", stop.state);
            assert_eq!(answer.code.as_deref(), Some("unknown_skill"));
            assert_eq!(answer.next_skill.as_deref(), Some(stop.skill));
            assert_eq!(answer.state, stop.state);
            assert_eq!(answer.valid_skills, SKILLS);
        }
        // The unit in hand makes no other skill the right one.
        let unit = stage.brief().unit_id.unwrap();
        for named in SKILLS.iter().filter(|named| **named != stop.skill) {
            let answer = stage.complete(named, Some(&unit)).unwrap();
            assert_eq!(
                answer.code.as_deref(),
                Some("unexpected_skill"),
                "{named} in {}",
                stop.state
            );
            assert_eq!(answer.next_skill.as_deref(), Some(stop.skill));
        }
        stage.is_as(&before);

        match stop.state {
            "build-task-graph" => {
                stage.refused(stop.skill, "graph_missing");
                stage.synced(super::stage::TWO_WAVES);
            }
            "execute-batch" => {
                stage.refused(stop.skill, "tasks_unfinished");
                stage.finish_batch();
            }
            _ => {}
        }
        let answer = stage.done(&odd(stop.skill));
        accepted = (stop.skill.to_owned(), wire(&answer));
    }
    assert_eq!(stage.state(), "done");
    assert_eq!(visited.len(), 29);
    // Unnamed, the first skill would begin another session.
    let stage = stage.named("default");
    let before = stage.files();
    for named in SKILLS {
        let answer = stage.complete(named, None).unwrap();
        assert!(answer.done, "{named}: {answer:?}");
        assert_eq!(
            (answer.next_skill.as_deref(), answer.state.as_str()),
            (None, "done")
        );
        if named == accepted.0 {
            assert_eq!(wire(&answer), accepted.1);
        } else {
            assert!(!answer.validated);
            assert_eq!(answer.code.as_deref(), Some("run_over"));
        }
    }
    let answer = stage.complete("clear-bs2", None).unwrap();
    assert!(answer.done && answer.code.as_deref() == Some("unknown_skill"));
    stage.is_as(&before);
}

impl Stage {
    /// Completes a skill that was just accepted once more: its name, and the answer.
    fn done_again(&self, skill: &str) -> (String, String) {
        (skill.to_owned(), wire(&self.done(skill)))
    }
}

#[test]
fn before_a_session_only_the_first_skill_begins_one() {
    let stage = Stage::bare();
    for skill in SKILLS.iter().skip(1).chain(&UNKNOWN) {
        let fault = stage.complete(skill, None).unwrap_err();
        assert_eq!(
            (fault.kind, fault.code.as_str()),
            (Kind::Missing, "no_session")
        );
        assert!(fault.recovery.contains("collab-start"), "{fault:?}");
        assert_eq!(fault.expected, Some("collab-start".into()));
    }
    // A unit belongs to a session that is there.
    let fault = stage
        .complete("collab-start", Some("r/collab-start/1"))
        .unwrap_err();
    assert_eq!(fault.code, "no_session");
    assert_eq!(stage.runs(), 0);
    stage.done(" Collab-START ");
    assert_eq!(stage.runs(), 1);
}

#[test]
fn no_skill_at_all_makes_no_sense() {
    let stage = Stage::bare();
    for named in ["", "  ", "\t\n"] {
        let fault = stage.complete(named, None).unwrap_err();
        assert_eq!((fault.kind, fault.code.as_str()), (Kind::Usage, "no_skill"));
    }
    assert_eq!(stage.runs(), 0);
}

#[test]
fn a_huge_name_is_not_echoed_at_length() {
    let stage = Stage::of(&["code"]);
    let answer = stage.complete(&"x".repeat(100_000), None).unwrap();
    assert_eq!(answer.code.as_deref(), Some("unknown_skill"));
    assert!(answer.message.unwrap().len() < 1000);
}
