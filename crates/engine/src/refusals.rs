//! What was refused on the way of a run: kept beside its journal, for the report.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::json;

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
        .open(dir.join("refusals.jsonl"))
    {
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}
