//! Many processes at once: one of them moves the run.

use std::collections::BTreeMap;

use super::environment::TestEnvironment;
use testkit::Outcome;

/// Starts all of them before it waits for the first.
fn at_once(env: &TestEnvironment, commands: &[String]) -> Vec<Outcome> {
    let children: Vec<_> = commands.iter().map(|words| env.spawn(words)).collect();
    children
        .into_iter()
        .map(|child| Outcome::of(&child.wait_with_output().unwrap()).answered())
        .collect()
}

fn accepted(env: &TestEnvironment) -> usize {
    env.events()
        .iter()
        .filter(|event| *event == "report:accepted")
        .count()
}

#[test]
fn of_many_reports_of_a_unit_one_moves_it() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "test\n");
    // All of them say something else of the same unit.
    let reports: Vec<String> = (1..=30)
        .map(|n| format!("complete red --unit workUnit-1.1-RED --results failed:{n},passed:0"))
        .collect();
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    for answer in at_once(&env, &reports) {
        let next = &answer.json()["nextAction"];
        assert_eq!(next["unitId"], "workUnit-1.1-GREEN", "{answer:#?}");
        let code = answer.json()["code"].as_str().unwrap_or("accepted");
        *codes.entry(code.to_owned()).or_default() += 1;
    }
    // The others are told that it was reported before, with other content.
    let told = BTreeMap::from([("accepted".to_owned(), 1), ("stale_unit".to_owned(), 29)]);
    assert_eq!(codes, told);
    assert_eq!(accepted(&env), 1);
    assert_eq!(env.tm(&["log", "verify"]).ok()["whole"], true);
}

#[test]
fn without_a_unit_only_the_very_same_report_is_answered_again() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "test\n");
    let reports: Vec<String> = (0..30)
        .map(|n| format!("complete red 1.1 --results failed:{},passed:0", 1 + n % 3))
        .collect();
    let mut accepted_answers = 0;
    for answer in at_once(&env, &reports) {
        if answer.status == 0 {
            accepted_answers += 1;
        } else {
            assert_eq!(
                (answer.status, answer.code()),
                (5, "stale_unit"),
                "{answer:#?}"
            );
        }
    }
    assert_eq!(
        accepted_answers, 10,
        "those that said what the first one said"
    );
    assert_eq!(accepted(&env), 1);
    assert_eq!(env.tm(&["log", "verify"]).ok()["whole"], true);
}

#[test]
fn many_commits_at_once_make_one() {
    let env = TestEnvironment::started();
    env.to_commit();
    let head = env.head();
    let answers = at_once(&env, &vec!["commit".to_owned(); 12]);
    for answer in answers {
        let answer = answer.ok();
        assert_eq!(answer["commitSha"], env.head());
    }
    assert_eq!(
        env.git(&["rev-list", "--count", &format!("{head}..HEAD")]),
        "1"
    );
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert_eq!(env.tm(&["log", "verify"]).ok()["whole"], true);
}

#[test]
fn two_starts_at_once_make_one_run() {
    let env = TestEnvironment::new();
    let words: Vec<String> = ["start 1", "start 1", "start 4", "start 4", "start 1"]
        .map(str::to_owned)
        .into();
    let answers = at_once(&env, &words);
    let (good, bad): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 0);
    assert_eq!(good.len(), 1, "{answers:#?}");
    for answer in bad {
        assert_eq!(
            (answer.status, answer.code()),
            (5, "run_active"),
            "{answer:#?}"
        );
    }
    let run = env.run_folder();
    assert!(run.ends_with(good[0].json()["runId"].as_str().unwrap()));
    assert_eq!(env.tm(&["log", "verify"]).ok()["whole"], true);
    assert_eq!(
        env.git(&["branch", "--format=%(refname:short)"])
            .lines()
            .count(),
        2
    );
}

#[test]
fn readers_never_see_half_a_state() {
    let env = TestEnvironment::started();
    env.write("tests/a.sh", "test\n");
    let mut commands: Vec<String> = ["next", "status"]
        .repeat(5)
        .into_iter()
        .map(str::to_owned)
        .collect();
    commands.insert(4, "complete red --results failed:1,passed:0".to_owned());
    commands.push("pause".to_owned());
    for answer in at_once(&env, &commands) {
        assert!(matches!(answer.status, 0 | 5), "{answer:#?}");
    }
}
