//! MCP bundles (MCPB): a server with its manifest in a ZIP archive, which a desktop host installs by a click. One for each platform,
//! since the program is in it. The form: <https://github.com/modelcontextprotocol/mcpb>, manifest version 0.3.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;

use serde_json::json;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::Release;
use super::archive::{Archive, Packed, licences};
use super::target::Target;
use crate::tools::root;

/// The file with the bundle for a target.
pub fn path(release: &Release, target: &Target) -> PathBuf {
    let Target { os, cpu, .. } = target;
    release.file(&format!("tramline-{os}-{cpu}-{}.mcpb", release.version))
}

/// Makes them all.
pub fn write(release: &Release, archives: &[Archive]) -> io::Result<()> {
    for archive in archives {
        let (_folder, content) = archive.unpacked()?;
        let icon = root().join("plugins/tramline/assets/icon.png");
        let manifest = manifest(release, archive.target);
        let mut files: Vec<Packed> = vec![
            (
                "manifest.json".to_owned(),
                format!("{manifest:#}\n").into(),
                0o644,
            ),
            ("icon.png".to_owned(), fs::read(icon)?, 0o644),
            ("server/tm".to_owned(), fs::read(content.join("tm"))?, 0o755),
        ];
        files.extend(licences()?);
        packed(&path(release, archive.target), files)?;
    }
    Ok(())
}

/// What the host shows and starts. A host on a desktop has no project of its own, so its user names one.
fn manifest(release: &Release, target: &Target) -> serde_json::Value {
    json!({
        "manifest_version": "0.3",
        "name": "tramline",
        "display_name": "Tramline",
        "version": release.version,
        "description": release.description,
        "author": { "name": "The authors of Tramline", "url": release.repository },
        "repository": { "type": "git", "url": release.repository },
        "homepage": release.repository,
        "documentation": format!("{}/blob/main/docs/mcp.md", release.repository),
        "support": format!("{}/issues", release.repository),
        "icon": "icon.png",
        "license": "MIT OR Apache-2.0",
        "keywords": ["tdd", "review", "workflow", "git"],
        "server": {
            "type": "binary",
            "entry_point": "server/tm",
            "mcp_config": {
                "command": "${__dirname}/server/tm",
                "args": ["mcp", "--tools", super::TOOLS, "--project-root", "${user_config.project}"],
            },
        },
        "user_config": {
            "project": {
                "type": "directory",
                "title": "Project",
                "description": "The folder of the git repository to work in",
                "required": true,
            },
        },
        "tools_generated": true,
        "prompts_generated": true,
        "compatibility": { "platforms": [target.os] },
    })
}

/// Writes files into a ZIP archive: with the same files always the same bytes.
fn packed(path: &std::path::Path, files: Vec<Packed>) -> io::Result<()> {
    let mut zip = ZipWriter::new(File::create(path)?);
    for (name, bytes, mode) in files {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(mode);
        zip.start_file(name, options).map_err(io::Error::other)?;
        zip.write_all(&bytes)?;
    }
    zip.finish().map_err(io::Error::other)?.flush()
}
