//! Sessions over MCP: from init to complete with nothing but what the tools say, and decisions that only a person makes.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::stage::Stage;
use testkit::mcp::{Server, envelope};

const PLAN: &str = "# Plan\n\nOne script that greets.\n";
const CODE: &str = "<<<FILE: greet.sh>>>\necho hello\n";
const FAIL: &str = "It greets nobody.\n@@@REVIEW_META\nverdict: FAIL\nissues_total: 2\nissues_critical: 1\nmissing_inputs: 0\n@@@\n";
const PASS: &str =
    "@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";
/// The stateless era.
const CURRENT: &str = "2026-07-28";

/// Begins a session of the protocol as this client.
fn client(stage: &Stage, name: &str, capabilities: &Value) -> Server {
    client_of(stage, name, "2.1.330", capabilities)
}

/// The same of a certain version.
fn client_of(stage: &Stage, name: &str, version: &str, capabilities: &Value) -> Server {
    let mut server = stage.server(&["--tools", "review"]);
    server.request(
        "initialize",
        &json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": name, "version": version },
        }),
    );
    server.tell("notifications/initialized", &json!({}));
    server
}

/// The fault of a call that fails.
fn refused(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    let mut result = server.call(tool, arguments);
    assert_eq!(result["isError"], true, "{tool}: {result}");
    result["structuredContent"]["error"].take()
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
    let gate = &answer["closed_gate"];
    json!({
        "decision": choice, "gate": gate["gate"], "hash": gate["hash"], "feedback": "Say whom it greets",
    })
}

/// By which way the last decision came.
fn how(stage: &Stage) -> Option<String> {
    stage
        .journal()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|event| event["approval"]["how"].as_str().map(str::to_owned))
        .next_back()
}

#[test]
fn an_agent_finds_its_way_by_what_the_answers_say() {
    let stage = Stage::new();
    let mut server = client(&stage, "wire", &json!({}));
    assert_eq!(
        refused(&mut server, "session_status", &json!({}))["recovery"],
        "session_init"
    );
    let fault = refused(&mut server, "session_init", &json!({}));
    assert!(
        fault["message"].as_str().unwrap().contains("`request`"),
        "{fault}"
    );

    let begun = server.tool("session_init", &json!({ "inputs": { "request": "Greet" } }));
    assert_eq!(begun["phase"], "INITIALIZED");
    let id = &begun["session_id"];
    // Each round does what the last answer asks for, and nothing else is known.
    let mut answer = begun.clone();
    let mut written = Vec::new();
    let mut reviews = [PASS, FAIL].to_vec();
    while answer["status"] == "IN_PROGRESS" {
        let next = answer["next_step"].as_str().unwrap();
        assert!(next.contains("`session_step`"), "{next}");
        let mut arguments = json!({ "sessionId": id });
        if let Some(prompt) = answer["prompt_text"].as_str() {
            let phase = answer["phase"].as_str().unwrap();
            assert!(next.contains(&format!("phase \"{phase}\"")), "{next}");
            assert!(
                !prompt.contains("tm session"),
                "tools, not commands: {prompt}"
            );
            let unit = answer["waiting_for"]["unit_id"].as_str().unwrap();
            assert!(next.contains(&format!("unitId \"{unit}\"")), "{next}");
            written.push(phase.to_owned());
            arguments["phase"] = phase.into();
            arguments["unitId"] = unit.into();
            arguments["response"] = match phase {
                "PLANNING" => PLAN,
                "REVIEWING" => reviews.pop().unwrap(),
                _ => CODE,
            }
            .into();
        }
        answer = server.tool("session_step", &arguments);
        assert_eq!(answer["advanced"], true, "{answer}");
    }
    assert_eq!(
        written,
        [
            "PLANNING",
            "GENERATING",
            "REVIEWING",
            "REVISING",
            "REVIEWING"
        ]
    );
    assert_eq!(
        (&answer["phase"], &answer["current_iteration"]),
        (&"COMPLETE".into(), &2.into())
    );
    let next = answer["next_step"].as_str().unwrap();
    assert!(next.contains("iteration-2/code"), "{next}");
    assert!(next.contains("tm session export"), "{next}");

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
    server.end();
}

#[test]
fn a_step_that_is_blocked_is_an_answer_and_a_response_counts_once() {
    let stage = Stage::new();
    let mut server = client(&stage, "wire", &json!({}));
    server.tool("session_init", &json!({ "inputs": { "request": "Greet" } }));
    let early = refused(&mut server, "session_step", &json!({ "response": PLAN }));
    assert_eq!(
        (&early["code"], &early["recovery"]),
        (&"not_waiting".into(), &"session_step".into())
    );
    server.tool("session_step", &json!({}));
    let blocked = server.tool("session_step", &json!({}));
    assert_eq!(blocked["advanced"], false);
    assert_eq!(blocked["waiting_for"]["path"], "planning-response.md");
    assert!(blocked["prompt_text"].as_str().unwrap().contains("# Plan"));

    let sent = json!({ "response": PLAN, "phase": "PLANNING", "run": true });
    let stepped = server.tool("session_step", &sent);
    assert_eq!(
        (&stepped["phase"], &stepped["advanced"]),
        (&"GENERATING".into(), &true.into())
    );
    let again = refused(&mut server, "session_step", &sent);
    assert_eq!(again["code"], "changed_since", "a plan is no code: {again}");
    let status = server.tool("session_status", &json!({}));
    assert_eq!(status["waiting_for"], stepped["waiting_for"]);

    // What is sent is read before it counts: a typo costs nothing, and nothing at all is no response.
    for (response, code) in [
        ("no file", "response_unreadable"),
        ("", "response_empty"),
        (" \n", "response_empty"),
    ] {
        let sent = json!({ "response": response, "run": true });
        let fault = refused(&mut server, "session_step", &sent);
        assert_eq!(fault["code"], code, "{response:?}: {fault}");
    }
    let status = server.tool("session_status", &json!({}));
    assert_eq!(status["waiting_for"], stepped["waiting_for"]);

    // A file that somebody wrote is read by the step alone.
    let folder = Path::new(status["folder"].as_str().unwrap());
    let plan = folder.join("plan.md");
    let whole = fs::read(&plan).unwrap();
    fs::write(&plan, "another").unwrap();
    let changed = server.tool("session_step", &json!({}));
    assert!(changed.get("prompt_text").is_none(), "{changed}");
    let next = changed["next_step"].as_str().unwrap();
    let restore = format!(
        "`tm session restore --session {}`",
        status["session_id"].as_str().unwrap()
    );
    assert!(next.contains(&restore), "{next}");
    fs::write(&plan, whole).unwrap();
    let place = status["waiting_for"]["path"].as_str().unwrap();
    fs::write(folder.join(place), "no file").unwrap();
    let broken = server.tool("session_step", &json!({ "run": true }));
    assert_eq!(broken["phase"], "ERROR");
    let fault = refused(&mut server, "session_step", &json!({ "response": PLAN }));
    assert_eq!(fault["code"], "not_waiting");
    let recovery = fault["recovery"].as_str().unwrap();
    assert!(
        recovery.starts_with("tm session reopen --session "),
        "{fault}"
    );
    assert!(broken["last_error"].as_str().unwrap().contains("no file"));
    let next = broken["next_step"].as_str().unwrap();
    assert!(
        next.contains("tell the person") && next.contains("tm session reopen"),
        "{next}"
    );
    for (tool, arguments) in [
        ("session_step", json!({ "bogus": 1 })),
        ("session_init", json!({ "gates": { "plan": 1 } })),
        ("session_init", json!({ "sessionId": "x" })),
        (
            "session_decide",
            json!({ "decision": "approve", "gate": "plan" }),
        ),
        (
            "session_decide",
            json!({ "decision": "maybe", "gate": "plan", "hash": "0000000000000000000000000000000000000000000000000000000000000000" }),
        ),
    ] {
        assert_eq!(
            refused(&mut server, tool, &arguments)["code"],
            "bad_arguments",
            "{arguments}"
        );
    }
    server.end();
}

#[test]
fn without_a_person_to_ask_a_gate_stays_closed_and_the_command_is_told() {
    let stage = Stage::new();
    let mut server = client(&stage, "wire", &json!({}));
    let waits = at_plan_gate(&mut server);
    assert_eq!(waits["closed_gate"]["gate"], "plan");
    let hash = waits["closed_gate"]["hash"].as_str().unwrap();
    assert_eq!(hash, waits["plan_hash"]);
    // What cannot be done here is not advised.
    let next = waits["next_step"].as_str().unwrap();
    assert!(
        !next.contains("`session_decide`") && next.contains("tm session approve"),
        "{next}"
    );

    for choice in ["approve", "reject"] {
        let fault = refused(&mut server, "session_decide", &decision(&waits, choice));
        assert_eq!(fault["code"], "needs_confirmation");
        let command = fault["recovery"].as_str().unwrap();
        assert!(
            command.starts_with(&format!("tm session {choice} ")),
            "{command}"
        );
        assert!(command.contains(hash), "{command}");
    }
    // A long feedback is not told again as a whole.
    let mut long = decision(&waits, "reject");
    long["feedback"] = "word ".repeat(2000).into();
    let fault = refused(&mut server, "session_decide", &long);
    assert_eq!(fault["code"], "needs_confirmation");
    assert!(fault.to_string().len() < 2000, "{fault}");
    // No name opens a gate: whoever starts the server can give any. Nor does a form from a client without a name or a version.
    let form = json!({ "elicitation": {} });
    for (name, version, capabilities) in [
        ("claude-code", "2.1.330", json!({})),
        ("claude-code", "9.0.0", json!({ "sampling": {} })),
        ("", "2.1.330", form.clone()),
        ("claude-code", " ", form),
    ] {
        let mut other = client_of(&stage, name, version, &capabilities);
        let fault = refused(&mut other, "session_decide", &decision(&waits, "approve"));
        assert_eq!(fault["code"], "needs_confirmation", "{name} {version}");
        other.end();
    }
    assert_eq!(
        server.tool("session_status", &json!({}))["waiting_for"]["gate"],
        "plan"
    );
    assert_eq!(how(&stage), None);
    server.end();
}

#[test]
fn a_person_is_asked_about_exactly_what_is_decided() {
    let stage = Stage::new();
    let mut server = client(&stage, "claude-code", &json!({ "elicitation": {} }));
    let waits = at_plan_gate(&mut server);
    let approve = decision(&waits, "approve");
    let next = waits["next_step"].as_str().unwrap();
    assert!(
        next.contains("`session_decide`") && next.contains("tm session approve"),
        "{next}"
    );

    for (changed, value) in [
        ("gate", "code"),
        (
            "hash",
            "0000000000000000000000000000000000000000000000000000000000000000",
        ),
    ] {
        let mut other = approve.clone();
        other[changed] = value.into();
        let fault = refused(&mut server, "session_decide", &other);
        assert_eq!(fault["code"], "changed_since", "{fault}");
        assert_eq!(fault["details"]["gate"], "plan", "{fault}");
    }
    let mut silent = decision(&waits, "reject");
    silent["feedback"] = "".into();
    assert_eq!(
        refused(&mut server, "session_decide", &silent)["code"],
        "no_feedback"
    );

    for no in [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept", "content": { "confirm": false } }),
        json!({ "action": "accept" }),
    ] {
        let fault = asked(&mut server, &approve, &no).1["error"].take();
        assert_eq!(fault["code"], "declined", "{no}: {fault}");
        assert_eq!(
            server.tool("session_status", &json!({}))["phase"],
            "PLANNED"
        );
    }

    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    let (question, decided) = asked(&mut server, &decision(&waits, "reject"), &yes);
    for told in [
        "Send the plan back?",
        "iteration 0",
        "plan.md",
        "Feedback: Say whom it greets",
    ] {
        assert!(question.contains(told), "{told}: {question}");
    }
    assert!(
        question.contains(waits["closed_gate"]["hash"].as_str().unwrap()),
        "{question}"
    );
    assert_eq!(decided["phase"], "PLANNING", "{decided}");
    let prompt = decided["prompt_text"].as_str().unwrap();
    assert!(prompt.contains("Say whom it greets"), "{prompt}");

    let sent = json!({ "response": "# Plan\n\nOne script that greets you.\n", "run": true });
    let waits = server.tool("session_step", &sent);
    let (_, decided) = asked(&mut server, &decision(&waits, "approve"), &yes);
    assert_eq!(
        (&decided["recorded"], &decided["how"]),
        (&true.into(), &"elicitation by claude-code 2.1.330".into())
    );
    assert_eq!(
        how(&stage).as_deref(),
        Some("elicitation by claude-code 2.1.330")
    );
    assert_eq!(
        server.tool("session_step", &json!({}))["phase"],
        "GENERATING"
    );
    server.end();
}

/// Decides, and answers the question that comes: the question, and what the call came to.
fn asked(server: &mut Server, arguments: &Value, answer: &Value) -> (String, Value) {
    let params = json!({ "name": "session_decide", "arguments": arguments });
    let id = server.ask("tools/call", &params);
    let question = server.hear();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
    let mut told = server.answer(&id.into());
    let message = question["params"]["message"].as_str().unwrap();
    (
        message.to_owned(),
        told["result"]["structuredContent"].take(),
    )
}

#[test]
fn in_the_stateless_era_a_yes_is_for_one_decision() {
    let stage = Stage::new();
    let mut server = client(&stage, "wire", &json!({}));
    let waits = at_plan_gate(&mut server);
    server.end();

    let mut server = stage.server(&[]);
    let meta = envelope(CURRENT, &json!({ "elicitation": { "form": {} } }));
    let yes = json!({ "confirm": { "action": "accept", "content": { "confirm": true } } });
    let mut reject = decision(&waits, "reject");
    let call = |arguments: &Value| json!({ "name": "session_decide", "arguments": arguments, "_meta": meta });
    let asked = server.request("tools/call", &call(&reject));
    assert!(asked["inputRequests"]["confirm"].is_object(), "{asked}");

    // The same yes, for a decision with another feedback: it is asked again.
    let answered = |arguments: &Value| {
        let mut params = call(arguments);
        params["inputResponses"] = yes.clone();
        params["requestState"] = asked["requestState"].clone();
        params
    };
    reject["feedback"] = "Something else".into();
    let again = server.ask("tools/call", &answered(&reject));
    let again = server.answer(&again.into());
    assert_ne!(
        again["result"]["structuredContent"]["choice"], "reject",
        "{again}"
    );
    assert_eq!(how(&stage), None);

    // Neither is it another client's.
    let mut other = answered(&decision(&waits, "reject"));
    other["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = "eve".into();
    let other = server.request("tools/call", &other);
    assert_eq!(other["resultType"], "input_required", "{other}");

    // Nor for the run after something else has happened to it.
    let head = stage.tm(0, &["log", "verify"])["head"].clone();
    let mut approve = call(&decision(&waits, "approve"));
    let open = server.request("tools/call", &approve);
    approve["inputResponses"] = yes.clone();
    approve["requestState"] = open["requestState"].clone();
    stage.tm(0, &["run", "pause"]);
    stage.tm(0, &["run", "resume"]);
    assert_ne!(stage.tm(0, &["log", "verify"])["head"], head);
    let late = server.request("tools/call", &approve);
    assert_eq!(late["resultType"], "input_required", "{late}");

    let asked = server.request("tools/call", &call(&decision(&waits, "reject")));
    let answered = |arguments: &Value| {
        let mut params = call(arguments);
        params["inputResponses"] = yes.clone();
        params["requestState"] = asked["requestState"].clone();
        params
    };
    let rejected = server.request("tools/call", &answered(&decision(&waits, "reject")));
    assert_eq!(
        rejected["structuredContent"]["phase"], "PLANNING",
        "{rejected}"
    );
    assert_eq!(how(&stage).as_deref(), Some("elicitation by wire 1"));
    server.end();
}

#[test]
fn the_prompt_leads_through_a_session() {
    let stage = Stage::new();
    let mut server = client(&stage, "wire", &json!({}));
    let listed = server.request("prompts/list", &json!({}));
    assert_eq!(listed["prompts"][0]["name"], "review");
    assert_eq!(listed["prompts"][1], Value::Null);
    let mut said = |arguments: &Value| {
        let params = json!({ "name": "review", "arguments": arguments });
        let filled = server.request("prompts/get", &params);
        filled["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let new = said(&json!({ "request": "A greeting" }));
    assert!(
        new.contains("`session_init`") && new.contains("\n\nA greeting\n"),
        "{new}"
    );
    assert!(!new.contains("{begin}"), "{new}");
    let known = said(&json!({ "sessionId": "review__generic" }));
    assert!(
        known.contains("`session_status` with sessionId \"review__generic\""),
        "{known}"
    );
    let error = server.refused(
        "prompts/get",
        &json!({ "name": "review", "arguments": { "sessionId": "x\" and more" } }),
    );
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("no id of a session"),
        "{error}"
    );
    server.end();
}

#[test]
fn a_prompt_that_is_too_long_is_named_by_its_file() {
    let stage = Stage::new();
    let mut server = client(&stage, "wire", &json!({}));
    let request = "x".repeat(80 * 1024);
    server.tool("session_init", &json!({ "inputs": { "request": request } }));
    let stepped = server.tool("session_step", &json!({}));
    assert_eq!(stepped["prompt_text"], Value::Null);
    let next = stepped["next_step"].as_str().unwrap();
    assert!(next.contains("/planning-prompt.md"), "{next}");
    server.end();
}
