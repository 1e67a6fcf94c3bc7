//! Sessions of skills from start to end, whichever way the calls go: what every answer on the way must be. Which state each
//! skill leads to is the engine's to show.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::environment::holds;

/// Somebody who can make the calls of a session, by the names of their tools.
pub trait Caller {
    /// Makes a call that is not a fault, and gives its answer.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value;
}

/// How many completions an item of a type takes.
fn completions(kind: &str) -> usize {
    match kind {
        "code" => 18,
        "task" => 9,
        _ => 2,
    }
}

/// The items of these types, as they are handed over.
pub fn items(kinds: &[&str]) -> Value {
    (1..)
        .zip(kinds)
        .map(|(number, kind)| json!({ "number": number, "title": format!("Item {number}"), "type": kind }))
        .collect()
}

/// A session that is gone through.
pub struct Walk<'c, C> {
    /// Who makes the calls.
    pub caller: &'c mut C,
    /// Name of the session.
    pub session: String,
    /// The work units that were issued.
    units: BTreeSet<String>,
    /// Whether each answer is asked for again, and compared with what the session says of itself.
    pub thorough: bool,
}

impl<'c, C: Caller> Walk<'c, C> {
    /// A session of this name.
    pub fn new(caller: &'c mut C, session: &str) -> Self {
        Self {
            caller,
            session: session.to_owned(),
            units: BTreeSet::new(),
            thorough: false,
        }
    }

    /// Makes a call about this session.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut arguments = arguments.clone();
        arguments["session"] = self.session.as_str().into();
        self.caller.call(tool, &arguments)
    }

    /// Goes from start to end, as each answer says. `graph` is that of each code item, by its number.
    pub fn whole(&mut self, kinds: &[&str], batches: usize, graph: impl Fn(u64) -> String) {
        let mut done = Vec::new();
        let mut next = Some("collab-start".to_owned());
        let mut item = None;
        while let Some(skill) = next {
            match &*skill {
                "collab-start" => {}
                "gather-session-goals" => self.set_items(kinds),
                "build-task-graph" => self.hand_graph_over(&graph(item.unwrap())),
                "executing-plans" => self.do_batch(),
                _ => self.write_draft(),
            }
            let mut answer = self.call("complete_skill", &json!({ "skill": skill }));
            // Of two items in a row that take the same skill, the second one has to be named.
            if answer["code"] == "which_one" {
                let named = json!({ "skill": skill, "unitId": answer["unit_id"] });
                answer = self.call("complete_skill", &named);
            }
            self.check(&answer);
            if self.thorough {
                self.look_again(&skill, &answer);
            }
            item = answer["params"]["item_number"].as_u64();
            next = answer["next_skill"].as_str().map(str::to_owned);
            done.push(skill);
        }
        let of_items: usize = kinds.iter().map(|kind| completions(kind)).sum();
        assert_eq!(done.len(), 7 + of_items + 2 * batches, "{done:?}");
        let executed = done.iter().filter(|skill| *skill == "executing-plans");
        assert_eq!(executed.count(), batches, "{done:?}");
    }

    fn check(&mut self, answer: &Value) {
        let next = answer["next_skill"].as_str();
        let clears = next == Some("collab-clear");
        let action = if clears { "clear" } else { "none" };
        holds(answer, &json!({ "validated": true, "action": action }));
        assert_eq!(answer["done"] == true, next.is_none(), "{answer:#}");
        if next.is_some() {
            let unit = answer["unit_id"].as_str().unwrap();
            assert!(self.units.insert(unit.to_owned()), "{unit} is issued twice");
            let words = answer["instructions"].as_str();
            assert!(words.is_some_and(|words| !words.is_empty()), "{answer:#}");
        }
    }

    /// The same completion again is the same answer, and who remembers nothing is told the same.
    fn look_again(&mut self, skill: &str, answer: &Value) {
        let again = self.call("complete_skill", &json!({ "skill": skill }));
        assert_eq!(&again, answer, "{skill} again");
        let brief = self.call("get_session_state", &json!({}));
        let bytes = brief.to_string().len();
        assert!(bytes <= 1024, "{bytes} bytes: {brief:#}");
        for (told, known) in [
            ("skill", "next_skill"),
            ("unitId", "unit_id"),
            ("state", "state"),
            ("displayName", "display_name"),
            ("item", "item"),
        ] {
            assert_eq!(brief.get(told), answer.get(known), "{skill}: {brief:#}");
        }
    }

    /// Hands the items over.
    pub fn set_items(&mut self, kinds: &[&str]) {
        let given = json!({ "workItems": items(kinds) });
        let set = self.call("update_session_state", &given);
        holds(&set, &json!({ "validated": true }));
    }

    fn write_draft(&mut self) {
        let brief = self.call("get_session_state", &json!({}));
        testkit::write_draft(&brief);
    }

    fn hand_graph_over(&mut self, graph: &str) {
        let synced = self.call("sync_task_graph", &json!({ "document": graph }));
        assert_eq!(synced["validated"], true, "{synced:#}");
    }

    /// Completes every task of the batch in hand.
    fn do_batch(&mut self) {
        let state = self.call("get_session_state", &json!({ "full": true }));
        let batch = usize::try_from(state["currentBatch"].as_u64().unwrap()).unwrap();
        let tasks = state["batches"][batch]["tasks"].as_array().unwrap();
        let done = |task: &Value| json!({ "id": task["id"], "status": "completed" });
        let tasks: Value = tasks.iter().map(done).collect();
        let stored = self.call("update_tasks_status", &json!({ "tasks": tasks }));
        holds(&stored, &json!({ "validated": true, "remaining": 0 }));
    }
}

/// A code item, a task and a bug, in two batches.
pub const ONE_OF_EACH: [&str; 3] = ["code", "task", "bugfix"];

/// Two tasks, one after the other.
pub fn two_waves(_item: u64) -> String {
    "tasks:\n  - id: types\n  - id: lexer\n    depends-on: [types]\n".to_owned()
}
