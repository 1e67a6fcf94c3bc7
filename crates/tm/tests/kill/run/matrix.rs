//! Each command, killed at each step of its way.

use testkit::kill::{seed, times, tries_all};

use super::ending::brought_to;
use super::executor::{Executor, Recovery};
use super::stage::{Death, Stage};

/// The ways to die that are tried within a command, one after the other: a way is dropped for good at the first time it is not
/// come to. The last one is there for sure.
fn ways(of: &str, action: &str) -> Vec<Vec<Death>> {
    let chosen = |name: &str| times(&format!("{action} {name}"));
    match of {
        "fail points" if cfg!(debug_assertions) => {
            let point = |name: &'static str| chosen(name).map(move |time| Death::Point(name, time));
            let names = engine::fail_point::NAMES.into_iter();
            let ways = names.map(|name| point(name).collect());
            ways.chain([vec![Death::Point("after-append", 1)]])
                .collect()
        }
        // A release build has none.
        "fail points" => Vec::new(),
        "before git" => vec![
            chosen(of).map(Death::BeforeGit).collect(),
            vec![Death::BeforeGit(1)],
        ],
        "after git" => vec![
            chosen(of).map(Death::AfterGit).collect(),
            vec![Death::AfterGit(1)],
        ],
        other => panic!("no such ways: {other}"),
    }
}

/// Which recoveries follow each death: one of them in turn, or all if the environment asks for it.
fn recoveries(turn: &mut usize) -> Vec<Recovery> {
    *turn += 1;
    if tries_all() {
        Recovery::ALL.to_vec()
    } else {
        vec![Recovery::ALL[*turn % Recovery::ALL.len()]]
    }
}

/// Brings a run to a phase, and has the command that answers it die every death from there. `check` looks at what has
/// become of it when the command was repeated.
fn die_everywhere(
    action: &str,
    id: &str,
    of: &str,
    at_least: usize,
    check: impl Fn(&mut Executor<'_>),
) {
    let stage = Stage::new(2);
    if action != "start" {
        brought_to(&stage, action, id);
    }
    die_everywhere_from(&stage, action, id, of, at_least, check);
}

/// The same, from what the stage is now.
fn die_everywhere_from(
    stage: &Stage,
    action: &str,
    id: &str,
    of: &str,
    at_least: usize,
    check: impl Fn(&mut Executor<'_>),
) {
    stage.save(0);
    let mut died = 0;
    let mut turn = 0;
    for way in ways(of, action) {
        'way: for death in way {
            for recovery in recoveries(&mut turn) {
                stage.restore(0);
                let mut executor = Executor::new(stage);
                executor.history = format!("  TRAMLINE_KILL_SEED={}\n", seed());
                if executor.answer(action, id, Some(death)) {
                    break 'way;
                }
                died += 1;
                executor.recover(recovery);
                executor.answer_once(action, id);
                check(&mut executor);
            }
        }
    }
    let expected = match of {
        "fail points" if !cfg!(debug_assertions) => 0,
        _ if tries_all() => at_least,
        _ => 1,
    };
    assert!(died >= expected, "only {died} deaths");
}

fn one_commit(executor: &mut Executor<'_>) {
    executor.check_under_way(&["1.1", "1.2"]);
}

fn completed(executor: &mut Executor<'_>) {
    executor.check_completed();
}

#[test]
fn start_dies_at_each_fail_point() {
    die_everywhere("start", "", "fail points", 18, |executor| {
        executor.check_under_way(&[]);
    });
}

#[test]
fn start_dies_before_each_git() {
    die_everywhere("start", "", "before git", 7, |executor| {
        executor.check_under_way(&[]);
    });
}

#[test]
fn start_dies_after_each_git() {
    die_everywhere("start", "", "after git", 7, |executor| {
        executor.check_under_way(&[]);
    });
}

#[test]
fn red_dies_at_each_fail_point() {
    die_everywhere("red", "1.2", "fail points", 4, |executor| {
        executor.check_under_way(&["1.1"]);
    });
}

#[test]
fn green_dies_at_each_fail_point() {
    die_everywhere("green", "1.2", "fail points", 4, |executor| {
        executor.check_under_way(&["1.1"]);
    });
}

#[test]
fn commit_dies_at_each_fail_point() {
    die_everywhere("commit", "1.2", "fail points", 15, one_commit);
}

#[test]
fn commit_dies_before_each_git() {
    die_everywhere("commit", "1.2", "before git", 5, one_commit);
}

#[test]
fn commit_dies_after_each_git() {
    die_everywhere("commit", "1.2", "after git", 5, one_commit);
}

#[test]
fn finalize_dies_at_each_fail_point() {
    die_everywhere("finalize", "", "fail points", 20, completed);
}

#[test]
fn finalize_dies_before_each_git() {
    die_everywhere("finalize", "", "before git", 3, completed);
}

#[test]
fn finalize_dies_after_each_git() {
    die_everywhere("finalize", "", "after git", 3, completed);
}

/// A commit dies at `first`, and the command that comes after it dies too, while it finds out what has become of it.
fn recovery_dies(first: &'static str, of: &str) {
    if !cfg!(debug_assertions) {
        return;
    }
    let stage = Stage::new(2);
    let mut executor = brought_to(&stage, "commit", "1.2");
    assert!(!executor.answer("commit", "1.2", Some(Death::Point(first, 1))));
    die_everywhere_from(&stage, "commit", "1.2", of, 3, one_commit);
}

#[test]
fn recovery_dies_before_the_commit() {
    recovery_dies("commit-after-tasks", "fail points");
}

#[test]
fn recovery_dies_after_the_commit() {
    recovery_dies("commit-after-git", "fail points");
}

#[test]
fn recovery_dies_around_its_gits() {
    recovery_dies("commit-after-tasks", "after git");
}

/// A whole run in which every command dies at its n-th append, and its repetition too.
#[test]
fn every_command_dies_twice() {
    if !cfg!(debug_assertions) {
        return;
    }
    let stage = Stage::new(3);
    let mut executor = Executor::new(&stage);
    let mut turn = 0;
    let mut last = String::new();
    executor.finish(
        |action| {
            turn = if last == action { turn + 1 } else { 0 };
            action.clone_into(&mut last);
            [
                Some(Death::Point("after-append", 1)),
                Some(Death::Point("before-append", 1)),
            ]
            .get(turn)
            .copied()
            .flatten()
        },
        || Recovery::Mistake,
    );
    assert!(executor.deaths() > 10, "only {} deaths", executor.deaths());
    executor.check_completed();
}
