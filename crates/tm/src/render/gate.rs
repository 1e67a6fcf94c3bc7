//! What a person is shown before a decision at a gate.

use std::fs;
use std::path::{Path, PathBuf};

use engine::Choice;
use engine::gate::{ClosedGate, Decide};
use serde_json::json;

use super::{Look, page_with};

/// What stands before a gate, all that a decision is bound to, on the page of that name.
pub fn gate(page: &str, decide: &Decide, feedback: &str, look: &Look) -> String {
    let gate = &decide.gate;
    let below: Vec<Vec<String>> = gate.look_at.iter().map(|path| files_below(path)).collect();
    let beside = json!({
        "question": question(gate, decide.choice),
        "run": gate.run_id,
        "state": gate.state,
        "below": below,
        "choice": decide.choice,
        "feedback": feedback,
    });
    page_with(page, gate, &beside, look)
}

/// What a person is asked at a gate, in a line.
fn question(gate: &ClosedGate, choice: Choice) -> String {
    let verb = match choice {
        Choice::Approve => "Approve",
        Choice::Reject => "Send back",
    };
    format!("{verb} what stands before the gate {}?", gate.gate)
}

/// The files of a folder, where a path is one.
fn files_below(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    // Links are listed and not followed, so this ends.
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => files.push(entry.path()),
            }
        }
    }
    files.sort();
    let below = |file: &PathBuf| {
        file.strip_prefix(folder)
            .unwrap_or(file)
            .display()
            .to_string()
    };
    files.iter().map(below).collect()
}
