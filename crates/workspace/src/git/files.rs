//! Files and folders of working trees, where links are never followed.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Syncs a file or a folder as far as that can be done. What cannot be synced is as git would leave it.
pub(super) fn sync(path: &Path) {
    // Neither through a link, nor a pipe that waits for somebody.
    if fs::symlink_metadata(path).is_ok_and(|about| about.is_file() || about.is_dir())
        && let Ok(file) = File::open(path)
    {
        drop(file.sync_all());
    }
}

pub(super) fn lstat(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Nothing there, or a file where a folder would have to be.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether a folder on the way is a symbolic link.
pub(super) fn has_link(root: &Path, folders: &Path) -> bool {
    let mut folder = root.to_owned();
    folders.components().any(|part| {
        folder.push(part);
        folder.is_symlink()
    })
}

/// Removes a file, a link, or a folder with all that is in it, if it is there.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match lstat(path)? {
        None => Ok(()),
        Some(found) if found.is_dir() => fs::remove_dir_all(path),
        Some(_) => fs::remove_file(path),
    }
}

/// Removes the folders that hold nothing any more, as git has none.
pub(super) fn remove_empty(root: &Path, folders: &Path) {
    for folder in folders
        .ancestors()
        .take_while(|folder| *folder != Path::new(""))
    {
        if fs::remove_dir(root.join(folder)).is_err() {
            return;
        }
    }
}
