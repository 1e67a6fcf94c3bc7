//! Beginning a session.

use machine::GateMode;
use serde_json::{Map, Value};
use workspace::profile::Library;

use crate::capability::PROFILE;
use crate::capability::profile::session::profiles;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::view::SESSION;
use crate::view::session::answer::SessionState;
use crate::view::session::request::Init;
use crate::view::session::turn::MOST_ITERATIONS;

/// The profile of a session that names none.
pub(crate) const DEFAULT_PROFILE: &str = "generic";

impl Engine {
    /// Begins a session. Nothing of it runs yet: the first step asks for the plan.
    pub fn session_init(&self, init: &Init) -> Result<SessionState, Fault> {
        let workflow = self.startable_in(&SESSION, init.workflow.as_deref())?;
        let definition = &workflow.0;
        let mut inputs = Map::new();
        let profile = init.profile.as_deref().unwrap_or(DEFAULT_PROFILE);
        let values = Value::Object(init.inputs.clone());
        for (parameter, value) in [("name", profile.into()), ("values", values)] {
            let input = definition.bound_input(PROFILE, parameter);
            inputs.insert(input.unwrap_or_default().to_owned(), value);
        }
        for (gate, mode) in &init.gates {
            let input = definition.gate_input(gate);
            let Some(input) = input.filter(|_| GateMode::named(mode).is_some()) else {
                let gates = definition.gates.keys();
                let gates: Vec<&str> = gates
                    .filter(|gate| definition.gate_input(gate).is_some())
                    .collect();
                let (gates, modes) = (gates.join(", "), GateMode::words().join(" or "));
                return Err(fault!("usage.gate", gate, mode, gates, modes));
            };
            inputs.insert(input.to_owned(), mode.as_str().into());
        }
        if let Some(most) = init.max_iterations {
            if most == 0 {
                return Err(fault!("usage.session_init"));
            }
            let Some(input) = definition.input_for(MOST_ITERATIONS) else {
                return Err(fault!(
                    "usage.no_iterations",
                    workflow = definition.id.value
                ));
            };
            inputs.insert(input.to_owned(), most.into());
        }
        let started = self.start_called(workflow, inputs, init.name.as_deref())?;
        self.session_brief(Some(&started.run_id))
    }

    /// The profiles that there are.
    pub(crate) fn profiles(&self) -> Library<'_> {
        profiles(&self.settings)
    }
}
