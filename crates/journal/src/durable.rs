//! Folders and files whose names outlive a power failure, and files replaced as a whole.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tempfile::NamedTempFile;

use crate::derived::remove_dead_files;

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
    locked_aside(folder_of(path), 0o600)
}

/// An empty file in `folder`, locked while its writer lives. Those of dead writers are removed.
fn locked_aside(folder: &Path, mode: u32) -> io::Result<NamedTempFile> {
    // What cannot be removed is in nobody's way.
    let _ = remove_dead_files(folder);
    loop {
        let file = tempfile::Builder::new()
            .prefix(TEMPORARY_PREFIX)
            .suffix(TEMPORARY_SUFFIX)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        match file.as_file().try_lock() {
            // Before it was locked, it may have been removed as a leftover.
            Ok(()) if file.path().exists() => return Ok(file),
            // No locks on this file system: then nobody removes leftovers either.
            Err(TryLockError::Error(_)) => return Ok(file),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
        }
    }
}

/// An empty file with the rights `mode`, less the process's mask, for [`put_in_place`] to make it `path`.
///
/// In a git repository it lies in git's folder, where a killed process leaves nothing that could be committed; beside
/// `path` where there is none that can be written on the same file system. What killed processes left there is removed.
pub fn aside_of(path: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let folder = folder_of(path);
    let device = |of: &Path| fs::metadata(of).ok().map(|about| about.dev());
    for place in git_folder(folder).iter().map(PathBuf::as_path) {
        if device(place) == device(folder)
            && let Ok(file) = locked_aside(place, mode)
        {
            return Ok(file);
        }
    }
    locked_aside(folder, mode)
}

/// Makes `file` the file `path`, and syncs its name. Over one that is there only if `over`: else `AlreadyExists`.
pub fn put_in_place(file: NamedTempFile, path: &Path, over: bool) -> io::Result<()> {
    let persist = |file: NamedTempFile| {
        if over {
            file.persist(path)
        } else {
            file.persist_noclobber(path)
        }
    };
    match persist(file) {
        // Git's folder may be mounted by itself.
        Err(failed) if failed.error.kind() == io::ErrorKind::CrossesDevices => {
            let mut beside = empty_aside(path)?;
            io::copy(&mut File::open(failed.file.path())?, &mut beside)?;
            let rights = failed.file.as_file().metadata()?.permissions();
            beside.as_file().set_permissions(rights)?;
            beside.as_file().sync_all()?;
            persist(beside)
        }
        done => done,
    }
    .map_err(|failed| failed.error)?;
    sync_folder(folder_of(path))
}

/// The folder of git that belongs to `folder` or to the nearest folder above it.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let above = folder
        .ancestors()
        .find(|above| above.join(".git").exists())?;
    let git = above.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    // A linked working tree or a submodule has a file that names the folder.
    let names = read(&git).ok()?;
    let named = names.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    Some(above.join(OsStr::from_bytes(named)))
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
