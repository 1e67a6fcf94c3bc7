//! `files`: what lies in the run's folder, stored, reset, set aside and carried forward.

pub(crate) mod candidate;
pub(crate) mod code;
pub(crate) mod difference;
pub(crate) mod effects;
pub(crate) mod outside;
pub(crate) mod subject;

use machine::check::catalog::{Effect, Resource};

use crate::capability::files::subject::{CODE, PLAN};
use crate::capability::{Capability, EffectSteps, FOLDER, passing};

pub(super) struct Files;

impl Capability for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn effects(&self) -> Vec<(&'static str, Effect, EffectSteps)> {
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
            (name, effect, effects::STEPS)
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
}
