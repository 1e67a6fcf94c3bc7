//! Runs of a workflow of one's own, by the tools for any run.

use serde_json::{Value, json};

use super::stage::{Client, Stage, asked, refused, yes};

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

/// A run of that workflow, and the server by whose tools it is turned.
struct Letter {
    server: Client,
    /// The stage goes with the server, after it.
    _stage: Stage,
}

impl Letter {
    fn begun(capabilities: &Value) -> Self {
        let stage = Stage::new();
        stage.write(".taskmaster/workflows/letter.yaml", LETTER);
        let server = stage.serving(&["--tools", "run"], capabilities);
        let mut letter = Self {
            server,
            _stage: stage,
        };
        letter.start();
        letter
    }

    fn start(&mut self) {
        let begun = self.tool("run_start", &json!({ "workflow": "letter" }));
        assert_eq!(begun["workflow"], "letter");
    }

    fn tool(&mut self, name: &str, arguments: &Value) -> Value {
        self.server.tool(name, arguments)
    }

    fn refused(&mut self, name: &str, arguments: &Value) -> Value {
        refused(&mut self.server, name, arguments)
    }

    fn state(&mut self) -> Value {
        self.tool("run_next", &json!({}))
    }

    fn reported(&mut self) -> Value {
        self.tool("run_report", &json!({ "outcome": "done" }))
    }

    /// Goes on to the gate, and gives what is to be decided there.
    fn at_gate(&mut self, choice: &str) -> Value {
        let waits = self.reported()["nextAction"].take();
        assert_eq!(waits["action"], "decide", "{waits}");
        let (gate, hash) = (&waits["gate"], &waits["hash"]);
        json!({ "decision": choice, "gate": gate, "hash": hash, "feedback": "Shorter." })
    }
}

#[test]
fn a_run_is_turned_by_tools() {
    let mut letter = Letter::begun(&json!({}));
    letter.tool("run_pause", &json!({ "reason": "lunch" }));
    let paused = letter.reported();
    assert_eq!(paused["code"], "paused", "{paused}");
    let of_run = json!({ "runId": paused["nextAction"]["runId"] });
    let resume = json!([{ "step": "resume", "tool": "run_resume", "arguments": of_run }]);
    assert_eq!(paused["nextSteps"], resume);
    letter.tool("run_resume", &json!({}));
    assert_eq!(letter.reported()["nextAction"]["state"], "write");
    let back = letter.tool("run_reopen", &json!({ "reason": "once more" }));
    assert_eq!(back["nextAction"]["state"], "begin", "{back}");
    assert_eq!(letter.refused("run_step", &json!({}))["code"], "blocked");
    letter.reported();
    // Without a person to ask, the command for one is told.
    let approve = letter.at_gate("approve");
    let fault = letter.refused("run_decide", &approve);
    assert_eq!(fault["code"], "needs_confirmation", "{fault}");
    let by_hand = fault["recovery"].as_str().unwrap();
    assert!(by_hand.starts_with("tm run approve --hash "), "{by_hand}");
    assert!(by_hand.contains("--run-id r1"), "{by_hand}");
    let over = letter.tool("run_abort", &json!({}));
    assert_eq!(over["nextAction"]["status"], "cancelled", "{over}");
    letter.start();
    letter.reported();
    letter.tool("run_skip", &json!({ "reason": "no need" }));
    assert_eq!(letter.state()["status"], "cancelled");
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
    let old = json!({ "unit_id": begin });
    let skip = json!({ "unit_id": begin, "reason": "no need" });
    for (name, arguments) in [
        ("run_step", &old),
        ("run_reopen", &old),
        ("run_skip", &skip),
        ("run_rewind", &json!({ "unit_id": begin, "to": "begin" })),
        ("run_pause", &old),
        ("run_resume", &old),
        ("run_abort", &old),
    ] {
        let stale = letter.refused(name, arguments);
        assert_eq!(stale["code"], "stale_unit", "{name}: {stale}");
        let present = letter.state()["unitId"].take();
        assert_eq!(stale["details"]["unit"], present, "{name}");
    }
}

#[test]
fn a_person_decides_at_the_gate_of_any_run() {
    let mut letter = Letter::begun(&json!({ "elicitation": {} }));
    letter.reported();
    let approve = letter.at_gate("approve");
    let decided = |letter: &mut Letter, arguments: &Value, reply: &Value| {
        let (question, told) = asked(&mut letter.server, ("run_decide", arguments), reply);
        assert!(question.contains("Run r1,"), "{question}");
        told
    };
    let no = json!({ "action": "accept", "content": { "confirm": false } });
    let no = decided(&mut letter, &approve, &no);
    assert_eq!(no["error"]["code"], "declined", "{no}");
    let mut reject = approve;
    reject["decision"] = "reject".into();
    let back = decided(&mut letter, &reject, &yes());
    assert_eq!(back["nextAction"]["state"], "write", "{back}");
    let approve = letter.at_gate("approve");
    let open = decided(&mut letter, &approve, &yes());
    assert_eq!(open["nextAction"]["action"], "work", "{open}");
}
