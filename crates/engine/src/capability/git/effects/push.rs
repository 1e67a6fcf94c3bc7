//! `git.push`: the branch of a run on a remote, and beside it what proves its commits.
//!
//! What the remote is to have until then is found out before, and journalled with the intent: the push is made against that and
//! nothing else. Whether it was taken is asked of the remote, so that a lost answer is no question.

mod proof;

use std::time::Duration;

use machine::approval::{GateMode, strong_enough};
use machine::command::APPROVED;
use machine::state::Pending;
use machine::{Approval, Refusal, RunState, Strength};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use workspace::config::{Gate, Proof};
use workspace::git::{
    CommitInfo, GitErrorKind, Oid, PushFailure, PushedRef, RemoteFailure, RemoteTips, Repository,
};

use crate::call::Call;
use crate::capability::EffectSteps;
use crate::capability::git::effects::{forget_git, look_again, noted};
use crate::capability::git::read::moved::{BRANCH_MOVED, others};
use crate::capability::memory::{ADOPTED, Memory, PUSHED, commit_of, subtasks};
use crate::fail_point;
use crate::fault::{Fault, chain};
use crate::intent;
use crate::next_step::NextStep;
use crate::proof::source;
use crate::refusal;
use crate::support::{HandlerError, Outcome, refusal};

/// The effect.
pub(crate) const PUSH: &str = "git.push";
/// The first pause before a remote that cannot be reached is tried again; each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest of them.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How many commits are named.
const MOST_NAMED: usize = 3;

/// What a run pushed last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pushed {
    /// The remote, by its name.
    pub(crate) remote: String,
    /// The branch there.
    pub(crate) branch: String,
    /// The commit.
    pub(crate) sha: Oid,
}

/// All that is needed to push, or to see that it was pushed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Intent {
    remote: String,
    branch: String,
    sha: Oid,
    /// What the remote has until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expected: Option<Oid>,
    /// Whether what the remote has is given up by it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    forced: bool,
    /// What is pushed beside it.
    proof: Proof,
}

/// Where a branch goes, and what is there now.
#[derive(Debug)]
pub(crate) struct Destination {
    /// The remote, by its name.
    pub(crate) remote: String,
    /// The commit that is to be there.
    pub(crate) sha: Oid,
    /// What the remote has.
    pub(crate) tips: RemoteTips,
}

/// How it is carried out.
pub(crate) const STEPS: EffectSteps = EffectSteps {
    prepare: |call, asked, run| prepare(call, run, asked.flags),
    perform,
    look: look_again,
};

/// Finds out whether the branch can be pushed, and onto what.
fn prepare(
    call: &Call<'_>,
    run: &RunState,
    flags: &Map<String, Value>,
) -> Result<Value, HandlerError> {
    let memory = Memory::of(run)?;
    let there = destination(call, run, &memory, flags, &[])?;
    let expected = there.tips.of(&reference(&memory.start.branch)).cloned();
    let forced = match &expected {
        None => false,
        Some(tip) => !is_on_the_way(&memory.repository(), tip, &there.sha)?,
    };
    Ok(intent::write(&Intent {
        remote: there.remote,
        branch: memory.start.branch,
        sha: there.sha,
        expected,
        forced,
        proof: call.pinned.submit.proof,
    })?)
}

/// Whether the run's branch may be pushed: the remote, the commit, and what the remote has. `others` are references that are
/// asked about as well.
pub(crate) fn destination(
    call: &Call<'_>,
    run: &RunState,
    memory: &Memory,
    flags: &Map<String, Value>,
    others: &[&str],
) -> Result<Destination, HandlerError> {
    let repository = memory.repository();
    let branch = &memory.start.branch;
    let remote = call.pinned.git.default_remote.clone();
    if memory.start.is_protected(branch) {
        return Err(protected(branch).into());
    }
    if repository.remote_urls(&remote)?.is_none() {
        return Err(no_remote(&remote, &repository)?.into());
    }
    let Some(sha) = repository.resolve(&format!("refs/heads/{branch}"))? else {
        return Err(refusal!(
            "not_found.branch_missing",
            branch,
            last_commit = NextStep::git(["branch", branch, &memory.last_commit])
        )
        .into());
    };
    is_agreed_to(call, run, memory, &sha, flags)?;
    let own = reference(branch);
    // Names beside which no repository can have this one: a reference is a file or a folder.
    let slashes = branch.match_indices('/');
    let mut in_the_way: Vec<String> = slashes.map(|(at, _)| reference(&branch[..at])).collect();
    in_the_way.push(format!("{own}/*"));
    let asked: Vec<&str> = std::iter::once(own.as_str())
        .chain(in_the_way.iter().map(String::as_str))
        .chain(others.iter().copied())
        .collect();
    let tips = tips(call, &repository, &remote, branch, &asked)?;
    let is_in_the_way = |name: &str| {
        name.starts_with(&format!("{own}/")) || in_the_way.iter().any(|other| other == name)
    };
    if let Some((other, _)) = tips.references.iter().find(|(name, _)| is_in_the_way(name)) {
        return Err(in_the_way_there(&remote, branch, other).into());
    }
    if tips.default_branch.as_ref() == Some(branch) {
        return Err(protected(branch).into());
    }
    if let Some(tip) = tips.of(&own) {
        is_ours(run, &repository, &remote, branch, tip, &sha)?;
    }
    Ok(Destination { remote, sha, tips })
}

fn protected(branch: &str) -> Refusal {
    refusal!("branch_taken.protected", branch)
}

fn in_the_way_there(remote: &str, branch: &str, other: &str) -> Refusal {
    let other = other.trim_start_matches("refs/heads/");
    let free = if branch.contains('/') {
        branch.replace('/', "-")
    } else {
        format!("{branch}-run")
    };
    let flat = format!("{branch}:{}", reference(&free));
    refusal!(
        "branch_taken.in_the_way_there",
        remote,
        other,
        branch,
        flat = NextStep::git(["push", remote, &flat])
    )
}

fn no_remote(remote: &str, repository: &Repository) -> Result<Refusal, Fault> {
    let others = repository.remotes()?;
    let suggestion = if others.is_empty() {
        format!(
            "add it: {}",
            NextStep::git(["remote", "add", remote, "URL"])
        )
    } else {
        format!(
            "say which one it is with `git.defaultRemote` in .taskmaster/config.json, or TRAMLINE_GIT_DEFAULT_REMOTE; there are: {}",
            others.join(", ")
        )
    };
    Ok(refusal(
        "no_remote",
        format!("there is no remote `{remote}` to push to"),
        suggestion,
    ))
}

/// Commits that the run did not make, and what the settings say, may need a person's word.
fn is_agreed_to(
    call: &Call<'_>,
    run: &RunState,
    memory: &Memory,
    sha: &Oid,
    flags: &Map<String, Value>,
) -> Result<(), HandlerError> {
    let mode = match call.pinned.submit.approval {
        Gate::Auto => GateMode::Auto,
        Gate::Human => GateMode::Human,
        Gate::Terminal => GateMode::Terminal,
        Gate::Signed => GateMode::Signed,
    };
    let foreign = foreign(call, (run, memory), sha)?;
    let what = match (mode.strength(), foreign.as_slice()) {
        (None, []) => return Ok(()),
        (_, []) => "the submission of this run".to_owned(),
        (_, commits) => format!(
            "the submission of {} that the run did not make ({})",
            text::counted(commits.len(), "commit"),
            commits
                .iter()
                .take(MOST_NAMED)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join("; ")
        ),
    };
    agreed(
        run,
        flags,
        mode.strength().unwrap_or_default(),
        ("submit", &what),
    )
}

/// Whether a person agreed to what is sent to a run: a turn, and what it is in words.
pub(crate) fn agreed(
    run: &RunState,
    flags: &Map<String, Value>,
    least: Strength,
    (turn, what): (&str, &str),
) -> Result<(), HandlerError> {
    // The machine has noted what stands behind the command, and nobody else can.
    let given = flags
        .get(APPROVED)
        .and_then(|strength| serde_json::from_value(strength.clone()).ok());
    let given = given.map(|strength| Approval {
        strength,
        ..Approval::default()
    });
    match strong_enough(given.as_ref(), least.max(run.least_approval), what) {
        Ok(_) => Ok(()),
        Err(refusal) => Err(refusal
            .detail("turn", turn)
            .detail("runId", run.run.as_str())
            .into()),
    }
}

/// The commits on the branch that neither the run nor the branch that it was begun from has, as people know them: those that were
/// adopted, too. Merges of that branch are none.
fn foreign(
    call: &Call<'_>,
    (run, memory): (&RunState, &Memory),
    sha: &Oid,
) -> Result<Vec<String>, HandlerError> {
    let repository = memory.repository();
    let last = memory.last_oid()?;
    let adopted = ADOPTED.is_in(&run.kept);
    if *sha == last && !adopted {
        return Ok(Vec::new());
    }
    if !repository.is_ancestor(&last, sha)? {
        let branch = &memory.start.branch;
        let back = if repository.head()?.branch.as_ref() == Some(branch) {
            NextStep::git(["reset", "--keep", last.as_str()])
        } else {
            NextStep::git(["branch", "--force", branch, last.as_str()])
        };
        let aside = format!("{branch}-aside-{}", short(sha));
        let keep = NextStep::git(["branch", "--force", &aside, branch]);
        return Err(refusal(
            BRANCH_MOVED,
            format!("the run's last commit {} is not on `{branch}` any more", short(&last)),
            format!("keep what is there under another name ({keep}), and bring the branch back to it ({back})"),
        )
        .into());
    }
    let beside = others(&call.pinned, memory, &repository)?;
    let from = if adopted {
        memory.base_oid()?
    } else {
        last.clone()
    };
    let commits = repository.commits_beside(sha, &from, &beside)?;
    let made: Vec<&str> = subtasks(run).map(|(key, _)| commit_of(run, key)).collect();
    let is_own = |commit: &CommitInfo| commit.oid == last || made.contains(&commit.oid.as_str());
    let foreign = commits.iter();
    let foreign = foreign.filter(|commit| !commit.is_merge() && !is_own(commit));
    Ok(foreign
        .map(|commit| {
            format!(
                "{} {}",
                short(&commit.oid),
                text::plain::one_line(&commit.subject)
            )
        })
        .collect())
}

/// What the remote has is given up only where this run pushed it, and went back behind it since.
fn is_ours(
    run: &RunState,
    repository: &Repository,
    remote: &str,
    branch: &str,
    tip: &Oid,
    sha: &Oid,
) -> Result<(), HandlerError> {
    if is_on_the_way(repository, tip, sha)? {
        return Ok(());
    }
    let pushed = PUSHED.read(&run.kept)?;
    let by_us = pushed.as_ref().is_some_and(|pushed| {
        pushed.remote == remote && pushed.branch == branch && pushed.sha == *tip
    });
    if by_us {
        return Ok(());
    }
    let (message, suggestion) = if pushed.is_some() {
        (
            format!(
                "somebody else has pushed to `{branch}` of {remote}: it is at {}",
                short(tip)
            ),
            format!(
                "look at what it is ({}), and bring it into the branch ({}); a person then agrees to its commits and submits again",
                NextStep::git(["fetch", remote, branch]),
                NextStep::git(["merge", "FETCH_HEAD"])
            ),
        )
    } else {
        (
            format!(
                "{remote} has a branch `{branch}` of somebody else's already, at {}",
                short(tip)
            ),
            format!(
                "look at what it is ({}). Where it is nobody's any more, delete it there ({}), then submit again",
                NextStep::git(["fetch", remote, branch]),
                NextStep::git(["push", remote, "--delete", branch])
            ),
        )
    };
    Err(refusal("remote_moved", message, suggestion)
        .detail("remote", remote)
        .detail("there", tip.as_str())
        .into())
}

/// Whether a commit of the remote is on the way to ours. One that is not here is not.
fn is_on_the_way(repository: &Repository, tip: &Oid, sha: &Oid) -> Result<bool, Fault> {
    if !repository.has_commit(tip)? {
        return Ok(false);
    }
    Ok(repository.is_ancestor(tip, sha)?)
}

/// Asks the remote what it has, more than once where it cannot be reached.
fn tips(
    call: &Call<'_>,
    repository: &Repository,
    remote: &str,
    branch: &str,
    references: &[&str],
) -> Result<RemoteTips, HandlerError> {
    let tips = tried(call, || Ok(repository.remote_tips(remote, references)?))?;
    tips.map_err(|failed| {
        let (code, message, suggestion) = in_words(remote, branch, &failed);
        refusal(code, message, suggestion).into()
    })
}

/// Tries something at a remote, and again after a pause where that cannot be reached.
fn tried<T>(
    call: &Call<'_>,
    mut attempt: impl FnMut() -> Result<Result<T, RemoteFailure>, Fault>,
) -> Result<Result<T, RemoteFailure>, Fault> {
    let mut left = call.pinned.submit.attempts;
    let mut pause = PAUSE;
    loop {
        match attempt()? {
            Err(failure) if failure.why == PushFailure::Unreachable && left > 1 => {
                std::thread::sleep(pause);
                left -= 1;
                pause = LONGEST_PAUSE.min(pause * 2);
            }
            done => return Ok(done),
        }
    }
}

/// A failure at a remote: its code, what happened, and what to do.
fn in_words(remote: &str, branch: &str, failed: &RemoteFailure) -> (&'static str, String, String) {
    let said = text::plain::many_lines(&failed.said);
    let again = "then submit again";
    let (code, what, fix) = match failed.why {
        PushFailure::Moved => (
            "remote_moved",
            format!("`{branch}` of {remote} was moved meanwhile"),
            "submit again: it is looked at anew".to_owned(),
        ),
        PushFailure::Refused => (
            "forge_refused",
            format!("{remote}, or a hook, did not take `{branch}`"),
            format!(
                "what it says below tells why: a hook, a rule, a protected branch or missing rights; settle that, {again}"
            ),
        ),
        PushFailure::Denied => (
            "forge_refused",
            format!("{remote} does not let us in"),
            format!(
                "see that git can push there by itself ({}): a key, a token, a credential helper; {again}",
                NextStep::git(["ls-remote", remote])
            ),
        ),
        PushFailure::Missing => (
            "no_remote",
            format!("there is no repository where {remote} points, or it may not be seen"),
            format!(
                "correct its address ({}), {again}",
                NextStep::git(["remote", "set-url", remote, "URL"])
            ),
        ),
        PushFailure::Unreachable => (
            "unreachable",
            format!("{remote} cannot be reached"),
            "nothing was lost: submit again when it can be".to_owned(),
        ),
        PushFailure::TimedOut => (
            "unreachable",
            format!("{remote} did not answer in time"),
            format!(
                "see that git can push there without asking for anything ({}), {again}",
                NextStep::git(["ls-remote", remote])
            ),
        ),
    };
    let message = if said.is_empty() {
        what
    } else {
        format!("{what}:\n{said}")
    };
    (code, message, fix)
}

fn short(oid: &Oid) -> String {
    source::short(oid.as_str())
}

/// Pushes, unless the remote has it already.
fn perform(call: &Call<'_>, run: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
    let intent: Intent = intent::read(&pending.what)?;
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let on_spawn = noted(call, "push-in-git");
    let name = reference(&intent.branch);
    let pushed = PushedRef {
        object: intent.sha.clone(),
        name: name.clone(),
        expected: intent.expected.clone(),
    };
    let limit = Duration::from_millis(call.pinned.git.commit_timeout);
    let done = tried(call, || {
        // The answer to an earlier attempt, or to that of a process that was killed, may be all that was lost.
        match repository.remote_tips(&intent.remote, &[&name])? {
            Ok(tips) if tips.of(&name) == Some(&intent.sha) => return Ok(Ok(())),
            Ok(tips) if tips.of(&name) != intent.expected.as_ref() => {
                return Ok(Err(RemoteFailure {
                    why: PushFailure::Moved,
                    said: String::new(),
                }));
            }
            Ok(_) => {}
            Err(failure) => return Ok(Err(failure)),
        }
        match repository.push(&intent.remote, &pushed, limit, &on_spawn) {
            Err(error) if *error.kind() == GitErrorKind::Killed => Ok(Err(RemoteFailure {
                why: PushFailure::Unreachable,
                said: chain(&error),
            })),
            done => Ok(done?),
        }
    });
    let done = match done {
        Ok(done) => done,
        Err(fault) => return Ok(Outcome::failed(fault)),
    };
    fail_point::reach("push-after-push");
    forget_git(call);
    if let Err(failed) = done
        && !has(&repository, &intent)
    {
        let (code, message, suggestion) = in_words(&intent.remote, &intent.branch, &failed);
        return Ok(Outcome::Failed {
            code: code.to_owned(),
            message,
            suggestion: Some(suggestion),
            keep: Map::new(),
        });
    }
    let warning = proof::push(call, &repository, &intent.remote, intent.proof);
    fail_point::reach("push-after-proof");
    let keep = PUSHED.entry(&Pushed {
        remote: intent.remote.clone(),
        branch: intent.branch.clone(),
        sha: intent.sha.clone(),
    })?;
    Ok(Outcome::Done {
        result: json!({
            "remote": intent.remote,
            "branch": intent.branch,
            "sha": intent.sha,
            "moved": intent.expected.as_ref() != Some(&intent.sha),
            "forced": intent.forced,
            "warning": warning.unwrap_or_default(),
        }),
        keep,
        artifacts: Vec::new(),
    })
}

/// Whether the remote has it, as far as it can be asked.
fn has(repository: &Repository, intent: &Intent) -> bool {
    let name = reference(&intent.branch);
    let tips = repository.remote_tips(&intent.remote, &[&name]);
    matches!(tips, Ok(Ok(tips)) if tips.of(&name) == Some(&intent.sha))
}

/// The full name of a branch.
pub(crate) fn reference(branch: &str) -> String {
    format!("refs/heads/{branch}")
}
