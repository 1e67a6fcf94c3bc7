//! What a run is pinned to when it begins.

use std::collections::BTreeMap;

use rails::command::Start;
use rails::{Command, Definition, Severity};
use serde_json::{Map, Value};

use crate::conductor::Conductor;
use crate::fault::{Fault, Kind};
use crate::library::Source;

impl Conductor {
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

    /// Refuses a number of tries that is higher than the settings have it: whoever begins a run may give it fewer.
    pub(crate) fn within(&self, key: &str, given: u64) -> Result<(), Fault> {
        let most = self.settings.value(key).and_then(|most| most.as_u64());
        match most.filter(|most| given > *most) {
            None => Ok(()),
            Some(most) => Err(Fault::new(
                Kind::Refused,
                "beyond_settings",
                format!("{given} is more than `{key}` in the settings, {most}"),
            )
            .suggest(format!(
                "give {most} or fewer; if there are to be more, a person sets `{key}` in a file (`tm config show --origin` says where it comes from)"
            ))
            .detail("most", most)),
        }
    }

    /// The severity of each policy, as a run is pinned to it.
    fn policies(&self) -> BTreeMap<String, Severity> {
        use project::config::{Policy, Severity as Setting};
        let policy = &self.settings.config.evidence.policy;
        Policy::CODES
            .iter()
            .filter_map(|code| {
                let severity = match policy.severity(code)? {
                    Setting::Off => Severity::Off,
                    Setting::Warn => Severity::Warn,
                    Setting::Pause => Severity::Pause,
                    Setting::Refuse => Severity::Refuse,
                };
                Some(((*code).to_owned(), severity))
            })
            .collect()
    }
}
