//! Evidence readers: what the world, or a report, has to say before a decision.

mod branch;
pub(crate) mod clean;
pub mod commit;
pub(crate) mod moved;
pub mod preflight;
pub(crate) mod task_start;

use machine::{Finding, RunState};
use serde_json::{Map, Value};
use workspace::config::{Config, loosened};
use workspace::git::{Operation, RepoPath, Repository, TreeStatus};
use workspace::runner::definition::command_definition;

use crate::call::Call;
use crate::capability::memory::Memory;
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::evidence::work::Work;
use crate::capability::tests::read::few;
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::next_step::{NextStep, Verb};
use crate::support::HandlerError;
use crate::{fault, refusal};

/// The policy of a test command that is another one.
pub(crate) const COMMAND_REPLACED: &str = "command_replaced";
/// The policy of work that leaves nothing behind.
pub(super) const CHANGES_LEFT: &str = "changes_left";
/// The policy of settings that are weaker than at the start.
const CONFIG_LOOSENED: &str = "config_loosened";

/// Refuses what is asked for from anywhere but the run's branch; `again` is how it is asked for once more.
pub(crate) fn on_the_branch(
    (branch, unmerged): (Option<&str>, &[RepoPath]),
    memory: &Memory,
    repository: &Repository,
    again: &str,
) -> Result<(), HandlerError> {
    let own = &memory.start.branch;
    // What is half of a merge is nobody's work yet; and where HEAD is detached meanwhile, git switches to nothing before it is over.
    let conflicts = match unmerged.first() {
        Some(path) => {
            format!("resolve the conflicts, such as in `{path}`, and `git add` what is resolved, ")
        }
        None => String::new(),
    };
    if let Some(operation) = repository.operation_under_way()? {
        return Err(refusal!(
            "operation_under_way.on_the_branch",
            operation,
            own,
            conflicts,
            ends = ends_of(operation),
            again
        )
        .into());
    }
    if let Some(path) = unmerged.first() {
        return Err(refusal!(
            "operation_under_way.unmerged_on_the_branch",
            path,
            conflicts,
            again
        )
        .into());
    }
    if branch == Some(own) {
        return Ok(());
    }
    let back = match branch {
        _ if repository.branch_exists(own)? => {
            format!("switch back with {}", NextStep::git(["switch", own]))
        }
        Some(present) if !memory.start.is_protected(present) => format!(
            "there is no such branch any more: give it its name back with {}",
            NextStep::git(["branch", "--move", present, own])
        ),
        _ => format!(
            "there is no such branch any more: bring it back with {}",
            NextStep::git(["switch", "--create", own, &memory.last_commit])
        ),
    };
    let present = match branch {
        Some(present) => format!("on `{present}`"),
        None => "detached".to_owned(),
    };
    Err(refusal!("wrong_branch", present, own, back, again).into())
}

/// The same of a report.
pub(crate) fn reported_on_the_branch(
    status: &TreeStatus,
    memory: &Memory,
    repository: &Repository,
) -> Result<(), HandlerError> {
    let at = (status.branch.as_deref(), &status.unmerged[..]);
    on_the_branch(
        at,
        memory,
        repository,
        &format!("report again: {}", Verb::Report),
    )
}

/// The step that ends what git has under way, and what takes it back instead.
pub(crate) fn ends_of(operation: Operation) -> String {
    let told = operation.ends().iter().map(|end| match end[1] {
        // Nobody sits at an editor.
        "--continue" => {
            let git = ["git", "-c", "core.editor=true"];
            NextStep::shell(git.into_iter().chain(end.iter().copied())).to_string()
        }
        "--abort" => format!(" or, to take it back, `git {}`", end.join(" ")),
        _ => NextStep::git(*end).to_string(),
    });
    told.collect()
}

/// What any report may be looked at for, whatever it is of: those policies that the state checks.
pub(crate) fn of_any_report(
    call: &Call<'_>,
    run: &RunState,
    state: &str,
) -> Result<Vec<Finding>, HandlerError> {
    let mut findings = Vec::new();
    if is_over_a_task(run) && call.definition.checks(state, CHANGES_LEFT) {
        findings.extend(changes_left(call, run)?);
    }
    if call.definition.checks(state, CONFIG_LOOSENED) {
        findings.extend(config_loosened(call));
    }
    Ok(findings)
}

/// What was changed since the run's last commit, where none of it is to be committed.
fn changes_left(call: &Call<'_>, run: &RunState) -> Result<Option<Finding>, HandlerError> {
    let repository = Memory::of(run)?.repository();
    let status = call.tree(&repository)?;
    let nothing = TestEvidence::default();
    let work = Work::of(run, (&call.dir, &call.pinned), &status, &[], &nothing)?;
    let changed = repository.changed_paths(&work.base, &work.tree)?;
    let changed: Vec<String> = changed.iter().map(ToString::to_string).collect();
    if changed.is_empty() {
        return Ok(None);
    }
    let mut steps = Vec::new();
    let uncommitted = work.changes.names();
    if !uncommitted.is_empty() {
        steps.push(set_aside(&uncommitted));
    }
    if status.head.as_ref() != Some(&work.base) {
        let kept = format!("{}-tried", work.memory.start.branch);
        steps.push(NextStep::git(["branch", "--force", &kept]));
        steps.push(NextStep::git(["reset", "--keep", work.base.as_str()]));
    }
    let found = finding(
        CHANGES_LEFT,
        format!(
            "nothing of this is to be on the run's branch, and these files are changed: {}",
            few(&changed)
        ),
        format!(
            "write down what was learned, set aside what was tried ({}), and report again: {}",
            text::listed(steps.iter().map(ToString::to_string)),
            Verb::Report
        ),
    );
    Ok(Some(with_files(found, &changed)))
}

/// The step that sets changes of these files aside.
pub(crate) fn set_aside(files: &[String]) -> NextStep {
    // From the top, wherever the reader stands.
    let paths: Vec<String> = files.iter().map(|path| format!(":/{path}")).collect();
    let words = ["git", "stash", "push", "--include-untracked", "--"];
    NextStep::shell(words.into_iter().chain(paths.iter().map(String::as_str)))
}

/// Whether the settings are weaker than those that the run is pinned to.
pub(crate) fn config_loosened(call: &Call<'_>) -> Option<Finding> {
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
            format!(
                "put the settings back, then report again: {}; a run keeps the rules it was started with, so new ones need a new run",
                Verb::Report
            ),
        )
    })
}

/// Whether the test command, or what the project has behind its name, is not what the run began with.
pub(crate) fn command_replaced(now: &Config, pinned: &Config, memory: &Memory) -> Option<Finding> {
    let start = &memory.start;
    let told = if now.test.command == pinned.test.command {
        let now = command_definition(&start.project_root, &start.test_command);
        match (now, &start.test_definition) {
            (Some(now), Some(was)) if now.text == *was => return None,
            // What a project has not had yet it may well get; but no settings of cargo were owed to it.
            (Some(now), None) if !now.what.contains(".cargo/") => return None,
            (None, None) => return None,
            (Some(now), _) => format!("{} is not what it was when the run began", now.what),
            (None, Some(_)) => format!("what `{}` stood for is gone", start.test_command),
        }
    } else {
        let now = now.test.command.as_deref();
        let now = now.map_or_else(|| "none".to_owned(), |now| format!("`{now}`"));
        format!(
            "the settings name {now} now, and the run began with `{}`",
            start.test_command
        )
    };
    Some(finding(
        COMMAND_REPLACED,
        format!("the test command was replaced during the run: {told}"),
        format!(
            "put it back, then report again: {}; where another command is wanted, from the next run on, or the subtask is about the command itself, a person decides",
            Verb::Report
        ),
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
    if files.is_empty() {
        return finding;
    }
    let shown: Vec<Value> = files
        .iter()
        .take(MOST)
        .map(|file| Value::from(file.as_str()))
        .collect();
    finding
        .details
        .insert("files".to_owned(), Value::Array(shown));
    let more = files.len().saturating_sub(MOST);
    if more > 0 {
        finding.details.insert("more".to_owned(), more.into());
    }
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
) -> Result<Vec<RepoPath>, Fault> {
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
                .ok_or_else(|| fault!("bad_name.named_paths", name))
        })
        .collect()
}
