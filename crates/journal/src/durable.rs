//! Folders and files whose names outlive a power failure, and files replaced as a whole.

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use tempfile::NamedTempFile;

/// Begins the name of a file that is about to be renamed into place.
pub const TEMPORARY_PREFIX: &str = ".tramline-";
/// Ends it.
pub const TEMPORARY_SUFFIX: &str = ".tmp";

/// Brings the names in `folder` onto the disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Makes one folder, readable by its owner alone. `AlreadyExists` when it is there.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Makes `path` and what is missing above it, and syncs the name of each new folder.
pub fn ensure_folder(path: &Path) -> io::Result<()> {
    match make_folder(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return if path.is_dir() { Ok(()) } else { Err(error) };
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => match path.parent() {
            Some(parent) if parent != path && !parent.as_os_str().is_empty() => {
                ensure_folder(parent)?;
                match make_folder(path) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(error);
                    }
                    _ => {}
                }
            }
            _ => return Err(error),
        },
        Err(error) => return Err(error),
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync_folder(parent),
        _ => sync_folder(Path::new(".")),
    }
}

/// The folder that `path` lies in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A file beside `path` with `bytes` in it, readable by its owner alone, not yet renamed.
pub(crate) fn write_aside(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = empty_aside(path)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// An empty file beside `path`, readable by its owner alone, not yet renamed.
pub(crate) fn empty_aside(path: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .suffix(TEMPORARY_SUFFIX)
        .tempfile_in(folder_of(path))
}

/// Replaces `path` as a whole; afterwards file and name are on the disk.
pub fn replace_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = write_aside(path, bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder_of(path))
}

/// As [`replace_durably`], but leaves alone what is there already and says so with `false`.
pub fn create_durably(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let file = write_aside(path, bytes)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => sync_folder(folder_of(path)).map(|()| true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

/// Opens an ordinary file for reading. A pipe would hold us up for ever.
pub fn open_file(path: &Path) -> io::Result<File> {
    let file = File::options()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    must_be_file(file)
}

/// What was opened, if it is an ordinary file.
pub(crate) fn must_be_file(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::other("it is no ordinary file; take it away"))
}

/// The content of `path`. What is no ordinary file, such as a pipe that would hold the reader up, is an error.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same of a file that holds text.
pub fn read_text(path: &Path) -> io::Result<String> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    String::from_utf8(read(path)?).map_err(invalid)
}

/// The content of `path`; `None` when there is no such file.
pub fn read_if_there(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    match open_file(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
