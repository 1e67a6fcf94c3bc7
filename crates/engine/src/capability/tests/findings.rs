//! What is found in the working tree, and lacks, when tests are reported.

use std::fmt;
use std::path::Path;

use machine::Finding;
use workspace::convention::paths::may_hold_tests;
use workspace::git::{RepoPath, Repository};

use crate::capability::git::changes::Changes;
use crate::capability::git::products;
use crate::capability::git::read::{finding, with_files};
use crate::capability::tests::read::few;
use crate::next_step::{Argument, NextStep, Verb};
use crate::support::{HandlerError, refusal};

/// That no test was written; `before` are files that were changed before the run, and are as they were then.
pub(super) fn no_tests_written(
    changed: &[String],
    ignored: &[String],
    before: &[String],
    stashed: bool,
) -> Finding {
    let message = if !ignored.is_empty() {
        format!(
            "no test was written that git does not ignore ({})",
            few(ignored)
        )
    } else if changed.is_empty() && !before.is_empty() {
        format!(
            "no test was written: what is changed was there before the run or was left by a skipped subtask, and is as it was then ({})",
            few(before)
        )
    } else if changed.is_empty() {
        "no test was written: nothing was changed since the last commit".to_owned()
    } else {
        format!(
            "no test was written: of what was changed since the last commit nothing is a test ({})",
            few(changed)
        )
    };
    let report = Verb::Report;
    let suggestion = if stashed {
        format!(
            "if it is in the stash, bring it back ({}); else write the tests of this subtask, see them fail, then report: {report}",
            NextStep::git(["stash", "pop"])
        )
    } else if !ignored.is_empty() {
        format!("rename them, or have .gitignore let them in, then report: {report}")
    } else if changed.is_empty() && !before.is_empty() {
        format!(
            "write the tests of this subtask, see them fail, then report: {report}; what of that is meant for this subtask is named with {}",
            Argument("files")
        )
    } else {
        format!(
            "write the tests of this subtask, see them fail, then report: {report}; where the project's tests lie is said with test.patterns in the settings, for runs that begin then"
        )
    };
    finding("red_without_tests", message, suggestion)
}

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
    Err(refusal(
        "build_products",
        format!(
            "these look like products of a build or a test run, and would be committed: {}",
            found
                .iter()
                .map(|found| found.example.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        ),
        format!(
            "add to .gitignore: {}; then report again: {}. What is meant to be committed can be named with {}",
            lines.join(", "),
            Verb::Report,
            Argument("files")
        ),
    )
    .detail("ignore", lines)
    .into())
}

/// That nothing was changed since a report of failing tests.
pub(super) fn no_change(red: &str) -> Finding {
    let reopen = Verb::Reopen.step().and("reason");
    finding(
        "green_without_change",
        format!("nothing was changed since {red}: what failed there passes now for another reason"),
        format!(
            "find out what the test rests on beside the code, such as time, order or files elsewhere, go back with {reopen}, and mend it there"
        ),
    )
}

/// What a repair comes to that no failing suite asked for.
const WITHOUT: &str =
    "no test has failed for its commit, which `tm verify` then calls one without tests";

/// Files that were changed behind the last commit.
pub(super) fn changed_since_commit(
    top_level: &Path,
    changed: &[String],
    untracked: &[String],
) -> Option<Finding> {
    let reopen = Verb::Reopen.step().and("reason");
    let way_out = if untracked.len() == changed.len() {
        format!(
            "take them away, or list them in .git/info/exclude, where a run of the tests leaves them behind, and report again ({report}); or {reopen} to take them into a repair: {WITHOUT}",
            report = Verb::Report
        )
    } else {
        format!(
            "set them aside ({stash}), and report again ({report}); or, if they belong to the task, {reopen} takes them into a repair: {WITHOUT}",
            stash = stash(top_level, changed),
            report = Verb::Report
        )
    };
    (!changed.is_empty()).then(|| {
        with_files(
            finding(
                "changed_after_commit",
                format!("files were changed after the last commit: {}", few(changed)),
                way_out,
            ),
            changed,
        )
    })
}

/// How it is seen that tests fail where what they test is written already; `written` is whether they are.
pub(crate) fn set_aside(top_level: &Path, product: &[String], written: bool) -> String {
    let files = product.join(", ");
    let write = if written { "" } else { "write the tests, " };
    if product.iter().any(|path| may_hold_tests(path)) {
        return format!(
            "what they test is written already, in {files}: take that out, {write}see the tests fail, report ({}), and bring it back behind it",
            Verb::Report
        );
    }
    // What was in the newest stash before would come back instead.
    let is_stashed = !product.iter().any(|path| is_submodule(top_level, path));
    let pop = is_stashed.then(|| format!(" ({})", NextStep::git(["stash", "pop"])));
    format!(
        "what they test is written already, in {files}: set that aside ({stash}), {write}see the tests fail, report ({report}), and bring it back behind it{pop}",
        stash = stash(top_level, product),
        report = Verb::Report,
        pop = pop.unwrap_or_default()
    )
}

/// Sets changes of these files aside. Of a submodule git stashes nothing: it is put back to the commit that it was at.
pub(crate) fn stash<P: fmt::Display>(top_level: &Path, files: &[P]) -> String {
    let names = files.iter().map(ToString::to_string);
    let (submodules, files): (Vec<_>, Vec<_>) =
        names.partition(|name| is_submodule(top_level, name));
    let step = |command: &str, names: &[String]| {
        // From the top, wherever the reader stands.
        let paths: Vec<String> = names.iter().map(|name| format!(":/{name}")).collect();
        let words = command.split(' ').chain(paths.iter().map(String::as_str));
        (!names.is_empty()).then(|| NextStep::shell(words).to_string())
    };
    let steps = [
        step("git stash push --include-untracked --", &files),
        step("git reset --quiet --", &submodules),
        step("git submodule update --init --", &submodules),
    ];
    steps.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn is_submodule(top_level: &Path, name: &str) -> bool {
    top_level.join(name).join(".git").exists()
}
