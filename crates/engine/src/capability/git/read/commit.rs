//! The reader of commits: what is to be committed, or what somebody committed already.

use std::time::UNIX_EPOCH;

use globset::{Glob, GlobSetBuilder};
use machine::state::Token;
use machine::{Finding, Reading, Refusal, Role, RunState};
use serde_json::{Map, Value, json};
use workspace::git::{Change, FingerprintRequest, Oid, RepoPath, Repository, TreeStatus};

use crate::call::{Call, Input};
use crate::capability::git::changes::Changes;
use crate::capability::git::effects::commit::paths_of;
use crate::capability::git::read::handed_in::{FOREIGN_COMMIT, HandedIn, not_of_the_run};
use crate::capability::git::read::{
    HISTORY_REWRITTEN, History, config_loosened, finding, named_paths, on_the_branch, with_files,
};
use crate::capability::git::uncommitted::Submodules;
use crate::capability::memory::{COMMIT_OF, LAST_COMMIT, Memory, TESTED, Tested, UNCOMMITTED};
use crate::capability::tests::evidence::frozen::TestReader;
use crate::capability::tests::findings::stash;
use crate::capability::tests::only;
use crate::capability::tests::read::{few, name_of};
use crate::capability::tests::since::all_since;
use crate::capability::tests::unchanged::began_at;
use crate::clock;
use crate::fault::Fault;
use crate::next_step::{NextStep, Verb, argument, step};
use crate::support::HandlerError;
use crate::support::refusal;

/// The policy that a commit holds what was tested, and nothing else.
pub(super) const CHANGED_AFTER_GREEN: &str = "changed_after_green";
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
        checks,
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
    let head = status.head.as_ref();
    let mut history = History::settle(&call.pinned, run, head, &mut memory, &repository)?;
    let (rewritten, warnings) = (history.is_rewritten, history.warning.map(str::to_owned));
    let mut findings: Vec<Finding> = history.finding.take().into_iter().collect();
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
    let named = named_paths(call, &repository, files)?;
    let changes = Changes::of(&status, &memory, &repository, &named)?;
    changes.no_dirty_submodules(&repository)?;
    findings.extend(of_other_kinds(
        role,
        &memory,
        (&status, &changes),
        rewritten,
    )?);
    if let Some(checks) = checks {
        findings.extend(checks.findings(role, &call.pinned.evidence.policy));
    }
    let checked = |mut reading: Reading| -> Result<Reading, HandlerError> {
        let committed = paths_of(&reading.facts)?;
        reading.warnings.extend(unpushed(&repository, &committed)?);
        if let Some(checks) = checks {
            reading.facts.extend(checks.facts());
            reading.evidence.extend(checks.keep(&call.dir)?);
            reading.keep_run.extend(checks.keep_run(&call.dir)?);
        }
        Ok(reading)
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
        let mut keep = history.keep;
        if !is_all {
            // The commit that is made now is the last one, whatever came in before it.
            keep.retain(|name, _| !LAST_COMMIT.is_called(name));
        }
        reading.keep_run = keep.into_iter().chain(reading.keep_run).collect();
        return checked(reading);
    }
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
        // Nothing is left to commit because somebody committed it, beside the run's last commit or into it: that is to be
        // handed in, or brought back.
        if let Some(found) = findings
            .iter()
            .find(|finding| [FOREIGN_COMMIT, HISTORY_REWRITTEN].contains(&&*finding.policy))
        {
            return Err(refusal(
                &found.policy,
                found.message.clone(),
                found.suggestion.clone().unwrap_or_default(),
            )
            .into());
        }
        return Err(nothing_changed(
            &tested,
            &status,
            &repository,
            (&memory.last_oid()?, began_at(run)),
        )?
        .into());
    }
    all_named(&changes, &named)?;
    secrets(call, &repository, &paths, &reopened())?;
    let came_in = history.came_in(status.head.as_ref(), &repository)?;
    let changed = tested.changed_since(&repository, &status, &memory.last_oid()?)?;
    findings.extend(changed.map(|found| match came_in.as_slice() {
        [] => Finding {
            suggestion: instead.or(found.suggestion),
            ..found
        },
        came_in => tested.tested_on_another_base(came_in),
    }));
    findings.extend(tested.left_out(&changes, &paths));
    let mut reading = reading(String::new(), message.clone(), &paths, findings);
    reading.warnings.extend(warnings);
    reading.keep_run = history.keep;
    reading
        .keep_run
        .retain(|name, _| !LAST_COMMIT.is_called(name));
    checked(reading)
}

/// The warning that one of these paths is a submodule at a commit that none of its remotes is known to have.
fn unpushed(repository: &Repository, paths: &[RepoPath]) -> Result<Option<String>, Fault> {
    for path in paths {
        if let Some(head) = repository.submodule_head(path)?
            && !repository.repository_at(path)?.is_on_a_remote(&head)?
        {
            return Ok(Some("submodule_not_pushed".to_owned()));
        }
    }
    Ok(None)
}

/// What is to be said of files that are of another kind than the commit may hold, committed since or not.
fn of_other_kinds(
    role: &Role,
    memory: &Memory,
    (status, changes): (&TreeStatus, &Changes),
    rewritten: bool,
) -> Result<Vec<Finding>, HandlerError> {
    if role.only.is_empty() {
        return Ok(Vec::new());
    }
    let repository = memory.repository();
    let last = memory.last_oid()?;
    let since = all_since((&repository, status), changes, &last, rewritten)?;
    let reader = TestReader::new(&repository, memory, &last, status)?;
    Ok(only::findings(role, &reader, &since)?)
}

/// The refusal of a commit of nothing.
fn nothing_changed(
    tested: &CommittedReport<'_>,
    status: &TreeStatus,
    repository: &Repository,
    (last, began_at): (&Oid, i64),
) -> Result<Refusal, HandlerError> {
    let is_there = tested.changed_since(repository, status, last)?.is_none();
    let reopen = Verb::Reopen.step().and("reason");
    if is_there || tested.tested.is_none() {
        return Ok(refusal(
            "nothing_changed",
            "nothing was changed since the last commit",
            format!(
                "do the work and commit again; go back with {reopen} where something was left out, or skip the subtask with {skip}",
                skip = Verb::Skip.step().and("reason")
            ),
        ));
    }
    let stash = repository.stashed_on(began_at)?;
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

/// Refuses files that were changed before the run began, and again since, unless they are named.
fn all_named(changes: &Changes, named: &[RepoPath]) -> Result<(), HandlerError> {
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
    Ok(())
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
pub(super) fn reopened() -> String {
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
pub(super) struct CommittedReport<'a> {
    /// Its label; none where the workflow names none.
    label: Option<&'a String>,
    /// What it was about; none where the item did not come by it.
    pub(super) tested: Option<Tested>,
    /// The commits that submodules were at which it came with.
    submodules: Submodules,
    /// When it was accepted, in milliseconds since 1970; none where the item did not come by it.
    accepted_at: Option<i64>,
}

impl<'a> CommittedReport<'a> {
    /// That of the commit which `role` asks for, by an item on its way.
    fn of(present: Option<&Token>, role: &'a Role) -> Result<Self, Fault> {
        let label = role.of.as_ref();
        let uncommitted = present.map(|token| UNCOMMITTED.read(&token.kept));
        let uncommitted = uncommitted.transpose()?.flatten().unwrap_or_default();
        Ok(Self {
            label,
            submodules: uncommitted.submodules,
            accepted_at: present.and_then(|token| clock::millis_of(&token.entered_at)),
            tested: match present {
                Some(token) => TESTED.read(&token.kept, label)?,
                None => None,
            },
        })
    }

    /// What people call it.
    pub(super) fn name(&self) -> String {
        name_of(self.label)
    }

    /// Whether nothing was tested of what a tested report is asked for.
    pub(super) fn is_untested(&self) -> Option<Finding> {
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
    pub(super) fn changed_since(
        &self,
        repository: &Repository,
        status: &TreeStatus,
        last: &Oid,
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
        // What somebody committed since is no change any more, and there.
        let is_here = status.head.as_ref() == Some(last);
        let gone: Vec<String> = tested
            .files
            .iter()
            .filter(|path| {
                is_here
                    && !status
                        .changes
                        .iter()
                        .any(|change| change.paths().any(|own| own == *path))
            })
            .map(ToString::to_string)
            .collect();
        let again = format!(
            "go back with {reopen}, run the tests again, report {}, then commit",
            self.name(),
            reopen = Verb::Reopen.step().and("reason")
        );
        let is_new = |change: &&Change| {
            let known = tested.files.iter().chain(&tested.exclude);
            change.untracked && is_here && !known.into_iter().any(|path| change.path.is_under(path))
        };
        let added = status.changes.iter().filter(is_new);
        let added: Vec<&RepoPath> = added.map(|change| &change.path).collect();
        let is_lost = |change: &&Change| {
            change.deleted
                && is_here
                && !tested.files.is_empty()
                && !tested.files.contains(&change.path)
        };
        let lost = status.changes.iter().filter(is_lost);
        let lost: Vec<String> = lost.map(|change| change.path.to_string()).collect();
        let found = if !lost.is_empty() {
            let paths: Vec<String> = lost.iter().map(|path| format!(":/{path}")).collect();
            let restore = ["git", "restore", "--"].into_iter();
            let restore = NextStep::shell(restore.chain(paths.iter().map(String::as_str)));
            finding(
                CHANGED_AFTER_GREEN,
                format!("deleted since {} was accepted: {}", self.name(), few(&lost)),
                format!(
                    "bring back what is to stay ({restore}), and report again: {}; where it is to go, {again}",
                    Verb::Report
                ),
            )
        } else if gone.is_empty() && !tested.files.is_empty() && !added.is_empty() {
            let aside = stash(repository.top_level(), &added);
            finding(
                CHANGED_AFTER_GREEN,
                format!(
                    "files are there that the accepted {} was tested without",
                    self.name()
                ),
                format!(
                    "take away what does not belong to the work, or set it aside ({aside}), and report again: {}; where it does, {again}",
                    Verb::Report
                ),
            )
        } else if gone.is_empty() {
            finding(
                CHANGED_AFTER_GREEN,
                format!(
                    "the files are no longer those that the accepted {} was tested with",
                    self.name()
                ),
                format!("take away what does not belong to the work; where it does, {again}"),
            )
        } else {
            finding(
                CHANGED_AFTER_GREEN,
                format!(
                    "what the accepted {} was tested with is not there any more, or is as before: {}",
                    self.name(),
                    few(&gone)
                ),
                format!("bring it back; where it does not belong to the work, {again}"),
            )
        };
        let mut files = self.written_since(repository, status);
        files.extend(gone.into_iter().chain(lost));
        Ok(Some(with_files(found, &files)))
    }

    /// That the tree is another one because others' work came in, of these files.
    fn tested_on_another_base(&self, came_in: &[RepoPath]) -> Finding {
        let names: Vec<String> = came_in.iter().map(ToString::to_string).collect();
        with_files(
            finding(
                CHANGED_AFTER_GREEN,
                format!(
                    "the branch was put on another base, or merged with one, since {} was accepted, which came with changes of {}",
                    self.name(),
                    few(&names)
                ),
                format!(
                    "go back with {reopen}, run the tests again, report {}, then commit",
                    self.name(),
                    reopen = Verb::Reopen.step().and("reason")
                ),
            ),
            &names,
        )
    }

    /// Whether it was tested with files that the commit leaves out.
    fn left_out(&self, changes: &Changes, paths: &[RepoPath]) -> Option<Finding> {
        let left: Vec<String> = changes
            .paths()
            .iter()
            .filter(|path| !paths.contains(path))
            .map(ToString::to_string)
            .collect();
        if left.is_empty() || self.tested.is_none() {
            return None;
        }
        let found = finding(
            CHANGED_AFTER_GREEN,
            format!(
                "the accepted {} was tested with files that this commit leaves out: {}",
                self.name(),
                left.join(", ")
            ),
            concat!(
                "leave ",
                argument!("files"),
                " out, and all that was tested is committed: ",
                step!("report"),
                "; or reopen and test without them"
            ),
        );
        Some(with_files(found, &left))
    }

    /// The changed files that were written after it was accepted, by their times, and the submodules that were moved.
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
        // Of a submodule the time of its folder says nothing.
        let is_other = |path: &RepoPath| match self.submodules.get(path) {
            Some(was) => repository.submodule_head(path).ok().flatten().as_ref() != Some(was),
            None => is_later(path),
        };
        let present = status.changes.iter().filter(|change| !change.deleted);
        present
            .map(|change| &change.path)
            .filter(|path| is_other(path))
            .map(ToString::to_string)
            .collect()
    }
}

/// The reading of a commit of these files; without an id it is still to be made.
pub(super) fn reading(
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
