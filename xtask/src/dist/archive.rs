//! The archive of a target: the program, its manual pages and completions, and what it may be used under.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use tempfile::TempDir;

use super::Release;
use super::target::Target;
use crate::tools::{self, command, output, run};

/// The files beside the program that come from the workspace's folder.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];
/// Shells, and what each calls the completions of `tm`.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "tm.bash"), ("zsh", "_tm"), ("fish", "tm.fish")];

/// The archive of a target.
#[derive(Debug)]
pub struct Archive {
    /// What it is for.
    pub target: &'static Target,
    /// The folder that everything in it is in.
    pub name: String,
    /// Where it lies, or will.
    pub path: PathBuf,
}

impl Archive {
    /// Of that target.
    pub fn of(release: &Release, target: &'static Target) -> Self {
        let name = format!("tramline-{}-{}", release.version, target.triple);
        Self {
            target,
            path: release.file(&format!("{name}.tar.gz")),
            name,
        }
    }

    /// Makes it: with the same files always the same bytes.
    pub fn write(&self, release: &Release, program: &Path) -> io::Result<()> {
        let root = tools::root();
        let mut files: Vec<Packed> = vec![("tm".to_owned(), fs::read(program)?, 0o755)];
        for name in DOCUMENTS {
            files.push((name.to_owned(), fs::read(root.join(name))?, 0o644));
        }
        // What it says of itself does not depend on the target; that of another processor does not run here.
        let here = if runs_here(program) {
            program.to_owned()
        } else {
            tools::built("tm")?
        };
        for (shell, name) in COMPLETIONS {
            let script = command(&here).args(["completions", shell]).output()?;
            files.push((format!("completions/{name}"), script.stdout, 0o644));
        }
        let pages = tempfile::tempdir()?;
        run(command(&here).args(["man", "--dir"]).arg(pages.path()))?;
        for page in fs::read_dir(pages.path())? {
            let page = page?;
            let name = format!("man/{}", page.file_name().to_string_lossy());
            files.push((name, fs::read(page.path())?, 0o644));
        }
        for (name, ..) in &mut files {
            *name = format!("{}/{name}", self.name);
        }
        tarball(&self.path, files, release.time)
    }

    /// Unpacks it into a folder of its own: that, and where its content is.
    pub fn unpacked(&self) -> io::Result<(TempDir, PathBuf)> {
        let folder = tempfile::tempdir()?;
        let packed = flate2::read::GzDecoder::new(File::open(&self.path)?);
        tar::Archive::new(packed).unpack(folder.path())?;
        let content = folder.path().join(&self.name);
        Ok((folder, content))
    }
}

/// A file in a package: its path, its content and its mode.
pub type Packed = (String, Vec<u8>, u32);

/// What all packages may be used under.
pub fn licences() -> io::Result<Vec<Packed>> {
    let names = ["LICENSE-APACHE", "LICENSE-MIT"].into_iter();
    let packed = names.map(|name| {
        let text = fs::read(tools::root().join(name))?;
        Ok((name.to_owned(), text, 0o644))
    });
    packed.collect()
}

/// Writes files into an archive: with the same files always the same bytes.
pub fn tarball(path: &Path, mut files: Vec<Packed>, time: u64) -> io::Result<()> {
    files.sort();
    let out = File::create(path)?;
    let packed = GzBuilder::new().mtime(0).write(out, Compression::best());
    let mut tar = tar::Builder::new(packed);
    for (name, bytes, mode) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(mode);
        header.set_mtime(time);
        header.set_uid(0);
        header.set_gid(0);
        tar.append_data(&mut header, name, &*bytes)?;
    }
    tar.into_inner()?.finish()?.flush()
}

/// Whether a program runs on this machine.
pub fn runs_here(program: &Path) -> bool {
    output(command(program).arg("--version")).is_some()
}
