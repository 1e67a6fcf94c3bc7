//! The documentation as a site: `docs/` by `mdBook`. Links that lead out of it lead into the repository there.

use std::fs;
use std::io;
use std::path::Path;

use crate::tools::{cache, cargo_tool, command, manifest_of, root, run};

const CONFIG: &str = r#"[book]
title = "Tramline"
description = "Rails for coding agents"
language = "en"
src = "src"

[output.html]
git-repository-url = "@REPOSITORY@"
"#;

/// Builds it.
pub fn build() -> io::Result<bool> {
    let tool = cargo_tool(
        "mdbook",
        "0.5.4",
        &["--no-default-features", "--features", "search"],
    )?;
    let program = manifest_of("tm")?;
    let repository = program["repository"].as_str().unwrap_or_default();
    let folder = cache("book")?;
    let source = folder.join("src");
    if source.exists() {
        fs::remove_dir_all(&source)?;
    }
    fs::write(
        folder.join("book.toml"),
        CONFIG.replace("@REPOSITORY@", repository),
    )?;
    copy(&root().join("docs"), &source, "../", repository)?;
    run(command(tool).arg("build").arg(&folder))?;
    println!("in {}", folder.join("book").display());
    Ok(true)
}

/// Copies the pages of a folder; `out` is how they name what lies beside the documentation.
fn copy(from: &Path, to: &Path, out: &str, repository: &str) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target, &format!("../{out}"), repository)?;
        } else {
            let page = fs::read_to_string(&path)?;
            let link = format!("]({out}");
            fs::write(
                target,
                page.replace(&link, &format!("]({repository}/blob/main/")),
            )?;
        }
    }
    Ok(())
}
