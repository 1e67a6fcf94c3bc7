//! The entry for the registry of MCP servers, `server.json`: by which packages the server is installed, and how it is started.
//! The form: <https://github.com/modelcontextprotocol/registry>, schema of 2025-12-11.

use std::fs;
use std::io;

use serde_json::json;

use super::archive::Archive;
use super::{Release, bundle, sha256};

/// Makes it.
pub fn write(release: &Release, archives: &[Archive]) -> io::Result<()> {
    // Bundles alone: they are named by the address of the release and a hash. Names of packages are reserved by nobody.
    let mut packages = Vec::new();
    for archive in archives {
        let bundle = bundle::path(release, archive.target);
        if bundle.is_file() {
            let name = bundle.file_name().unwrap_or_default().to_string_lossy();
            packages.push(json!({
                "registryType": "mcpb",
                "identifier": format!("{}/{name}", release.downloads()),
                "version": release.version,
                "fileSha256": sha256(&bundle)?,
                "transport": { "type": "stdio" },
            }));
        }
    }
    let server = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": release.mcp_name(),
        "title": "Tramline",
        "description": release.description,
        "version": release.version,
        "websiteUrl": release.repository,
        "repository": { "url": release.repository, "source": "github" },
        "packages": packages,
    });
    fs::write(release.file("server.json"), format!("{server:#}\n"))
}
