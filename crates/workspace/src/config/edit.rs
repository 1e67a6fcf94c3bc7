//! Changing a file of settings: what a text gives a key, and whether a file that was changed still holds.

use serde_json::Value;

use super::error::{ConfigError, ValuePlace};
use super::keys;
use super::layer;
use crate::suite::CommandLine;

pub use super::settings::check_file;

/// It is run without a shell: what needs one is refused at once, and not by the next run.
const TEST_COMMAND: &str = "test.command";

/// The value that a text gives the key of this dotted name, as people write it in an environment variable: bare words and numbers, lists
/// by commas or as JSON.
///
/// # Errors
/// Where there is no such key, or the value is none for it.
pub fn parse_value(key: &str, text: &str) -> Result<Value, ConfigError> {
    let known = keys::find(key).ok_or_else(|| layer::unknown_key(key))?;
    let value = layer::value_of(known, text)?;
    if key == TEST_COMMAND
        && let Some(command) = value.as_str()
        && let Err(error) = CommandLine::parse(command)
    {
        return Err(ConfigError::BadValue {
            place: ValuePlace::Flag(key.to_owned()).into(),
            key: key.to_owned(),
            found: value.to_string(),
            problem: format!("{error}; {}", error.suggestion()),
            nearest: None,
        });
    }
    Ok(value)
}

/// The key that this dotted name means, or that one section of them begins with.
///
/// # Errors
/// Where there is none.
pub fn known(key: &str) -> Result<(), ConfigError> {
    if keys::find(key).is_some() || !keys::children(key).is_empty() {
        return Ok(());
    }
    Err(layer::unknown_key(key))
}
