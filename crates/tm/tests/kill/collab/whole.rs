//! All that a session of skills is, without what may differ from one time to the next: to be compared.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::stage::{SESSION, Stage};
use crate::whole::{self, Whole};

/// How far the session is, as far as somebody sees who asks for it without a lock; null before there is one.
pub fn now(stage: &Stage) -> Value {
    let engine = stage.engine();
    let state = match engine.collab_state(Some(SESSION)) {
        Ok(state) => state,
        Err(fault) => {
            assert_eq!(fault.code, "no_run", "{fault:?}");
            return Value::Null;
        }
    };
    let id = state.run_id.clone();
    let mut state = serde_json::to_value(state).unwrap();
    state["lastActivity"].take();
    let mut brief = engine.collab_brief(Some(SESSION)).unwrap();
    // A document lies there before it is taken in; until then it is one that somebody wrote by hand. How many there are to
    // be read says what else has room.
    brief.read.clear();
    brief.instructions = None;
    brief.instructions_cut = false;
    let graph = engine.collab_graph(Some(SESSION)).unwrap();
    let now = json!({ "state": state, "brief": brief, "graph": graph });
    without(&now, &id)
}

/// A value with the id of its session taken out.
pub fn without(value: &Value, id: &str) -> Value {
    serde_json::from_str(&value.to_string().replace(id, "ID")).unwrap()
}

/// All of the session of a stage that must come out the same.
pub fn whole(stage: &Stage) -> Whole {
    let dir = stage.session();
    let id = dir.file_name().unwrap().to_str().unwrap().to_owned();
    journal::verify::verify(&dir.join("activity.jsonl")).unwrap();
    let text = fs::read_to_string(dir.join("activity.jsonl")).unwrap();
    let mut told = BTreeSet::new();
    let mut events = Vec::new();
    for line in text.lines() {
        let mut event: Value = serde_json::from_str(line).unwrap();
        let fields = event.as_object_mut().unwrap();
        for name in ["ts", "seq", "prev", "k", "n", "u", "definition", "context"] {
            fields.remove(name);
        }
        if let Some(bytes) = fields.get("told").and_then(Value::as_str) {
            told.insert(journal::sha256_hex(bytes.as_bytes()));
        }
        let kind = fields["event"].as_str().unwrap().to_owned();
        match kind.as_str() {
            // That bytes were cut off.
            "error" => {}
            // They tell times.
            "run:created" | "batch:complete" | "batches:cut" => events.push(kind),
            _ => events.push(event.to_string().replace(&id, "ID")),
        }
    }
    let mut all = whole::files(stage, &id);
    // What a unit was told stands in the journal, too.
    all.retain(|name, _| {
        let copy = name.rsplit_once("/evidence/");
        copy.is_none_or(|(_, hash)| !told.contains(hash))
    });
    // The list of units without its times.
    for (_, units) in all
        .iter_mut()
        .filter(|(name, _)| name.ends_with("/work-units.json"))
    {
        let mut rows: Vec<Value> = serde_json::from_str(units).unwrap();
        for row in &mut rows {
            row["issued"].take();
            row["reported"].take();
        }
        *units = Value::from(rows).to_string();
    }
    all.insert("events".to_owned(), events.join("\n"));
    all.insert("now".to_owned(), now(stage).to_string());
    Whole(all)
}
