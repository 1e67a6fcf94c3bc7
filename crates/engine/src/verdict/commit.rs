//! The commit that answered a report: what it holds, and what hooks of the repository made of it.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use machine::event::AcceptedReport;
use machine::{Event, RunState};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use workspace::git::{RepoPath, Repository};

use crate::capability::git::changes::Changes;
use crate::capability::memory::{self, Memory};
use crate::capability::tests::read::few;
use crate::fault::Fault;
use crate::proof::{check, source};
use crate::report::{AnsweredReport, ReportOutcome};

/// Whether the branch and the working tree are as the run's last commit left them.
pub(super) fn stands_at_commit(run: &RunState) -> Result<bool, Fault> {
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let status = repository.status()?;
    let changes = Changes::of(&status, &memory, &repository, &[])?;
    Ok(changes.files.is_empty() && status.head == Some(memory.last_oid()?))
}

/// The commit of the task's status, where the end of the run made one.
pub(super) fn last_of_run(run: &RunState) -> Result<Option<String>, Fault> {
    let last = Memory::of(run)?.last_commit;
    let of_subtask = memory::subtasks(run).any(|(key, _)| memory::commit_of(run, key) == last);
    Ok((!of_subtask && memory::commits(run) > 0).then_some(last))
}

/// The commit that answered a unit, as `commitSha`, `message` and `files`; and warnings about it.
pub(super) fn made(
    answered: &AnsweredReport<'_>,
    reported: &AcceptedReport,
) -> Result<(Map<String, Value>, Vec<String>), Fault> {
    let run = &answered.writer.open.run;
    let sha = match reported.facts.get("sha").and_then(Value::as_str) {
        Some(sha) if !sha.is_empty() => sha.to_owned(),
        _ => {
            let item = reported.item.as_deref().unwrap_or_default();
            memory::commit_of(run, item).to_owned()
        }
    };
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let mut warnings = Vec::new();
    let (message, files) = match just_made(answered, &sha) {
        Some(made) => {
            warnings.extend(changed_by_hooks(answered, &memory, (&sha, &made.1))?);
            made
        }
        None => git_message(&repository, reported, &sha)?,
    };
    warnings.extend(taken_out(&repository, reported, &files)?);
    let made = [
        ("commitSha", json!(sha)),
        ("message", json!(message)),
        ("files", json!(files)),
    ];
    let made = made.map(|(name, value)| (name.to_owned(), value));
    Ok((made.into_iter().collect(), warnings))
}

/// The message and the files of a commit that this call made: what git said of it is in the journal.
fn just_made(answered: &AnsweredReport<'_>, sha: &str) -> Option<(String, Vec<String>)> {
    let ReportOutcome::Decided { events, .. } = &answered.outcome else {
        return None;
    };
    let result = events.iter().find_map(|event| match event {
        Event::EffectDone { result, .. } if result.get("sha")?.as_str()? == sha => Some(result),
        _ => None,
    })?;
    let message = result.get("message")?.as_str()?.to_owned();
    Some((message, Vec::deserialize(result.get("files")?).ok()?))
}

fn git_message(
    repository: &Repository,
    reported: &AcceptedReport,
    sha: &str,
) -> Result<(String, Vec<String>), Fault> {
    let oid = sha
        .parse()
        .map_err(|_| Fault::bug(format!("the subtask has no commit, but `{sha}`")))?;
    let (commit, changed) = repository.commit_with_files(&oid)?;
    let facts = &reported.facts;
    let handed_in = facts.get("sha").and_then(Value::as_str) == Some(sha);
    // There may be several commits behind the one that was handed in.
    let files = match facts.get("files") {
        Some(files) if handed_in => Vec::deserialize(files).unwrap_or_default(),
        _ => changed.iter().map(|file| file.path.to_string()).collect(),
    };
    Ok((commit.message, files))
}

/// What is told of files that hooks of the repository wrote while they were committed, so that they are not as they were tested.
/// The times of files only say where to look: a hook may write what was there, and a file server's clock may be ahead.
fn changed_by_hooks(
    answered: &AnsweredReport<'_>,
    memory: &Memory,
    (sha, files): (&str, &[String]),
) -> Result<Option<String>, Fault> {
    let repository = memory.repository();
    let own = memory.exempt(&repository);
    let began = Duration::from_millis(answered.writer.call.now.try_into().unwrap_or_default());
    let is_new = |name: &&String| {
        let path: Option<RepoPath> = name.parse().ok();
        path.filter(|path| !own.contains(path)).is_some_and(|path| {
            let found = fs::symlink_metadata(repository.absolute(&path));
            let written = found.and_then(|found| found.modified());
            written.is_ok_and(|written| written > UNIX_EPOCH + began)
        })
    };
    let written: Vec<String> = files.iter().filter(is_new).cloned().collect();
    if written.is_empty() {
        return Ok(None);
    }
    let story = source::story(&answered.writer.open.dir)?;
    if let Some(made) = story.made.iter().rfind(|made| made.sha == sha)
        && let (Ok(base), Ok(commit)) = (made.base.parse(), sha.parse())
        && !check::is_changed_by_hooks(&repository, made, &base, &commit)?
    {
        return Ok(None);
    }
    Ok(Some(format!(
        "hooks changed what was tested, and it is committed as they left it: {}",
        few(&written)
    )))
}

/// What is told of files that were to be in a commit and are not: a hook of the repository took them out.
fn taken_out(
    repository: &Repository,
    reported: &AcceptedReport,
    files: &[String],
) -> Result<Option<String>, Fault> {
    let meant = reported.facts.get("files").and_then(Value::as_array);
    let mut gone: Vec<&str> = meant
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|path| !files.iter().any(|file| file == path))
        .collect();
    if gone.is_empty() {
        return Ok(None);
    }
    // What was changed in the index alone came to nothing in the commit.
    let status = repository.status()?;
    let left: Vec<String> = status
        .changes
        .iter()
        .flat_map(|change| change.paths().map(ToString::to_string))
        .collect();
    gone.retain(|path| left.iter().any(|left| left == path));
    Ok((!gone.is_empty()).then(|| format!("a hook took out of the commit: {}", gone.join(", "))))
}
