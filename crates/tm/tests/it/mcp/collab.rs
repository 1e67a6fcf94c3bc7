//! Sessions of skills over MCP.

use serde_json::{Value, json};

use super::stage::Stage;
use crate::program::collab_walk::{Caller, ONE_OF_EACH, Walk, mixes, one_wave, two_waves};
use testkit::mcp::{Server, envelope};

impl Caller for Server {
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.tool(tool, arguments)
    }
}

fn server(stage: &Stage) -> Server {
    let mut server = stage.server(&["--tools", "collab"]);
    server.initialize("2025-11-25", &json!({}));
    server
}

/// The fault of a call that fails.
fn fault(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    let mut result = Server::call(server, tool, arguments);
    assert_eq!(result["isError"], true, "{tool}: {result}");
    result["structuredContent"]["error"].take()
}

#[test]
fn a_session_with_one_of_each_takes_forty_completions() {
    let stage = Stage::new();
    let mut server = server(&stage);
    let mut walk = Walk::new(&mut server, "forty");
    walk.thorough = true;
    walk.whole(&ONE_OF_EACH, 2, two_waves);
    let full = json!({ "session": "forty", "full": true });
    let state = server.tool("get_session_state", &full);
    let by_hand = stage.tm(0, &["collab", "state", "--full", "--session", "forty"]);
    assert_eq!(state, by_hand, "it is the same on the command line");
    assert_eq!(state["completedTasks"].as_array().unwrap().len(), 4);
    stage.verify();
    server.end();
}

#[test]
fn every_mix_of_items_comes_to_its_end() {
    let stage = Stage::new();
    let mut server = server(&stage);
    for kinds in mixes(2) {
        let name = kinds.join("-");
        Walk::new(&mut server, &name).whole(&kinds, 1, one_wave);
    }
    server.end();
}

#[test]
fn a_refusal_is_an_answer_and_names_tools() {
    let stage = Stage::new();
    let mut server = server(&stage);
    let begun = server.tool(
        "complete_skill",
        &json!({ "skill": "collab-start", "session": "s" }),
    );
    let words = begun["instructions"].as_str().unwrap();
    assert!(!words.contains("tm collab"), "tools, not commands: {words}");
    assert!(words.contains("`complete_skill`"), "{words}");

    let refused = server.tool("complete_skill", &json!({ "skill": "collab-clear" }));
    assert_eq!(
        (
            &refused["validated"],
            &refused["next_skill"],
            &refused["state"]
        ),
        (
            &false.into(),
            &"gather-session-goals".into(),
            &"gather-goals".into()
        )
    );
    assert!(
        !refused["suggestion"]
            .as_str()
            .unwrap()
            .contains("tm collab"),
        "{refused}"
    );
    let unknown = server.tool("complete_skill", &json!({ "skill": "nonsense" }));
    assert!(
        unknown["valid_skills"].as_array().unwrap().len() > 10,
        "{unknown}"
    );
    let stale = server.tool(
        "complete_skill",
        &json!({ "skill": "gather-session-goals", "unitId": "nonsense" }),
    );
    assert_eq!(
        (&stale["validated"], &stale["code"]),
        (&false.into(), &"stale_unit".into())
    );

    for field in ["state", "phase", "batches", "totalItems", "bogus"] {
        let set = server.tool(
            "update_session_state",
            &json!({ "hasSnapshot": true, field: 1 }),
        );
        assert_eq!(
            (&set["validated"], &set["code"]),
            (&false.into(), &"read_only".into()),
            "{field}: {set}"
        );
    }
    let state = server.tool("get_session_state", &json!({ "full": true }));
    assert_eq!(state["hasSnapshot"], false, "all or none: {state}");
    server.end();
}

#[test]
fn names_are_read_as_agents_spell_them() {
    let stage = Stage::new();
    let mut server = server(&stage);
    let root = stage.project();
    let root = root.to_str().unwrap();
    let begun = server.tool(
        "complete_skill",
        &json!({ "skill": "collab-start", "projectRoot": root, "sessionId": "s", "unitId": null }),
    );
    assert_eq!(begun["session"], "s");
    let items = json!([{ "number": "1", "title": "Mend", "type": "bugfix" }]);
    let set = json!({ "project": root, "session": "s", "workItems": items, "currentItem": "1" });
    let set = server.tool("update_session_state", &set);
    assert_eq!(set["fields"]["currentItem"], 1, "{set}");
    // A wish can be taken back; elsewhere `null` is left out, and a list may come as the text that some clients make of it.
    let back = json!({ "currentItem": null, "hasSnapshot": null, "workItems": null });
    let back = server.tool("update_session_state", &back);
    assert_eq!(
        (&back["validated"], &back["fields"]),
        (&true.into(), &json!({ "currentItem": null })),
        "{back}"
    );
    let packed = server.tool(
        "update_session_state",
        &json!({ "workItems": items.to_string(), "currentItem": 1 }),
    );
    assert_eq!(packed["fields"]["totalItems"], 1, "{packed}");
    let unit = &begun["unit_id"];
    let mut skill = json!({ "skill": "gather-session-goals", "unit_id": unit });
    for next in [
        "collab-clear",
        "systematic-debugging",
        "collab-clear",
        "ready-to-implement",
        "collab-clear",
    ] {
        testkit::write_draft(&server.tool("get_session_state", &json!({})));
        server.tool("complete_skill", &skill);
        skill = json!({ "skill": next });
    }
    server.tool("complete_skill", &skill);
    let task = json!({ "taskId": "item-1", "status": "failed", "outcome": "failed" });
    let stored = server.tool("update_task_status", &task);
    assert_eq!(
        (&stored["validated"], &stored["remaining"]),
        (&true.into(), &0.into())
    );

    for (tool, arguments, told) in [
        ("complete_skill", json!({}), "`skill` is missing"),
        (
            "complete_skill",
            json!({ "skill": "x", "bogus": 1 }),
            "`bogus`",
        ),
        ("get_session_state", json!({ "full": "yes" }), "`full`"),
        (
            "update_task_status",
            json!({ "id": "x" }),
            "`status` is missing",
        ),
        ("update_tasks_status", json!({}), "`tasks` is missing"),
        ("update_tasks_status", json!({ "tasks": [1] }), "`tasks[0]`"),
        (
            "update_tasks_status",
            json!({ "tasks": [{ "id": "x", "status": "failed" }, { "id": "y" }] }),
            "`tasks[1].status`",
        ),
        (
            "update_tasks_status",
            json!({ "tasks": [{ "id": "x", "status": "failed", "why": 1 }] }),
            "`tasks[0].why`",
        ),
        ("sync_task_graph", json!({ "document": 1 }), "`document`"),
    ] {
        let fault = fault(&mut server, tool, &arguments);
        assert_eq!(fault["code"], "bad_arguments", "{fault}");
        assert!(fault["message"].as_str().unwrap().contains(told), "{fault}");
    }
    let nobody = fault(
        &mut server,
        "get_session_state",
        &json!({ "session": "nobody" }),
    );
    assert!(
        !nobody["suggestion"].as_str().unwrap().contains("tm collab"),
        "{nobody}"
    );
    assert_eq!(
        nobody["recovery"],
        "complete_skill with session nobody, skill collab-start"
    );
    server.end();
}

#[test]
fn the_prompt_and_the_stateless_era_know_the_session_too() {
    let stage = Stage::new();
    let mut server = stage.server(&["--tools", "collab"]);
    let mut params = json!({
        "name": "collab", "arguments": { "session": "s", "goals": "Parse dates" },
        "_meta": envelope("2026-07-28", &json!({})),
    });
    let prompt = server.request("prompts/get", &params);
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    for told in [
        "`complete_skill`",
        "session \"s\"",
        "Parse dates",
        "`get_session_state`",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    params["arguments"] = json!({ "session": "a\" or b" });
    server.refused("prompts/get", &params);

    let begun = server.request(
        "tools/call",
        &json!({
            "name": "complete_skill", "arguments": { "skill": "collab-start" },
            "_meta": envelope("2026-07-28", &json!({})),
        }),
    );
    assert_eq!(
        begun["structuredContent"]["next_skill"], "gather-session-goals",
        "{begun}"
    );
    server.end();
}

#[test]
fn work_is_taken_up_again_and_given_up() {
    let stage = Stage::new();
    let mut server = server(&stage);
    let mut call = |tool: &str, arguments: Value| server.tool(tool, &arguments);
    call("complete_skill", json!({ "skill": "collab-start" }));
    let items = json!([{ "number": 1, "title": "One", "type": "bugfix" }]);
    call("update_session_state", json!({ "workItems": items }));
    call("complete_skill", json!({ "skill": "gather-session-goals" }));
    call("complete_skill", json!({ "skill": "collab-clear" }));
    let late = json!([{ "title": "Two", "type": "bugfix" }]);
    let added = call("update_session_state", json!({ "addItems": late }));
    assert_eq!(
        added["fields"],
        json!({ "totalItems": 2, "addedItems": [2] })
    );
    let why = "the cause was another";
    let again = call("reopen_work", json!({ "item": "1", "reason": why }));
    assert_eq!(again["next_skill"], "collab-clear", "{again}");
    // Given again at the unit that it ended, it is not done again; at any other it is refused.
    let item = call(
        "complete_skill",
        json!({ "skill": "collab-clear", "unitId": again["unit_id"] }),
    );
    let back = json!({ "reason": why, "unitId": item["unit_id"] });
    let again = call("reopen_work", back.clone());
    assert_eq!(again["next_skill"], "collab-clear", "{again}");
    let repeated = call("reopen_work", json!({ "reason": why }));
    assert_eq!(repeated["unit_id"], again["unit_id"], "{repeated}");
    let item = call(
        "complete_skill",
        json!({ "skill": "collab-clear", "unitId": again["unit_id"] }),
    );
    let not_again = call("reopen_work", back);
    assert_eq!(not_again["validated"], true, "{not_again}");
    assert_eq!(not_again["unit_id"], item["unit_id"], "{not_again}");
    let again = call("reopen_work", json!({ "item": "1", "reason": why }));
    let told = call(
        "complete_skill",
        json!({ "skill": "collab-clear", "unitId": again["unit_id"] }),
    );
    assert!(
        told["instructions"].as_str().unwrap().contains(why),
        "{told}"
    );
    let given_up = call("skip_work", json!({ "item": "2", "reason": "no" }));
    assert_eq!(given_up["next_skill"], "systematic-debugging", "{given_up}");
    let refused = call("skip_work", json!({ "item": "7", "reason": "no" }));
    assert_eq!(refused["code"], "unknown_item", "{refused}");
    assert!(
        !refused["suggestion"].as_str().unwrap().contains("tm "),
        "{refused}"
    );
    let stale = server.call("skip_work", &json!({ "reason": "no", "unitId": "gone" }));
    assert_eq!(stale["structuredContent"]["error"]["code"], "stale_unit");
    server.end();
}

#[test]
fn a_person_is_asked_before_work_is_given_up() {
    let stage = Stage::new();
    let mut server = stage.server(&["--tools", "collab"]);
    server.initialize("2025-11-25", &json!({ "elicitation": {} }));
    server.tool("complete_skill", &json!({ "skill": "collab-start" }));
    let items = json!([{ "number": 1, "title": "One", "type": "code" }, { "number": 2, "title": "Two", "type": "code" }]);
    server.tool("update_session_state", &json!({ "workItems": items }));
    for skill in ["gather-session-goals", "collab-clear"] {
        server.tool("complete_skill", &json!({ "skill": skill }));
    }
    let before = stage.journal();
    for (accepted, told) in [(false, "declined"), (true, "validated")] {
        let arguments = json!({ "item": "2", "reason": "nobody needs it" });
        let call = json!({ "name": "skip_work", "arguments": arguments });
        let id = server.ask("tools/call", &call);
        let question = server.hear();
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.starts_with("Give up item 2 of "), "{message}");
        assert!(message.ends_with("\nReason: nobody needs it"), "{message}");
        assert_eq!(stage.journal(), before, "{message}");
        let content = json!({ "action": "accept", "content": { "confirm": accepted } });
        server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": content }));
        let done = server.answer(&id.into());
        assert!(done.to_string().contains(told), "{done}");
    }
    assert_ne!(stage.journal(), before);
    server.end();
}
