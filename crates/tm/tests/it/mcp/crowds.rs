//! Many at once: on one connection, and on one run.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::stage::Stage;
use testkit::mcp::Server;

#[test]
fn each_of_many_requests_gets_its_own_answer() {
    const MANY: usize = 50;
    let stage = Stage::started();
    let mut server = stage.session();
    let mut asked = BTreeSet::new();
    for number in 0..MANY {
        let id = format!("request {number}");
        let (method, params) = match number % 5 {
            0 => (
                "tools/call",
                json!({ "name": "autopilot_status", "arguments": { "runId": format!("none-{number}") } }),
            ),
            1 => (
                "tools/call",
                json!({ "name": "autopilot_next", "arguments": {} }),
            ),
            2 => (
                "prompts/get",
                json!({ "name": "tdd", "arguments": { "taskId": format!("{number}") } }),
            ),
            3 => (
                "resources/read",
                json!({ "uri": format!("tramline://runs/none-{number}/state") }),
            ),
            _ => ("tools/list", json!({})),
        };
        server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        asked.insert(id);
    }
    for _ in 0..MANY {
        let answer = server.hear();
        let id = answer["id"].as_str().unwrap().to_owned();
        assert!(asked.remove(&id), "{id} was not asked, or twice answered");
        let number: usize = id.rsplit(' ').next().unwrap().parse().unwrap();
        let text = answer.to_string();
        let own = match number % 5 {
            0 | 3 => format!("none-{number}"),
            1 => "workUnit-1.1-RED".to_owned(),
            2 => format!("taskId \\\\\\\"{number}\\\\\\\""),
            _ => "autopilot_abort".to_owned(),
        };
        assert!(
            text.contains(&own) || text.contains(&own.replace("\\\\", "")),
            "{id}: {own} is not in {text}"
        );
    }
    server.end();
}

/// Sends a call on every connection before an answer is read on any.
fn all_at_once(servers: &mut [Server], tool: &str, arguments: &Value) -> Vec<Value> {
    let params = json!({ "name": tool, "arguments": arguments });
    let ids: Vec<u64> = servers
        .iter_mut()
        .map(|server| server.ask("tools/call", &params))
        .collect();
    servers
        .iter_mut()
        .zip(ids)
        .map(|(server, id)| server.answer(&id.into())["result"].take())
        .collect()
}

#[test]
fn of_ten_clients_that_report_the_same_one_moves_the_run() {
    let stage = Stage::started();
    let mut servers: Vec<Server> = (0..10).map(|_| stage.session()).collect();

    stage.write("tests/words_test.sh", "false\n");
    let red = json!({ "phase": "red", "results": { "failed": 1, "passed": 0 } });
    for answer in all_at_once(&mut servers, "autopilot_complete_phase", &red) {
        let told = &answer["structuredContent"];
        assert_eq!(told["validated"], true, "{answer}");
        assert_eq!(told["nextAction"]["unitId"], "workUnit-1.1-GREEN");
    }
    assert_eq!(stage.events("report:accepted"), 1);

    // The numbers differ, and only one can be right.
    stage.write("src/words.sh", "true\n");
    let params: Vec<Value> = (1..=10)
        .map(|passed| {
            json!({ "name": "autopilot_complete_phase",
                    "arguments": { "phase": "green", "results": { "failed": 0, "passed": passed } } })
        })
        .collect();
    let ids: Vec<u64> = servers
        .iter_mut()
        .zip(&params)
        .map(|(server, params)| server.ask("tools/call", params))
        .collect();
    let mut accepted = 0;
    for (server, id) in servers.iter_mut().zip(ids) {
        let answer = server.answer(&id.into());
        let told = &answer["result"]["structuredContent"];
        if told["validated"] == true {
            accepted += 1;
        } else {
            assert_eq!(told["code"], "stale_unit", "{answer}");
        }
    }
    assert_eq!(accepted, 1);
    assert_eq!(stage.events("report:accepted"), 2);

    let mut shas = BTreeSet::new();
    for answer in all_at_once(
        &mut servers,
        "autopilot_commit",
        &json!({ "subtaskId": "1.1" }),
    ) {
        let told = &answer["structuredContent"];
        match told["commitSha"].as_str() {
            Some(sha) => {
                shas.insert(sha.to_owned());
            }
            None => assert_eq!(told["code"], "stale_unit", "{answer}"),
        }
    }
    assert_eq!(Vec::from_iter(shas), [stage.git(&["rev-parse", "HEAD"])]);
    assert_eq!(stage.commits(), 1);
    for server in servers {
        server.end();
    }
    stage.verify();
}
