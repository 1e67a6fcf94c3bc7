//! Packages tried as users install them: nothing is published, and nothing of this workspace is used.

use std::fs;
use std::io;
use std::path::Path;

use super::Release;
use super::archive::{Archive, runs_here};
use crate::tools::{self, command, need, npm, root, run};

/// Versions of Node that people have.
const NODES: [&str; 3] = ["18.20.8", "22.23.3", "24.21.0"];

/// Installs those of the archives that run here, and plays the demo from each package. The flake is evaluated; the formula and the container
/// need programs that are not everywhere, and are left out.
pub fn all(release: &Release, archives: &[Archive]) -> io::Result<()> {
    for archive in archives {
        let (_folder, content) = archive.unpacked()?;
        if !runs_here(&content.join("tm")) {
            println!("{}: does not run here", archive.name);
            continue;
        }
        demo(&content.join("tm"), &archive.name)?;
        if let Some(architecture) = archive.target.debian {
            let installed = tempfile::tempdir()?;
            let package = release.file(&format!("tramline_{}_{architecture}.deb", release.version));
            run(command("dpkg-deb")
                .arg("--extract")
                .arg(&package)
                .arg(installed.path()))?;
            demo(
                &installed.path().join("usr/bin/tm"),
                "the package of Debian",
            )?;
        }
        for version in NODES {
            of_npm(release, archive, version)?;
        }
    }
    flake()
}

/// Evaluates the flake for all systems. What it builds with comes from elsewhere, so a flake of ours stands in its place.
fn flake() -> io::Result<()> {
    need("nix", "nix-bin")?;
    println!("the flake of Nix");
    let stand_in = format!(
        "path:{}",
        fs::canonicalize(root())?.join("packaging/nix").display()
    );
    run(command("nix")
        .args(["--extra-experimental-features", "nix-command flakes"])
        .args(["flake", "show", "--no-write-lock-file"])
        .args(["--override-input", "nixpkgs", &stand_in])
        .current_dir(root())
        .stdout(std::process::Stdio::null()))
}

/// As `npm install` leaves it, with no script run.
fn of_npm(release: &Release, archive: &Archive, version: &str) -> io::Result<()> {
    let path = tools::path_with_node(version)?;
    let project = tempfile::tempdir()?;
    fs::write(project.path().join("package.json"), "{\"private\": true}\n")?;
    let target = archive.target;
    let names = [
        format!("tramline-{}-{}", target.os, target.cpu),
        "tramline".to_owned(),
    ];
    let packages = names.map(|name| release.file(&format!("{name}-{}.tgz", release.version)));
    let packages = packages.map(|package| package.to_string_lossy().into_owned());
    npm(project.path(), &["install", &packages[0], &packages[1]])?;
    let program = project.path().join("node_modules/.bin/tm");
    println!("with Node {version}");
    run(command(program)
        .arg("demo")
        .env("PATH", path)
        .stdout(std::process::Stdio::null()))
}

fn demo(program: &Path, what: &str) -> io::Result<()> {
    println!("demo from {what}");
    run(command(program)
        .arg("demo")
        .stdout(std::process::Stdio::null()))
}
