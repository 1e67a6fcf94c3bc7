//! Commits that the executor made, held against what the run knows.

use machine::{Finding, Reading, RunState};
use workspace::git::{CommitInfo, Oid, RepoPath, Repository, TreeStatus};

use crate::call::Call;
use crate::capability::git::changes::Changes;
use crate::capability::git::read::commit::{
    CHANGED_AFTER_GREEN, CommittedReport, HANDED_IN, reading, reopened, secrets,
};
use crate::capability::git::read::finding;
use crate::capability::memory::{self, Memory};
use crate::capability::tests::restoration::all_copied_back;
use crate::next_step::{Argument, NextStep, Verb};
use crate::support::{HandlerError, refusal};

/// A commit that the executor made itself, held against what the run knows.
pub(super) struct HandedIn<'a> {
    pub(super) call: &'a Call<'a>,
    pub(super) status: &'a TreeStatus,
    pub(super) memory: &'a Memory,
    pub(super) run: &'a RunState,
    pub(super) rests: &'a CommittedReport<'a>,
    /// The run's own commits are gone, and a person may let that pass: the commit stands for itself then.
    pub(super) rewritten: bool,
}

/// The policy of commits that are not the subtask's own.
pub(super) const FOREIGN_COMMIT: &str = "foreign_commit";

impl HandedIn<'_> {
    /// Reads it under the name that the executor gives it.
    pub(super) fn read(
        &self,
        sha: &str,
        message: Option<&String>,
        mut findings: Vec<Finding>,
    ) -> Result<Reading, HandlerError> {
        let repository = &self.memory.repository();
        let Some(oid) = repository.resolve(sha)? else {
            findings.push(foreign(format!("`{sha}` is no commit of this repository")));
            return Ok(reading(sha.to_owned(), None, &[], findings));
        };
        let last = match repository.resolve(&format!("{sha}^"))? {
            Some(parent) if self.rewritten => parent,
            _ => self.memory.last_oid()?,
        };
        let lacking = self.lacking(repository, &oid, &last)?;
        let is_own = lacking.is_none();
        let merge = repository
            .commits_between(&last, &oid)
            .is_ok_and(|commits| commits.iter().any(CommitInfo::is_merge));
        findings.extend(lacking.map(|message| {
            if !merge {
                return foreign(message);
            }
            let back = merge_taken_back(self.status, &last, self.memory);
            let way_out = format!("{back}, then report again: {}", Verb::Report);
            finding(FOREIGN_COMMIT, message, way_out)
        }));
        if !is_own && (self.status.head.as_ref() != Some(&oid) || oid == last) {
            return self.whole(&oid, None, &[], findings);
        }
        let mut paths = repository.changed_paths(&last, &oid)?;
        let commits = repository.commits_between(&last, &oid)?;
        let made = commits.last().map(|commit| commit.message.clone());
        let is_in_tree = || self.rests.changed_since(repository, self.status, &last);
        let rest = Changes::of(self.status, self.memory, repository, &[])?.paths();
        let tree = match &self.rests.tested {
            Some(tested) if is_own => {
                let tree = repository.tree_of_commit_without(&oid, &last, &tested.exclude)?;
                // What the commit holds of statuses, it held when it was tested too.
                Some(
                    tree.tree.as_str() == tested.tree || rest.is_empty() && is_in_tree()?.is_none(),
                )
            }
            _ => None,
        };
        if tree == Some(false) && !rest.is_empty() && is_in_tree()?.is_none() {
            // What was tested is the commit with what is not committed yet: that is committed on top of it.
            self.not_dirty_before(&paths)?;
            paths.extend(rest.iter().cloned());
            secrets(self.call, repository, &paths, &reopened())?;
            let mut reading = reading(String::new(), message.cloned(), &rest, findings);
            reading.facts.insert(HANDED_IN.to_owned(), true.into());
            return Ok(reading);
        }
        findings.extend(self.rests.is_untested());
        if tree == Some(false) {
            findings.push(finding(
                CHANGED_AFTER_GREEN,
                format!(
                    "the commit does not hold the files that were tested with the accepted {}",
                    self.rests.name()
                ),
                self.taken_back(repository, &oid, &last)?,
            ));
        }
        self.whole(&oid, made, &paths, findings)
    }

    /// What to do about a commit that does not hold what was tested. Where nobody else has it, it is taken back and made
    /// here: as a commit of the run it may be what a hook that formats makes of what was tested.
    fn taken_back(
        &self,
        repository: &Repository,
        oid: &Oid,
        last: &Oid,
    ) -> Result<String, HandlerError> {
        let again = format!(
            "go back with {reopen}, run the tests again, and report {}",
            self.rests.name(),
            reopen = Verb::Reopen.step().and("reason")
        );
        let own = repository.identity().ok();
        let commits = repository.commits_between(last, oid)?;
        let is_by_us = commits.iter().all(|commit| {
            let address = commit.author.rsplit_once('<').map(|(_, rest)| rest);
            let address = address.map(|rest| rest.trim_end_matches('>'));
            own.as_ref()
                .is_some_and(|own| Some(own.email.as_str()) == address)
        });
        let is_ours_alone = is_by_us
            && self.lacking(repository, oid, last)?.is_none()
            && repository.only_on(oid, &self.memory.start.branch)?;
        Ok(if is_ours_alone {
            // A hook that formatted the tests changed what RED had frozen.
            let tests = self.run.waiting().next().map(|(token, _)| &token.kept);
            let tests = tests.map(|kept| all_copied_back(repository, &self.call.dir, kept));
            let tests: Vec<String> = tests
                .transpose()?
                .into_iter()
                .flatten()
                .map(|step| step.to_string())
                .collect();
            let tests = if tests.is_empty() {
                String::new()
            } else {
                format!(
                    ", put the tests back as they were tested ({})",
                    tests.join(", ")
                )
            };
            format!(
                "take the commit back, of which nothing is lost by that ({reset}){tests}, then {again}: the commit is made for you then",
                reset = NextStep::git(["reset", "--soft", last.as_str()])
            )
        } else {
            again
        })
    }

    /// What to do where HEAD, handed in, would not hold what was tested.
    pub(super) fn would_be_other(&self) -> Result<Option<String>, HandlerError> {
        let findings = match self.read("HEAD", None, Vec::new()) {
            Ok(reading) => reading.findings,
            // What else is wrong with it is told when it is handed in.
            Err(HandlerError::Refused(_)) => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let mut other = findings.into_iter();
        let other = other.find(|finding| finding.policy == CHANGED_AFTER_GREEN);
        Ok(other.and_then(|finding| finding.suggestion))
    }

    /// The reading of a commit that is all there is to commit.
    fn whole(
        &self,
        oid: &Oid,
        message: Option<String>,
        paths: &[RepoPath],
        findings: Vec<Finding>,
    ) -> Result<Reading, HandlerError> {
        self.not_dirty_before(paths)?;
        secrets(self.call, &self.memory.repository(), paths, &reopened())?;
        let mut reading = reading(oid.to_string(), message, paths, findings);
        reading
            .keep_run
            .extend(memory::with_commit(self.run, oid.as_str())?);
        Ok(reading)
    }

    /// What a commit lacks to be one of the subtask.
    fn lacking(
        &self,
        repository: &Repository,
        oid: &Oid,
        last: &Oid,
    ) -> Result<Option<String>, HandlerError> {
        if self.status.head.as_ref() != Some(oid) {
            return Ok(Some(format!("{} is not HEAD", oid.short())));
        }
        if oid == last {
            return Ok(Some(format!(
                "{} is the run's last commit, not a new one",
                oid.short()
            )));
        }
        let commits = repository.commits_between(last, oid)?;
        let mut expected = oid.clone();
        let mut straight = !commits.is_empty();
        for commit in commits.iter().rev() {
            straight &= commit.oid == expected && commit.parents.len() == 1;
            if let Some(parent) = commit.parents.first() {
                expected = parent.clone();
            }
        }
        if !straight || expected != *last {
            return Ok(Some(format!(
                "{} does not lead back to the run's last commit {} through single parents",
                oid.short(),
                last.short()
            )));
        }
        let is_empty = repository.changed_paths(last, oid)?.is_empty();
        Ok(is_empty.then(|| format!("{} changes nothing", oid.short())))
    }

    fn not_dirty_before(&self, paths: &[RepoPath]) -> Result<(), HandlerError> {
        let dirty = |path: &&RepoPath| {
            let dirty = self.memory.dirty.get(*path);
            dirty.is_some_and(|dirty| !dirty.left)
        };
        let before: Vec<String> = paths
            .iter()
            .filter(dirty)
            .map(ToString::to_string)
            .collect();
        if before.is_empty() {
            return Ok(());
        }
        Err(refusal(
            "was_dirty",
            format!("the commit takes in what was changed before the run began: {}", before.join(", ")),
            format!(
                "take the commit back, of which nothing is lost by that ({reset}), and have it made of the other files: {commit}",
                reset = NextStep::git(["reset", "--quiet", "HEAD~1"]),
                commit = Verb::Report.step().with("phase", "commit")
            ),
        )
        .detail("files", before)
        .into())
    }
}

/// What to do about a merge of a branch that the run does not work beside.
pub(crate) fn merge_taken_back(status: &TreeStatus, last: &Oid, memory: &Memory) -> String {
    let may_be = match memory.start.base_branch() {
        Some(base) => format!("only `{base}` is merged in"),
        None => "no other branch is merged in".to_owned(),
    };
    format!(
        "{may_be} while a run is in progress: {}",
        commits_set_aside(status, last, memory)
    )
}

/// What to do about commits behind the run's last one that are not to stay on its branch.
pub(crate) fn commits_set_aside(status: &TreeStatus, last: &Oid, memory: &Memory) -> String {
    let head = status.head.as_ref().map_or("HEAD", Oid::short);
    let aside = format!("{}-aside-{head}", memory.start.branch);
    format!(
        "keep what came under a name of its own ({}), and take the branch back to the run's last commit ({})",
        NextStep::git(["branch", "--force", &aside]),
        NextStep::git(["reset", "--keep", last.as_str()])
    )
}

/// The finding that commits are on the branch of which the run knows nothing. `way_out` says when they are handed in.
pub(crate) fn not_of_the_run(
    status: &TreeStatus,
    memory: &Memory,
    repository: &Repository,
    way_out: impl Fn(&str) -> String,
) -> Result<Finding, HandlerError> {
    const FEW: usize = 3;
    let mut told = String::new();
    let mut merge = None;
    if let Some(head) = &status.head {
        let last = memory.last_oid()?;
        let commits = repository.commits_between(&last, head)?;
        if commits.iter().any(CommitInfo::is_merge) {
            let name = memory.start.base_branch().unwrap_or_default();
            let base = match memory.start.base_branch() {
                Some(name) => repository.resolve(name)?,
                None => None,
            };
            let others = commits
                .iter()
                .flat_map(|commit| commit.parents.iter().skip(1));
            let mut is_of_base = base.is_some();
            for other in others {
                let base = base.as_ref().unwrap_or(other);
                is_of_base = is_of_base && repository.is_ancestor(other, base)?;
            }
            let back = if is_of_base {
                // What stands in the way are the commits that it was merged into.
                format!(
                    "they stand below a merge of `{base}`: {aside}, and merge it again ({merge}); what of them belongs to the task is brought back from there into a repair",
                    base = name,
                    aside = commits_set_aside(status, &last, memory),
                    merge = NextStep::git(["merge", "--no-edit", name])
                )
            } else {
                merge_taken_back(status, &last, memory)
            };
            merge = Some(format!("{back}, then report again: {}", Verb::Report));
        }
        let names: Vec<String> = commits
            .iter()
            .take(FEW)
            .map(|commit| format!("{} \"{}\"", commit.oid.short(), commit.subject))
            .collect();
        let more = match commits.len().saturating_sub(FEW) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        told = format!(": {}{more}", names.join(", "));
    }
    Ok(finding(
        FOREIGN_COMMIT,
        format!("there are commits on the branch that this run did not make{told}"),
        merge.unwrap_or_else(|| {
            way_out(&format!(
                "hand them in with {}: what is not committed yet is committed on top",
                Verb::Report
                    .step()
                    .with("phase", "commit")
                    .with("sha", "HEAD")
            ))
        }),
    ))
}

/// The finding that a commit is not one of the subtask.
fn foreign(message: String) -> Finding {
    finding(
        FOREIGN_COMMIT,
        message,
        format!(
            "a commit that you made for this subtask is HEAD, on the run's branch, and builds on the run's last commit; where you made none, leave {sha} out, and it is made for you: {report}",
            sha = Argument("sha"),
            report = Verb::Report
        ),
    )
}
