//! Packages of Debian.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::Release;
use super::archive::Archive;
use crate::tools::{command, need, root, run};

/// Makes one for each processor.
pub fn write(release: &Release, archives: &[Archive]) -> io::Result<()> {
    for archive in archives {
        if let Some(architecture) = archive.target.debian {
            need("dpkg-deb", "dpkg")?;
            package(release, archive, architecture)?;
        }
    }
    Ok(())
}

fn package(release: &Release, archive: &Archive, architecture: &str) -> io::Result<()> {
    let (_folder, content) = archive.unpacked()?;
    let staged = tempfile::tempdir()?;
    let place = |from: &Path, to: &str| -> io::Result<()> {
        let to = staged.path().join(to);
        fs::create_dir_all(to.parent().unwrap_or(staged.path()))?;
        fs::copy(from, to).map(drop)
    };
    place(&content.join("tm"), "usr/bin/tm")?;
    let completions = [
        ("tm.bash", "usr/share/bash-completion/completions/tm"),
        ("_tm", "usr/share/zsh/vendor-completions/_tm"),
        ("tm.fish", "usr/share/fish/vendor_completions.d/tm.fish"),
    ];
    for (from, to) in completions {
        place(&content.join("completions").join(from), to)?;
    }
    for page in fs::read_dir(content.join("man"))? {
        let page = page?.path();
        let name = page.file_name().unwrap_or_default().to_string_lossy();
        place(&page, &format!("usr/share/man/man1/{name}"))?;
    }
    for (from, to) in [("README.md", "README.md"), ("CHANGELOG.md", "changelog")] {
        place(&content.join(from), &format!("usr/share/doc/tramline/{to}"))?;
    }
    let templates = root().join("packaging/debian");
    let copyright = templates.join("copyright");
    place(&copyright, "usr/share/doc/tramline/copyright")?;
    // As policy has them; the same time everywhere, so that the same bytes come out.
    run(command("gzip")
        .current_dir(staged.path().join("usr/share"))
        .args(["--best", "--no-name", "--recursive", "man"]))?;
    run(command("gzip")
        .current_dir(staged.path().join("usr/share/doc/tramline"))
        .args(["--best", "--no-name", "changelog"]))?;
    let size = kibibytes(staged.path())?.to_string();
    let control = fs::read_to_string(templates.join("control"))?;
    let control = release.filled_in(&control, &[("ARCHITECTURE", architecture), ("SIZE", &size)]);
    fs::create_dir(staged.path().join("DEBIAN"))?;
    fs::write(staged.path().join("DEBIAN/control"), control)?;
    fs::set_permissions(staged.path(), fs::Permissions::from_mode(0o755))?;
    let name = format!("tramline_{}_{architecture}.deb", release.version);
    run(command("dpkg-deb")
        .args(["--build", "--root-owner-group", "-Zxz"])
        .arg(staged.path())
        .arg(release.file(&name))
        .env("SOURCE_DATE_EPOCH", release.time.to_string()))
}

/// What is in a folder takes so much of the disk, in KiB, as Debian counts it: each file rounded up.
fn kibibytes(folder: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        sum += if about.is_dir() {
            1 + kibibytes(&entry.path())?
        } else {
            about.len().div_ceil(1024)
        };
    }
    Ok(sum)
}
