//! A formula of Homebrew, for a tap.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;

use super::archive::Archive;
use super::{Release, sha256};
use crate::tools::root;

/// Makes it.
pub fn write(release: &Release, archives: &[Archive]) -> io::Result<()> {
    let mut systems: BTreeMap<&str, Vec<(&str, &Archive)>> = BTreeMap::new();
    for archive in archives {
        let [system, processor] = archive.target.homebrew;
        systems
            .entry(system)
            .or_default()
            .push((processor, archive));
    }
    let mut sources = String::new();
    for (system, archives) in systems {
        let _ = writeln!(sources, "  {system} do");
        for (processor, archive) in archives {
            let _ = writeln!(
                sources,
                "    {processor} do\n      url \"{}/{}.tar.gz\"\n      sha256 \"{}\"\n    end",
                release.downloads(),
                archive.name,
                sha256(&archive.path)?
            );
        }
        sources.push_str("  end\n");
    }
    let template = fs::read_to_string(root().join("packaging/homebrew/tramline.rb"))?;
    let formula = release.filled_in(&template, &[("SOURCES", sources.trim_end())]);
    fs::write(release.file("tramline.rb"), formula)
}
