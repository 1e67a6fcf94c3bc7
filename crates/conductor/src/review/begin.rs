//! Beginning a session.

use project::config::Gate;
use project::profile::{self, Builtin, Profile};
use rails::Definition;
use rails::GateMode;
use serde_json::{Map, Value};

use super::about;
use super::answer::SessionState;
use super::history;
use super::request::Init;
use crate::call::Input;
use crate::capability::PROFILE;
use crate::conductor::Conductor;
use crate::fault::{Fault, Kind};
use crate::view::SESSION;

/// The profile of a session that names none.
const DEFAULT_PROFILE: &str = "generic";

impl Conductor {
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
            let input = format!("{gate}Gate");
            if definition.inputs.get(&input).is_none() || definition.gates.get(gate).is_none() {
                return Err(bad_gate(&definition, format!("there is no gate `{gate}`")));
            }
            if GateMode::named(mode).is_none() {
                let message = format!("the gate `{gate}` cannot be `{mode}`");
                return Err(bad_gate(&definition, message));
            }
            inputs.insert(input, mode.as_str().into());
        }
        if let Some(most) = init.max_iterations {
            if most == 0 {
                return Err(Fault::new(
                    Kind::Usage,
                    "bad_input",
                    "a session has at least one iteration",
                )
                .suggest("give 1 or more"));
            }
            inputs.insert("maxIterations".to_owned(), most.into());
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
        let profile = self.profile(wanted)?;
        let given = match values {
            Some(Value::Object(values)) => values.clone(),
            _ => Map::new(),
        };
        let checked = profile.check_inputs(&given)?;
        super::processing::check(&profile)?;
        Ok((profile, checked))
    }

    /// Refuses what is looser than the settings have it.
    pub(crate) fn no_looser_session(&self, inputs: &Map<String, Value>) -> Result<(), Fault> {
        self.no_gate_is_opened(inputs)?;
        match inputs.get("maxIterations").and_then(Value::as_u64) {
            Some(most) => self.within("review.maxIterations", most),
            None => Ok(()),
        }
    }

    /// Whoever begins a session may close gates that the settings leave open, and not the other way round.
    fn no_gate_is_opened(&self, inputs: &Map<String, Value>) -> Result<(), Fault> {
        let gates = &self.settings.config.review.gates;
        let gates = [
            ("plan", gates.plan),
            ("code", gates.code),
            ("review", gates.review),
        ];
        for (gate, mode) in gates {
            let wish = inputs.get(&format!("{gate}Gate")).and_then(Value::as_str);
            let least = match mode {
                Gate::Auto => GateMode::Auto,
                Gate::Human => GateMode::Human,
                Gate::Terminal => GateMode::Terminal,
                Gate::Signed => GateMode::Signed,
            };
            let Some(wish) = wish.and_then(GateMode::named).filter(|wish| *wish < least) else {
                continue;
            };
            return Err(Fault::new(
                Kind::Refused,
                "gate_required",
                format!(
                    "the settings have the gate `{gate}` as {}: it cannot be {}",
                    least.name(),
                    wish.name()
                ),
            )
            .suggest(format!(
                "leave it out; if it is meant to be open, a person changes `review.gates.{gate}` (`tm config show --origin` says where it is set)"
            ))
            .detail("gate", gate));
        }
        Ok(())
    }

    /// The profile of that name: the project's own, or a built-in one.
    pub(crate) fn profile(&self, name: &str) -> Result<Profile, Fault> {
        Ok(profile::load(&self.root, name, &builtin_profiles())?)
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
    Fault::new(Kind::Usage, "bad_gate", message).suggest(format!(
        "the gates are {}; each is {}",
        known.join(", "),
        GateMode::words().join(" or ")
    ))
}
