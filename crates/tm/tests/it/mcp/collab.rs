//! Sessions of skills over MCP.

use serde_json::{Value, json};

use super::stage::{Client, Stage, asked, refused, yes};
use crate::program::collab_walk::{Caller, ONE_OF_EACH, Walk, two_waves};
use testkit::mcp::{Server, envelope};

impl Caller for Server {
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.tool(tool, arguments)
    }
}

fn server(stage: &Stage) -> Client {
    stage.serving(&["--tools", "collab"], &json!({}))
}

/// An answer that counts or does not, and what else it tells.
fn tells(answer: &Value, validated: bool, field: &str, value: &str) {
    let told = (&answer["validated"], &answer[field]);
    assert_eq!(told, (&validated.into(), &value.into()), "{answer}");
}

#[test]
fn a_session_with_one_of_each_takes_forty_completions() {
    let stage = Stage::new();
    let mut server = server(&stage);
    let mut walk = Walk::new(&mut *server, "forty");
    walk.thorough = true;
    walk.whole(&ONE_OF_EACH, 2, two_waves);
    let full = json!({ "session": "forty", "full": true });
    let state = server.tool("get_session_state", &full);
    let by_hand = stage.tm(0, &["collab", "state", "--full", "--session", "forty"]);
    assert_eq!(state, by_hand, "it is the same on the command line");
    assert_eq!(state["completedTasks"].as_array().unwrap().len(), 4);
    stage.verify();
}

#[test]
fn a_refusal_is_an_answer_and_names_tools() {
    let stage = Stage::new();
    let mut server = server(&stage);
    let mut skill = |arguments: Value| server.tool("complete_skill", &arguments);
    skill(json!({ "skill": "collab-start", "session": "s" }));
    let refused = skill(json!({ "skill": "collab-clear" }));
    tells(&refused, false, "next_skill", "gather-session-goals");
    assert_eq!(refused["state"], "gather-goals");
    let unknown = skill(json!({ "skill": "nonsense" }));
    assert!(unknown["valid_skills"].is_array(), "{unknown}");
    let stale = skill(json!({ "skill": "gather-session-goals", "unitId": "nonsense" }));
    tells(&stale, false, "code", "stale_unit");

    for field in ["state", "bogus"] {
        let both = json!({ "hasSnapshot": true, field: 1 });
        let set = server.tool("update_session_state", &both);
        tells(&set, false, "code", "read_only");
    }
    let state = server.tool("get_session_state", &json!({ "full": true }));
    assert_eq!(state["hasSnapshot"], false, "all or none: {state}");
}

#[test]
fn names_are_read_as_agents_spell_them() {
    let stage = Stage::new();
    let mut server = server(&stage);
    let root = stage.project();
    let begin =
        json!({ "skill": "collab-start", "projectRoot": root, "sessionId": "s", "unitId": null });
    let begun = server.tool("complete_skill", &begin);
    assert_eq!(begun["session"], "s");
    let items = json!([{ "number": "1", "title": "Mend", "type": "bugfix" }]);
    let mut update = |fields: Value| server.tool("update_session_state", &fields);
    let all = json!({ "project": root, "session": "s", "workItems": items, "currentItem": "1" });
    assert_eq!(update(all)["fields"]["currentItem"], 1);
    // A wish can be taken back; elsewhere `null` is left out, and a list may come as the text that some clients make of it.
    let back = update(json!({ "currentItem": null, "hasSnapshot": null, "workItems": null }));
    assert_eq!(back["fields"], json!({ "currentItem": null }), "{back}");
    let packed = update(json!({ "workItems": items.to_string(), "currentItem": 1 }));
    assert_eq!(packed["fields"]["totalItems"], 1, "{packed}");
    let named = json!({ "skill": "gather-session-goals", "unit_id": begun["unit_id"] });
    let gathered = server.tool("complete_skill", &named);
    tells(&gathered, true, "next_skill", "collab-clear");
    // It is understood, and comes too early.
    let task = json!({ "taskId": "item-1", "status": "failed", "outcome": "failed" });
    let early = Server::call(&mut server, "update_task_status", &task);
    assert_eq!(early["structuredContent"]["code"], "not_now", "{early}");

    let half = json!({ "tasks": [{ "id": "x", "status": "failed" }, { "id": "y" }] });
    let fault = refused(&mut server, "update_tasks_status", &half);
    assert_eq!(fault["code"], "usage", "{fault}");
    let nobody = json!({ "session": "nobody" });
    let fault = refused(&mut server, "get_session_state", &nobody);
    let begin = "complete_skill(session: nobody, skill: collab-start)";
    assert_eq!(fault["recovery"], begin);
}

#[test]
fn the_prompt_and_the_stateless_era_know_the_session_too() {
    let stage = Stage::new();
    let mut server = stage.server(&["--tools", "collab"]);
    let mut params = json!({
        "name": "collab", "arguments": { "session": "s", "goals": "Parse dates" },
        "_meta": envelope("2026-07-28", &json!({})),
    });
    let prompt = server.request("prompts/get", &params).to_string();
    assert!(prompt.contains("`complete_skill`") && prompt.contains("Parse dates"));
    params["arguments"] = json!({ "session": "a\" or b" });
    server.refused("prompts/get", &params);
    params["name"] = "complete_skill".into();
    params["arguments"] = json!({ "skill": "collab-start" });
    let begun = server.request("tools/call", &params);
    let next = &begun["structuredContent"]["next_skill"];
    assert_eq!(next, "gather-session-goals", "{begun}");
}

/// What comes of it is shown in `crates/engine/tests/it/collab/back.rs`.
#[test]
fn work_is_taken_up_again_and_given_up() {
    let stage = Stage::new();
    let mut server = stage.asking();
    let mut call = |tool: &str, arguments: Value| server.tool(tool, &arguments);
    call("complete_skill", json!({ "skill": "collab-start" }));
    let one = json!([{ "number": 1, "title": "One", "type": "bugfix" }]);
    call("update_session_state", json!({ "workItems": one }));
    call("complete_skill", json!({ "skill": "gather-session-goals" }));
    let at = call("complete_skill", json!({ "skill": "collab-clear" }));
    let two = json!([{ "title": "Two", "type": "bugfix" }]);
    let added = call("update_session_state", json!({ "addItems": two }));
    let fields = json!({ "totalItems": 2, "addedItems": [2] });
    assert_eq!(added["fields"], fields);
    let why = "the cause was another";
    let back = json!({ "reason": why, "unitId": at["unit_id"] });
    let again = call("reopen_work", back.clone());
    assert_eq!(again["nextAction"]["action"], "work", "{again}");
    // Given again at the unit that it ended, it is not done again.
    let clear = json!({ "skill": "collab-clear", "unitId": again["nextAction"]["unitId"] });
    let told = call("complete_skill", clear);
    let not_again = call("reopen_work", back);
    assert_eq!(not_again["nextAction"]["unitId"], told["unit_id"]);
    assert!(told["instructions"].to_string().contains(why), "{told}");
    // A person is asked before something is given up.
    let before = stage.journal();
    let skip = json!({ "item": "2", "reason": "nobody needs it" });
    let no = json!({ "action": "cancel" });
    let (question, no) = asked(&mut server, ("skip_work", &skip), &no);
    assert!(question.contains("nobody needs it"), "{question}");
    assert_eq!(no["error"]["code"], "declined", "{no}");
    assert_eq!(stage.journal(), before);
    let (_, given_up) = asked(&mut server, ("skip_work", &skip), &yes());
    assert_eq!(given_up["nextAction"]["action"], "work", "{given_up}");
    let no_item = json!({ "item": "7", "reason": "no" });
    let unknown = refused(&mut server, "skip_work", &no_item);
    assert_eq!(unknown["code"], "unknown_item");
    let stale = json!({ "reason": "no", "unitId": "gone" });
    let stale = refused(&mut server, "skip_work", &stale);
    assert_eq!(stale["code"], "stale_unit");
}
