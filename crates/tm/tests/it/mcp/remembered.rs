//! A server remembers runs from one call to the next. What others do meanwhile, to the run or to its files, counts all the same.

use std::fs;

use serde_json::{Value, json};

use super::stage::{Client, Stage, refused};
use testkit::mcp::Server;

/// A session of two bugs, at the clear before the first, and its server.
fn begun(stage: &Stage) -> Client {
    let mut server = stage.serving(&["--tools", "collab"], &json!({}));
    let item = |number: u8| json!({ "number": number, "title": "Mend", "type": "bugfix" });
    let items = json!({ "session": "s", "workItems": [item(1), item(2)] });
    server.tool("update_session_state", &items);
    for skill in ["collab-start", "gather-session-goals"] {
        done(&mut server, skill);
    }
    server
}

fn done(server: &mut Server, skill: &str) -> Value {
    server.tool("complete_skill", &json!({ "session": "s", "skill": skill }))
}

/// A completion that counts, and leads to that skill.
fn leads(answer: &Value, next: &str) {
    let told = (&answer["validated"], &answer["next_skill"]);
    assert_eq!(told, (&true.into(), &next.into()), "{answer}");
}

#[test]
fn what_another_process_did_between_two_calls_is_seen() {
    let stage = Stage::new();
    let mut server = begun(&stage);
    leads(&done(&mut server, "collab-clear"), "systematic-debugging");
    // The command line goes on from there, and the server from where that stopped.
    testkit::write_draft(&stage.tm(0, &["collab", "state", "--session", "s"]));
    let words = "collab complete-skill systematic-debugging --session s";
    let words: Vec<&str> = words.split(' ').collect();
    leads(&stage.tm(0, &words), "collab-clear");
    let answer = done(&mut server, "collab-clear");
    leads(&answer, "systematic-debugging");
    assert_eq!(answer["item"]["number"], 2);
    stage.verify();
}

#[test]
fn a_derived_file_that_is_gone_or_changed_is_made_anew_by_the_next_call() {
    let stage = Stage::new();
    let mut server = begun(&stage);
    done(&mut server, "collab-clear");
    for name in [
        "state.json",
        "manifest.json",
        "workflow.yaml",
        "work-units.json",
    ] {
        let place = stage.run_folder().join(name);
        let whole = fs::read_to_string(&place).unwrap();
        fs::remove_file(&place).unwrap();
        // A completion that was taken in already moves nothing.
        done(&mut server, "collab-clear");
        assert_eq!(fs::read_to_string(&place).unwrap(), whole, "{name}");
        fs::write(&place, "nonsense").unwrap();
        done(&mut server, "collab-clear");
        assert_eq!(fs::read_to_string(&place).unwrap(), whole, "{name}");
    }
}

#[test]
fn a_journal_that_was_cut_back_or_edited_is_not_gone_on_with_from_memory() {
    let stage = Stage::new();
    let mut server = begun(&stage);
    let before = stage.journal();
    done(&mut server, "collab-clear");
    // As if the last call had never been: the run stands where the journal says.
    fs::write(stage.journal_path(), &before).unwrap();
    for known in ["snapshot.json", "lock"] {
        fs::remove_file(stage.run_folder().join(known)).unwrap();
    }
    leads(&done(&mut server, "collab-clear"), "systematic-debugging");
    stage.verify();
    let edited = stage
        .journal()
        .replacen("systematic-debugging", "systematic-debugginG", 1);
    fs::write(stage.journal_path(), edited).unwrap();
    fs::remove_file(stage.run_folder().join("snapshot.json")).ok();
    assert_ne!(stage.json(&["log", "verify"]).status, 0);
}

#[test]
fn a_run_whose_folder_is_gone_is_gone() {
    let stage = Stage::new();
    let mut server = begun(&stage);
    fs::remove_dir_all(stage.run_folder()).unwrap();
    let again = json!({ "session": "s", "skill": "collab-clear" });
    let fault = refused(&mut server, "complete_skill", &again);
    assert_eq!(fault["code"], "no_run");
}
