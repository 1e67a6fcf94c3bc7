//! What only a person decides, over MCP: the client asks, its word is recorded as a client's, and where more is asked for it
//! does not count.

use std::fs;

use serde_json::{Value, json};

use super::stage::Stage;
use testkit::mcp::{Server, envelope};

/// The version of the stateless era.
const CURRENT: &str = "2026-07-28";

/// A run that is paused since its attempts are used up.
fn used_up(settings: &str) -> Stage {
    let stage = Stage::new();
    fs::create_dir_all(stage.store()).unwrap();
    fs::write(stage.store().join("config.json"), settings).unwrap();
    stage.tm(0, &["autopilot", "start", "1", "--max-attempts", "1"]);
    stage.write("tests/a_test.sh", "exit 1\n");
    let report = |status, phase| {
        let results = "failed:1,passed:0";
        stage.tm(
            status,
            &["autopilot", "complete", phase, "--results", results],
        );
    };
    report(0, "red");
    report(3, "green");
    stage
}

/// Calls a tool, and answers the question that it leads to.
fn asked(
    server: &mut Server,
    (tool, arguments): (&str, &Value),
    answer: &Value,
) -> (String, Value) {
    let id = server.ask(
        "tools/call",
        &json!({ "name": tool, "arguments": arguments }),
    );
    let question = server.hear();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
    let mut result = server.answer(&id.into());
    let told = question["params"]["message"].as_str().unwrap().to_owned();
    (told, result["result"]["structuredContent"].take())
}

#[test]
fn attempts_that_are_used_up_are_a_persons_to_renew() {
    let reason = json!({ "reason": "the test was wrong" });
    let mut back = reason.clone();
    back["to"] = "green".into();
    for (tool, arguments) in [
        ("autopilot_resume", json!({})),
        ("autopilot_reopen", reason),
        ("autopilot_rewind", back),
    ] {
        let call = (tool, &arguments);
        let stage = used_up("{}");
        let mut silent = stage.session();
        let error = silent.call(tool, &arguments)["structuredContent"]["error"].take();
        assert_eq!(error["code"], "needs_confirmation", "{error}");
        let by_hand = error["recovery"].as_str().unwrap();
        assert!(by_hand.starts_with("tm autopilot re"), "{by_hand}");
        silent.end();

        let mut server = stage.server(&[]);
        server.initialize("2025-11-25", &json!({ "elicitation": {} }));
        let (question, no) = asked(&mut server, call, &json!({ "action": "decline" }));
        assert!(question.contains("max_attempts_reached"), "{question}");
        // Whoever says yes sees what for.
        let says_why = question.ends_with("\nReason: the test was wrong");
        assert_eq!(says_why, tool != "autopilot_resume", "{question}");
        assert_eq!(no["error"]["code"], "declined", "{no}");
        assert_eq!(stage.tm(0, &["autopilot", "status"])["status"], "paused");
        let yes = json!({ "action": "accept", "content": { "confirm": true } });
        let (_, moved) = asked(&mut server, call, &yes);
        assert!(moved["nextAction"]["action"].is_string(), "{moved}");
        assert_eq!(stage.tm(0, &["autopilot", "status"])["status"], "running");
        let verified = stage.tm(0, &["log", "verify"]);
        let decision = &verified["decisions"][0];
        assert_eq!(
            (&decision["strength"], &decision["how"]),
            (&json!("client"), &json!("elicitation by wire 1")),
            "{verified}"
        );
        server.end();
    }
}

#[test]
fn where_more_is_asked_for_a_client_asks_nobody() {
    for (require, by_hand) in [("terminal", ""), ("signed", " --sign KEY")] {
        let stage = used_up(&format!(r#"{{"approvals": {{"require": "{require}"}}}}"#));
        let mut server = stage.server(&[]);
        server.initialize("2025-11-25", &json!({ "elicitation": {} }));
        let run = stage.tm(0, &["autopilot", "status"])["runId"].clone();
        let run = run.as_str().unwrap();
        for (tool, arguments, command) in [
            ("autopilot_resume", json!({}), "resume"),
            ("autopilot_reopen", json!({}), "reopen"),
            (
                "autopilot_abort",
                json!({ "cleanup": true, "force": true }),
                "abort --cleanup --force",
            ),
        ] {
            let error = server.call(tool, &arguments)["structuredContent"]["error"].take();
            assert_eq!(error["code"], "approval_too_weak", "{tool}: {error}");
            assert_eq!(
                error["recovery"],
                format!("tm autopilot {command} --run-id {run}{by_hand}")
            );
        }
        server.end();
    }
    let stage = Stage::new();
    let mut server = stage.server(&["--tools", "review"]);
    server.initialize("2025-11-25", &json!({ "elicitation": {} }));
    let arguments = json!({ "inputs": { "request": "Greet" }, "gates": { "plan": "terminal" } });
    server.tool("session_init", &arguments);
    server.tool("session_step", &json!({}));
    let arguments = json!({ "response": "# Plan\n\nOne script.\n", "run": true });
    let waits = server.tool("session_step", &arguments);
    let gate = &waits["closed_gate"];
    assert_eq!(gate["strength"], "terminal", "{waits}");
    let decide = json!({ "decision": "approve", "gate": "plan", "hash": gate["hash"] });
    let error = server.call("session_decide", &decide)["structuredContent"]["error"].take();
    assert_eq!(error["code"], "approval_too_weak", "{error}");
    server.end();
}

#[test]
fn a_yes_counts_for_the_run_as_it_stood_when_it_was_asked_for() {
    let stage = used_up("{}");
    let mut server = stage.server(&[]);
    let meta = envelope(CURRENT, &json!({ "elicitation": { "form": {} } }));
    let mut call = json!({ "_meta": meta, "name": "autopilot_resume", "arguments": {} });
    let asked = server.request("tools/call", &call);
    assert_eq!(asked["resultType"], "input_required", "{asked}");

    // Meanwhile somebody else had it go on, and it stopped by the same rule.
    let mut other = stage.server(&[]);
    other.initialize("2025-11-25", &json!({ "elicitation": {} }));
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    self::asked(&mut other, ("autopilot_resume", &json!({})), &yes);
    other.end();
    let results = ["--results", "failed:1,passed:0"];
    stage.tm(
        3,
        &[&["autopilot", "complete", "green"], &results[..]].concat(),
    );

    call["inputResponses"] = json!({ "confirm": yes });
    call["requestState"] = asked["requestState"].clone();
    let again = server.request("tools/call", &call);
    assert_eq!(again["resultType"], "input_required", "{again}");
    assert_eq!(stage.tm(0, &["autopilot", "status"])["status"], "paused");
    server.end();
}

/// What is given up for good is asked for by each tool that does it, where the client can show a question.
#[test]
fn a_person_is_asked_before_something_is_given_up() {
    let reason = json!({ "reason": "nobody needs it" });
    for (tool, arguments, asks) in [
        (
            "autopilot_skip",
            &reason,
            "Give up subtask 1.1 of the run master__task-1__",
        ),
        (
            "run_skip",
            &reason,
            "Give up what is in progress of the run master__task-1__",
        ),
        (
            "autopilot_abort",
            &json!({}),
            "Abort the run master__task-1__",
        ),
        ("run_abort", &json!({}), "Abort the run master__task-1__"),
    ] {
        let stage = Stage::started();
        let before = stage.journal();
        let mut server = stage.server(&[]);
        server.initialize("2025-11-25", &json!({ "elicitation": {} }));
        let call = (tool, arguments);
        let (question, no) = asked(&mut server, call, &json!({ "action": "decline" }));
        assert!(question.starts_with(asks), "{tool}: {question}");
        let says_why = question.ends_with("\nReason: nobody needs it");
        assert_eq!(says_why, tool.ends_with("skip"), "{tool}: {question}");
        assert!(!question.contains("running"), "{tool}: {question}");
        assert_eq!(no["error"]["code"], "declined", "{tool}: {no}");
        let suggestion = no["error"]["suggestion"].as_str().unwrap();
        let verb = tool.rsplit('_').next().unwrap();
        let command = format!("tm {} {verb} ", tool.split('_').next().unwrap());
        assert!(suggestion.contains(&command), "{tool}: {suggestion}");
        assert_eq!(stage.journal(), before, "{tool}");

        let yes = json!({ "action": "accept", "content": { "confirm": true } });
        let (_, done) = asked(&mut server, call, &yes);
        assert!(done["message"].is_string(), "{tool}: {done}");
        server.end();
        let verified = stage.tm(0, &["log", "verify"]);
        assert_eq!(verified["whole"], true, "{tool}: {verified}");
        let how = &verified["decisions"][0]["how"];
        assert_eq!(how, "elicitation by wire 1", "{tool}: {verified}");
    }
}

/// A person is not asked for what would be refused when they had said yes.
#[test]
fn nobody_is_asked_for_what_would_be_refused() {
    let stage = Stage::started();
    let mut server = stage.server(&[]);
    server.initialize("2025-11-25", &json!({ "elicitation": {} }));
    let reason = "nobody needs it";
    stage.write("tests/a_test.sh", "exit 1\n");
    let before = stage.journal();
    let status = stage.tm(0, &["autopilot", "status"]);
    let first = status["runId"].as_str().unwrap().to_owned();
    for (tool, arguments, code) in [
        (
            "autopilot_skip",
            json!({ "subtaskId": "7.7", "reason": reason }),
            "not_present",
        ),
        (
            "autopilot_skip",
            json!({ "reason": reason, "unitId": "workUnit-9" }),
            "stale_unit",
        ),
        ("autopilot_skip", json!({ "reason": " " }), "no_reason"),
        ("run_abort", json!({ "unitId": "workUnit-9" }), "stale_unit"),
        (
            "autopilot_abort",
            json!({ "cleanup": true }),
            "unmerged_work",
        ),
        (
            "autopilot_start",
            json!({ "title": "Greet", "subtasks": ["Greet"], "force": true }),
            "dirty_tree",
        ),
        (
            "autopilot_start",
            json!({ "plan": "none.md", "force": true }),
            "tasks_missing",
        ),
    ] {
        let error = server.call(tool, &arguments)["structuredContent"]["error"].take();
        assert_eq!(error["code"], code, "{tool}: {error}");
        if code == "unmerged_work" {
            let step = &error["nextSteps"][0]["tool"];
            assert_eq!(step, "autopilot_abort", "{error}");
        }
    }
    stage.tm(0, &["autopilot", "pause"]);
    let paused = json!({ "reason": reason });
    let error = server.call("autopilot_skip", &paused)["structuredContent"]["error"].take();
    assert_eq!(error["code"], "paused", "{error}");
    stage.tm(0, &["autopilot", "resume"]);
    let told = stage.journal();
    assert!(told.starts_with(&before) && !told.contains(reason));

    // A start in the place of another run, and who agreed to that.
    fs::remove_file(stage.cwd.join("tests/a_test.sh")).unwrap();
    let start = json!({ "title": "Greet", "subtasks": ["Greet"], "force": true });
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    let (question, started) = asked(&mut server, ("autopilot_start", &start), &yes);
    assert!(
        question.contains("End it, and start this one"),
        "{question}"
    );
    assert!(started["runId"].is_string(), "{started}");
    server.end();
    let verified = stage.tm(0, &["log", "verify", &first]);
    let how = &verified["decisions"][0]["how"];
    assert_eq!(how, "elicitation by wire 1", "{verified}");
}

/// Without a way to ask, the client's own permissions decide: the reason is recorded, and nothing is deleted.
#[test]
fn where_nobody_can_be_asked_work_is_given_up_with_its_reason() {
    let stage = Stage::started();
    let mut server = stage.session();
    let skipped = server.tool("autopilot_skip", &json!({ "reason": "nobody needs it" }));
    assert_eq!(skipped["message"], "Skipped: 1.1", "{skipped}");
    assert!(stage.journal().contains("nobody needs it"));
    let ended = server.tool("autopilot_abort", &json!({}));
    assert_eq!(ended["cleanedUp"], false, "{ended}");
    server.end();
}
