//! Calls that their caller gives up while the tests run.

use std::fs;
use std::process::{Child, Stdio};

use testkit::{Outcome, files};

use super::stage::{Stage, VERIFIED_RED};
use crate::rails::environment::autopilot;

/// A project whose tests tell that they begin, and then wait for a word.
fn waiting() -> Stage {
    let stage = Stage::new("");
    let [begun, word, ran] = ["begun", "word", "ran"].map(|name| stage.outside(name));
    for pipe in [&begun, &word] {
        let made = stage.process("mkfifo").arg(pipe).status().unwrap();
        assert!(made.success());
    }
    let [begun, word, ran] = [begun, word, ran].map(|path| path.display().to_string());
    let wait = format!("echo ran >>'{ran}'\necho >'{begun}'\nread word <'{word}'\n");
    stage.write("run.sh", wait + &stage.read("run.sh"));
    stage.commit_all("A runner that waits");
    fs::remove_file(stage.calls().join("quick")).unwrap();
    stage.begin("");
    stage
}

/// A call, its tests in this language.
fn call(stage: &Stage, language: &str) -> Child {
    let mut call = stage.program(&autopilot(VERIFIED_RED));
    let call = call.env("LC_ALL", language).stdout(Stdio::piped());
    call.stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until a suite begins.
fn begins(stage: &Stage) {
    fs::read(stage.outside("begun")).unwrap();
}

/// Lets a suite go on.
fn goes_on(stage: &Stage) {
    fs::write(stage.outside("word"), "go\n").unwrap();
}

/// Gives a call up, once a suite runs for it.
fn cut_off(stage: &Stage, language: &str) {
    let mut call = call(stage, language);
    begins(stage);
    call.kill().unwrap();
    call.wait().unwrap();
}

#[test]
fn the_same_call_joins_it_and_another_one_ends_it() {
    let stage = waiting();
    cut_off(&stage, "C");
    // Nobody wants to know any more what those tests say.
    stage.write("tests/more_test.sh", "test_more() { false; }\n");
    cut_off(&stage, "C");
    cut_off(&stage, "POSIX");
    let joined = call(&stage, "POSIX");
    goes_on(&stage);
    begins(&stage);
    goes_on(&stage);
    let accepted = Outcome::of(&joined.wait_with_output().unwrap()).ok();
    assert_eq!(accepted["validated"], true, "{accepted:#}");
    assert_eq!(
        fs::read_to_string(stage.outside("ran"))
            .unwrap()
            .lines()
            .count(),
        4
    );
    let calls = files::list(&stage.calls());
    assert_eq!(calls.len(), 1, "{calls:?}");
}
