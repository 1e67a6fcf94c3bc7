//! The rules for git commands. Only those are judged that are obviously about the run's own repository.

use std::borrow::Borrow;
use std::path::{Path, PathBuf};

use crate::hook::Decision;
use crate::hook::git_line::{self, Act, Line};
use crate::hook::messages;
use crate::hook::place;
use crate::hook::shell;
use crate::hook::underway::{ActiveRun, Phase};

/// Checks every git command of a line against the run of the folder that it works in; the first that may not be carried out
/// decides.
pub fn judge<R: Borrow<ActiveRun>>(
    cwd: &Path,
    line: &str,
    mut run_in: impl FnMut(&Path) -> Option<R>,
) -> Decision {
    let mut here = cwd.to_owned();
    for command in shell::commands(line) {
        match git_line::read(&command) {
            Line::Unclear => break,
            Line::Other => {}
            Line::ChangeFolder(folder) => here.push(folder),
            Line::Git(folders, act) => {
                let mut there = here.clone();
                there.extend(folders);
                let Some(run) = run_in(&there) else {
                    continue;
                };
                let run = run.borrow();
                if is_own(run, &there)
                    && let Some(denial) = denied(run, &there, &act)
                {
                    return denial;
                }
            }
        }
    }
    Decision::ALLOW
}

/// Whether git, called in a folder, works on the run's working tree.
fn is_own(run: &ActiveRun, folder: &Path) -> bool {
    place::working_tree(folder).is_some_and(|top| top == real(&run.memory.start.top_level))
}

fn real(folder: &Path) -> PathBuf {
    std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

fn denied(run: &ActiveRun, folder: &Path, act: &Act) -> Option<Decision> {
    match act {
        Act::Commit { unverified } => commit(run, *unverified),
        Act::Push => Some(messages::denied(run, messages::PUSH, "")),
        Act::HardReset => Some(messages::denied(run, messages::HARD_RESET, "")),
        Act::Leave => Some(messages::not_switched(run, None)),
        Act::Switch(branch) => {
            (*branch != run.memory.start.branch).then(|| messages::not_switched(run, Some(branch)))
        }
        Act::Checkout(name) => {
            is_elsewhere(run, folder, name).then(|| messages::not_switched(run, Some(name)))
        }
    }
}

fn commit(run: &ActiveRun, unverified: bool) -> Option<Decision> {
    // A merge that had conflicts is committed, whatever the phase.
    if run.is_merging && !unverified {
        return None;
    }
    match run.phase {
        Phase::Red | Phase::Green | Phase::Work | Phase::Step | Phase::Finalize => {
            Some(messages::denied(run, messages::EARLY_COMMIT, ""))
        }
        Phase::Commit if run.is_off_its_branch() => {
            Some(messages::denied(run, messages::STRAY_COMMIT, ""))
        }
        Phase::Commit if unverified => Some(messages::denied(run, messages::UNVERIFIED_COMMIT, "")),
        Phase::Commit | Phase::Other => None,
    }
}

/// Whether `git checkout NAME` leaves the run's branch. A name that nobody knows is taken for that of a file, which may have
/// been deleted.
fn is_elsewhere(run: &ActiveRun, folder: &Path, name: &str) -> bool {
    if name == run.memory.start.branch || name == "HEAD" || name == "@" {
        return false;
    }
    if matches!(name, "-" | "@{-1}") {
        return true;
    }
    if folder.join(name).exists() {
        return false;
    }
    name.starts_with("HEAD~")
        || name.starts_with("HEAD^")
        || place::is_commit_id(name)
        || place::is_ref(&run.memory.start.common_dir, name)
}
