//! What checks found before a run: what was there already counts for nobody.

use std::collections::BTreeMap;
use std::path::Path;

use journal::EvidenceStore;
use serde::{Deserialize, Serialize};
use workspace::checks::Check;

use super::ran::Place;
use super::rule_of;
use crate::fault::Fault;

/// What all checks of a project found, by their names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FindingsBefore(BTreeMap<String, FoundBefore>);

/// What one of them found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FoundBefore {
    /// What set it up then, in one name.
    settings: String,
    /// Whether it could be run.
    is_known: bool,
    /// By file and rule how many there were.
    counts: BTreeMap<String, BTreeMap<String, usize>>,
}

/// What sets a check up, in one name: it finds something else where that is another one.
pub(super) fn set_up(check: &Check) -> String {
    let mut told = check.line();
    for settings in &check.settings {
        told = format!("{told}\n{}\n{}", settings.file, settings.text);
    }
    journal::sha256_hex(told.as_bytes())
}

impl FindingsBefore {
    /// Has all of them run on everything.
    pub(super) fn of(checks: &[Check], place: &Place<'_>) -> Result<Self, Fault> {
        let mut all = BTreeMap::new();
        for check in checks {
            let ran = place.run(check, &[])?;
            let mut found = FoundBefore {
                settings: set_up(check),
                is_known: ran.broken.is_none(),
                counts: BTreeMap::new(),
            };
            for finding in &ran.findings {
                let of_file = found.counts.entry(finding.path.to_string()).or_default();
                *of_file.entry(rule_of(finding).to_owned()).or_default() += 1;
            }
            all.insert(check.name.clone(), found);
        }
        Ok(Self(all))
    }

    /// Keeps it among the evidence of a run; its hash.
    pub(crate) fn keep(&self, dir: &Path) -> Result<String, Fault> {
        let bytes = serde_json::to_vec(self)
            .map_err(|error| Fault::bug(format!("what checks found is no JSON: {error}")))?;
        Ok(EvidenceStore::new(dir).put(&bytes)?)
    }

    /// That of this hash.
    pub(super) fn read(dir: &Path, hash: &str) -> Result<Self, Fault> {
        let bytes = EvidenceStore::new(dir).get(hash)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| Fault::bug(format!("what checks found before is damaged: {error}")))
    }

    /// What a check found that was set up as it is now; none where it was not, or could not be run.
    pub(super) fn of_check(&self, name: &str, settings: &str) -> Option<&FoundBefore> {
        let found = self.0.get(name)?;
        (found.is_known && found.settings == settings).then_some(found)
    }

    /// Whether a check was set up otherwise.
    pub(super) fn was_other(&self, name: &str, settings: &str) -> bool {
        self.0
            .get(name)
            .is_some_and(|found| found.settings != settings)
    }

    /// The checks that there were.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The same without what is known of these checks.
    pub(super) fn without(&self, names: &[String]) -> Self {
        let mut rest = self.clone();
        rest.0.retain(|name, _| !names.contains(name));
        rest
    }
}

impl FoundBefore {
    /// How many there were of a rule in a file.
    pub(super) fn number(&self, path: &str, rule: &str) -> usize {
        let of_file = self.counts.get(path);
        of_file
            .and_then(|of_file| of_file.get(rule))
            .copied()
            .unwrap_or(0)
    }
}
