//! What is found in the working tree when tests are reported.

use machine::Finding;
use workspace::git::{RepoPath, Repository};

use crate::capability::git::changes::Changes;
use crate::capability::git::products;
use crate::capability::git::read::{finding, set_aside, with_files};
use crate::capability::tests::read::few;
use crate::next_step::Verb;
use crate::refusal;
use crate::support::HandlerError;

/// What a test run leaves behind must not get into a commit, and here it can still be mended by a
/// line in `.gitignore`.
pub(super) fn no_products(
    repository: &Repository,
    changes: &Changes,
    named: &[RepoPath],
) -> Result<(), HandlerError> {
    let untracked: Vec<String> = changes
        .files
        .iter()
        .filter(|change| change.untracked && !named.contains(&change.path))
        .map(|change| change.path.to_string())
        .collect();
    let found = products::among(repository.top_level(), &untracked);
    if found.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = found.iter().map(|found| found.ignore.clone()).collect();
    Err(refusal!(
        "unfit_files.build_products",
        value = found
            .iter()
            .map(|found| found.example.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        lines = lines.join(", ")
    )
    .detail("ignore", lines)
    .into())
}

/// Files were changed behind the last commit.
pub(super) fn changed_since_commit(changed: &[String]) -> Option<Finding> {
    let reopen = Verb::Reopen.step().and("reason");
    (!changed.is_empty()).then(|| {
        with_files(
            finding(
                "changed_after_commit",
                format!("files were changed after the last commit: {}", few(changed)),
                format!(
                    "set them aside ({}), and report again: {}; where they belong to the task, {reopen} takes them into a repair",
                    set_aside(changed),
                    Verb::Report
                ),
            ),
            changed,
        )
    })
}
