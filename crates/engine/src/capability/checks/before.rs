//! What checks found before a run: what was there already counts for nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use journal::EvidenceStore;
use serde::{Deserialize, Serialize};
use workspace::checks::Check;
use workspace::process::find_program;
use workspace::runner::identity::deciding;
use workspace::runner::program::Program;

use super::ran::Place;
use super::rule_of;
use crate::fault::Fault;

/// What all checks of a project found, by their names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FindingsBefore(BTreeMap<String, FoundBefore>);

/// What one of them found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FoundBefore {
    /// What set it up then.
    settings: SetUp,
    /// Whether it could be run.
    is_known: bool,
    /// By file and rule how many there were.
    counts: BTreeMap<String, BTreeMap<String, usize>>,
}

/// What sets a check up, by hashes: its command, its program, variables, and files of settings.
type SetUp = BTreeMap<String, String>;

/// What sets a check up: it finds something else where that is another one.
fn set_up(check: &Check, root: &Path) -> SetUp {
    let hash = |text: &str| journal::sha256_hex(text.as_bytes());
    let mut parts = SetUp::from([("its command".to_owned(), hash(&check.line()))]);
    if let Some(program) = &check.program {
        let place = program.strip_prefix(root).unwrap_or(program);
        let found = Program::of(program, |name| {
            find_program(name, root).into_iter().collect()
        });
        parts.insert(place.display().to_string(), found.hash);
    }
    let variables = deciding(&std::env::vars_os().collect());
    let variables = variables.into_iter();
    parts.extend(variables.map(|(name, hash)| (format!("${name}"), hash)));
    let settings = check.settings.iter();
    parts.extend(settings.map(|settings| (settings.file.clone(), hash(&settings.text))));
    parts
}

impl FindingsBefore {
    /// Has all of them run on everything.
    pub(super) fn of(checks: &[Check], place: &Place<'_>) -> Result<Self, Fault> {
        let mut all = BTreeMap::new();
        for check in checks {
            let ran = place.run(check, &[])?;
            let mut found = FoundBefore {
                settings: set_up(check, place.root),
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

    /// What a check found; none where it could not be run.
    pub(super) fn of_check(&self, name: &str) -> Option<&FoundBefore> {
        self.0.get(name).filter(|found| found.is_known)
    }

    /// What sets a check up in another way. One that could not be run is not missed where it can be now.
    pub(super) fn other_parts(&self, check: &Check, root: &Path) -> Vec<String> {
        let Some(before) = self.of_check(&check.name).map(|found| &found.settings) else {
            return Vec::new();
        };
        let settings = set_up(check, root);
        let parts: BTreeSet<&String> = before.keys().chain(settings.keys()).collect();
        let others = parts.into_iter();
        let others = others.filter(|part| before.get(*part) != settings.get(*part));
        others.cloned().collect()
    }

    /// The checks that there were.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Forgets what is known of these checks.
    pub(super) fn forget(&mut self, checks: &BTreeMap<String, String>) {
        self.0.retain(|name, _| !checks.contains_key(name));
    }
}

impl FoundBefore {
    /// How many there were of a rule in a file.
    pub(super) fn number(&self, path: &str, rule: &str) -> usize {
        let of_rule = self.counts.get(path).and_then(|of_file| of_file.get(rule));
        of_rule.copied().unwrap_or(0)
    }
}
