//! A client that dies, or takes its server with it, in the middle of a commit.

use std::fs::File;

use serde_json::{Value, json};

use super::stage::{Stage, answer, ask};
use testkit::mcp::{Ended, Server};

/// A run that stands still in the middle of a commit: the server that makes it, and what holds it up.
fn in_the_middle(stage: &Stage) -> (Server, File, u64) {
    let gate = stage.gate_commits();
    let mut server = stage.session().let_go();
    let id = ask(&mut server, "autopilot_commit", &json!({}));
    (server, gate.wait(), id)
}

/// Another client goes on, and finds one commit whatever happened.
fn another_goes_on(stage: &Stage) {
    let mut server = stage.session();
    let made = server.tool("autopilot_commit", &json!({ "subtaskId": "1.1" }));
    assert_eq!(made["commitSha"], stage.head());
    assert_eq!(stage.commits(), 1);
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    let next = server.tool("autopilot_next", &json!({}));
    assert_eq!(next["unitId"], "workUnit-1.2-RED", "{next}");
    stage.verify();
}

fn ended_well(ended: &Ended) {
    assert_eq!((ended.status, &*ended.errors), (Some(0), ""), "{ended:?}");
}

/// How it dies itself at each place of a commit is shown in `kill`.
#[test]
fn a_client_that_hangs_up_and_a_signal_let_a_commit_finish() {
    for hangs_up in [true, false] {
        let stage = Stage::at_commit();
        let (mut server, held, id) = in_the_middle(&stage);
        if hangs_up {
            server.hang_up();
            drop(held);
            let ended = server.ended();
            ended_well(&ended);
            // It may still read, so it may still be answered; it need not be.
            let of_call = |answer: &Value| answer["id"] == id;
            assert!(ended.rest.iter().all(of_call), "{ended:?}");
        } else {
            server.terminate();
            drop(held);
            assert_eq!(answer(&mut server, id)["commitSha"], stage.head());
            ended_well(&server.ended());
        }
        another_goes_on(&stage);
    }
}

#[test]
fn a_server_with_nothing_to_do_ends_at_once() {
    let stage = Stage::new();
    // Before a session, in one, and without a client.
    drop(stage.server(&[]));
    drop(stage.session());
    let mut outside = stage.server(&[]).let_go();
    // One that has only just been started may not have heard of signals yet.
    let id = outside.ask("ping", &json!({}));
    assert_eq!(outside.hear()["id"], id);
    for server in [outside, stage.session().let_go()] {
        server.terminate();
        ended_well(&server.ended());
    }
    let alone = testkit::Sandbox::tm(&stage, &["mcp"]);
    assert_eq!((alone.text(), &*alone.err), ("", ""));
}
