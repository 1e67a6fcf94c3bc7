//! Two things that are done to a session of skills at the same time: either order may come of it, and nothing else.

use engine::view::collab::answer::SessionState;
use testkit::Outcome;

use super::stage::{Stage, executing, planned, wide};
use crate::place::answer;

/// How often two are let loose on each other.
const ROUNDS: usize = 4;

/// A command, and its standard input.
type Call<'a> = (&'a [&'a str], &'a str);

/// Does two things at the same time to the session as it is, by turns the one and the other a little earlier; looks each time at
/// which of them counted, and at what came of it.
fn at_once(stage: &Stage, both: [Call<'_>; 2], check: impl Fn([bool; 2], &SessionState)) {
    stage.save(0);
    for round in 0..ROUNDS {
        stage.restore(0);
        let begin = |number: usize| stage.begun(both[number].0, both[number].1);
        let first = begin(round % 2);
        let second = begin(1 - round % 2);
        let mut counted = [first, second].map(|child| {
            let ran = Outcome::waited(child);
            let counted = answer(&ran)["validated"] == true;
            // Nobody is refused for anything but a rule.
            assert_eq!(ran.status, if counted { 0 } else { 3 }, "{ran:?}");
            counted
        });
        counted.rotate_left(round % 2);
        journal::verify::verify(&stage.session().join("activity.jsonl")).unwrap();
        check(counted, &stage.state());
    }
}

/// Before the cut it is the graph that is cut; after it, what is cut is cut again.
#[test]
fn a_graph_that_comes_while_the_batches_are_cut_counts() {
    let graph = wide(7);
    let sync: Call<'_> = (&["sync", "-", "--item", "1"], &graph);
    let ready: Call<'_> = (&["complete-skill", "ready-to-implement"], "");
    at_once(&planned(1), [sync, ready], |counted, state| {
        let came = (counted, &*state.state, state.pending_tasks.len());
        assert_eq!(came, ([true; 2], "clear-pre-execute", 7));
    });
}

/// Two graphs of two items at the same time: both are there.
#[test]
fn graphs_of_two_items_both_count() {
    let stage = planned(2);
    stage.skills(&["ready-to-implement", "collab-clear"]);
    let one: Call<'_> = (
        &["sync", "-", "--item", "1"],
        "tasks:\n  - id: a\n  - id: b\n",
    );
    let other: Call<'_> = (&["sync", "-", "--item", "2"], "tasks:\n  - id: c\n");
    at_once(&stage, [one, other], |counted, state| {
        assert_eq!(counted, [true; 2]);
        // The batch in hand stays as it is, and what the graphs have beyond it is cut into others.
        let is_there = |id| state.pending_tasks.iter().any(|task| task == id);
        assert!(["a", "b", "c"].into_iter().all(is_there), "{state:?}");
    });
}

/// A batch is finished with all that was stored, or not at all. Where nothing stands against a status, the skill waits for it.
#[test]
fn a_batch_is_not_finished_past_a_status() {
    let stage = executing(2);
    stage.tm(0, &["task", "t1", "completed"]);
    let plans: Call<'_> = (&["complete-skill", "executing-plans"], "");
    let check = |[_, finished]: [bool; 2], state: &SessionState| {
        assert_eq!(finished, state.state == "clear-post-batch", "{state:?}");
        assert!(!finished || state.completed_tasks.len() == 2, "{state:?}");
    };
    let completed: Call<'_> = (&["task", "t2", "completed"], "");
    at_once(&stage, [completed, plans], |counted, state| {
        check(counted, state);
        assert!(counted[0], "{state:?}");
    });
    stage.restore(0);
    stage.tm(0, &["task", "t2", "completed"]);
    // One of the two comes first, and bars the other.
    let failed: Call<'_> = (&["task", "t2", "failed"], "");
    at_once(&stage, [failed, plans], |counted, state| {
        check(counted, state);
        assert_ne!(counted[0], counted[1], "{state:?}");
    });
}

/// Somebody sets the items while somebody else says that they are gathered.
#[test]
fn items_come_before_the_goals_are_gathered_or_not_at_all() {
    let stage = Stage::new();
    stage.skills(&["collab-start"]);
    let items = r#"[{"number": 1, "title": "Mend", "type": "bugfix"}]"#;
    let set: Call<'_> = (&["update", "--work-items", items], "");
    let gather: Call<'_> = (&["complete-skill", "gather-session-goals"], "");
    at_once(&stage, [set, gather], |[set, gathered], state| {
        let wanted = ["gather-goals", "clear-pre-item"][usize::from(gathered)];
        assert_eq!((set, &*state.state, state.total_items), (true, wanted, 1));
    });
}
