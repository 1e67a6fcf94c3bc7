//! The reader of commits: what is to be committed, or what somebody committed already.

use std::time::UNIX_EPOCH;

use globset::{Glob, GlobSetBuilder};
use machine::state::Token;
use machine::{Finding, Reading, Refusal, Role, RunState};
use serde_json::{Map, Value, json};
use workspace::git::{FingerprintRequest, Oid, RepoPath, Repository, TreeStatus};

use crate::call::{Call, Input};
use crate::capability::git::changes::Changes;
use crate::capability::git::read::{
    History, config_loosened, finding, named_paths, on_the_branch, with_files,
};
use crate::capability::memory::{self, COMMIT_OF, LAST_COMMIT, Memory, TESTED, Tested};
use crate::capability::tests::read::name_of;
use crate::clock;
use crate::fault::Fault;
use crate::next_step::{Argument, NextStep, Verb, argument, step};
use crate::support::HandlerError;
use crate::support::refusal;

/// The policy that a commit holds what was tested, and nothing else.
const CHANGED_AFTER_GREEN: &str = "changed_after_green";
/// What a report of a commit says where commits of the executor come before it.
pub(crate) const HANDED_IN: &str = "handedIn";
/// What a report of a commit says where it holds something else.
pub(crate) const UNTESTED: &str = "untested";

/// Reads a report of a commit.
pub fn read(
    call: &Call<'_>,
    role: &Role,
    run: &RunState,
    token: u32,
) -> Result<Reading, HandlerError> {
    let Input::Commit {
        message,
        files,
        sha,
    } = &call.input
    else {
        return Err(Fault::new(
            crate::fault::Kind::Usage,
            "wrong_report",
            "this step takes a commit",
        )
        .suggest(format!(
            "run {report}",
            report = Verb::Report.step().with("phase", "commit")
        ))
        .into());
    };
    let mut memory = Memory::of(run)?;
    let repository = memory.repository();
    let status = call.tree(&repository)?;
    on_the_branch(&status, &memory, &repository)?;
    let history = History::settle(call, run, status.head.as_ref(), &mut memory, &repository)?;
    let rewritten = history.is_rewritten;
    let warnings = history.warning.map(str::to_owned);
    let mut findings: Vec<Finding> = history.finding.into_iter().collect();
    findings.extend(config_loosened(call));
    let present = run.token(token);
    let tested = CommittedReport::of(present, role)?;
    let handed_in = HandedIn {
        call,
        status: &status,
        memory: &memory,
        run,
        rests: &tested,
        rewritten,
    };
    if let Some(sha) = sha {
        let mut reading = handed_in.read(sha, message.as_ref(), findings)?;
        reading.warnings.extend(warnings);
        let is_all = reading.facts.get("sha").and_then(Value::as_str) != Some("");
        if let Some(key) = present.and_then(|token| token.key())
            && is_all
        {
            let made = LAST_COMMIT.read(&reading.keep_run)?.unwrap_or_default();
            COMMIT_OF.of(key).put(&mut reading.keep_run, &made)?;
        }
        reading.keep_run = history.keep.into_iter().chain(reading.keep_run).collect();
        return Ok(reading);
    }
    let named = named_paths(call, &repository, files)?;
    let changes = Changes::of(&status, &memory, &repository, &named)?;
    let mut instead = None;
    if !rewritten && status.head.as_ref() != Some(&memory.last_oid()?) {
        instead = handed_in.would_be_other()?;
        findings.push(not_of_the_run(
            &status,
            &memory,
            &repository,
            |hand_in| match &instead {
                Some(other) => format!("they do not hold what was tested: {other}"),
                None => format!("if you made them for this subtask, {hand_in}"),
            },
        )?);
    }
    if let Some(path) = status.unmerged.first() {
        return Err(refusal(
            "unmerged",
            format!("`{path}` has conflicts"),
            format!(
                "resolve them, go back with {reopen}, and run the tests again",
                reopen = Verb::Reopen
            ),
        )
        .into());
    }
    let paths = chosen(&changes, &named)?;
    if paths.is_empty() {
        if let Some(foreign) = findings
            .iter()
            .find(|finding| finding.policy == FOREIGN_COMMIT)
        {
            // Nothing is left to commit because somebody committed it: that is to be handed in.
            return Err(refusal(
                FOREIGN_COMMIT,
                foreign.message.clone(),
                foreign.suggestion.clone().unwrap_or_default(),
            )
            .into());
        }
        return Err(nothing_changed(&tested, &status, &repository)?.into());
    }
    let not_named: Vec<String> = changes
        .was_dirty
        .iter()
        .filter(|path| !named.contains(path))
        .map(ToString::to_string)
        .collect();
    if !not_named.is_empty() {
        return Err(refusal(
            "was_dirty",
            format!(
                "changed before the run began, and again since: {}",
                not_named.join(", ")
            ),
            concat!(
                "name every file of this commit with ",
                argument!("files"),
                " to commit these whole, or move the earlier changes out of the way"
            ),
        )
        .detail("files", not_named)
        .into());
    }
    secrets(call, &repository, &paths, &reopened())?;
    findings.extend(tested.changed_since(&repository, &status)?.map(|found| {
        let suggestion = instead.or(found.suggestion);
        Finding {
            suggestion,
            ..found
        }
    }));
    let left: Vec<String> = changes
        .paths()
        .iter()
        .filter(|path| !paths.contains(path))
        .map(ToString::to_string)
        .collect();
    if !left.is_empty() && tested.tested.is_some() {
        findings.push(with_files(
            finding(
                CHANGED_AFTER_GREEN,
                format!(
                    "the accepted {} was tested with files that this commit leaves out: {}",
                    tested.name(),
                    left.join(", ")
                ),
                concat!(
                    "leave ",
                    argument!("files"),
                    " out, and all that was tested is committed: ",
                    step!("report"),
                    "; or reopen and test without them"
                ),
            ),
            &left,
        ));
    }
    let mut reading = reading(String::new(), message.clone(), &paths, findings);
    reading.warnings.extend(warnings);
    reading.keep_run = history.keep;
    Ok(reading)
}

/// The refusal of a commit of nothing.
fn nothing_changed(
    tested: &CommittedReport<'_>,
    status: &TreeStatus,
    repository: &Repository,
) -> Result<Refusal, HandlerError> {
    let is_there = tested.changed_since(repository, status)?.is_none();
    let reopen = Verb::Reopen.step().and("reason");
    if is_there || tested.tested.is_none() {
        return Ok(refusal(
            "nothing_changed",
            "nothing was changed since the last commit",
            format!(
                "go back with {reopen} and implement the subtask, or skip it with {skip}",
                skip = Verb::Skip.step().and("reason")
            ),
        ));
    }
    let stash = repository.resolve("refs/stash^1")?;
    Ok(refusal(
        "nothing_changed",
        format!(
            "what the accepted {} was tested with is not in the working tree any more: nothing is changed since the last commit",
            tested.name()
        ),
        if stash.is_some() && stash == status.head {
            format!(
                "bring it back from the stash with {}, then {}",
                NextStep::git(["stash", "pop"]),
                Verb::Report
            )
        } else {
            format!(
                "bring it back, then {}; or go back with {reopen} and do it again",
                Verb::Report
            )
        },
    ))
}

/// The paths of the commit: all that the run changed, or those that were named.
fn chosen(changes: &Changes, named: &[RepoPath]) -> Result<Vec<RepoPath>, HandlerError> {
    if named.is_empty() {
        return Ok(changes.paths());
    }
    let mut paths = Vec::new();
    for name in named {
        let Some(change) = changes
            .files
            .iter()
            .find(|change| change.paths().any(|path| path == name))
        else {
            return Err(refusal(
                "file_not_changed",
                format!("`{name}` is named, but git says that it is not changed"),
                concat!(
                    "name only files that differ from the last commit, or none: ",
                    step!("report"),
                    "; ignored files are never committed"
                ),
            )
            .into());
        };
        paths.extend(change.paths().cloned());
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// How what was tested with a secret comes to be committed without it.
fn reopened() -> String {
    format!(
        "go back with {reopen}, run the tests again, report them, then commit",
        reopen = Verb::Reopen.step().and("reason")
    )
}

/// Refuses what looks like a secret, and would be committed. `then` says what follows when it is out of the way.
pub(crate) fn secrets(
    call: &Call<'_>,
    repository: &Repository,
    paths: &[RepoPath],
    then: &str,
) -> Result<(), HandlerError> {
    let allowed = &call.pinned.git.allow_secrets;
    let mut globs = GlobSetBuilder::new();
    for pattern in allowed {
        if let Ok(glob) = Glob::new(pattern) {
            globs.add(glob);
        }
    }
    let globs = globs
        .build()
        .map_err(|error| Fault::bug(error.to_string()))?;
    let found: Vec<String> = repository
        .secret_files(paths)?
        .iter()
        .map(ToString::to_string)
        .filter(|path| !globs.is_match(path))
        .collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(refusal(
        "secret_file",
        format!("this looks like a secret: {}", found.join(", ")),
        format!("move the file away, or have git ignore it; {then}. If it is meant to be committed, a person lists it under git.allowSecrets before a new run"),
    )
    .detail("files", found)
    .into())
}

/// The report that a commit rests on.
struct CommittedReport<'a> {
    /// Its label; none where the workflow names none.
    label: Option<&'a String>,
    /// What it was about; none where the item did not come by it.
    tested: Option<Tested>,
    /// When it was accepted, in milliseconds since 1970; none where the item did not come by it.
    accepted_at: Option<i64>,
}

impl<'a> CommittedReport<'a> {
    /// That of the commit which `role` asks for, by an item on its way.
    fn of(present: Option<&Token>, role: &'a Role) -> Result<Self, Fault> {
        let label = role.of.as_ref();
        Ok(Self {
            label,
            accepted_at: present.and_then(|token| clock::millis_of(&token.entered_at)),
            tested: match present {
                Some(token) => TESTED.read(&token.kept, label)?,
                None => None,
            },
        })
    }

    /// What people call it.
    fn name(&self) -> String {
        name_of(self.label)
    }

    /// Whether nothing was tested of what a tested report is asked for.
    fn is_untested(&self) -> Option<Finding> {
        (self.label.is_some() && self.tested.is_none()).then(|| {
            finding(
                CHANGED_AFTER_GREEN,
                format!("no accepted {} stands behind this commit", self.name()),
                format!(
                    "go back with {reopen}, run the tests, report them, then commit",
                    reopen = Verb::Reopen.step().and("reason")
                ),
            )
        })
    }

    /// Whether the tree is still the one that was tested.
    fn changed_since(
        &self,
        repository: &Repository,
        status: &TreeStatus,
    ) -> Result<Option<Finding>, HandlerError> {
        let Some(tested) = &self.tested else {
            return Ok(self.is_untested());
        };
        let request = FingerprintRequest {
            exclude: &tested.exclude,
            ..FingerprintRequest::default()
        };
        let now = repository.fingerprint(status, &request)?;
        if now.tree.as_str() == tested.tree {
            return Ok(None);
        }
        let found = finding(
            CHANGED_AFTER_GREEN,
            format!(
                "the files are no longer those that the accepted {} was tested with",
                self.name()
            ),
            format!(
                "take away what does not belong to the work; where it does, go back with {reopen}, run the tests again, report {}, then commit",
                self.name(),
                reopen = Verb::Reopen.step().and("reason")
            ),
        );
        Ok(Some(with_files(
            found,
            &self.written_since(repository, status),
        )))
    }

    /// The changed files that were written after it was accepted, by their times.
    fn written_since(&self, repository: &Repository, status: &TreeStatus) -> Vec<String> {
        let is_later = |path: &RepoPath| {
            let about = std::fs::symlink_metadata(repository.top_level().join(path.as_os_str()));
            let written = about.and_then(|about| about.modified()).ok();
            let written = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            let written = written.and_then(|at| i64::try_from(at.as_millis()).ok());
            written
                .zip(self.accepted_at)
                .is_some_and(|(at, accepted)| at > accepted)
        };
        let present = status.changes.iter().filter(|change| !change.deleted);
        present
            .map(|change| &change.path)
            .filter(|path| is_later(path))
            .map(ToString::to_string)
            .collect()
    }
}

/// A commit that the executor made itself, held against what the run knows.
struct HandedIn<'a> {
    call: &'a Call<'a>,
    status: &'a TreeStatus,
    memory: &'a Memory,
    run: &'a RunState,
    rests: &'a CommittedReport<'a>,
    /// The run's own commits are gone, and a person may let that pass: the commit stands for itself then.
    rewritten: bool,
}

/// The policy of commits that are not the subtask's own.
const FOREIGN_COMMIT: &str = "foreign_commit";

impl HandedIn<'_> {
    /// Reads it under the name that the executor gives it.
    fn read(
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
        findings.extend(lacking.map(foreign));
        if !is_own && (self.status.head.as_ref() != Some(&oid) || oid == last) {
            return self.whole(&oid, None, &[], findings);
        }
        let mut paths = repository.changed_paths(&last, &oid)?;
        let commits = repository.commits_between(&last, &oid)?;
        let made = commits.last().map(|commit| commit.message.clone());
        let is_in_tree = || self.rests.changed_since(repository, self.status);
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
        let is_ours_alone = self.lacking(repository, oid, last)?.is_none()
            && repository.only_on(oid, &self.memory.start.branch)?;
        Ok(if is_ours_alone {
            format!(
                "take the commit back, of which nothing is lost by that ({reset}), then {again}: the commit is made for you then",
                reset = NextStep::git(["reset", "--soft", last.as_str()])
            )
        } else {
            again
        })
    }

    /// What to do where HEAD, handed in, would not hold what was tested.
    fn would_be_other(&self) -> Result<Option<String>, HandlerError> {
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
                "take it out again ({reset}, then commit the other files alone), and report that commit",
                reset = NextStep::git(["reset", "--soft", "HEAD~1"])
            ),
        )
        .detail("files", before)
        .into())
    }
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
    if let Some(head) = &status.head {
        let commits = repository.commits_between(&memory.last_oid()?, head)?;
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
        way_out(&format!(
            "hand them in with {}: what is not committed yet is committed on top",
            Verb::Report
                .step()
                .with("phase", "commit")
                .with("sha", "HEAD")
        )),
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

fn reading(
    sha: String,
    message: Option<String>,
    files: &[RepoPath],
    findings: Vec<Finding>,
) -> Reading {
    let files: Vec<String> = files.iter().map(ToString::to_string).collect();
    let mut facts = Map::new();
    facts.insert("sha".to_owned(), Value::from(sha));
    facts.insert(
        "message".to_owned(),
        Value::from(message.unwrap_or_default()),
    );
    facts.insert("files".to_owned(), json!(files));
    // Said also where the workflow does not ask: who proves the commit later has to know.
    let is_other = |finding: &Finding| finding.policy == CHANGED_AFTER_GREEN;
    if findings.iter().any(is_other) {
        facts.insert(UNTESTED.to_owned(), true.into());
    }
    Reading {
        facts,
        findings,
        ..Reading::default()
    }
}
