//! Runs of a workflow of one's own, by the tools for any run.

use serde_json::{Value, json};

use super::stage::Stage;
use testkit::Server;

const LETTER: &str = r"tramline: 1
id: letter
title: A letter, written until somebody agrees
counter: round
gates: { agreed: human }
vars: { round: { type: int, default: 1 } }
initial: begin
on: { abort: { to: dropped } }
states:
  begin: { expects: outcome, work: { by: agent }, on: { report: { to: write } } }
  write:
    expects: outcome
    work: { by: agent }
    on:
      report: { to: post }
      reopen: { to: begin }
      skip: { to: dropped }
  post:
    gate: agreed
    work: { by: agent }
    on:
      report: { to: posted }
      reject: { set: { round: =vars.round + 1 }, to: write }
  posted: { final: completed }
  dropped: { final: cancelled }
";

struct Letter {
    server: Server,
}

impl Letter {
    fn begun(capabilities: &Value) -> Self {
        let stage = Stage::new();
        stage.write(".taskmaster/workflows/letter.yaml", LETTER);
        let mut server = stage.server(&["--tools", "run"]);
        server.initialize("2025-11-25", capabilities);
        let mut letter = Self { server };
        assert_eq!(
            letter.tool("run_start", &json!({ "workflow": "letter" }))["workflow"],
            "letter"
        );
        // The stage goes with the server.
        std::mem::forget(stage);
        letter
    }

    fn tool(&mut self, name: &str, arguments: &Value) -> Value {
        let mut result = self.server.call(name, arguments);
        assert_ne!(result["isError"], true, "{name}: {result}");
        result["structuredContent"].take()
    }

    fn refused(&mut self, name: &str, arguments: &Value) -> Value {
        self.server.call(name, arguments)["structuredContent"]["error"].take()
    }

    fn state(&mut self) -> Value {
        self.tool("run_next", &json!({}))
    }

    fn reported(&mut self) -> Value {
        self.tool("run_report", &json!({ "outcome": "done" }))
    }
}

#[test]
fn a_run_is_turned_by_tools() {
    let mut letter = Letter::begun(&json!({}));
    letter.tool("run_pause", &json!({ "reason": "lunch" }));
    let paused = letter.reported();
    assert_eq!(paused["code"], "paused", "{paused}");
    let run = paused["nextAction"]["runId"].clone();
    assert_eq!(
        paused["nextSteps"],
        json!([{ "step": "resume", "tool": "run_resume", "arguments": { "runId": run } }])
    );
    letter.tool("run_resume", &json!({}));
    assert_eq!(letter.reported()["nextAction"]["state"], "write");
    let back = letter.tool("run_reopen", &json!({ "reason": "once more" }));
    assert_eq!(back["nextAction"]["state"], "begin", "{back}");
    let blocked = letter.refused("run_step", &json!({}));
    assert_eq!(blocked["code"], "blocked", "{blocked}");
    letter.reported();
    let silent = letter.refused("run_skip", &json!({}));
    assert_eq!(silent["code"], "bad_arguments");
    letter.tool("run_skip", &json!({ "reason": "no need" }));
    assert_eq!(letter.state()["status"], "cancelled");
    letter.tool("run_start", &json!({ "workflow": "letter" }));
    let over = letter.tool("run_abort", &json!({}));
    assert_eq!(over["nextAction"]["status"], "cancelled", "{over}");
    letter.server.end();
}

#[test]
fn a_turn_at_a_unit_is_taken_once() {
    let mut letter = Letter::begun(&json!({}));
    let begin = letter.state()["unitId"].take();
    letter.reported();
    let write = letter.state()["unitId"].take();
    let reopen = json!({ "reason": "once more", "unitId": write });
    let back = letter.tool("run_reopen", &reopen);
    assert_eq!(back["nextAction"]["state"], "begin", "{back}");
    letter.reported();
    let again = letter.tool("run_reopen", &reopen);
    assert_eq!(again["nextAction"]["state"], "write", "{again}");
    for name in [
        "run_step",
        "run_reopen",
        "run_skip",
        "run_rewind",
        "run_pause",
        "run_resume",
        "run_abort",
    ] {
        let mut arguments = json!({ "unit_id": begin });
        match name {
            "run_skip" => arguments["reason"] = "no need".into(),
            "run_rewind" => arguments["to"] = "begin".into(),
            _ => {}
        }
        let stale = letter.refused(name, &arguments);
        assert_eq!(stale["code"], "stale_unit", "{name}: {stale}");
        let present = letter.state()["unitId"].take();
        assert_eq!(stale["details"]["unit"], present, "{name}");
    }
    letter.server.end();
}

#[test]
fn a_person_decides_at_the_gate_of_any_run() {
    let mut letter = Letter::begun(&json!({ "elicitation": {} }));
    letter.reported();
    let waits = letter.reported()["nextAction"].take();
    assert_eq!(waits["action"], "decide", "{waits}");
    let decision = |waits: &Value, choice: &str| json!({ "decision": choice, "gate": waits["gate"], "hash": waits["hash"], "feedback": "Shorter." });
    let decided = |letter: &mut Letter, arguments: &Value, accepts: bool| {
        let call = json!({ "name": "run_decide", "arguments": arguments });
        let id = letter.server.ask("tools/call", &call);
        let question = letter.server.hear();
        let asked = question["params"]["message"].as_str().unwrap();
        assert!(asked.contains("Run letter__"), "{asked}");
        let answer = json!({ "action": "accept", "content": { "confirm": accepts } });
        let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
        letter.server.send(&reply);
        letter.server.answer(&id.into())["result"]["structuredContent"].take()
    };
    let no = decided(&mut letter, &decision(&waits, "approve"), false);
    assert_eq!(no["error"]["code"], "declined", "{no}");
    let back = decided(&mut letter, &decision(&waits, "reject"), true);
    assert_eq!(back["nextAction"]["state"], "write", "{back}");
    let waits = letter.reported()["nextAction"].take();
    let open = decided(&mut letter, &decision(&waits, "approve"), true);
    assert_eq!(open["nextAction"]["action"], "work", "{open}");
    letter.server.end();
}

#[test]
fn a_client_that_cannot_ask_gets_the_command_for_a_person() {
    let mut letter = Letter::begun(&json!({}));
    letter.reported();
    let waits = letter.reported()["nextAction"].take();
    let decision = json!({ "decision": "approve", "gate": waits["gate"], "hash": waits["hash"] });
    let fault = letter.refused("run_decide", &decision);
    assert_eq!(fault["code"], "needs_confirmation", "{fault}");
    let by_hand = fault["recovery"].as_str().unwrap();
    assert!(
        by_hand.starts_with("tm run approve --hash ") && by_hand.contains("--run-id letter__"),
        "{by_hand}"
    );
    letter.server.end();
}
