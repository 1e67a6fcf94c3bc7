//! Calls that their caller gives up while the tests run.

use std::fs;
use std::process::{Child, Stdio};

use serde_json::json;
use testkit::mcp::Server;
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

/// How many suites were run.
fn suites(stage: &Stage) -> usize {
    let ran = fs::read_to_string(stage.outside("ran")).unwrap();
    ran.lines().count()
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
    assert_eq!(suites(&stage), 4);
    let calls = files::list(&stage.calls());
    assert_eq!(calls.len(), 1, "{calls:?}");
}

/// Makes a call of the tool, and does not wait for it.
fn tool_call(server: &mut Server) -> u64 {
    let call = json!({
        "name": "autopilot_complete_phase",
        "arguments": { "phase": "RED", "verify": true },
    });
    server.ask("tools/call", &call)
}

#[test]
fn the_same_call_of_a_tool_joins_it_and_another_one_ends_it() {
    let stage = waiting();
    let mut server = stage.server(&[]);
    server.initialize("2025-06-18", &json!({}));
    let mut cut_off = || {
        let call = tool_call(&mut server);
        begins(&stage);
        let back = json!({ "requestId": call, "reason": "it takes a minute" });
        server.tell("notifications/cancelled", &back);
        server.request("ping", &json!({}));
    };
    cut_off();
    stage.write("tests/more_test.sh", "test_more() { false; }\n");
    cut_off();
    let joined = tool_call(&mut server);
    goes_on(&stage);
    begins(&stage);
    goes_on(&stage);
    let accepted = server.answer(&json!(joined));
    let accepted = &accepted["result"]["structuredContent"];
    assert_eq!(accepted["validated"], true, "{accepted:#}");
    assert_eq!(suites(&stage), 3);
}

#[test]
fn what_a_tool_ran_for_nobody_is_not_taken_in() {
    let stage = waiting();
    let mut server = stage.server(&[]);
    server.initialize("2025-06-18", &json!({}));
    let before = stage.journal();
    let call = tool_call(&mut server);
    begins(&stage);
    server.tell("notifications/cancelled", &json!({ "requestId": call }));
    server.request("ping", &json!({}));
    goes_on(&stage);
    begins(&stage);
    goes_on(&stage);
    server.end();
    assert_eq!(stage.journal(), before);
}
