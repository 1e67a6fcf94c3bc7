//! Evidence readers: what the world, or a report, has to say before a decision.

mod branch;
pub mod commit;
pub mod preflight;

use machine::{Finding, Refusal, RunState};
use serde_json::{Map, Value};
use workspace::config::loosened;
use workspace::git::{Oid, Repository, TreeStatus};
use workspace::runner::definition::command_definition;

use crate::call::Call;
use crate::capability::memory::Memory;
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::support::HandlerError;

/// The policy of commits that are no longer where the run made them.
const HISTORY_REWRITTEN: &str = "history_rewritten";
/// The policy of settings that are weaker than at the start.
const CONFIG_LOOSENED: &str = "config_loosened";

/// Refuses a report from anywhere but the run's branch.
pub(crate) fn on_the_branch(status: &TreeStatus, memory: &Memory) -> Result<(), Refusal> {
    let branch = &memory.start.branch;
    match &status.branch {
        Some(present) if present == branch => Ok(()),
        Some(present) if memory.start.is_protected(present) => Err(crate::support::refusal(
            "on_default_branch",
            format!("HEAD is on the protected branch `{present}`; this run works on `{branch}`"),
            format!("switch back with `git switch {branch}`, then report again"),
        )),
        present => Err(crate::support::refusal(
            "wrong_branch",
            format!(
                "HEAD is {}; this run works on `{branch}`",
                present.as_ref().map_or_else(
                    || "detached".to_owned(),
                    |present| format!("on `{present}`")
                )
            ),
            format!("switch back with `git switch {branch}`, then report again"),
        )),
    }
}

/// What any report may be looked at for, whatever it is of: those policies that the state checks.
pub(crate) fn of_any_report(
    call: &Call<'_>,
    run: &RunState,
    state: &str,
) -> Result<Vec<Finding>, HandlerError> {
    let mut findings = Vec::new();
    if is_over_a_task(run) && call.definition.checks(state, HISTORY_REWRITTEN) {
        let memory = Memory::of(run)?;
        let repository = memory.repository();
        let head = repository.head()?.oid;
        findings.extend(history_rewritten(head.as_ref(), &memory, &repository)?);
    }
    if call.definition.checks(state, CONFIG_LOOSENED) {
        findings.extend(config_loosened(call));
    }
    Ok(findings)
}

/// The findings that every report over a task is looked at for.
pub(crate) fn common_findings(
    call: &Call<'_>,
    status: &TreeStatus,
    memory: &Memory,
    repository: &Repository,
) -> Result<Vec<Finding>, HandlerError> {
    let rewritten = history_rewritten(status.head.as_ref(), memory, repository)?;
    Ok(rewritten.into_iter().chain(config_loosened(call)).collect())
}

/// Whether they say that the run's last commit is gone.
pub(crate) fn is_rewritten(findings: &[Finding]) -> bool {
    findings
        .iter()
        .any(|finding| finding.policy == HISTORY_REWRITTEN)
}

/// Whether the run's last commit is no longer below `head`.
fn history_rewritten(
    head: Option<&Oid>,
    memory: &Memory,
    repository: &Repository,
) -> Result<Option<Finding>, HandlerError> {
    let last = memory.last_oid()?;
    let intact = match head {
        Some(head) if *head == last => true,
        Some(head) => {
            repository.resolve(last.as_str())?.is_some() && repository.is_ancestor(&last, head)?
        }
        None => false,
    };
    Ok((!intact).then(|| {
        finding(
            HISTORY_REWRITTEN,
            format!(
                "the run's last commit {} is no longer part of `{}`: its history was rewritten",
                last.short(),
                memory.start.branch
            ),
            format!(
                "bring it back with `git reset --soft {}` (git reflog shows what was there), or start a new run",
                last.short()
            ),
        )
    }))
}

/// Whether the settings are weaker than those that the run is pinned to.
fn config_loosened(call: &Call<'_>) -> Option<Finding> {
    let looser = loosened(&call.pinned, &call.settings.config);
    let told: Vec<String> = looser
        .iter()
        .map(|loosening| {
            format!(
                "{} from {} to {}",
                loosening.key, loosening.was, loosening.is
            )
        })
        .collect();
    (!told.is_empty()).then(|| {
        finding(
            CONFIG_LOOSENED,
            format!("the settings were loosened during the run: {}", told.join("; ")),
            "put the settings back; a run keeps the rules it was started with, so new ones need a new run",
        )
    })
}

/// Whether the test command, or what the project has behind its name, is not what the run began with.
pub(crate) fn command_replaced(call: &Call<'_>, memory: &Memory) -> Option<Finding> {
    let start = &memory.start;
    let told = if call.settings.config.test.command == call.pinned.test.command {
        let was = start.test_definition.as_ref()?;
        match command_definition(&start.project_root, &start.test_command) {
            Some(now) if now.text == *was => return None,
            Some(now) => format!("{} is not what it was when the run began", now.what),
            None => format!("what `{}` stood for is gone", start.test_command),
        }
    } else {
        let now = call.settings.config.test.command.as_deref();
        let now = now.map_or_else(|| "none".to_owned(), |now| format!("`{now}`"));
        format!(
            "the settings name {now} now, and the run began with `{}`",
            start.test_command
        )
    };
    Some(finding(
        "command_replaced",
        format!("the test command was replaced during the run: {told}"),
        "put it back, unless the subtask is about the command itself",
    ))
}

pub(crate) fn finding(
    policy: &str,
    message: impl Into<String>,
    suggestion: impl Into<String>,
) -> Finding {
    Finding {
        policy: policy.to_owned(),
        message: message.into(),
        suggestion: Some(suggestion.into()),
        details: Map::new(),
    }
}

pub(crate) fn with_files(mut finding: Finding, files: &[String]) -> Finding {
    const MOST: usize = 50;
    let shown: Vec<Value> = files
        .iter()
        .take(MOST)
        .map(|file| Value::from(file.as_str()))
        .collect();
    finding
        .details
        .insert("files".to_owned(), Value::Array(shown));
    finding
}

/// The tests that a finding is about.
pub(crate) fn with_tests(mut finding: Finding, tests: &[String]) -> Finding {
    const MOST: usize = 100;
    let shown: Vec<Value> = tests.iter().take(MOST).cloned().map(Value::from).collect();
    finding
        .details
        .insert("tests".to_owned(), Value::Array(shown));
    finding
}

/// Names given by a caller, as paths of the repository.
pub(crate) fn named_paths(
    call: &Call<'_>,
    repository: &Repository,
    names: &[String],
) -> Result<Vec<workspace::git::RepoPath>, Fault> {
    names
        .iter()
        .map(|name| {
            let path = std::path::Path::new(name);
            let absolute = if path.is_absolute() {
                path.to_owned()
            } else {
                call.root.join(path)
            };
            repository
                .relative(&absolute)
                .filter(|path| repository.in_scope(path))
                .ok_or_else(|| {
                    Fault::new(
                        crate::fault::Kind::Usage,
                        "bad_path",
                        format!("`{name}` is not a file of this project"),
                    )
                    .suggest("give paths relative to the project root")
                })
        })
        .collect()
}
