//! A dozen processes report the same unit at once, and some of them are killed.

use super::ending::brought_to;
use super::executor::Executor;
use super::stage::Stage;

/// How many report at once.
const CROWD: usize = 12;

/// Lets a crowd report, kills some of them on the way, and gives how many were told that their report was accepted.
fn crowd(stage: &Stage, arguments: &[&str], others_may_say: &[i32]) -> usize {
    let mut children: Vec<_> = (0..CROWD)
        .map(|_| stage.program(arguments).spawn().unwrap())
        .collect();
    // Those in the middle have begun, and wait for the lock or hold it.
    for child in children.iter_mut().step_by(3) {
        let _ = child.kill();
    }
    let mut accepted = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => accepted += 1,
            None => {}
            Some(other) => assert!(others_may_say.contains(&other), "{arguments:?}: {output:?}"),
        }
    }
    accepted
}

#[test]
fn one_report_is_taken_in_and_every_survivor_gets_its_answer() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "red", "1.1");
    let accepted =
        |executor: &Executor<'_>| executor.count(|line| line["event"] == "report:accepted");
    let before = accepted(&executor);
    let survivors = CROWD - CROWD.div_ceil(3);
    // Who was quick enough had its answer before the kill came.
    assert!(crowd(&stage, &Executor::command_for("red", "1.1"), &[]) >= survivors);
    assert_eq!(accepted(&executor), before + 1);

    executor.work("green", "1.1");
    executor.answer_once("green", "1.1");
    assert!(crowd(&stage, &Executor::command_for("commit", "1.1"), &[]) >= survivors);
    executor.completes();
}

#[test]
fn a_dozen_starts_make_one_run() {
    let stage = Stage::new(1);
    // Who comes too late is told that a run is under way.
    let accepted = crowd(&stage, &["autopilot", "start", "1"], &[5]);
    assert!(accepted <= 1, "{accepted} starts were acknowledged");
    Executor::new(&stage).completes();
    let mut begun = stage.runs();
    begun.retain(|run| run.join("state.json").exists());
    assert_eq!(begun.len(), 1);
}
