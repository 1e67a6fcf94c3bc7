//! The files of a profile, read once and within bounds: a folder of a cloned repository may hold anything.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use journal::digest::hex;
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use super::error::ProfileError;

/// The file that says what the profile is.
pub(super) const PROFILE_FILE: &str = "profile.yaml";

const MOST_FILES: usize = 500;
const MOST_BYTES: u64 = 8 * 1024 * 1024;
const MOST_LEVELS: usize = 16;
const MOST_PROFILE_BYTES: u64 = 64 * 1024;

/// The largest template, in bytes.
pub(super) const MOST_TEMPLATE_BYTES: usize = 256 * 1024;

/// A profile that comes with the program.
#[derive(Debug, Clone, Copy)]
pub struct Builtin<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its files: path and text.
    pub files: &'a [(&'a str, &'a str)],
}

/// One file.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) bytes: Vec<u8>,
    pub(super) executable: bool,
}

/// All files, by their paths below the folder.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    pub(super) all: BTreeMap<String, File>,
}

impl Files {
    /// The files of a built-in profile.
    pub(super) fn of_builtin(builtin: &Builtin<'_>) -> Self {
        let all = builtin.files.iter().map(|(path, text)| {
            let file = File {
                bytes: text.as_bytes().to_vec(),
                executable: false,
            };
            ((*path).to_owned(), file)
        });
        Self { all: all.collect() }
    }

    /// Reads a folder, which is known to lie where it may lie.
    pub(super) fn read(folder: &Path) -> Result<Self, ProfileError> {
        let mut reading = Reading {
            top: folder,
            files: Self::default(),
            left: MOST_BYTES,
            folders: 0,
        };
        reading.folder(folder, "", 1)?;
        Ok(reading.files)
    }

    /// SHA-256 over the sorted list of paths, each with the SHA-256 of its content and whether it can be executed.
    pub(super) fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for (path, file) in &self.all {
            // No path has a line break (see `Reading::entry`), so no two lists look the same.
            let line = format!(
                "{} {} {path}\n",
                hex(&Sha256::digest(&file.bytes)),
                if file.executable { 'x' } else { '-' }
            );
            hash.update(line.as_bytes());
        }
        hex(&hash.finalize())
    }
}

/// The names of all folders in `profiles` that are meant to be profiles, in order; not all have names that can be.
pub(super) fn names(profiles: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(profiles)
        .into_iter()
        .flatten()
        .flatten()
        // A link that leads nowhere is a broken profile, and is listed as one.
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .take(MOST_FILES)
        .collect();
    names.sort();
    names
}

/// A profile's folder with symbolic links resolved; none if there is no such folder. Where it belongs to a project,
/// `within` is the project, which no link may lead out of.
pub(super) fn find(
    folder: PathBuf,
    within: Option<&Path>,
) -> Result<Option<PathBuf>, ProfileError> {
    let io = |source| ProfileError::Io {
        path: folder.clone(),
        source,
    };
    match fs::symlink_metadata(&folder) {
        Ok(_) => {}
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(io(error)),
    }
    let real = fs::canonicalize(&folder).map_err(io)?;
    let within = within.map(fs::canonicalize).transpose().map_err(io)?;
    if within.is_some_and(|root| !real.starts_with(root)) {
        return Err(ProfileError::Unsafe {
            flaw: format!("leads out of the project, to {}", real.display()),
            help: "put the folder itself there, not a link to it".to_owned(),
            path: folder,
        });
    }
    if !real.is_dir() {
        return Err(ProfileError::Unsafe {
            flaw: "is no folder".to_owned(),
            help: format!("a profile is a folder with a {PROFILE_FILE}"),
            path: folder,
        });
    }
    Ok(Some(real))
}

struct Reading<'a> {
    top: &'a Path,
    files: Files,
    left: u64,
    folders: usize,
}

impl Reading<'_> {
    fn folder(&mut self, folder: &Path, below: &str, level: usize) -> Result<(), ProfileError> {
        self.folders += 1;
        if self.folders > MOST_FILES {
            return Err(refused(
                self.top,
                format!("holds more than {MOST_FILES} folders; {below} is one too many"),
                "keep in it only what the profile needs",
            ));
        }
        if level > MOST_LEVELS {
            return Err(refused(
                folder,
                format!("lies deeper than {MOST_LEVELS} levels"),
                "keep the files of a profile in few folders",
            ));
        }
        let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(folder, error))?;
            self.entry(&entry, below, level)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        entry: &fs::DirEntry,
        below: &str,
        level: usize,
    ) -> Result<(), ProfileError> {
        let path = entry.path();
        let name = entry
            .file_name()
            .into_string()
            .ok()
            .filter(|name| !name.contains(char::is_control))
            .ok_or_else(|| {
                refused(
                    &path,
                    "has a name that is no plain text".to_owned(),
                    "rename it",
                )
            })?;
        let key = if below.is_empty() {
            name
        } else {
            format!("{below}/{name}")
        };
        let kind = entry
            .file_type()
            .map_err(|error| unreadable(&path, error))?;
        if kind.is_dir() {
            return self.folder(&path, &key, level + 1);
        }
        let real = if kind.is_symlink() {
            self.target(&path)?
        } else {
            path.clone()
        };
        if self.files.all.len() == MOST_FILES {
            return Err(refused(
                self.top,
                format!("holds more than {MOST_FILES} files; {key} is one too many"),
                "keep in it only what the profile needs",
            ));
        }
        let file = self.file(&path, &real, &key)?;
        self.files.all.insert(key, file);
        Ok(())
    }

    /// Where a symbolic link leads, if that is a file of the folder.
    fn target(&self, link: &Path) -> Result<PathBuf, ProfileError> {
        let real = fs::canonicalize(link).map_err(|_| {
            refused(
                link,
                "is a link that leads nowhere".to_owned(),
                "take it away",
            )
        })?;
        if !real.starts_with(self.top) {
            return Err(refused(
                link,
                format!("leads out of the profile's folder, to {}", real.display()),
                "put the file itself there, not a link to it",
            ));
        }
        if real.is_dir() {
            return Err(refused(
                link,
                "is a link to a folder".to_owned(),
                "put the folder itself there, not a link to it",
            ));
        }
        Ok(real)
    }

    fn file(&mut self, path: &Path, real: &Path, key: &str) -> Result<File, ProfileError> {
        // Opened so that a named pipe in its place does not make this wait for ever.
        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let special = || {
            refused(
                path,
                "is no regular file".to_owned(),
                "a profile holds files and folders only",
            )
        };
        let regular = fs::symlink_metadata(real)
            .map_err(|error| unreadable(path, error))?
            .is_file();
        if !regular {
            return Err(special());
        }
        let mut opened = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(real)
            .map_err(|error| unreadable(path, error))?;
        let metadata = opened.metadata().map_err(|error| unreadable(path, error))?;
        if !metadata.is_file() {
            return Err(special());
        }
        let own = if key == PROFILE_FILE {
            MOST_PROFILE_BYTES
        } else {
            MOST_BYTES
        };
        let most = own.min(self.left);
        let mut bytes = Vec::new();
        (&mut opened)
            .take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(path, error))?;
        if bytes.len() as u64 > own {
            return Err(refused(
                path,
                format!("is larger than {own} bytes"),
                "make it shorter",
            ));
        }
        if bytes.len() as u64 > most {
            return Err(refused(
                self.top,
                format!("holds more than {MOST_BYTES} bytes; {key} is too much"),
                "keep in it only what the profile needs",
            ));
        }
        self.left -= bytes.len() as u64;
        Ok(File {
            bytes,
            executable: metadata.permissions().mode() & 0o111 != 0,
        })
    }
}

fn unreadable(path: &Path, source: io::Error) -> ProfileError {
    ProfileError::Io {
        path: path.to_owned(),
        source,
    }
}

fn refused(path: &Path, flaw: String, help: &str) -> ProfileError {
    ProfileError::Unsafe {
        path: path.to_owned(),
        flaw,
        help: help.to_owned(),
    }
}
