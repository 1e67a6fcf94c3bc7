//! Beginning a run: the plan, and the start.

use std::path::{Path, PathBuf};

use std::sync::Arc;

use journal::layout::short_name;
use journal::layout::{ProjectDir, RunDir};
use machine::state::RunStatus;
use machine::{Command, Definition, RunState, Shared};
use serde::Serialize;
use serde_json::{Map, Value};
use workspace::convention::message::Kind as MessageKind;
use workspace::git::worktree;
use workspace::runner::adapter::runners_behind;

use crate::action::Precondition;
use crate::action::next::{Detail, next_action};
use crate::approval::Turn;
use crate::call::Input;
use crate::capability::git::effects::message::{MessageFields, compose, only_scope};
use crate::capability::git::read::preflight::{self, Planned};
use crate::capability::memory::{BASELINE, Memory, StartFacts};
use crate::capability::messages::{ran_in_place, unknown_runner, unnamed};
use crate::capability::tests::evidence;
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::evidence::verified::Suites;
use crate::capability::tests::read::few;
use crate::capability::{TASKS, checks};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::{RunHead, is_over_a_task, over_tasks};
use crate::generic::begin::Started;
use crate::integrity::is_bare;
use crate::library::Source;
use crate::next_step::{Argument, Verb};
use crate::open_run;
use crate::turn::turned;
use crate::view::autopilot::{kinds, request};
use crate::view::{AUTOPILOT, GENERIC, View};

/// The plan of a start: what it would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StartPlan {
    /// Always true.
    pub dry_run: bool,
    /// What the run would know: `taskId`, `taskTitle`, `tag`, `testCommand`, `testFramework`, `maxAttempts`, the subtasks that are
    /// `skipped` since they are done, or `leftOut` and why, and `warnings`.
    #[serde(flatten)]
    pub start: Map<String, Value>,
    /// Where the task comes from.
    pub source: String,
    /// The branch.
    pub branch: String,
    /// Whether the branch would be made, or is there.
    pub branch_exists: bool,
    /// The branch that the run would start from; none where HEAD is detached.
    pub from_branch: Option<String>,
    /// The checks that were made.
    pub checks: Vec<Precondition>,
    /// The subtasks in the order in which they would be run.
    pub subtasks: Vec<PlannedSubtask>,
}

/// One subtask of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedSubtask {
    /// Its dotted id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it waits for.
    pub dependencies: Vec<String>,
    /// The commit message it would get, as far as it is known now.
    pub commit_message: String,
}

/// What the call that begins a run over a task calls the wish to end the one that is under way.
const SUPERSEDE: Option<Argument> = Some(Argument("force"));

impl Engine {
    fn planned(&self, definition: &Definition, start: &request::Start) -> Result<Planned, Fault> {
        let belongs = |branch: &str, task: &str, tag: &str| -> bool {
            // Asked for only now: who was faster may have made the project's folder since, and then the branch.
            let project = self.stored().ok().flatten();
            let runs = project.and_then(|project| over_tasks(&project).ok());
            let mut runs = runs.into_iter().flatten();
            runs.any(|run| {
                let is_of_task = run.task.as_deref() == Some(task);
                let loaded = || open_run::load(run.dir.path()).ok();
                let loaded = is_of_task.then(loaded).flatten();
                let memory = loaded.and_then(|loaded| Memory::of(&loaded.run).ok());
                memory
                    .is_some_and(|memory| memory.start.branch == branch && memory.start.tag == tag)
            })
        };
        let mut planned = preflight::plan(
            &self.root,
            &self.settings,
            self.tag.as_deref(),
            start,
            &belongs,
        )?;
        kinds::are_known(definition, &planned.plan.runnable)?;
        let set = definition.bound_set(TASKS, "into").unwrap_or_default();
        set.clone_into(&mut planned.start.items);
        Ok(planned)
    }

    /// The suite as it is before a run. Nothing is locked meanwhile.
    fn baseline(&self, planned: &Planned, start: &request::Start) -> Result<TestEvidence, Fault> {
        let memory = memory_of(planned);
        let base = memory.last_oid()?;
        let suites = Suites {
            memory: &memory,
            config: &self.settings.config,
            reports: &start.reports,
            format: evidence::format_named(start.format.as_deref())?,
            cancelled: &self.cancellation(),
            run_dir: None,
        };
        self.with_suites((&memory, &base), None, || {
            suites.of_commit(&self.benches_folder()?, &base)
        })
    }

    /// A warning of tests whose names nobody sees, by the baseline, or of a command that leads to no runner that is known.
    fn unnamed(&self, planned: &Planned) -> Option<String> {
        if let Some(baseline) = &planned.baseline {
            let names_every = baseline.ledger().is_some_and(|ledger| ledger.every);
            return (!names_every).then(unnamed);
        }
        let known = runners_behind(&self.root, &planned.start.test_command);
        known.is_empty().then(unknown_runner)
    }

    /// What a start would do. Changes nothing.
    pub fn plan(&self, start: &request::Start) -> Result<StartPlan, Fault> {
        if let Some(project) = self.stored()?
            && !start.force
        {
            self.refuse_second(&project, SUPERSEDE)?;
        }
        let (definition, _) = self.startable_in(&AUTOPILOT, start.workflow.as_deref())?;
        let start = self.meant_start(&definition, start, &mut Map::new())?;
        let planned = self.planned(&definition, &start)?;
        let call = self.first_call(&self.root, Arc::new(definition));
        let memory = memory_of(&planned);
        let scope = only_scope(&call, &memory)?;
        let subtasks = planned
            .plan
            .runnable
            .iter()
            .map(|subtask| {
                let message = compose(
                    &call,
                    &memory,
                    &MessageFields {
                        subject: None,
                        id: &subtask.id,
                        title: &subtask.title,
                        description: &subtask.description,
                        tests: None,
                        lines: None,
                        kind: MessageKind::Subtask {
                            work: &subtask.kind,
                        },
                        files: &[],
                        scope: scope.as_deref(),
                    },
                )?;
                Ok(PlannedSubtask {
                    id: subtask.id.clone(),
                    title: subtask.title.clone(),
                    dependencies: subtask.dependencies.clone(),
                    commit_message: message.lines().next().unwrap_or_default().to_owned(),
                })
            })
            .collect::<Result<Vec<_>, Fault>>()?;
        let mut start = planned.start;
        start.warnings.extend(self.start_warnings()?);
        Ok(StartPlan {
            dry_run: true,
            start: start.named(&[
                "taskId",
                "taskTitle",
                "tag",
                "testCommand",
                "testFramework",
                "maxAttempts",
                "skipped",
                "leftOut",
                "warnings",
            ]),
            source: planned.source,
            branch: start.branch,
            branch_exists: start.branch_existed,
            from_branch: start.from_branch,
            checks: planned.checks,
            subtasks,
        })
    }

    /// Refuses to have a run go on beside another one. To be asked under the lock of the project.
    pub(crate) fn refuse_beside(&self, project: &ProjectDir, run: &RunState) -> Result<(), Fault> {
        match running(project)? {
            Some((_, own)) if own.run == run.run => Ok(()),
            _ => self.refuse_second(project, None),
        }
    }

    /// Refuses where a run is under way in this working tree, in this project or in one beside it.
    fn refuse_second(
        &self,
        project: &ProjectDir,
        supersede: Option<Argument>,
    ) -> Result<(), Fault> {
        let Some((run, at)) = self.running_here(project)? else {
            return Ok(());
        };
        let step = |verb: Verb| {
            let step = verb.step().of(&run.run);
            // One that has no view of its own is found by the verbs of any.
            match View::of(&run).only() {
                Some(_) => step,
                None => step.in_view(GENERIC.name),
            }
        };
        let (run, place) = (&run.run, at.display());
        let (go_on, abort) = (step(Verb::Next), step(Verb::Abort));
        let fault = match supersede {
            _ if at != self.root => fault!("run_active.beside", run, place, go_on),
            Some(option) => fault!("run_active.superseded", run, place, go_on, abort, option),
            None => fault!("run_active.here", run, place, go_on, abort),
        };
        Err(fault.detail("runId", run.as_str()))
    }

    /// A run over a task that goes on in this working tree, and where: in this project, or in another one.
    fn running_here(
        &self,
        project: &ProjectDir,
    ) -> Result<Option<(Shared<RunState>, PathBuf)>, Fault> {
        if let Some((_, run)) = running(project)? {
            return Ok(Some((run, self.root.clone())));
        }
        let Some(own) = worktree(&self.root) else {
            return Ok(None);
        };
        for root in self.known_projects() {
            if root != self.root
                && worktree(&root) == Some(own)
                && let Some(project) = self.home.find_project(&root)?
                && let Some((_, run)) = running(&project)?
            {
                return Ok(Some((run, root)));
            }
        }
        Ok(None)
    }

    /// Begins a run.
    pub fn start(&self, start: &request::Start) -> Result<Started, Fault> {
        let workflow = self.startable_in(&AUTOPILOT, start.workflow.as_deref())?;
        self.start_workflow(&AUTOPILOT, workflow, start, Map::new())
    }

    /// A start as it is meant: its paths from where the caller stands, and with as many tries as a run of this workflow has: those that
    /// are given, which `inputs` name then, or what its input has where nothing is given.
    fn meant_start(
        &self,
        definition: &Definition,
        start: &request::Start,
        inputs: &mut Map<String, Value>,
    ) -> Result<request::Start, Fault> {
        if start.max_attempts == Some(0) {
            return Err(fault!("usage.with_attempts"));
        }
        let input = definition
            .bound_input(TASKS, "attempts")
            .unwrap_or_default();
        if let Some(given) = start.max_attempts {
            inputs.insert(input.to_owned(), Value::from(given));
        }
        self.no_weaker_than_settings(definition, inputs)?;
        let most = || self.default_of_input(definition, input)?.as_u64();
        let reports = start.reports.iter().map(|report| self.cwd.join(report));
        Ok(request::Start {
            max_attempts: start.max_attempts.or_else(|| u32::try_from(most()?).ok()),
            plan: start.plan.as_ref().map(|plan| self.cwd.join(plan)),
            reports: reports.collect(),
            ..start.clone()
        })
    }

    /// Begins a run over a task, with these inputs beside it.
    pub(crate) fn start_workflow(
        &self,
        view: &'static View,
        workflow: (Definition, Source),
        start: &request::Start,
        mut inputs: Map<String, Value>,
    ) -> Result<Started, Fault> {
        let (definition, source) = &workflow;
        // A start that is refused is refused before anything is run, and leaves no folder behind.
        let start = &self.meant_start(definition, start, &mut inputs)?;
        self.profile_of(definition, &mut inputs)?;
        let stored = self.stored()?;
        if let Some(project) = stored.as_ref().filter(|_| !start.force || self.asks) {
            self.make_way(view, project, definition, start)?;
        }
        let before = (stored.is_none() || start.verify).then(|| self.planned(definition, start));
        let before = before.transpose()?;
        let baseline = before.as_ref().filter(|_| start.verify);
        let baseline = baseline.map(|planned| self.baseline(planned, start));
        let baseline = baseline.transpose()?;
        let checked = if checks::is_checking(definition) {
            self.checked_before()?
        } else {
            None
        };
        let project = self.home.project(&self.root)?;
        let lock = project.lock(self.wait(), &self.command)?;
        self.make_way(view, &project, definition, start)?;
        // It holds unless a suite took its time, or another start was faster.
        let is_first = || project.runs().is_ok_and(|runs| runs.is_empty());
        let mut planned = match before.filter(|_| !start.verify && is_first()) {
            Some(planned) => planned,
            None => self.planned(definition, start)?,
        };
        if !start.force
            && let Some(begun) =
                Self::begun_before(&project, source, &planned.start, baseline.is_some())?
        {
            drop(lock);
            let resumed = self.goes_on(view, &project, &begun)?;
            let run = resumed.run();
            return Ok(Started {
                run_id: run.run.clone(),
                workflow: run.workflow.clone(),
                branch: Some(planned.start.branch),
                baseline: None,
                warnings: planned.start.warnings,
                next_action: next_action(view, &resumed.writer.call, run, Detail::Given)?,
            });
        }
        (planned.baseline, planned.checked) = (baseline, checked);
        let id = definition.bound_input(TASKS, "id").unwrap_or_default();
        inputs.insert(id.to_owned(), planned.start.task_id.as_str().into());
        self.begin(view, &project, workflow, inputs, None, Some(&planned))
    }

    /// Ends the run that is under way where that is asked for and the start would not be refused; else refuses to begin beside it.
    fn make_way(
        &self,
        view: &View,
        project: &ProjectDir,
        definition: &Definition,
        start: &request::Start,
    ) -> Result<(), Fault> {
        if start.force
            && let Some((other, _)) = running(project)?
        {
            self.planned(definition, start)?;
            let writer = self.writer(&other, Input::None)?;
            let abort = Command::Abort {
                approval: self.approval_of_turn(&writer.open, &Turn::new(Verb::Abort, ""))?,
                flags: Map::new(),
            };
            turned(&AUTOPILOT, writer, &abort, |_| String::new())?;
        }
        self.refuse_second(project, SUPERSEDE.filter(|_| view.is_of_tasks))
    }

    /// What should be said of a run that begins so.
    pub(crate) fn warnings_of(
        &self,
        project: &ProjectDir,
        planned: &Planned,
    ) -> Result<Vec<String>, Fault> {
        let mut warnings = planned.start.warnings.clone();
        warnings.extend(Self::paused_before(project, &planned.start.task_id)?);
        warnings.extend(self.start_warnings()?);
        warnings.extend(self.unnamed(planned));
        if let Some(baseline) = &planned.baseline {
            warnings.extend(baseline.off_bench.as_deref().map(ran_in_place));
            if !baseline.fails_there.is_empty() {
                warnings.push(format!(
                    "These tests fail on the bench and pass in the working tree, so that nobody sees it when they break: {}; `tm bench run` shows what they lack, and the settings under `bench` give it to them",
                    few(&baseline.fails_there)
                ));
            }
        }
        Ok(warnings)
    }

    /// The run of this very start that stopped before its first unit, since something failed: a start that is repeated goes on with it.
    fn begun_before(
        project: &ProjectDir,
        source: &Source,
        start: &StartFacts,
        has_baseline: bool,
    ) -> Result<Option<RunDir>, Fault> {
        let definition = journal::sha256_hex(source.text.as_bytes());
        let is_same = |head: &RunHead| {
            let loaded = open_run::load(head.dir.path()).ok()?;
            let memory = Memory::of(&loaded.run).ok()?;
            let failed = loaded.run.pause.as_ref().is_some_and(|pause| !pause.person)
                && loaded.run.issues.is_empty()
                && loaded.run.definition_hash == definition
                && BASELINE.is_in(&loaded.run.kept) == has_baseline;
            let begun = &memory.start;
            let same = (&begun.task_id, &begun.tag, &begun.branch, &begun.head)
                == (&start.task_id, &start.tag, &start.branch, &start.head)
                && (&begun.source, &begun.planned, &begun.test_command)
                    == (&start.source, &start.planned, &start.test_command);
            (failed && same).then_some(())
        };
        let mut paused = over_tasks(project)?
            .into_iter()
            .filter(|run| run.status == "paused");
        Ok(paused.find(|run| is_same(run).is_some()).map(|run| run.dir))
    }

    /// What should be said of a run of the same task that somebody stopped: it may be meant.
    fn paused_before(project: &ProjectDir, task: &str) -> Result<Option<String>, Fault> {
        let paused = |run: &RunHead| run.status == "paused" && run.task.as_deref() == Some(task);
        Ok(over_tasks(project)?.into_iter().find(paused).map(|run| {
            let id = run.dir.id();
            let name = short_name(id);
            format!(
                "the run {name} of this task is paused; to go on with that one, abort this one and {resume}", resume = Verb::Resume.step().of(id))
        }))
    }

    /// Removes the folders of runs whose start was interrupted before anything was journalled, and what dead writers left in those of
    /// others, which nobody may write to again. To be called under the project's lock, so that no start is under way.
    pub(crate) fn sweep(project: &ProjectDir) {
        for id in project.runs().unwrap_or_default() {
            let Ok(dir) = project.run(&id) else {
                continue;
            };
            // Drafts and evidence of a run whose journal was lost are somebody's work.
            if is_bare(dir.path()) {
                // What cannot be removed is harmless: it is no run.
                let _ = std::fs::remove_dir_all(dir.path());
            } else {
                let _ = journal::derived::remove_dead_files(dir.path());
            }
        }
        // Of processes that were killed while they replaced a file.
        let mut folders = vec![project.path().to_owned(), project.path().join("tags")];
        let tags = std::fs::read_dir(&folders[1])
            .into_iter()
            .flatten()
            .flatten();
        folders.extend(tags.map(|entry| entry.path()));
        folders.extend(project.path().ancestors().nth(2).map(Path::to_owned));
        for folder in folders {
            let _ = journal::derived::remove_leftovers(&folder);
        }
    }
}

/// A run over a task that goes on in this project, by its journal: a file that could be made anew
/// decides nothing. A run without a task leaves the working tree alone, and bars nothing.
fn running(project: &ProjectDir) -> Result<Option<(RunDir, Shared<RunState>)>, Fault> {
    for id in project.runs()? {
        let dir = project.run(&id)?;
        if let Ok(loaded) = open_run::load(dir.path())
            && loaded.head.seq > 0
            && loaded.run.status == RunStatus::Running
            && is_over_a_task(&loaded.run)
        {
            return Ok(Some((dir, loaded.run)));
        }
    }
    Ok(None)
}

/// What a run that begins so knows.
fn memory_of(planned: &Planned) -> Memory {
    Memory {
        reports: Vec::new(),
        start: planned.start.clone(),
        dirty: planned.dirty.clone(),
        last_commit: planned.start.head.clone(),
    }
}
