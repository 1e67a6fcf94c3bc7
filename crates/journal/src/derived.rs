//! Files that can be rebuilt from the journal: replaced as a whole, only when they change, and never synced.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::durable::{self, TEMPORARY_PREFIX, TEMPORARY_SUFFIX};

/// Makes `bytes` the content of `path`, unless they are that already. Returns whether it wrote.
///
/// A reader sees the old content or the new. The file is readable by its owner alone. Its folder must exist.
pub fn replace_if_changed(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let is_file = match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => {
            if found.len() == bytes.len() as u64 && has_content(path, bytes)? {
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
        // What is aside now is the old content.
        aside.close()?;
        return Ok(true);
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

fn has_content(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    Ok(durable::read_if_there(path)?.is_some_and(|content| content == bytes))
}

/// Removes what processes that were killed while replacing a file or a folder left in the folder `dir`.
///
/// Returns how many files and folders that were. To be called under the lock of the folder, so that no replacement is under way.
pub fn remove_leftovers(dir: &Path) -> io::Result<usize> {
    remove_leftovers_older(dir, Duration::ZERO)
}

/// The same of a folder that has no lock: only what was not changed for so long.
pub fn remove_leftovers_older(dir: &Path, age: Duration) -> io::Result<usize> {
    let mut removed = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_old = || {
            let changed = entry.metadata().and_then(|about| about.modified());
            // Of what is from the future nothing is known.
            changed.is_ok_and(|at| at.elapsed().is_ok_and(|since| since >= age))
        };
        if name.starts_with(TEMPORARY_PREFIX)
            && name.ends_with(TEMPORARY_SUFFIX)
            && (age.is_zero() || is_old())
        {
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
            removed += 1;
        }
    }
    Ok(removed)
}
