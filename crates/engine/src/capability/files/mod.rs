//! `files`: what lies in the run's folder, stored, reset, set aside and carried forward.

pub(crate) mod candidate;
pub(crate) mod code;
pub(crate) mod difference;
pub(crate) mod effects;
pub(crate) mod outside;
pub(crate) mod subject;

use machine::RunState;
use machine::check::catalog::{Effect, Resource};
use machine::state::Pending;
use serde_json::Value;

use crate::call::Call;
use crate::capability::files::subject::{CODE, PLAN};
use crate::capability::{Capability, FOLDER, passing};
use crate::fault::Fault;
use crate::support::{EffectRequest, HandlerError, Outcome};

pub(super) struct Files;

impl Capability for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn effects(&self) -> Vec<(&'static str, Effect)> {
        [
            "iteration.open",
            "plan.store",
            "plan.reset",
            "code.store",
            "code.reset",
            "response.aside",
        ]
        .map(|name| {
            let stores = matches!(name, "plan.store" | "code.store");
            let effect = Effect {
                takes_in: stores.then_some("response"),
                ..passing(&[FOLDER])
            };
            (name, effect)
        })
        .to_vec()
    }

    fn resources(&self) -> Vec<(&'static str, Resource)> {
        let folder = Resource {
            counts: true,
            ..Resource::default()
        };
        vec![(FOLDER, folder)]
    }

    fn subjects(&self) -> &'static [(&'static str, &'static str)] {
        &[(PLAN, FOLDER), (CODE, FOLDER)]
    }

    fn prepare(
        &self,
        call: &Call<'_>,
        asked: &EffectRequest<'_>,
        run: &RunState,
    ) -> Result<Value, HandlerError> {
        effects::prepare(call, asked, run)
    }

    fn perform(
        &self,
        call: &Call<'_>,
        run: &RunState,
        pending: &Pending,
    ) -> Result<Outcome, Fault> {
        effects::perform(call, run, pending)
    }
}
