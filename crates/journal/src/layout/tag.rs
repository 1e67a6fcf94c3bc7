//! The folder of a tag. Tags that differ only in case get different folders, also where the file
//! system does not tell their names apart.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::LayoutError;
use super::name::Name;
use super::project::{ProjectDir, SUFFIX_DIGITS};
use crate::digest::sha256_hex;
use crate::durable;

const TAG_FILE: &str = "tag.json";

/// The folder of one tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagDir {
    path: PathBuf,
}

/// What `tag.json` holds.
#[derive(Deserialize)]
struct TagFile {
    tag: String,
}

impl TagDir {
    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file that names the newest run of the tag.
    pub fn current_run_path(&self) -> PathBuf {
        self.path.join("current-run.json")
    }
}

impl ProjectDir {
    /// The folder of the tag `tag`, made when it is not there. To be called under the lock of the project.
    pub fn tag(&self, tag: &str) -> Result<TagDir, LayoutError> {
        if let Some(found) = self.find_tag(tag)? {
            return Ok(found);
        }
        let tags = self.tags_folder();
        durable::ensure_folder(&tags).map_err(LayoutError::io("make the folder", &tags))?;
        let taken = names_in(&tags).map_err(LayoutError::io("list", &tags))?;
        for name in folder_names(tag) {
            let path = tags.join(&name);
            let lower = name.to_lowercase();
            let free = !taken.iter().any(|other| other.to_lowercase() == lower);
            // A folder of this very name that does not say whose it is was left by a crash.
            if free || (taken.contains(&name) && recorded_tag(&path)?.is_none()) {
                durable::ensure_folder(&path).map_err(LayoutError::io("make the folder", &path))?;
                let file = path.join(TAG_FILE);
                let json = serde_json::json!({ "tag": tag });
                durable::replace_durably(&file, format!("{json:#}\n").as_bytes())
                    .map_err(LayoutError::io("write", &file))?;
                return Ok(TagDir { path });
            }
        }
        Err(LayoutError::NoFreeName {
            path: tags.join(tag),
        })
    }

    /// The folder of the tag `tag`, if there is one. Makes nothing.
    pub fn find_tag(&self, tag: &str) -> Result<Option<TagDir>, LayoutError> {
        Name::check("tag", tag)?;
        for name in folder_names(tag) {
            let path = self.tags_folder().join(name);
            if recorded_tag(&path)?.as_deref() == Some(tag) {
                return Ok(Some(TagDir { path }));
            }
        }
        Ok(None)
    }
}

/// The names that the folder of a tag may have, in the order in which they are tried.
fn folder_names(tag: &str) -> Vec<String> {
    let hash = sha256_hex(tag.as_bytes());
    // A tag of the greatest length leaves little room for the last suffix, which is why that is left out.
    let suffixed = SUFFIX_DIGITS[..2]
        .iter()
        .map(|&digits| format!("{tag}-{}", &hash[..digits]));
    std::iter::once(tag.to_owned()).chain(suffixed).collect()
}

fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

/// The tag that the folder `folder` belongs to; `None` when it does not say.
fn recorded_tag(folder: &Path) -> Result<Option<String>, LayoutError> {
    let path = folder.join(TAG_FILE);
    let Some(bytes) = durable::read_if_there(&path).map_err(LayoutError::io("read", &path))? else {
        return Ok(None);
    };
    match serde_json::from_slice::<TagFile>(&bytes) {
        Ok(file) => Ok(Some(file.tag)),
        Err(error) => Err(LayoutError::Unreadable {
            path,
            flaw: error.to_string(),
        }),
    }
}
