//! Beginning a session.

use machine::Definition;
use machine::GateMode;
use serde_json::{Map, Value};
use workspace::profile::{Builtin, Library, Profile};

use crate::call::Input;
use crate::capability::PROFILE;
use crate::engine::Engine;
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::view::SESSION;
use crate::view::session::about;
use crate::view::session::answer::SessionState;
use crate::view::session::history;
use crate::view::session::request::Init;
use crate::view::session::turn::MOST_ITERATIONS;

/// The profile of a session that names none.
const DEFAULT_PROFILE: &str = "generic";

impl Engine {
    /// Begins a session. Nothing of it runs yet: the first step asks for the plan.
    pub fn session_init(&self, init: &Init) -> Result<SessionState, Fault> {
        let (definition, source) = self.startable_in(&SESSION, init.workflow.as_deref())?;
        let mut inputs = Map::new();
        let profile = init.profile.as_deref().unwrap_or(DEFAULT_PROFILE);
        let bound = |parameter| {
            definition
                .bound_input(PROFILE, parameter)
                .unwrap_or_default()
        };
        let (name, values) = (bound("name"), bound("values"));
        inputs.insert(name.to_owned(), profile.into());
        inputs.insert(values.to_owned(), Value::Object(init.inputs.clone()));
        for (gate, mode) in &init.gates {
            let Some(input) = definition.gate_input(gate) else {
                let message = match definition.gates.get(gate) {
                    None => format!("there is no gate `{gate}`"),
                    Some(_) => format!("no input says who decides at the gate `{gate}`"),
                };
                return Err(bad_gate(&definition, message));
            };
            if GateMode::named(mode).is_none() {
                let message = format!("the gate `{gate}` cannot be `{mode}`");
                return Err(bad_gate(&definition, message));
            }
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
        let started = self.start_called(definition, source, inputs, init.name.as_deref())?;
        let (dir, run) = self.session_seen(Some(&started.run_id))?;
        let call = self.call(&dir, &run, Input::None)?;
        let history = history::last(dir.path(), &call.definition)?;
        Ok(about::state(&call, &run, history))
    }

    /// The profile that is meant, with the values that it is given as it takes them. What a response is held to has to make
    /// sense before the first one comes.
    pub(crate) fn checked_profile(
        &self,
        name: Option<&Value>,
        values: Option<&Value>,
    ) -> Result<(Profile, Map<String, Value>), Fault> {
        let wanted = name
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty())
            .unwrap_or(DEFAULT_PROFILE);
        let profile = self.profiles().load(wanted)?;
        let given = match values {
            Some(Value::Object(values)) => values.clone(),
            _ => Map::new(),
        };
        let checked = profile.check_inputs(&given)?;
        crate::capability::profile::processing::check(&profile)?;
        Ok((profile, checked))
    }

    /// The profiles that there are.
    pub(crate) fn profiles(&self) -> Library<'_> {
        Library {
            project: &self.root,
            user: &self.settings.store,
            builtin: builtin_profiles(),
        }
    }
}

/// The profiles that come with the program.
pub(crate) fn builtin_profiles() -> Vec<Builtin<'static>> {
    workflows::builtin_profiles()
        .iter()
        .map(|profile| Builtin {
            name: profile.name,
            files: profile.files,
        })
        .collect()
}

fn bad_gate(definition: &Definition, message: String) -> Fault {
    let known: Vec<&str> = definition.gates.keys().collect();
    Fault::new(Kind::Usage, "usage", message).suggest(format!(
        "the gates are {}; each is {}",
        known.join(", "),
        GateMode::words().join(" or ")
    ))
}
