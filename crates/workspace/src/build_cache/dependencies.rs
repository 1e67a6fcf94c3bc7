//! What Cargo has built of the packages that a project depends on, taken from one folder into another, or left alone there.
//!
//! Cargo has the same names for it in each folder that it builds into, and takes it for its own. A library is a file that its compiler puts
//! another one in the place of, and never writes into: it is linked, and takes no room. All else is copied, with its times.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Here Cargo notes what it has built, in a folder for each unit: the name of its package, and a hash.
const UNITS: &str = ".fingerprint";
/// Here is what build scripts have made and said, in folders of the same names.
const SCRIPTS: &str = "build";

/// The packages of a project that come from elsewhere.
#[derive(Debug, Default)]
pub struct Dependencies(HashSet<String>);

impl Dependencies {
    /// Those of a `Cargo.lock`; of what is none of these there are none.
    pub fn of(lock: &str) -> Self {
        let lock: toml::Table = toml::from_str(lock).unwrap_or_default();
        let packages = lock.get("package").and_then(toml::Value::as_array);
        let (mut elsewhere, mut own) = (HashSet::new(), HashSet::new());
        for package in packages.into_iter().flatten() {
            if let Some(name) = package.get("name").and_then(toml::Value::as_str) {
                if package.get("source").is_some() {
                    elsewhere.insert(name.to_owned());
                } else {
                    own.insert(name.to_owned());
                }
            }
        }
        elsewhere.retain(|name| !own.contains(name));
        Self(elsewhere)
    }

    fn own(&self, unit: &str) -> bool {
        let package = unit.rsplit_once('-').map(|(package, _)| package);
        package.is_some_and(|package| self.0.contains(package))
    }

    /// Takes over what lies in `from`. What cannot be read is left out: it is built anew then.
    pub fn take_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        for profile in entries(from) {
            let name = profile.file_name();
            if profile.path().join(UNITS).is_dir() && !to.join(&name).exists() {
                self.of_profile(&profile.path(), &to.join(&name))?;
            }
        }
        Ok(())
    }

    fn of_profile(&self, from: &Path, to: &Path) -> io::Result<()> {
        let units: Vec<String> = entries(&from.join(UNITS))
            .filter_map(|unit| unit.file_name().into_string().ok())
            .filter(|unit| self.own(unit))
            .collect();
        let hashes: HashSet<&str> = units
            .iter()
            .filter_map(|unit| Some(unit.rsplit_once('-')?.1))
            .collect();
        fs::create_dir_all(to.join("deps"))?;
        for file in entries(&from.join("deps")) {
            let name = file.file_name();
            let stem = name.to_str().and_then(|name| name.split('.').next());
            let hash = stem.and_then(|stem| Some(stem.rsplit_once('-')?.1));
            if hash.is_some_and(|hash| hashes.contains(hash)) {
                take(&file.path(), &to.join("deps").join(&name))?;
            }
        }
        // What is noted comes last: of what is noted all is there.
        for place in [SCRIPTS, UNITS] {
            for unit in &units {
                let own = from.join(place).join(unit);
                if own.is_dir() {
                    take(&own, &to.join(place).join(unit))?;
                }
            }
        }
        Ok(())
    }

    /// Has all that was built of other packages forgotten, and takes links away that lead to another place.
    pub fn forget_others(&self, built: &Path) -> io::Result<()> {
        let mut level = vec![built.to_owned()];
        // Of a platform that is named to Cargo the profiles lie one deeper.
        for _ in ["platform", "profile", "place"] {
            let mut below = Vec::new();
            for folder in &level {
                below.extend(folders(folder)?);
            }
            let is_of_units = |place: &&PathBuf| place.ends_with(UNITS) || place.ends_with(SCRIPTS);
            for place in below.iter().filter(is_of_units) {
                for unit in folders(place)? {
                    let name = unit.file_name().and_then(OsStr::to_str);
                    if !name.is_some_and(|name| self.own(name)) {
                        fs::remove_dir_all(unit)?;
                    }
                }
            }
            level = below;
        }
        Ok(())
    }
}

/// The folders within one, without links, which are removed.
fn folders(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in entries(path) {
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            fs::remove_file(entry.path())?;
        } else if kind.is_dir() {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

fn take(from: &Path, to: &Path) -> io::Result<()> {
    let about = from.symlink_metadata()?;
    if about.is_dir() {
        fs::create_dir_all(to)?;
        return entries(from)
            .try_for_each(|entry| take(&entry.path(), &to.join(entry.file_name())));
    }
    if about.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    let ending = from.extension().and_then(OsStr::to_str);
    if matches!(ending, Some("rlib" | "rmeta")) && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    // To be its owner is enough for that.
    File::open(to)?.set_modified(about.modified()?)
}

fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    folder.read_dir().into_iter().flatten().flatten()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;
    use std::time::{Duration, SystemTime};

    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"own\"\n\n[[package]]\nname = \"serde\"\nsource = \"registry+there\"\n\n[[package]]\nname = \"both\"\nsource = \"registry+there\"\n\n[[package]]\nname = \"both\"\n";

    #[test]
    fn what_others_wrote_is_taken_over_and_nothing_of_the_project() {
        let folder = testkit::folder();
        let (from, to) = (folder.path().join("target"), folder.path().join("to"));
        let others = ".fingerprint/serde-1a/lib-serde build/serde-1a/out/made.rs deps/libserde-1a.rlib \
                      deps/libserde-1a.rmeta deps/serde-1a.d";
        let own = ".fingerprint/own-2b/lib-own .fingerprint/both-3c/lib-both build/own-2b/out/made.rs \
                   deps/libown-2b.rlib deps/libboth-3c.rlib incremental/own-2b/x ../tmp/x";
        for path in others.split(' ').chain(own.split(' ')) {
            testkit::files::write(&from.join("debug").join(path), "x");
        }
        let then = SystemTime::now() - Duration::from_hours(1);
        let dated = from.join("debug/deps/serde-1a.d");
        let open = File::options().write(true).open(&dated).unwrap();
        open.set_modified(then).unwrap();
        Dependencies::of(LOCK).take_over(&from, &to).unwrap();

        let taken = testkit::files::contents(&to).into_keys();
        let taken: Vec<String> = taken.filter(|path| !path.ends_with('/')).collect();
        let expected = others.split(' ').map(|path| format!("debug/{path}"));
        assert_eq!(taken, expected.collect::<Vec<_>>());
        let about = |root: &Path, name| root.join("debug/deps").join(name).metadata().unwrap();
        for (file, is_shared) in [("libserde-1a.rlib", true), ("serde-1a.d", false)] {
            let is = about(&from, file).ino() == about(&to, file).ino();
            assert_eq!(is, is_shared, "{file}");
        }
        assert_eq!(about(&to, "serde-1a.d").modified().unwrap(), then);
    }

    #[test]
    fn what_is_no_lock_file_takes_nothing_over() {
        for lock in ["", "{", "[[package]]\n", "package = 1"] {
            assert!(Dependencies::of(lock).0.is_empty(), "{lock}");
        }
    }
}
