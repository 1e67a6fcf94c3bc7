//! What a person is shown before a decision at a gate.

use std::fs;
use std::path::{Path, PathBuf};

use engine::Choice;
use engine::gate::ClosedGate;
use text::counted;

use super::{Look, Page, Sign};

/// The most files of a folder that are listed.
const LISTED: usize = 30;
/// What is said of a plan or code that somebody changed before a person decided on it.
pub const EDITED: &str =
    "it was changed since it was taken in: what is approved is what is there now";

/// What stands before a gate, all that a decision is bound to.
pub fn gate(gate: &ClosedGate, choice: Choice, feedback: &str, look: &Look) -> String {
    let mut page = Page::new(look);
    page.title(&question(gate, choice));
    page.run(&gate.run_id);
    page.field("gate", &format!("{} ({})", gate.gate, gate.state));
    if gate.iteration > 0 {
        page.field("iteration", &gate.iteration.to_string());
    }
    page.field("sha256", &gate.hash);
    for path in &gate.look_at {
        page.field("look at", &shown(path));
        files_below(&mut page, path);
    }
    if gate.edited {
        page.signed(Sign::Warn, EDITED);
    }
    match choice {
        Choice::Reject => {
            page.block_wrapped("It goes back with this, which whoever does it again is told:");
            page.block(feedback);
        }
        Choice::Approve => page
            .raw("The approval holds for exactly this; anything changed later needs another one."),
    }
    page.finish()
}

/// What a person is asked at a gate, in a line.
pub fn question(gate: &ClosedGate, choice: Choice) -> String {
    let verb = match choice {
        Choice::Approve => "Approve",
        Choice::Reject => "Send back",
    };
    format!("{verb} what stands before the gate {}?", gate.gate)
}

/// The files of a folder, where a path is one.
fn files_below(page: &mut Page<'_>, folder: &Path) {
    if !folder.is_dir() {
        return;
    }
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
    let names: Vec<String> = files
        .iter()
        .map(|file| shown(file.strip_prefix(folder).unwrap_or(file)))
        .collect();
    page.list(names.iter().take(LISTED).map(String::as_str));
    if let Some(more) = names.len().checked_sub(LISTED).filter(|&more| more > 0) {
        page.raw(&format!("    and {} more", counted(more, "file")));
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
