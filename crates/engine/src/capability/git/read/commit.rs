//! The reader of commits: what is to be committed, or what somebody committed already.

use globset::{Glob, GlobSetBuilder};
use machine::state::Token;
use machine::{Finding, Reading, Refusal, Role, RunState};
use serde_json::{Map, Value, json};
use workspace::config::Config;
use workspace::git::{Oid, RepoPath, Repository, TreeStatus};

use crate::call::{Call, Input};
use crate::capability::git::changes::Changes;
use crate::capability::git::effects::commit::paths_of;
use crate::capability::git::read::{config_loosened, finding, named_paths, with_files};
use crate::capability::memory::{self, COMMIT_OF, Memory, TESTED, Tested};
use crate::capability::tests::difference::{Difference, names};
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::evidence::work::Work;
use crate::capability::tests::read::{few, name_of};
use crate::capability::tests::rule::{self, put_back};
use crate::fault::Fault;
use crate::next_step::{Argument, NextStep, Verb, argument, step};
use crate::support::HandlerError;
use crate::support::refusal;
use crate::{fault, refusal};

/// The policy that a commit holds what was tested, and nothing else.
pub(super) const CHANGED_AFTER_GREEN: &str = "changed_after_green";
/// The refusal of a commit that was named and is not the new one.
const NOT_NEW: &str = "not_found";
/// What a report of a commit says where commits of the executor come before it.
pub(crate) const HANDED_IN: &str = "handedIn";
/// What a report of a commit says where it holds something else.
pub(crate) const UNTESTED: &str = "untested";
/// What it says of the tree that the commit is to have, where all that is changed is committed.
pub(crate) const TREE: &str = "tree";

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
        return Err(fault!("usage.commit_expected").into());
    };
    let repository = Memory::of(run)?.repository();
    let status = call.tree(&repository)?;
    let named = named_paths(call, &repository, files)?;
    let handed_in = TestEvidence::default();
    let work = Work::of(run, (&call.dir, &call.pinned), &status, &named, &handed_in)?;
    work.changes.no_dirty_submodules(&repository)?;
    let mut findings: Vec<Finding> = config_loosened(call).into_iter().collect();
    let sorter = work.sorter(&repository, &call.pinned)?;
    if !role.only.is_empty() {
        let of_item = sorter.between(&work.base, &work.tree)?;
        findings.extend(rule::other_files(role, &of_item));
    }
    if let Some(checks) = checks {
        findings.extend(checks.findings(role, &call.pinned.evidence.policy));
    }
    let present = run.token(token);
    let rests = RestsOn::of(present, role)?;
    if let Some(tested) = &rests.tested {
        let since = sorter.between(&tested.work.tree, &work.tree)?;
        findings.extend(rests.changed_since(&since));
    } else {
        findings.extend(rests.is_untested());
    }
    // Commits of the executor are the subtask's own where they come to what was tested.
    let own = Own::of(&work, &status, &repository)?;
    if let Some(sha) = sha {
        let named = repository.resolve(sha)?;
        if named.is_none() || named != status.head {
            return Err(not_new(format!("`{sha}` is not HEAD")).into());
        }
        if own.is_none() {
            return Err(not_new(format!("`{sha}` is the run's last commit, not a new one")).into());
        }
    }
    let paths = chosen(&work.changes, &named)?;
    findings.extend(rests.left_out(&work.changes, &paths));
    let of_own = own.as_ref().map_or(&[][..], |own| &own.paths);
    not_dirty_before(&work.memory, of_own)?;
    let mut reading = if paths.is_empty() {
        let Some(own) = &own else {
            return Err(nothing_changed(&rests, &findings).into());
        };
        secrets(&call.pinned, &repository, &own.paths, &reopened())?;
        let made = repository.commit_info(&own.head).map_err(Fault::from)?;
        let mut reading = reading(
            own.head.to_string(),
            Some(made.message),
            &own.paths,
            findings,
        );
        reading.keep_run = memory::with_commit(run, own.head.as_str())?;
        if let Some(key) = present.and_then(Token::key) {
            COMMIT_OF
                .of(key)
                .put(&mut reading.keep_run, &own.head.to_string())?;
        }
        reading
    } else {
        all_named(&work.changes, &named)?;
        secrets(&call.pinned, &repository, of_own, &reopened())?;
        let mut reading = reading(String::new(), message.clone(), &paths, findings);
        if own.is_some() {
            reading.facts.insert(HANDED_IN.to_owned(), true.into());
        }
        if paths == work.changes.paths() {
            reading
                .facts
                .insert(TREE.to_owned(), work.tree.as_str().into());
        }
        reading
    };
    reading.keep_run.extend(work.keep.clone());
    let committed = paths_of(&reading.facts)?;
    reading.warnings.extend(unpushed(&repository, &committed)?);
    if let Some(checks) = checks {
        reading.facts.extend(checks.facts());
        reading.evidence.extend(checks.keep(&call.dir)?);
        reading.keep_run.extend(checks.keep_run(&call.dir)?);
    }
    Ok(reading)
}

/// Commits that the executor made behind the run's last one.
struct Own {
    head: Oid,
    /// The files that they changed.
    paths: Vec<RepoPath>,
}

impl Own {
    fn of(
        work: &Work,
        status: &TreeStatus,
        repository: &Repository,
    ) -> Result<Option<Self>, HandlerError> {
        let Some(head) = &status.head else {
            return Ok(None);
        };
        if *head == work.base {
            return Ok(None);
        }
        Ok(Some(Self {
            head: head.clone(),
            paths: repository.changed_paths(&work.base, head)?,
        }))
    }
}

/// The refusal of a commit that was named and is not a new one.
fn not_new(message: String) -> Refusal {
    refusal(
        NOT_NEW,
        message,
        format!(
            "leave {sha} out: a commit of yours that holds what was tested is found by itself, and else it is made for you: {report}",
            sha = Argument("sha"),
            report = Verb::Report
        ),
    )
}

/// Refuses commits of the executor that take in what was changed before the run began.
fn not_dirty_before(memory: &Memory, paths: &[RepoPath]) -> Result<(), HandlerError> {
    let is_dirty = |path: &&RepoPath| memory.dirty.get(*path).is_some_and(|dirty| !dirty.left);
    let before: Vec<String> = paths
        .iter()
        .filter(is_dirty)
        .map(ToString::to_string)
        .collect();
    if before.is_empty() {
        return Ok(());
    }
    Err(refusal!(
        "unfit_files.not_dirty_before",
        before = before.join(", "),
        undo = NextStep::git(["reset", "--quiet", "HEAD~1"])
    )
    .detail("files", before)
    .into())
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

/// The refusal of a commit of nothing.
fn nothing_changed(rests: &RestsOn<'_>, findings: &[Finding]) -> Refusal {
    let reopen = Verb::Reopen.step().and("reason");
    let mut policies = findings.iter().map(|finding| &*finding.policy);
    let is_other = policies.any(|policy| policy == CHANGED_AFTER_GREEN);
    refusal(
        "nothing_changed",
        "nothing was changed since the last commit",
        match rests.tested.as_ref().filter(|_| is_other) {
            Some(tested) => format!(
                "bring back what {} was tested with ({}), and report again: {}; or go back with {reopen}, and do it again",
                rests.name(),
                NextStep::git([
                    "restore",
                    &format!("--source={}", tested.work.tree.short()),
                    "--",
                    ":/"
                ]),
                Verb::Report
            ),
            None => format!(
                "do the work and commit again; go back with {reopen} where something was left out, or skip the subtask with {skip}",
                skip = Verb::Skip.step().and("reason")
            ),
        },
    )
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
        return Err(
            refusal!("unfit_files.all_named", not_named = not_named.join(", "))
                .detail("files", not_named)
                .into(),
        );
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
            return Err(refusal!("nothing_changed.chosen", name).into());
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

/// Refuses what looks like a secret: nothing of that gets into git's objects. `then` says what follows when it is out of the way.
pub(crate) fn secrets(
    config: &Config,
    repository: &Repository,
    paths: &[RepoPath],
    then: &str,
) -> Result<(), HandlerError> {
    let found = secret_files(config, repository, paths)?;
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(
        refusal!("unfit_files.secret_file", found = found.join(", "), then)
            .detail("files", found)
            .into(),
    )
}

/// Those of the files that look like a secret, and that the settings do not allow.
pub(crate) fn secret_files(
    config: &Config,
    repository: &Repository,
    paths: &[RepoPath],
) -> Result<Vec<RepoPath>, Fault> {
    let mut globs = GlobSetBuilder::new();
    for pattern in &config.git.allow_secrets {
        if let Ok(glob) = Glob::new(pattern) {
            globs.add(glob);
        }
    }
    let globs = globs
        .build()
        .map_err(|error| Fault::bug(error.to_string()))?;
    let mut found = repository.secret_files(paths)?;
    found.retain(|path| !globs.is_match(path.to_string()));
    Ok(found)
}

/// The report that a commit rests on.
struct RestsOn<'a> {
    /// Its label; none where the workflow names none.
    label: Option<&'a String>,
    /// What it was about; none where the item did not come by it.
    tested: Option<Tested>,
}

impl<'a> RestsOn<'a> {
    /// That of the commit which `role` asks for, by an item on its way.
    fn of(present: Option<&Token>, role: &'a Role) -> Result<Self, Fault> {
        let label = role.of.as_ref();
        let tested = present.map(|token| TESTED.read(&token.kept, label));
        Ok(Self {
            label,
            tested: tested.transpose()?.flatten(),
        })
    }

    /// What people call it.
    fn name(&self) -> String {
        name_of(self.label)
    }

    /// How it is tested anew.
    fn again(&self) -> String {
        format!(
            "go back with {reopen}, run the tests again, report {}, then commit",
            self.name(),
            reopen = Verb::Reopen.step().and("reason")
        )
    }

    /// Whether nothing was tested of what a tested report is asked for.
    fn is_untested(&self) -> Option<Finding> {
        self.label.is_some().then(|| {
            finding(
                CHANGED_AFTER_GREEN,
                format!("no accepted {} stands behind this commit", self.name()),
                self.again(),
            )
        })
    }

    /// Whether the tree is still the one that was tested; `since` is what differs.
    fn changed_since(&self, since: &[Difference]) -> Option<Finding> {
        let tested = self.tested.as_ref().filter(|_| !since.is_empty())?;
        let changed = names(since);
        let all: Vec<&Difference> = since.iter().collect();
        let found = finding(
            CHANGED_AFTER_GREEN,
            format!(
                "these files are not what {} was tested with: {}",
                self.name(),
                few(&changed)
            ),
            format!(
                "bring back what was tested ({}), and report again: {}; where the change is to stay, {}",
                put_back::whole_files(&tested.work.tree, &all),
                Verb::Report,
                self.again()
            ),
        );
        Some(with_files(found, &changed))
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
