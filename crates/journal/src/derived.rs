//! Files that can be rebuilt from the journal: replaced as a whole, only when they change, and never synced.

use std::fs;
use std::io;
use std::path::Path;

use crate::durable::{self, TEMPORARY_PREFIX, TEMPORARY_SUFFIX};

/// Makes `bytes` the content of `path`, unless they are that already. Returns whether it wrote.
///
/// A reader sees the old content or the new. The file is readable by its owner alone. Its folder must exist.
pub fn replace_if_changed(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let is_file = match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => {
            if found.len() == bytes.len() as u64
                && durable::read_if_there(path)?.as_deref() == Some(bytes)
            {
                // Whoever was killed may have come this far.
                let _ = remove_dead_files(durable::folder_of(path));
                return Ok(false);
            }
            true
        }
        Ok(_) => false,
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(error),
    };
    let aside = durable::write_aside(path, bytes)?;
    if is_file && exchange(aside.path(), path).is_ok() {
        // What is aside now is the old content, which nobody holds: another process may remove it as a leftover.
        return match aside.close() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(true),
        };
    }
    aside.persist(path).map_err(|error| error.error)?;
    Ok(true)
}

/// Lets two files change places, in one step. Some file systems flush a file that is renamed over
/// another, which costs as much as a sync; this one is made anew if it is lost, and needs none.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).map_err(io::Error::from)
}

/// Removes what processes that were killed while replacing a file or a folder left in the folder `dir`.
///
/// Returns how many files and folders that were. A file whose writer lives stays. A folder has no such lock: where folders are
/// replaced, this is to be called under the lock of `dir`.
pub fn remove_leftovers(dir: &Path) -> io::Result<usize> {
    remove(dir, true)
}

/// Removes the files among these, and returns how many that were. No lock is needed for that.
pub fn remove_dead_files(dir: &Path) -> io::Result<usize> {
    remove(dir, false)
}

fn remove(dir: &Path, with_folders: bool) -> io::Result<usize> {
    let mut removed = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !(name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX)) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            if !with_folders {
                continue;
            }
            fs::remove_dir_all(entry.path())?;
        } else {
            // Held until it is removed, so that nobody takes it for a new one of theirs.
            let file = durable::open_file(&entry.path());
            let is_held = match &file {
                Ok(file) => file.try_lock().is_err(),
                // It is another user's, who may still be at it.
                Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
            };
            if is_held {
                continue;
            }
            fs::remove_file(entry.path())?;
        }
        removed += 1;
    }
    Ok(removed)
}
