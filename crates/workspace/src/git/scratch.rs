//! A folder for what a command of ours hands to git or has git make, and nobody else is to see.
//!
//! It lies where a later command finds it and clears it away if the one that made it was killed: in the git folder, where
//! no git looks at it, or among the system's temporary files. Whether it is still in use is told by a lock, which ends with the process that holds
//! it, and by the git that was started with it, which may outlive that process.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::process::ProcessGroup;

/// What the names of these folders begin with.
const PREFIX: &str = "tramline-scratch-";

/// The process group of the git that reads from the folder.
const GROUP: &str = "group";

/// How old a folder must be whose [`GROUP`] is cut off, so that nobody knows which git reads from it.
const OLD: Duration = Duration::from_hours(1);

/// A folder that goes away when it is dropped.
pub struct Scratch {
    folder: PathBuf,
    /// Held until the folder is gone.
    _lock: Option<File>,
}

impl Scratch {
    /// A folder in `git_dir`, from which those that nobody uses any more are cleared; among the system's temporary
    /// files where nothing can be written there, as where only the working tree is open to us.
    pub(super) fn new(git_dir: &Path) -> io::Result<Self> {
        clear(git_dir, PREFIX);
        Self::within(git_dir, PREFIX).or_else(|_| Self::within(&std::env::temp_dir(), PREFIX))
    }

    /// Removes the folders in `git_dir` that nobody uses any more.
    pub(super) fn clear(git_dir: &Path) {
        clear(git_dir, PREFIX);
    }

    /// A folder among the system's temporary files. Those with this prefix that nobody uses any more are removed.
    pub fn temporary(prefix: &str) -> io::Result<Self> {
        let parent = std::env::temp_dir();
        clear(&parent, prefix);
        Self::within(&parent, prefix)
    }

    /// A folder in `parent` whose name is `prefix` and the first number that is free, so that one after the other has the same:
    /// some tools keep what they make under the path it was made from. Those with this prefix that nobody uses any more are
    /// cleared away.
    pub(super) fn numbered(parent: &Path, prefix: &str) -> io::Result<Self> {
        /// Who finds all of these taken shares the parent with somebody who is up to no good.
        const MOST: u32 = 1000;
        clear(parent, prefix);
        for number in 0..MOST {
            let name = format!("{prefix}{number}");
            match tempfile::Builder::new()
                .prefix(&name)
                .rand_bytes(0)
                .tempdir_in(parent)
            {
                Ok(folder) => {
                    if let Some(scratch) = Self::locked(folder)? {
                        return Ok(scratch);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Self::within(parent, prefix)
    }

    fn within(parent: &Path, prefix: &str) -> io::Result<Self> {
        loop {
            let folder = tempfile::Builder::new()
                .prefix(prefix)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(parent)?;
            if let Some(scratch) = Self::locked(folder)? {
                return Ok(scratch);
            }
        }
    }

    /// One of a folder that was just made; none where it is taken from us.
    fn locked(folder: TempDir) -> io::Result<Option<Self>> {
        // It is not taken away by its name alone: that may be another's by then.
        let folder = folder.keep();
        let lock = match File::open(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let lock = match lock.try_lock() {
            Ok(()) if is_file_at(&lock, &folder) => Some(lock),
            // Before it was locked, somebody who clears up may have taken it for a folder that was left behind.
            Ok(()) | Err(TryLockError::WouldBlock) => return Ok(None),
            // No locks here: then nobody can clear up either.
            Err(TryLockError::Error(_)) => None,
        };
        Ok(Some(Self {
            folder,
            _lock: lock,
        }))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Tells that a git reads from the folder: as long as it runs, nobody clears the folder away.
    pub(super) fn used_by(&self, group: &ProcessGroup) {
        // Best effort: it matters only if this process is killed, and another one comes while that git still runs.
        if let Ok(text) = serde_json::to_vec(group) {
            drop(fs::write(self.path().join(GROUP), text));
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(remove(&self.folder));
    }
}

/// Removes the folders that nobody uses any more. What cannot be removed stays for the next time.
fn clear(parent: &Path, prefix: &str) {
    let Ok(entries) = parent.read_dir() else {
        return;
    };
    for entry in entries.flatten() {
        let named = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(prefix.as_bytes());
        if named && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            drop(remove_unused(&entry.path()));
        }
    }
}

fn remove_unused(folder: &Path) -> io::Result<()> {
    // Held until the folder is gone, so that of several who clear up one does it.
    let lock = File::open(folder)?;
    lock.try_lock()?;
    // Another one may have cleared up since it was opened, and a third one made a folder of the same name.
    if !is_file_at(&lock, folder) {
        return Ok(());
    }
    match fs::read(folder.join(GROUP)) {
        Ok(text) => match serde_json::from_slice::<ProcessGroup>(&text) {
            Ok(group) if group.is_alive() => return Ok(()),
            // Cut off by the end of the process that wrote it: the git may run all the same.
            Err(_) if !is_old(folder) => return Ok(()),
            _ => {}
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    remove(folder)
}

/// Removes a folder with all that is in it, also where something in it may not be written to.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(folder);
            fs::remove_dir_all(folder)
        }
        removed => removed,
    }
}

/// Lets the owner into every folder below, as far as that can be done. No link is followed.
fn open_up(folder: &Path) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        drop(fs::set_permissions(&folder, Permissions::from_mode(0o700)));
        let entries = folder.read_dir().into_iter().flatten().flatten();
        folders.extend(
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path()),
        );
    }
}

/// Whether this is the file that lies there now.
fn is_file_at(file: &File, path: &Path) -> bool {
    let own = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(opened), Ok(found)) => own(opened) == own(found),
        _ => false,
    }
}

fn is_old(folder: &Path) -> bool {
    let age = fs::metadata(folder)
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|modified| modified.elapsed().ok());
    age.is_some_and(|age| age > OLD)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    /// The folders of this kind in `parent`, by name.
    fn folders(parent: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(parent)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A folder as a process that was killed leaves it.
    fn left_behind(parent: &Path, name: &str, files: &[(&str, &str)]) -> String {
        let name = format!("{PREFIX}{name}");
        fs::create_dir_all(parent.join(&name).join("objects/ab")).unwrap();
        for (file, text) in files {
            fs::write(parent.join(&name).join(file), text).unwrap();
        }
        name
    }

    fn made_old(folder: &Path) {
        let then = SystemTime::now() - OLD - Duration::from_mins(1);
        File::open(folder).unwrap().set_modified(then).unwrap();
    }

    #[test]
    fn a_folder_goes_away_and_takes_with_it_what_was_left_behind() {
        let parent = tempfile::tempdir().unwrap();
        left_behind(parent.path(), "a", &[("message", "feat")]);
        let dead = r#"{"id":1}"#;
        left_behind(parent.path(), "b", &[(GROUP, dead)]);
        fs::create_dir(parent.path().join(format!("{PREFIX}empty"))).unwrap();
        fs::write(parent.path().join("index"), "").unwrap();
        let scratch = Scratch::new(parent.path()).unwrap();
        let name = scratch.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(folders(parent.path()), ["index", name]);
        drop(scratch);
        assert_eq!(folders(parent.path()), ["index"]);
    }

    #[test]
    fn a_folder_in_use_stays() {
        let parent = tempfile::tempdir().unwrap();
        let first = Scratch::new(parent.path()).unwrap();
        let second = Scratch::new(parent.path()).unwrap();
        assert_eq!(folders(parent.path()).len(), 2);
        drop((first, second));

        // Whoever made it is gone, but the git it started is not.
        let mut git = std::process::Command::new("cat");
        std::os::unix::process::CommandExt::process_group(&mut git, 0);
        let mut git = git.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let group = ProcessGroup::of_leader(i32::try_from(git.id()).unwrap());
        let text = serde_json::to_string(&group).unwrap();
        let name = left_behind(parent.path(), "a", &[(GROUP, &text)]);
        clear(parent.path(), PREFIX);
        assert_eq!(folders(parent.path()), [name]);
        drop(git.stdin.take());
        git.wait().unwrap();
        clear(parent.path(), PREFIX);
        assert_eq!(folders(parent.path()), [""; 0]);
    }

    #[test]
    fn a_folder_that_does_not_say_which_git_uses_it_is_cleared_when_it_is_old() {
        let parent = tempfile::tempdir().unwrap();
        let name = left_behind(parent.path(), "b", &[(GROUP, "{\"i")]);
        clear(parent.path(), PREFIX);
        assert_eq!(folders(parent.path()), [name.as_str()]);
        made_old(&parent.path().join(&name));
        clear(parent.path(), PREFIX);
        assert_eq!(folders(parent.path()), [""; 0]);
    }

    #[test]
    fn what_is_not_ours_stays() {
        let parent = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("file"), "").unwrap();
        let link = parent.path().join(format!("{PREFIX}link"));
        std::os::unix::fs::symlink(outside.path(), &link).unwrap();
        fs::write(parent.path().join(format!("{PREFIX}file")), "").unwrap();
        fs::create_dir(parent.path().join("objects")).unwrap();
        clear(parent.path(), PREFIX);
        assert_eq!(folders(parent.path()).len(), 3);
        assert!(outside.path().join("file").exists());
    }

    #[test]
    fn many_at_once_do_not_take_each_other_for_dead() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let scratch = Scratch::new(parent.path()).unwrap();
                        fs::write(scratch.path().join("message"), "feat").unwrap();
                        assert!(scratch.path().join("message").exists());
                    }
                });
            }
        });
        assert_eq!(folders(parent.path()), [""; 0]);
    }

    #[test]
    fn numbers_are_taken_again_and_by_one_at_a_time() {
        let parent = tempfile::tempdir().unwrap();
        let name = |scratch: &Scratch| scratch.path().file_name().unwrap().to_owned();
        let first = Scratch::numbered(parent.path(), "checkout-").unwrap();
        let second = Scratch::numbered(parent.path(), "checkout-").unwrap();
        assert_eq!(name(&first), "checkout-0");
        assert_eq!(name(&second), "checkout-1");
        drop(first);
        let third = Scratch::numbered(parent.path(), "checkout-").unwrap();
        assert_eq!(name(&third), "checkout-0");
        drop((second, third));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let scratch = Scratch::numbered(parent.path(), "checkout-").unwrap();
                        File::create_new(scratch.path().join("own")).unwrap();
                        assert!(scratch.path().join("own").exists());
                    }
                });
            }
        });
        assert_eq!(folders(parent.path()), [""; 0]);
    }

    #[test]
    fn where_nothing_can_be_written_it_lies_elsewhere() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(&parent.path().join("nowhere")).unwrap();
        assert!(scratch.path().starts_with(std::env::temp_dir()));
    }
}
