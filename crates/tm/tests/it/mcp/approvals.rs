//! What only a person decides, over MCP: the client asks, its word is recorded as a client's, and where more is asked for it
//! does not count.

use std::fs;

use journal::layout::short_name;
use serde_json::json;

use super::stage::{Stage, asked, refused, yes};
use testkit::files::write;
use testkit::mcp::envelope;

/// A run that is paused since its attempts are used up.
fn used_up(settings: &str) -> Stage {
    let stage = Stage::new();
    write(&stage.store().join("config.json"), settings);
    stage.tm(0, &["autopilot", "start", "1", "--max-attempts", "1"]);
    stage.write("tests/a_test.sh", "exit 1\n");
    report(&stage, 0, "red");
    report(&stage, 3, "green");
    stage
}

fn report(stage: &Stage, status: i32, phase: &str) {
    let results = ["--results", "failed:1,passed:0"];
    stage.tm(
        status,
        &[&["autopilot", "complete", phase][..], &results].concat(),
    );
}

/// The only decision that was recorded is that of a client, whose form a person filled in.
fn decided_by_form(stage: &Stage, run: &[&str]) {
    let verified = stage.tm(0, &[&["log", "verify"], run].concat());
    let decision = &verified["decisions"][0];
    assert_eq!(verified["whole"], true, "{verified}");
    assert_eq!(decision["strength"], "client", "{verified}");
    assert_eq!(decision["how"], "elicitation by wire 1", "{verified}");
}

#[test]
fn attempts_that_are_used_up_are_a_persons_to_renew() {
    let why = "the test was wrong";
    for (tool, arguments) in [
        ("autopilot_resume", json!({})),
        ("autopilot_reopen", json!({ "reason": why })),
        ("autopilot_rewind", json!({ "reason": why, "to": "green" })),
    ] {
        let call = (tool, &arguments);
        let stage = used_up("{}");
        let mut server = stage.asking();
        let (question, no) = asked(&mut server, call, &json!({ "action": "decline" }));
        // Whoever says yes sees what for.
        assert_eq!(question.contains(why), tool != "autopilot_resume");
        assert_eq!(no["error"]["code"], "declined", "{no}");
        assert_eq!(stage.status()["status"], "paused");
        let (_, moved) = asked(&mut server, call, &yes());
        assert!(moved["nextAction"]["action"].is_string(), "{moved}");
        assert_eq!(stage.status()["status"], "running");
        decided_by_form(&stage, &[]);
    }
}

#[test]
fn where_more_is_asked_for_a_client_asks_nobody() {
    let give_up = json!({ "cleanup": true, "force": true });
    for (require, by_hand) in [("terminal", ""), ("signed", " --sign KEY")] {
        let stage = used_up(&format!(r#"{{"approvals": {{"require": "{require}"}}}}"#));
        let mut server = stage.asking();
        let run = stage.status()["runId"].take();
        let run = short_name(run.as_str().unwrap());
        for (tool, arguments, command) in [
            ("autopilot_resume", &json!({}), "resume"),
            ("autopilot_abort", &give_up, "abort --cleanup --force"),
        ] {
            let error = refused(&mut server, tool, arguments);
            assert_eq!(error["code"], "approval_too_weak", "{tool}: {error}");
            let command = format!("tm autopilot {command} --run-id {run}{by_hand}");
            assert_eq!(error["recovery"], command);
        }
    }
}

#[test]
fn a_yes_counts_for_the_run_as_it_stood_when_it_was_asked_for() {
    let stage = used_up("{}");
    let mut server = stage.server(&[]);
    let meta = envelope("2026-07-28", &json!({ "elicitation": { "form": {} } }));
    let mut call = json!({ "_meta": meta, "name": "autopilot_resume", "arguments": {} });
    let open = server.request("tools/call", &call);
    assert_eq!(open["resultType"], "input_required", "{open}");

    // Meanwhile somebody else had it go on, and it stopped by the same rule.
    let mut other = stage.asking();
    asked(&mut other, ("autopilot_resume", &json!({})), &yes());
    report(&stage, 3, "green");

    call["inputResponses"] = json!({ "confirm": yes() });
    call["requestState"] = open["requestState"].clone();
    let again = server.request("tools/call", &call);
    assert_eq!(again["resultType"], "input_required", "{again}");
    assert_eq!(stage.status()["status"], "paused");
}

/// What is given up for good is asked for by each tool that does it, where the client can show a question.
#[test]
fn a_person_is_asked_before_something_is_given_up() {
    let reason = json!({ "reason": "nobody needs it" });
    // A shrug and nonsense are no yes either.
    let shrug = json!({ "action": "accept" });
    let nonsense = json!({ "action": "accept", "content": { "confirm": "true" } });
    let no = json!({ "action": "decline" });
    for (tool, arguments, reply) in [
        ("autopilot_skip", &reason, shrug),
        ("run_skip", &reason, nonsense),
        ("run_abort", &json!({}), no),
    ] {
        let stage = Stage::started();
        let before = stage.journal();
        let mut server = stage.asking();
        let call = (tool, arguments);
        let (question, no) = asked(&mut server, call, &reply);
        let says_why = question.contains("nobody needs it");
        assert_eq!(says_why, tool.ends_with("skip"), "{tool}: {question}");
        assert_eq!(no["error"]["code"], "declined", "{tool}: {no}");
        assert_eq!(stage.journal(), before, "{tool}");

        let (_, done) = asked(&mut server, call, &yes());
        assert!(done["message"].is_string(), "{tool}: {done}");
        decided_by_form(&stage, &[]);
    }
}

/// A person is not asked for what would be refused when they had said yes.
#[test]
fn nobody_is_asked_for_what_would_be_refused() {
    let stage = Stage::started();
    let mut server = stage.asking();
    let reason = "nobody needs it";
    stage.write("tests/a_test.sh", "exit 1\n");
    let before = stage.journal();
    let first = stage.status()["runId"].take();
    let start = json!({ "title": "Greet", "subtasks": ["Greet"], "force": true });
    let cases = json!([
        ["autopilot_skip", { "subtaskId": "7.7", "reason": reason }, "not_present"],
        ["autopilot_skip", { "reason": " " }, "usage"],
        ["run_abort", { "unitId": "workUnit-9" }, "stale_unit"],
        ["autopilot_abort", { "cleanup": true }, "unmerged_work"],
        ["autopilot_start", start, "dirty_tree"],
        ["autopilot_start", { "plan": "none.md", "force": true }, "tasks_missing"],
    ]);
    for case in cases.as_array().unwrap() {
        let fault = server.call(case[0].as_str().unwrap(), &case[1]);
        assert_eq!(
            fault["structuredContent"]["error"]["code"], case[2],
            "{case}"
        );
    }
    stage.tm(0, &["autopilot", "pause"]);
    let error = refused(&mut server, "autopilot_skip", &json!({ "reason": reason }));
    assert_eq!(error["code"], "paused", "{error}");
    stage.tm(0, &["autopilot", "resume"]);
    let told = stage.journal();
    assert!(told.starts_with(&before) && !told.contains(reason));

    // A start in the place of another run, and who agreed to that.
    fs::remove_file(stage.cwd.join("tests/a_test.sh")).unwrap();
    let (_, started) = asked(&mut server, ("autopilot_start", &start), &yes());
    assert!(started["runId"].is_string(), "{started}");
    decided_by_form(&stage, &[first.as_str().unwrap()]);

    // Without a way to ask, the client's own permissions decide: the reason is recorded, and nothing is deleted.
    let mut server = stage.session();
    server.tool("autopilot_skip", &json!({ "reason": reason }));
    let ended = server.tool("autopilot_abort", &json!({}));
    assert_eq!(ended["cleanedUp"], false, "{ended}");
}
