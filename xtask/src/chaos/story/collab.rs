//! A session of skills with two items, to its first batch.

use std::io;

use serde_json::Value;

use super::{Act, Story, act, part};
use crate::stage::Stage;

/// The story.
pub const STORY: Story = Story {
    name: "collab",
    prelude: &[],
    acts: COLLAB,
    prepare: None,
    standing,
    resume: &[],
    flushes: &[14, 1, 1, 1, 1],
};

const ITEMS: &str = r#"[{"number": 1, "title": "One", "type": "bugfix"}, {"number": 2, "title": "Two", "type": "task"}]"#;

/// The commands of it that lead to its first item.
pub(super) const TO_THE_FIRST_ITEM: &[Act] = COLLAB.split_at(4).0;

const COLLAB: &[Act] = &[
    act(
        "begin",
        &[
            "collab",
            "complete-skill",
            "collab-start",
            "--session",
            "story",
        ],
    ),
    act("items", &["collab", "update", "--work-items", ITEMS]),
    act(
        "goals",
        &["collab", "complete-skill", "gather-session-goals"],
    ),
    act(
        "clear1",
        &[
            "collab",
            "complete-skill",
            "collab-clear",
            "--unit-id",
            "clear-pre-item",
        ],
    ),
    act(
        "debug",
        &["collab", "complete-skill", "systematic-debugging"],
    ),
];

/// Where a session of skills stands.
pub(super) fn standing(stage: &Stage) -> io::Result<Value> {
    let state = stage.tm(&["collab", "state", "--full"], "")?.json;
    Ok(part(
        &state,
        &["state", "unitId", "items", "batches", "tasks"],
    ))
}
