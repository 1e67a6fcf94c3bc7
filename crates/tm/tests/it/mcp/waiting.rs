//! Calls that wait for their turn while another process has it: what is taken back is not done later.

use std::fs::File;

use serde_json::json;

use super::stage::{Stage, answer, ask};
use testkit::mcp::Server;

/// Holds the run as another process would.
fn hold(stage: &Stage) -> File {
    let lock = stage.run_folder().join("lock");
    let lock = File::options().write(true).open(lock).unwrap();
    lock.lock().unwrap();
    lock
}

/// Everything that was sent before has been read when this comes back.
fn settle(server: &mut Server) {
    server.request("ping", &json!({}));
}

/// Makes a call that waits.
fn pause(server: &mut Server, reason: &str) -> u64 {
    let id = ask(server, "autopilot_pause", &json!({ "reason": reason }));
    settle(server);
    id
}

#[test]
fn a_call_that_is_taken_back_is_neither_answered_nor_done() {
    let stage = Stage::started();
    let mut server = stage.session();
    let held = hold(&stage);
    let cancelled = pause(&mut server, "the one");
    let kept = pause(&mut server, "the other");
    let back = json!({ "requestId": cancelled, "reason": "the person changed their mind" });
    server.tell("notifications/cancelled", &back);
    settle(&mut server);
    drop(held);
    // The run is free now, and the other call gets its turn.
    assert_eq!(answer(&mut server, kept)["nextAction"]["action"], "paused");
    let journal = stage.journal();
    assert!(
        journal.contains("the other") && !journal.contains("the one"),
        "{journal}"
    );
}

#[test]
fn a_client_that_hangs_up_takes_back_what_waits() {
    testkit::by_chance!(3);
    let stage = Stage::started();
    let before = stage.journal();
    let mut server = stage.session();
    let held = hold(&stage);
    pause(&mut server, "nobody listens");
    // It ends although nobody gives the run free, and may or may not say so.
    server.hang_up();
    let ended = server.let_go().ended();
    assert_eq!((ended.status, &*ended.errors), (Some(0), ""), "{ended:?}");
    drop(held);
    assert_eq!(stage.journal(), before);
}

/// What can be read without a turn is read while another process has it.
#[test]
fn reading_waits_for_nobody() {
    let stage = Stage::started();
    let mut server = stage.session();
    let _held = hold(&stage);
    for tool in [
        "autopilot_status",
        "autopilot_next",
        "autopilot_get_state",
        "autopilot_next_work_unit",
    ] {
        let result = server.tool(tool, &json!({}));
        assert!(result.is_object(), "{tool}: {result}");
    }
    let listed = server.request("resources/list", &json!({}));
    for one in listed["resources"].as_array().unwrap() {
        let read = server.request("resources/read", &json!({ "uri": one["uri"] }));
        assert!(read["contents"][0]["text"].is_string(), "{read}");
    }
}
