//! One step back, without a word on from where.

use super::tdd::{self, GREEN, RED};
use super::{Act, Story, act, collab};

const BACK: &[&str] = &["autopilot", "reopen"];

/// A subtask of a test-driven run.
pub const TDD: Story = Story {
    name: "reopen",
    prelude: &[
        act("start", &["autopilot", "start", "1"]),
        Act {
            files: &[("tests/count.sh", "false\n")],
            ..act("red", RED)
        },
        Act {
            files: &[("src/count.sh", "true\n")],
            ..act("green", GREEN)
        },
    ],
    acts: &[
        act("reopen", BACK),
        act("green-again", GREEN),
        Act {
            once: true,
            ..act(
                "reopen-at-unit",
                &["autopilot", "reopen", "--unit", "workUnit-1.1-COMMIT-2"],
            )
        },
    ],
    prepare: None,
    standing: tdd::standing,
    resume: &[],
    flushes: &[],
};

/// An item of a session of skills.
pub const COLLAB: Story = Story {
    name: "reopen-collab",
    prelude: collab::TO_THE_FIRST_ITEM,
    acts: &[act("reopen", &["collab", "reopen", "--reason", "no"])],
    prepare: None,
    standing: collab::standing,
    resume: &[],
    flushes: &[],
};
