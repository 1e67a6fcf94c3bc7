//! Both eras of the protocol: a session that is begun, and requests that stand by themselves.

use serde_json::{Value, json};

use super::stage::{Stage, refused};
use testkit::mcp::envelope;

const CURRENT: &str = "2026-07-28";

/// Every answer of the stateless era says what it is.
fn complete(result: &Value) {
    assert_eq!(result["resultType"], "complete", "{result}");
}

#[test]
fn a_session_speaks_the_version_that_the_client_knows() {
    let stage = Stage::new();
    for (asked, spoken) in [
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2024-11-05"),
        // What is not known is answered with what is.
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut server = stage.server(&[]);
        let begun = server.initialize(asked, &json!({}));
        assert_eq!(begun["protocolVersion"], spoken, "{asked}");
        assert_eq!(begun["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        for capability in ["tools", "resources", "prompts", "completions", "logging"] {
            assert!(begun["capabilities"][capability].is_object(), "{begun}");
        }
        let listed = server.request("tools/list", &json!({}));
        assert!(listed.get("resultType").is_none(), "of the other era");
    }
}

#[test]
fn a_request_stands_by_itself_and_has_an_envelope() {
    let stage = Stage::started();
    let mut server = stage.server(&[]);
    assert_eq!(server.refused("tools/list", &json!({}))["code"], -32602);
    let future = json!({ "_meta": envelope("2099-01-01", &json!({})) });
    let unknown = server.refused("server/discover", &future);
    assert_eq!(unknown["code"], -32022, "{unknown}");
    assert_eq!(unknown["data"]["requested"], "2099-01-01");
    // It was told why, and the next one is right.
    let meta = envelope(CURRENT, &json!({}));
    let found = server.request("server/discover", &json!({ "_meta": meta }));
    complete(&found);
    assert_eq!(found["supportedVersions"], unknown["data"]["supported"]);
    assert!(found["instructions"].is_string());
    for method in [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
    ] {
        let listed = server.request(method, &json!({ "_meta": meta }));
        complete(&listed);
        let cached = (&listed["ttlMs"], &listed["cacheScope"]);
        assert_eq!(cached, (&json!(0), &json!("private")), "{method}");
    }
    let call = json!({ "_meta": meta, "name": "autopilot_status", "arguments": {} });
    let status = server.request("tools/call", &call);
    complete(&status);
    assert_eq!(status["structuredContent"]["status"], "running");
}

/// A call that a person has to confirm, in the stateless era: with what was sealed, and with what was not.
#[test]
fn an_answer_counts_only_for_what_was_asked() {
    let stage = Stage::started();
    let mut server = stage.server(&[]);
    let meta = envelope(CURRENT, &json!({ "elicitation": { "form": {} } }));
    let arguments = json!({ "cleanup": true });
    let mut call = json!({ "_meta": meta, "name": "autopilot_abort", "arguments": arguments });
    let open = server.request("tools/call", &call);
    assert_eq!(open["resultType"], "input_required", "{open}");
    let question = &open["inputRequests"]["confirm"];
    assert_eq!(question["method"], "elicitation/create", "{open}");
    let state = open["requestState"].as_str().unwrap();

    // A yes without what was sealed is no yes: it is asked again.
    call["inputResponses"] = json!({ "confirm": super::stage::yes() });
    let again = server.request("tools/call", &call);
    assert_eq!(again["resultType"], "input_required", "{again}");
    // Bent, or made up; for another call; and of another process.
    let bent = state.replacen(|c: char| c.is_ascii_alphanumeric(), "_", 1);
    for sealed in [&*bent, "", "yes"] {
        call["requestState"] = sealed.into();
        assert_eq!(server.refused("tools/call", &call)["code"], -32602);
    }
    call["requestState"] = state.into();
    let mut other = call.clone();
    other["arguments"]["force"] = true.into();
    assert_eq!(server.refused("tools/call", &other)["code"], -32602);
    // Of another client it is asked again.
    let mut other = call.clone();
    other["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = "eve".into();
    let again = server.request("tools/call", &other);
    assert_eq!(again["resultType"], "input_required", "{again}");
    let mut stranger = stage.server(&[]);
    assert_eq!(stranger.refused("tools/call", &call)["code"], -32602);
    assert_eq!(stage.status()["status"], "running");

    let done = server.request("tools/call", &call);
    complete(&done);
    assert_eq!(done["structuredContent"]["cleanedUp"], true, "{done}");
    stage.tm(4, &["autopilot", "status"]);
}

/// Where the client cannot ask, the person gets a command that does the same, whatever is in its words.
#[test]
fn a_person_who_cannot_be_asked_gets_a_command() {
    let stage = Stage::started();
    let first = stage.status()["runId"].take();
    let mut server = stage.session();
    let arguments = json!({
        "title": "It's $HOME; touch pwned",
        "subtasks": ["--force", "`two` \"words\""],
        "options": { "maxAttempts": 2 },
        "force": true,
        "projectRoot": stage.project(),
    });
    let error = refused(&mut server, "autopilot_start", &arguments);
    assert_eq!(error["code"], "needs_confirmation", "{error}");
    let command = error["recovery"].as_str().unwrap();
    assert!(error["suggestion"].as_str().unwrap().contains(command));
    assert_eq!(stage.status()["runId"], first);

    let done = stage.shell(&format!("{command} --json"));
    let started: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!(done.status.success(), "{command}: {started}");
    assert_ne!(started["runId"], first);
    let next = server.tool("autopilot_next", &json!({}));
    assert_eq!(next["context"]["taskTitle"], arguments["title"], "{next}");
    assert_eq!(next["subtask"]["title"], "--force", "{next}");
    assert!(!stage.project().join("pwned").exists());
    assert_eq!(stage.status()["maxAttempts"], 2);
}
