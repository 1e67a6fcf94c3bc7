//! What of a task is run, and in what order.

use proptest::prelude::*;
use workspace::tasks::{
    InlineTask, LeftOutReason, PlanWarning, RunPlan, Status, Subtask, Task, TaskError, plan_run,
};

/// An id as it stands in the file: a number alone is one of task 1.
fn full(id: &str) -> String {
    let of = if id.contains('.') { "" } else { "1." };
    format!("{of}{id}")
}

/// A task `1`, of subtasks written as `number status dependency…, …`.
fn task(subtasks: &str) -> Task {
    let mut task = InlineTask::new("t", &[]).unwrap().task();
    let model: Subtask = task.subtasks.remove(0);
    "1".clone_into(&mut task.id);
    let lines = subtasks.split(", ").filter(|line| !line.is_empty());
    task.subtasks = lines
        .map(|line| {
            let mut words = line.split(' ');
            let number = words.next().unwrap();
            Subtask {
                id: format!("1.{number}"),
                status: Status::from_text(words.next().unwrap_or("pending")),
                dependencies: words.map(full).collect(),
                implicit: false,
                ..model.clone()
            }
        })
        .collect();
    task
}

fn ids(subtasks: &[Subtask]) -> String {
    let ids: Vec<&str> = subtasks.iter().map(|subtask| &*subtask.id).collect();
    ids.join(" ")
}

fn planned(subtasks: &str) -> RunPlan {
    plan_run(&task(subtasks)).unwrap()
}

#[test]
fn dependencies_first_else_the_order_of_the_file() {
    for (subtasks, expected) in [
        ("1, 2, 3", "1.1 1.2 1.3"),
        ("1 pending 3, 2, 3 pending 2", "1.2 1.3 1.1"),
        ("2 pending 1, 1, 3", "1.1 1.2 1.3"),
        ("4 pending 3, 3 pending 1 2, 2, 1", "1.2 1.1 1.3 1.4"),
    ] {
        assert_eq!(ids(&planned(subtasks).runnable), expected, "{subtasks}");
    }
}

#[test]
fn what_is_finished_is_skipped_and_satisfies() {
    let plan = planned(
        "1 done 9, 2 completed, 3 cancelled, 4 review, 5 in-progress 1 2 3 4, 6 pending 5 1, 7 odd",
    );
    assert_eq!(ids(&plan.runnable), "1.5 1.6 1.7");
    assert!(plan.runnable[0].dependencies.is_empty() && plan.left_out.is_empty());
    assert_eq!(plan.runnable[1].dependencies, ["1.5"]);
    assert_eq!(ids(&plan.skipped), "1.1 1.2 1.3 1.4");
    let (id, dependents) = ("1.4".to_owned(), vec!["1.5".to_owned()]);
    let in_review = PlanWarning::InReview { id, dependents };
    let (id, status) = ("1.7".to_owned(), Status::Other("odd".to_owned()));
    let unknown = PlanWarning::UnknownStatus { id, status };
    assert_eq!(plan.warnings, [in_review, unknown]);
}

#[test]
fn what_is_deferred_or_blocked_bars_what_depends_on_it() {
    let plan = planned("1 deferred, 2 blocked, 3 pending 1, 4 pending 3, 5, 6 done 2");
    assert_eq!(ids(&plan.runnable), "1.5");
    let left_out: Vec<String> = plan.left_out.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(left_out.join("\n"), @r"
    subtask 1.1 is deferred
    subtask 1.2 is blocked
    subtask 1.3 depends on 1.1, which is not run
    subtask 1.4 depends on 1.3, which is not run
    ");
    let error = plan_run(&task("1 deferred, 2 pending 1, 3 done")).unwrap_err();
    assert_eq!(error.code(), "needs_unmet");
}

#[test]
fn subtasks_of_other_tasks_count_by_their_status() {
    let mut waits = task("1 pending 2.1, 2, 3 pending 2.2, 4 pending 2.3");
    let statuses = [
        ("2.1", Status::Pending),
        ("2.2", Status::Done),
        ("2.3", Status::Review),
    ];
    waits.elsewhere = statuses.map(|(id, status)| (id.to_owned(), status)).into();
    let plan = plan_run(&waits).unwrap();
    assert_eq!(ids(&plan.runnable), "1.2 1.3 1.4");
    let mut parts = plan.runnable.iter();
    assert!(parts.all(|subtask| subtask.dependencies.is_empty()));
    let (id, status) = ("2.1".to_owned(), Status::Pending);
    let expected = LeftOutReason::Elsewhere { id, status };
    assert_eq!(plan.left_out[0].reason, expected);
    let (id, dependents) = ("2.3".to_owned(), vec!["1.4".to_owned()]);
    assert_eq!(plan.warnings, [PlanWarning::InReview { id, dependents }]);
}

#[test]
fn what_cannot_be_run_in_any_order_is_refused() {
    for case in [
        " ⇒ every subtask of task 1 is done already",
        "1 done, 2 review ⇒ every subtask of task 1 is done already",
        "1, 1 ⇒ the id `1.1` is used twice in task 1",
        "1 pending 1 ⇒ subtask 1.1 depends on itself",
        "1 pending 7 ⇒ subtask 1.1 depends on `1.7`, which does not exist",
        "1 pending 2.1 ⇒ subtask 1.1 depends on `2.1`, which does not exist",
        "1, 2 pending 1 4, 3 pending 2, 4 pending 3 ⇒ the subtasks depend on each other in a circle: 1.2 -> 1.4 -> 1.3 -> 1.2",
    ] {
        let (subtasks, expected) = case.split_once(" ⇒ ").unwrap();
        let refused = plan_run(&task(subtasks)).unwrap_err();
        assert_eq!(refused.to_string(), expected);
    }
    // Nobody waits for what is done.
    planned("1 done 1 7, 2");
}

#[test]
fn a_finished_task_with_open_subtasks_is_said() {
    let mut finished = task("1");
    finished.status = Status::Done;
    let warnings = plan_run(&finished).unwrap().warnings;
    let told = "task 1 is done, though subtasks of it are not done";
    assert_eq!(warnings[0].to_string(), told);
}

#[test]
fn a_long_chain_is_no_burden() {
    let lines = (0..20_000).map(|at| format!("{at} pending {}, ", at + 1));
    let lines: String = lines.collect();
    let plan = planned(&format!("{lines}20000"));
    assert_eq!(plan.runnable[0].id, "1.20000");
    let circle = plan_run(&task(&format!("{lines}20000 pending 0")));
    assert!(matches!(circle, Err(TaskError::Cycle { path }) if path.len() == 20_002));
}

proptest! {
    #[test]
    fn an_order_holds_or_a_true_circle_is_named(
        edges in prop::collection::vec((0..12_usize, 0..12_usize), 0..20),
    ) {
        let lines: Vec<String> = (0..12).map(|at| {
            let needs = edges.iter().filter(|(from, to)| *from == at && to != from);
            let needs: Vec<String> = needs.map(|(_, to)| format!(" {to}")).collect();
            format!("{at} pending{}", needs.concat())
        }).collect();
        let task = task(&lines.join(", "));
        let needs = |from: &str, to: &str| task.subtasks.iter()
            .any(|subtask| subtask.id == from && subtask.dependencies.iter().any(|id| id == to));
        match plan_run(&task) {
            Ok(plan) => {
                prop_assert_eq!(plan.runnable.len(), 12);
                for (at, subtask) in plan.runnable.iter().enumerate() {
                    for dependency in &subtask.dependencies {
                        prop_assert!(plan.runnable[..at].iter().any(|before| before.id == *dependency));
                    }
                }
            }
            Err(TaskError::Cycle { path }) => {
                prop_assert!(path.len() > 2 && path.first() == path.last());
                for pair in path.windows(2) {
                    prop_assert!(needs(&pair[0], &pair[1]), "{:?}", path);
                }
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
