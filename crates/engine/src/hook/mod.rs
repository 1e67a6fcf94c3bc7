//! The guard hook: what an agent is about to do, held against the phase that its run is in.
//!
//! | module | what it holds |
//! |---|---|
//! | `place` | paths as they really are, and the branch that is checked out |
//! | `underway` | the run that is under way, found with few reads and without asking git |
//! | `edits` | the rules for files |
//! | `shell` | a command line cut into its commands |
//! | `git_line` | what a git command is about to do |
//! | `commands` | the rules for git commands |
//! | `words` | what the agent is told |
//!
//! It knows no client. It is fast feedback and no authority: whatever it cannot tell, it lets pass, and the tree is
//! looked at again when the phase is reported.

mod commands;
mod edits;
mod git_line;
mod messages;
pub(crate) mod place;
mod shell;
mod underway;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use workspace::config::Environment;

use crate::hook::underway::{ActiveRun, Lookup};

/// What an agent is about to do, or has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// It writes, changes or deletes these files.
    Edit {
        /// Their paths, absolute or from the agent's folder.
        paths: Vec<PathBuf>,
    },
    /// It has a shell run a line.
    Command {
        /// The line.
        line: String,
    },
    /// It is about to end its turn.
    Stop {
        /// It has been reminded already, and would go round in circles.
        already_reminded: bool,
    },
    /// It begins, or begins anew without what it knew.
    SessionStart,
    /// Something that no rule is about.
    Other,
}

/// What becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It goes on.
    Allow {
        /// Why nothing was held back, where that is worth a line.
        note: Option<String>,
    },
    /// It does not.
    Deny {
        /// Stable code.
        code: &'static str,
        /// What, why, and what to do instead.
        reason: String,
    },
    /// The agent is reminded of what is unfinished.
    Remind {
        /// The work unit that is, so that nobody is reminded twice of the same.
        unit: String,
        /// What is next.
        text: String,
    },
    /// The agent is told where the run is.
    Tell {
        /// That.
        text: String,
    },
}

impl Decision {
    /// It goes on, and there is nothing to say.
    pub const ALLOW: Self = Self::Allow { note: None };

    /// The code of a denial.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Deny { code, .. } => Some(code),
            _ => None,
        }
    }
}

/// The codes that a denial can have.
pub const CODES: [&str; 10] = [
    messages::SOURCE_IN_RED,
    messages::OTHER_WORK,
    messages::FROZEN_TEST,
    messages::EDIT_IN_COMMIT,
    messages::EARLY_COMMIT,
    messages::UNVERIFIED_COMMIT,
    messages::STRAY_COMMIT,
    messages::PUSH,
    messages::HARD_RESET,
    messages::BRANCH_SWITCH,
];

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct ToolCall<'a> {
    /// The agent's folder first, then others in which its project may be.
    pub folders: &'a [PathBuf],
    /// The environment that says where runs are kept.
    pub environment: &'a Environment,
    /// What the agent is about to do.
    pub action: &'a Action,
}

/// Decides. Writes nothing.
pub fn judge(asked: &ToolCall<'_>) -> Decision {
    match asked.action {
        Action::Other
        | Action::Stop {
            already_reminded: true,
        } => return Decision::ALLOW,
        Action::Edit { paths } if paths.is_empty() => return Decision::ALLOW,
        // Most lines have nothing to do with git, and need no look at any run.
        Action::Command { line } if !line.contains("git") => return Decision::ALLOW,
        _ => {}
    }
    let found = underway::find(asked.folders, asked.environment);
    if *asked.action == Action::SessionStart {
        return begin(&found);
    }
    let run = match found {
        Lookup::Run(run) => run,
        Lookup::Unclear(why) => {
            return Decision::Allow {
                note: Some(messages::unclear(&why)),
            };
        }
        Lookup::Nothing { .. } => return Decision::ALLOW,
    };
    if !run.is_running() {
        return Decision::ALLOW;
    }
    let cwd = asked.folders.first().map_or(&run.root, |first| first);
    match asked.action {
        Action::Edit { paths } => edits::judge(&run, cwd, paths),
        Action::Command { line } => commands::judge(&run, cwd, line),
        Action::Stop { .. } => stop(&run),
        Action::SessionStart | Action::Other => Decision::ALLOW,
    }
}

/// What an agent that begins is told.
fn begin(found: &Lookup) -> Decision {
    match found {
        Lookup::Run(run) => Decision::Tell {
            text: messages::where_it_is(run),
        },
        Lookup::Unclear(why) => Decision::Tell {
            text: messages::unclear(why),
        },
        Lookup::Nothing {
            others,
            has_tasks,
            in_project: true,
        } => Decision::Tell {
            text: messages::no_run(others, *has_tasks),
        },
        Lookup::Nothing { .. } => Decision::ALLOW,
    }
}

/// What an agent that wants to end its turn is told.
fn stop(run: &ActiveRun) -> Decision {
    match (&run.unit, messages::unfinished(run)) {
        (Some(unit), Some(text)) => Decision::Remind {
            unit: unit.clone(),
            text,
        },
        _ => Decision::ALLOW,
    }
}
