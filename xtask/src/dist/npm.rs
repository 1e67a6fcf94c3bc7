//! Packages of npm. The program is in one package for each platform, and another one starts it: no script has to run, and nothing is
//! downloaded. That one depends on none of them, as nobody has reserved their names in the registry: both are installed as files.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::Release;
use super::archive::Archive;
use super::target::Target;
use crate::tools::{need, npm, root};

/// The package that users install.
const NAME: &str = "tramline";
/// What is started is `CommonJS` of the oldest Node that people still have.
const NODE: &str = ">=14.18";

/// The package with the program of a target.
fn name_of(target: &Target) -> String {
    format!("@{NAME}/{}-{}", target.os, target.cpu)
}

/// Makes them all.
pub fn write(release: &Release, archives: &[Archive]) -> io::Result<()> {
    need("npm", "npm")?;
    for archive in archives {
        platform(release, archive)?;
    }
    let launcher = root().join("packaging/npm");
    let mut manifest = manifest(release, NAME);
    manifest["bin"] = json!({ "tm": "tm.js" });
    manifest["keywords"] = json!([
        "mcp",
        "mcp-server",
        "tdd",
        "coding-agent",
        "workflow",
        "git"
    ]);
    let staged = tempfile::tempdir()?;
    fs::copy(launcher.join("tm.js"), staged.path().join("tm.js"))?;
    let readme = fs::read_to_string(launcher.join("README.md"))?;
    fs::write(
        staged.path().join("README.md"),
        release.filled_in(&readme, &[]),
    )?;
    pack(release, staged.path(), &manifest)
}

/// The package of one platform.
fn platform(release: &Release, archive: &Archive) -> io::Result<()> {
    let target = archive.target;
    let mut manifest = manifest(release, &name_of(target));
    manifest["description"] = format!("tm of Tramline for {}-{}", target.os, target.cpu).into();
    // Without a field for the C library: the program of Linux is static.
    manifest["os"] = json!([target.os]);
    manifest["cpu"] = json!([target.cpu]);
    // Where packages are not unpacked, a program could not be started.
    manifest["preferUnplugged"] = true.into();
    let (_folder, content) = archive.unpacked()?;
    let staged = tempfile::tempdir()?;
    fs::create_dir(staged.path().join("bin"))?;
    fs::copy(content.join("tm"), staged.path().join("bin/tm"))?;
    pack(release, staged.path(), &manifest)
}

fn manifest(release: &Release, name: &str) -> Value {
    json!({
        "name": name,
        "version": release.version,
        "description": release.description,
        "license": "MIT OR Apache-2.0",
        "homepage": release.repository,
        "repository": { "type": "git", "url": format!("git+{}.git", release.repository) },
        "engines": { "node": NODE },
    })
}

fn pack(release: &Release, staged: &Path, manifest: &Value) -> io::Result<()> {
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(root().join(name), staged.join(name))?;
    }
    let text = serde_json::to_string_pretty(manifest)? + "\n";
    fs::write(staged.join("package.json"), text)?;
    let folder = release.folder.to_string_lossy();
    npm(staged, &["pack", "--silent", "--pack-destination", &folder])
}
