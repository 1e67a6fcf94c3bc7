//! Whether what is kept of a run is what was written: its journal in its own folder, and the evidence that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use journal::layout::{RunDir, short_name};
use journal::{EvidenceStore, Record};
use machine::{Event, RunState};
use serde::Serialize;
use serde_json::Value;

use crate::capability::files::subject::GONE;
use crate::capability::profile::session::code_path;
use crate::fault;
use crate::fault::Fault;
use crate::generic::files;

/// Files that are written after the first event was journalled, and never before.
const AFTER_THE_FIRST_EVENT: [&str; 7] = [
    "manifest.json",
    "state.json",
    "snapshot.json",
    "work-units.json",
    "commits.txt",
    "workflow.yaml",
    "report.json",
];

/// Whether files beside an empty or missing journal show that its run had begun.
pub(crate) fn has_begun(dir: &Path) -> bool {
    AFTER_THE_FIRST_EVENT
        .iter()
        .any(|name| dir.join(name).exists())
}

/// Whether a run's folder holds nothing but what a start makes before the first event.
pub(crate) fn is_bare(dir: &Path) -> bool {
    let of_a_start = |name: &str, path: &Path| match name {
        "lock" | "steps.lock" | "export.lock" | "evidence" => true,
        "documents" => fs::read_dir(path).is_ok_and(|mut inside| inside.next().is_none()),
        "activity.jsonl" => {
            fs::symlink_metadata(path).is_ok_and(|about| about.is_file() && about.len() == 0)
        }
        _ => name.starts_with(".tramline-"),
    };
    let Ok(mut entries) = fs::read_dir(dir) else {
        return true;
    };
    entries.all(|entry| {
        entry.is_ok_and(|entry| {
            entry
                .file_name()
                .to_str()
                .is_some_and(|name| of_a_start(name, &entry.path()))
        })
    })
}

/// The fault of a run without a single event.
pub(crate) fn never_began(dir: &RunDir) -> Fault {
    if is_bare(dir.path()) {
        return fault!("no_run.never_began", run = dir.id());
    }
    emptied(dir.path())
}

/// The fault of a journal that was emptied, or is gone, beside what its run had made.
pub(crate) fn emptied(dir: &Path) -> Fault {
    fault!(
        "journal_damaged.emptied",
        journal = dir.join(journal::file::FILE_NAME).display(),
        gives_up = gives_up(dir)
    )
}

/// The way on from a run of whose journal nothing can be kept.
fn gives_up(dir: &Path) -> String {
    let name = short_name(&dir.file_name().unwrap_or_default().to_string_lossy());
    format!("`tm log repair {name}` gives the run up and keeps its folder aside; then begin anew")
}

/// Refuses a journal that lies in the folder of another run.
pub(crate) fn in_its_own_folder(dir: &Path, run: &RunState) -> Result<(), Fault> {
    let folder = dir.file_name().and_then(|name| name.to_str());
    if run.run.is_empty() || folder.is_none_or(|name| name == run.run) {
        return Ok(());
    }
    Err(fault!(
        "journal_damaged.journal_swapped",
        dir = dir.display(),
        run = run.run,
        gives_up = gives_up(dir)
    ))
}

/// A piece of evidence that the journal names and that is not as it was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceProblem {
    /// Its SHA-256.
    pub sha256: String,
    /// The event that names it first.
    pub event: u64,
    /// `missing` or `changed`.
    pub state: String,
}

/// All evidence that the events rest on and that is not there, or not as it was.
pub(crate) fn evidence_problems(dir: &Path, records: &[Record]) -> Vec<EvidenceProblem> {
    let store = EvidenceStore::new(dir);
    named(records)
        .into_iter()
        .filter_map(|(sha256, event)| {
            let state = match store.get(&sha256) {
                Ok(_) => return None,
                Err(_) if store.has(&sha256) => "changed",
                Err(_) => "missing",
            };
            Some(EvidenceProblem {
                sha256,
                event,
                state: state.to_owned(),
            })
        })
        .collect()
}

/// A file of a run that its journal records and that is not in its place as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileProblem {
    /// Where it stood, in the run's folder.
    pub path: String,
    /// Its SHA-256 as it was recorded.
    pub sha256: String,
    /// The event that recorded it last.
    pub event: u64,
    /// `missing` or `changed`.
    pub state: String,
}

/// The files that the events leave behind, and that are not there, or not as they were. Prompts may be edited while they
/// wait.
pub(crate) fn file_problems(dir: &Path, records: &[Record]) -> Vec<FileProblem> {
    let mut standing = StandingFiles::default();
    for record in records {
        if let Ok(event) = Event::from_fields(&record.event, &record.fields) {
            standing.take(record.seq, &event);
        }
    }
    let paths = standing.recorded.keys();
    paths
        .filter_map(|path| standing.problem(dir, path))
        .collect()
}

/// The files that the events leave behind.
#[derive(Debug, Default)]
pub(crate) struct StandingFiles {
    /// By their places: what they hold, and the event that says so.
    recorded: BTreeMap<String, (String, u64)>,
    prompts: BTreeSet<String>,
    pending: bool,
}

impl StandingFiles {
    /// Takes in an event.
    pub(crate) fn take(&mut self, seq: u64, event: &Event) {
        match event {
            Event::ArtifactRecorded(artifact) if artifact.sha256 == GONE => {
                self.recorded.remove(&artifact.path);
            }
            Event::ArtifactRecorded(artifact) => {
                let is = (artifact.sha256.clone(), seq);
                self.recorded.insert(artifact.path.clone(), is);
            }
            Event::EffectIntended { what, .. } => {
                self.pending = true;
                for path in gives_way(what) {
                    self.recorded
                        .retain(|standing, _| !Path::new(standing).starts_with(&path));
                }
            }
            Event::EffectDone { .. } | Event::EffectFailed { .. } => self.pending = false,
            Event::UnitIssued {
                context: Some(hash),
                ..
            } => {
                self.prompts.insert(hash.clone());
            }
            _ => {}
        }
    }

    /// What is wrong with the file that has to stand at this place. While an effect is under way it may be as a crash left it; the
    /// next command goes on with it.
    pub(crate) fn problem(&self, dir: &Path, path: &str) -> Option<FileProblem> {
        let (sha256, event) = self.recorded.get(path).filter(|_| !self.pending)?;
        let state = match files::read(&dir.join(path)) {
            Ok(None) => "missing",
            Ok(Some(bytes)) => {
                if journal::sha256_hex(&bytes) == *sha256 || self.prompts.contains(sha256) {
                    return None;
                }
                "changed"
            }
            Err(_) => "changed",
        };
        Some(FileProblem {
            path: path.to_owned(),
            sha256: sha256.clone(),
            event: *event,
            state: state.to_owned(),
        })
    }
}

/// The files and folders that an effect takes from their places.
fn gives_way(what: &Value) -> Vec<String> {
    let moved = what["moves"].as_array().into_iter().flatten();
    let mut paths: Vec<String> = moved
        .filter_map(|pair| pair[0].as_str().map(str::to_owned))
        .collect();
    // The code of an iteration is written as a whole.
    if what.get("tree").is_some()
        && let Some(iteration) = what["iteration"].as_i64()
    {
        paths.push(code_path(iteration));
    }
    paths
}

/// The evidence that a report or a prompt names.
pub(crate) fn rests_on(record: &Record, event: &Event) -> Vec<String> {
    match event {
        Event::ReportAccepted(report) | Event::ReportRetried(report) => report.evidence.clone(),
        // What the journal itself tells needs no copy beside it.
        Event::UnitIssued {
            context: Some(hash),
            ..
        } if !record.fields.contains_key(crate::open_run::TOLD) => vec![hash.clone()],
        _ => Vec::new(),
    }
}

/// The hash of each piece of evidence, and the event that names it first.
fn named(records: &[Record]) -> BTreeMap<String, u64> {
    let mut named = BTreeMap::new();
    for record in records {
        let Ok(event) = Event::from_fields(&record.event, &record.fields) else {
            continue;
        };
        let mut hashes = rests_on(record, &event);
        match event {
            Event::RunCreated { .. } => {
                hashes.extend(text(&record.fields, &["keep", "profile", "pin"]));
            }
            Event::EffectIntended { .. } => {
                for part in ["sha256", "tree"] {
                    hashes.extend(text(&record.fields, &["what", part]));
                }
            }
            Event::DecisionMade { .. } => {
                hashes.extend(text(&record.fields, &["keep", "plan", "sha256"]));
            }
            _ => {}
        }
        for hash in hashes
            .into_iter()
            .filter(|hash| journal::is_sha256_hex(hash))
        {
            named.entry(hash).or_insert(record.seq);
        }
    }
    named
}

fn text(fields: &serde_json::Map<String, Value>, path: &[&str]) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let mut at = fields.get(*first)?;
    for part in rest {
        at = at.get(*part)?;
    }
    at.as_str().map(str::to_owned)
}
