//! Extensions of Gemini CLI, with the program in them: of a release it takes the archive whose name begins with its platform.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Release;
use super::archive::{Archive, Packed, licences, tarball};
use super::target::Target;
use crate::tools::root;

/// The file with the extension for a target.
pub fn path(release: &Release, target: &Target) -> PathBuf {
    let Target { os, cpu, .. } = target;
    release.file(&format!("{os}.{cpu}.tramline.tar.gz"))
}

/// Makes them all.
pub fn write(release: &Release, archives: &[Archive]) -> io::Result<()> {
    for archive in archives {
        let (_folder, content) = archive.unpacked()?;
        let mut files: Vec<Packed> = Vec::new();
        add(&root().join("plugins/gemini"), "", &mut files)?;
        files.push(("bin/tm".to_owned(), fs::read(content.join("tm"))?, 0o755));
        files.extend(licences()?);
        tarball(&path(release, archive.target), files, release.time)?;
    }
    Ok(())
}

/// The files of a folder, with those below it.
fn add(folder: &Path, before: &str, files: &mut Vec<Packed>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{before}{name}");
        if path.is_dir() {
            add(&path, &format!("{name}/"), files)?;
        } else {
            files.push((name, fs::read(&path)?, 0o644));
        }
    }
    Ok(())
}
