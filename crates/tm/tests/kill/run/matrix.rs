//! Each command, killed at each step of its way.

use testkit::kill::{seed, times, tries_all};

use super::ending::{brought_to, completed};
use super::executor::{Executor, Recovery};
use super::stage::{Death, Stage};

/// The ways to die that are tried within a command, one after the other: a way is dropped for good at the first time it is not
/// come to. The last one is there for sure.
fn ways(of: &str, what: &str) -> Vec<Vec<Death>> {
    let chosen = |name: &str| times(&format!("{what} {name}"));
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
        _ => {
            let git = if of == "before git" {
                Death::BeforeGit
            } else {
                Death::AfterGit
            };
            vec![chosen(of).map(git).collect(), vec![git(1)]]
        }
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

/// From what the stage is now, has `what` die every death; afterwards something else is done, then it is repeated, and looked at.
pub fn die_everywhere(
    stage: &Stage,
    what: &str,
    (of, at_least): (&str, usize),
    dies: impl Fn(&mut Executor<'_>, Death) -> bool,
    goes_on: impl Fn(&mut Executor<'_>),
) {
    stage.save(0);
    let mut died = 0;
    let mut turn = 0;
    for way in ways(of, what) {
        'way: for death in way {
            for recovery in recoveries(&mut turn) {
                stage.restore(0);
                let mut executor = Executor::new(stage);
                executor.history = format!("  TRAMLINE_TEST_SEED={}\n", seed());
                if !dies(&mut executor, death) {
                    break 'way;
                }
                died += 1;
                executor.recover(recovery);
                goes_on(&mut executor);
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

/// The same of the command that answers a unit.
fn unit_dies(
    stage: &Stage,
    (action, id): (&str, &str),
    deaths: (&str, usize),
    check: impl Fn(&Executor<'_>),
) {
    let dies = |executor: &mut Executor<'_>, death| !executor.answer(action, id, Some(death));
    die_everywhere(stage, action, deaths, dies, |executor| {
        executor.answer_once(action, id);
        check(executor);
    });
}

/// Brings a run to a unit, and has it die so, with at least so many deaths where all are tried.
fn dies(unit: (&str, &str), deaths: &[(&str, usize)], check: impl Fn(&Executor<'_>)) {
    let stage = Stage::new(2);
    if unit.0 != "start" {
        brought_to(&stage, unit.0, unit.1);
    }
    stage.save(1);
    for deaths in deaths {
        stage.restore(1);
        unit_dies(&stage, unit, *deaths, &check);
    }
}

#[test]
fn start_dies_at_each_fail_point() {
    dies(("start", ""), &[("fail points", 18)], |executor| {
        executor.check_under_way(&[]);
    });
}

#[test]
fn start_dies_around_each_git() {
    let gits = [("before git", 7), ("after git", 7)];
    dies(("start", ""), &gits, |executor| {
        executor.check_under_way(&[]);
    });
}

#[test]
fn red_and_green_die_at_each_fail_point() {
    for action in ["red", "green"] {
        dies((action, "1.2"), &[("fail points", 4)], |executor| {
            executor.check_under_way(&["1.1"]);
        });
    }
}

#[test]
fn commit_dies_at_each_fail_point() {
    dies(("commit", "1.2"), &[("fail points", 15)], one_commit);
}

#[test]
fn commit_dies_around_each_git() {
    let gits = [("before git", 5), ("after git", 5)];
    dies(("commit", "1.2"), &gits, one_commit);
}

fn one_commit(executor: &Executor<'_>) {
    executor.check_under_way(&["1.1", "1.2"]);
}

#[test]
fn finalize_dies_at_each_fail_point() {
    let points = [("fail points", 20)];
    dies(("finalize", ""), &points, completed);
}

#[test]
fn finalize_dies_around_each_git() {
    let gits = [("before git", 3), ("after git", 3)];
    dies(("finalize", ""), &gits, completed);
}

/// A commit dies before or after it was made, and the command that comes after it dies too, while it finds out what has become
/// of it.
#[test]
fn recovery_dies() {
    if !cfg!(debug_assertions) {
        return;
    }
    for (first, of) in [
        ("commit-after-tasks", "fail points"),
        ("commit-after-git", "fail points"),
        ("commit-after-tasks", "after git"),
    ] {
        let stage = Stage::new(2);
        let mut executor = brought_to(&stage, "commit", "1.2");
        assert!(!executor.answer("commit", "1.2", Some(Death::Point(first, 1))));
        unit_dies(&stage, ("commit", "1.2"), (of, 3), one_commit);
    }
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
            let point = ["after-append", "before-append"].get(turn)?;
            Some(Death::Point(point, 1))
        },
        || Recovery::Mistake,
    );
    assert!(executor.deaths > 10, "only {} deaths", executor.deaths);
    executor.check_completed();
}
