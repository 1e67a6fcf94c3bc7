//! What was refused on the way of a run: kept beside its journal, for the report.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

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

/// The newest refusals of this unit, the oldest first, that came after the time `since` (UTC, RFC 3339).
pub(crate) fn latest(dir: &Path, unit: Option<&str>, since: &str) -> Vec<Refused> {
    let mut found = all(dir);
    found.retain(|refused| refused.ts.as_str() > since && refused.unit.as_deref() == unit);
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
