//! The demo: it is its own test, here it must pass.

use super::environment::TestEnvironment;
use testkit::Outcome;

/// Runs it where what it leaves behind is seen.
fn demo(environment: &TestEnvironment, arguments: &[&str]) -> Outcome {
    let temporary = environment.home().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut demo = environment.program(arguments);
    Outcome::of(&demo.env("TMPDIR", temporary).output().unwrap())
}

#[test]
fn the_demo_tells_the_whole_story_and_leaves_nothing() {
    testkit::by_chance!(3);
    let environment = TestEnvironment::bare();
    let ran = demo(&environment, &["demo"]);
    for part in [
        "refused (red_requires_failing_tests)",
        "refused (tests_missing)",
        "refused (changed_after_green)",
        "refused (command_replaced)",
        "| claimed |",
        "| reported |",
        "| verified |",
        "killed: the intent is in the journal, the result is not",
        "all of it was as it should be",
    ] {
        assert!(ran.text().contains(part), "{part}: {ran:?}");
    }
    assert!(!ran.out.contains('\u{1b}'));
    let left = std::fs::read_dir(environment.home().join("tmp")).unwrap();
    assert_eq!(left.count(), 0, "something is left behind");
    assert!(!environment.store().exists(), "it uses a store of its own");
}
