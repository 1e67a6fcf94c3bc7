//! What a run is pinned to when it begins.

use std::collections::BTreeMap;

use machine::command::Start;
use machine::definition::Literal;
use machine::{Command, Definition, RunState, Severity};
use serde_json::{Map, Value};
use workspace::config::{Policy, Severity as Setting, is_weaker};

use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::library::Source;

impl Engine {
    /// The start of a run by this definition, with the settings as they are now.
    pub(crate) fn pinned_start(
        &self,
        run: &str,
        definition: &Definition,
        source: Source,
        inputs: Map<String, Value>,
        keep: Map<String, Value>,
        items: Vec<(String, Vec<Map<String, Value>>)>,
    ) -> Command {
        let settings = self.settings.config.to_json();
        let config = definition
            .config
            .as_ref()
            .and_then(|section| settings.get(&section.value))
            .cloned()
            .unwrap_or(Value::Null);
        Command::Start(Box::new(Start {
            run: run.to_owned(),
            definition_hash: journal::sha256_hex(source.text.as_bytes()),
            definition: source.text,
            inputs,
            config,
            policy_hash: journal::sha256_hex(settings.to_string().as_bytes()),
            policies: self.policies(),
            settings,
            actor: self.actor.clone(),
            keep,
            items,
            approvals: self.least_approval(),
        }))
    }

    /// Refuses inputs that stand in place of a setting and are weaker than it: whoever begins a run may give it fewer tries
    /// and close gates, and not the other way round.
    pub(crate) fn no_weaker_than_settings(
        &self,
        definition: &Definition,
        inputs: &Map<String, Value>,
    ) -> Result<(), Fault> {
        for (input, given) in inputs {
            let Some(key) = definition.setting_of_input(input) else {
                continue;
            };
            let Some(setting) = self.settings.value(&key) else {
                continue;
            };
            if is_weaker(&key, &setting, given) {
                return Err(fault!("beyond_settings", key, setting, given)
                    .detail("key", key)
                    .detail("setting", setting));
            }
        }
        Ok(())
    }

    /// What an input is where nothing is given for it: what the definition writes, or the setting that it leaves it to.
    pub(crate) fn default_of_input(&self, definition: &Definition, input: &str) -> Option<Value> {
        match definition.inputs.get(input)?.default.as_ref()? {
            Literal::Value(value) => Some(value.clone()),
            Literal::Expression(_) => self.settings.value(&definition.setting_of_input(input)?),
        }
    }

    /// The severity of each policy, as a run is pinned to it.
    fn policies(&self) -> BTreeMap<String, Severity> {
        severities(&self.settings.config.evidence.policy)
    }
}

fn severities(policy: &Policy) -> BTreeMap<String, Severity> {
    let all = Policy::CODES.iter().filter_map(|code| {
        let severity = match policy.severity(code)? {
            Setting::Off => Severity::Off,
            Setting::Warn => Severity::Warn,
            Setting::Pause => Severity::Pause,
            Setting::Refuse => Severity::Refuse,
        };
        Some(((*code).to_owned(), severity))
    });
    all.collect()
}

/// The policies of a run, among those that its workflow checks, that let more pass than they do where nothing is set.
pub(crate) fn weaker_policies(
    run: &RunState,
    definition: &Definition,
) -> BTreeMap<String, Severity> {
    let lets_pass = |severity| match severity {
        Severity::Off => 2,
        Severity::Warn => 1,
        Severity::Pause | Severity::Refuse => 0,
    };
    let mut weaker = severities(&Policy::default());
    weaker.retain(|code, severity| {
        let usual = *severity;
        *severity = run.policies.get(code).copied().unwrap_or(usual);
        lets_pass(*severity) > lets_pass(usual) && definition.may_check(code)
    });
    weaker
}
