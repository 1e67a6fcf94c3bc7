//! Two things that are done to a session of skills at the same time: either order may come of it, and nothing else.

use testkit::Outcome;

use super::stage::{Stage, executing, planned, wide};
use crate::place::answer;

/// How often two are let loose on each other.
const ROUNDS: usize = 5;

const READY: (&[&str], &str) = (&["complete-skill", "ready-to-implement"], "");

/// Does two things at the same time to the session as it was saved, by turns the one and the other a little earlier; whether
/// each of them counted.
fn both(stage: &Stage, round: usize, one: (&[&str], &str), other: (&[&str], &str)) -> [bool; 2] {
    let begin = |(words, input): (&[&str], &str)| stage.begun(words, input);
    let children = if round.is_multiple_of(2) {
        let first = begin(one);
        [first, begin(other)]
    } else {
        let second = begin(other);
        [begin(one), second]
    };
    let counted = children.map(|child| {
        let ran = Outcome::waited(child);
        let counted = answer(&ran)["validated"] == true;
        // Nobody is refused for anything but a rule.
        assert_eq!(ran.status, if counted { 0 } else { 3 }, "{ran:?}");
        counted
    });
    journal::verify::verify(&stage.session().join("activity.jsonl")).unwrap();
    counted
}

/// Before the cut it is the graph that is cut; after it, what is cut is cut again.
#[test]
fn a_graph_that_comes_while_the_batches_are_cut_counts() {
    let stage = planned(1);
    stage.save(0);
    let graph = wide(7);
    for round in 0..ROUNDS {
        stage.restore(0);
        let sync: (&[&str], &str) = (&["sync", "-", "--item", "1"], &graph);
        assert_eq!(both(&stage, round, sync, READY), [true; 2]);
        let state = stage.state();
        assert_eq!(state.state, "clear-pre-execute");
        assert_eq!(state.pending_tasks.len(), 7, "{:?}", state.batches);
    }
}

/// Two graphs of two items at the same time: both are there.
#[test]
fn graphs_of_two_items_both_count() {
    let stage = planned(2);
    stage.skills(&["ready-to-implement", "collab-clear"]);
    stage.save(0);
    let (one, other) = ("tasks:\n  - id: a\n  - id: b\n", "tasks:\n  - id: c\n");
    for round in 0..ROUNDS {
        stage.restore(0);
        let one: (&[&str], &str) = (&["sync", "-", "--item", "1"], one);
        let other: (&[&str], &str) = (&["sync", "-", "--item", "2"], other);
        assert_eq!(both(&stage, round, one, other), [true; 2]);
        // The batch in hand stays as it is, and what the graphs have beyond it is cut into others.
        let tasks = stage.state().pending_tasks;
        for id in ["a", "b", "c"] {
            assert!(tasks.iter().any(|task| task == id), "{tasks:?}");
        }
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
    let plans: (&[&str], &str) = (&["complete-skill", "executing-plans"], "");
    for round in 0..2 * ROUNDS {
        let (from, status) = [(0, "completed"), (1, "failed")][round / ROUNDS];
        stage.restore(from);
        let task: (&[&str], &str) = (&["task", "t2", status], "");
        let [stored, finished] = both(&stage, round, task, plans);
        let state = stage.state();
        assert_eq!(finished, state.state == "clear-post-batch", "{state:?}");
        if finished {
            assert_eq!(state.completed_tasks.len(), 2, "{state:?}");
        }
        match status {
            // Nothing stands against it, and the skill waits for it.
            "completed" => assert!(stored, "{state:?}"),
            // One of the two comes first, and bars the other.
            _ => assert_ne!(stored, finished, "{state:?}"),
        }
    }
}

/// Somebody sets the items while somebody else says that they are gathered.
#[test]
fn items_come_before_the_goals_are_gathered_or_not_at_all() {
    let stage = Stage::new();
    stage.skills(&["collab-start"]);
    stage.save(0);
    let items = r#"[{"number": 1, "title": "Mend", "type": "bugfix"}]"#;
    let set: (&[&str], &str) = (&["update", "--work-items", items], "");
    let gather: (&[&str], &str) = (&["complete-skill", "gather-session-goals"], "");
    for round in 0..ROUNDS {
        stage.restore(0);
        let [set, gathered] = both(&stage, round, set, gather);
        assert!(set);
        let wanted = if gathered {
            "clear-pre-item"
        } else {
            "gather-goals"
        };
        let state = stage.state();
        assert_eq!((&*state.state, state.total_items), (wanted, 1));
    }
}
