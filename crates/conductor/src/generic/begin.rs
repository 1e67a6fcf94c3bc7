//! Beginning a run.

use std::sync::Arc;

use journal::layout::{ProjectDir, RunStem};
use project::profile::Profile;
use rails::{Definition, Refusal, RunState};
use serde_json::{Map, Value};

use super::answer::RunStarted;
use super::hands::{Hands, hands};
use super::{inputs, view, words};
use crate::call::Input;
use crate::clock::stamp;
use crate::collab::Skills;
use crate::conductor::Conductor;
use crate::engine::{Done, OpenRun};
use crate::fail_point;
use crate::fault::{Fault, Kind};
use crate::library::Source;
use crate::review::{self, Session};

/// What a run that begins brings along.
pub(crate) enum Of<'a> {
    /// Nothing.
    Nothing,
    /// A profile: it is a session.
    Session(&'a Profile),
    /// A name: it is a session of skills.
    Skills(&'a Skills),
}

impl Conductor {
    /// Begins a run of any workflow.
    pub fn run_start(
        &self,
        workflow: &str,
        inputs: Map<String, Value>,
    ) -> Result<RunStarted, Fault> {
        let (definition, source) = self.startable(workflow)?;
        inputs::check(&definition, &inputs)?;
        match hands(&definition) {
            Hands::Task => self.start_on_task(workflow, inputs),
            Hands::Session => self.start_session(definition, source, inputs),
            Hands::Plain => {
                let stem = RunStem::workflow(&definition.id.value)?;
                self.start_plain(definition, source, inputs, &stem, None)
            }
            Hands::Skills => self.start_skills(definition, source, inputs),
        }
    }

    pub(crate) fn start_plain(
        &self,
        definition: Definition,
        source: Source,
        inputs: Map<String, Value>,
        stem: &RunStem,
        profile: Option<&Profile>,
    ) -> Result<RunStarted, Fault> {
        let project = self.home.project(&self.root)?;
        let _lock = project.lock(self.wait(), &self.command)?;
        let of = profile.map_or(Of::Nothing, Of::Session);
        self.start_in(&project, definition, source, inputs, stem, &of)
    }

    /// The same by a caller who has the project's lock.
    pub(crate) fn start_in(
        &self,
        project: &ProjectDir,
        definition: Definition,
        source: Source,
        inputs: Map<String, Value>,
        stem: &RunStem,
        of: &Of<'_>,
    ) -> Result<RunStarted, Fault> {
        inputs::check_unit_ids(&definition, &inputs)?;
        Self::sweep(project);
        let dir = project.create_run(stem, &stamp(self.clock.millis()))?;
        fail_point::reach("start-after-folder");
        let keep = match of {
            Of::Session(profile) => review::pin(profile, dir.path())?,
            Of::Skills(skills) => skills.begin(dir.path())?,
            Of::Nothing => Map::new(),
        };
        let command = self.pinned_start(dir.id(), &definition, source, inputs, keep);
        let definition = Arc::new(definition);
        let mut call = self.first_call(dir.path(), Arc::clone(&definition), Input::None);
        match of {
            Of::Session(profile) => {
                call.session = Some(Session::begun((*profile).clone(), self));
            }
            Of::Skills(skills) => call.skills = Some((*skills).clone()),
            Of::Nothing => {}
        }
        let mut open = OpenRun::begin(
            dir.path(),
            Arc::clone(&definition),
            &self.command,
            &*self.clock,
        )?;
        let done = open.command(&call, &command);
        let run = std::mem::take(&mut open.run);
        drop(open);
        if run.run.is_empty() {
            // Nothing was journalled, so nothing began.
            let _ = std::fs::remove_dir_all(dir.path());
        }
        match done? {
            Done::Moved(_) if !run.run.is_empty() => Ok(RunStarted {
                run_id: run.run.clone(),
                workflow: run.workflow.clone(),
                branch: None,
                warnings: self.start_warnings()?,
                next_action: view::next_action(&run, &definition),
            }),
            Done::Moved(_) => Err(Fault::bug("a start journalled nothing")),
            Done::Refused(refusal) => Err(not_begun(&definition, &refusal)),
            Done::EffectFailed { code, message, .. } => {
                Err(Fault::new(Kind::Environment, code, message))
            }
        }
    }
}

fn not_begun(definition: &Definition, refusal: &Refusal) -> Fault {
    let said = words::refusal(&RunState::default(), definition, None, refusal);
    let kind = match refusal.code.as_str() {
        "unknown_input" | "bad_input" => Kind::Usage,
        _ => Kind::Refused,
    };
    let mut fault = Fault::new(kind, refusal.code.clone(), said.message).suggest(said.suggestion);
    fault.details.clone_from(&refusal.details);
    fault
}
