//! Thirty processes report the same unit at once, and some of them are killed.

use std::time::Duration;

use super::ending::brought_to;
use super::executor::Executor;
use super::stage::Stage;

/// How many report at once.
const CROWD: usize = 30;

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

fn count(executor: &Executor<'_>, event: &str) -> usize {
    executor
        .journal()
        .iter()
        .filter(|line| line["event"] == event)
        .count()
}

#[test]
fn one_report_is_taken_in_and_every_survivor_gets_its_answer() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "red", "1.1");
    let before = count(&executor, "report:accepted");
    let red = [
        "autopilot",
        "complete",
        "red",
        "1.1",
        "--results",
        "failed:1,passed:0",
    ];
    // Who was quick enough had its answer before the kill came.
    assert!(crowd(&stage, &red, &[]) >= CROWD - CROWD.div_ceil(3));
    assert_eq!(count(&executor, "report:accepted"), before + 1);

    executor.work("green", "1.1");
    executor.tm(
        &["autopilot", "complete", "--results", "failed:0,passed:1"],
        None,
    );
    let accepted = crowd(&stage, &["autopilot", "commit", "1.1"], &[]);
    assert!(accepted >= CROWD - CROWD.div_ceil(3));
    executor.finish_in_peace();
    executor.check_completed();
}

#[test]
fn two_dozen_starts_make_one_run() {
    let stage = Stage::new(1);
    let mut executor = Executor::new(&stage);
    // Who comes too late is told that a run is under way.
    let accepted = crowd(&stage, &["autopilot", "start", "1"], &[5]);
    assert!(accepted <= 1, "{accepted} starts were acknowledged");
    executor.finish_in_peace();
    executor.check_completed();
    let begun = stage
        .runs()
        .iter()
        .filter(|run| run.join("state.json").exists())
        .count();
    assert_eq!(begun, 1);
}

#[test]
fn a_holder_that_is_killed_holds_nothing() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    stage.hook("pre-commit", "sleep 1\n");
    let mut holder = stage.program(&["autopilot", "commit"]).spawn().unwrap();
    let lock = stage.run_folder().join("lock");
    let id = holder.id().to_string();
    super::stage::wait_for("the lock", &mut holder, || {
        std::fs::read_to_string(&lock).is_ok_and(|text| text.contains(&id))
    });
    let begun = std::time::Instant::now();
    holder.kill().unwrap();
    holder.wait().unwrap();
    executor.finish_in_peace();
    assert!(
        begun.elapsed() < Duration::from_secs(25),
        "the lock of a dead process was waited for"
    );
    executor.check_completed();
}
