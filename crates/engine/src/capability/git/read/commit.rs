//! The reader of commits: what is to be committed, or what somebody committed already.

use globset::{Glob, GlobSetBuilder};
use machine::state::Token;
use machine::{Finding, Reading, Role, RunState};
use serde_json::{Map, Value, json};
use workspace::git::{FingerprintRequest, Oid, RepoPath, Repository, TreeStatus};

use crate::call::{Call, Input};
use crate::capability::git::changes::Changes;
use crate::capability::git::read::{
    common_findings, finding, is_rewritten, named_paths, on_the_branch, with_files,
};
use crate::capability::memory::{self, COMMIT_OF, LAST_COMMIT, Memory, TESTED, Tested};
use crate::capability::tests::read::name_of;
use crate::fault::Fault;
use crate::next_step::{Verb, argument};
use crate::support::HandlerError;
use crate::support::refusal;

/// The policy that a commit holds what was tested, and nothing else.
const CHANGED_AFTER_GREEN: &str = "changed_after_green";
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
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let status = call.tree(&repository)?;
    on_the_branch(&status, &memory)?;
    let mut findings = common_findings(call, &status, &memory, &repository)?;
    let rewritten = is_rewritten(&findings);
    let present = run.token(token);
    let tested = CommittedReport::of(present, role)?;
    if let Some(sha) = sha {
        let mut reading = made_already(call, &status, &memory, run, &tested, sha, findings)?;
        if let Some(key) = present.and_then(|token| token.key()) {
            let made = LAST_COMMIT.read(&reading.keep_run)?.unwrap_or_default();
            COMMIT_OF.of(key).put(&mut reading.keep_run, &made)?;
        }
        return Ok(reading);
    }
    let named = named_paths(call, &repository, files)?;
    let changes = Changes::of(&status, &memory, &repository, &named)?;
    if !rewritten && status.head.as_ref().map(Oid::as_str) != Some(memory.last_commit.as_str()) {
        findings.push(finding(
            "foreign_commit",
            "there are commits on the branch that this run did not make",
            format!(
                "if you made the commit for this subtask yourself, report it with {}",
                Verb::Report.step().with("phase", "commit").and("sha")
            ),
        ));
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
            .find(|finding| finding.policy == "foreign_commit")
        {
            // Nothing is left to commit because somebody committed it: that is to be handed in.
            return Err(refusal(
                "foreign_commit",
                foreign.message.clone(),
                foreign.suggestion.clone().unwrap_or_default(),
            )
            .into());
        }
        return Err(refusal(
            "nothing_changed",
            "nothing was changed since the last commit",
            format!(
                "implement the subtask, or skip it with {skip}",
                skip = Verb::Skip.step().and("reason")
            ),
        )
        .into());
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
    secrets(call, &repository, &paths)?;
    findings.extend(tested.changed_since(&repository, &status)?);
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
                    " out to commit all of them, or reopen and test without them"
                ),
            ),
            &left,
        ));
    }
    let committed: Vec<String> = paths.iter().map(ToString::to_string).collect();
    Ok(reading(
        String::new(),
        message.clone(),
        &committed,
        findings,
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
                "name only files that differ from the last commit; ignored files are never committed",
            )
            .into());
        };
        paths.extend(change.paths().cloned());
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn secrets(
    call: &Call<'_>,
    repository: &Repository,
    paths: &[RepoPath],
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
        format!("move the file away, go back with {reopen}, run the tests again, report them, then commit; if it is meant to be committed, a person lists it under git.allowSecrets before a new run", reopen = Verb::Reopen.step().and("reason")),
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
}

impl<'a> CommittedReport<'a> {
    /// That of the commit which `role` asks for, by an item on its way.
    fn of(present: Option<&Token>, role: &'a Role) -> Result<Self, Fault> {
        let label = role.of.as_ref();
        Ok(Self {
            label,
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
        Ok(Some(finding(
            CHANGED_AFTER_GREEN,
            format!(
                "the files are no longer those that the accepted {} was tested with",
                self.name()
            ),
            format!(
                "go back with {reopen}, run the tests again, report {}, then commit",
                self.name(),
                reopen = Verb::Reopen.step().and("reason")
            ),
        )))
    }
}

/// A commit that the executor made itself.
fn made_already(
    call: &Call<'_>,
    status: &TreeStatus,
    memory: &Memory,
    run: &RunState,
    rests: &CommittedReport<'_>,
    sha: &str,
    mut findings: Vec<Finding>,
) -> Result<Reading, HandlerError> {
    let repository = &memory.repository();
    let rewritten = is_rewritten(&findings);
    // Where the run's own commits are gone, and a person let that pass, the commit stands for itself.
    let last = match repository.resolve(&format!("{sha}^"))? {
        Some(parent) if rewritten => parent,
        _ => memory.last_oid()?,
    };
    let mut foreign = |message: String| {
        findings.push(finding(
            "foreign_commit",
            message,
            "report the commit that you made for this subtask: it is HEAD, on the run's branch, and builds on the run's last commit",
        ));
    };
    let Some(oid) = repository.resolve(sha)? else {
        foreign(format!("`{sha}` is no commit of this repository"));
        return Ok(reading(sha.to_owned(), None, &[], findings));
    };
    let mut paths = Vec::new();
    let mut message = None;
    if status.head.as_ref() != Some(&oid) {
        foreign(format!("{} is not HEAD", oid.short()));
    } else if oid == last {
        foreign(format!(
            "{} is the run's last commit, not a new one",
            oid.short()
        ));
    } else {
        let commits = repository.commits_between(&last, &oid)?;
        let mut expected = oid.clone();
        let mut straight = !commits.is_empty();
        for commit in commits.iter().rev() {
            straight &= commit.oid == expected && commit.parents.len() == 1;
            if let Some(parent) = commit.parents.first() {
                expected = parent.clone();
            }
        }
        straight &= expected == last;
        if !straight {
            foreign(format!(
                "{} does not lead back to the run's last commit {} through single parents",
                oid.short(),
                last.short()
            ));
        }
        paths = repository.changed_paths(&last, &oid)?;
        if paths.is_empty() {
            foreign(format!("{} changes nothing", oid.short()));
        }
        message = commits.last().map(|commit| commit.message.clone());
        findings.extend(rests.is_untested());
        if let Some(tested) = &rests.tested {
            let tree = repository.tree_of_commit_without(&oid, &last, &tested.exclude)?;
            if straight && !paths.is_empty() && tree.tree.as_str() != tested.tree {
                findings.push(finding(
                    CHANGED_AFTER_GREEN,
                    format!(
                        "the commit does not hold the files that were tested with the accepted {}",
                        rests.name()
                    ),
                    format!(
                        "go back with {reopen}, run the tests again, and report {}",
                        rests.name(),
                        reopen = Verb::Reopen.step().and("reason")
                    ),
                ));
            }
        }
    }
    let before: Vec<String> = paths
        .iter()
        .filter(|path| memory.dirty.get(*path).is_some_and(|dirty| !dirty.left))
        .map(ToString::to_string)
        .collect();
    if !before.is_empty() {
        return Err(refusal(
            "was_dirty",
            format!("the commit takes in what was changed before the run began: {}", before.join(", ")),
            "take it out again (`git reset --soft HEAD~1`, then commit the other files alone), and report that commit",
        )
        .detail("files", before)
        .into());
    }
    secrets(call, repository, &paths)?;
    let committed: Vec<String> = paths.iter().map(ToString::to_string).collect();
    let mut reading = reading(oid.to_string(), message, &committed, findings);
    reading
        .keep_run
        .extend(memory::with_commit(run, oid.as_str())?);
    Ok(reading)
}

fn reading(
    sha: String,
    message: Option<String>,
    files: &[String],
    findings: Vec<Finding>,
) -> Reading {
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
