//! Effects: what the workflow does to the world. Each is prepared without changing anything,
//! performed once, and looked for after a crash.

pub mod branch;
pub mod commit;
pub mod delete;
pub mod finish;
pub mod notes;
pub mod tag;

use crate::fault::Fault;
use crate::support::Outcome;
use serde_json::Value;

/// A fault as the failure of an effect.
fn failed(fault: Fault) -> Outcome {
    Outcome::Failed {
        code: fault.code,
        message: fault.message,
        suggestion: Some(fault.suggestion).filter(|text| !text.is_empty()),
    }
}

/// Reads an intent back.
fn read<T: serde::de::DeserializeOwned>(what: &Value) -> Result<T, Fault> {
    serde_json::from_value(what.clone())
        .map_err(|error| Fault::bug(format!("an intent cannot be read back: {error}")))
}

/// Writes an intent down.
fn write<T: serde::Serialize>(what: &T) -> Result<Value, Fault> {
    serde_json::to_value(what)
        .map_err(|error| Fault::bug(format!("an intent cannot be written: {error}")))
}
