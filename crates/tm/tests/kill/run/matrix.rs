//! Each command, killed at each step of its way.

use testkit::chance::{seed, tries_all};
use testkit::kill::times;

use super::ending::brought_to;
use super::executor::{Executor, Recovery};
use super::stage::{Death, Stage};

/// The ways to die that are tried within a command, one after the other: a way is dropped for good at the first time it is not
/// come to. The last one is there for sure.
fn ways(of: &str, what: &str) -> Vec<Vec<Death>> {
    let chosen = |name: &str| times(&format!("{what} {name}"));
    match of {
        "fail points" if cfg!(debug_assertions) => {
            let point = |name: &'static str| chosen(name).map(move |time| Death::Point(name, time));
            // Nothing is pushed here, and no session is at work.
            let elsewhere = |name: &str| {
                let of = name.split('-').next();
                matches!(of, Some("push" | "request" | "prompt" | "io"))
            };
            let names = engine::fail_point::NAMES.into_iter();
            let names = names.filter(|name| !elsewhere(name));
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

/// The same of the command that answers a unit; these subtasks are committed then.
fn unit_dies(stage: &Stage, (action, id): (&str, &str), deaths: (&str, usize), committed: &[&str]) {
    let dies = |executor: &mut Executor<'_>, death| !executor.answer(action, id, Some(death));
    die_everywhere(stage, action, deaths, dies, |executor| {
        executor.answer_once(action, id);
        if action == "finalize" {
            executor.check_completed();
        } else {
            executor.check_under_way(committed);
        }
    });
}

/// Each unit of a run, from its start to its end, with how many deaths there are at least where all are tried.
#[test]
fn every_unit_dies_at_each_fail_point_and_around_each_git() {
    let stage = Stage::new(2);
    let points = |least| ("fail points", least);
    let gits = |least| [("before git", least), ("after git", least)];
    for (unit, deaths, committed) in [
        (
            ("start", ""),
            [&[points(18)][..], &gits(7)].concat(),
            &[][..],
        ),
        (("red", "1.2"), vec![points(4)], &["1.1"]),
        (("green", "1.2"), vec![points(4)], &["1.1"]),
        (
            ("commit", "1.2"),
            [&[points(15)][..], &gits(5)].concat(),
            &["1.1", "1.2"],
        ),
        (
            ("finalize", ""),
            [&[points(20)][..], &gits(3)].concat(),
            &[],
        ),
    ] {
        let mut executor = Executor::new(&stage);
        executor.come_to(unit);
        stage.save(1);
        for deaths in deaths {
            stage.restore(1);
            unit_dies(&stage, unit, deaths, committed);
        }
        stage.restore(1);
    }
}

/// A commit dies before or after it was made, and the command that comes after it dies too, while it finds out what has become
/// of it.
#[test]
fn recovery_dies() {
    if !cfg!(debug_assertions) {
        return;
    }
    let stage = Stage::new(2);
    brought_to(&stage, "commit", "1.2");
    stage.save(1);
    for (first, of) in [
        ("commit-after-tasks", "fail points"),
        ("commit-after-git", "fail points"),
        ("commit-after-tasks", "after git"),
    ] {
        stage.restore(1);
        let mut executor = Executor::new(&stage);
        assert!(!executor.answer("commit", "1.2", Some(Death::Point(first, 1))));
        unit_dies(&stage, ("commit", "1.2"), (of, 3), &["1.1", "1.2"]);
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
