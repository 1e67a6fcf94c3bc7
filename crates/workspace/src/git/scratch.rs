//! A folder for what a command of ours hands to git or has git make, and nobody else is to see.
//!
//! It lies where a later command finds it and clears it away if the one that made it was killed: in the git folder, where
//! no git looks at it, or among the system's temporary files. Whether it is still in use is told by a lock, which ends with the process that holds
//! it, and by the git that was started with it, which may outlive that process.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::process::ProcessGroup;

/// What the names of these folders begin with.
const PREFIX: &str = "tramline-scratch-";

/// The process group of the git that reads from the folder.
const GROUP: &str = "group";
/// The same, while it is written.
const GROUP_ASIDE: &str = "group-aside";

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
            // It is there whole, or not at all, whenever this process is killed.
            let (place, aside) = (self.path().join(GROUP), self.path().join(GROUP_ASIDE));
            drop(fs::write(&aside, text).and_then(|()| fs::rename(&aside, place)));
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(remove_whole(&self.folder));
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
    let text = fs::read(folder.join(GROUP)).unwrap_or_default();
    let group = serde_json::from_slice::<ProcessGroup>(&text).ok();
    if group.is_some_and(|group| group.is_alive()) {
        return Ok(());
    }
    remove_whole(folder)
}

/// Removes a folder, if it is there, with all that is in it, also where something in it may not be written to.
pub(super) fn remove_whole(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
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
pub(super) fn is_file_at(file: &File, path: &Path) -> bool {
    let own = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(opened), Ok(found)) => own(opened) == own(found),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The folders of this kind in `parent`, by name.
    fn folders(parent: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(parent.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// A folder as a process that was killed leaves it, and its name.
    fn left_behind(parent: &TempDir, name: &str, (file, text): (&str, &str)) -> String {
        let name = format!("{PREFIX}{name}");
        let folder = parent.path().join(&name);
        fs::create_dir_all(folder.join("objects/ab")).unwrap();
        fs::write(folder.join(file), text).unwrap();
        name
    }

    #[test]
    fn a_folder_goes_away_and_takes_with_it_what_was_left_behind() {
        let parent = testkit::folder();
        left_behind(&parent, "a", ("message", "feat"));
        left_behind(&parent, "b", (GROUP, r#"{"id":1}"#));
        fs::create_dir(parent.path().join(format!("{PREFIX}empty"))).unwrap();
        fs::write(parent.path().join("index"), "").unwrap();
        let scratch = Scratch::new(parent.path()).unwrap();
        let name = scratch.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(folders(&parent), ["index", name]);
        drop(scratch);
        assert_eq!(folders(&parent), ["index"]);
    }

    #[test]
    fn a_folder_in_use_stays() {
        let parent = testkit::folder();
        let clear = || clear(parent.path(), PREFIX);
        // Whoever made it is gone, but the git it started is not.
        let mut git = std::process::Command::new("cat");
        std::os::unix::process::CommandExt::process_group(&mut git, 0);
        let mut git = git.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let group = ProcessGroup::of_leader(i32::try_from(git.id()).unwrap());
        let text = serde_json::to_string(&group).unwrap();
        let name = left_behind(&parent, "a", (GROUP, &text));
        clear();
        assert_eq!(folders(&parent), [name]);
        drop(git.stdin.take());
        git.wait().unwrap();
        clear();
        assert_eq!(folders(&parent), [""; 0]);
        // Nobody got to say which git uses it.
        left_behind(&parent, "b", (GROUP_ASIDE, "{\"i"));
        clear();
        assert_eq!(folders(&parent), [""; 0]);
    }

    #[test]
    fn what_is_not_ours_stays() {
        let (parent, outside) = (testkit::folder(), testkit::folder());
        fs::write(outside.path().join("file"), "").unwrap();
        let link = parent.path().join(format!("{PREFIX}link"));
        std::os::unix::fs::symlink(outside.path(), &link).unwrap();
        fs::write(parent.path().join(format!("{PREFIX}file")), "").unwrap();
        fs::create_dir(parent.path().join("objects")).unwrap();
        clear(parent.path(), PREFIX);
        assert_eq!(folders(&parent).len(), 3);
        assert!(outside.path().join("file").exists());
    }

    #[test]
    fn many_at_once_do_not_take_each_other_for_dead() {
        let parent = testkit::folder();
        let use_one = || {
            let scratch = Scratch::new(parent.path()).unwrap();
            File::create_new(scratch.path().join("own")).unwrap();
            assert!(scratch.path().join("own").exists());
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..50).for_each(|_| use_one()));
            }
        });
        assert_eq!(folders(&parent), [""; 0]);
    }

    #[test]
    fn where_nothing_can_be_written_it_lies_elsewhere() {
        let scratch = Scratch::new(Path::new("/nowhere/there")).unwrap();
        assert!(scratch.path().starts_with(std::env::temp_dir()));
    }
}
