//! Another machine, on which nobody is believed: it has what was pushed and the run's bundle, a home of its own, and installs
//! what the tests need by itself.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::installed::link_packages;
use super::project::Texts;
use crate::stage::Ran;
use crate::tools::{cache, command, filled, need, run};

const DEBIAN: &str = "bookworm";
const PACKAGES: &str = "git,python3-pytest,python-is-python3";
/// Where programs lie in it.
const PATH: &str = "/usr/sbin:/usr/bin:/bin";
const BUNDLE: &str = "run.jsonl";
const NOTES: &str = "refs/notes/tramline*:refs/notes/tramline*";
const PROOF: [&str; 7] = [
    "verify",
    "origin/main..HEAD",
    "--replay",
    "--strict",
    "--json",
    "--bundle",
    "../run.jsonl",
];

/// The machine.
#[derive(Debug, Clone)]
pub enum Machine {
    /// This one, with a search path and variables that tell where toolchains are, and nothing else.
    Here {
        /// The search path.
        path: OsString,
        /// What is installed for Node.
        packages: Option<PathBuf>,
        /// Where toolchains are.
        toolchains: Vec<(&'static str, OsString)>,
        /// What the runner needs besides.
        environment: Texts,
    },
    /// An empty Debian with git and pytest, in this folder.
    Debian(PathBuf),
}

impl Machine {
    /// Makes the Debian, once.
    pub fn debian() -> io::Result<Self> {
        need("debootstrap", "debootstrap")?;
        let root = cache("debian")?;
        filled(&root, || {
            println!("make an empty Debian");
            let include = format!("--include={PACKAGES}");
            run(command("debootstrap")
                .args(["--variant=minbase", &include, DEBIAN])
                .arg(&root)
                .stdout(Stdio::null()))
        })?;
        fs::canonicalize(root).map(Self::Debian)
    }

    /// What this machine makes of the commits of a project's branch, of which `bundle` was made.
    pub fn verify(
        &self,
        program: &Path,
        project: &Path,
        bundle: &Path,
        level: &str,
    ) -> io::Result<Ran> {
        let place = match self {
            Self::Here { .. } => tempfile::tempdir()?,
            Self::Debian(root) => tempfile::tempdir_in(root.join("tmp"))?,
        };
        let clone = place.path().join("clone");
        let git = |words: &[&str]| {
            let mut git = command("git");
            git.args(words).env("GIT_CONFIG_GLOBAL", "/dev/null");
            git
        };
        run(git(&["clone", "--quiet", "--no-local"]).args([project, &clone]))?;
        run(git(&["fetch", "--quiet", "origin", NOTES]).current_dir(&clone))?;
        fs::copy(bundle, place.path().join(BUNDLE))?;
        let output = self
            .process(program, place.path())?
            .args(PROOF)
            .args(["--require", level])
            .stdin(Stdio::null())
            .output()?;
        Ok(Ran::of(output.status.code(), &output.stdout))
    }

    /// The program, to be run in the clone.
    fn process(&self, program: &Path, place: &Path) -> io::Result<Command> {
        let clone = place.join("clone");
        match self {
            Self::Here {
                path,
                packages,
                toolchains,
                environment,
            } => {
                if let Some(packages) = packages {
                    link_packages(packages, &clone)?;
                }
                let mut process = Command::new(program);
                process.current_dir(&clone).env_clear();
                process.env("HOME", place).env("PATH", path);
                process.envs(toolchains.iter().cloned()).envs(environment);
                Ok(process)
            }
            Self::Debian(root) => {
                fs::copy(program, place.join("tm"))?;
                let outside = |error| io::Error::other(format!("{}: {error}", place.display()));
                let inside = Path::new("/").join(place.strip_prefix(root).map_err(outside)?);
                let mut process = Command::new("chroot");
                process.env_clear().env("HOME", &inside).env("PATH", PATH);
                process.arg(root).args(["/usr/bin/env", "-C"]);
                process.arg(inside.join("clone")).arg(inside.join("tm"));
                Ok(process)
            }
        }
    }
}
