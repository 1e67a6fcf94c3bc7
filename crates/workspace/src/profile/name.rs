//! Names of profiles: each becomes a folder's name.

use super::error::ProfileError;

/// The longest name, in bytes.
pub(super) const MOST_BYTES: usize = 64;

/// Refuses what cannot be the name of a profile.
pub(super) fn check(name: &str) -> Result<(), ProfileError> {
    match flaw(name) {
        None => Ok(()),
        Some(flaw) => Err(ProfileError::BadName {
            name: name.chars().take(MOST_BYTES).collect(),
            flaw,
        }),
    }
}

pub(super) fn flaw(name: &str) -> Option<&'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() {
        Some("it is empty")
    } else if name.len() > MOST_BYTES {
        Some("it is longer than 64 bytes")
    } else if name.starts_with('.') {
        Some("it begins with a dot")
    } else if name.starts_with('-') {
        Some("it begins with a dash")
    } else if name.contains("..") {
        Some("it contains `..`")
    } else if !name.chars().all(fits) {
        Some("it contains something else than letters, digits, `-`, `_` and `.`")
    } else {
        None
    }
}
