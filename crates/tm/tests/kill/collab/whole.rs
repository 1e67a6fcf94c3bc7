//! All that a session of skills is, without what may differ from one time to the next: to be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use super::stage::{SESSION, Stage};

/// How far the session is, as far as somebody sees who asks for it without a lock; null before there is one.
pub fn now(stage: &Stage) -> Value {
    let engine = stage.engine();
    let state = match engine.collab_state(Some(SESSION)) {
        Ok(state) => state,
        Err(fault) => {
            assert_eq!(fault.code, "no_session", "{fault:?}");
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
    without(
        &json!({ "state": state, "brief": brief, "graph": graph }),
        &id,
    )
}

/// A value with the id of its session taken out.
pub fn without(value: &Value, id: &str) -> Value {
    serde_json::from_str(&value.to_string().replace(id, "ID")).unwrap()
}

/// All of a session that must come out the same.
#[derive(Debug, PartialEq, Eq)]
pub struct Whole {
    /// What it says of itself.
    now: Value,
    /// What happened, in order.
    pub events: Vec<String>,
    /// Files, with their content where it is the same every time.
    files: BTreeMap<String, String>,
}

impl Whole {
    /// The session of a stage.
    pub fn of(stage: &Stage) -> Self {
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
        let mut files = read(stage);
        files.retain(|name, _| {
            let copy = name.rsplit_once("/evidence/");
            // What a unit was told stands in the journal, too.
            copy.is_none_or(|(_, hash)| !told.contains(hash))
        });
        let files = files
            .into_iter()
            .map(|(name, content)| (name.replace(&id, "ID"), content.replace(&id, "ID")))
            .collect();
        Self {
            now: now(stage),
            events,
            files,
        }
    }

    /// What of it is not as `other` is; empty if nothing.
    pub fn differs_from(&self, other: &Self) -> String {
        let mut told = Vec::new();
        if self.now != other.now {
            told.push(format!("it is {}\ninstead of {}", self.now, other.now));
        }
        let pairs = self.events.iter().zip(&other.events);
        if let Some((here, there)) = pairs.clone().find(|(here, there)| here != there) {
            told.push(format!("event {here}\ninstead of {there}"));
        } else if self.events.len() != other.events.len() {
            told.push(format!(
                "{} events instead of {}",
                self.events.len(),
                other.events.len()
            ));
        }
        for (name, content) in &self.files {
            match other.files.get(name) {
                None => told.push(format!("file {name} is too much")),
                Some(wanted) if wanted != content => told.push(format!(
                    "file {name} holds\n{content}\ninstead of\n{wanted}"
                )),
                Some(_) => {}
            }
        }
        let missing = other
            .files
            .keys()
            .filter(|name| !self.files.contains_key(*name));
        told.extend(missing.map(|name| format!("file {name} is missing")));
        told.join("\n")
    }
}

fn read(stage: &Stage) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (path, bytes) in stage.contents() {
        let text = String::from_utf8_lossy(&bytes);
        let content = match path.rsplit('/').next().unwrap_or_default() {
            // It comes when the tail has grown, which a line about what was cut off adds to.
            name if name.starts_with("snapshot") => continue,
            "activity.jsonl" | "lock" | "report.json" | "report.md" => String::new(),
            "state.json" | "manifest.json" | "project.json" => text
                .lines()
                .filter(|line| !line.contains("Time\"") && !line.contains("lastUpdated"))
                .collect::<Vec<_>>()
                .join("\n"),
            "work-units.json" => units(&text),
            _ => text.into_owned(),
        };
        all.insert(path, content);
    }
    all
}

/// The list of units without its times.
fn units(text: &str) -> String {
    let mut rows: Vec<Value> = serde_json::from_str(text).unwrap();
    for row in &mut rows {
        row["issued"].take();
        row["reported"].take();
    }
    serde_json::to_string(&rows).unwrap()
}
