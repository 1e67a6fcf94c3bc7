//! Sessions of skills from start to end, whichever way the calls go: what every answer on the way must be.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::environment::fields;

/// Somebody who can make the calls of a session, by the names of their tools.
pub trait Caller {
    /// Makes a call that is not a fault, and gives its answer.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value;
}

/// A skill that is completed, and where that leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The skill that is completed.
    pub skill: &'static str,
    /// The state that it leads to.
    pub state: &'static str,
    /// The item in hand there.
    pub item: Option<u64>,
    /// The batch in hand there.
    pub batch: Option<u64>,
}

const CLEAR: &str = "collab-clear";

/// What an item goes through from the router on: each skill, and the state that it leads to. Where the next item begins is
/// the router's to say.
const BRAINSTORM: [(&str, &str); 6] = [
    ("brainstorming-exploring", "clear-bs1"),
    (CLEAR, "brainstorm-clarifying"),
    ("brainstorming-clarifying", "clear-bs2"),
    (CLEAR, "brainstorm-designing"),
    ("brainstorming-designing", "clear-bs3"),
    (CLEAR, "brainstorm-validating"),
];
const CODE: [(&str, &str); 11] = [
    ("brainstorming-validating", "clear-pre-rough"),
    (CLEAR, "rough-draft-interface"),
    ("rough-draft-interface", "clear-rd1"),
    (CLEAR, "rough-draft-pseudocode"),
    ("rough-draft-pseudocode", "clear-rd2"),
    (CLEAR, "rough-draft-skeleton"),
    ("rough-draft-skeleton", "clear-rd3"),
    (CLEAR, "build-task-graph"),
    ("build-task-graph", "clear-rd4"),
    (CLEAR, "rough-draft-handoff"),
    ("rough-draft-handoff", "clear-post-item"),
];
const TASK: [(&str, &str); 2] = [
    ("brainstorming-validating", "task-planning"),
    ("task-planning", "clear-post-item"),
];
const BUGFIX: [(&str, &str); 1] = [("systematic-debugging", "clear-post-item")];

/// Where an item of a type begins.
fn first_state(kind: &str) -> &'static str {
    match kind {
        "bugfix" => "systematic-debugging",
        _ => "brainstorm-exploring",
    }
}

/// All completions of a session with items of these types, numbered from 1, and so many batches.
pub fn steps(kinds: &[&str], batches: u64) -> Vec<Step> {
    let mut all = Vec::new();
    let mut push = |skill, state, item, batch| {
        all.push(Step {
            skill,
            state,
            item,
            batch,
        });
    };
    push("collab-start", "gather-goals", None, None);
    push("gather-session-goals", "clear-pre-item", None, None);
    for (number, kind) in (1..).zip(kinds) {
        let item = Some(number);
        push(CLEAR, first_state(kind), item, None);
        let parts: [&[_]; 2] = match *kind {
            "code" => [&BRAINSTORM, &CODE],
            "task" => [&BRAINSTORM, &TASK],
            _ => [&BUGFIX, &[]],
        };
        for (skill, state) in parts.concat() {
            push(skill, state, item, None);
        }
    }
    push(CLEAR, "ready-to-implement", None, None);
    push("ready-to-implement", "clear-pre-execute", None, None);
    for batch in 0..batches {
        push(CLEAR, "execute-batch", None, Some(batch));
        push("executing-plans", "clear-post-batch", None, None);
    }
    push(CLEAR, "workflow-complete", None, None);
    push("finishing-a-development-branch", "cleanup", None, None);
    push("collab-cleanup", "done", None, None);
    all
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

    /// Goes from start to end. `graph` is that of each code item, by its number.
    pub fn whole(&mut self, kinds: &[&str], batches: u64, graph: impl Fn(u64) -> String) {
        let steps = steps(kinds, batches);
        for (at, step) in steps.iter().enumerate() {
            match step.skill {
                "gather-session-goals" => self.set_items(kinds),
                "build-task-graph" => self.hand_graph_over(&graph(step.item.unwrap())),
                "executing-plans" => self.do_batch(),
                _ if step.item.is_some() => self.write_draft(),
                _ => {}
            }
            let mut answer = self.call("complete_skill", &json!({ "skill": step.skill }));
            // Of two items in a row that take the same skill, the second one has to be named.
            if answer["code"] == "which_unit" {
                let named = json!({ "skill": step.skill, "unitId": answer["unit_id"] });
                answer = self.call("complete_skill", &named);
            }
            let next = steps.get(at + 1).map(|next| next.skill);
            self.check(step, next, &answer);
            if self.thorough {
                self.look_again(step, &answer);
            }
        }
    }

    fn check(&mut self, step: &Step, next: Option<&str>, answer: &Value) {
        let action = if next == Some(CLEAR) { "clear" } else { "none" };
        let params = [("item_number", step.item), ("batch_index", step.batch)];
        let params = params
            .into_iter()
            .filter_map(|(name, at)| Some((name, at?)));
        let params: BTreeMap<&str, u64> = params.collect();
        assert_eq!(
            fields(
                answer,
                &["validated", "next_skill", "state", "action", "params"]
            ),
            json!([true, next, step.state, action, params]),
            "{step:?}: {answer:#}"
        );
        assert_eq!(answer["done"] == true, next.is_none(), "{step:?}");
        if next.is_some() {
            let unit = answer["unit_id"].as_str().unwrap();
            assert!(self.units.insert(unit.to_owned()), "{unit} is issued twice");
            let words = answer["instructions"].as_str();
            assert!(words.is_some_and(|words| !words.is_empty()), "{step:?}");
        }
    }

    /// The same completion again is the same answer, and who remembers nothing is told the same.
    fn look_again(&mut self, step: &Step, answer: &Value) {
        let again = self.call("complete_skill", &json!({ "skill": step.skill }));
        assert_eq!(&again, answer, "{step:?} again");
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
            assert_eq!(brief.get(told), answer.get(known), "{step:?}: {brief:#}");
        }
    }

    /// Hands the items over.
    pub fn set_items(&mut self, kinds: &[&str]) {
        let given = json!({ "workItems": items(kinds) });
        let set = self.call("update_session_state", &given);
        assert_eq!(set["validated"], true, "{set:#}");
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
        let tasks = tasks
            .iter()
            .map(|task| json!({ "id": task["id"], "status": "completed" }));
        let tasks: Value = tasks.collect();
        let stored = self.call("update_tasks_status", &json!({ "tasks": tasks }));
        assert_eq!(
            fields(&stored, &["validated", "remaining"]),
            json!([true, 0])
        );
    }
}

/// A code item, a task and a bug, in two batches.
pub const ONE_OF_EACH: [&str; 3] = ["code", "task", "bugfix"];

/// Two tasks, one after the other.
pub fn two_waves(_item: u64) -> String {
    "tasks:\n  - id: types\n  - id: lexer\n    depends-on: [types]\n".to_owned()
}

/// One task, of a file that no other item touches.
pub fn one_wave(item: u64) -> String {
    format!("tasks:\n  - id: only-{item}\n")
}

/// Every sequence of types, up to this many.
pub fn mixes(longest: usize) -> Vec<Vec<&'static str>> {
    let mut all = vec![Vec::new()];
    let mut at = 0;
    while all[at].len() < longest {
        let begun = all[at].clone();
        all.extend(ONE_OF_EACH.map(|kind| [&begun[..], &[kind]].concat()));
        at += 1;
    }
    all.split_off(1)
}
