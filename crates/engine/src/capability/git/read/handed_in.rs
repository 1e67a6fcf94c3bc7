//! Commits on a run's branch that the run did not make.

use machine::Finding;
use workspace::git::{Oid, Repository, TreeStatus};

use crate::capability::git::read::finding;
use crate::capability::tests::evidence::work::Work;
use crate::fault::Fault;
use crate::next_step::{Argument, NextStep, Verb};
use crate::support::HandlerError;

/// The policy of commits that are not the subtask's own.
pub(super) const FOREIGN_COMMIT: &str = "foreign_commit";

/// Whether a commit leads back to another one by single parents.
pub(super) fn is_straight(repository: &Repository, base: &Oid, head: &Oid) -> Result<bool, Fault> {
    let commits = repository.commits_between(base, head)?;
    let mut expected = head.clone();
    for commit in commits.iter().rev() {
        let [parent] = &commit.parents[..] else {
            return Ok(false);
        };
        if commit.oid != expected {
            return Ok(false);
        }
        expected = parent.clone();
    }
    Ok(expected == *base)
}

/// The finding that commits are on the branch of which the run knows nothing, or a merge of a branch that it does not work beside.
pub(crate) fn not_of_the_run(work: &Work, status: &TreeStatus) -> Result<Finding, HandlerError> {
    const FEW: usize = 3;
    let repository = work.memory.repository();
    let head = status.head.as_ref().unwrap_or(&work.base);
    let commits = repository.commits_between(&work.base, head)?;
    let named = commits.iter().take(FEW);
    let named: Vec<String> = named
        .map(|commit| format!("{} \"{}\"", commit.oid.short(), commit.subject))
        .collect();
    let more = match commits.len().saturating_sub(FEW) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let aside = format!("{}-aside-{}", work.memory.start.branch, head.short());
    Ok(finding(
        FOREIGN_COMMIT,
        format!(
            "there are commits on the branch that this run did not make: {}{more}",
            named.join(", ")
        ),
        format!(
            "keep them under a name of their own ({}), take the branch back to the run's last commit ({}), and report again: {}",
            NextStep::git(["branch", "--force", &aside]),
            NextStep::git(["reset", "--keep", work.base.as_str()]),
            Verb::Report
        ),
    ))
}

/// The finding that a commit is not one of the subtask.
pub(super) fn foreign(message: String) -> Finding {
    finding(
        FOREIGN_COMMIT,
        message,
        format!(
            "leave {sha} out: a commit of yours that holds what was tested is found by itself, and else it is made for you: {report}",
            sha = Argument("sha"),
            report = Verb::Report
        ),
    )
}
