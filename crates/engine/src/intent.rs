//! What an effect is going to do, written down before it does it, and read back by whoever finds it unfinished.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::fault::Fault;

/// Reads an intent back.
///
/// # Errors
/// Where it is not what this program writes.
pub(crate) fn read<T: DeserializeOwned>(what: &Value) -> Result<T, Fault> {
    T::deserialize(what)
        .map_err(|error| Fault::bug(format!("an intent cannot be read back: {error}")))
}

/// Writes an intent down.
///
/// # Errors
/// Where JSON cannot hold it.
pub(crate) fn write<T: Serialize>(what: &T) -> Result<Value, Fault> {
    serde_json::to_value(what)
        .map_err(|error| Fault::bug(format!("an intent cannot be written: {error}")))
}
