//! A server remembers runs from one call to the next. What others do meanwhile, to the run or to its files, counts all the same.

use std::fs;

use serde_json::{Value, json};

use super::stage::Stage;
use testkit::mcp::Server;

/// A session of one bug, at the clear before it, and its server.
fn begun(stage: &Stage) -> Server {
    let mut server = stage.server(&["--tools", "collab"]);
    server.initialize("2025-11-25", &json!({}));
    let items = json!([
        { "number": 1, "title": "One", "type": "bugfix" },
        { "number": 2, "title": "Two", "type": "bugfix" },
    ]);
    server.tool(
        "update_session_state",
        &json!({ "session": "s", "workItems": items }),
    );
    for skill in ["collab-start", "gather-session-goals"] {
        done(&mut server, skill);
    }
    server
}

fn done(server: &mut Server, skill: &str) -> Value {
    server.tool("complete_skill", &json!({ "session": "s", "skill": skill }))
}

#[test]
fn what_another_process_did_between_two_calls_is_seen() {
    let stage = Stage::new();
    let mut server = begun(&stage);
    assert_eq!(done(&mut server, "collab-clear")["validated"], true);
    // The command line goes on from there, and the server from where that stopped.
    testkit::write_draft(&stage.tm(0, &["collab", "state", "--session", "s"]));
    let by_hand = stage.tm(
        0,
        &[
            "collab",
            "complete-skill",
            "systematic-debugging",
            "--session",
            "s",
        ],
    );
    assert_eq!(by_hand["next_skill"], "collab-clear");
    let answer = done(&mut server, "collab-clear");
    assert_eq!(
        (&answer["validated"], &answer["next_skill"]),
        (&true.into(), &"systematic-debugging".into()),
        "{answer}"
    );
    assert_eq!(answer["item"]["number"], 2);
    stage.verify();
    server.end();
}

#[test]
fn a_derived_file_that_is_gone_or_changed_is_made_anew_by_the_next_call() {
    let stage = Stage::new();
    let mut server = begun(&stage);
    let folder = stage.run_folder();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    done(&mut server, "collab-clear");
    for name in [
        "state.json",
        "manifest.json",
        "workflow.yaml",
        "work-units.json",
    ] {
        let whole = read(name);
        fs::remove_file(folder.join(name)).unwrap();
        // A completion that was taken in already moves nothing.
        done(&mut server, "collab-clear");
        assert_eq!(read(name), whole, "{name}");
        fs::write(folder.join(name), "nonsense").unwrap();
        done(&mut server, "collab-clear");
        assert_eq!(read(name), whole, "{name}");
    }
    server.end();
}

#[test]
fn a_journal_that_was_cut_back_or_edited_is_not_gone_on_with_from_memory() {
    let stage = Stage::new();
    let mut server = begun(&stage);
    let journal = stage.run_folder().join("activity.jsonl");
    let before = fs::read(&journal).unwrap();
    done(&mut server, "collab-clear");
    // As if the last call had never been: the run stands where the journal says.
    fs::write(&journal, &before).unwrap();
    for known in ["snapshot.json", "lock"] {
        fs::remove_file(stage.run_folder().join(known)).unwrap();
    }
    let answer = done(&mut server, "collab-clear");
    assert_eq!(
        (&answer["validated"], &answer["next_skill"]),
        (&true.into(), &"systematic-debugging".into()),
        "{answer}"
    );
    stage.verify();
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(
        &journal,
        text.replacen("systematic-debugging", "systematic-debugginG", 1),
    )
    .unwrap();
    fs::remove_file(stage.run_folder().join("snapshot.json")).ok();
    let verified = stage.program(&["log", "verify"]).output().unwrap();
    assert_ne!(verified.status.code(), Some(0));
    server.end();
}

#[test]
fn a_run_whose_folder_is_gone_is_gone() {
    let stage = Stage::new();
    let mut server = begun(&stage);
    fs::remove_dir_all(stage.run_folder()).unwrap();
    let result = Server::call(
        &mut server,
        "complete_skill",
        &json!({ "session": "s", "skill": "collab-clear" }),
    );
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result["structuredContent"]["error"]["code"], "no_session");
    server.end();
}
