//! `git.commit` and the commit of `task.finish`: exactly once, across any kill.
//!
//! Order: intent journalled → tasks file replaced → commit → result journalled. After a crash the
//! commit is known again by its parent and author date; if it was not made, the tasks file gets its
//! old bytes back and the step is open as before.

use std::time::{Duration, SystemTime};

use machine::RunState;
use machine::state::Pending;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use workspace::git::{
    CommitError, CommitFate, CommitInfo, CommitIntentRef, CommitRequest, Oid, ProcessGroup,
    RepoPath, Repository,
};
use workspace::tasks::Rewrite;

use crate::call::Call;
use crate::capability::EffectSteps;
use crate::capability::git::effects::hooked::{self, Hooked};
use crate::capability::git::effects::message::message_of_subtask;
use crate::capability::git::effects::status::{StatusWrite, add_tasks_file, writing};
use crate::capability::git::effects::{
    OUTLIVED, forget_git, note_git, noted_git, notes, since, still_running,
};
use crate::capability::git::read::commit::{HANDED_IN, TREE};
use crate::capability::memory::{self, COMMIT_OF, Memory, WRITTEN};
use crate::capability::tests::read::few;
use crate::fail_point;
use crate::fault::{Fault, chain};
use crate::intent;
use crate::next_step::Verb;
use crate::support::{EffectState, HandlerError, Outcome};

/// All that is needed to make the commit, or to see that it was made.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Intent {
    /// The commit it is made on.
    pub(crate) parent: Oid,
    /// The run's last commit, where those between it and the parent were handed in with what is to be committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<Oid>,
    /// The tree that it is to have, but for the file of the tasks; none where that was not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tree: Option<Oid>,
    /// Seconds since 1970 and offset.
    pub(crate) author_date: String,
    /// What its line in the reflog begins with.
    pub(crate) reflog_action: String,
    /// The message.
    pub(crate) message: String,
    /// The files; none means that no commit is made, only the tasks file written.
    pub(crate) paths: Vec<RepoPath>,
    /// The change of the tasks file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rewrite: Option<Rewrite>,
    /// Subtasks whose `done` it carries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) carries: Vec<String>,
    /// What it is about: a subtask, or the end of the run.
    #[serde(default)]
    pub(crate) of: String,
    /// Subtasks and the task whose status should be in the file, and has no place there any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) owed: Vec<String>,
    /// Whether the tasks file holds changes that are somebody else's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) edited: bool,
    /// Whether objects and references are synced.
    pub(crate) fsync: bool,
    /// How long git and the hooks may take, in milliseconds.
    pub(crate) timeout: u64,
}

/// How it is carried out.
pub(crate) const STEPS: EffectSteps = EffectSteps {
    prepare: |call, asked, run| prepare(call, run, asked.token, asked.facts),
    perform,
    look,
};

/// Puts the intent of a subtask's commit together.
fn prepare(
    call: &Call<'_>,
    run: &RunState,
    token: u32,
    facts: &Map<String, Value>,
) -> Result<Value, HandlerError> {
    let memory = Memory::of(run)?;
    let key = run
        .token(token)
        .and_then(|token| token.key())
        .ok_or_else(|| Fault::bug("a commit without a subtask"))?
        .to_owned();
    let mut paths = paths_of(facts)?;
    let mut carries = memory::owed(run);
    if memory::is_planned(run, &key) {
        carries.push(key.clone());
    }
    let writing = writing(call, &memory, carries, None)?;
    let edited = add_tasks_file(call, &memory, &writing, &mut paths)?;
    let said = facts.get("message").and_then(Value::as_str);
    let of = run.token(token).and_then(|token| token.role.of.as_ref());
    let message = message_of_subtask(call, run, (token, of), &paths, said)?;
    let mut intent = intent(call, run, &memory, &key, message, paths, writing)?;
    intent.edited = edited;
    intent.tree = facts
        .get(TREE)
        .and_then(Value::as_str)
        .and_then(|tree| tree.parse().ok());
    if facts.get(HANDED_IN) == Some(&Value::Bool(true)) {
        intent.base = Some(memory.last_oid()?);
    }
    Ok(intent::write(&intent)?)
}

pub(crate) fn intent(
    call: &Call<'_>,
    run: &RunState,
    memory: &Memory,
    what: &str,
    message: String,
    paths: Vec<RepoPath>,
    writing: StatusWrite,
) -> Result<Intent, Fault> {
    let config = &call.pinned;
    let seconds = call.now / 1000;
    Ok(Intent {
        // The run's last commit; another one only where a policy let that pass.
        parent: match memory.repository().head()?.oid {
            Some(head) => head,
            None => memory.last_oid()?,
        },
        base: None,
        tree: None,
        author_date: format!("{seconds} +0000"),
        // A subtask may be committed more than once, upon the same commit where the first was taken back.
        reflog_action: format!("tm {} {what} {}", run.run, run.next_effect),
        message,
        paths,
        rewrite: writing.rewrite,
        carries: writing.written,
        of: what.to_owned(),
        owed: writing.owed,
        edited: false,
        fsync: config.git.fsync,
        timeout: config.git.commit_timeout,
    })
}

/// The files that the reading of a commit names.
pub(crate) fn paths_of(facts: &Map<String, Value>) -> Result<Vec<RepoPath>, Fault> {
    facts
        .get("files")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|path| {
            path.parse()
                .map_err(|_| Fault::bug(format!("`{path}` is no path")))
        })
        .collect()
}

/// Makes the commit. Failing, it leaves everything as it was.
pub fn perform(call: &Call<'_>, run: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
    let intent: Intent = intent::read(&pending.what)?;
    let memory = Memory::of(run)?;
    let repository = memory.repository().with_fsync(intent.fsync);
    if intent.paths.is_empty() && pending.name != "task.finish" {
        return Ok(Outcome::Failed {
            code: "nothing_changed".to_owned(),
            message: "nothing was changed since the last commit".to_owned(),
            suggestion: Some(format!(
                "implement the subtask, or skip it with {skip}",
                skip = Verb::Skip.step().and("reason")
            )),
            keep: Map::new(),
        });
    }
    if !intent.paths.is_empty()
        && let Err(error) = repository.commit_preflight(&intent.parent, &memory.start.branch)
    {
        // A busy index frees itself, so that is worth another try.
        if pending.name == "task.finish" && error.code() != "lock_timeout" {
            return Ok(not_written(error.code(), &chain(&error)));
        }
        return Ok(Outcome::Failed {
            code: error.code().to_owned(),
            message: chain(&error),
            suggestion: error.suggestion(),
            keep: Map::new(),
        });
    }
    // What is done to the tasks file from here on is our own, and git knows that file.
    let status = if intent.paths.is_empty() {
        None
    } else {
        Some(call.tree(&repository)?)
    };
    fail_point::reach("commit-before-tasks");
    if let Some(rewrite) = &intent.rewrite
        && let Err(error) = rewrite.apply()
    {
        return Ok(Outcome::failed(error.into()));
    }
    fail_point::reach("commit-after-tasks");
    let Some(status) = status else {
        return written(&intent);
    };
    let made = repository.commit(&CommitRequest {
        expected_parent: &intent.parent,
        branch: &memory.start.branch,
        message: &intent.message,
        signoff: call.pinned.git.signoff,
        paths: &intent.paths,
        status: &status,
        author_date: &intent.author_date,
        reflog_action: &intent.reflog_action,
        timeout: Duration::from_millis(intent.timeout),
        on_spawn: &|group: &ProcessGroup| {
            fail_point::reach("commit-unrecorded");
            note_git(call, group);
            fail_point::reach("commit-in-git");
        },
    });
    fail_point::reach("commit-after-git");
    match made {
        Ok(made) => {
            forget_git(call);
            settled(
                call,
                run,
                pending,
                (&memory, &repository),
                &intent,
                &made.commit,
            )
        }
        Err(error) => {
            // What git says of itself is not what counts: the branch is.
            if let Some(outcome) = came_about(call, run, pending, (&memory, &repository), &intent)?
            {
                forget_git(call);
                return Ok(outcome);
            }
            if let Some(rewrite) = &intent.rewrite {
                rewrite.revert().map_err(Fault::from)?;
            }
            forget_git(call);
            // A hook refuses a status each time, and all work is committed by now: no reason to stand still. What else went
            // wrong may go well when it is repeated.
            let is_lasting = matches!(
                error,
                CommitError::Refused { exit: Some(1), .. } | CommitError::NothingToCommit
            );
            if pending.name == "task.finish" && is_lasting {
                return Ok(not_written(error.code(), &chain(&error)));
            }
            let code = error.code();
            let is_refused = code == "commit_refused";
            let left = if is_refused {
                hooked::left(call, run, &repository, &intent)?
            } else {
                Vec::new()
            };
            Ok(Outcome::Failed {
                suggestion: if is_refused {
                    Some(hooked::suggestion(intent.tree.as_ref(), &left))
                } else {
                    error.suggestion()
                },
                code: code.to_owned(),
                message: hooked::told(chain(&error), &left),
                keep: Map::new(),
            })
        }
    }
}

/// The outcome of a commit that was made: it stands, unless a hook made another one of it that was never accepted, or an empty one.
fn settled(
    call: &Call<'_>,
    run: &RunState,
    pending: &Pending,
    (memory, repository): (&Memory, &Repository),
    intent: &Intent,
    commit: &CommitInfo,
) -> Result<Outcome, Fault> {
    let paths = repository.changed_paths(&intent.parent, &commit.oid)?;
    // The end brings a status, and nothing else.
    let is_end = pending.name == "task.finish";
    let others = paths
        .iter()
        .filter(|path| is_end && !intent.paths.contains(path));
    let beyond: Vec<String> = others.map(ToString::to_string).collect();
    let (code, message) = if !beyond.is_empty() {
        let message = format!("a hook of git changed other files: {}", few(&beyond));
        ("commit_refused", message)
    } else if paths.is_empty() {
        const EMPTY: &str = "a hook of git made of the files what is committed already, so the commit would be empty";
        ("interrupted", EMPTY.to_owned())
    } else {
        match Hooked::of(call, run, (memory, repository), intent, commit)? {
            Hooked::Nothing => return committed(call, run, intent, commit, (&paths, &[])),
            Hooked::Changed(files) => {
                return committed(call, run, intent, commit, (&paths, &files));
            }
            Hooked::Broken(why) => ("commit_refused", why),
        }
    };
    let all = [&intent.paths[..], &paths].concat();
    repository.take_back_commit(commit, &memory.start.branch, &all)?;
    if let Some(rewrite) = &intent.rewrite {
        rewrite.revert().map_err(Fault::from)?;
    }
    if pending.name == "task.finish" {
        return Ok(not_written(code, &message));
    }
    let left = hooked::left(call, run, repository, intent)?;
    Ok(Outcome::Failed {
        code: code.to_owned(),
        message: hooked::told(message, &left),
        suggestion: Some(hooked::suggestion(intent.tree.as_ref(), &left)),
        keep: Map::new(),
    })
}

/// The outcome of a commit that came about although git, or a hook behind it, failed.
fn came_about(
    call: &Call<'_>,
    run: &RunState,
    pending: &Pending,
    (memory, repository): (&Memory, &Repository),
    intent: &Intent,
) -> Result<Option<Outcome>, Fault> {
    let found = repository.find_our_commit(&CommitIntentRef {
        parent: &intent.parent,
        author_date: &intent.author_date,
        reflog_action: &intent.reflog_action,
        branch: &memory.start.branch,
        process_group: None,
    })?;
    let commit = match found {
        CommitFate::Made(commit) => commit,
        CommitFate::Rewritten(commit) => as_rewritten(repository, intent, commit)?,
        CommitFate::Running => return Err(still_running()),
        CommitFate::NotMade => return Ok(None),
    };
    repository.settle_index(&commit, &intent.paths)?;
    settled(call, run, pending, (memory, repository), intent, &commit).map(Some)
}

/// What a hook made of our commit, where it stands in its place.
fn as_rewritten(
    repository: &Repository,
    intent: &Intent,
    commit: CommitInfo,
) -> Result<CommitInfo, Fault> {
    if let Some(head) = repository.head()?.oid {
        let head = repository.commit_info(&head)?;
        if head.parents == [intent.parent.clone()] {
            return Ok(head);
        }
    }
    Ok(commit)
}

/// Looks whether a tm that is gone made the commit.
pub fn look(call: &Call<'_>, run: &RunState, pending: &Pending) -> Result<EffectState, Fault> {
    let intent: Intent = intent::read(&pending.what)?;
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    if intent.paths.is_empty() {
        return Ok(EffectState::NotDone);
    }
    let group = noted_git(call).map(|noted| noted.group);
    let since = since(pending);
    if let Some(group) = &group {
        // Who was to end it when its time is up is gone.
        let time_up = since + Duration::from_millis(intent.timeout);
        let left = time_up
            .duration_since(SystemTime::now())
            .unwrap_or_default();
        if !group.wait_for_leader(left.min(OUTLIVED)) && (left > OUTLIVED || !group.end()) {
            return Err(still_running());
        }
    }
    let found = repository.find_our_commit(&CommitIntentRef {
        parent: &intent.parent,
        author_date: &intent.author_date,
        reflog_action: &intent.reflog_action,
        branch: &memory.start.branch,
        process_group: None,
    })?;
    if found == CommitFate::NotMade && group.as_ref().is_some_and(|group| !group.end()) {
        return Err(still_running());
    }
    // Also where nobody noted the git: a power cut takes such a note with it.
    repository.remove_stale_locks(group.as_ref(), since, &memory.start.branch)?;
    match found {
        CommitFate::Running => Err(still_running()),
        CommitFate::Made(commit) => {
            repository.settle_index(&commit, &intent.paths)?;
            forget_git(call);
            let outcome = settled(call, run, pending, (&memory, &repository), &intent, &commit);
            outcome.map(EffectState::Settled)
        }
        // It was made; that somebody rewrote it since is for the next report to refuse.
        CommitFate::Rewritten(commit) => {
            let commit = as_rewritten(&repository, &intent, commit)?;
            let paths = repository.changed_paths(&intent.parent, &commit.oid)?;
            forget_git(call);
            committed(call, run, &intent, &commit, (&paths, &[])).map(EffectState::Settled)
        }
        CommitFate::NotMade => {
            repository.take_back_intent_to_add(&intent.paths)?;
            if let Some(rewrite) = &intent.rewrite {
                rewrite.revert().map_err(Fault::from)?;
            }
            forget_git(call);
            if pending.name == "task.finish" {
                return Ok(EffectState::NotDone);
            }
            Ok(EffectState::Settled(Outcome::Failed {
                code: "interrupted".to_owned(),
                message: "the process that was to make the commit ended before it did".to_owned(),
                suggestion: Some(format!(
                    "run {report} again",
                    report = Verb::Report.step().with("phase", "commit")
                )),
                keep: Map::new(),
            }))
        }
    }
}

fn written(intent: &Intent) -> Result<Outcome, Fault> {
    let mut keep = Map::new();
    for id in &intent.carries {
        WRITTEN.of(id).put(&mut keep, &true)?;
    }
    Ok(Outcome::Done {
        result: with_owed(intent, json!({ "sha": "", "message": "", "files": [] })),
        keep,
        artifacts: Vec::new(),
    })
}

/// Adds what could not be written, and what came along, to the result of a commit.
fn with_owed(intent: &Intent, mut result: Value) -> Value {
    if !intent.owed.is_empty() {
        result["notWritten"] = json!(intent.owed);
    }
    if intent.edited {
        result["tasksEdited"] = json!(true);
    }
    result
}

/// What somebody should be told of the result of a commit.
pub fn notes(result: &Value, tasks: &str) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(owed) = result.get("notWritten").and_then(Value::as_array) {
        let ids: Vec<&str> = owed.iter().filter_map(Value::as_str).collect();
        told.push(format!(
            "the status of {} could not be written: {tasks} has no such entry any more; it is owed",
            ids.join(", ")
        ));
    }
    let by_hook = result.get("byHook").and_then(Value::as_array);
    if let Some(files) = by_hook {
        let files: Vec<String> = files
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        told.push(format!(
            "a hook of git changed files of the commit: {}",
            few(&files)
        ));
    }
    if result.get("tasksEdited") == Some(&Value::Bool(true)) {
        told.push(format!(
            "{tasks} was changed by somebody else, too: the commit brings that along"
        ));
    }
    told
}

/// The run ends without the task's status being written; the report says so.
fn not_written(code: &str, message: &str) -> Outcome {
    Outcome::Done {
        result: json!({
            "sha": "",
            "message": "",
            "files": [],
            "failed": { "code": code, "message": message },
        }),
        keep: Map::new(),
        artifacts: Vec::new(),
    }
}

fn committed(
    call: &Call<'_>,
    run: &RunState,
    intent: &Intent,
    commit: &CommitInfo,
    (paths, by_hook): (&[RepoPath], &[String]),
) -> Result<Outcome, Fault> {
    let files: Vec<String> = paths.iter().map(ToString::to_string).collect();
    let mut keep = memory::with_commit(run, commit.oid.as_str())?;
    COMMIT_OF
        .of(&intent.of)
        .put(&mut keep, &commit.oid.to_string())?;
    let has_no_place = !intent.owed.contains(&intent.of);
    for id in intent
        .carries
        .iter()
        .chain(has_no_place.then_some(&intent.of))
    {
        WRITTEN.of(id).put(&mut keep, &true)?;
    }
    let mut result = with_owed(
        intent,
        json!({
            "sha": commit.oid.to_string(),
            "message": commit.message,
            "files": files,
        }),
    );
    if !by_hook.is_empty() {
        result["byHook"] = json!(by_hook);
    }
    // The commit stands, whatever becomes of its note.
    let noted = Memory::of(run)
        .and_then(|memory| notes::of_pending(call, &memory.repository(), &commit.oid));
    if let Err(fault) = noted {
        result["noteFailed"] = json!({ "code": fault.code, "message": fault.message });
    }
    Ok(Outcome::Done {
        result,
        keep,
        artifacts: Vec::new(),
    })
}
