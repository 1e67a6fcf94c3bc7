//! What a runner needs on the machine: looked for, or installed into the cache with pinned versions.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::project::{Needs, Runner};
use crate::tools::{
    NODE, cache, command, filled, has, npm, path_with_node, python_environment, run,
};

/// What was found and installed for a runner.
pub struct Installed {
    /// The search path.
    pub path: OsString,
    /// The folder of packages for Node.
    pub packages: Option<PathBuf>,
}

/// What of Debian is missing for a runner.
pub fn missing(needs: &Needs) -> Vec<&str> {
    let programs = needs.programs.iter().filter(|(program, _)| !has(program));
    let files = needs
        .files
        .iter()
        .filter(|(path, _)| !Path::new(path).exists());
    programs
        .chain(files)
        .map(|(_, package)| &**package)
        .collect()
}

/// Installs what comes from the registries of Node and Python.
pub fn install(runner: &Runner) -> io::Result<Installed> {
    let needs = &runner.needs;
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    let mut packages = None;
    let mut folders = Vec::new();
    if let Some(wanted) = &needs.npm {
        path = path_with_node(NODE)?;
        let home = node_packages(wanted)?;
        folders.extend(needs.on_path.iter().map(|folder| home.join(folder)));
        packages = Some(home.join("node_modules")).filter(|folder| folder.is_dir());
    }
    if let Some(wanted) = &needs.pip {
        folders.push(python(wanted)?.join("bin"));
    }
    folders.extend(std::env::split_paths(&path));
    Ok(Installed {
        path: std::env::join_paths(folders).map_err(io::Error::other)?,
        packages,
    })
}

/// A folder in the cache for these packages.
fn home(kind: &str, packages: &[String]) -> io::Result<PathBuf> {
    let packages = packages.join("_").replace('/', "+");
    fs::canonicalize(cache(&format!("runners/{kind}_{packages}"))?)
}

fn node_packages(packages: &[String]) -> io::Result<PathBuf> {
    let home = home("npm", packages)?;
    filled(&home, || {
        fs::write(home.join("package.json"), "{\"private\": true}\n")?;
        if packages.is_empty() {
            return Ok(());
        }
        let mut arguments = vec!["install", "--save-exact"];
        arguments.extend(packages.iter().map(String::as_str));
        npm(&home, &arguments)
    })?;
    Ok(home)
}

fn python(packages: &[String]) -> io::Result<PathBuf> {
    let home = home("pip", packages)?;
    let environment = home.join("python");
    filled(&home, || {
        python_environment(&environment)?;
        if packages.is_empty() {
            return Ok(());
        }
        let options = ["install", "--quiet", "--disable-pip-version-check"];
        run(command(environment.join("bin/pip"))
            .args(options)
            .args(packages))
    })?;
    Ok(environment)
}

/// Puts links to installed packages into a project, in a folder that is its own: what is replaced there is replaced nowhere else.
pub fn link_packages(packages: &Path, project: &Path) -> io::Result<()> {
    let own = project.join("node_modules");
    for folder in ["", ".bin"] {
        if !packages.join(folder).is_dir() {
            continue;
        }
        fs::create_dir_all(own.join(folder))?;
        for entry in fs::read_dir(packages.join(folder))? {
            let entry = entry?;
            let name = entry.file_name();
            if !name.to_string_lossy().starts_with('.') {
                symlink(entry.path(), own.join(folder).join(name))?;
            }
        }
    }
    Ok(())
}
