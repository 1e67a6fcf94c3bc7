//! The demo: it is its own test, here it must pass.

use std::path::Path;

use super::environment::TestEnvironment;

#[test]
fn the_demo_tells_the_whole_story_and_leaves_nothing() {
    let environment = TestEnvironment::bare();
    let temporary = environment.home().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let output = environment
        .program(&["demo"])
        .env("TMPDIR", &temporary)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for part in [
        "refused (red_requires_failing_tests)",
        "refused (tests_missing)",
        "refused (changed_after_green)",
        "refused (command_replaced)",
        "| claimed |",
        "| reported |",
        "| verified |",
        "killed: the intent is in the journal, the result is not",
        "there is exactly one commit for this subtask",
        "the working tree is clean",
        "all of it was as it should be",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\u{1b}'));
    assert_eq!(
        std::fs::read_dir(&temporary).unwrap().count(),
        0,
        "something is left behind"
    );
    assert!(
        !environment.home().join("store").exists(),
        "the demo uses a store of its own"
    );
}

#[test]
fn the_demo_is_one_json_value_and_can_be_kept() {
    let environment = TestEnvironment::bare();
    let output = environment
        .program(&["demo", "--json", "--keep"])
        .env("TMPDIR", environment.home())
        .output()
        .unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success(), "{answer}");
    assert_eq!(answer["ok"], true);
    assert!(answer["steps"].as_array().unwrap().len() > 15, "{answer}");
    let repository = Path::new(answer["repository"].as_str().unwrap());
    assert!(repository.join("src/table.sh").is_file());
}
