//! Beginning a run: its resources are opened, then it is pinned to what holds now.

use std::fs;
use std::rc::Rc;
use std::sync::Arc;

use journal::layout::{ProjectDir, RunDir, RunStem, short_name};
use machine::{Definition, RunState, Shared};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use workspace::profile::Profile;

use crate::action::Action;
use crate::action::next::{Detail, next_action};
use crate::call::Input;
use crate::capability::documents::skills::Skills;
use crate::capability::git::effects;
use crate::capability::git::read::preflight::Planned;
use crate::capability::git::read::task_start;
use crate::capability::profile::processing;
use crate::capability::profile::session::{self, Session};
use crate::capability::tests::results::Counts;
use crate::capability::{COMMANDS, DOCUMENTS, PROFILE, TASKS};
use crate::clock::stamp;
use crate::engine::Engine;
use crate::fail_point;
use crate::fault;
use crate::fault::Fault;
use crate::generic::{inputs, messages};
use crate::library::Source;
use crate::next_step::Verb;
use crate::open_run::{CommandOutcome, OpenRun};
use crate::trust::{WORKFLOW_FILE, real};
use crate::turn::fault_with;
use crate::view::autopilot::request;
use crate::view::session::begin::DEFAULT_PROFILE;
use crate::view::{GENERIC, View};

/// A run that has begun.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct Started {
    /// The run.
    pub run_id: String,
    /// Its workflow.
    pub workflow: String,
    /// Its branch, where it works on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The tests as they were before it, where that was reported or looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Counts>,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What comes next.
    pub next_action: Action,
}

impl Serialize for Started {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let view = self.next_action.view;
        view.write(|json| Self::serialize(self, json), serializer)
    }
}

impl Engine {
    /// Begins a run of any workflow.
    pub fn run_start(&self, workflow: &str, inputs: Map<String, Value>) -> Result<Started, Fault> {
        let workflow = self.startable(workflow)?;
        inputs::check(&workflow.0, &inputs)?;
        if workflow.0.works_with(TASKS) {
            self.start_on_task(workflow, inputs)
        } else {
            self.start_called(workflow, inputs, None)
        }
    }

    /// Begins a run over the task that its inputs name.
    fn start_on_task(
        &self,
        workflow: (Definition, Source),
        inputs: Map<String, Value>,
    ) -> Result<Started, Fault> {
        let (definition, _) = &workflow;
        let bound = |parameter| definition.bound_input(TASKS, parameter).unwrap_or_default();
        let (id, most) = (bound("id"), bound("attempts"));
        let task = inputs.get(id).and_then(Value::as_str);
        let Some(task) = task.filter(|id| !id.is_empty()) else {
            let (workflow, value) = (&definition.id.value, format!("{id}=ID"));
            return Err(fault!("usage.start_on_task", workflow, id, value));
        };
        let attempts = inputs.get(most).map(|given| {
            let attempts = given.as_u64().and_then(|n| u32::try_from(n).ok());
            attempts.ok_or_else(|| fault!("usage.attempts", input = most, given))
        });
        let start = request::Start {
            task_id: Some(task.to_owned()),
            max_attempts: attempts.transpose()?,
            ..request::Start::default()
        };
        self.start_workflow(&GENERIC, workflow, &start, inputs)
    }

    /// Begins a run without a task, under this name where it is a session.
    pub(crate) fn start_called(
        &self,
        workflow: (Definition, Source),
        inputs: Map<String, Value>,
        name: Option<&str>,
    ) -> Result<Started, Fault> {
        let project = self.home.project(&self.root)?;
        let _lock = project.lock(self.wait(), &self.command)?;
        self.start_in(&project, workflow, inputs, name)
    }

    /// The same by a caller who has the project's lock.
    pub(crate) fn start_in(
        &self,
        project: &ProjectDir,
        workflow: (Definition, Source),
        inputs: Map<String, Value>,
        name: Option<&str>,
    ) -> Result<Started, Fault> {
        self.begin(&GENERIC, project, workflow, inputs, name, None)
    }
    /// Begins a run under the lock of its project: over `task`, where it has one. What it works with is opened; any of it may refuse, and
    /// then there is no run to begin. Where nothing was journalled nothing is left.
    pub(crate) fn begin(
        &self,
        view: &'static View,
        project: &ProjectDir,
        (definition, source): (Definition, Source),
        mut inputs: Map<String, Value>,
        name: Option<&str>,
        task: Option<&Planned>,
    ) -> Result<Started, Fault> {
        let profile = self.profile_of(&definition, &mut inputs)?;
        let skills = Self::skills_of(&definition, project, name)?;
        let id = &definition.id.value;
        let stem = match (task, &profile, &skills) {
            (Some(task), ..) => RunStem::task(&task.start.tag, &task.start.task_id)?,
            (_, Some(profile), _) => RunStem::session(id, name.unwrap_or(&profile.name))?,
            (_, _, Some(skills)) => RunStem::session(id, skills.name())?,
            _ => RunStem::workflow(id)?,
        };
        let warnings = match task {
            Some(task) => self.warnings_of(project, task)?,
            None => self.start_warnings()?,
        };
        inputs::check_unit_ids(&definition, &inputs)?;
        self.no_weaker_than_settings(&definition, &inputs)?;
        Self::sweep(project);
        if let Some(task) = task {
            project.tag(&task.start.tag)?;
        }
        let dir = project.create_run(&stem, &stamp(self.clock.millis()))?;
        fail_point::reach("start-after-folder");
        let pinned = (Arc::new(definition), source);
        let begun = self.journal_start(&dir, pinned.clone(), inputs, (task, profile, skills));
        let began = begun.as_ref().is_ok_and(|(run, _)| !run.run.is_empty());
        if !began {
            let _ = fs::remove_dir_all(dir.path());
        }
        let (run, done) = begun?;
        match done? {
            CommandOutcome::Moved(_) if !began => Err(Fault::bug("a start journalled nothing")),
            CommandOutcome::Moved(_) => {
                let call = self.call(&dir, &run, Input::None)?;
                let detail = match task {
                    Some(_) => Detail::Given,
                    None => Detail::Brief,
                };
                let baseline = task.and_then(|task| task.baseline.as_ref());
                Ok(Started {
                    run_id: run.run.clone(),
                    workflow: run.workflow.clone(),
                    baseline: baseline.map(|baseline| baseline.counts),
                    warnings,
                    next_action: next_action(view, &call, &run, detail)?,
                    branch: task.map(|task| task.start.branch.clone()),
                })
            }
            CommandOutcome::Refused(refusal) => {
                let said = messages::refusal(&run, &pinned.0, None, &refusal);
                Err(fault_with(&refusal, said))
            }
            CommandOutcome::EffectFailed {
                code,
                message,
                suggestion,
                ..
            } => Err(effects::fault(code, message, None)
                .suggest(format!(
                    "{}; the run {} is paused: {resume} tries again, {abort} ends it",
                    suggestion.unwrap_or_else(|| "mend what git says".to_owned()),
                    short_name(&run.run),
                    resume = Verb::Resume,
                    abort = Verb::Abort
                ))
                .recover(Verb::Resume)),
        }
    }

    /// Journals the beginning of a run in its folder: the run then, and what that came to.
    fn journal_start(
        &self,
        dir: &RunDir,
        (definition, source): (Arc<Definition>, Source),
        inputs: Map<String, Value>,
        (task, profile, skills): (Option<&Planned>, Option<Profile>, Option<Skills>),
    ) -> Result<(Shared<RunState>, Result<CommandOutcome, Fault>), Fault> {
        let mut call = self.first_call(dir.path(), Arc::clone(&definition));
        let (mut keep, mut items) = (Map::new(), Vec::new());
        if let Some(task) = task {
            let opened = task_start::open(task, dir.path())?;
            keep.extend(opened.keep);
            items.push((task.start.items.clone(), opened.items));
            call.looked_at(Rc::clone(&task.tree));
        }
        if let Some(profile) = profile {
            keep.extend(session::pin(&profile, dir.path())?);
            call.session = Some(Session::begun(profile));
        }
        if let Some(skills) = skills {
            keep.extend(skills.begin(&definition, dir.path())?);
            call.skills = Some(skills);
        }
        if definition.works_with(COMMANDS)
            && let Some(path) = &source.path
        {
            keep.extend(WORKFLOW_FILE.entry(&real(path))?);
        }
        let command = self.pinned_start(dir.id(), &definition, source, inputs, keep, items);
        let mut open = OpenRun::begin(dir.path(), definition, &self.command, &*self.clock)?;
        let done = open.command(&call, &command);
        Ok((std::mem::take(&mut open.run), done))
    }

    /// The profile that a run of `definition` is to have, with its values checked; none where it uses none.
    pub(crate) fn profile_of(
        &self,
        definition: &Definition,
        inputs: &mut Map<String, Value>,
    ) -> Result<Option<Profile>, Fault> {
        let (Some(name), Some(values)) = (
            definition.bound_input(PROFILE, "name"),
            definition.bound_input(PROFILE, "values"),
        ) else {
            return Ok(None);
        };
        let default = self.default_of_input(definition, name);
        let wanted = inputs.get(name).or(default.as_ref());
        let wanted = wanted
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty());
        let profile = self.profiles().load(wanted.unwrap_or(DEFAULT_PROFILE))?;
        let given = inputs.get(values).and_then(Value::as_object).cloned();
        // What a response is held to has to make sense before the first one comes.
        let checked = profile.check_inputs(&given.unwrap_or_default())?;
        processing::check(&profile)?;
        inputs.insert(name.to_owned(), profile.name.as_str().into());
        inputs.insert(values.to_owned(), Value::Object(checked));
        Ok(Some(profile))
    }

    /// The documents that a run of `definition` is to have; none where it uses none.
    pub(crate) fn skills_of(
        definition: &Definition,
        project: &ProjectDir,
        name: Option<&str>,
    ) -> Result<Option<Skills>, Fault> {
        if !definition.works_with(DOCUMENTS) {
            return Ok(None);
        }
        let name = match name {
            Some(name) => name.to_owned(),
            None => crate::view::collab::find::free_name(project)?,
        };
        Ok(Some(Skills::called(&name)))
    }
}
