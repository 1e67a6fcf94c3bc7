//! What Cargo has built of the packages that a project depends on, taken from one folder into another.
//!
//! Cargo has the same names for it in each folder that it builds into, and takes it for its own. A library is a file that its compiler puts
//! another one in the place of, and never writes into: it is linked, and takes no room. All else is copied, with its times.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Takes over what lies in `from`, where the packages of this `Cargo.lock` come from elsewhere. What cannot be read is left out: it is built
/// anew then.
pub fn take_over(from: &Path, to: &Path, lock: &str) -> io::Result<()> {
    let packages = from_elsewhere(lock);
    for profile in entries(from) {
        let name = profile.file_name();
        if profile.path().join(UNITS).is_dir() && !to.join(&name).exists() {
            of_profile(&profile.path(), &to.join(&name), &packages)?;
        }
    }
    Ok(())
}

/// Here Cargo notes what it has built, in a folder for each unit: the name of its package, and a hash.
const UNITS: &str = ".fingerprint";

/// The names of packages that are none of the project.
fn from_elsewhere(lock: &str) -> HashSet<String> {
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
    elsewhere
}

fn of_profile(from: &Path, to: &Path, packages: &HashSet<String>) -> io::Result<()> {
    let units: Vec<_> = entries(&from.join(UNITS))
        .filter_map(|unit| {
            let unit = unit.file_name().into_string().ok()?;
            let (package, _) = unit.rsplit_once('-')?;
            packages.contains(package).then_some(unit)
        })
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
    for place in ["build", UNITS] {
        for unit in &units {
            let own = from.join(place).join(unit);
            if own.is_dir() {
                take(&own, &to.join(place).join(unit))?;
            }
        }
    }
    Ok(())
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
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("target"), folder.path().join("to"));
        for path in [
            "debug/.fingerprint/serde-1a/lib-serde",
            "debug/.fingerprint/own-2b/lib-own",
            "debug/.fingerprint/both-3c/lib-both",
            "debug/build/serde-1a/out/made.rs",
            "debug/build/own-2b/out/made.rs",
            "debug/deps/libserde-1a.rlib",
            "debug/deps/libserde-1a.rmeta",
            "debug/deps/serde-1a.d",
            "debug/deps/libown-2b.rlib",
            "debug/deps/libboth-3c.rlib",
            "debug/incremental/own-2b/x",
            "tmp/x",
        ] {
            let path = from.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let then = SystemTime::now() - Duration::from_hours(1);
        let dated = from.join("debug/deps/serde-1a.d");
        let open = File::options().write(true).open(&dated).unwrap();
        open.set_modified(then).unwrap();
        take_over(&from, &to, LOCK).unwrap();

        let mut taken = Vec::new();
        let mut open = vec![to.clone()];
        while let Some(folder) = open.pop() {
            for entry in entries(&folder) {
                if entry.path().is_dir() {
                    open.push(entry.path());
                } else {
                    let path = entry.path();
                    taken.push(path.strip_prefix(&to).unwrap().display().to_string());
                }
            }
        }
        taken.sort();
        assert_eq!(
            taken,
            [
                "debug/.fingerprint/serde-1a/lib-serde",
                "debug/build/serde-1a/out/made.rs",
                "debug/deps/libserde-1a.rlib",
                "debug/deps/libserde-1a.rmeta",
                "debug/deps/serde-1a.d",
            ]
        );
        let about =
            |root: &Path, name: &str| root.join("debug/deps").join(name).metadata().unwrap();
        let file = "libserde-1a.rlib";
        assert_eq!(about(&from, file).ino(), about(&to, file).ino());
        let file = "serde-1a.d";
        assert_ne!(about(&from, file).ino(), about(&to, file).ino());
        assert_eq!(about(&to, file).modified().unwrap(), then);
    }

    #[test]
    fn what_is_no_lock_file_takes_nothing_over() {
        for lock in ["", "{", "[[package]]\n", "package = 1"] {
            assert!(from_elsewhere(lock).is_empty(), "{lock}");
        }
    }
}
