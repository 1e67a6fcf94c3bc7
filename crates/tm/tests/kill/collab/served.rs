//! Many calls at once to one server and to two, and a server that is killed at its work.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::kill::{Death, dies_at};
use testkit::mcp::envelope;

use super::stage::{SESSION, Stage, executing, planned};

/// A server on a pipe, of which much is asked before any answer is looked at.
struct Server {
    server: testkit::Server,
    asked: Vec<u64>,
}

impl Server {
    fn new(stage: &Stage, death: Option<Death>) -> Self {
        let mut command = stage.program(&["mcp", "--tools", "collab"]);
        if let Some(death) = death {
            dies_at(&mut command, death);
        }
        Self {
            server: testkit::Server::spawn(command),
            asked: Vec::new(),
        }
    }

    /// Makes a call without waiting for its answer.
    fn ask(&mut self, tool: &str, mut arguments: Value) {
        arguments["session"] = SESSION.into();
        let call = json!({
            "name": tool,
            "arguments": arguments,
            "_meta": envelope("2026-07-28", &json!({})),
        });
        self.asked.push(self.server.ask("tools/call", &call));
    }

    /// The answers to all calls, in the order in which those were made; fewer if the server died.
    fn answers(&mut self) -> Vec<Value> {
        let mut answers = Vec::new();
        for id in std::mem::take(&mut self.asked) {
            if let Some(mut answer) = self.server.answer_or_death(&id.into()) {
                assert_ne!(answer["result"]["isError"], true, "{answer}");
                answers.push(answer["result"]["structuredContent"].take());
            }
        }
        answers
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask(tool, arguments);
        self.answers().pop().expect("an answer")
    }
}

#[test]
fn statuses_that_come_over_one_server_and_over_two_are_all_stored() {
    const TASKS: usize = 12;
    for count in [1, 2] {
        let stage = executing(TASKS);
        let mut servers: Vec<Server> = (0..count).map(|_| Server::new(&stage, None)).collect();
        for task in 0..TASKS {
            let id = format!("t{}", task + 1);
            let server = &mut servers[task % count];
            server.ask(
                "update_task_status",
                json!({ "id": id, "status": "completed" }),
            );
            server.ask("get_session_state", json!({ "full": task % 2 == 0 }));
        }
        let answers: Vec<Value> = servers.iter_mut().flat_map(Server::answers).collect();
        assert_eq!(answers.len(), 2 * TASKS);
        // Each saw all those before it.
        let left = answers
            .iter()
            .filter_map(|answer| answer["remaining"].as_u64());
        let left: BTreeSet<u64> = left.collect();
        assert_eq!(left, (0..TASKS as u64).collect());
        assert_eq!(stage.state().completed_tasks.len(), TASKS);
        journal::verify::verify(&stage.session().join("activity.jsonl")).unwrap();
    }
}

/// The client hears nothing, and asks the next server: it is told what it would have been told, and nothing counts twice.
#[test]
fn a_server_that_is_killed_loses_nothing_that_it_answered() {
    if !cfg!(debug_assertions) {
        return;
    }
    let stage = planned(1);
    stage.save(0);
    let mut wanted = None;
    for point in ["", "before-append", "after-append", "after-derived"] {
        stage.restore(0);
        let before = stage.events("report:accepted");
        if !point.is_empty() {
            let mut server = Server::new(&stage, Some((point, 1)));
            server.ask("complete_skill", json!({ "skill": "ready-to-implement" }));
            assert_eq!(server.answers(), Vec::<Value>::new(), "{point}");
        }
        let mut server = Server::new(&stage, None);
        let answer = server.call("complete_skill", json!({ "skill": "ready-to-implement" }));
        assert_eq!(answer["validated"], true, "{answer}");
        assert_eq!(*wanted.get_or_insert(answer.clone()), answer, "{point}");
        assert_eq!(stage.events("report:accepted"), before + 1, "{point}");
    }
}
