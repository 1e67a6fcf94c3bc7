//! The programs that tasks run, and where each comes from: Debian, the registries, this workspace.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::Value;

/// The folder of the workspace. Tasks run there.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder `name` among what is built, where a task keeps what it made or fetched.
pub fn cache(name: &str) -> io::Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let folder = root().join(target).join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A program of this workspace, as its tests have it: another set of features would be compiled anew.
pub fn built(path: &str) -> io::Result<PathBuf> {
    run(&mut cargo(&[
        "test",
        "--workspace",
        "--locked",
        "--quiet",
        "--no-run",
    ]))?;
    Ok(cache("debug")?.join(path))
}

/// A program to be run in the workspace's folder, without what `cargo` told this one about itself: some of it would have what
/// is compiled further on compiled anew.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let of_cargo = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_",
            "CARGO_CRATE_",
        ];
        if of_cargo.iter().any(|prefix| text.starts_with(prefix))
            || ["CARGO", "LD_LIBRARY_PATH"].contains(&&*text)
        {
            command.env_remove(&name);
        }
    }
    command
}

/// `cargo` with these arguments.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = command("cargo");
    command.args(arguments);
    command
}

/// Runs it; whether it ended well.
///
/// # Errors
///
/// Where it does not start.
pub fn passes(command: &mut Command) -> io::Result<bool> {
    let status = command.status().map_err(|error| {
        let program = command.get_program().display();
        io::Error::new(error.kind(), format!("{program}: {error}"))
    })?;
    Ok(status.success())
}

/// Does the same with each of these, on all processors; whether all held. The others are done all the same where one fails.
///
/// # Errors
///
/// The first that there was.
pub fn side_by_side<T: Send>(
    all: Vec<T>,
    each: impl Fn(T) -> io::Result<bool> + Sync,
) -> io::Result<bool> {
    let workers = thread::available_parallelism().map_or(1, |count| count.get().min(4));
    let waiting = Mutex::new(VecDeque::from(all));
    let outcome = Mutex::new(Ok(true));
    let taken = || locked(&waiting).pop_front();
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(one) = taken() {
                    let done = each(one);
                    let mut outcome = locked(&outcome);
                    match (&*outcome, done) {
                        (Ok(_), Err(error)) => *outcome = Err(error),
                        (Ok(true), Ok(false)) => *outcome = Ok(false),
                        _ => {}
                    }
                }
            });
        }
    });
    outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs it.
///
/// # Errors
///
/// Where it does not start, or does not end well.
pub fn run(command: &mut Command) -> io::Result<()> {
    if passes(command)? {
        return Ok(());
    }
    let program = command.get_program().display();
    let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    let arguments = arguments.join(" ");
    Err(io::Error::other(format!("failed: {program} {arguments}")))
}

/// What a program writes to its standard output; nothing where it is not there or fails.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Whether a program is on the search path.
pub fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Sees to it that a program is there: `package` of Debian has it.
pub fn need(program: &str, package: &str) -> io::Result<()> {
    if has(program) {
        return Ok(());
    }
    install(package)
}

/// Installs a package of Debian.
pub fn install(package: &str) -> io::Result<()> {
    if !has("apt-get") {
        let message = format!("install {package}, and start this again: there is no apt-get here");
        return Err(io::Error::other(message));
    }
    println!("install {package}");
    run(command("apt-get").args(["update", "-qq"]))?;
    let options = ["install", "-y", "-qq", "--no-install-recommends"];
    run(command("apt-get")
        .args(options)
        .arg(package)
        .stdout(Stdio::null()))
}

/// What Cargo knows of a package of this workspace.
pub fn manifest_of(name: &str) -> io::Result<Value> {
    let metadata = ["metadata", "--no-deps", "--format-version", "1", "--locked"];
    let metadata = output(&mut cargo(&metadata)).unwrap_or_default();
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().cloned();
    let mut packages = packages.unwrap_or_default().into_iter();
    packages
        .find(|package| package["name"] == name)
        .ok_or_else(|| io::Error::other(format!("there is no package `{name}` in this workspace")))
}

/// A tool from the registry of crates, compiled once, and without optimization: that would take longer than its work.
pub fn cargo_tool(name: &str, version: &str, options: &[&str]) -> io::Result<PathBuf> {
    let home = cache("tools")?;
    let tool = home.join("bin").join(name);
    let said = output(command(&tool).arg("--version"));
    let is_that = |said: &str| {
        let last = said.split_whitespace().next_back().unwrap_or_default();
        last.trim_start_matches('v') == version
    };
    if said.is_some_and(|said| is_that(&said)) {
        return Ok(tool);
    }
    println!("install {name} {version}");
    let install = ["install", "--quiet", "--locked", "--force", "--debug"];
    run(cargo(&install)
        .args(["--version", version, "--root"])
        .arg(&home)
        .args(options)
        .arg(name))?;
    Ok(tool)
}

/// Sees to it that what is compiled for a target finds its standard library.
pub fn rust_target(triple: &str) -> io::Result<()> {
    let installed = output(command("rustup").args(["target", "list", "--installed"]));
    if installed.is_none_or(|installed| installed.lines().any(|line| line == triple)) {
        return Ok(());
    }
    println!("install the standard library for {triple}");
    run(command("rustup").args(["target", "add", triple]))
}

/// The target triple that is compiled for.
pub fn host() -> io::Result<String> {
    let about = output(command("rustc").arg("-vV")).unwrap_or_default();
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| io::Error::other("rustc -vV names no host"))
}

/// Fills a folder once: what a call that died left half filled is thrown away.
pub fn filled(folder: &Path, fill: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let ready = folder.join("ready");
    if ready.exists() {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    fill()?;
    fs::write(ready, "")
}

/// `npm` with these arguments, in a folder. Scripts of packages are not run.
pub fn npm(folder: &Path, arguments: &[&str]) -> io::Result<()> {
    let quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
    run(command("npm")
        .current_dir(folder)
        .args(arguments)
        .args(quiet)
        .arg("--ignore-scripts"))
}

/// Makes an environment of Python's in a folder, in which packages can be installed.
pub fn python_environment(folder: &Path) -> io::Result<()> {
    let venv = "import ensurepip, venv";
    if output(command("python3").args(["-c", venv])).is_none() {
        install("python3-venv")?;
    }
    run(command("python3").args(["-m", "venv"]).arg(folder))
}

/// The folder `bin` of an environment of Python's, in the folder `name` among what is built, with these packages and nothing else
/// in it.
pub fn python_tools(name: &str, packages: &[&str]) -> io::Result<PathBuf> {
    let home = cache(name)?;
    filled(&home, || {
        println!("install {}", packages.join(" "));
        python_environment(&home)?;
        run(command(home.join("bin/pip"))
            .args(["install", "--quiet", "--disable-pip-version-check"])
            .args(packages))
    })?;
    Ok(home.join("bin"))
}

/// The Node that suites and clients of the protocol need: Debian's may be older.
pub const NODE: &str = "22.23.3";

/// A search path on which that version of Node comes first. With `npm`.
pub fn path_with_node(version: &str) -> io::Result<OsString> {
    need("npm", "npm")?;
    let home = cache(&format!("node-{version}"))?;
    let package = home.join("node_modules/node");
    filled(&home, || {
        fs::write(home.join("package.json"), "{\"private\": true}\n")?;
        npm(&home, &["install", &format!("node@{version}")])?;
        if package.join("bin/node").exists() {
            return Ok(());
        }
        // The one script of it that is needed: it fetches the program for this machine.
        let script = "installArchSpecificPackage.js";
        let mut node = command("node");
        run(node.current_dir(&package).arg(script).stdout(Stdio::null()))
    })?;
    path_with(package.join("bin"))
}

/// The search path, with a folder in front of it.
pub fn path_with(folder: PathBuf) -> io::Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).map_err(io::Error::other)
}
