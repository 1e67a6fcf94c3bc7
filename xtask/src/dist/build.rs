//! The program, built so that the same commit gives the same bytes wherever it is built, with the list of its crates in it.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Release;
use super::target::Target;
use crate::tools::{self, cargo_tool, command, run};

/// Builds the program from the workspace in `source`; where it lies.
pub fn program(release: &Release, target: &Target, source: &Path) -> io::Result<PathBuf> {
    let source = fs::canonicalize(source)?;
    let auditable = cargo_tool("cargo-auditable", "0.7.7", &[])?;
    let (build, path) = if target.is_linux() {
        // It links with a C library of its own, static, for every processor, whatever this system has.
        ("zigbuild", tools::path_with(zig()?)?)
    } else {
        ("build", env::var_os("PATH").unwrap_or_default())
    };
    tools::rust_target(target.triple)?;
    // Of a clone the folder for what is built is its own, so that nothing of the other is used.
    let built = if source == fs::canonicalize(tools::root())? {
        tools::cache("dist-build")?
    } else {
        source.join("target")
    };
    let renamed = renamed(&source)?;
    let flags = |separator: &str, option: &str| {
        let flags = renamed
            .iter()
            .map(|(from, to)| format!("{option}={from}={to}"));
        flags.collect::<Vec<_>>().join(separator)
    };
    run(command(auditable)
        .current_dir(&source)
        .args(["auditable", build, "--profile", "dist", "--locked"])
        .args(["--package", "tm", "--target", target.triple])
        .env("PATH", path)
        .env("CARGO_TARGET_DIR", &built)
        .env("CARGO_INCREMENTAL", "0")
        .env("SOURCE_DATE_EPOCH", release.time.to_string())
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            flags("\x1f", "--remap-path-prefix"),
        )
        .env("CFLAGS", flags(" ", "-ffile-prefix-map")))?;
    Ok(built.join(target.triple).join("dist").join("tm"))
}

/// The folders of this machine that a program would name, and what it names instead.
fn renamed(source: &Path) -> io::Result<Vec<(String, &'static str)>> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let mut renamed = vec![(source.display().to_string(), "/tramline")];
    let Some(home) = home else {
        return Ok(renamed);
    };
    renamed.push((home.display().to_string(), "/cargo"));
    // Of several the last one counts. What the folder of a registry is called depends on where that is.
    if let Ok(registries) = fs::read_dir(home.join("registry/src")) {
        for registry in registries {
            renamed.push((registry?.path().display().to_string(), "/crates"));
        }
    }
    Ok(renamed)
}

/// The folder with zig and its form of `cargo build`.
fn zig() -> io::Result<PathBuf> {
    tools::python_tools("zig", &["ziglang==0.17.1", "cargo-zigbuild==0.24.1"])
}
