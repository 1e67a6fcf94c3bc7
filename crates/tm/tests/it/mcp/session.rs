//! Sessions over MCP: from init to complete with nothing but what the tools say, and decisions that only a person makes.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::stage::{Client, Stage, asked, refused, yes};
use crate::session::environment::{BUNDLE as CODE, FAIL, PASS, PLAN};
use testkit::mcp::Server;

/// Begins a session of the protocol as this client.
fn client(stage: &Stage, name: &str, version: &str, capabilities: &Value) -> Client {
    let mut server = stage.server(&["--tools", "review"]);
    let about = json!({ "name": name, "version": version });
    let begin = json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": about,
    });
    server.request("initialize", &begin);
    server.tell("notifications/initialized", &json!({}));
    server
}

/// The server for a client that can do nothing.
fn plain(stage: &Stage) -> Client {
    stage.serving(&["--tools", "review"], &json!({}))
}

/// Begins a session of the review.
fn begun(server: &mut Server) -> Value {
    server.tool("session_init", &json!({ "inputs": { "request": "Greet" } }))
}

/// A session whose plan waits at a closed gate: its last answer.
fn at_plan_gate(server: &mut Server) -> Value {
    let arguments = json!({ "inputs": { "request": "Greet" }, "gates": { "plan": "human" } });
    server.tool("session_init", &arguments);
    server.tool("session_step", &json!({}));
    let arguments = json!({ "response": PLAN, "phase": "PLANNING", "run": true });
    server.tool("session_step", &arguments)
}

/// A decision on what an answer showed.
fn decision(answer: &Value, choice: &str) -> Value {
    let (gate, hash) = (&answer["nextAction"]["gate"], &answer["nextAction"]["hash"]);
    json!({ "decision": choice, "gate": gate, "hash": hash, "feedback": "Say whom it greets" })
}

fn decided(server: &mut Server, arguments: &Value, reply: &Value) -> (String, Value) {
    asked(server, ("session_decide", arguments), reply)
}

/// By which way the last decision came.
fn how(stage: &Stage) -> Option<String> {
    let journal = stage.journal();
    let events = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut ways = events.filter_map(|event| event["approval"]["how"].as_str().map(str::to_owned));
    ways.next_back()
}

/// The step that an answer says comes next.
fn next_step(answer: &Value) -> &Value {
    &answer["nextAction"]["nextSteps"][0]
}

#[test]
fn an_agent_finds_its_way_by_what_the_answers_say() {
    let stage = Stage::new();
    let mut server = plain(&stage);
    let fault = refused(&mut server, "session_status", &json!({}));
    assert_eq!(fault["recovery"], "session_init");
    let mut answer = begun(&mut server);
    assert_eq!(answer["phase"], "INITIALIZED");
    let id = answer["session_id"].clone();
    // Each round does what the last answer asks for, and nothing else is known.
    let mut written = Vec::new();
    let mut reviews = [PASS, FAIL].to_vec();
    while answer["status"] == "IN_PROGRESS" {
        let next = next_step(&answer);
        assert_eq!(next["tool"], "session_step", "{next}");
        let mut arguments = next["arguments"].clone();
        assert_eq!(arguments["sessionId"], id, "{next}");
        if let Some(prompt) = answer["prompt_text"].as_str() {
            let phase = answer["phase"].as_str().unwrap();
            assert_eq!(next["fill"], json!(["response"]), "{next}");
            assert_eq!(arguments["unitId"], answer["nextAction"]["unitId"]);
            assert!(!prompt.contains("tm session"), "no commands: {prompt}");
            written.push(phase.to_owned());
            let response = match phase {
                "PLANNING" => PLAN,
                "REVIEWING" => reviews.pop().unwrap(),
                _ => CODE,
            };
            arguments["response"] = response.into();
        }
        answer = server.tool("session_step", &arguments);
        assert_eq!(answer["advanced"], true, "{answer}");
    }
    let written = written.join(" ");
    assert_eq!(written, "PLANNING GENERATING REVIEWING REVISING REVIEWING");
    let stands = (&answer["phase"], &answer["current_iteration"]);
    assert_eq!(stands, (&"COMPLETE".into(), &2.into()));
    assert_eq!(answer["nextAction"]["action"], "complete");

    let short = server.tool("session_status", &json!({ "sessionId": id }));
    let full = server.tool("session_status", &json!({ "sessionId": id, "full": true }));
    let count = |answer: &Value, list: &str| answer[list].as_array().unwrap().len();
    assert_eq!(count(&short, "artifacts"), 10);
    assert!(count(&full, "artifacts") > 10 && count(&full, "phase_history") > 10);
    assert_eq!(short["artifacts_total"], count(&full, "artifacts"));
    let by_hand = stage.tm(0, &["session", "status"]);
    for (key, value) in by_hand.as_object().unwrap() {
        assert_eq!(&full[key], value, "{key} is the same on the command line");
    }
}

#[test]
fn a_step_that_is_blocked_is_an_answer_and_a_response_counts_once() {
    let stage = Stage::new();
    let mut server = plain(&stage);
    begun(&mut server);
    let early = refused(&mut server, "session_step", &json!({ "response": PLAN }));
    let told = (&early["code"], &early["nextSteps"][0]["tool"]);
    assert_eq!(told, (&"not_possible".into(), &"session_step".into()));
    server.tool("session_step", &json!({}));
    let blocked = server.tool("session_step", &json!({}));
    assert_eq!(blocked["advanced"], false);
    assert!(blocked["prompt_text"].is_string(), "{blocked}");

    let sent = json!({ "response": PLAN, "phase": "PLANNING", "run": true });
    let stepped = server.tool("session_step", &sent);
    let stands = (&stepped["phase"], &stepped["advanced"]);
    assert_eq!(stands, (&"GENERATING".into(), &true.into()));
    // A plan is no code. What is sent is read before it counts: a typo costs nothing, and nothing at all is no response.
    let run = |response: &str| json!({ "response": response, "run": true });
    for (sent, code) in [
        (sent, "changed_since"),
        (run("no file"), "response_unreadable"),
        (run(""), "usage"),
        (run(" \n"), "usage"),
    ] {
        let fault = refused(&mut server, "session_step", &sent);
        assert_eq!(fault["code"], code, "{sent}: {fault}");
    }
    let status = server.tool("session_status", &json!({}));
    assert_eq!(status["nextAction"], stepped["nextAction"]);

    // A file that somebody wrote is read by the step alone.
    let folder = Path::new(status["folder"].as_str().unwrap());
    let plan = folder.join("plan.md");
    let whole = fs::read(&plan).unwrap();
    fs::write(&plan, "another").unwrap();
    let changed = server.tool("session_step", &json!({}));
    assert!(changed.get("prompt_text").is_none(), "{changed}");
    assert_eq!(next_step(&changed)["step"], "restore", "{changed}");
    fs::write(&plan, whole).unwrap();
    let place = status["nextAction"]["response"].as_str().unwrap();
    fs::write(folder.join(place), "no file").unwrap();
    let broken = server.tool("session_step", &json!({ "run": true }));
    assert_eq!(broken["phase"], "ERROR");
    assert_eq!(next_step(&broken)["step"], "reopen", "{broken}");
    let fault = refused(&mut server, "session_step", &json!({ "response": PLAN }));
    assert_eq!(fault["code"], "not_possible");
    let no_hash = json!({ "decision": "approve", "gate": "plan" });
    let fault = refused(&mut server, "session_decide", &no_hash);
    assert_eq!(fault["code"], "usage");
    // A prompt that is too long is named by its file.
    let inputs = json!({ "request": "x".repeat(80 * 1024) });
    let begun = server.tool("session_init", &json!({ "inputs": inputs }));
    let step = json!({ "sessionId": begun["session_id"] });
    let stepped = server.tool("session_step", &step);
    assert_eq!(stepped["prompt_text"], Value::Null);
    assert_eq!(stepped["nextAction"]["prompt"], "planning-prompt.md");
}

#[test]
fn without_a_person_to_ask_a_gate_stays_closed_and_the_command_is_told() {
    let stage = Stage::new();
    let mut server = plain(&stage);
    let waits = at_plan_gate(&mut server);
    assert_eq!(waits["nextAction"]["gate"], "plan");
    let hash = waits["nextAction"]["hash"].as_str().unwrap();
    assert_eq!(hash, waits["plan_hash"]);
    let fault = refused(&mut server, "session_decide", &decision(&waits, "approve"));
    assert_eq!(fault["code"], "needs_confirmation");
    let command = fault["recovery"].as_str().unwrap();
    assert!(command.starts_with("tm session approve ") && command.contains(hash));
    // No name opens a gate: whoever starts the server can give any. Nor does a form from a client without a name or a version.
    let form = json!({ "elicitation": {} });
    for (name, version, capabilities) in [
        ("claude-code", "9.0.0", &json!({ "sampling": {} })),
        ("", "2.1.330", &form),
        ("claude-code", " ", &form),
    ] {
        let mut other = client(&stage, name, version, capabilities);
        let fault = refused(&mut other, "session_decide", &decision(&waits, "approve"));
        assert_eq!(fault["code"], "needs_confirmation", "{name} {version}");
    }
    let status = server.tool("session_status", &json!({}));
    assert_eq!(status["nextAction"]["gate"], "plan");
    assert_eq!(how(&stage), None);
}

#[test]
fn a_person_is_asked_about_exactly_what_is_decided() {
    let stage = Stage::new();
    let mut server = client(
        &stage,
        "claude-code",
        "2.1.330",
        &json!({ "elicitation": {} }),
    );
    let waits = at_plan_gate(&mut server);
    let approve = decision(&waits, "approve");
    // The step that is advised names what it decides on.
    let advised = &next_step(&waits)["arguments"];
    for said in ["decision", "gate", "hash"] {
        assert_eq!(advised[said], approve[said], "{advised}");
    }
    for (changed, value) in [("gate", "code".to_owned()), ("hash", "0".repeat(64))] {
        let mut other = approve.clone();
        other[changed] = value.into();
        let fault = refused(&mut server, "session_decide", &other);
        assert_eq!(fault["code"], "changed_since", "{fault}");
        assert_eq!(fault["details"]["gate"], "plan", "{fault}");
    }
    let reject = decision(&waits, "reject");
    let (_, no) = decided(&mut server, &approve, &json!({ "action": "decline" }));
    assert_eq!(no["error"]["code"], "declined", "{no}");
    let (question, back) = decided(&mut server, &reject, &yes());
    let hash = waits["nextAction"]["hash"].as_str().unwrap();
    for told in [hash, "Say whom it greets"] {
        assert!(question.contains(told), "{told}: {question}");
    }
    assert_eq!(back["nextAction"]["state"], "PLANNING", "{back}");
    let sent = json!({ "response": "# Plan\n\nOne script that greets you.\n", "run": true });
    let waits = server.tool("session_step", &sent);
    let (_, open) = decided(&mut server, &decision(&waits, "approve"), &yes());
    let by = "elicitation by claude-code 2.1.330";
    assert_eq!(
        (&open["recorded"], &open["how"]),
        (&true.into(), &by.into())
    );
    assert_eq!(how(&stage).as_deref(), Some(by));
    let stepped = server.tool("session_step", &json!({}));
    assert_eq!(stepped["phase"], "GENERATING");
}

#[test]
fn the_prompt_leads_through_a_session() {
    let stage = Stage::new();
    let mut server = plain(&stage);
    let listed = server.request("prompts/list", &json!({}));
    let names = (&listed["prompts"][0]["name"], &listed["prompts"][1]);
    assert_eq!(names, (&"review".into(), &Value::Null));
    let prompt = |arguments: Value| json!({ "name": "review", "arguments": arguments });
    for (name, told) in [
        ("request", "`session_init`"),
        ("sessionId", "`session_status`"),
    ] {
        let filled = server.request("prompts/get", &prompt(json!({ name: "review__x" })));
        let text = filled["messages"][0]["content"]["text"].as_str().unwrap();
        let fits = [told, "review__x"].map(|told| text.contains(told));
        assert_eq!(fits, [true; 2], "{text}");
    }
    let no_id = prompt(json!({ "sessionId": "x\" and more" }));
    server.refused("prompts/get", &no_id);
}
