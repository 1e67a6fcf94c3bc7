//! Cheats behind GREEN, and around the run: the commit, the rules.

use super::stage::{CODE, GREEN, SPACES, Stage, WORDS};

#[test]
fn files_changed_between_green_and_the_commit() {
    let stage = Stage::in_commit();
    for (file, text) in [
        (CODE, Some("spaces() { echo 1; }\n")),
        (SPACES, Some("test_spaces() { true; }\n")),
        (WORDS, None),
        ("src/more.sh", Some("more() { :; }\n")),
    ] {
        stage.put(file, text);
        stage.refused("commit", "changed_after_green", &[file]);
        stage.restore();
    }
    // What is new stays, and is tested.
    stage.reopen();
    stage.accepts(GREEN);
    stage.auto("commit").ok();
}

#[test]
fn the_rules_are_those_of_the_start() {
    const SETTINGS: &str = ".taskmaster/config.json";
    let stage = Stage::in_green("");
    let config = stage.read(SETTINGS);
    let without_end = config.strip_suffix('}').unwrap();
    let looser = r#""evidence": {"policy": {"tests_changed": "off"}}"#;
    stage.write(SETTINGS, format!("{without_end}, {looser}}}"));
    let key = "evidence.policy.tests_changed";
    stage.report_refused(GREEN, "config_loosened", &[key]);
    // Another command in the settings comes along with the commit: it is told, and what is run is that of the start.
    stage.write(SETTINGS, config.replace("sh run.sh", "true"));
    let run = "complete green --verify";
    stage.refused(run, "command_replaced", &["settings", "true"]);
    stage.allow("autopilot", "command_replaced");
    assert_eq!(stage.auto(run).code(), "green_tests_still_failing");
}

#[test]
fn a_command_that_always_passes() {
    let package = r#"{"name": "words", "version": "1.0.0", "scripts": {"test": "sh run.sh", "lint": "true"}}"#;
    let test = r#""command": "npm test""#;
    let node = Stage::with_test(test, "", &[("package.json", package)]);
    node.start();
    node.red();
    node.code("spaces");
    node.write("package.json", package.replace("sh run.sh", "true"));
    node.report_refused(GREEN, "command_replaced", &["package.json"]);
    // What else stands there may change: another script, a dependency, the version.
    let other = package
        .replace(r#""lint": "true""#, r#""lint": "eslint .""#)
        .replace("1.0.0", "1.1.0");
    node.write("package.json", other);
    node.accepts(GREEN);
}
