//! `tasks`: a task with its subtasks, and their status in the task file.

use rails::check::catalog::{Effect, Reader};
use rails::definition::FieldType::Strings;
use rails::state::Pending;
use rails::{Reading, Role, RunState};
use serde_json::Value;

use super::{Capability, lasting, passing, reader};
use crate::call::Call;
use crate::fault::Fault;
use crate::support::{Asked, Looked, No, Outcome};
use crate::tdd::{effects, readers};

pub(super) struct Tasks;

impl Capability for Tasks {
    fn name(&self) -> &'static str {
        "tasks"
    }

    fn readers(&self) -> Vec<(&'static str, Reader)> {
        vec![("preflight", reader(&[], &[("subtasks", Strings)]))]
    }

    fn effects(&self) -> Vec<(&'static str, Effect)> {
        vec![
            ("tag.switch", passing()),
            ("tag.restore", passing()),
            ("task.finish", lasting(&[])),
        ]
    }

    fn read(&self, call: &Call<'_>, _: &Role, _: &RunState, _: u32) -> Result<Reading, No> {
        readers::preflight::read(call)
    }

    fn prepare(&self, call: &Call<'_>, asked: &Asked<'_>, run: &RunState) -> Result<Value, No> {
        match asked.effect {
            "tag.switch" => effects::tag::prepare_switch(call, run),
            "tag.restore" => effects::tag::prepare_restore(call, run),
            "task.finish" => effects::finish::prepare(call, run),
            other => Err(self.has_no("effect", other).into()),
        }
    }

    fn perform(
        &self,
        call: &Call<'_>,
        run: &RunState,
        pending: &Pending,
    ) -> Result<Outcome, Fault> {
        match pending.name.as_str() {
            "tag.switch" | "tag.restore" => effects::tag::perform(run, pending),
            "task.finish" => effects::commit::perform(call, run, pending),
            other => Err(self.has_no("effect", other)),
        }
    }

    fn look(&self, call: &Call<'_>, run: &RunState, pending: &Pending) -> Result<Looked, Fault> {
        match pending.name.as_str() {
            "tag.switch" | "tag.restore" => Ok(Looked::NotDone),
            "task.finish" => effects::commit::look(call, run, pending),
            other => Err(self.has_no("effect", other)),
        }
    }
}
