//! What runs the tests beside what the project has written: the runner's programs, and the variables that it obeys.
//!
//! A program of the runner's name that stands further ahead in `PATH`, a file of it that was written over, or a variable that loads
//! code into it decides about every test. So what they were is kept as hashes, and held against what they are. The same program of
//! the same package in another place, or started by another generated script, is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use journal::digest::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::process::is_program;
use crate::runner::adapter::without_packages;
use crate::runner::definition::{leads_to, without_wrappers};
use crate::runner::program::{Program, take_in};
use crate::suite::command_line::CommandLine;

/// Variables that load code into runners and linters, or choose what they run.
const VARIABLES: &str = include_str!("variables.txt");

/// Packages of Python that run tests, and modules that it loads before all others.
const PYTHON_MODULES: &[&str] = &[
    "_pytest",
    "pluggy",
    "pytest",
    "sitecustomize.py",
    "usercustomize.py",
];

/// Programs that start others in the environment of the project, whether it is activated or not.
const STARTS_IN_PROJECT: &[&str] = &["hatch", "pdm", "pipenv", "poetry", "rye", "uv"];

/// Folders of a project in which others' programs are installed.
const DEPENDENCIES: &[&str] = &["node_modules", "vendor", ".venv", "venv", "site-packages"];

/// No more files than this are read of packages.
const MOST_FILES: usize = 2_000;

/// The programs and variables that a test command is run by, as hashes of what they hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerIdentity {
    /// By the name of a program.
    pub programs: BTreeMap<String, String>,
    /// Where each of these was found first, for people.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, String>,
    /// By the name of a variable, if it is set.
    pub variables: BTreeMap<String, String>,
    /// What was copied to the bench, by its path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub copies: BTreeMap<String, String>,
}

impl RunnerIdentity {
    /// What is another than it was before, for people: of programs with their places, of variables without their values, which may
    /// be secret.
    pub fn changed_since(&self, before: &Self) -> Vec<String> {
        let programs = changed(&before.programs, &self.programs);
        let programs = programs.map(|name| {
            let place = |at: &Self| at.places.get(name).map(|place| format!("`{place}`"));
            let what = match (place(before), place(self)) {
                (Some(was), Some(is)) if was != is => format!("{was} before, {is} now"),
                (_, Some(is)) if before.programs.contains_key(name) => {
                    format!("{is}, or code that it loads, is not what it was")
                }
                (_, Some(is)) => format!("{is} is there now"),
                (Some(was), None) => format!("{was} is not there any more"),
                (None, None) => "another one".to_owned(),
            };
            format!("the program {name} ({what})")
        });
        let variables = changed(&before.variables, &self.variables).map(|name| {
            let is_set = |at: &Self| at.variables.contains_key(name);
            let what = match (is_set(before), is_set(self)) {
                (false, _) => "is set now",
                (_, false) => "is not set any more",
                _ => "has another value",
            };
            format!("the variable {name} ({what})")
        });
        let copies = changed(&before.copies, &self.copies);
        let copies = copies.map(|path| format!("{path}, which is copied to the bench"));
        programs.chain(variables).chain(copies).collect()
    }
}

fn changed<'a>(
    before: &'a BTreeMap<String, String>,
    now: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = &'a String> {
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    let other = now
        .iter()
        .filter(|(name, hash)| before.get(*name) != Some(hash));
    other.map(|(name, _)| name).chain(gone)
}

/// What the test command of the project at `root` is run by, with these variables.
pub fn identity(
    root: &Path,
    command: &str,
    variables: &BTreeMap<OsString, OsString>,
) -> RunnerIdentity {
    let path = variables
        .get(OsStr::new("PATH"))
        .cloned()
        .unwrap_or_default();
    let place = Place { root, path: &path };
    let mut programs = BTreeMap::new();
    let mut places = BTreeMap::new();
    let own = CommandLine::parse(command).map(|line| line.argv);
    for argv in own.into_iter().chain(leads_to(root, command)) {
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        // Both what finds a program among packages, and the program.
        let own = without_wrappers(&argv);
        let is_in_project = argv.first() != own.first() && STARTS_IN_PROJECT.contains(&argv[0]);
        for program in own.first().into_iter().chain(without_packages(own).first()) {
            if let Some((hash, found)) = place.hash_of(program, is_in_project) {
                // Without what starts it, it may come once more.
                let place = found.display().to_string();
                programs.entry((*program).to_owned()).or_insert(hash);
                places.entry((*program).to_owned()).or_insert(place);
            }
        }
    }
    RunnerIdentity {
        programs,
        places,
        variables: deciding(variables),
        copies: BTreeMap::new(),
    }
}

/// Those of these variables that load code into a runner or a linter, or choose what it runs, each with a hash of its value.
pub fn deciding(variables: &BTreeMap<OsString, OsString>) -> BTreeMap<String, String> {
    let decides = |name: &str| {
        VARIABLES.lines().any(|own| own == name)
            || (name.starts_with("CARGO_TARGET_")
                && (name.ends_with("_RUNNER") || name.ends_with("_RUSTFLAGS")))
    };
    let named = variables.iter().filter_map(|(name, value)| {
        let name = name.to_str().filter(|name| decides(name))?;
        Some((name.to_owned(), hex(&Sha256::digest(value.as_bytes()))))
    });
    named.collect()
}

/// Where programs are looked for.
struct Place<'a> {
    root: &'a Path,
    path: &'a OsString,
}

impl Place<'_> {
    /// A hash of all that a program of this name may be, the project's own and the first one in `PATH`, and where the first of these
    /// is.
    fn hash_of(&self, program: &str, is_in_project: bool) -> Option<(String, PathBuf)> {
        let own = self.root.join(".venv/bin").join(program);
        let found = if is_in_project && is_program(&own) {
            vec![own]
        } else {
            self.found(program)
        };
        let first = found.first()?.clone();
        let hashes: BTreeSet<String> = found.iter().map(|path| self.hash_at(path)).collect();
        let hashes: Vec<String> = hashes.into_iter().collect();
        Some((hex(&Sha256::digest(hashes.concat())), first))
    }

    fn hash_at(&self, path: &Path) -> String {
        if self.is_own(path) {
            // What the project itself is made of may change.
            let own = path.strip_prefix(self.root).unwrap_or(path);
            return hex(&Sha256::digest(own.as_os_str().as_bytes()));
        }
        let program = Program::of(path, |name| self.found(name));
        let mut hash = Sha256::new_with_prefix(&program.hash);
        let mut files = 0;
        for package in program.files.iter().flat_map(|file| packages_of(file)) {
            take_in_all(&mut hash, &package, &mut files);
        }
        hex(&hash.finalize())
    }

    fn found(&self, program: &str) -> Vec<PathBuf> {
        if program.contains('/') {
            let path = self.root.join(program);
            return Some(path)
                .filter(|path| is_program(path))
                .into_iter()
                .collect();
        }
        let own = self.root.join("node_modules/.bin").join(program);
        let folders = env::split_paths(self.path);
        let mut in_path = folders.map(|folder| self.root.join(folder).join(program));
        let first = in_path.find(|path| is_program(path));
        let own = Some(own).filter(|path| is_program(path));
        own.into_iter().chain(first).collect()
    }

    /// Whether a program is one of the project's own, and not installed in it.
    fn is_own(&self, program: &Path) -> bool {
        let Ok(own) = program.strip_prefix(self.root) else {
            return false;
        };
        let mut parts = own.iter();
        !parts.any(|part| DEPENDENCIES.iter().any(|name| part == *name))
    }
}

/// The packages whose code a program runs, as far as its place tells.
fn packages_of(program: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let real = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    if let Some(package) = node_package(&real) {
        all.extend(siblings(&package));
        all.push(package);
    }
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    // As it is called: a virtual environment is told by the place of the link.
    let prefix = program.parent().and_then(Path::parent);
    if let Some(prefix) = prefix.filter(|_| name.starts_with("python")) {
        all.extend(python_modules(prefix));
    }
    all
}

/// The package of Node.js that a file belongs to, where it is an installed one.
fn node_package(file: &Path) -> Option<PathBuf> {
    let is_installed = |folder: &&Path| folder.iter().any(|part| part == "node_modules");
    let mut above = file.ancestors().skip(1).take_while(is_installed);
    above
        .find(|folder| folder.join("package.json").is_file())
        .map(Path::to_owned)
}

/// The packages beside one that bear its name, as a runner is spread over many.
fn siblings(package: &Path) -> Vec<PathBuf> {
    let (Some(name), Some(beside)) = (package.file_name(), package.parent()) else {
        return Vec::new();
    };
    let name = name.to_string_lossy();
    let mut all = folder(&beside.join(format!("@{name}")));
    let prefix = format!("{name}-");
    all.extend(folder(beside).into_iter().filter(|path| {
        let own = path.file_name().unwrap_or_default().to_string_lossy();
        own.starts_with(&prefix) || matches!(&*own, "chai" | "expect" | "vite")
    }));
    all
}

fn python_modules(prefix: &Path) -> Vec<PathBuf> {
    let versions = folder(&prefix.join("lib"));
    let versions = versions.into_iter().filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("python3")
    });
    versions
        .flat_map(|version| {
            let packages = version.join("site-packages");
            PYTHON_MODULES.iter().map(move |name| packages.join(name))
        })
        .filter(|path| path.exists())
        .collect()
}

/// What is in a folder, in order; nothing where it cannot be read.
fn folder(path: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(path)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    all.sort();
    all
}

/// Takes in a file, or the code of a package, as far as there is room.
fn take_in_all(hash: &mut Sha256, package: &Path, files: &mut usize) {
    let beside = package.parent().unwrap_or(package);
    let mut waiting = Vec::from([package.to_owned()]);
    while let Some(path) = waiting.pop() {
        if *files >= MOST_FILES {
            return;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if path.is_dir() {
            if !matches!(&*name, "node_modules" | "__pycache__") {
                waiting.extend(folder(&path));
            }
        } else if matches!(ending, "js" | "mjs" | "cjs" | "py") || !name.contains('.') {
            *files += 1;
            let name = path.strip_prefix(beside).unwrap_or(&path);
            hash.update(name.as_os_str().as_bytes());
            take_in(hash, &path);
        }
    }
}

#[cfg(test)]
mod tests {
    use testkit::files::write_program;

    use super::*;

    #[test]
    fn the_same_runner_is_the_same_in_another_environment() {
        let folder = testkit::folder();
        let root = &folder.path().join("project");
        let entry = |place: &Path, argument: &str| {
            let python = place.join("bin/python");
            format!(
                "#!{}\nimport sys\nfrom pytest import main\nif __name__ == \"__main__\":\n    sys.argv[0] = sys.argv[0]{argument}\n    sys.exit(main())\n",
                python.display()
            )
        };
        let installed = |place: &str, version: &str| {
            let place = folder.path().join(place);
            write_program(&place.join("bin/python"), "binary");
            write_program(&place.join("bin/pytest"), entry(&place, "[:-4]"));
            let packages = place.join("lib/python3.11/site-packages");
            write_program(&packages.join("pytest/a.py"), version);
            place
        };
        let in_path = |place: &Path, command: &str| {
            let path = [(OsString::from("PATH"), place.join("bin").into_os_string())];
            identity(root, command, &path.into()).programs
        };
        let venv = installed("project/.venv", "1");
        let other = installed("other", "1");
        let newer = installed("newer", "2");
        for command in ["pytest", "python -m pytest"] {
            let before = in_path(&other, command);
            assert_eq!(in_path(&venv, command), before, "{command}");
            assert_ne!(in_path(&newer, command), before, "{command}");
        }
        // What is run in the project's own environment is so without its being activated.
        let now = || in_path(&venv, "uv run pytest");
        let before = in_path(&newer, "uv run pytest");
        assert_eq!(now(), before);
        // Nor does an interpreter decide by where it lies.
        write_program(&venv.join("bin/python"), "another binary");
        assert_ne!(now(), before);
        write_program(&venv.join("bin/python"), "binary");
        // A script that does more than it did is another program.
        write_program(&venv.join("bin/pytest"), entry(&venv, "[:-4]; evil()"));
        assert_ne!(now(), before);
    }

    #[test]
    fn a_project_that_was_moved_is_tested_by_the_same() {
        let folder = testkit::folder();
        let [here, there] = ["here", "there"].map(|name| folder.path().join(name));
        let bin = here.join("node_modules/.bin");
        let runner = "node_modules/runner/runner.js";
        write_program(&here.join("node_modules/runner/package.json"), "{}");
        write_program(&here.join(runner), "#!/bin/sh\n");
        fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink("../runner/runner.js", bin.join("runner")).unwrap();
        let told = |root: &Path| identity(root, "runner", &BTreeMap::new()).programs;
        let before = told(&here);
        assert_eq!(before.len(), 1);
        fs::rename(&here, &there).unwrap();
        assert_eq!(told(&there), before);
        fs::write(there.join(runner), "#!/bin/sh\nexit 0\n").unwrap();
        assert_ne!(told(&there), before);
    }
}
