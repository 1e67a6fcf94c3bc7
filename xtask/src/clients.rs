//! The real binary with the protocol's official clients: whole runs by the TypeScript client (both lines of it) and the Python
//! client, in both eras, over both transports, and calls by the command line of the Inspector (`crates/tm/tests/clients`).

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use crate::tools::{
    NODE, built, cache, command, filled, npm, path_with_node, python_environment, root, run,
};

/// Runs all stories; whether all went well.
pub fn run_all() -> io::Result<bool> {
    let program = built("tm")?;
    let path = path_with_node(NODE)?;
    let stories = root().join("crates/tm/tests/clients");
    let home = installed(&stories)?;

    // Beside the packages, where Node looks for them.
    let beside = home.join("stories");
    if beside.exists() {
        fs::remove_dir_all(&beside)?;
    }
    fs::create_dir(&beside)?;
    for entry in fs::read_dir(&stories)? {
        let file = entry?.path();
        let ending = file.extension().unwrap_or_default();
        if ending == "mjs" || ending == "py" {
            fs::copy(&file, beside.join(file.file_name().unwrap_or_default()))?;
        }
    }
    let python = home.join("python/bin/python");
    // They wait for each other's servers most of the time: all at once.
    let begun = [
        (Path::new("node"), "main.mjs"),
        (&python, "main.py"),
        (Path::new("node"), "inspector.mjs"),
    ]
    .map(|(interpreter, story)| {
        // By its place: a program is looked for on the path of who starts it.
        command(on_path(interpreter, &path))
            .arg(beside.join(story))
            .arg(&program)
            .env("PATH", &path)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .spawn()
    });
    let mut good = true;
    for story in begun {
        good &= story?.wait()?.success();
    }
    Ok(good)
}

/// The program `name` as this search path has it.
fn on_path(name: &Path, path: &std::ffi::OsStr) -> PathBuf {
    std::env::split_paths(path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
        .unwrap_or_else(|| name.to_owned())
}

/// A folder with the clients. It is named by what is asked for, so that a change of a version is a new one.
fn installed(stories: &Path) -> io::Result<PathBuf> {
    let lock = stories.join("package-lock.json");
    let requirements = stories.join("requirements.txt");
    let python = command("python3").arg("--version").output()?.stdout;
    let mut hasher = DefaultHasher::new();
    (fs::read(&lock)?, fs::read(&requirements)?, python).hash(&mut hasher);
    let home = cache(&format!("clients/{:016x}", hasher.finish()))?;
    filled(&home, || {
        fs::copy(stories.join("package.json"), home.join("package.json"))?;
        fs::copy(&lock, home.join("package-lock.json"))?;
        npm(&home, &["ci"])?;
        python_environment(&home.join("python"))?;
        let options = ["install", "--quiet", "--disable-pip-version-check"];
        run(command(home.join("python/bin/pip"))
            .args(options)
            .arg("--requirement")
            .arg(&requirements))
    })?;
    Ok(home)
}
