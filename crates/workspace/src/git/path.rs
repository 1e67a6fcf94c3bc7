//! Names of files as git knows them.

use std::ffi::OsStr;
use std::fmt::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whether a path below a working tree leads into git's own folder.
pub fn is_of_git(inside: &Path) -> bool {
    inside.iter().any(|part| part == ".git")
}

/// The path of a file relative to the repository's top level, `/` between its parts.
///
/// It holds bytes, since a file name need not be text. As text (in `Display`, `FromStr` and serde) a byte that is
/// not UTF-8 is written `\xNN`, and a backslash is written twice, so that every path survives the journey.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Vec<u8>);

/// Why something is not a [`RepoPath`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is not a path inside the repository: {reason}")]
pub struct InvalidRepoPath {
    path: String,
    reason: &'static str,
}

impl RepoPath {
    /// The path with these bytes. Refuses what git could not have named: an empty path or part, `.` and `..`, a NUL,
    /// a leading or trailing slash.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self, InvalidRepoPath> {
        let bytes = bytes.into();
        let reason = if bytes.is_empty() {
            Some("it is empty")
        } else if bytes.contains(&0) {
            Some("it contains a NUL byte")
        } else if bytes[0] == b'/' {
            Some("it is absolute")
        } else if bytes.split(|byte| *byte == b'/').any(<[u8]>::is_empty) {
            Some("a part of it is empty")
        } else if bytes
            .split(|byte| *byte == b'/')
            .any(|part| part == b"." || part == b"..")
        {
            Some("it contains `.` or `..`")
        } else {
            None
        };
        match reason {
            None => Ok(Self(bytes)),
            Some(reason) => Err(InvalidRepoPath {
                path: Self(bytes).to_string(),
                reason,
            }),
        }
    }

    /// The path as git wrote it, in a place where git is trusted to have written a path.
    pub(super) fn trusted(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    /// The bytes of the path.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path for the file system, still relative to the top level.
    pub fn to_path_buf(&self) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(&self.0))
    }

    /// The path as an argument of a program.
    pub fn as_os_str(&self) -> &OsStr {
        OsStr::from_bytes(&self.0)
    }

    /// The last part: the file's own name.
    pub fn file_name(&self) -> &[u8] {
        self.0
            .rsplit(|byte| *byte == b'/')
            .next()
            .unwrap_or(&self.0)
    }

    /// Whether this is `prefix` itself or lies somewhere below it.
    pub fn is_under(&self, prefix: &RepoPath) -> bool {
        self.0
            .strip_prefix(prefix.0.as_slice())
            .is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
    }

    /// Whether this begins with a scope such as `sub/`; the empty scope holds everything.
    pub(super) fn is_in_scope(&self, scope: &[u8]) -> bool {
        self.0.starts_with(scope)
    }
}

impl TryFrom<&Path> for RepoPath {
    type Error = InvalidRepoPath;

    fn try_from(path: &Path) -> Result<Self, Self::Error> {
        Self::from_bytes(path.as_os_str().as_bytes())
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                if character == '\\' {
                    f.write_char('\\')?;
                }
                f.write_char(character)?;
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl FromStr for RepoPath {
    type Err = InvalidRepoPath;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = |reason| InvalidRepoPath {
            path: text.to_owned(),
            reason,
        };
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((&first, after)) = rest.split_first() {
            if first != b'\\' {
                bytes.push(first);
                rest = after;
                continue;
            }
            match after {
                [b'\\', after @ ..] => {
                    bytes.push(b'\\');
                    rest = after;
                }
                [b'x', high, low, after @ ..] => {
                    let digit = |byte: u8| {
                        char::from(byte)
                            .to_digit(16)
                            .and_then(|digit| u8::try_from(digit).ok())
                    };
                    let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
                        return Err(invalid("a backslash must be doubled, or begin `\\xNN`"));
                    };
                    bytes.push(high * 16 + low);
                    rest = after;
                }
                _ => return Err(invalid("a backslash must be doubled, or begin `\\xNN`")),
            }
        }
        Self::from_bytes(bytes)
    }
}

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_form() {
        for (bytes, text) in [
            (&b"src/a b.rs"[..], "src/a b.rs"),
            ("übung/日本.txt".as_bytes(), "übung/日本.txt"),
            (b"a\xff", "a\\xff"),
            (b"a\\xff", "a\\\\xff"),
            (b"line\nbreak", "line\nbreak"),
        ] {
            let path = RepoPath::from_bytes(bytes).unwrap();
            assert_eq!(path.to_string(), text);
            assert_eq!(text.parse::<RepoPath>().unwrap(), path);
        }
    }

    #[test]
    fn refused() {
        for bytes in ["", "/a", "a//b", "a/", "..", "a/../b", "./a", "a\0b"] {
            assert!(RepoPath::from_bytes(bytes).is_err(), "{bytes:?}");
        }
        for text in ["a\\b", "a\\x1", "a\\xzz", "\\"] {
            assert!(text.parse::<RepoPath>().is_err(), "{text}");
        }
    }

    #[test]
    fn under() {
        let path = |text: &str| text.parse::<RepoPath>().unwrap();
        for (text, of, is_under) in [
            ("a/b", "a", true),
            ("a", "a", true),
            ("ab", "a", false),
            ("a", "a/b", false),
        ] {
            assert_eq!(path(text).is_under(&path(of)), is_under, "{text} {of}");
        }
        assert_eq!(
            (path("a/b").file_name(), path("b").file_name()),
            (&b"b"[..], &b"b"[..])
        );
    }

    proptest! {
        #[test]
        fn every_path_survives_as_text(bytes in proptest::collection::vec(1_u8.., 1..20)) {
            if let Ok(path) = RepoPath::from_bytes(bytes) {
                let json = serde_json::to_string(&path).unwrap();
                prop_assert_eq!(serde_json::from_str::<RepoPath>(&json).unwrap(), path);
            }
        }
    }
}
