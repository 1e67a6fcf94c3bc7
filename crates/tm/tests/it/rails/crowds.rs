//! Many processes at once: one of them moves the run. Crowds of starts and of commits are told where processes are killed.

use super::environment::{TestEnvironment, fails};
use testkit::Outcome;

/// Starts all of them before it waits for the first. Those that succeeded, and those that did not.
fn at_once(env: &TestEnvironment, commands: &[impl AsRef<str>]) -> (Vec<Outcome>, Vec<Outcome>) {
    let begin = |words: &_| env.spawn(AsRef::as_ref(words));
    let children: Vec<_> = commands.iter().map(begin).collect();
    let answers = children
        .into_iter()
        .map(|child| Outcome::waited(child).answered());
    answers.partition(|answer| answer.status == 0)
}

/// The others are told that it was reported before, with other content; without a unit the very same report is answered again.
#[test]
fn of_many_reports_of_a_unit_one_moves_it() {
    for (unit, different, accepted) in [("--unit workUnit-1.1-RED", 12, 1), ("1.1", 3, 4)] {
        let env = TestEnvironment::started();
        env.write("tests/a.sh", "test\n");
        let results = |n| format!("--results failed:{},passed:0", 1 + n % different);
        let report = |n| format!("complete red {unit} {}", results(n));
        let reports: Vec<String> = (0..12).map(report).collect();
        let (good, bad) = at_once(&env, &reports);
        for answer in &bad {
            fails(answer, 5, "stale_unit");
        }
        for answer in good.iter().chain(&bad) {
            let next = &answer.json()["nextAction"]["unitId"];
            assert_eq!(next, "workUnit-1.1-GREEN", "{answer:#?}");
        }
        let events = env.events();
        let moves = events.iter().filter(|event| *event == "report:accepted");
        assert_eq!((good.len(), moves.count()), (accepted, 1), "{unit}");
        env.journal_is_whole();
    }
}
