//! Two things that are done to a session of skills at the same time: either order may come of it, and nothing else.

use testkit::Outcome;

use super::stage::{Stage, answered, executing, planned, wide};
use crate::place::answer;

/// How often two are let loose on each other.
const ROUNDS: usize = 5;

/// Does two things at the same time, first the one a little earlier and then the other.
fn both(stage: &Stage, round: usize, one: (&[&str], &str), other: (&[&str], &str)) -> [Outcome; 2] {
    let begin = |(words, input): (&[&str], &str)| stage.begun(words, input);
    let (first, second) = if round.is_multiple_of(2) {
        let first = begin(one);
        (first, begin(other))
    } else {
        let second = begin(other);
        (begin(one), second)
    };
    [first, second].map(Outcome::waited)
}

fn is_whole(stage: &Stage) {
    journal::verify::verify(&stage.session().join("activity.jsonl")).unwrap();
}

/// Before the cut it is the graph that is cut; after it, what is cut is cut again.
#[test]
fn a_graph_that_comes_while_the_batches_are_cut_counts() {
    let stage = planned(1);
    stage.save(0);
    for round in 0..ROUNDS {
        stage.restore(0);
        let graph = wide(7);
        let sync: (&[&str], &str) = (&["sync", "-", "--item", "1"], &graph);
        let ready: (&[&str], &str) = (&["complete-skill", "ready-to-implement"], "");
        for ran in both(&stage, round, sync, ready) {
            assert_eq!(answered(&ran, 0)["validated"], true);
        }
        let state = stage.state();
        assert_eq!(state.state, "clear-pre-execute");
        assert_eq!(state.pending_tasks.len(), 7, "{:?}", state.batches);
        is_whole(&stage);
    }
}

/// Two graphs of two items at the same time: both are there.
#[test]
fn graphs_of_two_items_both_count() {
    let stage = planned(2);
    stage.skills(&["ready-to-implement", "collab-clear"]);
    stage.save(0);
    for round in 0..ROUNDS {
        stage.restore(0);
        let (one, other) = ("tasks:\n  - id: a\n  - id: b\n", "tasks:\n  - id: c\n");
        let ran = both(
            &stage,
            round,
            (&["sync", "-", "--item", "1"], one),
            (&["sync", "-", "--item", "2"], other),
        );
        for ran in ran {
            assert_eq!(answered(&ran, 0)["validated"], true);
        }
        let mut tasks = stage.state().pending_tasks;
        tasks.sort();
        // The batch in hand stays as it is, and what the graphs have beyond it is cut into others.
        for id in ["a", "b", "c"] {
            assert!(tasks.iter().any(|task| task == id), "{tasks:?}");
        }
        is_whole(&stage);
    }
}

/// A batch is finished with all that was stored, or not at all.
#[test]
fn a_batch_is_not_finished_past_a_status() {
    let stage = executing(2);
    stage.tm(0, &["task", "t1", "completed"]);
    stage.save(0);
    stage.tm(0, &["task", "t2", "completed"]);
    stage.save(1);
    for round in 0..2 * ROUNDS {
        let (from, status) = [(0, "completed"), (1, "failed")][round / ROUNDS];
        stage.restore(from);
        let [task, skill] = both(
            &stage,
            round,
            (&["task", "t2", status], ""),
            (&["complete-skill", "executing-plans"], ""),
        );
        let state = stage.state();
        let (stored, finished) = (validated(&task), validated(&skill));
        assert_eq!(finished, state.state == "clear-post-batch", "{skill:?}");
        if finished {
            assert_eq!(state.completed_tasks.len(), 2, "{state:?}");
        }
        match status {
            // Nothing stands against it, and the skill waits for it.
            "completed" => assert!(stored, "{task:?}"),
            // One of the two comes first, and bars the other.
            _ => assert_ne!(stored, finished, "{task:?} {skill:?}"),
        }
        is_whole(&stage);
    }
}

/// What was answered, by who was not refused for anything but a rule.
fn validated(ran: &Outcome) -> bool {
    let answer = answer(ran);
    assert!(matches!(ran.status, 0 | 3), "{ran:?}");
    assert_eq!(answer["validated"] == true, ran.status == 0, "{ran:?}");
    answer["validated"] == true
}

/// Somebody sets the items while somebody else says that they are gathered.
#[test]
fn items_come_before_the_goals_are_gathered_or_not_at_all() {
    let stage = Stage::new();
    stage.skills(&["collab-start"]);
    stage.save(0);
    let items = r#"[{"number": 1, "title": "Mend", "type": "bugfix"}]"#;
    for round in 0..ROUNDS {
        stage.restore(0);
        let [set, gathered] = both(
            &stage,
            round,
            (&["update", "--work-items", items], ""),
            (&["complete-skill", "gather-session-goals"], ""),
        );
        assert!(validated(&set), "{set:?}");
        let state = stage.state();
        let wanted = if validated(&gathered) {
            "clear-pre-item"
        } else {
            "gather-goals"
        };
        assert_eq!((state.state.as_str(), state.total_items), (wanted, 1));
        is_whole(&stage);
    }
}
