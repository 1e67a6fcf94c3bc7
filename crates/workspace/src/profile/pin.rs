//! A profile as a session keeps it: what it began with is what it ends with, whatever becomes of the folder.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::folder::{File, Files};
use super::{Profile, ProfileError, Source, name, reading};

/// The version of the document.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pinned {
    version: u32,
    name: String,
    hash: String,
    /// None for a built-in one.
    folder: Option<PathBuf>,
    /// Whether it is there for all projects of the user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    user: bool,
    files: BTreeMap<String, String>,
}

impl Profile {
    /// Everything that a session needs later, as one JSON document.
    pub fn pin(&self) -> Result<Vec<u8>, ProfileError> {
        let pinned = Pinned {
            version: VERSION,
            name: self.name.clone(),
            hash: self.hash.clone(),
            folder: self.source.folder().map(PathBuf::from),
            user: matches!(self.source, Source::User { .. }),
            files: self.texts.clone(),
        };
        serde_json::to_vec(&pinned).map_err(|error| damaged(error.to_string()))
    }

    /// A profile as it was when it was pinned.
    pub fn from_pin(bytes: &[u8]) -> Result<Self, ProfileError> {
        let pinned: Pinned =
            serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        if pinned.version != VERSION {
            return Err(damaged(format!(
                "it is written in version {}, and this program reads version {VERSION}",
                pinned.version
            )));
        }
        name::check(&pinned.name)?;
        let files = Files {
            all: pinned
                .files
                .into_iter()
                .map(|(path, text)| {
                    let file = File {
                        bytes: text.into_bytes(),
                        executable: false,
                    };
                    (path, file)
                })
                .collect(),
        };
        let source = match pinned.folder {
            None => Source::Builtin,
            Some(folder) if pinned.user => Source::User { folder },
            Some(folder) => Source::Project { folder },
        };
        let mut profile = reading::profile(&pinned.name, source, &files)
            .map_err(|error| damaged(error.to_string()))?;
        // That of the whole folder, of which only the texts were kept.
        profile.hash = pinned.hash;
        Ok(profile)
    }
}

fn damaged(message: String) -> ProfileError {
    ProfileError::Pin { message }
}
