//! What was refused on the way of a run: kept beside its journal, for the report.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use machine::RunState;
use serde::Deserialize;
use serde_json::json;

/// The file that they are noted in.
pub(crate) const FILE_NAME: &str = "refusals.jsonl";

/// Notes a refusal of a report at the time `now`. Best effort: it is never read to decide anything.
pub(crate) fn note(dir: &Path, now: &str, unit: Option<&str>, code: Option<&str>, message: &str) {
    let line = json!({
        "ts": now,
        "unit": unit,
        "code": code,
        "message": message,
    });
    if let Ok(mut file) = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(dir.join(FILE_NAME))
    {
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}

/// A refusal, as it was noted.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Refused {
    /// When, UTC.
    pub(crate) ts: String,
    /// The work unit.
    #[serde(default)]
    pub(crate) unit: Option<String>,
    /// Its code.
    #[serde(default, deserialize_with = "or_empty")]
    pub(crate) code: String,
    /// What was found.
    #[serde(default, deserialize_with = "or_empty")]
    pub(crate) message: String,
}

fn or_empty<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::<String>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// How much of the end of the notes is looked at, in bytes.
const END: u64 = 64 * 1024;

/// The newest refusals of what is asked for now, the oldest first, but for those that a person let pass. Where nothing is asked
/// for, those of the run itself since it last moved.
pub(crate) fn latest(dir: &Path, run: &RunState) -> Vec<Refused> {
    let mut found = all(dir);
    match run.waiting().next() {
        // A pause in between takes nothing back.
        Some((_, unit)) => found.retain(|refused| {
            refused.unit.as_ref() == Some(&unit.id) && !unit.allowed.contains(&refused.code)
        }),
        None => found.retain(|refused| refused.unit.is_none() && refused.ts > run.updated_at),
    }
    found
}

/// The newest refusals, the oldest first.
pub(crate) fn all(dir: &Path) -> Vec<Refused> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(dir.join(FILE_NAME))?;
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(len.saturating_sub(END)))?;
        let mut bytes = Vec::new();
        file.take(END).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Refused>(line).ok())
        .collect()
}
