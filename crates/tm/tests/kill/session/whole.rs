//! All that a session is, without what may differ from one time to the next: to be compared.

use std::collections::BTreeMap;

use engine::view::session::answer::SessionState;
use serde_json::{Value, json};

use super::stage::Stage;

/// Files whose content holds times, or that are only of the moment.
const BY_NAME: [&str; 5] = [
    "activity.jsonl",
    "lock",
    "report.json",
    "report.md",
    "work-units.json",
];

/// All of a session that must come out the same.
#[derive(Debug, PartialEq, Eq)]
pub struct Whole {
    /// Its id.
    pub id: String,
    /// Phases with status, iteration, outcome and decision.
    pub history: Vec<String>,
    /// Recorded files: path, phase, iteration and hash, each as often as it was.
    pub artifacts: Vec<String>,
    /// Files on the disk, with their content where it is the same every time.
    pub files: BTreeMap<String, String>,
}

/// How far a session is, as far as somebody sees who asks for it.
pub fn shape(state: &SessionState) -> Value {
    json!({
        "phase": state.phase,
        "status": state.status,
        "iteration": state.current_iteration,
        "most": state.max_iterations,
        "total": state.phase_history_total,
        "plan": state.plan_hash,
        "waiting": state.waiting_for,
        "tampered": state.tampered,
        "error": state.last_error,
    })
}

impl Whole {
    /// The session of a stage.
    pub fn of(stage: &Stage) -> Self {
        let state = stage.state();
        let dir = stage.session();
        journal::verify::verify(&dir.join("activity.jsonl")).unwrap();
        let history = state
            .phase_history
            .iter()
            .map(|entry| {
                format!(
                    "{} {} {} {:?} {:?}",
                    entry.phase, entry.status, entry.iteration, entry.outcome, entry.decision
                )
            })
            .collect();
        let artifacts = state
            .artifacts
            .iter()
            .map(|one| {
                format!(
                    "{} {} {} {}",
                    one.path, one.phase, one.iteration, one.sha256
                )
            })
            .collect();
        let id = state.session_id;
        let files = read(stage)
            .into_iter()
            .map(|(name, content)| (name.replace(&id, "ID"), content.replace(&id, "ID")))
            .collect();
        Self {
            id,
            history,
            artifacts,
            files,
        }
    }

    /// What of it is not as `other` is; empty if nothing.
    pub fn differs_from(&self, other: &Self) -> String {
        let mut told = Vec::new();
        if self.history != other.history {
            told.push(format!(
                "history {:#?}\ninstead of {:#?}",
                self.history, other.history
            ));
        }
        // A prompt tells the id, and so has another hash in another session.
        let same_id = self.id == other.id;
        if same_id {
            let apart = |one: &[String], other: &[String]| -> Vec<String> {
                one.iter()
                    .filter(|artifact| !other.contains(artifact))
                    .cloned()
                    .collect()
            };
            let differing = [
                apart(&self.artifacts, &other.artifacts),
                apart(&other.artifacts, &self.artifacts),
            ]
            .concat();
            told.extend(differing.into_iter().map(|one| format!("artifact {one}")));
        }
        let counts = |name: &&String| same_id || !name.contains("/evidence/");
        for (name, content) in self.files.iter().filter(|(name, _)| counts(name)) {
            match other.files.get(name) {
                None => told.push(format!("file {name} is too much")),
                Some(wanted) if wanted != content => told.push(format!(
                    "file {name} holds\n{content}\ninstead of\n{wanted}"
                )),
                Some(_) => {}
            }
        }
        let missing = other.files.keys().filter(counts);
        told.extend(
            missing
                .filter(|name| !self.files.contains_key(*name))
                .map(|name| format!("file {name} is missing")),
        );
        told.join("\n")
    }
}

fn read(stage: &Stage) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (path, bytes) in stage.contents() {
        let content = match path.rsplit('/').next().unwrap_or_default() {
            // They come to be at the first time that they are of use.
            "steps.lock" | "export.lock" | "snapshot.json" => continue,
            name if BY_NAME.contains(&name) => String::new(),
            "state.json" | "manifest.json" | "project.json" => without_times(&bytes),
            _ => String::from_utf8_lossy(&bytes).into_owned(),
        };
        all.insert(path, content);
    }
    all
}

fn without_times(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .lines()
        .filter(|line| !line.contains("Time\"") && !line.contains("lastUpdated"))
        .collect::<Vec<_>>()
        .join("\n")
}
