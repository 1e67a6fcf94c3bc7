//! `cargo xtask dist`: what users download, made here and published nowhere. The archives are built; all other packages are made of
//! what is in them, so that every way to install gives the same bytes.

mod archive;
mod build;
mod bundle;
mod debian;
mod extension;
mod formula;
mod npm;
mod registry;
mod target;
mod trial;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use self::archive::Archive;
use self::target::{TARGETS, Target};
use crate::tools::{self, cargo_tool, output, run};

/// The groups of tools that a server offers which a package starts: those that its agent is told of.
const TOOLS: &str = "autopilot,review,collab";

/// What is to be made.
#[derive(Debug, Args)]
pub struct Dist {
    /// For these targets; all that can be built on this system if left out
    #[arg(long = "target", value_name = "TRIPLE", value_delimiter = ',')]
    targets: Vec<String>,
    /// Only this part
    #[arg(long, value_name = "PART")]
    part: Option<Part>,
    /// Only these packages
    #[arg(long, value_name = "PACKAGE", value_delimiter = ',')]
    only: Vec<Package>,
    /// Install the packages that run here, each in a folder of its own, and play the demo from them
    #[arg(long = "try")]
    tried: bool,
    /// Build each program once more, in a clone in another folder, and compare the bytes
    #[arg(long)]
    reproduce: bool,
}

/// Half of the way. A release is built on several systems, and put together on one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Build the archives
    Archives,
    /// Make the packages of the archives that are in the folder
    Packages,
}

/// What is made of the archives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Package {
    /// Packages of Debian
    Deb,
    /// Packages of npm: one for each platform, and the launcher
    Npm,
    /// A formula of Homebrew
    Formula,
    /// What a container is built by
    Container,
    /// Bundles for hosts of MCP servers on a desktop
    Bundle,
    /// Extensions of Gemini CLI
    Extension,
    /// The entry for the registry of MCP servers
    Registry,
    /// The software bill of materials, as `CycloneDX` has it
    Sbom,
}

/// The release that packages are made for.
#[derive(Debug)]
struct Release {
    version: String,
    description: String,
    /// Where it is published.
    repository: String,
    /// The time of the commit, in seconds since 1970: the only time that a package has.
    time: u64,
    /// Where packages lie.
    folder: PathBuf,
}

impl Dist {
    /// The packages of this system, made and tried.
    pub fn tried() -> Self {
        Self {
            targets: Vec::new(),
            part: None,
            only: Vec::new(),
            tried: true,
            reproduce: false,
        }
    }
}

impl Release {
    fn of_this_workspace() -> io::Result<Self> {
        let program = tools::manifest_of("tm")?;
        let text = |name: &str| program[name].as_str().unwrap_or_default().to_owned();
        let time = output(tools::command("git").args(["log", "-1", "--format=%ct"]));
        let time = time.and_then(|time| time.parse().ok());
        Ok(Self {
            version: text("version"),
            description: text("description"),
            repository: text("repository"),
            time: time.ok_or_else(|| io::Error::other("there is no commit to be released"))?,
            folder: tools::cache("packages")?,
        })
    }

    /// The file of that name in the folder of packages.
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// What the registry of MCP servers calls it, by the owner of its repository.
    fn mcp_name(&self) -> String {
        let path = self.repository.trim_start_matches("https://github.com/");
        format!("io.github.{path}")
    }

    /// Where the files of a release are downloaded.
    fn downloads(&self) -> String {
        format!("{}/releases/download/v{}", self.repository, self.version)
    }

    /// The template with what it says of this release.
    fn filled_in(&self, template: &str, more: &[(&str, &str)]) -> String {
        let mut text = template
            .replace("@VERSION@", &self.version)
            .replace("@DESCRIPTION@", &self.description)
            .replace("@REPOSITORY@", &self.repository)
            .replace("@MCP_NAME@", &self.mcp_name())
            .replace("@DOWNLOADS@", &self.downloads());
        for (name, value) in more {
            text = text.replace(&format!("@{name}@"), value);
        }
        text
    }
}

/// Makes archives and packages, and a file with their checksums.
pub fn run_all(dist: &Dist) -> io::Result<bool> {
    let release = Release::of_this_workspace()?;
    let targets = targets(&dist.targets)?;
    if dist.part != Some(Part::Packages) {
        for target in &targets {
            println!("\n== {}", target.triple);
            let built = build::program(&release, target, &tools::root())?;
            if dist.reproduce && !is_reproduced(&release, target, &built)? {
                return Ok(false);
            }
            Archive::of(&release, target).write(&release, &built)?;
        }
    }
    if dist.part == Some(Part::Archives) {
        return Ok(true);
    }
    // One that was left from another commit is nobody's package.
    let is_meant = |target: &&Target| {
        dist.part == Some(Part::Packages) || targets.iter().any(|own| own.triple == target.triple)
    };
    let archives: Vec<Archive> = TARGETS
        .iter()
        .filter(is_meant)
        .map(|target| Archive::of(&release, target))
        .filter(|archive| archive.path.is_file())
        .collect();
    if archives.is_empty() {
        return Err(io::Error::other(format!(
            "there is no archive of {} in {}",
            release.version,
            release.folder.display()
        )));
    }
    for package in Package::value_variants() {
        if !dist.only.is_empty() && !dist.only.contains(package) {
            continue;
        }
        match package {
            Package::Deb => debian::write(&release, &archives)?,
            Package::Npm => npm::write(&release, &archives)?,
            Package::Formula => formula::write(&release, &archives)?,
            Package::Container => container(&release)?,
            Package::Bundle => bundle::write(&release, &archives)?,
            Package::Extension => extension::write(&release, &archives)?,
            Package::Registry => registry::write(&release, &archives)?,
            Package::Sbom => sbom(&release)?,
        }
    }
    sums(&release)?;
    if dist.tried {
        trial::all(&release, &archives)?;
    }
    Ok(true)
}

/// Those that are named; else those that are built on this system.
fn targets(named: &[String]) -> io::Result<Vec<&'static Target>> {
    if named.is_empty() {
        let here = TARGETS.iter().filter(|target| target.is_built_here());
        return Ok(here.collect());
    }
    let known = |triple: &String| {
        let found = TARGETS.iter().find(|target| target.triple == triple);
        found.ok_or_else(|| {
            let all: Vec<_> = TARGETS.iter().map(|target| target.triple).collect();
            io::Error::other(format!(
                "no target `{triple}`; there are {}",
                all.join(", ")
            ))
        })
    };
    named.iter().map(known).collect()
}

/// Whether a build of the same commit in another folder comes to the same bytes.
fn is_reproduced(release: &Release, target: &Target, built: &Path) -> io::Result<bool> {
    let again = tempfile::tempdir()?;
    let clone = again.path().join("another-folder");
    run(tools::command("git")
        .args(["clone", "--quiet", "."])
        .arg(&clone))?;
    let second = build::program(release, target, &clone)?;
    let (first, second) = (sha256(built)?, sha256(&second)?);
    if first == second {
        println!("built twice: the same bytes, {first}");
    } else {
        println!("built twice: {first}, and {second} in another folder");
    }
    Ok(first == second)
}

fn sha256(file: &Path) -> io::Result<String> {
    Ok(journal::sha256_hex(&fs::read(file)?))
}

/// The file that a container with the package of Debian is built by.
fn container(release: &Release) -> io::Result<()> {
    let template = fs::read_to_string(tools::root().join("packaging/Containerfile"))?;
    fs::write(
        release.file("Containerfile"),
        release.filled_in(&template, &[]),
    )
}

/// What the program is made of. The same is within it, as `cargo auditable` puts it there.
fn sbom(release: &Release) -> io::Result<()> {
    let tool = cargo_tool("cargo-cyclonedx", "0.5.9", &[])?;
    let name = "tramline.cdx";
    run(tools::command(tool)
        .args(["cyclonedx", "--format", "json", "--no-build-deps"])
        .args(["--manifest-path", "crates/tm/Cargo.toml"])
        .args(["--override-filename", name])
        .env("SOURCE_DATE_EPOCH", release.time.to_string()))?;
    // It writes one for each member of the workspace, beside its manifest.
    let name = format!("{name}.json");
    let root = fs::canonicalize(tools::root())?;
    for folder in ["crates", "."] {
        for entry in fs::read_dir(tools::root().join(folder))? {
            let member = entry?.path();
            let Ok(text) = fs::read_to_string(member.join(&name)) else {
                continue;
            };
            if member.ends_with("tm") {
                // Where it was made is nobody's business.
                let text = text.replace(&format!("path+file://{}", root.display()), "path+file://");
                fs::write(release.file(&name), text)?;
            }
            fs::remove_file(member.join(&name))?;
        }
    }
    Ok(())
}

/// The checksums of all that lies in the folder, as `sha256sum --check` reads them.
fn sums(release: &Release) -> io::Result<()> {
    const NAME: &str = "SHA256SUMS";
    let mut lines = Vec::new();
    for entry in fs::read_dir(&release.folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_file() && name != NAME {
            lines.push((name.clone().into_owned(), sha256(&path)?));
        }
    }
    lines.sort();
    let mut text = String::new();
    for (name, sum) in lines {
        let _ = writeln!(text, "{sum}  {name}");
    }
    fs::write(release.file(NAME), &text)?;
    println!("\n{text}");
    println!("in {}", release.folder.display());
    Ok(())
}
