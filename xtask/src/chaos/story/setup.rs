//! Commands that write files of the project and of the user, without any run.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::{Act, Story, act};
use crate::stage::Stage;

/// The story.
pub const STORY: Story = Story {
    name: "setup",
    prelude: &[],
    acts: SETUP,
    prepare: None,
    standing,
    resume: &[],
    flushes: &[],
};

/// What `tm config trust` names for the test command of the stories.
const HASH: &str = "e67ebe5daf730e13408862d342534e682b2cefca231dca2be4912d91e32c328c";

const fn once(name: &'static str, words: &'static [&'static str]) -> Act {
    Act {
        once: true,
        ..act(name, words)
    }
}

const SETUP: &[Act] = &[
    once("trust", &["config", "trust", "--hash", HASH]),
    once(
        "set-user",
        &["config", "set", "--user", "git.commitTimeout", "50000"],
    ),
    once("set", &["config", "set", "git.commitTimeout", "60000"]),
    once(
        "init",
        &[
            "init",
            "--client",
            "claude-code",
            "--client",
            "codex",
            "--hook",
            "--yes",
        ],
    ),
    once(
        "init-user",
        &["init", "--client", "claude-code", "--user", "--yes"],
    ),
    once("revoke", &["config", "trust", "--revoke"]),
    once("remove", &["init", "--remove", "--yes"]),
];

/// The files of the project and of the user, by their contents.
fn standing(stage: &Stage) -> io::Result<Value> {
    let mut all = Map::new();
    for folder in [stage.project(), stage.home()] {
        files(&folder, &mut all)?;
    }
    Ok(all.into())
}

fn files(folder: &Path, all: &mut Map<String, Value>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != ".git" {
            files(&path, all)?;
        } else if path.is_file() && !name.ends_with(".lock") {
            let text = fs::read_to_string(&path)?;
            // Each decision has its time, and each stage its place.
            let is_own = |line: &&str| line.contains("\"at\"") || line.contains("\"path\"");
            let lines = text.lines().filter(|line| !is_own(line));
            let text = lines.collect::<Vec<_>>().join("\n");
            let place = folder.file_name().unwrap_or_default().to_string_lossy();
            all.insert(format!("{place}/{name}"), text.into());
        }
    }
    Ok(())
}
