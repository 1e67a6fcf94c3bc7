//! Names of objects.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

/// The full name of a git object: 40 hexadecimal digits, or 64 in a repository that uses SHA-256.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Oid(String);

/// A text that is not the full name of an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a full object id (40 or 64 hexadecimal digits)")]
pub struct InvalidOid(String);

impl Oid {
    /// The hexadecimal digits, in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first ten digits, for messages.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }

    /// Whether this is the all-zero name, which git uses for "nothing".
    pub(super) fn is_null(&self) -> bool {
        self.0.bytes().all(|byte| byte == b'0')
    }
}

impl FromStr for Oid {
    type Err = InvalidOid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(InvalidOid(text.chars().take(80).collect()))
        }
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for Oid {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Oid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsing() {
        let sha1 = "0123456789abcdef0123456789ABCDEF01234567";
        let expected = sha1.to_ascii_lowercase();
        assert_eq!(sha1.parse::<Oid>().unwrap().as_str(), expected);
        assert_eq!(sha1.parse::<Oid>().unwrap().short(), "0123456789");
        assert!("a".repeat(64).parse::<Oid>().is_ok());
        assert!("0".repeat(40).parse::<Oid>().unwrap().is_null());
        for text in ["", "HEAD", "0123", &"g".repeat(40), &"a".repeat(41)] {
            assert!(text.parse::<Oid>().is_err(), "{text}");
        }
    }
}
