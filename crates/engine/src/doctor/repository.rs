//! The repository, as a run needs it.

use std::path::Path;

use workspace::git::{GitErrorKind, Repository, TreeStatus};
use workspace::process::find_program;
use workspace::tasks::{STATE_FILE, TASKS_FILE};

use super::DoctorCheck;
use crate::capability::git::read::clean::in_the_way;
use crate::capability::git::read::preflight::git_is_ready;
use crate::engine::Engine;
use crate::fault::Fault;
use text::counted;

/// How many changed files are named.
const MOST_TOLD: usize = 3;

/// The oldest git that has all that is asked of it.
const OLDEST: [u32; 2] = [2, 31];

impl Engine {
    /// Looks at the repository; whether there is one. In the middle of a run, one that is `going_on`, files are changed.
    pub(super) fn repository(&self, going_on: bool, checks: &mut Vec<DoctorCheck>) -> bool {
        if let Some(version) = workspace::git::version()
            && version < OLDEST
        {
            let [major, minor] = version;
            checks.push(DoctorCheck::fail(
                "git_version",
                format!("git is {major}.{minor}, and 2.31 is the oldest that will do"),
                "install a newer git",
            ));
        }
        let repository = match Repository::discover(&self.root) {
            Ok(repository) => repository.with_scope(&self.root),
            Err(error) => {
                let nowhere = *error.kind() == GitErrorKind::NotARepository;
                let fault = Fault::from(error);
                checks.push(if nowhere {
                    DoctorCheck::note(
                        "git",
                        format!("{}; only work on a task needs one", fault.message),
                        "for `tm autopilot`: git init, and a first commit",
                    )
                } else {
                    DoctorCheck::fail("git", fault.message, fault.suggestion)
                });
                return !nowhere;
            }
        };
        match repository.status() {
            Ok(status) => {
                on_branch(&repository, &status, checks);
                let asks_for_it = self.settings.config.autopilot.require_clean_working_tree;
                if asks_for_it && !going_on {
                    may_begin(&self.root, &repository, &status, checks);
                }
            }
            Err(error) => checks.push(DoctorCheck::of("git", error)),
        }
        match repository.identity() {
            Ok(identity) => checks.push(DoctorCheck::ok(
                "identity",
                format!("{} <{}>", identity.name, identity.email),
            )),
            Err(error) => checks.push(DoctorCheck::of("identity", error)),
        }
        match repository.signing_program() {
            Ok(Some(program)) if find_program(&program, &self.root).is_none() => {
                checks.push(DoctorCheck::fail(
                    "signing",
                    format!("git signs commits by `{program}`, which is not there"),
                    "install it, or turn it off: git config commit.gpgsign false",
                ));
            }
            Ok(_) => {}
            Err(error) => checks.push(DoctorCheck::of("signing", error)),
        }
        match repository.dependencies() {
            Ok(dependencies) if !dependencies.missing.is_empty() => checks.push(DoctorCheck::warn(
                "dependencies",
                format!(
                    "the project asks for packages, and {} is not there",
                    dependencies.missing.join(", ")
                ),
                "install what the project needs, as its own documentation says, before a test is run",
            )),
            Ok(_) => {}
            Err(error) => checks.push(DoctorCheck::of("dependencies", error)),
        }
        for lock in repository.lock_files() {
            checks.push(DoctorCheck::warn(
                "git_lock",
                format!("{} is there", lock.display()),
                "if no git is running, remove it",
            ));
        }
        true
    }
}

/// Looks at what is checked out.
fn on_branch(repository: &Repository, status: &TreeStatus, checks: &mut Vec<DoctorCheck>) {
    let branch = status
        .branch
        .as_deref()
        .unwrap_or("no branch (HEAD is detached)");
    let changed = status.changes.len();
    checks.push(DoctorCheck::ok(
        "git",
        format!("on {branch}, {} changed", counted(changed, "file")),
    ));
    if let Err(fault) = git_is_ready(repository, status) {
        let unmerged: Vec<String> = status.unmerged.iter().map(ToString::to_string).collect();
        let (told, fix) = if unmerged.is_empty() {
            (fault.message, fault.suggestion)
        } else {
            (
                format!(
                    "{}, with conflicts in {}",
                    fault.message,
                    unmerged.join(", ")
                ),
                format!(
                    "resolve them and `git add` the files; then {}",
                    fault.suggestion
                ),
            )
        };
        checks.push(DoctorCheck::fail(&fault.code, told, fix));
    }
}

/// Looks for what keeps a run from beginning. In the middle of one files are changed.
fn may_begin(
    root: &Path,
    repository: &Repository,
    status: &TreeStatus,
    checks: &mut Vec<DoctorCheck>,
) {
    // Where tasks and their statuses stand.
    let exempt = [TASKS_FILE, STATE_FILE].map(|file| repository.relative(&root.join(file)));
    let exempt: Vec<_> = exempt.into_iter().flatten().collect();
    let paths = in_the_way(status, &exempt);
    if paths.is_empty() {
        return;
    }
    let mut told: Vec<String> = paths
        .iter()
        .take(MOST_TOLD)
        .map(ToString::to_string)
        .collect();
    if paths.len() > MOST_TOLD {
        told.push("…".to_owned());
    }
    checks.push(DoctorCheck::note(
        "tree",
        format!(
            "a run begins with a clean tree, and changed are {}",
            told.join(", ")
        ),
        "commit or stash them; what tools leave behind belongs into .gitignore",
    ));
}
