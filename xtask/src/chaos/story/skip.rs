//! What is in hand given up, without a word on what that is.

use std::io;

use super::{Act, Story, act, collab, tdd};
use crate::stage::Stage;

/// Three subtasks, of which none needs another one.
const TASKS: &str = r#"{
  "master": { "tasks": [
    { "id": 1, "title": "Words", "status": "pending", "subtasks": [
      { "id": 1, "title": "Count", "status": "pending" },
      { "id": 2, "title": "Find", "status": "pending" },
      { "id": 3, "title": "Sort", "status": "pending" }
    ] }
  ] }
}
"#;

/// Subtasks of a test-driven run.
pub const TDD: Story = Story {
    name: "skip",
    prelude: &[act("start", &["autopilot", "start", "1"])],
    acts: &[
        Act {
            files: &[("tests/count.sh", "false\n")],
            ..act("skip", &["autopilot", "skip", "--reason", "no"])
        },
        Act {
            once: true,
            ..act(
                "skip-at-unit",
                &[
                    "autopilot",
                    "skip",
                    "--reason",
                    "no",
                    "--unit",
                    "workUnit-1.2-RED",
                ],
            )
        },
    ],
    prepare: Some(prepare),
    standing: tdd::standing,
    resume: &[],
    flushes: &[],
};

fn prepare(stage: &Stage) -> io::Result<()> {
    stage.write(".taskmaster/tasks/tasks.json", TASKS)?;
    stage.git(&[
        "commit",
        "--quiet",
        "--no-verify",
        "--all",
        "--message",
        "More",
    ])?;
    Ok(())
}

/// Items of a session of skills.
pub const COLLAB: Story = Story {
    name: "skip-collab",
    prelude: collab::TO_THE_FIRST_ITEM,
    acts: &[act("skip", &["collab", "skip", "--reason", "no"])],
    prepare: None,
    standing: collab::standing,
    resume: &[],
    flushes: &[],
};
