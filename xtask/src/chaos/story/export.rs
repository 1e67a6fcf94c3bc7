//! The code of a session, written into the project.

use std::fs;
use std::io;

use serde_json::Value;

use super::review::{self, REVIEW};
use super::{Act, Story, act};
use crate::stage::Stage;

/// The story.
pub const STORY: Story = Story {
    name: "export",
    prelude: REVIEW,
    acts: &[Act {
        once: true,
        ..act("export", &["session", "export", "docs/code"])
    }],
    prepare: None,
    standing,
    resume: &[],
    flushes: &[],
};

/// Where the session stands, and the file.
fn standing(stage: &Stage) -> io::Result<Value> {
    let mut all = review::standing(stage)?;
    let file = stage.project().join("docs/code/greet.sh");
    all["file"] = fs::read_to_string(file).unwrap_or_default().into();
    Ok(all)
}
