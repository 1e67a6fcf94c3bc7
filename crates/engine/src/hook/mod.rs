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
//! | `messages` | what the agent is told |
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

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use workspace::config::{Environment, find_root, first_in_project};
use workspace::git::share_repository;

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
    /// It goes on, and the agent is told where the run is.
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
    let cwd = asked.folders.first().map_or(Path::new(""), |first| first);
    match asked.action {
        Action::Edit { paths } => asked.edit(cwd, paths),
        Action::Command { line } => asked.command(cwd, line),
        Action::Stop { .. } => match asked.here() {
            Some((_, Lookup::Run(run))) if run.is_running() => stop(&run),
            Some((_, Lookup::Unclear(why))) => unclear(&why),
            _ => Decision::ALLOW,
        },
        Action::SessionStart => asked.begin(),
        Action::Other => Decision::ALLOW,
    }
}

fn unclear(why: &str) -> Decision {
    Decision::Allow {
        note: Some(messages::unclear(why)),
    }
}

impl ToolCall<'_> {
    /// The project that the agent is in, and the run in its working tree.
    fn here(&self) -> Option<(&Path, Lookup)> {
        let here = first_in_project(self.folders, self.environment)?;
        Some((here, self.find(here)))
    }

    fn find(&self, path: &Path) -> Lookup {
        underway::find(path, self.folders, self.environment)
    }

    /// The running run that the agent's folders lead to from a working tree without one: that of another working tree of
    /// the same repository.
    fn beside(&self, path: &Path) -> Option<(PathBuf, Box<ActiveRun>)> {
        let tree = place::working_tree(path)?;
        let mut others = self.folders.iter().filter_map(|folder| {
            let other = place::working_tree(folder)?;
            (other != tree && share_repository(&other, &tree)).then_some(other)
        });
        others.find_map(|other| match self.find(&other) {
            Lookup::Run(run) if run.is_running() => Some((tree.clone(), run)),
            _ => None,
        })
    }

    /// Judges each file by the run of the working tree that it lies in. The first that may not be edited decides for all; else the
    /// first of which there is something to say.
    fn edit(&self, cwd: &Path, paths: &[PathBuf]) -> Decision {
        let mut projects: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for path in paths {
            let real = place::real(cwd, path);
            let project = find_root(&real, self.environment).path;
            projects.entry(project).or_default().push(real);
        }
        let mut first = Decision::ALLOW;
        for files in projects.values() {
            let decision = match self.find(&files[0]) {
                Lookup::Run(run) if run.is_running() => edits::judge(&run, cwd, files),
                Lookup::Run(_) => Decision::ALLOW,
                Lookup::Unclear(why) => unclear(&why),
                Lookup::Nothing { .. } => match self.beside(&files[0]) {
                    Some((tree, run)) => Decision::Tell {
                        text: messages::other_tree(&tree, &run),
                    },
                    None => Decision::ALLOW,
                },
            };
            match decision {
                Decision::Deny { code, mut reason } => {
                    if paths.len() > 1 {
                        reason.push_str(" The other files of this step were not edited either.");
                    }
                    return Decision::Deny { code, reason };
                }
                decision if first == Decision::ALLOW => first = decision,
                _ => {}
            }
        }
        first
    }

    /// Judges each git command by the run of the working tree that it works on.
    fn command(&self, cwd: &Path, line: &str) -> Decision {
        let mut note = None;
        let decision = commands::judge(cwd, line, |folder| match self.find(folder) {
            Lookup::Run(run) => run.is_running().then_some(run),
            Lookup::Unclear(why) => {
                note = Some(messages::unclear(&why));
                None
            }
            Lookup::Nothing { .. } => None,
        });
        match decision {
            Decision::Allow { .. } => Decision::Allow { note },
            decision => decision,
        }
    }

    /// What an agent that begins is told.
    fn begin(&self) -> Decision {
        let text = match self.here() {
            Some((_, Lookup::Run(run))) => messages::where_it_is(&run),
            Some((_, Lookup::Unclear(why))) => messages::unclear(&why),
            Some((
                here,
                Lookup::Nothing {
                    others,
                    has_tasks,
                    in_project,
                },
            )) => match self.beside(here) {
                Some((tree, run)) => messages::other_tree(&tree, &run),
                None if in_project => messages::no_run(&others, has_tasks),
                None => return Decision::ALLOW,
            },
            None => return Decision::ALLOW,
        };
        Decision::Tell { text }
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
