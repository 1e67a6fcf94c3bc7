//! What checks found before a run: what was there already counts for nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use journal::EvidenceStore;
use serde::{Deserialize, Serialize};
use workspace::checks::Check;
use workspace::process::find_program;
use workspace::runner::shim::Shim;

use super::ran::Place;
use super::rule_of;
use crate::capability::tests::evidence::nanos;
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
pub(super) fn set_up(check: &Check, root: &Path) -> SetUp {
    let mut parts = SetUp::from([("its command".to_owned(), check.line())]);
    if let Some(program) = &check.program {
        let place = program.strip_prefix(root).unwrap_or(program);
        parts.insert(place.display().to_string(), program_of(program));
    }
    for name in VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            parts.insert(format!("${name}"), value.to_string_lossy().into_owned());
        }
    }
    let settings = check.settings.iter();
    parts.extend(settings.map(|settings| (settings.file.clone(), settings.text.clone())));
    for part in parts.values_mut() {
        *part = journal::sha256_hex(part.as_bytes());
    }
    parts
}

/// Variables that have a tool, or what runs it, load or overlook something.
const VARIABLES: [&str; 8] = [
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "MYPYPATH",
    "GOFLAGS",
    "RUSTFLAGS",
    "CLIPPY_CONF_DIR",
    "ESLINT_USE_FLAT_CONFIG",
];

/// What runs a check, in words that change with it: its program, and what interprets that. A generated script is what it starts.
fn program_of(program: &Path) -> String {
    let shim = Shim::read(program);
    let program = shim.as_ref().map_or(program, |shim| &shim.program);
    let mut told = shim
        .as_ref()
        .map_or_else(String::new, |shim| shim.form.clone());
    told.push_str(&identity(program));
    let first = fs::read(program).unwrap_or_default();
    let first = first
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    if let Some(line) = first.strip_prefix(b"#!") {
        let line = String::from_utf8_lossy(line);
        let words = line.split_whitespace();
        for word in words.filter(|word| !word.starts_with('-')) {
            let place = find_program(word, Path::new("/"));
            told.extend(place.map(|place| identity(&place)));
        }
    }
    told
}

/// A program in words that change with it: a small one by its bytes, a large one by its length and its time.
fn identity(program: &Path) -> String {
    const SMALL: u64 = 4 * 1024 * 1024;
    let real = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let Ok(metadata) = fs::metadata(&real) else {
        return String::new();
    };
    let content = if metadata.len() <= SMALL {
        journal::sha256_hex(&fs::read(&real).unwrap_or_default())
    } else {
        let time = metadata.modified().ok().map(nanos);
        format!("{} {}", metadata.len(), time.unwrap_or_default())
    };
    let name = real.file_name().unwrap_or_default();
    format!("{} {content}\n", name.display())
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

    /// What a check found that was set up as it is now; none where it was not, or could not be run.
    pub(super) fn of_check(&self, name: &str, settings: &SetUp) -> Option<&FoundBefore> {
        let found = self.0.get(name)?;
        (found.is_known && found.settings == *settings).then_some(found)
    }

    /// What sets a check up in another way. One that could not be run is not missed where it can be now.
    pub(super) fn other_parts(&self, name: &str, settings: &SetUp) -> Vec<String> {
        let found = self.0.get(name).filter(|found| found.is_known);
        let Some(before) = found.map(|found| &found.settings) else {
            return Vec::new();
        };
        let parts: BTreeSet<&String> = before.keys().chain(settings.keys()).collect();
        let others = parts.into_iter();
        let others = others.filter(|part| before.get(*part) != settings.get(*part));
        others.cloned().collect()
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
