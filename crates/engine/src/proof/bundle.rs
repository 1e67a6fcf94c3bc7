//! A run in one file: its journal, line by line as it is, and the evidence that the journal names.
//!
//! The file is lines of JSON. The first says what is in it; then come the lines of the journal; then one line for each piece of
//! evidence, as text or in base64; the last holds the hash of all bytes before it. The journal's first line has the definition
//! and the settings that the run is pinned to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use journal::{EvidenceError, EvidenceStore, Journal as _, MemoryJournal, Position, Record};
use machine::Event;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::fault;
use crate::fault::{Fault, Kind};
use crate::integrity;

/// The form that is written and read.
pub(crate) const VERSION: u32 = 1;
/// A piece of evidence above this length, in bytes, is named and not packed.
const LONGEST_PIECE: usize = 32 * 1024 * 1024;
/// All packed evidence together has at most this many bytes.
const MOST_EVIDENCE: usize = 128 * 1024 * 1024;
/// A bundle above this length, in bytes, is not read.
const LONGEST: u64 = 512 * 1024 * 1024;

/// The first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    tramline_bundle: u32,
    run: String,
    workflow: String,
    events: u64,
    journal_head: String,
    files: Vec<Listed>,
}

/// A piece of evidence, or why it is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Where it lies in the run's folder.
    pub path: String,
    /// Its hash.
    pub sha256: String,
    /// Its length in bytes, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// `missing`, `changed` or `tooLarge`: then it is not in the bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
}

/// The line of a piece of evidence.
#[derive(Debug, Serialize, Deserialize)]
struct Piece {
    sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

/// The last line.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct End {
    bundle_sha256: String,
}

/// A bundle that was written.
#[derive(Debug)]
pub struct Packed {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The run.
    pub run: String,
    /// Events of the journal.
    pub events: u64,
    /// Hash of the journal's last line.
    pub head: String,
    /// What of the evidence is in it, and what is not.
    pub files: Vec<Listed>,
}

/// A bundle that was read, and is whole.
#[derive(Debug)]
pub struct Bundle {
    /// The events.
    pub records: Vec<Record>,
    /// Hash of the journal's last line.
    pub head: String,
    /// The evidence by its hash.
    pub evidence: BTreeMap<String, Vec<u8>>,
    /// Evidence that is not in it, and why.
    pub left: BTreeMap<String, String>,
}

/// The references under which bundles are pushed.
pub const REFERENCES: &str = "refs/tramline/runs/";

/// The reference under which the bundle of a run is pushed. Ids of runs are names of folders, and some of those are no names for
/// git.
pub fn reference(run: &str) -> String {
    format!("{REFERENCES}{}", reference_part(run))
}

/// A name as a part of a reference of git's.
pub(crate) fn reference_part(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let letters = name.chars();
    letters.map(|c| if plain(c) { c } else { '-' }).collect()
}

/// Packs the run in a folder. The same run gives the same bytes.
pub fn pack(dir: &Path) -> Result<Packed, Fault> {
    let path = dir.join(journal::file::FILE_NAME);
    let bytes = journal::durable::read(&path).map_err(|error| {
        Fault::environment(
            "io_failed",
            format!("the journal {} cannot be read", path.display()),
            &error,
        )
    })?;
    // The check of the chain is that of any journal, whose words name the file.
    let read = journal::FileJournal::open(dir)?.read(&Position::start())?;
    let length = usize::try_from(read.head.len).unwrap_or(usize::MAX);
    let lines = bytes
        .get(..length)
        .ok_or_else(|| fault!("lock_timeout.journal_conflict", path = path.display()))?;
    let store = EvidenceStore::new(dir);
    let mut files = Vec::new();
    let mut pieces = Vec::new();
    let mut together = 0_usize;
    for sha256 in named(&read.records) {
        let listed = |size, left: Option<&str>| Listed {
            path: format!("{}/{sha256}", journal::evidence::FOLDER_NAME),
            sha256: sha256.clone(),
            size,
            left: left.map(str::to_owned),
        };
        match store.get(&sha256) {
            Ok(bytes) if bytes.len() > LONGEST_PIECE || together + bytes.len() > MOST_EVIDENCE => {
                files.push(listed(Some(bytes.len()), Some("tooLarge")));
            }
            Ok(bytes) => {
                together += bytes.len();
                files.push(listed(Some(bytes.len()), None));
                pieces.push(piece(sha256, bytes));
            }
            Err(EvidenceError::Changed { .. }) => files.push(listed(None, Some("changed"))),
            Err(EvidenceError::Missing { .. } | EvidenceError::NotAHash(_)) => {
                files.push(listed(None, Some("missing")));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let (run, workflow) = begun(&read.records).unwrap_or_default();
    let header = Header {
        tramline_bundle: VERSION,
        run: run.clone(),
        workflow,
        events: read.head.seq,
        journal_head: read.head.hash.clone(),
        files: files.clone(),
    };
    let mut bundle = Vec::with_capacity(lines.len() + together + 4096);
    line(&mut bundle, &header)?;
    bundle.extend_from_slice(lines);
    for piece in pieces {
        line(&mut bundle, &piece)?;
    }
    let sum = journal::sha256_hex(&bundle);
    line(&mut bundle, &json!({ "bundleSha256": sum }))?;
    Ok(Packed {
        bytes: bundle,
        run,
        events: read.head.seq,
        head: read.head.hash,
        files,
    })
}

fn line(bundle: &mut Vec<u8>, value: &impl Serialize) -> Result<(), Fault> {
    serde_json::to_writer(&mut *bundle, value).map_err(|error| Fault::bug(error.to_string()))?;
    bundle.push(b'\n');
    Ok(())
}

fn piece(sha256: String, bytes: Vec<u8>) -> Piece {
    match String::from_utf8(bytes) {
        Ok(text) => Piece {
            sha256,
            text: Some(text),
            base64: None,
        },
        Err(error) => Piece {
            sha256,
            text: None,
            base64: Some(STANDARD.encode(error.as_bytes())),
        },
    }
}

/// Run and workflow, from the first event.
fn begun(records: &[Record]) -> Option<(String, String)> {
    let first = records.first()?;
    let text = |key: &str| first.fields.get(key)?.as_str().map(str::to_owned);
    Some((text("run")?, text("workflow")?))
}

/// The hashes of all evidence that reports and prompts rest on.
fn named(records: &[Record]) -> BTreeSet<String> {
    let events = records.iter().filter_map(|record| {
        let event = Event::from_fields(&record.event, &record.fields).ok()?;
        Some(integrity::rests_on(record, &event))
    });
    events.flatten().collect()
}

/// Reads a bundle, and refuses one that is not what was written.
pub fn read(path: &Path) -> Result<Bundle, Fault> {
    let cannot = |error: &std::io::Error| {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => Kind::Missing,
            _ => Kind::Environment,
        };
        let message = format!("the bundle {} cannot be read: {error}", path.display());
        Fault::new(kind, "evidence_missing", message)
            .suggest("name a file that `tm runs export RUN -o FILE` wrote")
    };
    let file = File::open(path).map_err(|error| cannot(&error))?;
    let mut bytes = Vec::new();
    file.take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| cannot(&error))?;
    if bytes.len() as u64 > LONGEST {
        return Err(damaged(path, "it is longer than any bundle"));
    }
    parse(&bytes).map_err(|why| damaged(path, why))
}

/// Reads a bundle that was pushed under a reference.
pub fn read_pushed(reference: &str, bytes: &[u8]) -> Result<Bundle, Fault> {
    if bytes.len() as u64 > LONGEST {
        return Err(damaged(
            Path::new(reference),
            "it is longer than any bundle",
        ));
    }
    parse(bytes).map_err(|why| damaged(Path::new(reference), why))
}

fn damaged(path: &Path, why: impl std::fmt::Display) -> Fault {
    fault!(
        "evidence_missing.bundle_damaged",
        path = path.display(),
        why
    )
}

fn parse(bytes: &[u8]) -> Result<Bundle, String> {
    let body = bytes
        .strip_suffix(b"\n")
        .ok_or("its end is missing, or it is no bundle")?;
    let last = body
        .iter()
        .rposition(|byte| *byte == b'\n')
        .ok_or("it is no bundle")?
        + 1;
    let end_of_header = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let header: Header = serde_json::from_slice(&bytes[..end_of_header])
        .map_err(|_| "it does not begin as a bundle does".to_owned())?;
    if header.tramline_bundle != VERSION {
        return Err(format!(
            "it has the form {}, and this tm reads {VERSION}",
            header.tramline_bundle
        ));
    }
    let end: End = serde_json::from_slice(&body[last..]).map_err(|_| "its end is missing")?;
    if end.bundle_sha256 != journal::sha256_hex(&bytes[..last]) {
        return Err("it was changed: the hash at its end is of other content".to_owned());
    }
    let rest = bytes
        .get(end_of_header + 1..last)
        .ok_or("it has no journal")?;
    let events = usize::try_from(header.events).map_err(|_| "its journal is too long")?;
    let mut length = 0;
    for _ in 0..events {
        let line = rest[length..]
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or("its journal is not whole")?;
        length += line + 1;
    }
    let (lines, pieces) = rest.split_at(length);
    let read = MemoryJournal::of(lines.to_vec())
        .and_then(|journal| journal.read(&Position::start()))
        .map_err(|error| format!("its journal is damaged: {error}"))?;
    if read.head.seq != header.events || read.head.hash != header.journal_head {
        return Err("its journal is not the one that its first line names".to_owned());
    }
    if begun(&read.records).is_none_or(|(run, _)| run != header.run) {
        return Err("its journal is that of another run".to_owned());
    }
    let mut evidence = BTreeMap::new();
    for line in pieces
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let piece: Piece =
            serde_json::from_slice(line).map_err(|error| format!("a line of it: {error}"))?;
        let bytes = match (piece.text, piece.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(base64)) => STANDARD
                .decode(base64)
                .map_err(|error| format!("evidence {}: {error}", piece.sha256))?,
            _ => return Err(format!("evidence {} has no content", piece.sha256)),
        };
        if journal::sha256_hex(&bytes) != piece.sha256 {
            return Err(format!("evidence {} has other content", piece.sha256));
        }
        evidence.insert(piece.sha256, bytes);
    }
    let mut left = BTreeMap::new();
    for listed in header.files {
        match listed.left {
            Some(why) => {
                left.insert(listed.sha256, why);
            }
            None if !evidence.contains_key(&listed.sha256) => {
                return Err(format!("evidence {} is missing", listed.sha256));
            }
            None => {}
        }
    }
    Ok(Bundle {
        records: read.records,
        head: read.head.hash,
        evidence,
        left,
    })
}
