//! What Cargo has built in checkouts, kept from one to the next, so that the packages a project depends on are built once.
//!
//! It lies in a folder of its own within the project's `target`: what is built in the working tree has the same names there, and would
//! be taken for it. Of packages from elsewhere it begins with what was built for the working tree. Cargo goes by times: a checkout's files
//! are written later than whatever was built before it, so that everything of the project itself is built anew.

mod dependencies;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Under this name it lies in the folder that Cargo builds into.
const NAME: &str = "tramline";
/// So many checkouts are there at once, each with its own.
const MOST: usize = 3;
/// By this file a folder says that it holds what can be made again; see <https://bford.info/cachedir/>.
const TAG: &str = "CACHEDIR.TAG";

/// A folder for one checkout at a time.
#[derive(Debug)]
pub struct BuildCache {
    path: PathBuf,
    /// Held as long as the checkout is there.
    _lock: File,
}

impl BuildCache {
    /// A free one in the folder that Cargo builds the project into; none where it has built nothing there, or where all are taken.
    /// `folder` is where the project lies, at or below `top`.
    pub fn take(folder: &Path, top: &Path) -> Option<Self> {
        Self::within(&target(folder, top)?, folder, top)
    }

    fn within(target: &Path, folder: &Path, top: &Path) -> Option<Self> {
        let target = fs::canonicalize(target).ok()?;
        let mut numbers = 0..MOST;
        let cache = numbers
            .find_map(|number| Self::locked(target.join(NAME).join(number.to_string())).ok())?;
        let mut above = folder
            .ancestors()
            .take_while(|above| above.starts_with(top));
        if let Some(lock) =
            above.find_map(|above| fs::read_to_string(above.join("Cargo.lock")).ok())
        {
            // Whatever is not there is built.
            drop(dependencies::take_over(&target, &cache.path, &lock));
        }
        Some(cache)
    }

    fn locked(path: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&path)?;
        if fs::canonicalize(&path)? != path {
            // Nothing is taken away behind a link.
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let lock = File::options()
            .create(true)
            .append(true)
            .open(path.with_extension("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if is_of_later(&path) {
            fs::remove_dir_all(&path)?;
        }
        // Tests keep files of their own in this one.
        match fs::remove_dir_all(path.join("tmp")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The folder that Cargo builds a project into; none where it has built nothing. `folder` is where the project lies, at or below `top`.
pub fn target(folder: &Path, top: &Path) -> Option<PathBuf> {
    named_target(env::var_os("CARGO_TARGET_DIR"), folder, top)
}

fn named_target(named: Option<OsString>, folder: &Path, top: &Path) -> Option<PathBuf> {
    let is_it = |target: &PathBuf| target.join(TAG).is_file();
    if let Some(named) = named {
        return Some(folder.join(named)).filter(is_it);
    }
    let own = folder
        .ancestors()
        .take_while(|above| above.starts_with(top));
    own.map(|above| above.join("target")).find(is_it)
}

/// Whether something was built there at a time that is still to come: it would be taken for newer than every file.
fn is_of_later(path: &Path) -> bool {
    let now = SystemTime::now();
    let is_later = |path: PathBuf| {
        let modified = path.symlink_metadata().and_then(|found| found.modified());
        modified.is_ok_and(|time| time > now)
    };
    // Of a platform that is named to Cargo the profiles lie one deeper.
    let profiles = below(path).flat_map(|profile| below(&profile).chain([profile]));
    let mut units = profiles.flat_map(|profile| below(&profile.join(".fingerprint")));
    units.any(|unit| below(&unit).any(is_later))
}

fn below(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = path.read_dir().into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A project in which Cargo has built something.
    fn built() -> tempfile::TempDir {
        let project = tempfile::tempdir().unwrap();
        fs::create_dir_all(project.path().join("target")).unwrap();
        fs::create_dir_all(project.path().join("crates/own")).unwrap();
        fs::write(project.path().join("target").join(TAG), "").unwrap();
        project
    }

    fn take(project: &tempfile::TempDir) -> Option<BuildCache> {
        let (folder, top) = (project.path().join("crates/own"), project.path());
        BuildCache::within(&named_target(None, &folder, top)?, &folder, top)
    }

    fn name(cache: &BuildCache) -> PathBuf {
        let parent = cache.path().parent().and_then(Path::parent).unwrap();
        cache.path().strip_prefix(parent).unwrap().to_owned()
    }

    #[test]
    fn each_checkout_has_its_own_and_the_next_one_takes_it_again() {
        let project = built();
        let first = take(&project).unwrap();
        let second = take(&project).unwrap();
        assert_eq!(name(&first), Path::new("tramline/0"));
        assert_eq!(name(&second), Path::new("tramline/1"));
        let last = take(&project).unwrap();
        assert!(take(&project).is_none());
        drop(last);
        for place in ["debug", "tmp"] {
            fs::create_dir_all(first.path().join(place)).unwrap();
        }
        drop(first);
        let third = take(&project).unwrap();
        assert_eq!(name(&third), Path::new("tramline/0"));
        assert!(third.path().join("debug").is_dir());
        assert!(!third.path().join("tmp").exists());
    }

    #[test]
    fn there_is_none_where_cargo_has_built_nothing() {
        let project = built();
        fs::remove_file(project.path().join("target").join(TAG)).unwrap();
        assert!(take(&project).is_none());
        let named = |name: &str| named_target(Some(name.into()), project.path(), project.path());
        assert_eq!(named("built"), None);
        fs::create_dir(project.path().join("built")).unwrap();
        fs::write(project.path().join("built").join(TAG), "").unwrap();
        assert_eq!(named("built"), Some(project.path().join("built")));
    }

    #[test]
    fn what_was_built_in_the_future_is_built_anew() {
        let project = built();
        for profile in ["debug", "some-platform/debug"] {
            let cache = take(&project).unwrap();
            let unit = cache.path().join(profile).join(".fingerprint/shop-0");
            fs::create_dir_all(&unit).unwrap();
            let stamp = File::create(unit.join("dep-test-lib-shop")).unwrap();
            drop(cache);
            assert!(take(&project).unwrap().path().join(profile).is_dir());
            let later = SystemTime::now() + Duration::from_hours(1);
            stamp.set_modified(later).unwrap();
            assert!(!take(&project).unwrap().path().join(profile).exists());
        }
    }

    #[test]
    fn nothing_is_taken_away_behind_a_link() {
        let project = built();
        let theirs = tempfile::tempdir().unwrap();
        fs::create_dir(theirs.path().join("tmp")).unwrap();
        fs::create_dir(project.path().join("target/tramline")).unwrap();
        let link = project.path().join("target/tramline/0");
        std::os::unix::fs::symlink(theirs.path(), link).unwrap();
        assert_eq!(name(&take(&project).unwrap()), Path::new("tramline/1"));
        assert!(theirs.path().join("tmp").exists());
    }
}
