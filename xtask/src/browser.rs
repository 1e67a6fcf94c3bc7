//! The page in a real browser: `story.mjs` makes runs of every rail with hostile texts in them, has an agent work beside, looks at
//! each page at three widths with axe, decides, and tries to get in from elsewhere.

use std::fs;
use std::io;

use crate::tools::{NODE, built, cache, command, filled, need, npm, passes, path_with_node, root};

/// What drives the browser, and what looks at pages as assistive technology does.
const PACKAGES: [&str; 2] = ["puppeteer-core@24.43.1", "axe-core@4.14.1"];
/// What the browser is called where it may be.
const BROWSER: &str = "/usr/bin/chromium";

/// Plays the story; whether all was as it should be. Pictures of all pages are left in `target/browser-shots`.
pub fn run_all() -> io::Result<bool> {
    need("chromium", "chromium")?;
    need("script", "bsdutils")?;
    let modules = cache("browser")?;
    let asked = PACKAGES.join("\n");
    if fs::read_to_string(modules.join("asked")).is_ok_and(|before| before != asked) {
        fs::remove_dir_all(&modules)?;
    }
    filled(&modules, || {
        fs::write(modules.join("package.json"), "{\"private\": true}\n")?;
        fs::write(modules.join("asked"), &asked)?;
        let arguments = [&["install"][..], &PACKAGES].concat();
        npm(&modules, &arguments)
    })?;
    let shots = cache("browser-shots")?;
    let work = tempfile::tempdir()?;
    passes(
        command("node")
            .arg(fs::canonicalize(root())?.join("xtask/src/browser/story.mjs"))
            .env("PATH", path_with_node(NODE)?)
            .env("TM", built("tm")?)
            .env("WORK", fs::canonicalize(work.path())?)
            .env("CHROMIUM", BROWSER)
            .env("SHOTS", fs::canonicalize(shots)?)
            .env("MODULES", fs::canonicalize(&modules)?)
            .env_remove("TRAMLINE_HOME"),
    )
}
