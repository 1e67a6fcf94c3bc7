//! The environment of a suite on the bench: what its tools need, an empty home, and nothing else. What somebody has set in a shell, or
//! keeps in the home folder for other things, decides about no test. What a toolchain keeps there is given with all that is in it, such
//! as a registry's token.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Names of variables, and places in the home folder.
const PASSES: &str = include_str!("environment.txt");
/// Parts of the names of variables that hold secrets.
const SECRET: &[&str] = &["TOKEN", "KEY", "SECRET", "PASSWORD", "CREDENTIAL", "AUTH"];

/// The variables that a suite is given, with `home` as its home folder, which is made and given links to what tools keep in the user's.
/// `wanted` are the names of others that it needs.
///
/// # Errors
/// Where the folder cannot be written to.
pub fn suite_environment(home: &Path, wanted: &[String]) -> io::Result<Vec<(OsString, OsString)>> {
    fs::create_dir_all(home)?;
    if let Some(own) = env::home_dir() {
        for place in lines().filter_map(|line| line.strip_prefix("~/")) {
            let real = real_place(&own, place);
            let link = home.join(place);
            if let Some(above) = link.parent()
                && real.exists()
            {
                fs::create_dir_all(above)?;
                symlink(&real, &link)?;
            }
        }
    }
    let home = ("HOME".into(), home.as_os_str().to_owned());
    let mut all = passed_variables(wanted);
    all.push(home);
    Ok(all)
}

/// The variables of this process that a suite is given. `wanted` are the names of others that it needs.
pub fn passed_variables(wanted: &[String]) -> Vec<(OsString, OsString)> {
    let is_passed = |name: &str| {
        name != "HOME" && (passes(name) || wanted.iter().any(|one| stands_for(one, name)))
    };
    env::vars_os()
        .filter(|(name, _)| name.to_str().is_some_and(is_passed))
        .collect()
}

fn lines() -> impl Iterator<Item = &'static str> {
    let lines = PASSES.lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Where a place of the home folder really is: folders of caches and data may be elsewhere.
fn real_place(home: &Path, place: &str) -> PathBuf {
    let moved = [
        (".cache/", "XDG_CACHE_HOME"),
        (".config/", "XDG_CONFIG_HOME"),
        (".local/share/", "XDG_DATA_HOME"),
    ];
    let moved = moved.iter().find_map(|(above, variable)| {
        let folder = env::var_os(variable).filter(|folder| !folder.is_empty())?;
        Some(Path::new(&folder).join(place.strip_prefix(above)?))
    });
    moved.unwrap_or_else(|| home.join(place))
}

fn passes(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    !SECRET.iter().any(|part| upper.contains(part)) && lines().any(|line| stands_for(line, name))
}

/// Whether a pattern stands for a name: it is the same, or ends with `*` and begins as the name does.
fn stands_for(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_given_what_they_need_and_no_secret_is() {
        for name in [
            "PATH",
            "LC_ALL",
            "GOFLAGS",
            "RUSTUP_TOOLCHAIN",
            "npm_config_cache",
        ] {
            assert!(passes(name), "{name}");
        }
        for name in [
            "HOME",
            "GOOGLE_API_KEY",
            "CARGO_REGISTRY_TOKEN",
            "npm_config__authToken",
            "DATABASE_URL",
            "LD_PRELOAD",
            "GIT_DIR",
        ] {
            assert!(!passes(name), "{name}");
        }
        assert!(stands_for("DATABASE_*", "DATABASE_URL"));
    }

    #[test]
    fn a_home_holds_what_tools_keep_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let given = suite_environment(&home, &[]).unwrap();
        assert!(given.contains(&("HOME".into(), home.clone().into())));
        assert!(home.is_dir());
        assert!(!home.join(".gitconfig").exists() && !home.join(".ssh").exists());
    }
}
