//! What Cargo has built in checkouts, kept from one to the next, so that the packages a project depends on are built once.
//!
//! It lies in a folder of its own within the project's `target`: what is built in the working tree has the same names there, and would
//! be taken for it. Of packages from elsewhere it begins with what was built for the working tree. What was built of the project itself is
//! forgotten from one checkout to the next: Cargo goes by times, and takes what has one to come for newer than every file.

mod dependencies;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use dependencies::Dependencies;

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
        let lock = above.find_map(|above| fs::read_to_string(above.join("Cargo.lock")).ok());
        let dependencies = Dependencies::of(&lock.unwrap_or_default());
        dependencies.forget_others(&cache.path).ok()?;
        // Whatever is not there is built.
        drop(dependencies.take_over(&target, &cache.path));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A project in which Cargo has built something.
    fn built() -> tempfile::TempDir {
        let project = testkit::folder();
        fs::create_dir_all(project.path().join("crates/own")).unwrap();
        testkit::files::write(&project.path().join("target").join(TAG), "");
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
        let target = project.path().join("built");
        let named = || named_target(Some("built".into()), project.path(), project.path());
        assert_eq!(named(), None);
        testkit::files::write(&target.join(TAG), "");
        assert_eq!(named(), Some(target));
    }

    #[test]
    fn what_was_built_of_the_project_is_forgotten() {
        let project = built();
        let lock = "[[package]]\nname = \"serde\"\nsource = \"registry+there\"\n\n[[package]]\nname = \"shop\"\n";
        let path = project.path().join("Cargo.lock");
        let cases =
            ["debug", "some-platform/debug"].map(|profile| [(profile, true), (profile, false)]);
        for (profile, stays) in cases.concat() {
            fs::write(&path, lock).unwrap();
            if !stays {
                fs::remove_file(&path).unwrap();
            }
            let units = |cache: &BuildCache, unit: &str| {
                let profile = cache.path().join(profile);
                [".fingerprint", "build"].map(|place| profile.join(place).join(unit))
            };
            let cache = take(&project).unwrap();
            for unit in ["shop-0", "serde-1", "gone-2"] {
                for unit in units(&cache, unit) {
                    fs::create_dir_all(unit).unwrap();
                }
            }
            drop(cache);
            let cache = take(&project).unwrap();
            for (unit, stays) in [("serde-1", stays), ("shop-0", false), ("gone-2", false)] {
                let are_there = units(&cache, unit).map(|unit| unit.exists());
                assert_eq!(are_there, [stays; 2], "{profile} {unit}");
            }
        }
    }

    #[test]
    fn nothing_is_taken_away_behind_a_link() {
        use std::os::unix::fs::symlink;
        let (project, theirs) = (built(), testkit::folder());
        let units = theirs.path().join(".fingerprint/shop-0");
        for folder in [&theirs.path().join("tmp"), &units] {
            fs::create_dir_all(folder).unwrap();
        }
        let ours = project.path().join("target/tramline");
        fs::create_dir(&ours).unwrap();
        symlink(theirs.path(), ours.join("0")).unwrap();
        assert_eq!(name(&take(&project).unwrap()), Path::new("tramline/1"));
        let debug = ours.join("1/debug");
        symlink(theirs.path(), &debug).unwrap();
        let cache = take(&project).unwrap();
        assert!(!cache.path().join("debug").exists());
        fs::create_dir(&debug).unwrap();
        symlink(theirs.path().join(".fingerprint"), debug.join("build")).unwrap();
        drop(cache);
        assert!(!take(&project).unwrap().path().join("debug/build").exists());
        assert!(units.is_dir() && theirs.path().join("tmp").exists());
    }
}
