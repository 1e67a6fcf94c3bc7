//! Files of the project that are run as programs.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use journal::digest::hex;
use sha2::{Digest as _, Sha256};

use super::{NamedPlace, Place, is_shell, within};
use crate::convention::paths::{PathClasses, file_name};
use crate::convention::read_manifest;

/// This much of a file counts; no script is longer.
const LONGEST: u64 = 16 << 20;

/// Folders of what is installed or built: it changes for other reasons.
const INSTALLED: &[&str] = &[
    "node_modules",
    "vendor",
    ".venv",
    "venv",
    "deps",
    "target",
    "build",
    "dist",
    "_build",
];

/// Folders of what the system and its packages install.
const SYSTEM: &[&str] = &[
    "/bin",
    "/lib",
    "/lib64",
    "/sbin",
    "/usr",
    "/opt",
    "/nix",
    "/snap",
    "/Applications",
    "/Library",
    "/System",
];

/// Programs that run a file that is given to them.
const INTERPRETERS: &[&str] = &[
    "bun", "deno", "groovy", "julia", "lua", "node", "perl", "php", "pwsh", "Rscript", "ruby",
    "ts-node", "tsx",
];

pub(super) fn found(place: Place<'_>, argv: &[&str]) -> Option<NamedPlace> {
    let (program, rest) = argv.split_first()?;
    let (path, by_shell) = if program.contains('/') && !is_interpreter(file_name(program)) {
        (file(place, program)?, false)
    } else {
        (
            interpreted(place, file_name(program), rest)?,
            is_shell(program),
        )
    };
    let mut bytes = Vec::new();
    File::open(&path)
        .ok()?
        .take(LONGEST)
        .read_to_end(&mut bytes)
        .ok()?;
    // Of other languages it cannot be told what they call.
    let text = read_manifest(&path).filter(|text| by_shell || is_shell_script(&path, text));
    let folder = place.folder.to_owned();
    Some(NamedPlace {
        what: place.name(&path),
        text: format!("sha256:{}", hex(&Sha256::digest(&bytes))),
        calls: text.map(|text| (folder, text)).into_iter().collect(),
    })
}

/// The file that an interpreter is given.
fn interpreted(place: Place<'_>, program: &str, rest: &[&str]) -> Option<PathBuf> {
    if !is_interpreter(program) {
        return None;
    }
    if is_python(program)
        && let Some(at) = rest.iter().position(|word| *word == "-m")
    {
        let module = rest.get(at + 1)?.replace('.', "/");
        return file(place, &format!("{module}.py"))
            .or_else(|| file(place, &format!("{module}/__main__.py")));
    }
    // Code on the command line, or a runner of tests of its own.
    if rest
        .iter()
        .any(|word| matches!(*word, "-c" | "-e" | "--test" | "--eval"))
        || (matches!(program, "bun" | "deno") && rest.first().is_some_and(|word| *word == "test"))
    {
        return None;
    }
    rest.iter()
        .filter(|word| !word.starts_with('-'))
        .take(3)
        .find_map(|word| file(place, word))
}

fn is_interpreter(program: &str) -> bool {
    INTERPRETERS.contains(&program) || is_shell(program) || is_python(program)
}

fn is_python(program: &str) -> bool {
    program
        .strip_prefix("python")
        .is_some_and(|version| version.bytes().all(|c| c.is_ascii_digit() || c == b'.'))
}

/// The file at a path, if it is not a test by its name: those are watched by themselves, and are to change.
fn file(place: Place<'_>, path: &str) -> Option<PathBuf> {
    if PathClasses::default().is_test(file_name(path)) {
        return None;
    }
    let path = within(place.root, place.folder, path)
        .or_else(|| within(Path::new("/"), place.folder, path))?;
    let installed = match path.strip_prefix(place.root) {
        Ok(inside) => inside.components().any(|part| {
            part.as_os_str()
                .to_str()
                .is_some_and(|name| INSTALLED.contains(&name))
        }),
        Err(_) => is_of_the_system(&path),
    };
    (!installed && path.is_file()).then_some(path)
}

/// Whether a file outside of the project is one that came with the system. What else a test command names is somebody's script,
/// wherever it lies.
fn is_of_the_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

fn is_shell_script(path: &Path, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    if let Some(interpreter) = first.strip_prefix("#!") {
        return interpreter.split_whitespace().any(is_shell);
    }
    path.extension()
        .is_some_and(|ending| ending == "sh" || ending == "bash")
}
