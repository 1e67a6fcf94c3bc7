//! The checks before a run: each refusal has its own code, and says what to do.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use workspace::config::{Level, Settings};
use workspace::git::{Oid, RepoPath, Repository, TreeStatus};
use workspace::suite::{CommandLine, in_folder, missing_program};
use workspace::tasks::{CUT_CIRCLE, RunPlan, Task, TaskFile, TaskSource, circle, plan_run};

use crate::action::Precondition;
use crate::capability::checks::before::FindingsBefore;
use crate::capability::git::read::branch::branch_of;
use crate::capability::git::read::clean::{dirty, how_clean};
use crate::capability::git::read::ends_of;
use crate::capability::memory::{DirtyFile, Source, StartFacts};
use crate::capability::tests::evidence::TestEvidence;
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::next_step::{NextStep, Verb, argument};
use crate::view::autopilot::request;

/// A start that passed every check.
#[derive(Debug, Clone)]
pub struct Planned {
    /// What the run will know.
    pub start: StartFacts,
    /// What is dirty now.
    pub dirty: BTreeMap<RepoPath, DirtyFile>,
    /// Its subtasks, sorted.
    pub plan: RunPlan,
    /// Where it comes from, for people.
    pub source: String,
    /// The checks that were made.
    pub checks: Vec<Precondition>,
    /// The suite as it was before, if somebody reported it.
    pub baseline: Option<TestEvidence>,
    /// What checks found before, where there are any that may be run.
    pub checked: Option<FindingsBefore>,
    /// The working tree as it was looked at.
    pub tree: Rc<TreeStatus>,
}

/// A branch's owner among earlier runs: whether one of the same task made it.
pub type BelongsTo<'a> = &'a dyn Fn(&str, &str, &str) -> bool;

/// Makes every check, and changes nothing.
pub fn plan(
    root: &Path,
    settings: &Settings,
    tag: Option<&str>,
    request: &request::Start,
    belongs: BelongsTo<'_>,
) -> Result<Planned, Fault> {
    let config = &settings.config;
    if !config.autopilot.enabled {
        return Err(fault!("beyond_settings.autopilot_disabled"));
    }
    let mut checks = Vec::new();
    let repository = Repository::discover(root)?.with_scope(root);
    let status = repository.status()?;
    let (head, from_branch) = git_is_ready(&repository, &status)?;
    check(
        &mut checks,
        "git",
        match &from_branch {
            Some(branch) => format!("`{branch}` at {}", head.short()),
            None => format!("{}, on no branch (HEAD is detached)", head.short()),
        },
    );

    let tag = workspace::tasks::resolve_tag(root, tag)?;
    let source = source_of(root, request)?;
    crate::links::stays_inside(&repository, root, request)?;
    let tasks = source.open(root, &tag)?;
    let task_id = task_id(request, &source, &*tasks)?;
    let mut task = tasks.load_task(&task_id)?;
    let mut plan = planned(&task)?;
    let waiting = tasks.check_dependencies(&task)?;
    if !waiting.unmet.is_empty() {
        let told: Vec<String> = waiting
            .unmet
            .iter()
            .map(|unmet| match &unmet.status {
                Some(status) => format!("{} ({status})", unmet.id),
                None => format!("{} (does not exist)", unmet.id),
            })
            .collect();
        let fault = fault!("needs_unmet.task", task = task.id, told = told.join(", "));
        return Err(in_circle(fault, root, &tag, &task.id).detail("unmet", told));
    }
    check(&mut checks, "task", to_do(&plan, &task));

    let tasks_path = tasks
        .path()
        .and_then(|path| std::fs::canonicalize(path).ok())
        .and_then(|path| repository.relative(&path));
    let mut start = StartFacts {
        max_attempts: request
            .max_attempts
            .unwrap_or(config.autopilot.max_green_attempts)
            .max(1),
        task_id: task.id.clone(),
        task_title: task.title.clone(),
        tag: tag.clone(),
        head: head.to_string(),
        from_commit: from_branch.is_none().then(|| head.to_string()),
        from_branch,
        source,
        tasks_path,
        top_level: repository.top_level().to_owned(),
        git_dir: repository.git_dir().to_owned(),
        common_dir: repository.common_dir().to_owned(),
        project_root: root.to_owned(),
        ..StartFacts::default()
    };
    for id in &waiting.in_review {
        start
            .warnings
            .push(format!("task {id} is in review: it counts as done"));
    }
    if repository.top_level().join(".gitmodules").exists() {
        let absent = repository.absent_submodules(&head)?;
        start.warnings.extend(absent.iter().map(|path| {
            format!(
                "the submodule {path} is not checked out: `git submodule update --init` does it"
            )
        }));
    }
    let dirty = dirty(&repository, &status, &start, settings, request)?;
    let clean = how_clean(&dirty, &status, &mut start);
    check(&mut checks, "tree_clean", clean);
    test_command(root, settings, request.test_command.as_deref(), &mut start)?;
    check(&mut checks, "tests", start.test_command.clone());
    let identity = repository.identity()?;
    check(
        &mut checks,
        "identity",
        format!("{} <{}>", identity.name, identity.email),
    );
    branch_of(&repository, settings, request, &mut start, belongs)?;
    if let Some(there) = on_the_branch_taken_over(&repository, &head, &start, &*tasks)? {
        task = there.load_task(&start.task_id)?;
        plan = planned(&task).map_err(|fault| on_the_branch(fault, &start.branch))?;
        if let Some(of_task) = checks.iter_mut().find(|check| check.id == "task") {
            of_task.detail = to_do(&plan, &task);
        }
    }
    start.source.pin(&task);
    let ids = plan.runnable.iter().map(|subtask| subtask.id.clone());
    start.planned = ids.collect();
    start.implicit = task.subtasks.iter().any(|subtask| subtask.implicit);
    start.skipped = plan
        .skipped
        .iter()
        .map(|subtask| subtask.id.clone())
        .collect();
    start.left_out = plan.left_out.iter().map(ToString::to_string).collect();
    start
        .warnings
        .extend(plan.warnings.iter().map(ToString::to_string));
    check(
        &mut checks,
        "branch",
        if start.branch_existed {
            format!(
                "`{}` is there, from an earlier run of this task",
                start.branch
            )
        } else {
            format!("`{}` will be made", start.branch)
        },
    );
    Ok(Planned {
        start,
        dirty,
        plan,
        source: tasks.describe(),
        checks,
        baseline: None,
        checked: None,
        tree: Rc::new(status),
    })
}

/// The fault of a plan that was made from what a branch says.
fn on_the_branch(fault: Fault, branch: &str) -> Fault {
    if fault.code != "all_done" {
        return fault;
    }
    fault!("all_done", message = fault.message, branch)
}

/// The fault, with the circle that the task waits for, where there is one.
fn in_circle(fault: Fault, root: &Path, tag: &str, task: &str) -> Fault {
    let tasks = TaskFile::in_project(root, tag).and_then(|file| file.load_tasks());
    match tasks.ok().and_then(|(tasks, _)| circle(&tasks, Some(task))) {
        Some(circle) => {
            let message = format!(
                "{}; they wait for each other: {}",
                fault.message,
                circle.join(" -> ")
            );
            Fault { message, ..fault }.suggest(CUT_CIRCLE)
        }
        None => fault,
    }
}

/// What a run of the task does, as far as the task itself says it.
pub(crate) fn planned(task: &Task) -> Result<RunPlan, Fault> {
    plain_id(&task.id)?;
    let plan = plan_run(task)?;
    for subtask in &plan.runnable {
        plain_id(&subtask.id)?;
    }
    Ok(plan)
}

fn to_do(plan: &RunPlan, task: &Task) -> String {
    let of = task.subtasks.len();
    let s = if of == 1 { "" } else { "s" };
    format!("{} of {of} subtask{s} to do", plan.runnable.len())
}

/// The tasks as they stand on the branch of an earlier run, where that is not what stands here: what
/// that run did is done there, and need not be so on the branch that this one starts from.
fn on_the_branch_taken_over(
    repository: &Repository,
    here: &Oid,
    start: &StartFacts,
    tasks: &dyn TaskSource,
) -> Result<Option<Box<dyn TaskSource>>, Fault> {
    let Some(path) = &start.tasks_path else {
        return Ok(None);
    };
    if !start.branch_existed || start.from_branch.as_ref() == Some(&start.branch) {
        return Ok(None);
    }
    let tip: Oid = start
        .head
        .parse()
        .map_err(|_| Fault::bug("the tip of a branch is no commit id"))?;
    if !repository.changed_paths(here, &tip)?.contains(path) {
        return Ok(None);
    }
    Ok(repository
        .file_at(&tip, path)?
        .and_then(|text| tasks.as_of(text)))
}

/// The commit that a run would begin from, and the branch that is checked out, if one is.
pub(crate) fn git_is_ready(
    repository: &Repository,
    status: &TreeStatus,
) -> Result<(Oid, Option<String>), Fault> {
    if let Some(operation) = repository.operation_under_way()? {
        return Err(fault!(
            "operation_under_way.git_is_ready",
            operation,
            ends = ends_of(operation)
        ));
    }
    if let Some(path) = status.unmerged.first() {
        return Err(fault!("operation_under_way.unmerged_git_is_ready", path));
    }
    let Some(head) = status.head.clone() else {
        return Err(fault!(
            "no_commits.at_start",
            add = NextStep::git(["add", "--all"]),
            commit = NextStep::git(["commit", "--message", "Initial commit"])
        ));
    };
    Ok((head, status.branch.clone()))
}

fn source_of(root: &Path, request: &request::Start) -> Result<Source, Fault> {
    match (&request.plan, &request.title) {
        (Some(_), Some(_)) => Err(fault!("usage.source_of")),
        (Some(path), None) => {
            let path = if path.is_absolute() {
                path.clone()
            } else {
                root.join(path)
            };
            match std::fs::canonicalize(&path) {
                Ok(path) => Ok(Source::plan(path)),
                Err(_) => Err(no_plan(&path)),
            }
        }
        (None, Some(title)) => Ok(Source::Inline {
            title: title.clone(),
            subtasks: request.subtasks.clone(),
        }),
        (None, None) if !request.subtasks.is_empty() => Err(fault!("usage.subtask_without_title")),
        (None, None) => Ok(Source::Tasks),
    }
}

/// The fault of a plan that is no file.
fn no_plan(path: &Path) -> Fault {
    let given = path.to_string_lossy();
    if given.contains('\n') {
        return fault!("bad_name.no_plan");
    }
    fault!("tasks_missing.plan", given)
}

fn task_id(
    request: &request::Start,
    source: &Source,
    tasks: &dyn TaskSource,
) -> Result<String, Fault> {
    if let Some(id) = &request.task_id {
        return Ok(id.clone());
    }
    match source {
        Source::Tasks => Err(fault!("usage.task_id")),
        Source::Plan { .. } | Source::Inline { .. } => tasks
            .task_statuses()?
            .keys()
            .next()
            .cloned()
            .ok_or_else(|| fault!("not_found.unknown_task", source = tasks.describe())),
    }
}

/// Ids stand bare in commands, file names and branch names.
fn plain_id(id: &str) -> Result<(), Fault> {
    let plain = !id.is_empty()
        && id.len() <= 100
        && !id.starts_with(['-', '.'])
        && !id.contains("..")
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    if plain {
        return Ok(());
    }
    Err(fault!("bad_name.bad_id", value = format!("{id:?}")))
}

/// Takes in how the project at `root` is tested, by its settings and its files, or by what is `given` for this run where its settings say
/// nothing.
pub(crate) fn test_command(
    root: &Path,
    settings: &Settings,
    given: Option<&str>,
    start: &mut StartFacts,
) -> Result<(), Fault> {
    let test = &settings.config.test;
    let found = workspace::runner::detect(root, &test.runner).map_err(|error| {
        Fault::new(Kind::Environment, "config_invalid", error.to_string())
            .suggest(error.suggestion())
    })?;
    if let Some(setup) = &found.setup {
        start.test_command.clone_from(&setup.command);
        start.test_framework.clone_from(&setup.framework);
        start.test_patterns.clone_from(&setup.patterns);
    } else {
        "unknown".clone_into(&mut start.test_framework);
    }
    if let Some(given) = given {
        may_be_given(settings, given)?;
        given.trim().clone_into(&mut start.test_command);
    } else if let Some(command) = &test.command {
        start.test_command.clone_from(command);
    } else {
        start
            .warnings
            .extend(found.notes.iter().map(ToString::to_string));
    }
    if start.test_command.trim().is_empty() {
        return Err(no_test_command(root));
    }
    if let Err(error) = CommandLine::parse(&start.test_command) {
        return Err(refused(
            "config_invalid",
            error.to_string(),
            error.suggestion(),
        ));
    }
    if let Some(program) = missing_program(&start.test_command, root) {
        start.warnings.push(format!(
            "`{program}`, which the test command `{}` calls, is not there: install it, or set test.command in .taskmaster/config.json; a run that began with it is ended first ({}). Until then tests are reported by numbers or by a file",
            start.test_command,
            Verb::Abort
        ));
    }
    start.test_definition =
        workspace::runner::definition::command_definition(root, &start.test_command)
            .map(|definition| definition.text);
    if test.patterns.is_empty() {
        // Without a runner that is known, the conventions of all languages count.
        if start.test_patterns.is_empty() {
            let all = workspace::convention::paths::default_test_patterns();
            start.test_patterns = all.map(str::to_owned).collect();
        }
        let definition = start.test_definition.as_deref();
        let named = workspace::runner::tests_named(root, &start.test_command, definition);
        start.test_patterns.extend(named);
    } else {
        start.test_patterns.clone_from(&test.patterns);
    }
    if let Some(pattern) = &test.targeted_run_pattern
        && !start.test_patterns.contains(pattern)
    {
        start.test_patterns.insert(0, pattern.clone());
    }
    Ok(())
}

/// The command that names a test command for all runs of a project.
fn setting_command(command: &str) -> NextStep {
    NextStep::shell(["tm", "config", "set", "test.command", command])
}

/// Refuses a test command for one run where the settings decide: they name another one, or have it run unasked, which a person has
/// to trust first.
fn may_be_given(settings: &Settings, given: &str) -> Result<(), Fault> {
    let config = &settings.config;
    let set = setting_command(given);
    match &config.test.command {
        Some(command) if command != given.trim() => {
            Err(fault!("beyond_settings.may_be_given", command, set))
        }
        None if config.evidence.require >= Level::Ran => {
            Err(fault!("beyond_settings.suite_unasked", set))
        }
        _ => Ok(()),
    }
}

/// The refusal where no test command is found: with the projects that lie below, if there are some.
fn no_test_command(root: &Path) -> Fault {
    let (found, suggestion) = without_test_command(root);
    let message = format!("no test command was found in {}", root.display());
    let fault = refused("no_test_command", message, suggestion);
    match found {
        Some(found) => fault.detail("found", found),
        None => fault,
    }
}

/// What may be meant where no test command is found, and what to do then.
pub(crate) fn without_test_command(root: &Path) -> (Option<String>, String) {
    const FEW: usize = 5;
    let below = workspace::runner::projects_below(root, FEW);
    let found = below.first();
    let found = found.map(|(folder, setup)| in_folder(folder, &setup.command));
    let set = format!(
        "name it for the project, such as {}; or for one run: {}",
        setting_command(found.as_deref().unwrap_or("npm test")),
        argument!("testCommand")
    );
    let suggestion = match below.len() {
        0 => set,
        1 => format!("{set}, for the project in that folder"),
        _ => {
            let folders: Vec<&str> = below.iter().map(|(folder, _)| folder.as_str()).collect();
            format!(
                "{set}, for one of the projects here: {}",
                folders.join(", ")
            )
        }
    };
    (found, suggestion)
}

fn check(checks: &mut Vec<Precondition>, id: &str, detail: impl Into<String>) {
    checks.push(Precondition {
        id: id.to_owned(),
        holds: Some(true),
        detail: detail.into(),
    });
}

pub(crate) fn refused(
    code: &str,
    message: impl Into<String>,
    suggestion: impl Into<String>,
) -> Fault {
    Fault::new(Kind::Refused, code, message).suggest(suggestion)
}

#[cfg(test)]
mod tests {
    use super::plain_id;

    #[test]
    fn an_id_may_stand_bare_in_commands_and_names() {
        let long = "1".repeat(101);
        for id in ["", "-1", ".1", "1..2", "1 2", "a/b", &long] {
            assert!(plain_id(id).is_err(), "{id}");
        }
        for id in ["1", "1.2", "HAM-7", &long[1..]] {
            assert!(plain_id(id).is_ok(), "{id}");
        }
    }
}
